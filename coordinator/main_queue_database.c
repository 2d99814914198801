/* The queue in a PostgreSQL database (database/jobs.h): every program that shares it reads and writes there. Nothing is kept
 * on the leader's machine. */

#define _GNU_SOURCE /* memfd_create */

#include "coordinator/main_queue_store.h"

#include "database/database.h"
#include "database/jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { COPY_BYTES = 1 << 20, OPEN_BYTES_MOST = 64 << 20 };

_Static_assert((int)JOBS_LED_MAX == (int)SETTINGS_JOBS_MAX, "as many as run at the same time");
_Static_assert((int)JOBS_LINE_BYTES == (int)QUEUE_BY_BYTES, "a line fits into the other");
_Static_assert((int)JOBS_ASIDE_BYTES == (int)QUEUE_ASIDE_BYTES, "likewise");

static enum status open_base(struct office *office, struct why *why)
{
    const enum status status =
        office->jobs == NULL ? jobs_new(&office->jobs, office->settings.jobs, why) : STATUS_OK;
    return status == STATUS_OK ? jobs_ready(office->jobs, why) : status;
}

static void close_base(struct office *office)
{
    jobs_free(office->jobs);
    office->jobs = NULL;
}

static void describe(char text[static QUEUE_PATH_BYTES], const struct office *office)
{
    database_describe(text, QUEUE_PATH_BYTES, office->settings.jobs);
}

static enum status may_lead(const struct office *office, struct why *why)
{
    return jobs_may_lead(office->jobs, why);
}

static enum status lead(struct office *office, struct why *why)
{
    return jobs_lead(office->jobs, why);
}

static bool is_lost(const struct office *office)
{
    return jobs_is_lost(office->jobs);
}

static void leader(char by[static QUEUE_BY_BYTES], UNUSED const struct office *office)
{
    by[0] = '\0';
}

static void held(char by[static QUEUE_BY_BYTES], UNUSED const struct office *office,
                 UNUSED uint32_t number)
{
    by[0] = '\0';
}

static enum status beside(struct office *office, struct why *why)
{
    struct jobs *own = NULL;
    const enum status status = jobs_beside(&own, office->jobs, why);
    office->jobs = own;
    return status;
}

static void rest(const struct office *office)
{
    if (office->jobs != NULL) {
        jobs_rest(office->jobs);
    }
}

static struct journal_part part(const struct office *office)
{
    return jobs_part(office->jobs, office->number);
}

static void collect(const struct office *office)
{
    jobs_collect(office->jobs);
}

static bool is_led(const struct office *office, uint32_t number)
{
    return jobs_is_led(office->jobs, number);
}

static enum status set_led(const struct office *office, uint32_t number, bool led, struct why *why)
{
    return jobs_set_led(office->jobs, number, led, why);
}

static enum status list(struct queue_list *out, const struct office *office, struct why *why)
{
    struct jobs_row *row = NULL;
    size_t count = 0;
    *out = (struct queue_list){.count = 0};
    enum status status = jobs_list(office->jobs, &row, &count, why);
    if (status == STATUS_OK) {
        out->entry = calloc(count + 1, sizeof *out->entry);
        out->names = malloc(JOBS_SUMMARY_BYTES);
        status = out->entry != NULL && out->names != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    }
    if (status == STATUS_OK) {
        jobs_summary(out->names, office->jobs, row, count);
        out->names_size = strlen(out->names);
        for (size_t i = 0; i < count; i++) {
            out->entry[i] = (struct queue_entry){row[i].number, row[i].begun, row[i].over};
        }
        out->count = count;
    } else {
        queue_list_free(out);
    }
    free(row);
    return status;
}

static enum status peek(struct queue_kept *kept, const struct office *office, uint32_t number,
                        struct why *why)
{
    struct jobs_row row;
    const enum status status = jobs_look(office->jobs, &row, number, why);
    *kept = (struct queue_kept){.begun = row.begun, .over = row.over, .journal = row.journal};
    memcpy(kept->submitted, row.submitted, sizeof kept->submitted);
    memcpy(kept->cancel, row.cancel, sizeof kept->cancel);
    memcpy(kept->aside, row.aside, sizeof kept->aside);
    return status;
}

static enum status text_of(char **text, size_t *size, const struct office *office, uint32_t number,
                           struct why *why)
{
    return jobs_text(office->jobs, text, size, number, why);
}

