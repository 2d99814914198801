#include "lab/audit/subject.h"

#include "base/check.h"
#include "lab/audit/harness.h"

#include <stdlib.h>
#include <string.h>

static const struct subject_code *const subjects[] = {
    &subject_laplace,     &subject_laplace_vector,   &subject_gaussian,
    &subject_masks,       &subject_masks_gaussian,   &subject_pipeline,
    &subject_exponential, &subject_permute_and_flip, &subject_noisy_max,
    &subject_rwm,         &subject_theorem,          &subject_dartboard,
    &subject_epochs,      &subject_linear_learner};

enum { SUBJECT_COUNT = sizeof subjects / sizeof subjects[0] };

const struct audit_subject *audit_subject_at(size_t index)
{
    return index < SUBJECT_COUNT ? &subjects[index]->subject : NULL;
}

const struct audit_subject *audit_subject_named(const char *name)
{
    for (size_t i = 0; i < SUBJECT_COUNT; i++) {
        if (strcmp(subjects[i]->subject.name, name) == 0) {
            return &subjects[i]->subject;
        }
    }
    return NULL;
}

static const struct subject_code *code_of(const struct audit_subject *subject)
{
    size_t index = 0;
    while (index < SUBJECT_COUNT && &subjects[index]->subject != subject) {
        index++;
    }
    CHECK(index < SUBJECT_COUNT); /* a subject comes from the table */
    return subjects[index];
}

enum status audit_harness_new(struct audit_harness **out, const struct audit_subject *subject,
                              const struct audit_setting *setting, struct why *why)
{
    struct audit_harness *harness = calloc(1, sizeof *harness);
    enum status status = STATUS_NO_MEMORY;

    *out = NULL;
    if (harness == NULL) {
        goto done;
    }
    harness->code = code_of(subject);
    harness->setting = *setting;
    harness->epsilon = (double)setting->epsilon_micro / (double)EPSILON_MICRO_ONE;
    harness->sensitivity = setting->sensitivity;
    if (setting->epsilon_micro == 0 || setting->sensitivity == 0 ||
        setting->sensitivity > UINT64_C(1) << 40) {
        status = why_refuse(why, "epsilon must be above 0, and the sensitivity from 1 to 2^40");
        goto done;
    }
    if (subject->has_delta && !(setting->delta > 0 && setting->delta < 1)) {
        status = why_refuse(why, "delta must be above 0 and below 1");
        goto done;
    }
    harness->delta = subject->has_delta ? setting->delta : 0;
    /* One pass, a row for each run: however many there are, the ledger stays small. */
    harness->ledger = ledger_new((struct price){UINT64_MAX, DELTA_ATTO_ONE - 1});
    if (harness->ledger == NULL) {
        goto done;
    }
    status = harness->code->prepare(harness, why);
    if (status == STATUS_OK) {
        *out = harness;
        harness = NULL;
    }
done:
    audit_harness_free(harness);
    return status;
}

void audit_harness_free(struct audit_harness *harness)
{
    if (harness != NULL) {
        if (harness->code->release != NULL) {
            harness->code->release(harness);
        }
        ledger_free(harness->ledger);
        free(harness);
    }
}

static enum status one_by_one(void *self, const struct random *random, unsigned side,
                              int64_t *score, size_t count)
{
    struct audit_harness *harness = self;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = harness->code->run(harness, random, side, &score[i]);
    }
    return status;
}

struct audit_source audit_harness_source(struct audit_harness *harness)
{
    const struct subject_code *code = harness->code;
    return (struct audit_source){.draw = code->run != NULL ? one_by_one : code->draw,
                                 .self = harness};
}

double audit_harness_epsilon(const struct audit_harness *harness)
{
    return harness->epsilon;
}

double audit_harness_delta(const struct audit_harness *harness)
{
    return harness->delta;
}

enum status harness_pay(struct audit_harness *harness, struct grant **grant,
                        enum mechanism mechanism)
{
    bool gaussian = mechanism == MECHANISM_DISCRETE_GAUSSIAN;
    struct charge charge = {.mechanism = mechanism,
                            .neighbours = NEIGHBOURS_REPLACE_ONE,
                            .epsilon_micro = gaussian ? 0 : harness->setting.epsilon_micro,
                            .sigma_micro = gaussian ? harness->sigma_micro : 0,
                            .pass = {{1}},
                            .row_first = harness->row++,
                            .row_count = 1};
    return ledger_spend(harness->ledger, grant, &charge, NULL);
}
