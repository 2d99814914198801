/* What has come of a job of the queue, by its text, its journal and its end. */

#include "base/check.h"
#include "base/decimal.h"
#include "config/keys.h"
#include "coordinator/main_queue_store.h"
#include "io/clock.h"
#include "job/round.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *state_choice(unsigned index)
{
    static const char *const name[] = {"waiting", "set aside", "running", "done",
                                       "failed",  "cancelled", NULL};
    return name[index];
}

const char *queue_state_name(enum queue_state state)
{
    return state_choice(state);
}

/* The text of an end: written and read here alone. */
/* clang-format off */
#define KEY_OF struct queue_job
static const struct config_key end_keys[] = {
    KEY_CHOICE("state", state, state_choice, REQUIRED("done")),
    KEY_TEXT("job", name, REQUIRED("study")),
    KEY_WHOLE("rounds", rounds, 0, ROUNDS_MAX, REQUIRED("3")),
    KEY_WHOLE("rounds_planned", planned, 0, ROUNDS_MAX, REQUIRED("3")),
    KEY_EXACT("epsilon", spent.epsilon_micro, EPSILON_DECIMALS, 0, UINT64_MAX, REQUIRED("1")),
    KEY_EXACT("epsilon_planned", price.epsilon_micro, EPSILON_DECIMALS, 0, UINT64_MAX, REQUIRED("1")),
    KEY_EXACT("delta", spent.delta_atto, DELTA_DECIMALS, 0, UINT64_MAX, REQUIRED("0")),
    KEY_EXACT("delta_planned", price.delta_atto, DELTA_DECIMALS, 0, UINT64_MAX, REQUIRED("0")),
    KEY_FLAG("paid_unknown", unknown, OPTIONAL("false")),
    KEY_TEXT("because", because, OPTIONAL("too few agents")),
    KEY_TEXT("ended", ended, REQUIRED("2026-11-20T12:49:53.123Z")),
    KEY_END,
};
#undef KEY_OF
/* clang-format on */

static enum status read_end(struct queue_job *job, const struct office *office, struct why *why)
{
    char name[QUEUE_PATH_BYTES];
    char *text = NULL;
    size_t size = 0;
    struct config *config = NULL;
    enum status status = queue_of(office)->read_end(&text, &size, name, office, job->number, why);
    if (status == STATUS_OK) {
        status = config_open(&config, (struct slice){text, size}, name, why);
    }
    if (status == STATUS_OK) {
        status = config_read(config, job, end_keys, why);
    }
    config_free(config);
    free(text);
    return status;
}

static void take_asked(struct queue_job *job, const struct queue_kept *kept, uint32_t number)
{
    *job = (struct queue_job){.number = number, .seconds_left = -1};
    memcpy(job->submitted, kept->submitted, sizeof job->submitted);
    memcpy(job->cancel, kept->cancel, sizeof job->cancel);
}

/* What a mean round took so far, for each that is left. Nothing is known before the first one was closed. */
double queue_seconds_left(uint32_t rounds, uint32_t planned, int64_t first_ms, int64_t last_ms)
{
    if (rounds == 0 || last_ms < first_ms) {
        return -1;
    }
    const double pace_ms = (double)(last_ms - first_ms) / rounds;
    const double since_ms = (double)(clock_wall_ms() - last_ms);
    const double left_ms = pace_ms * (planned - rounds) - (since_ms > 0 ? since_ms : 0);
    return left_ms > 0 ? left_ms / 1000 : 0;
}

/* What the text alone says of it. */
static void tell_text(struct queue_job *job, const struct office *own)
{
    (void)snprintf(job->name, sizeof job->name, "%s", own->job.name);
    job->planned = job_round_count(&own->job);
    job->price = (struct price){own->job.epsilon_micro, own->job.delta_atto};
}

static void tell_end(struct queue_job *job, const struct office *office, const struct job_end *end)
{
    const bool dropped = !end->begun && job->cancel[0] != '\0';
    tell_text(job, office);
    job->begun = end->begun;
    job->state = end->cancelled || dropped ? QUEUE_CANCELLED
                 : end->failed             ? QUEUE_FAILED
                 : end->finished           ? QUEUE_DONE
                 : end->begun              ? QUEUE_RUNNING
                                           : QUEUE_WAITING;
    job->rounds = end->rounds;
    job->spent = end->spent;
    job->seconds_left =
        job->state == QUEUE_RUNNING
            ? queue_seconds_left(job->rounds, job->planned, end->first_ms, end->last_ms)
            : -1;
    (void)snprintf(job->because, sizeof job->because, "%s", end->because);
    if (dropped) {
        (void)snprintf(job->because, sizeof job->because, "cancelled by %s before it began",
                       job->cancel);
    }
}

void queue_tell(struct queue_job *job, const struct office *office, uint32_t number,
                const struct job_end *end)
{
    struct queue_kept kept;
    struct why ignored = {{0}};
    if (queue_of(office)->peek(&kept, office, number, &ignored) != STATUS_OK) {
        kept = (struct queue_kept){.over = false}; /* who submitted it decides nothing */
    }
    take_asked(job, &kept, number);
    tell_end(job, office, end);
}

/* Its canceller has decided that it never goes on, whatever is mended. */
static void tell_stuck(struct queue_job *job, bool begun, bool unknown, const char *because)
{
    const bool cancelled = job->cancel[0] != '\0';
    job->stuck = true;
    job->begun = begun;
    job->unknown = begun && unknown;
    job->seconds_left = -1;
    job->state = cancelled ? QUEUE_CANCELLED : begun ? QUEUE_ASIDE : QUEUE_WAITING;
    (void)snprintf(
        job->because, sizeof job->because, "%s%s%s%.*s%s", cancelled ? "cancelled by " : "",
        job->cancel, cancelled ? "; " : "", RECORD_CAUSE_BYTES - QUEUE_BY_BYTES - 128, because,
        job->unknown ? "; what was paid cannot be told here: the sites' ledgers have it" : "");
}

