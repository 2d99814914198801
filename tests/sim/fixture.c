#include "sim/fixture.h"

#include "support/dictionary_of.h"

#include <stdio.h>
#include <stdlib.h>

static const char HEAD[] =
    "hedgerow: 1\n"
    "job: sim\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "    - {column: b, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, %s}\n"
    "cohort: {minimum: %u, join_deadline_s: %u, deadline_s: %u, patience_s: %u%s}\n"
    "stages:\n"
    "%s";

static const struct {
    const char *privacy;
    const char *records;
    const char *stages;
} text_of[TRIAL_COUNT] = {
    [TRIAL_LOCAL] = {"trust: local, epsilon: 1, delta: 0", "",
                     "  - {task: fit, loss: logistic, lambdas: [0.5, 0.9], share: 0.6,"
                     " tolerance: 0.01, grid_bits: 10, experts: {own: true, shifts: [0.25]}}\n"
                     "  - {task: losses, strategy: rwm, loss: zero_one, rounds: 3, batch: 4,"
                     " share: 0.4, grid_bits: 10}\n"},
    [TRIAL_PLAYS] = {"trust: central, epsilon: 4, delta: 0", ", records: 12",
                     "  - {task: fit, loss: logistic, lambdas: [0.5, 0.9], share: 0.5,"
                     " tolerance: 0.01, grid_bits: 10, experts: {own: false, shifts: [0.25]}}\n"
                     "  - {task: losses, strategy: dartboard, loss: zero_one, rounds: 3, batch: 4,"
                     " share: 0.3, grid_bits: 10}\n"
                     "  - {task: losses, strategy: rwm, loss: zero_one, rounds: 2, batch: 4,"
                     " share: 0.2, grid_bits: 10}\n"},
    [TRIAL_GAUSSIAN] = {"trust: central, epsilon: 1, delta: 0.000001", "",
                        "  - {task: update, loss: logistic, rounds: 5, batch: 12, clip: 1, rate: 1,"
                        " noise: gaussian, grid_bits: 10}\n"},
    [TRIAL_QUESTIONS] = {"trust: central, epsilon: 1, delta: 0", "",
                         "  - {task: query, queries: [\"count: a >= 0.5\", \"count: b >= 0.5\","
                         " \"quantile: 0.5 of b\"], batch: 12, share: 0.6, grid_bits: 10}\n"
                         "  - {task: select, candidates: {stumps: [a, b], thresholds: 4},"
                         " batch: 12, share: 0.4}\n"},
    [TRIAL_MASKED] = {"trust: distributed, epsilon: 1, delta: 0",
                      ", dishonest: 1, honest: 1, records: 12",
                      "  - {task: fit, loss: logistic, lambdas: [0.5, 0.9], share: 0.6,"
                      " tolerance: 0.01, grid_bits: 10, experts: {own: false, shifts: [0.25]}}\n"
                      "  - {task: losses, strategy: rwm, loss: zero_one, rounds: 3, batch: 4,"
                      " share: 0.4, grid_bits: 10}\n"},
};

/* The same rounds and prices as TRIAL_LOCAL; the checks look at no single answer. */
static const char JOINED[] =
    "  - {task: fit, loss: logistic, lambdas: [0.5, 0.9], share: 0.6,"
    " tolerance: 0.01, grid_bits: 10, experts: {own: false, shifts: [0.25]}}\n"
    "  - {task: losses, strategy: rwm, loss: zero_one, rounds: 3, batch: 4,"
    " share: 0.4, grid_bits: 10}\n";

/* The same rounds as TRIAL_PLAYS: two segments each. The last play of the second segment is the
 * last pick. */
static const char SEGMENTS[] =
    "  - {task: fit, loss: logistic, lambdas: [0.5, 0.9], share: 0.5,"
    " tolerance: 0.01, grid_bits: 10, experts: {own: false, shifts: [0.25]}}\n"
    "  - {task: losses, strategy: dartboard, horizon: doubling, loss: zero_one, rounds: 3,"
    " batch: 4, share: 0.3, grid_bits: 10}\n"
    "  - {task: losses, strategy: rwm, horizon: doubling, loss: zero_one, rounds: 2, batch: 4,"
    " share: 0.2, grid_bits: 10}\n";

/* The same rounds and prices as TRIAL_LOCAL. */
static const char ANSWERS[] =
    "  - {task: statistics, lambdas: [0.5, 0.9], share: 0.3, batch: 12, grid_bits: 10}\n"
    "  - {task: predict, loss: squared, lambdas: [0.5], share: 0.3, tolerance: 0.01,"
    " grid_bits: 10, kernel: {kind: gaussian, gamma: 1}, points: [[0, 1], [1, 0]],"
    " experts: {own: true, shifts: [0.25]}}\n"
    "  - {task: losses, strategy: rwm, loss: zero_one, rounds: 3, batch: 4,"
    " share: 0.4, grid_bits: 10}\n";

/* Likewise; the stream's two releases are paid for once. */
static const char STREAM[] =
    "  - {task: online, rounds: 2, t0: 3, share: 0.6, grid_bits: 32}\n"
    "  - {task: losses, strategy: rwm, loss: zero_one, rounds: 3, batch: 4,"
    " share: 0.4, grid_bits: 10, forecasters: [{name: half and half, features: [a, b]}]}\n";

