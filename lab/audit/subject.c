#include "lab/audit/subject.h"

#include "base/check.h"
#include "lab/audit/rig.h"

#include <stdlib.h>
#include <string.h>

static const struct subject_code *const subjects[] = {
    &subject_laplace,       &subject_laplace_vector, &subject_gaussian,         &subject_shares,
    &subject_pipeline,      &subject_exponential,    &subject_permute_and_flip, &subject_noisy_max,
    &subject_rwm,           &subject_theorem,        &subject_dartboard,        &subject_epochs,
    &subject_linear_learner};

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

enum status audit_rig_new(struct audit_rig **out, const struct audit_subject *subject,
                          const struct audit_setting *setting, struct why *why)
{
    struct audit_rig *rig = calloc(1, sizeof *rig);
    enum status status = STATUS_NO_MEMORY;

    *out = NULL;
    if (rig == NULL) {
        goto done;
    }
    rig->code = code_of(subject);
    rig->setting = *setting;
    rig->epsilon = (double)setting->epsilon_micro / (double)EPSILON_MICRO_ONE;
    rig->sensitivity = setting->sensitivity;
    if (setting->epsilon_micro == 0 || setting->sensitivity == 0 ||
        setting->sensitivity > UINT64_C(1) << 40) {
        why_set(why, "epsilon must be above 0, and the sensitivity from 1 to 2^40");
        status = STATUS_INVALID;
        goto done;
    }
    if (subject->has_delta && !(setting->delta > 0 && setting->delta < 1)) {
        why_set(why, "delta must be above 0 and below 1");
        status = STATUS_INVALID;
        goto done;
    }
    rig->delta = subject->has_delta ? setting->delta : 0;
    /* One pass, a row for each run: however many there are, the ledger stays small. */
    rig->ledger = ledger_new((struct price){UINT64_MAX, DELTA_ATTO_ONE - 1});
    if (rig->ledger == NULL) {
        goto done;
    }
    status = rig->code->prepare(rig, why);
    if (status == STATUS_OK) {
        *out = rig;
        rig = NULL;
    }
done:
    audit_rig_free(rig);
    return status;
}

void audit_rig_free(struct audit_rig *rig)
{
    if (rig != NULL) {
        if (rig->code->release != NULL) {
            rig->code->release(rig);
        }
        ledger_free(rig->ledger);
        free(rig);
    }
}

struct audit_source audit_rig_source(struct audit_rig *rig)
{
    return (struct audit_source){.draw = rig->code->draw, .self = rig};
}

double audit_rig_epsilon(const struct audit_rig *rig)
{
    return rig->epsilon;
}

double audit_rig_delta(const struct audit_rig *rig)
{
    return rig->delta;
}

enum status rig_pay(struct audit_rig *rig, struct grant **grant, enum mechanism mechanism)
{
    bool gaussian = mechanism == MECHANISM_DISCRETE_GAUSSIAN;
    struct charge charge = {.mechanism = mechanism,
                            .neighbours = NEIGHBOURS_REPLACE_ONE,
                            .epsilon_micro = gaussian ? 0 : rig->setting.epsilon_micro,
                            .sigma_micro = gaussian ? rig->sigma_micro : 0,
                            .pass = {{1}},
                            .row_first = rig->row++,
                            .row_count = 1};
    return ledger_spend(rig->ledger, grant, &charge, NULL);
}
