#include "sim/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char TEXT[] =
    "hedgerow: 1\n"
    "job: sim\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "    - {column: b, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: %u, join_deadline_s: %u, deadline_s: %u}\n"
    "stages:\n"
    "  - {task: fit, loss: logistic, lambdas: [0.5, 0.9], share: 0.6, tolerance: 0.01, grid_bits: 10,"
    " experts: {own: true, shifts: [0.25]}}\n"
    "  - {task: losses, strategy: rwm, loss: zero_one, rounds: 3, batch: 4, share: 0.4,"
    " grid_bits: 10}\n";

void fixture_init(struct fixture *fixture, const struct plan *plan)
{
    struct why why = {{0}};
    int size = snprintf(fixture->text_bytes, sizeof fixture->text_bytes, TEXT, plan->cohort_min,
                        plan->join_deadline_s, plan->deadline_s);
    fixture->text = (struct slice){.data = fixture->text_bytes, .size = (size_t)size};
    if (job_parse(&fixture->job, fixture->text, "sim", &why) != STATUS_OK) {
        fprintf(stderr, "the simulator's job is not valid: %s\n", why.text);
        abort();
    }
    fixture->policy = (struct policy){
        .epsilon_micro = 3500000,
        .job_epsilon_micro = 1000000,
        .allowance_days = SIM_WINDOW_DAYS,
        .allowance_epsilon_micro = plan->patient ? SIM_WINDOW_PATIENT_MICRO : SIM_WINDOW_LIES_MICRO,
        .cohort_min = 1,
        .message_bytes_max = 1 << 20,
        .answer_slot_ms = plan->slot_ms};
    fixture->policy.allowance_days /= plan->planted == PLANTED_SHORT_WINDOW ? 2 : 1;
    fixture->policy.task_allowed[TASK_FIT] = true;
    fixture->policy.task_allowed[TASK_LOSSES] = true;
    fixture->policy.trust_allowed[TRUST_LOCAL] = true;
}

void fixture_free(struct fixture *fixture)
{
    job_free(&fixture->job);
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
                         DATASET_LEARN, why);
}

struct source fixture_source(size_t *number)
{
    return (struct source){.load = load, .self = number};
}
