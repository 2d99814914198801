/* `result`: the files of a job that is over, in pieces, checked against their digests, and put into place by one rename. */

#include "base/file.h"
#include "crypto/digest.h"
#include "desk/desk.h"
#include "desk/private.h"
#include "desk/view.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* By their number in the protocol. No name that was sent is ever a path here. */
static const char *const file_name[ASK_FILES_MAX] = {"result.json", "model.json"};

struct piece_of_result {
    char *data; /* (size) owned; NULL: there is no such file */
    size_t size;
};

static enum exit_code refuse_answer(struct why *why)
{
    why_set(why, "the answer to `result` is not whole; remedy: the same hedgerow at both");
    return EXIT_CODE_INTERNAL;
}

static enum exit_code fill(struct piece_of_result *file, const struct desk_port *port,
                           struct ask ask, struct why *why)
{
    while (ask.from < file->size) {
        struct desk_answer answer = {.data = NULL};
        enum exit_code code = port->ask(port->self, &ask, (struct slice){NULL, 0}, &answer, why);
        const bool fits = answer.size > 0 && answer.size <= file->size - ask.from;
        if (code == EXIT_CODE_OK && !fits) {
            code = refuse_answer(why);
        }
        if (code == EXIT_CODE_OK) {
            memcpy(file->data + ask.from, answer.data, answer.size);
            ask.from += answer.size;
        }
        free(answer.data);
        if (code != EXIT_CODE_OK) {
            return code;
        }
    }
    return EXIT_CODE_OK;
}

/* One file as the list of RESULT has it. */
static enum exit_code take_file(struct piece_of_result file[static ASK_FILES_MAX],
                                const struct desk_port *port, uint32_t job, const json_t *entry,
                                struct why *why)
{
    char hex[VIEW_TEXT_BYTES];
    struct digest wanted;
    struct digest got;
    const json_int_t number = json_integer_value(json_object_get(entry, "file"));
    const json_int_t bytes = json_integer_value(json_object_get(entry, "bytes"));
    if (number < 0 || number >= (json_int_t)ASK_FILES_MAX || bytes < 1 ||
        bytes > DESK_RESULT_BYTES_MAX || file[number].data != NULL ||
        strlen(view_text(hex, entry, "sha256")) != 2 * (size_t)DIGEST_BYTES ||
        hex_decode(wanted.byte, DIGEST_BYTES, hex) != STATUS_OK) {
        return refuse_answer(why);
    }
    struct piece_of_result *taken = &file[number];
    taken->size = (size_t)bytes;
    taken->data = malloc(taken->size);
    if (taken->data == NULL) {
        why_set(why, "no memory for %s, which has %zu bytes", file_name[number], taken->size);
        return EXIT_CODE_INTERNAL;
    }
    const struct ask ask = {.verb = ASK_READ, .job = job, .file = (uint32_t)number};
    enum exit_code code = fill(taken, port, ask, why);
    digest_sha256(&got, &(struct slice){taken->data, taken->size}, 1);
    if (code == EXIT_CODE_OK && !digest_equal(&wanted, &got)) {
        why_set(why, "%s has changed while it was read; remedy: `result` again", file_name[number]);
        code = EXIT_CODE_INPUT;
    }
    return code;
}

