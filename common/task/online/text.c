/* `online`: kernel regression on every agent's stream of records, in their public order, released on
 * the doubling schedule of learn/online.h, one release a round. The whole stream is one pass and is
 * paid for once: release j is charged for the rows (t_{j-1}, t_j] that entered since the one before,
 * all with the stage's whole epsilon, of which a ledger counts the largest once. */

#include "config/keys.h"
#include "task/online/stage.h"
#include "task/task.h"

struct draft_online {
    uint64_t t0;
    double theta;
};

/* clang-format off */
#define KEY_OF struct draft_online
static const struct config_key keys[] = {
    KEY_WHOLE("t0", t0, 1, 1000000000, .fallback = "1", REQUIRED("200"),
              DOC("it, for example `t0: 200`, after how many records the first release is")),
    KEY_NUMBER("theta", theta, 0.5, 1, DEFAULT("0.75", "0.75")),
    KEY_END,
};
#undef KEY_OF
/* clang-format on */

static enum status build(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = draft_stage(drafting, index);
    const struct draft_online *own = draft_own(drafting, index);
    struct stage *stage = &drafting->job->stage[index];
    const struct schema *schema = &stage->schema;
    uint64_t times[ONLINE_RELEASES_MAX];
    size_t count = 0;
    struct why why = {{0}};
    const bool has_theta = own->theta > 0.5 && own->theta < 1;

    if (schema_output_count(schema) > 1) {
        return stage_refuse(drafting, index, "task",
                            "learns one number or two classes, and the label has more classes: "
                            "write fit");
    }
    stage->loss = (struct loss){.kind = LOSS_SQUARED};
    online_stage(stage)->stream =
        (struct online_problem){.theta = own->theta,
                                .t0 = own->t0,
                                .kappa = 1,
                                .bound = 1,
                                .grid_bits = stage->grid_bits,
                                .feature_count = schema_feature_count(schema)};
    if (online_check(&online_stage(stage)->stream, &why) != STATUS_OK) {
        return stage_refuse(drafting, index, has_theta ? "t0" : "theta", why.text);
    }
    online_release_times(&online_stage(stage)->stream, TASK_RECORDS_MAX, times, &count);
    if (draft->rounds > count) {
        return stage_refuse(drafting, index, "rounds",
                            "puts the last release behind 1000000000 records, as each waits for "
                            "twice as many as the one before: lower it, or t0");
    }
    stage->rounds = draft->rounds;
    stage->batches = draft->rounds; /* releases are charged for different rows: one pass */
    stage->charge.epsilon_micro = stage->epsilon_micro;
    return STATUS_OK;
}

const struct task_text task_text_online = {.strategies = 1u << STRATEGY_AVERAGE,
                                           .units = 1u << UNIT_RECORD,
                                           .reads = SHARED_ROUNDS | SHARED_MAP,
                                           .needs = SHARED_ROUNDS,
                                           .own = keys,
                                           .own_bytes = sizeof(struct draft_online),
                                           .stage_bytes = sizeof(struct online_stage),
                                           .build = build};
