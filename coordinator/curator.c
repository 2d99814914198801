#include "coordinator/curator.h"

#include "dp/mechanism.h"

#include <stdlib.h>
#include <string.h>

struct curator {
    const struct job *job;
    const struct random *random;
    struct ledger *ledger;
};

enum status curator_new(struct curator **out, const struct job *job, const struct random *random)
{
    struct curator *curator = calloc(1, sizeof *curator);
    if (curator == NULL) {
        return STATUS_NO_MEMORY;
    }
    *curator = (struct curator){.job = job, .random = random};
    curator->ledger = ledger_new((struct price){job->epsilon_micro, job->delta_atto});
    if (curator->ledger == NULL) {
        free(curator);
        return STATUS_NO_MEMORY;
    }
    *out = curator;
    return STATUS_OK;
}

void curator_free(struct curator *curator)
{
    if (curator != NULL) {
        ledger_free(curator->ledger);
        free(curator);
    }
}

/* As every agent's own charge: a pass is named by the round it begins with. */
static struct charge charge_of(const struct curator *curator, uint32_t round)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(curator->job, round, &within);
    struct round_rows rows = round_rows(stage, within, 1);
    struct charge charge = stage->charge;

    charge.row_first = rows.first;
    charge.row_count = rows.count;
    memset(charge.pass.byte, 0, DIGEST_BYTES);
    store_u32(charge.pass.byte, 1 + round - within % stage->batches);
    return charge;
}

enum status curator_restore(struct curator *curator, uint32_t round)
{
    struct charge charge = charge_of(curator, round);
    return ledger_restore(curator->ledger, &charge);
}

enum status curator_spend(struct curator *curator, struct grant **grant, uint32_t round,
                          struct why *why)
{
    struct charge charge = charge_of(curator, round);
    return ledger_spend(curator->ledger, grant, &charge, why);
}

enum status curator_add_noise(struct curator *curator, int64_t *sum, size_t count, uint32_t round,
                              size_t expert_count, struct why *why)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(curator->job, round, &within);
    struct round_bounds bounds;
    struct grant *grant = NULL;

    if (curator->job->trust != TRUST_CENTRAL || round_is_drawn(curator->job, stage)) {
        return STATUS_OK;
    }
    enum status status = round_bounds(&bounds, curator->job, stage, within, 1, expert_count, why);
    if (status == STATUS_OK) {
        status = curator_spend(curator, &grant, round, why);
    }
    if (status == STATUS_OK) {
        status = stage->charge.mechanism == MECHANISM_PURE
                     ? mechanism_laplace(&grant, curator->random, sum, count, bounds.sensitivity)
                     : mechanism_gaussian(&grant, curator->random, sum, count, bounds.sensitivity);
    }
    grant_free(grant);
    if (status != STATUS_OK) {
        bytes_wipe(sum, count * sizeof *sum);
    }
    return status;
}
