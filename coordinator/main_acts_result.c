/* RESULT and READ: the files of a job that is over. */

#include "coordinator/main_acts_private.h"
#include "crypto/digest.h"
#include "json/json_text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGEST_ROOM = 64 * 1024 };

/* By their number in the protocol. */
static const char *const result_file[ASK_FILES_MAX] = {"result.json", "model.json"};

static void result_path(char path[static QUEUE_PATH_BYTES], const struct acts *acts,
                        uint32_t number, uint32_t file)
{
    char name[32];
    (void)snprintf(name, sizeof name, "out/%s", result_file[file]);
    queue_path(path, acts->office, number, name);
}

/* Opens a file of a result; there: out, false where the job left none of that name. */
static enum status open_result(int *file, bool *there, const char *path, struct why *why)
{
    struct stat about;
    *file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    *there = *file >= 0 || errno != ENOENT;
    if (*file >= 0 && (fstat(*file, &about) != 0 || !S_ISREG(about.st_mode))) {
        (void)close(*file);
        *file = -1;
        errno = EINVAL;
    }
    if (*file < 0 && *there) {
        why_file(why, path, "read", errno);
        return STATUS_IO;
    }
    return STATUS_OK;
}

static enum status add_file(json_t **list, const struct acts *acts, uint32_t number, uint32_t file,
                            struct why *why)
{
    static uint8_t room[DIGEST_ROOM];
    char path[QUEUE_PATH_BYTES];
    char hex[2 * DIGEST_BYTES + 1];
    struct digest_stream stream;
    struct digest digest;
    json_int_t bytes = 0;
    ssize_t got = 1;
    int opened = -1;
    bool there = false;
    result_path(path, acts, number, file);
    const enum status status = open_result(&opened, &there, path, why);
    if (status != STATUS_OK || !there) {
        return status;
    }
    digest_stream_init(&stream);
    while (got > 0) {
        got = read(opened, room, sizeof room);
        digest_stream_add(&stream, room, got > 0 ? (size_t)got : 0);
        bytes += got > 0 ? got : 0;
    }
    digest_stream_end(&stream, &digest);
    (void)close(opened);
    if (got < 0 || bytes > DESK_RESULT_BYTES_MAX) {
        why_set(why, "%s cannot be read, or is larger than 1 GiB", path);
        return STATUS_IO;
    }
    hex_encode(hex, digest.byte, DIGEST_BYTES);
    json_add(list,
             json_pack("{s:I, s:I, s:s}", "file", (json_int_t)file, "bytes", bytes, "sha256", hex));
    return STATUS_OK;
}

enum status acts_result(json_t **out, const struct acts *acts, const struct ask *ask,
                        struct why *why)
{
    struct queue_job job;
    json_t *files = json_array();
    enum status status = queue_look(&job, acts->office, ask->job, why);
    if (status == STATUS_OK && !job.filed) {
        status = why_refuse(why,
                            "job %" PRIu32 " is %s: it has no result yet; remedy: `status %" PRIu32
                            "` tells when it has ended",
                            job.number, queue_state_name(job.state), job.number);
    }
    for (uint32_t file = 0; file < ASK_FILES_MAX && status == STATUS_OK; file++) {
        status = add_file(&files, acts, ask->job, file, why);
        if (status == STATUS_OK && file == 0 && json_array_size(files) == 0) {
            why_set(why, "job %" PRIu32 " left no result: it was %s before it began", job.number,
                    queue_state_name(job.state));
            status = STATUS_NOT_FOUND;
        }
    }
    if (status != STATUS_OK) {
        json_decref(files);
        return status;
    }
    *out = json_pack("{s:o, s:o}", "job", acts_job_json(acts, &job), "files", files);
    return STATUS_OK;
}

enum status acts_read(struct desk_answer *answer, const struct acts *acts, const struct ask *ask,
                      struct why *why)
{
    char path[QUEUE_PATH_BYTES];
    int opened = -1;
    bool there = false;
    if (!queue_holds(acts->office, ask->job, "end")) {
        return why_refuse(why, "job %" PRIu32 " has no result", ask->job);
    }
    result_path(path, acts, ask->job, ask->file);
    enum status status = open_result(&opened, &there, path, why);
    if (status != STATUS_OK || !there) {
        return status == STATUS_OK ? STATUS_NOT_FOUND : status;
    }
    answer->data = malloc(ASK_PAYLOAD_BYTES_MAX);
    status = answer->data != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    if (status == STATUS_OK) {
        const ssize_t got = pread(opened, answer->data, ASK_PAYLOAD_BYTES_MAX, (off_t)ask->from);
        answer->size = got > 0 ? (size_t)got : 0;
        status = got >= 0 ? STATUS_OK : STATUS_IO;
    }
    (void)close(opened);
    return status;
}
