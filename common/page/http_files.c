#include "page/http_files.h"

#include "base/bytes.h"
#include "base/file.h"
#include "crypto/key.h"
#include "io/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LOOK_MS = 1000 };

static enum status read_text(char **out, const char *path, enum file_kind kind, struct why *why)
{
    size_t used = 0;
    *out = calloc(1, HTTP_FILE_BYTES_MAX);
    if (*out == NULL) {
        return why_fail(why, STATUS_NO_MEMORY, "no memory for %s", path);
    }
    return file_read_text(*out, HTTP_FILE_BYTES_MAX, &used, path, kind, why);
}

/* One line, which a browser and a scraper can say as it is: no blanks, letters of ASCII. */
static enum status read_token(struct http_files *files, const char *path, struct why *why)
{
    size_t used = 0;
    files->token = calloc(1, HTTP_FILES_TOKEN_BYTES);
    if (files->token == NULL) {
        return why_fail(why, STATUS_NO_MEMORY, "no memory for %s", path);
    }
    enum status status =
        file_read_text(files->token, HTTP_FILES_TOKEN_BYTES, &used, path, FILE_SECRET, why);
    if (status != STATUS_OK) {
        return status;
    }
    const size_t size = strcspn(files->token, "\r\n");
    for (const char *rest = files->token + size; *rest != '\0'; rest++) {
        if (*rest != '\r' && *rest != '\n') {
            return why_refuse(why, "%s: has more than one line: a token is one", path);
        }
    }
    bytes_wipe(files->token + size, HTTP_FILES_TOKEN_BYTES - size);
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

/* A file that is not there is a state as well. */
static struct http_files_mark mark_of(const struct http_settings *settings)
{
    const char *const path[] = {settings->certificate, settings->key, settings->token};
    struct http_files_mark mark = {{0}};
    for (size_t i = 0; i < sizeof path / sizeof path[0]; i++) {
        struct stat about;
        if (stat(path[i], &about) == 0) {
            const uint64_t part[] = {about.st_ino, (uint64_t)about.st_size,
                                     (uint64_t)about.st_mtim.tv_sec,
                                     (uint64_t)about.st_mtim.tv_nsec, about.st_mode};
            for (size_t j = 0; j < sizeof part / sizeof part[0]; j++) {
                mark.word[i] = (mark.word[i] ^ part[j]) * UINT64_C(0x100000001b3) + 1;
            }
        }
    }
    return mark;
}

static bool is_same(const struct http_files_mark *a, const struct http_files_mark *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

enum status http_files_read(struct http_files *files, const struct http_settings *settings,
                            struct why *why)
{
    struct why judged = {{0}};
    *files = (struct http_files){.certificate = NULL};
    files->judged = files->seen = mark_of(settings);
    enum status status = read_text(&files->certificate, settings->certificate, FILE_PUBLIC, why);
    if (status == STATUS_OK) {
        status = read_text(&files->key, settings->key, FILE_SECRET, why);
    }
    if (status == STATUS_OK) {
        status =
            key_certificate_check(files->certificate, files->key, clock_wall_ms() / 1000, &judged);
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

void http_files_follow(struct http_files *files, const struct http_settings *settings,
                       const struct log *log, int64_t now_ms,
                       enum status (*use)(void *self, const struct http_files *fresh,
                                          struct why *why),
                       void *self)
{
    struct why why = {{0}};
    struct http_files fresh;
    if (files->certificate == NULL || now_ms < files->look_ms) {
        return;
    }
    const struct http_files_mark before = files->seen;
    files->look_ms = now_ms + LOOK_MS;
    files->seen = mark_of(settings);
    if (is_same(&files->seen, &files->judged) || !is_same(&files->seen, &before)) {
        return;
    }
    files->judged = files->seen;
    enum status status = http_files_read(&fresh, settings, &why);
    if (status == STATUS_OK) {
        status = use(self, &fresh, &why);
        if (status != STATUS_OK) {
            http_files_wipe(&fresh);
        }
    }
    if (status != STATUS_OK) {
        log_event(log, LOG_ERROR, "http-files-refused", NULL,
                  "%s; the page goes on by the files before", why.text);
        return;
    }
    fresh.look_ms = files->look_ms;
    http_files_wipe(files);
    *files = fresh;
    log_event(log, LOG_INFO, "http-files-read", NULL,
              "the page goes on by another certificate, key or token");
}

void http_files_wipe(struct http_files *files)
{
    bytes_free(files->key, HTTP_FILE_BYTES_MAX);
    bytes_free(files->token, HTTP_FILES_TOKEN_BYTES);
    free(files->certificate);
    bytes_wipe(files, sizeof *files);
}