/* Likewise: two rounds of questions, by site. */
static const char SITES[] =
    "  - {task: query, queries: [\"count: a >= 0.5\", \"mean: b\"], by_site: true, batch: 12,"
    " share: 0.3, grid_bits: 10}\n"
    "  - {task: query, queries: [\"count: b >= 0.5\"], by_site: true, batch: 12, share: 0.3,"
    " grid_bits: 10}\n"
    "  - {task: losses, strategy: rwm, loss: zero_one, rounds: 3, batch: 4,"
    " share: 0.4, grid_bits: 10, forecasters: [{name: half and half, features: [a, b]}]}\n";

static void allow(struct policy *policy, const struct job *job)
{
    for (size_t i = 0; i < job->stage_count; i++) {
        policy->task_allowed[job->stage[i].task] = true;
    }
    policy->trust_allowed[job->trust] = true;
    if (job->trust != TRUST_CENTRAL) {
        return;
    }
    /* A job may cost its price and no more; what all may cost is another limit, at another order. */
    policy->epsilon_micro = 20 * EPSILON_MICRO_ONE;
    policy->delta_atto = DELTA_ATTO_ONE / 1000;
    policy->job_epsilon_micro = job->epsilon_micro;
    policy->job_delta_atto = job->delta_atto;
    policy->allowance_days = 0;
}

void fixture_init(struct fixture *fixture, const struct plan *plan)
{
    struct why why = {{0}};
    const char *const local[] = {[LOCAL_FITS] = text_of[TRIAL_LOCAL].stages,
                                 [LOCAL_ANSWERS] = ANSWERS,
                                 [LOCAL_STREAM] = STREAM,
                                 [LOCAL_SITES] = SITES};
    const char *const stages = plan->joined && plan->local == LOCAL_FITS ? JOINED
                               : plan->trial == TRIAL_LOCAL              ? local[plan->local]
                               : plan->trial == TRIAL_PLAYS && plan->doubling
                                   ? SEGMENTS
                                   : text_of[plan->trial].stages;
    int size = snprintf(fixture->text_bytes, sizeof fixture->text_bytes, HEAD,
                        text_of[plan->trial].privacy, plan->cohort_min, plan->join_deadline_s,
                        plan->deadline_s, plan->patience_s, text_of[plan->trial].records, stages);
    fixture->text = (struct slice){.data = fixture->text_bytes, .size = (size_t)size};
    if (job_parse(&fixture->job, fixture->text, "sim", &why) != STATUS_OK) {
        fprintf(stderr, "the simulator's job is not valid: %s\n", why.text);
        abort();
    }
    fixture->dictionary = dictionary_of(&fixture->job.schema, SIM_RECORDS);
    fixture->policy = (struct policy){
        .epsilon_micro = 3500000,
        .job_epsilon_micro = 1000000,
        .allowance_days = SIM_WINDOW_DAYS,
        .allowance_epsilon_micro = plan->patient ? SIM_WINDOW_PATIENT_MICRO : SIM_WINDOW_LIES_MICRO,
        .cohort_min = 1,
        .message_bytes_max = 1 << 20,
        .approval = APPROVAL_POLICY,
        .jobs_per_day = 20,
        .answer_slot_ms = plan->slot_ms};
    fixture->policy.allowance_days /= plan->planted == PLANTED_SHORT_WINDOW ? 2 : 1;
    allow(&fixture->policy, &fixture->job);
    fixture->policy.dishonest_min = 1;
    (void)snprintf(fixture->policy.peers, sizeof fixture->policy.peers, "peers");
    fixture->peers.count = 0;
    for (size_t i = 0; i < SIM_AGENTS; i++) {
        const struct digest secret = {{1, (uint8_t)i}};
        char name[MASKS_NAME_BYTES];
        (void)snprintf(name, sizeof name, "agent-%zu", i + 1);
        if (key_signing_from_secret(&fixture->signing[i], &secret) != STATUS_OK ||
            masks_peers_add(&fixture->peers, name, &fixture->signing[i].public_key, NULL) !=
                STATUS_OK) {
            abort();
        }
    }
}

void fixture_free(struct fixture *fixture)
{
    job_free(&fixture->job);
    free(fixture->dictionary.column);
}

static enum status load(void *self, struct dataset *out, const struct schema *schema,
                        struct why *why)
{
    const size_t *number = self;
    struct dice dice = {.state = *number};
    char text[SIM_RECORDS * 32];
    size_t used = (size_t)snprintf(text, sizeof text, "a,b,y\n");
    for (int i = 0; i < SIM_RECORDS; i++) {
        unsigned a = (unsigned)dice_below(&dice, 100);
        unsigned b = (unsigned)dice_below(&dice, 100);
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "0.%02u,0.%02u,%d\n", a, b, a > b);
    }
    return dataset_parse(out, (struct slice){.data = text, .size = used}, "records", schema,
                         &(struct dataset_options){.use = DATASET_LEARN}, why);
}

struct source fixture_source(size_t *number)
{
    return (struct source){.load = load, .self = number};
}
