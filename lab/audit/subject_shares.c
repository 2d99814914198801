/* The sum that is released under distributed trust, with the fewest honest agents that the job
 * accepts: h agents each add a Polya share to their own value, and h such shares are discrete
 * Laplace noise. The record that differs is one agent's; the others' values are the same on both
 * sides. The worst pair is that of Laplace noise, and as tight. */

#include "lab/audit/harness.h"

#include "dp/mechanism.h"
#include "noise/share.h"

enum { HONEST = 4 };

static enum status shares_draw(void *self, const struct random *random, unsigned side,
                               int64_t *score, size_t count)
{
    struct audit_harness *harness = self;
    enum status status = STATUS_OK;
    for (size_t done = 0; done < count && status == STATUS_OK;) {
        size_t part = count - done < HARNESS_BLOCK ? count - done : HARNESS_BLOCK;
        for (size_t i = 0; i < part; i++) {
            score[done + i] = 0;
        }
        for (int64_t agent = 0; agent < HONEST && status == STATUS_OK; agent++) {
            for (size_t i = 0; i < part; i++) {
                harness->work[i] = agent == 0 ? harness->value[side][0] : 1000 * agent;
            }
            status = noise_share_add(&harness->share, random, harness->work, part);
            for (size_t i = 0; i < part; i++) { /* as the coordinator sums: modulo 2^64 */
                score[done + i] = (int64_t)((uint64_t)score[done + i] + (uint64_t)harness->work[i]);
            }
        }
        done += part;
    }
    return status;
}

static enum status shares_prepare(struct audit_harness *harness, struct why *why)
{
    struct noise_scale scale;
    harness->width = 1;
    harness->value[1][0] = (int64_t)harness->sensitivity;
    enum status status =
        mechanism_scale(&scale, harness->sensitivity, harness->setting.epsilon_micro, why);
    return status != STATUS_OK ? status : noise_share_init(&harness->share, scale, HONEST);
}

static void shares_release(struct audit_harness *harness)
{
    noise_share_free(&harness->share);
}

const struct subject_code subject_shares = {
    .subject = {.name = "shares",
                .summary = "the sum of four honest agents' shares of noise (distributed trust)",
                .worst = "one agent's value moved by the sensitivity; as laplace",
                .tight = true},
    .prepare = shares_prepare,
    .draw = shares_draw,
    .release = shares_release};