/* A journal that is damaged or gone stays so until somebody brings it back. */
static bool is_damage(enum status status)
{
    return status == STATUS_CORRUPT || status == STATUS_NOT_FOUND;
}

static void tell_damage(struct queue_job *job, enum status status)
{
    char because[RECORD_CAUSE_BYTES];
    (void)snprintf(because, sizeof because,
                   "its journal cannot be read (%s): bring the latest whole copy back and start "
                   "the coordinator again, or cancel the job",
                   status_text(status));
    tell_stuck(job, true, true, because);
    job->damaged = true;
}

/* From the text and the journal. */
static enum status judge(struct queue_job *job, struct office *own, const struct queue_kept *kept,
                         struct why *why)
{
    const bool begun = kept->begun || kept->journal;
    struct job_end end = {.begun = false};
    enum status status = queue_take(own, job->number, why);
    if (status == STATUS_NO_MEMORY || status == STATUS_NOT_FOUND || status == STATUS_AGAIN) {
        return status;
    }
    if (status != STATUS_OK) { /* the journal cannot be read without it */
        tell_stuck(job, begun, true, why->text);
        return STATUS_OK;
    }
    tell_text(job, own);
    if (kept->begun && !kept->journal) {
        tell_stuck(job, true, true,
                   "it has begun, and its journal is gone: bring the journal back, or cancel the "
                   "job; to run it anew, and pay again, submit it again");
        return STATUS_OK;
    }
    status = kept->journal ? office_look(own, &end, NULL, NULL, why) : STATUS_OK;
    if (status == STATUS_FOREIGN) {
        tell_stuck(job, true, true,
                   "its text has changed since it began: put the old text back, or cancel it");
        return STATUS_OK;
    }
    if (is_damage(status)) {
        tell_damage(job, status);
        return STATUS_OK;
    }
    if (status != STATUS_OK) {
        return status;
    }
    tell_end(job, own, &end);
    queue_of(own)->held(job->held, own, job->number);
    if (job->state <= QUEUE_RUNNING && office_judge(own, why) != STATUS_OK) {
        tell_stuck(job, job->begun, false, why->text);
    }
    return STATUS_OK;
}

enum status queue_look(struct queue_job *job, const struct office *office, uint32_t number,
                       struct why *why)
{
    struct queue_kept kept;
    *job = (struct queue_job){.number = number, .seconds_left = -1};
    enum status status = queue_of(office)->peek(&kept, office, number, why);
    if (status != STATUS_OK) {
        return status;
    }
    take_asked(job, &kept, number);
    if (kept.over) {
        job->filed = true;
        job->begun = kept.begun;
        return read_end(job, office, why);
    }
    struct office own = office_like(office);
    status = judge(job, &own, &kept, why);
    office_free(&own);
    return status;
}

enum status queue_show(struct queue_job *job, const struct office *office, uint32_t number,
                       struct why *why)
{
    struct queue_kept kept;
    struct why ignored = {{0}};
    const enum status status = queue_look(job, office, number, why);
    if (status != STATUS_OK || job->filed || job->stuck ||
        queue_of(office)->peek(&kept, office, number, &ignored) != STATUS_OK ||
        kept.aside[0] == '\0') {
        return status;
    }
    tell_stuck(job, job->begun, false, kept.aside);
    job->held[0] = '\0'; /* it is not what the job waits for */
    return STATUS_OK;
}

enum status queue_file(const struct office *office, const struct queue_job *job, struct why *why)
{
    char when[CLOCK_TEXT_BYTES];
    char epsilon[2][DECIMAL_TEXT_BYTES];
    char delta[2][DECIMAL_TEXT_BYTES];
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CHECK(job->state > QUEUE_RUNNING);
    if (out == NULL) {
        return STATUS_NO_MEMORY;
    }
    clock_text(when, clock_wall_ms());
    const struct price *price[] = {&job->spent, &job->price};
    for (size_t i = 0; i < 2; i++) {
        decimal_format(epsilon[i], DECIMAL_TEXT_BYTES, price[i]->epsilon_micro, EPSILON_DECIMALS);
        decimal_format(delta[i], DECIMAL_TEXT_BYTES, price[i]->delta_atto, DELTA_DECIMALS);
    }
    (void)fprintf(out, "# Written by hedgerow-coordinator: how this job ended.\nhedgerow: 1\n");
    (void)fprintf(out, "state: %s\njob: ", queue_state_name(job->state));
    config_put_text(out, job->name[0] != '\0' ? job->name : "?");
    (void)fprintf(out, "\nrounds: %" PRIu32 "\nrounds_planned: %" PRIu32 "\n", job->rounds,
                  job->planned);
    (void)fprintf(out, "epsilon: %s\nepsilon_planned: %s\ndelta: %s\ndelta_planned: %s\n",
                  epsilon[0], epsilon[1], delta[0], delta[1]);
    if (job->unknown) {
        (void)fprintf(out, "paid_unknown: true\n");
    }
    if (job->because[0] != '\0') {
        (void)fprintf(out, "because: ");
        config_put_text(out, job->because);
        (void)fputc('\n', out);
    }
    (void)fprintf(out, "ended: \"%s\"\n", when);
    enum status status = fclose(out) == 0 ? STATUS_OK : STATUS_NO_MEMORY;
    if (status == STATUS_OK) {
        status = queue_of(office)->put_end(office, job->number, (struct slice){text, size}, why);
    }
    free(text);
    return status;
}
