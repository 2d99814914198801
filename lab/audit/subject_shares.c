/* The sum that is released under distributed trust, with the fewest honest agents that the job
 * accepts: h agents each add a Polya share to their own value, and h such shares are discrete
 * Laplace noise. The record that differs is one agent's; the others' values are the same on both
 * sides. The worst pair is that of Laplace noise, and as tight. */

#include "lab/audit/rig.h"

#include "dp/mechanism.h"
#include "noise/share.h"

enum { HONEST = 4 };

static enum status shares_draw(void *self, const struct random *random, unsigned side,
                               int64_t *score, size_t count)
{
    struct audit_rig *rig = self;
    enum status status = STATUS_OK;
    for (size_t done = 0; done < count && status == STATUS_OK;) {
        size_t part = count - done < RIG_BLOCK ? count - done : RIG_BLOCK;
        for (size_t i = 0; i < part; i++) {
            score[done + i] = 0;
        }
        for (int64_t agent = 0; agent < HONEST && status == STATUS_OK; agent++) {
            for (size_t i = 0; i < part; i++) {
                rig->work[i] = agent == 0 ? rig->value[side][0] : 1000 * agent;
            }
            status = noise_share_add(&rig->share, random, rig->work, part);
            for (size_t i = 0; i < part; i++) { /* as the coordinator sums: modulo 2^64 */
                score[done + i] = (int64_t)((uint64_t)score[done + i] + (uint64_t)rig->work[i]);
            }
        }
        done += part;
    }
    return status;
}

static enum status shares_prepare(struct audit_rig *rig, struct why *why)
{
    struct noise_scale scale;
    rig->width = 1;
    rig->value[1][0] = (int64_t)rig->sensitivity;
    enum status status = mechanism_scale(&scale, rig->sensitivity, rig->setting.epsilon_micro, why);
    return status != STATUS_OK ? status : noise_share_init(&rig->share, scale, HONEST);
}

static void shares_release(struct audit_rig *rig)
{
    noise_share_free(&rig->share);
}

const struct subject_code subject_shares = {
    .subject = {.name = "shares",
                .summary = "the sum of four honest agents' shares of noise (distributed trust)",
                .worst = "one agent's value moved by the sensitivity; as laplace",
                .tight = true},
    .prepare = shares_prepare,
    .draw = shares_draw,
    .release = shares_release};