/* Before anything is fetched. What comes into being there meanwhile, the rename meets. */
static enum status check_out(const char *out, struct why *why)
{
    DIR *folder = opendir(out);
    size_t names = 0;
    if (folder == NULL && errno == ENOENT) {
        return STATUS_OK;
    }
    while (folder != NULL && readdir(folder) != NULL) {
        names++;
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    if (folder != NULL && names <= 2) { /* itself, and the one above */
        return STATUS_OK;
    }
    return why_fail(why, STATUS_EXISTS,
                    "%s exists and is not an empty folder; remedy: another --out", out);
}

static void drop_folder(const char *folder)
{
    char path[PATH_BYTES + 32];
    for (size_t i = 0; i < ASK_FILES_MAX; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, file_name[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
}

static enum status write_files(const char *folder,
                               const struct piece_of_result file[static ASK_FILES_MAX],
                               struct why *why)
{
    char path[PATH_BYTES + 32];
    enum status status = STATUS_OK;
    for (size_t i = 0; i < ASK_FILES_MAX && status == STATUS_OK; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, file_name[i]);
        if (file[i].data != NULL) {
            status =
                file_create(path, (struct slice){file[i].data, file[i].size}, FILE_PUBLIC, why);
        }
    }
    return status;
}

/* A folder replaces one that is empty or not there, and none that holds anything. */
static enum status put_in_place(const char *out,
                                const struct piece_of_result file[static ASK_FILES_MAX],
                                struct why *why)
{
    char part[PATH_BYTES];
    char target[PATH_BYTES];
    size_t size = strlen(out);
    while (size > 1 && out[size - 1] == '/') {
        size--;
    }
    if (snprintf(target, sizeof target, "%.*s", (int)size, out) >= (int)sizeof target - 16 ||
        size == 0) {
        return why_refuse(why, "--out: the path is empty or too long");
    }
    (void)snprintf(part, sizeof part, "%.*s.part-XXXXXX", (int)size, out);
    if (mkdtemp(part) == NULL) {
        why_file(why, target, "made", errno);
        return STATUS_IO;
    }
    const mode_t mask = umask(0);
    (void)umask(mask);
    enum status status = chmod(part, 0755 & ~mask) == 0 ? STATUS_OK : STATUS_IO;
    if (status == STATUS_OK) {
        status = write_files(part, file, why);
    }
    if (status == STATUS_OK && rename(part, target) != 0) {
        const bool taken = errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR;
        if (taken) {
            why_set(why, "%s exists and is not an empty folder; remedy: another --out", target);
        } else {
            why_file(why, target, "made", errno);
        }
        status = taken ? STATUS_EXISTS : STATUS_IO;
    }
    if (status != STATUS_OK) {
        drop_folder(part);
    }
    return status;
}

static enum exit_code tell_written(const struct desk_request *request, const json_t *job,
                                   const struct piece_of_result file[static ASK_FILES_MAX])
{
    if (request->json) {
        return desk_print(job, false);
    }
    for (size_t i = 0; i < ASK_FILES_MAX; i++) {
        if (file[i].data != NULL) {
            (void)printf("wrote %s/%s\n", request->out, file_name[i]);
        }
    }
    return EXIT_CODE_OK;
}

enum exit_code desk_result(const struct desk_port *port, const struct desk_request *request,
                           struct why *why)
{
    struct piece_of_result file[ASK_FILES_MAX] = {{.data = NULL}};
    json_t *answer = NULL;
    uint32_t number = 0;
    size_t i;
    json_t *entry;
    enum exit_code code = exit_code_of(check_out(request->out, why));
    if (code == EXIT_CODE_OK) {
        code = desk_ask_job(&answer, port, ASK_RESULT, request, why);
    }
    if (code == EXIT_CODE_OK) {
        code = exit_code_of(desk_number(&number, port, request, why));
    }
    json_array_foreach(json_object_get(answer, "files"), i, entry)
    {
        if (code == EXIT_CODE_OK) {
            code = take_file(file, port, number, entry, why);
        }
    }
    if (code == EXIT_CODE_OK && file[0].data == NULL) {
        code = refuse_answer(why);
    }
    if (code == EXIT_CODE_OK) {
        code = exit_code_of(put_in_place(request->out, file, why));
    }
    if (code == EXIT_CODE_OK) {
        code = tell_written(request, json_object_get(answer, "job"), file);
    }
    for (i = 0; i < ASK_FILES_MAX; i++) {
        free(file[i].data);
    }
    json_decref(answer);
    return code;
}
