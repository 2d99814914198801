/* Stages with maps of their own, on a series as a site has it: each answers exactly as in a job that
 * has its map alone; experts of all maps are judged by the features of each; and a replaced day moves
 * no answer further than the bound of the stage's own map. Fixed seeds: no false alarms. */

#include "learn/blocks.h"
#include "task/answer.h"
#include "task/update/stage.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DAYS = 80, LONGEST = 7, M = DAYS - LONGEST, LEARNING = 6, EXPERTS = 3, TRIALS = 40 };

#define FOURIER "{kind: fourier, kernel: gaussian, gamma: 2, features: 30, seed: 42}"
#define NYSTROM "{kind: nystrom, kernel: laplacian, gamma: 2, landmarks: [[0.2, 1], [1, 0.3]]}"
#define JUDGE   "{task: losses, loss: absolute, rounds: 3, batch: 20, share: 0.1, grid_bits: 10"

struct learning {
    const char *stage;
    const char *map; /* NULL: none */
};

static const struct learning learning[LEARNING] = {
    {"{task: online, rounds: 2, t0: 20, share: 0.1, grid_bits: 32", FOURIER},
    {"{task: statistics, lambdas: [0.1], batch: 60, share: 0.1, grid_bits: 16", FOURIER},
    {"{task: statistics, lambdas: [0.1], batch: 60, share: 0.1, grid_bits: 16", NULL},
    {"{task: fit, loss: squared, lambdas: [0.5], share: 0.1, grid_bits: 20", NYSTROM},
    {"{task: update, loss: squared, rounds: 1, batch: 60, clip: 1, rate: 1, share: 0.1", NYSTROM},
    {"{task: predict, loss: squared, lambdas: [0.5], kernel: {gamma: 1}, share: 0.1,\n"
     "     points: [[0, 1], [1, 0.5]]",
     NYSTROM},
};

static struct job parsed_of(const char *unit, const char *map, const char *stages)
{
    char text[8192];
    struct job job;
    struct why why = {{0}};
    const int length =
        snprintf(text, sizeof text,
                 "hedgerow: 1\njob: toy\ndata:\n  label: {centre: 0.75, half_width: 0.75}\n"
                 "  series: {column: entries, lags: [1, 7]}\n%s%s%s"
                 "privacy: {unit: %s, neighbours: replace_one, trust: local, epsilon: 2}\n"
                 "cohort: {minimum: 2, deadline_s: 30}\nstages:\n%s",
                 map != NULL ? "  map: " : "", map != NULL ? map : "", map != NULL ? "\n" : "",
                 unit, stages);
    cr_assert_eq(job_parse(&job, (struct slice){text, (size_t)length}, "job.yml", &why), STATUS_OK,
                 "%s", why.text);
    return job;
}

static struct job parsed(const char *map, const char *stages)
{
    return parsed_of("record", map, stages);
}

/* All learning stages, then the judging. */
static struct job parsed_all(void)
{
    char stages[4096] = "";
    size_t used = 0;
    for (size_t i = 0; i < LEARNING; i++) {
        const char *map = learning[i].map;
        used += (size_t)snprintf(stages + used, sizeof stages - used, "  - %s%s%s}\n",
                                 learning[i].stage, map != NULL ? ",\n     map: " : "",
                                 map != NULL ? map : "");
    }
    (void)snprintf(stages + used, sizeof stages - used,
                   "  - " JUDGE ", forecasters: [{name: as last week, features: [lag_7]}]}\n");
    return parsed(NULL, stages);
}

static struct job parsed_alone(const struct learning *one)
{
    char stages[1024];
    (void)snprintf(stages, sizeof stages, "  - %s}\n  - " JUDGE "}\n", one->stage);
    return parsed(one->map, stages);
}

static void read_days(struct dataset *data, const struct job *job, const double *day)
{
    char table[DAYS * 32] = "entries\n";
    size_t used = strlen(table);
    for (size_t i = 0; i < DAYS; i++) {
        used += (size_t)snprintf(table + used, sizeof table - used, "%.17g\n", day[i]);
    }
    cr_assert_eq(dataset_parse(data, (struct slice){table, used}, "days", &job->schema,
                               &(struct dataset_options){.use = DATASET_LEARN}, NULL),
                 STATUS_OK);
    cr_assert_eq(data->record_count, M);
}

