/* world.h - a site with few records, and a job, in one process: a task's answers, without gate or
 * network. */

#ifndef TESTS_PROPERTY_AGENT_WORLD_H
#define TESTS_PROPERTY_AGENT_WORLD_H

#include "task/answer.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { M = 24, COLUMNS = 2, D = COLUMNS + 1, EXPERTS = 3, TEXT_BYTES = 4096 };

/* Three experts to judge. */
#define FIT "  - {task: fit, loss: logistic, lambdas: [0.5, 0.6, 0.7], share: 0.5}\n"

struct world {
    struct job job;
    double x[M * D];
    double raw[M * COLUMNS];
    double y[M];
    size_t order[M];
    double experts[EXPERTS * D];
    struct dataset data;
    struct seeded_random coins;
    struct random random;
    struct task_input input;
    bool cornered;
};

/* A job's text; stages: the last one is tried. cornered: records lie near the corners as often as
 * inside, because the bounds are reached there. */
struct words {
    const char *unit;
    const char *trust;
    const char *delta;
    const char *stages;
    bool cornered;
};

static inline void draw_record(struct world *w, struct seeded_random *seeded, size_t i)
{
    const double scale = schema_scale(D);
    for (size_t j = 0; j < COLUMNS; j++) {
        double value = 2 * seeded_random_unit(seeded) - 1;
        if (w->cornered && seeded_random_below(seeded, 2) == 0) {
            value = value < 0 ? -1 : 1;
        }
        w->raw[i * COLUMNS + j] = value;
        w->x[i * D + j] = value * scale;
    }
    w->x[i * D + COLUMNS] = scale;
    w->y[i] = seeded_random_below(seeded, 2) == 0 ? -1 : 1;
}

static inline void world_init(struct world *w, const struct words *words,
                              struct seeded_random *seeded)
{
    char text[TEXT_BYTES];
    struct why why = {{0}};
    int size = snprintf(text, sizeof text,
                        "hedgerow: 1\n"
                        "job: trial\n"
                        "data:\n"
                        "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
                        "  features:\n"
                        "    - {column: a, centre: 0, half_width: 1}\n"
                        "    - {column: b, centre: 0, half_width: 1}\n"
                        "cohort: {minimum: 2, records: 24, deadline_s: 30}\n"
                        "privacy: {unit: %s, neighbours: replace_one, trust: %s, epsilon: 4, "
                        "delta: %s}\nstages:\n%s",
                        words->unit, words->trust, words->delta, words->stages);
    memset(w, 0, sizeof *w);
    w->cornered = words->cornered;
    cr_assert_eq(job_parse(&w->job, (struct slice){text, (size_t)size}, "trial", &why), STATUS_OK,
                 "%s", why.text);
    for (size_t i = 0; i < M; i++) {
        w->order[i] = (i * 7) % M;
        draw_record(w, seeded, i);
    }
    for (size_t i = 0; i < EXPERTS * D; i++) {
        w->experts[i] = 4 * seeded_random_unit(seeded) - 2;
    }
    w->data = (struct dataset){.record_count = M,
                               .feature_count = D,
                               .column_count = COLUMNS,
                               .x = w->x,
                               .y = w->y,
                               .raw = w->raw};
    w->random = seeded_random_interface(&w->coins);
    const struct stage *stage = &w->job.stage[w->job.stage_count - 1];
    w->input =
        (struct task_input){.job = &w->job,
                            .stage = stage,
                            .data = &w->data,
                            .order = w->order,
                            .random = &w->random,
                            .experts = round_input(stage, 0) == INPUT_NONE ? NULL : w->experts,
                            .expert_count = round_input(stage, 0) == INPUT_EXPERTS ? EXPERTS : 0};
}

#endif
