/* What to expect of a stage that can be rehearsed, at the job's epsilon and a few others, under all trusts. Each
 * row is a plan of its own, of the job's text with changes. The seed is the text's digest. */

#include "cli/plan_job.h"

#include "base/decimal.h"
#include "crypto/digest.h"
#include "dp/charge.h"
#include "job/trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_BYTES = 48 };

/* Epsilons of the curve: 10^-6. */
static const uint64_t curve[] = {100000, 300000, 1000000, 3000000, 10000000};

enum { CURVE_COUNT = sizeof curve / sizeof curve[0] };

/* The job's own epsilon among those of the curve. Returns how many there are. */
static size_t epsilons(uint64_t micro[static CURVE_COUNT + 1], uint64_t own)
{
    size_t count = 0;
    bool placed = false;
    for (size_t i = 0; i < CURVE_COUNT; i++) {
        if (!placed && own < curve[i]) {
            micro[count++] = own;
            placed = true;
        }
        placed = placed || own == curve[i];
        micro[count++] = curve[i];
    }
    if (!placed) {
        micro[count++] = own;
    }
    return count;
}

/* Plans the job at another epsilon, and under another trust. There may be no such job. */
static enum status plan_at(struct job_plan *changed, const struct job_source *source,
                           const struct job_plan *plan, uint64_t micro, enum job_trust trust)
{
    struct job_changes *changes = calloc(1, sizeof *changes);
    char words[PLAN_ADVICE_BYTES] = "";
    char epsilon[CELL_BYTES];
    if (changes == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (trust != plan->job.trust) {
        job_change_trust(changes, words, plan, trust);
    }
    decimal_format(epsilon, sizeof epsilon, micro, EPSILON_DECIMALS);
    if (changes->count < PLAN_CHANGES_MAX) {
        (void)snprintf(changes->set[changes->count++], PLAN_SET_BYTES, "privacy.epsilon=%s",
                       epsilon);
    }
    const enum status status = job_plan_make(changed, source, changes, NULL);
    free(changes);
    return status;
}

static uint64_t seed_of(const struct job_source *source)
{
    struct digest digest;
    digest_sha256(&digest, &source->text, 1);
    return load_u64(digest.byte);
}

/* The plans of all rows, kept while they are played: a rehearsal borrows from its job. */
struct staging {
    struct job_plan plan[JOB_EXPECTED_MAX];
    struct rehearsal rehearsal[JOB_EXPECTED_MAX];
    struct rehearsal_answer answer[JOB_EXPECTED_MAX];
};

static void add_row(struct job_expected *out, struct staging *staging,
                    const struct job_source *source, const struct job_plan *plan, uint64_t micro,
                    enum job_trust trust)
{
    struct job_plan *changed = &staging->plan[out->count];
    struct job_expected_row *row = &out->row[out->count];
    if (plan_at(changed, source, plan, micro, trust) != STATUS_OK) {
        return; /* there is no such job */
    }
    if (!terms_can_rehearse(&changed->job, out->stage) ||
        terms_rehearse(&staging->rehearsal[out->count], &changed->job, out->stage, changed->size,
                       NULL) != STATUS_OK) {
        job_plan_free(changed);
        return;
    }
    *row = (struct job_expected_row){.epsilon_micro = micro,
                                     .trust = job_plan_trust(changed),

                                     .is_own = trust == plan->job.trust &&
                                               micro == plan->job.epsilon_micro};
    out->count++;
}

/* Keeps the rows of one epsilon, or the job's own alone. */
static void keep(struct job_expected *out, struct staging *staging, uint64_t micro, bool own_alone)
{
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++) {
        if (out->row[i].epsilon_micro == micro && (out->row[i].is_own || !own_alone)) {
            staging->rehearsal[kept] = staging->rehearsal[i];
            out->row[kept++] = out->row[i];
        }
    }
    out->count = kept;
}

/* Where it would take long, the curve is left away first, then the other trusts. */
static void keep_short(struct job_expected *out, struct staging *staging, uint64_t own)
{
    for (int alone = 0; alone < 2 && out->count > 0; alone++) {
        if (rehearsal_is_short(staging->rehearsal, out->count)) {
            return;
        }
        keep(out, staging, own, alone == 1);
    }
    if (out->count > 0 && !rehearsal_is_short(staging->rehearsal, out->count)) {
        out->count = 0;
    }
    out->no_answer =
        out->count == 0 ? "it has too many columns and classes to be rehearsed here" : NULL;
}

/* What is rehearsed of the label. */
static void name_label(struct job_expected *out, const struct stage *stage)
{
    const struct label *label = &stage->schema.label;
    out->kind = label->kind;
    out->is_pinball = label->kind == LABEL_NUMBER && stage->loss.kind == LOSS_PINBALL;
    if (label->kind == LABEL_NUMBER) {
        memcpy(out->label, label->name, sizeof out->label);
        out->range = 2 * label->half_width;
    }
}

static void free_plans(struct staging *staging)
{
    for (size_t i = 0; i < JOB_EXPECTED_MAX; i++) {
        job_plan_free(&staging->plan[i]);
    }
    free(staging);
}

enum status job_expect(struct job_expected *out, const struct job_source *source,
                       const struct job_plan *plan, size_t stage)
{
    uint64_t micro[CURVE_COUNT + 1];
    *out = (struct job_expected){.stage = stage, .size = plan->size};
    if (!terms_can_rehearse(&plan->job, stage)) {
        return STATUS_OK;
    }
    struct staging *staging = calloc(1, sizeof *staging);
    if (staging == NULL) {
        return STATUS_NO_MEMORY;
    }
    const size_t count = epsilons(micro, plan->job.epsilon_micro);
    for (size_t i = 0; i < count; i++) {
        add_row(out, staging, source, plan, micro[i], plan->job.trust);
        for (unsigned trust = 0; trust < TRUST_COUNT; trust++) {
            if (trust != plan->job.trust) {
                add_row(out, staging, source, plan, micro[i], (enum job_trust)trust);
            }
        }
    }
    enum status status = STATUS_OK;
    out->no_answer = out->count == 0 ? "no plan of it can be rehearsed" : NULL;
    name_label(out, &plan->job.stage[stage]);
    const size_t all = out->count;
    if (out->count > 0) {
        keep_short(out, staging, plan->job.epsilon_micro);
    }
    if (out->count > 0) {
        status = rehearsal_play(staging->answer, staging->rehearsal, out->count,
                                REHEARSAL_TABLES_MAX, seed_of(source));
    }
    for (size_t i = 0; i < out->count; i++) {
        out->row[i].answer = staging->answer[i];
        out->row[i].tries_products = staging->rehearsal[i].tries_products;
    }
    if (status == STATUS_OK && out->count > 0 && out->count == all) {
        status = job_find_enough(out, source, plan, seed_of(source));
    }
    free_plans(staging);
    return status;
}
