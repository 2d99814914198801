#include "io/http_files.h"

#include "base/bytes.h"
#include "base/file.h"
#include "crypto/certificate.h"
#include "io/clock.h"

#include <stdlib.h>
#include <string.h>

static enum status read_text(char **out, const char *path, enum file_kind kind, struct why *why)
{
    size_t used = 0;
    *out = calloc(1, HTTP_FILE_BYTES_MAX);
    if (*out == NULL) {
        why_set(why, "no memory for %s", path);
        return STATUS_NO_MEMORY;
    }
    return file_read_text(*out, HTTP_FILE_BYTES_MAX, &used, path, kind, why);
}

/* One line, which a browser and a scraper can say as it is: no blanks, letters of ASCII. */
static enum status read_token(struct http_files *files, const char *path, struct why *why)
{
    size_t used = 0;
    enum status status =
        file_read_text(files->token, sizeof files->token, &used, path, FILE_SECRET, why);
    if (status != STATUS_OK) {
        return status;
    }
    const size_t size = strcspn(files->token, "\r\n");
    for (const char *rest = files->token + size; *rest != '\0'; rest++) {
        if (*rest != '\r' && *rest != '\n') {
            return why_refuse(why, "%s: has more than one line: a token is one", path);
        }
    }
    bytes_wipe(files->token + size, sizeof files->token - size);
    for (size_t i = 0; i < size; i++) {
        if (files->token[i] <= ' ' || files->token[i] > '~') {
            return why_refuse(why, "%s: a token has no blanks, and letters of ASCII alone", path);
        }
    }
    return size >= HTTP_FILES_TOKEN_LEAST
               ? STATUS_OK
               : why_refuse(why,
                            "%s: a token has %d letters or more; remedy: openssl rand -hex 32 > %s",
                            path, (int)HTTP_FILES_TOKEN_LEAST, path);
}

enum status http_files_read(struct http_files *files, const struct http_settings *settings,
                            struct why *why)
{
    struct why judged = {{0}};
    *files = (struct http_files){.certificate = NULL};
    enum status status = read_text(&files->certificate, settings->certificate, FILE_PUBLIC, why);
    if (status == STATUS_OK) {
        status = read_text(&files->key, settings->key, FILE_SECRET, why);
    }
    if (status == STATUS_OK) {
        status = certificate_check(files->certificate, files->key, clock_wall_ms() / 1000, &judged);
        if (status != STATUS_OK) {
            why_set(why, "http.certificate: %s %s (key %s)", settings->certificate, judged.text,
                    settings->key);
        }
    }
    if (status == STATUS_OK) {
        status = read_token(files, settings->token, why);
    }
    if (status != STATUS_OK) {
        http_files_wipe(files);
    }
    return status;
}

void http_files_wipe(struct http_files *files)
{
    if (files->key != NULL) {
        bytes_wipe(files->key, HTTP_FILE_BYTES_MAX);
    }
    free(files->certificate);
    free(files->key);
    bytes_wipe(files, sizeof *files);
}