static enum status add(uint32_t *number, const struct office *office,
                       const struct queue_submission *submission, struct why *why)
{
    struct why cause = {""};
    const struct jobs_new_job job = {.submitter = submission->by,
                                     .id = submission->actor->submission,
                                     .submitted = submission->line,
                                     .text = submission->text,
                                     .open_most = submission->actor->open_most};
    const enum status status = jobs_add(office->jobs, number, &job, &cause);
    if (status == STATUS_AGAIN) {
        why_set(why, "%s; whether the job is in the queue is not known; remedy: %s", cause.text,
                job.id != NULL ? "submit it again with the same id: it is in the queue once"
                               : "look with `jobs` before you submit it again");
    } else if (status != STATUS_OK) {
        *why = cause;
    }
    return status;
}

static enum status find(uint32_t *number, size_t *open_count, const struct office *office,
                        const struct queue_actor *actor, const char *by, struct why *why)
{
    return jobs_find(office->jobs, number, open_count, by, actor->submission, why);
}

static void name_text(char name[static QUEUE_PATH_BYTES], const struct office *office,
                      uint32_t number, const char *what)
{
    char where[QUEUE_PATH_BYTES];
    describe(where, office);
    (void)snprintf(name, QUEUE_PATH_BYTES, "%s of job %" PRIu32 " in %.*s", what, number,
                   QUEUE_PATH_BYTES - 64, where);
}

static void place(struct office *office, uint32_t number)
{
    char name[QUEUE_PATH_BYTES];
    memcpy(office->settings.state, office->settings.jobs, sizeof office->settings.state);
    office->settings.out[0] = '\0';
    name_text(name, office, number, "the text");
    (void)snprintf(office->settings.job, sizeof office->settings.job, "%.*s",
                   (int)sizeof office->settings.job - 1, name);
}

static enum status mark_begun(const struct office *office, uint32_t number, struct why *why)
{
    return jobs_mark_begun(office->jobs, number, why);
}

static enum status put_aside(const struct office *office, uint32_t number, const char *because,
                             struct why *why)
{
    return jobs_put_aside(office->jobs, number, because, why);
}

static enum status cancel(const struct office *office, uint32_t number, const char *line,
                          struct why *why)
{
    return jobs_cancel(office->jobs, number, line, why);
}

static enum status put_declined(const struct office *office, uint32_t number, const char *names,
                                UNUSED struct why *why)
{
    jobs_tell_declined(office->jobs, number, names);
    return STATUS_OK;
}

/* If the decliners cannot be read, none is told, as while none declines. */
static void declined(char names[static QUEUE_BY_BYTES], const struct office *office,
                     uint32_t number)
{
    struct why ignored = {""};
    (void)!jobs_declined(office->jobs, names, number, &ignored);
}

