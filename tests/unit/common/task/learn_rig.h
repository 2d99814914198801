/* learn_rig.h - a job of one learn stage, in each way that there is, with records and a state that a test draws. */

#ifndef TESTS_UNIT_TASK_LEARN_RIG_H
#define TESTS_UNIT_TASK_LEARN_RIG_H

#include "task/answer.h"
#include "task/learn/stage.h"
#include "tests/support/seeded_random.h"

enum {
    M = 40,
    D = 14,
    WIDTH = D + D * (D + 1) / 2 + 1, /* at most: of records and gradients with products */
    CLASSES = 3,
    STATE_MAX = 1 + CLASSES * WIDTH + D + D * D + WIDTH,
    VALUES_MAX = CLASSES * (1 + WIDTH) + (D + 1) * (D + 2) / 2
};

/* What a stage looks at, its noise, and whether it has three classes, or a number. */
struct learn_way {
    enum selftune_sight sight;
    bool gaussian;
    bool several;
    const char *epsilon;
    bool number;
    const char *loss; /* of a number; NULL: the squared one */
};

struct learn_rig {
    double z[M * D]; /* columns in -1 .. 1 */
    double x[M * WIDTH];
    double y[M];
    double state[STATE_MAX];
    size_t order[M];
    size_t classes; /* 0 for a number */
    size_t outputs;
    size_t width; /* numbers of a record and of an output's gradient */
    bool number;
    size_t columns; /* of a look */
    struct dataset data;
    struct job job;
    struct task_input input;
};

enum { WAYS = 23 };
extern const struct learn_way learn_ways[WAYS];

/** Makes a job of M records in this way; job_free(&f->job). */
void learn_rig_init(struct learn_rig *f, const struct learn_way *way);

/** Makes features as the reader makes them of the columns. */
void learn_rig_set_features(struct learn_rig *f);

/** Draw records; and a state: a clip, a model, and where there is a look means and a whitening. */
void learn_rig_draw_records(struct learn_rig *f, struct seeded_random *seeded);
void learn_rig_draw_state(struct learn_rig *f, struct seeded_random *seeded);

/** Returns what an agent answers in a round of the stage, within its bounds; the caller frees it. */
struct private_vector learn_rig_run(struct learn_rig *f, uint32_t within);

#endif
