/* RESULT and READ: the files of a job that is over. */

#include "coordinator/main_acts.h"
#include "crypto/digest.h"
#include "json/json_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIGEST_ROOM = 64 * 1024 };

/* By their number in the protocol. */
static const char *const result_file[ASK_FILES_MAX] = {"result.json", "model.json"};

static enum status add_file(json_t **list, const struct acts *acts, uint32_t number, uint32_t file,
                            struct why *why)
{
    static uint8_t room[DIGEST_ROOM];
    char hex[2 * DIGEST_BYTES + 1];
    struct digest_stream stream;
    struct digest digest;
    int64_t bytes = -1;
    size_t got = 1;
    const char *name = result_file[file];
    enum status status =
        queue_of(acts->office)->result_size(&bytes, acts->office, number, name, why);
    if (status != STATUS_OK || bytes < 0) {
        return status;
    }
    if (bytes > DESK_RESULT_BYTES_MAX) {
        why_set(why, "%s of job %" PRIu32 " is larger than 1 GiB", name, number);
        return STATUS_IO;
    }
    digest_stream_init(&stream);
    for (bytes = 0; status == STATUS_OK && got > 0; bytes += (int64_t)got) {
        status = queue_of(acts->office)
                     ->result_read(room, &got, sizeof room, acts->office, number, name,
                                   (uint64_t)bytes, why);
        got = status == STATUS_OK ? got : 0;
        digest_stream_add(&stream, room, got);
    }
    digest_stream_end(&stream, &digest);
    if (status != STATUS_OK) {
        return status;
    }
    hex_encode(hex, digest.byte, DIGEST_BYTES);
    json_add(list, json_pack("{s:I, s:I, s:s}", "file", (json_int_t)file, "bytes",
                             (json_int_t)bytes, "sha256", hex));
    return STATUS_OK;
}

enum status acts_result(json_t **out, const struct acts *acts, const struct ask *ask,
                        struct why *why)
{
    struct queue_job job;
    json_t *files = json_array();
    enum status status = queue_show(&job, acts->office, ask->job, why);
    if (status == STATUS_OK && !job.filed) {
        status = why_refuse(why,
                            "job %" PRIu32 " is %s: it has no result yet; remedy: `status %" PRIu32
                            "` tells when it has ended, or what stands in its way",
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
    struct queue_kept kept;
    enum status status = queue_of(acts->office)->peek(&kept, acts->office, ask->job, why);
    if (status == STATUS_OK && !kept.over) {
        status = why_refuse(why, "job %" PRIu32 " has no result", ask->job);
    }
    if (status == STATUS_OK) {
        answer->data = malloc(ASK_PAYLOAD_BYTES_MAX);
        status = answer->data != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    }
    return status == STATUS_OK
               ? queue_of(acts->office)
                     ->result_read(answer->data, &answer->size, ASK_PAYLOAD_BYTES_MAX, acts->office,
                                   ask->job, result_file[ask->file], ask->from, why)
               : status;
}

/* A job as the answers have it. */

static json_t *text_or_null(const char *text)
{
    return text[0] != '\0' ? json_string(text) : json_null();
}

enum { WAITS_BYTES = 512 };

/* What a job that runs waits for, as far as its folder tells: it does not tell which agents are connected. */
static const char *waits(char text[static WAITS_BYTES], const struct queue_job *job,
                         const char *declined)
{
    const bool late = job->seconds_left == 0 && job->rounds < job->planned;
    if (job->held[0] != '\0') {
        return "another process has the job's journal open (`held`): the job goes on once that "
               "one ends or closes it, and a cancellation of a job that has begun takes effect "
               "then";
    }
    if (job->state > QUEUE_RUNNING && job->begun && !job->filed && !job->stuck) {
        return "all its rounds are over, and its results are not filed yet: the coordinator writes "
               "them, or cannot; its log says so then (`job-set-aside`)";
    }
    if (job->state != QUEUE_RUNNING || job->stuck || (job->rounds > 0 && !late)) {
        return "";
    }
    (void)snprintf(
        text, WAITS_BYTES, "%s%s",
        job->rounds == 0 ? "no round is released yet: agents have to join, and people at sites may "
                           "have to approve the job. "
                         : "no round for long, at the pace so far: agents are missing. ",
        declined[0] == '\0'
            ? "The coordinator's page and its log name who is missing, and who declined"
            : "Some sites decline it (`declined`); why stays with them. Ask them, or cancel the "
              "job: a site that says yes takes part again");
    return text;
}

/* null: nobody here knows. */
static json_t *real_unless(bool unknown, double value)
{
    return unknown ? json_null() : json_real(value);
}

/* The folder is told to a caller that may read it: not through the desk. */
json_t *acts_job_json(const struct acts *acts, const struct queue_job *job)
{
    char folder[QUEUE_PATH_BYTES] = "";
    char declined[QUEUE_BY_BYTES] = "";
    char text[WAITS_BYTES];
    if (job->state == QUEUE_RUNNING && !job->stuck) {
        queue_of(acts->office)->declined(declined, acts->office, job->number);
    }
    if (acts->operator_name == NULL) {
        queue_of(acts->office)->results(folder, acts->office, job->number);
    }
    return json_pack(
        "{s:I, s:s, s:s, s:b, s:b, s:o, s:I, s:o, s:f, s:o, s:f, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "number", (json_int_t)job->number, "job", job->name, "state", queue_state_name(job->state),
        "begun", job->begun, "stuck", job->stuck, "rounds",
        job->unknown ? json_null() : json_integer((json_int_t)job->rounds), "rounds_planned",
        (json_int_t)job->planned, "epsilon",
        real_unless(job->unknown, (double)job->spent.epsilon_micro * 1e-6), "epsilon_planned",
        (double)job->price.epsilon_micro * 1e-6, "delta",
        real_unless(job->unknown, (double)job->spent.delta_atto * 1e-18), "delta_planned",
        (double)job->price.delta_atto * 1e-18, "submitted", job->submitted, "cancel",
        text_or_null(job->cancel), "ended", text_or_null(job->ended), "because",
        text_or_null(job->because), "seconds_left",
        job->seconds_left < 0 ? json_null() : json_real(job->seconds_left), "waits",
        text_or_null(waits(text, job, declined)), "declined", text_or_null(declined), "held",
        text_or_null(job->held), "results", text_or_null(folder));
}
