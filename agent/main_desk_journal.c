/* What the desk takes from the journal: which jobs of which texts ran here, and what they answered. */

#include "agent/main_approve.h"
#include "io/journal.h"
#include "job/round.h"
#include "protocol/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum status note_job(struct desk *desk, const struct record *record, struct slice blob)
{
    const bool inside = record->as.job.text != NULL; /* in journals of version 1 */
    const struct slice text =
        inside ? (struct slice){record->as.job.text, record->as.job.job.text_bytes} : blob;
    struct job job;
    struct desk_run *grown = realloc(desk->run, (desk->run_count + 1) * sizeof *grown);
    if (grown == NULL) {
        return STATUS_NO_MEMORY;
    }
    desk->run = grown;
    struct desk_run *run = &desk->run[desk->run_count++];
    *run = (struct desk_run){.id = record->as.job.job.id, .text = record->as.job.job.text_digest};
    if (text.size > 0 && job_parse(&job, text, "the journal's job", NULL) == STATUS_OK) {
        (void)snprintf(run->name, sizeof run->name, "%s", job.name);
        run->epsilon_micro = job.epsilon_micro;
        run->rounds = job_round_count(&job);
        job_free(&job);
    }
    return STATUS_OK;
}

struct desk_run *desk_run_of(const struct desk *desk, const struct digest *id)
{
    for (size_t i = desk->run_count; i-- > 0;) { /* nearly always the latest */
        if (digest_equal(&desk->run[i].id, id)) {
            return &desk->run[i];
        }
    }
    return NULL;
}

enum status desk_note(struct desk *desk, const struct record *record, struct slice blob)
{
    if (record->kind == RECORD_JOB) {
        return note_job(desk, record, blob);
    }
    struct desk_run *run =
        record->kind == RECORD_ANSWER ? desk_run_of(desk, &record->as.answer.job) : NULL;
    if (run != NULL) {
        run->answers++;
        run->latest = record->as.answer.round + 1;
    }
    return STATUS_OK;
}

static enum status note(void *self, UNUSED uint64_t sequence, struct slice body, struct slice blob)
{
    struct record record;
    enum status status = wire_decode_record(&record, body);
    if (status == STATUS_OK) {
        status = desk_note(self, &record, blob);
        record_free(&record);
    }
    return status;
}

enum status desk_read_journal(struct desk *desk, struct why *why)
{
    enum status status = journal_sqlite_read(desk->site->settings.state, "agent", note, desk, why);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

uint32_t desk_runs_of(const struct desk *desk, const struct digest *text)
{
    uint32_t count = 0;
    for (size_t i = 0; i < desk->run_count; i++) {
        count += digest_equal(&desk->run[i].text, text) ? 1 : 0;
    }
    return count;
}

struct recall {
    struct waiting_job *out;
};

static enum status recall(void *self, UNUSED uint64_t sequence, struct slice body,
                          struct slice blob)
{
    struct waiting_job *out = ((struct recall *)self)->out;
    struct record record;
    enum status status = wire_decode_record(&record, body);
    if (status != STATUS_OK) {
        return status;
    }
    if (record.kind == RECORD_JOB && out->text == NULL &&
        digest_equal(&record.as.job.job.text_digest, &out->digest)) {
        const bool inside = record.as.job.text != NULL;
        const struct slice text =
            inside ? (struct slice){record.as.job.text, record.as.job.job.text_bytes} : blob;
        out->text = text.size > 0 ? malloc(text.size) : NULL;
        status = text.size > 0 && out->text == NULL ? STATUS_NO_MEMORY : STATUS_OK;
        if (out->text != NULL) {
            memcpy(out->text, text.data, text.size);
            out->size = text.size;
        }
    }
    record_free(&record);
    return status;
}

enum status desk_recall(const struct desk *desk, struct waiting_job *out, const struct digest *text,
                        struct why *why)
{
    struct recall wanted = {out};
    enum status status = STATUS_OK;
    *out = (struct waiting_job){.digest = *text};
    hex_encode(out->hex, text->byte, DIGEST_BYTES);
    out->runs_before = desk_runs_of(desk, text);
    if (desk_load_approved(desk, out, &status, why)) {
        return status;
    }
    status = journal_sqlite_read(desk->site->settings.state, "agent", recall, &wanted, why);
    if (status == STATUS_OK && out->text == NULL) {
        why_set(why, "%.12s: this site no longer holds the job's text", out->hex);
        status = STATUS_NOT_FOUND;
    }
    return status == STATUS_OK ? job_parse(&out->job, (struct slice){out->text, out->size},
                                           "the journal's job", why)
                               : status;
}
