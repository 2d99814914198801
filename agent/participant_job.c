/* Which job the agent takes part in: from a name in a WELCOME to records in memory. The text that
 * arrives is checked against the digest it was announced by, and the digest against the job's id,
 * so that what the site's operator reads in the journal is what was run. */

#include "agent/participant_state.h"

#include "crypto/digest.h"
#include "learn/permutation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char JOB_LABEL[] = "hedgerow job 1";

static void held_drop(struct held *held)
{
    free(held->weights);
    *held = (struct held){0};
}

void job_drop(struct participant *p)
{
    transfer_drop(&p->fetch);
    held_drop(&p->experts);
    job_free(&p->job);
    dataset_free(&p->data);
    free(p->order);
    p->order = NULL;
    free(p->text);
    p->text = NULL;
}

static void job_leave(struct participant *p)
{
    participant_abandon_round(p);
    job_drop(p);
    participant_enter_job(p, JOB_NONE);
    p->rounds_closed = 0;
    p->fetch_final = false;
    p->model_owed = false;
    p->text_owed = false;
    p->keep_tries = 0;
    p->declined = false;
    p->look_ms = 0;
    memset(&p->name, 0, sizeof p->name);
    p->age = JOB_OF_NOW;
}

static const struct seen_job *seen_of(const struct participant *p, const struct digest *job)
{
    for (size_t i = 0; i < p->seen_count; i++) {
        if (digest_equal(&p->seen[i].id, job)) {
            return &p->seen[i];
        }
    }
    return NULL;
}

bool job_is_recorded(const struct participant *p, const struct digest *job)
{
    return seen_of(p, job) != NULL;
}

enum status job_remember(struct participant *p, const struct record *record)
{
    const struct job_name *job = &record->as.job.job;
    struct seen_job *grown = realloc(p->seen, (p->seen_count + 1) * sizeof *p->seen);
    if (grown == NULL) {
        return STATUS_NO_MEMORY;
    }
    p->seen = grown;
    p->seen[p->seen_count++] = (struct seen_job){
        .id = job->id, .text = job->text_digest, .version = record->as.job.protocol};
    return STATUS_OK;
}

static void job_unfit(struct participant *p, const char *event, const char *text)
{
    participant_enter_job(p, JOB_UNFIT);
    log_event(p->options.log, LOG_ERROR, event, NULL, "not joining the job: %s", text);
}

/* The text is here and matches its digest. */
static enum status job_accept_text(struct participant *p, const struct event *event,
                                   struct effects *effects)
{
    struct slice text = {p->text, p->name.text_bytes};
    struct slice parts[] = {
        {JOB_LABEL, sizeof JOB_LABEL - 1}, {p->name.nonce.byte, DIGEST_BYTES}, text};
    struct digest digest;
    struct why why = {{0}};

    digest_sha256(&digest, parts, 3);
    if (!digest_equal(&digest, &p->name.id)) {
        job_unfit(p, "job-forged", "its name is not the digest of its text");
        return STATUS_OK;
    }
    enum status status = job_parse_older(&p->job, text, p->age, "the coordinator's job", &why);
    if (status == STATUS_NO_MEMORY) {
        return status;
    }
    if (status != STATUS_OK) {
        job_unfit(p, "job-invalid", why.text);
        site_note_refusal(p, why.text);
        return STATUS_OK;
    }
    return job_consider(p, event, effects);
}

static enum status job_take_approved(struct participant *p, const struct event *event,
                                     struct effects *effects)
{
    struct slice approved = p->options.approved_text;
    struct digest digest;