static struct private_vector answer(const struct job *job, size_t stage, uint32_t within,
                                    const double *day, const double *experts, size_t expert_count)
{
    struct private_vector vector;
    struct dataset data;
    struct why why = {{0}};
    size_t order[M];
    for (size_t i = 0; i < M; i++) {
        order[i] = i;
    }
    read_days(&data, job, day);
    const struct task_input input = {.job = job,
                                     .stage = &job->stage[stage],
                                     .within = within,
                                     .data = &data,
                                     .order = order,
                                     .experts = experts,
                                     .expert_count = expert_count};
    cr_assert_eq(task_run(&vector, &input, &why), STATUS_OK, "%s", why.text);
    for (size_t i = 0; i < vector.count; i++) {
        cr_assert(vector.low <= vector.value[i] && vector.value[i] <= vector.high);
    }
    dataset_free(&data);
    return vector;
}

static void draw_days(double *day, struct seeded_random *seeded)
{
    for (size_t i = 0; i < DAYS; i++) {
        day[i] = 1.5 * seeded_random_unit(seeded);
    }
}

/* Weights that an update stage may be asked at. */
static const double state[] = {0.25, -0.5, 1};

Test(answer_maps, a_stage_answers_as_in_a_job_that_has_its_map_alone)
{
    struct seeded_random seeded;
    double day[DAYS];
    seeded_random_init(&seeded, 1);
    draw_days(day, &seeded);
    struct job all = parsed_all();
    cr_assert_eq(block_count(&all.schema), 3);
    for (size_t i = 0; i < LEARNING; i++) {
        struct job alone = parsed_alone(&learning[i]);
        for (uint32_t within = 0; within < all.stage[i].rounds; within++) {
            struct private_vector own = answer(&all, i, within, day, state, 0);
            struct private_vector expected = answer(&alone, 0, within, day, state, 0);
            cr_assert_eq(own.count, expected.count, "%s", learning[i].stage);
            cr_assert_eq(memcmp(own.value, expected.value, own.count * sizeof *own.value), 0, "%s",
                         learning[i].stage);
            cr_assert_eq(own.sensitivity, expected.sensitivity, "%s", learning[i].stage);
            private_vector_free(&own);
            private_vector_free(&expected);
        }
        job_free(&alone);
    }
    job_free(&all);
}

/* Each expert's loss is what a job with its map alone says of it: an answer that took another block for
 * it, or all, would be another. */
Test(answer_maps, experts_of_all_maps_are_judged_each_by_its_own_features)
{
    static const size_t maker[EXPERTS] = {0, 2, 3}; /* a stage of each map */
    struct seeded_random seeded;
    double day[DAYS];
    double narrow[EXPERTS][32];
    seeded_random_init(&seeded, 2);
    draw_days(day, &seeded);
    struct job all = parsed_all();
    const size_t width = round_width(&all);
    double *wide = calloc(EXPERTS * width, sizeof *wide);
    cr_assert_not_null(wide);
    for (size_t k = 0; k < EXPERTS; k++) {
        const struct block block = all.stage[maker[k]].block;
        for (size_t j = 0; j < block.count; j++) {
            narrow[k][j] = 2 * seeded_random_unit(&seeded) - 1;
        }
        block_widen(wide + k * width, 1, block, narrow[k]);
    }
    struct private_vector judged = answer(&all, LEARNING, 1, day, wide, EXPERTS);
    for (size_t k = 0; k < EXPERTS; k++) {
        struct job alone = parsed_alone(&learning[maker[k]]);
        struct private_vector own = answer(&alone, 1, 1, day, narrow[k], 1);
        cr_assert_eq(judged.value[k], own.value[0], "expert %zu", k);
        private_vector_free(&own);
        job_free(&alone);
    }
    private_vector_free(&judged);
    free(wide);
    job_free(&all);
}