static enum status copy_of(char **text, size_t *size, const char *from, size_t from_size)
{
    *size = from_size;
    *text = strndup(from, from_size);
    return *text != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status cancelled(char **text, size_t *size, const struct office *office,
                             uint32_t number, struct why *why)
{
    struct jobs_row row;
    *text = NULL;
    *size = 0;
    const enum status status = jobs_look(office->jobs, &row, number, why);
    return status == STATUS_OK && row.cancel[0] != '\0'
               ? copy_of(text, size, row.cancel, strlen(row.cancel))
               : status;
}

static enum status read_end(char **text, size_t *size, char name[static QUEUE_PATH_BYTES],
                            const struct office *office, uint32_t number, struct why *why)
{
    name_text(name, office, number, "the end");
    return jobs_end(office->jobs, text, size, number, why);
}

static enum status put_end(const struct office *office, uint32_t number, struct slice text,
                           struct why *why)
{
    return jobs_put_end(office->jobs, number, text, why);
}

/* The first line is the list's; the cancelled jobs follow. */
static enum status read_followed(void *self, char **text, size_t *size, struct why *why)
{
    const struct queue_followed *followed = self;
    const char *told = NULL;
    char prefix[16];
    const enum status status = jobs_follow(followed->office->jobs, &told, why);
    *text = NULL;
    *size = 0;
    const char *line = told;
    if (status != STATUS_OK) {
        return status;
    }
    size_t length = strcspn(line, "\n") + 1;
    if (followed->number == 0) {
        return copy_of(text, size, line, length);
    }
    const size_t head = (size_t)snprintf(prefix, sizeof prefix, "%" PRIu32 " ", followed->number);
    for (line += length; *line != '\0'; line += length) {
        length = strcspn(line, "\n") + 1;
        if (strncmp(line, prefix, head) == 0) {
            return copy_of(text, size, line + head, length - head - 1);
        }
    }
    return STATUS_OK;
}

static void follow(struct queue_followed *followed, const struct office *office, uint32_t number)
{
    *followed = (struct queue_followed){.read = read_followed, .office = office, .number = number};
    if (number == 0) {
        describe(followed->path, office);
    } else {
        name_text(followed->path, office, number, "the cancellation");
    }
}

static enum status stamp(struct queue_stamp *out, const struct office *office, uint32_t number,
                         struct why *why)
{
    *out = (struct queue_stamp){.settled = true};
    return jobs_stamp(office->jobs, out->of, number, why);
}

static void results(char path[static QUEUE_PATH_BYTES], UNUSED const struct office *office,
                    UNUSED uint32_t number)
{
    path[0] = '\0';
}

static enum status put_result(const struct office *office, uint32_t number, const char *name,
                              struct slice bytes, struct why *why)
{
    return jobs_put_result(office->jobs, number, name, bytes, why);
}

static enum status result_size(int64_t *size, const struct office *office, uint32_t number,
                               const char *name, struct why *why)
{
    return jobs_result_size(office->jobs, size, number, name, why);
}

static enum status result_read(void *to, size_t *got, size_t room, const struct office *office,
                               uint32_t number, const char *name, uint64_t offset, struct why *why)
{
    return jobs_read_result(office->jobs, to, got, room, number, name, offset, why);
}

static enum status copy_result(int file, const struct office *office, uint32_t number,
                               const char *name, int64_t size, struct why *why)
{
    char *room = malloc(COPY_BYTES);
    enum status status = room != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    for (int64_t at = 0; status == STATUS_OK && at < size;) {
        size_t got = 0;
        status =
            jobs_read_result(office->jobs, room, &got, COPY_BYTES, number, name, (uint64_t)at, why);
        if (status == STATUS_OK &&
            (got == 0 || pwrite(file, room, got, (off_t)at) != (ssize_t)got)) {
            why_set(why, "%s of job %" PRIu32 " cannot be copied", name, number);
            status = STATUS_IO;
        }
        at += (int64_t)got;
    }
    free(room);
    return status;
}

/* A file in memory: this machine's disk may be one that cannot be written. Rounds wait for the copy, so it is bounded. */
static enum status result_open(int *file, uint64_t *size, const struct office *office,
                               uint32_t number, const char *name, struct why *why)
{
    int64_t bytes = -1;
    *file = -1;
    *size = 0;
    enum status status = jobs_result_size(office->jobs, &bytes, number, name, why);
    if (status != STATUS_OK || bytes < 0) {
        return status == STATUS_OK ? STATUS_NOT_FOUND : status;
    }
    if (bytes > OPEN_BYTES_MOST) {
        return why_refuse(why, "%s has more than %d MiB; remedy: `result` fetches it in pieces",
                          name, OPEN_BYTES_MOST >> 20);
    }
    *file = memfd_create("result", MFD_CLOEXEC);
    if (*file < 0) {
        why_file(why, name, "copied", errno);
        return STATUS_IO;
    }
    status = copy_result(*file, office, number, name, bytes, why);
    if (status != STATUS_OK) {
        (void)close(*file);
        *file = -1;
    }
    *size = status == STATUS_OK ? (uint64_t)bytes : 0;
    return status;
}

/* clang-format off */
const struct queue_store queue_in_database = {
    .shared = true, .open = open_base, .close = close_base, .describe = describe,
    .may_lead = may_lead, .lead = lead, .is_lost = is_lost, .leader = leader,
    .beside = beside, .part_beside = close_base, .rest = rest, .part = part,
    .collect = collect, .is_led = is_led, .set_led = set_led,
    .list = list, .peek = peek, .text = text_of, .add = add, .find = find, .place = place,
    .mark_begun = mark_begun, .cancel = cancel, .cancelled = cancelled, .put_aside = put_aside, .read_end = read_end, .put_end = put_end,
    .held = held, .put_declined = put_declined, .declined = declined, .follow = follow, .stamp = stamp,
    .results = results, .put_result = put_result, .result_size = result_size, .result_read = result_read, .result_open = result_open,
};
/* clang-format on */
