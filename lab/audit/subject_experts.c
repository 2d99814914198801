/* A whole play of private Randomized Weighted Majority under central trust: T draws of the
 * exponential mechanism, P(i) ~ exp(-eta L_i), L the sum of the losses so far. The neighbours
 * differ in the first round's loss vector: (1, 0) against (0, 1). All later rounds lose the same
 * for both experts, so the two cumulative losses stay one apart, in opposite directions: every one
 * of the T - 1 draws that follow has odds e^-eta against e^eta, the whole bounded range of 2 eta,
 * at the balance where the divergence of a draw is largest. The draws are independent, so the
 * number of plays of expert 0 holds all that can be told: it is the score.
 *
 * A single draw's Renyi divergence is nearly that of bounded range, eta^2 alpha / 2, so the sum of
 * the curves is nearly reached; the conversion to (epsilon, delta) is what is lost, 10 to 20 %: the
 * pair is not tight. The theorem's eta claims 4 to 6 times what its plays can show.
 *
 * Dwork and Roth 2014, chapter 11, theorem 11.2; rho = T eta^2/2 by Cesar and Rogers 2021. */

#include "lab/audit/harness.h"

#include "account/renyi.h"
#include "dp/select_private.h"

#include <math.h>

enum { ROUNDS = 16, EXPERTS = 2 };

#define ETA_UNIT UINT64_C(1000000000)

/* The first round is played before any loss is known: expert 0 or 1, whatever the records. */
static enum status play_draw(void *self, const struct random *random, unsigned side, int64_t *score,
                             size_t count)
{
    struct audit_harness *harness = self;
    enum status status = STATUS_OK;
    for (size_t run = 0; run < count; run++) {
        score[run] = 0;
        for (unsigned round = 0; round < ROUNDS && status == STATUS_OK; round++) {
            static const int64_t nothing[EXPERTS] = {0};
            size_t expert = 0;
            status = select_draw_exponential(&harness->decay, random, &expert,
                                             round == 0 ? nothing : harness->value[side], EXPERTS);
            score[run] += expert == 0;
        }
    }
    return status;
}

static enum status prepare(struct audit_harness *harness, double eta, struct why *why)
{
    double rounded = floor(eta * (double)ETA_UNIT);
    if (!(rounded >= 1 && rounded <= 0x1p53)) {
        why_set(why, "there is no eta for this epsilon and delta");
        return STATUS_INVALID;
    }
    harness->width = EXPERTS;
    harness->value[0][0] =
        1; /* losses count in whole ones: nothing is lost by it, the draw is exact */
    harness->value[1][1] = 1;
    return noise_exponential_init(&harness->decay, (uint64_t)rounded, ETA_UNIT);
}

static enum status rwm_prepare(struct audit_harness *harness, struct why *why)
{
    double rho = zcdp_from_epsilon(harness->epsilon, harness->delta);
    double eta = sqrt(2 * rho / ROUNDS);
    struct privacy_event event = {.mechanism = MECHANISM_EXPONENTIAL,
                                  .neighbours = NEIGHBOURS_REPLACE_ONE,
                                  .parameter = 2 * eta,
                                  .sensitivity = 1,
                                  .count = ROUNDS,
                                  .sampling = 1};
    harness->epsilon =
        fmin(zcdp_epsilon(&event, 1, harness->delta), renyi_epsilon(&event, 1, harness->delta));
    return prepare(harness, eta, why);
}

static enum status theorem_prepare(struct audit_harness *harness, struct why *why)
{
    if (harness->epsilon > 1) {
        why_set(why, "theorem 11.2 holds for epsilon up to 1");
        return STATUS_INVALID;
    }
    return prepare(harness, harness->epsilon / sqrt(32 * ROUNDS * log(1 / harness->delta)), why);
}

const struct subject_code subject_rwm = {
    .subject = {.name = "rwm",
                .summary = "16 rounds of Randomized Weighted Majority, exact sums (central trust)",
                .worst = "the first round's losses of two experts swapped, level ever after; the "
                         "conversion from zCDP keeps the claim above what can be shown",
                .has_delta = true},
    .prepare = rwm_prepare,
    .draw = play_draw};

const struct subject_code subject_theorem = {
    .subject = {.name = "theorem",
                .summary = "the same with the eta of Dwork and Roth, theorem 11.2; epsilon up to 1",
                .worst = "as rwm; the theorem claims several times what its plays can show",
                .has_delta = true},
    .prepare = theorem_prepare,
    .draw = play_draw};