    digest_sha256(&digest, &approved, 1);
    if (!digest_equal(&digest, &p->name.text_digest) || approved.size != p->name.text_bytes) {
        static const char why[] =
            "its text is not the one in this agent's settings (key `job`); compare the two";
        job_unfit(p, "job-not-approved", why);
        site_note_refusal(p, why);
        return STATUS_OK;
    }
    p->text = malloc(approved.size);
    if (p->text == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(p->text, approved.data, approved.size);
    return job_accept_text(p, event, effects);
}

/* A text is another job of each age: other rounds, which look at other records and name other rows in the ledger. What one age
 * has paid for must not pay for a look of another, so a job keeps the age that it has here. Agents before version 7 wrote down no
 * age, and knew none of now. */
static bool is_of_its_age(const struct participant *p, const struct digest *job, enum job_age told)
{
    const struct seen_job *seen = seen_of(p, job);
    if (p->job_phase != JOB_NONE && digest_equal(job, &p->name.id)) {
        return told == p->age;
    }
    return seen == NULL ||
           (seen->version > 0 ? seen->version == job_age_version(told) : told != JOB_OF_NOW);
}

/* The present job stays as it is. Another one is declined, so that the coordinator does not wait for
 * this site. */
static enum status job_refuse_age(struct participant *p, const struct message *message,
                                  struct effects *effects)
{
    const struct digest *job = &message->as.welcome.job.id;
    const bool is_here = p->job_phase != JOB_NONE && digest_equal(job, &p->name.id);
    if (!digest_equal(&p->misdated, job)) { /* once, however often it is told */
        char hex[2 * DIGEST_BYTES + 1];
        hex_encode(hex, job->byte, DIGEST_BYTES);
        p->misdated = *job;
        log_event(
            p->options.log, LOG_ERROR, "job-misdated", p->coordinator.name,
            "job %.12s is told as one that a program of version %" PRIu32
            " of the protocol has begun, but it began here as another version's: %s; remedy: submit "
            "the job anew",
            hex, job_age_version((enum job_age)message->as.welcome.older),
            is_here ? "it goes on as that" : "every round will be declined");
    }
    return is_here ? STATUS_OK
                   : participant_decline_of(p, job, message->as.welcome.rounds_closed, effects);
}

enum status job_on_welcome(struct participant *p, const struct event *event,
                           const struct message *message, struct effects *effects)
{
    const struct job_name *name = &message->as.welcome.job;

    if (!is_of_its_age(p, &name->id, (enum job_age)message->as.welcome.older)) {
        return participant_is_deaf(p) ? STATUS_OK : job_refuse_age(p, message, effects);
    }
    if (p->job_phase != JOB_NONE && digest_equal(&name->id, &p->name.id)) {
        if (!participant_is_computing(p)) {
            site_note_offer(p, p->job_phase == JOB_OVER ? NULL : name);
        }
        return STATUS_OK;
    }
    if (participant_is_deaf(p)) {
        return STATUS_OK;
    }
    if (job_is_one_too_many(p, name, event->wall_ms)) {
        /* Silence would look like a person who has yet to decide. A job that cannot be counted does wait for a person
         * here. */
        return p->jobs_limit_told ? participant_decline_of(
                                        p, &name->id, message->as.welcome.rounds_closed, effects)
                                  : STATUS_OK;
    }
    site_note_offer(p, name); /* counted, so that no coordinator makes the site write without end */
    job_leave(p);
    p->name = *name;
    p->age = (enum job_age)message->as.welcome.older;
    participant_enter_job(p, JOB_FETCHING);
    log_event(p->options.log, LOG_INFO, "job-offered", p->coordinator.name,
              "the coordinator offers a job of %u bytes", (unsigned)name->text_bytes);
    if (p->options.approved_text.size > 0) {
        return job_take_approved(p, event, effects);
    }
    enum status status =
        transfer_begin(&p->fetch, name->text_bytes, TRANSFER_FETCH_BYTES, event->now_ms);
    if (status != STATUS_OK) {
        return status;
    }
    p->fetching = name->text_digest;
    return participant_ask(p, effects);
}

/* A job that this site has not joined is gone with its offer. One that it has joined may still be told of. */
enum status job_on_none(struct participant *p)
{
    const bool joined = p->job_phase == JOB_READY || p->fetch_final || p->model_owed;
    if (participant_is_deaf(p)) {
        return STATUS_OK;
    }
    site_note_offer(p, NULL);
    if (!joined && p->job_phase != JOB_NONE && p->job_phase != JOB_OVER) {
        log_event(
            p->options.log, LOG_INFO, "job-gone", p->coordinator.name,
            "the coordinator no longer offers the job: it failed, was cancelled or has ended");
        job_leave(p);
    }
    return STATUS_OK;
}

enum status job_on_text(struct participant *p, const struct event *event, bool right,
                        struct effects *effects)
{
    p->text = (char *)transfer_take(&p->fetch);
    if (!right) {
        job_unfit(p, "job-forged", "the text that arrived does not match its digest");
        return STATUS_OK;
    }
    return job_accept_text(p, event, effects);
}

/* The job was judged by the number of records that the dictionary states, and its charges name rows
 * up to that number: a source that gives others is not used. */
static enum status job_check_records(const struct participant *p, struct why *why)
{
    const uint64_t admitted = dictionary_records(p->options.dictionary, &p->job.schema);
    if (p->work.data.record_count != admitted) {
        return why_refuse(why,
                          "the source gave another number of records than the dictionary states");
    }
    return STATUS_OK;
}

enum status job_look_again(struct participant *p, const struct event *event,
                           struct effects *effects)
{
    return p->job_phase == JOB_UNFIT && p->look_ms != 0 && event->now_ms >= p->look_ms &&
                   !p->policy_changed
               ? job_consider(p, event, effects)
               : STATUS_OK;
}

enum status job_on_loaded(struct participant *p, const struct event *event, struct effects *effects)
{
    enum status status = p->work.status;

    if (status == STATUS_OK) {
        status = job_check_records(p, &p->work.why);
    }
    if (status == STATUS_NO_MEMORY) {
        return status;
    }
    if (status != STATUS_OK) {
        if (p->look_ms == 0) { /* once, however often it is looked for */
            job_unfit(p, "data-unfit", p->work.why.text);
        } else {
            participant_enter_job(p, JOB_UNFIT);
        }
        p->look_ms = event->now_ms + LOOK_AGAIN_MS;
        return STATUS_OK;
    }
    p->look_ms = 0;
    p->data = p->work.data;
    p->data_digest = p->work.data_digest;
    memset(&p->work.data, 0, sizeof p->work.data);
    p->order = calloc(p->data.record_count, sizeof *p->order);
    if (p->order == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (schema_is_series(&p->job.schema)) {
        for (size_t i = 0; i < p->data.record_count; i++) {
            p->order[i] = i; /* days stay in the order of time */
        }
    } else {
        permutation_draw(p->order, p->data.record_count, &p->name.id);
    }
    participant_enter_job(p, JOB_READY);
    log_event(p->options.log, LOG_INFO, "job-joined", NULL, "ready for job \"%s\", rounds: %u",
              p->job.name, (unsigned)job_round_count(&p->job));
    return participant_hello(p, event->now_ms, effects);
}