static double distance(const struct private_vector *a, const struct private_vector *b)
{
    double sum = 0;
    for (size_t i = 0; i < a->count; i++) {
        sum += fabs((double)(a->value[i] - b->value[i]));
    }
    return sum;
}

/* And the second moments of the map's 31 features do move further than the bound for the three
 * plain ones: a bound of the wrong map would be caught here. */
Test(answer_maps, a_replaced_day_moves_no_answer_further_than_its_own_maps_bound)
{
    struct seeded_random seeded;
    double day[DAYS];
    struct job all = parsed_all();
    double largest[LEARNING] = {0};
    uint64_t bound[LEARNING];
    seeded_random_init(&seeded, 3);
    for (size_t trial = 0; trial < TRIALS; trial++) {
        draw_days(day, &seeded);
        for (size_t i = 0; i < LEARNING; i++) {
            const size_t at = LONGEST + (size_t)(40 * seeded_random_unit(&seeded));
            const double kept = day[at];
            struct private_vector before = answer(&all, i, 0, day, state, 0);
            day[at] = kept > 0.75 ? 0 : 1.5;
            struct private_vector after = answer(&all, i, 0, day, state, 0);
            day[at] = kept;
            bound[i] = before.sensitivity;
            largest[i] = fmax(largest[i], distance(&before, &after));
            cr_assert_leq(largest[i], (double)bound[i], "%s", learning[i].stage);
            private_vector_free(&before);
            private_vector_free(&after);
        }
    }
    cr_assert_gt(largest[1], (double)bound[2], "%g of %g", largest[1], (double)bound[2]);
    job_free(&all);
}

/* The words after the answer stand for other memory. A clip as wide as the job's model would include
 * them, and would shrink both them and the answer. */
Test(answer_maps, an_agents_sum_is_clipped_over_its_own_maps_coordinates)
{
    static const char two[] =
        "  - {task: update, loss: squared, rounds: 1, batch: 60, clip: 1, rate: 1,\n"
        "     share: 0.1, clip_all: 0.125, map: " NYSTROM "}\n"
        "  - {task: update, loss: squared, rounds: 1, batch: 60, clip: 1, rate: 1,\n"
        "     share: 0.1, map: " FOURIER "}\n";
    enum { BEHIND = 4 };
    const int64_t kept = INT64_C(1) << 40;
    struct seeded_random seeded;
    struct dataset data;
    struct dataset own;
    double day[DAYS];
    size_t order[M];
    int64_t value[3 + BEHIND] = {0, 0, 0, kept, kept, kept, kept};
    uint64_t norm = 0;
    seeded_random_init(&seeded, 4);
    draw_days(day, &seeded);
    struct job job = parsed_of("round", NULL, two);
    const struct stage *stage = &job.stage[0];
    cr_assert(stage->block.count == 3 && stage->block.all > 3 + BEHIND);
    for (size_t i = 0; i < M; i++) {
        order[i] = i;
    }
    read_days(&data, &job, day);
    cr_assert_eq(block_dataset(&own, &data, stage->block), STATUS_OK);
    const struct task_input input = {
        .job = &job, .stage = stage, .data = &own, .order = order, .experts = state};
    int64_t *wide = calloc(stage->block.all, sizeof *wide); /* room for what must not be touched */
    cr_assert_not_null(wide);
    memcpy(wide, value, sizeof value);
    cr_assert_eq(answer_update(wide, &input), STATUS_OK);
    for (size_t i = 0; i < 3; i++) {
        norm += (uint64_t)llabs(wide[i]);
    }
    cr_expect(norm <= (uint64_t)update_stage(stage)->clip_sum, "all of the answer is clipped");
    cr_expect(norm + 3 >= (uint64_t)update_stage(stage)->clip_sum, "and to no less than the clip");
    cr_expect_eq(memcmp(wide + 3, value + 3, BEHIND * sizeof *value), 0, "and nothing else");
    free(wide);
    dataset_free(&own);
    dataset_free(&data);
    job_free(&job);
}
