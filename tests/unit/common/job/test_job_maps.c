/* A stage's own feature map: the job's features with it, the stage's answer, how far a record moves
 * it, and the whole message for each mistake. */

#include "job/job.h"
#include "job/round.h"
#include "job/terms.h"
#include "learn/blocks.h"
#include "task/losses/stage.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static enum status parse(struct job *job, const char *map, const char *stages, struct why *why)
{
    char text[8192];
    const int length = snprintf(text, sizeof text,
                                "hedgerow: 1\n"
                                "job: trial\n"
                                "data:\n"
                                "  label: {centre: 10, half_width: 10}\n"
                                "  series: {column: entries, lags: [1, 7]}\n%s"
                                "privacy: {unit: record, neighbours: replace_one, trust: local, "
                                "epsilon: 1}\n"
                                "cohort: {minimum: 3, deadline_s: 30}\n"
                                "stages:\n%s",
                                map, stages);
    return job_parse(job, (struct slice){text, (size_t)length}, "job.yml", why);
}

static struct job parsed(const char *map, const char *stages)
{
    struct job job;
    struct why why = {{0}};
    cr_assert(parse(&job, map, stages, &why) == STATUS_OK, "%s", why.text);
    return job;
}

#define FOURIER "{kind: fourier, kernel: gaussian, gamma: 1, features: 4, seed: 42}"
#define NYSTROM "{kind: nystrom, kernel: laplacian, gamma: 2, landmarks: [[1, 7], [12, 3]]}"
#define FIT     "  - {task: fit, loss: squared, lambdas: [0.1], share: 0.2, tolerance: 0.001"
#define UPDATE  "  - {task: update, loss: squared, rounds: 1, batch: 9, clip: 1, rate: 1, share: 0.2"
#define SUMS    "  - {task: statistics, lambdas: [0.1], batch: 9, share: 0.2"
#define ONLINE  "  - {task: online, rounds: 1, t0: 50, share: 0.2, grid_bits: 32"
#define JUDGE   "  - {task: losses, loss: absolute, rounds: 2, batch: 9, share: 0.2"
#define NAMED   ", forecasters: [{name: as last week, features: [lag_7]}]}\n"

static bool is_block(const struct stage *stage, size_t first, size_t count, size_t all)
{
    return stage->block.first == first && stage->block.count == count && stage->block.all == all;
}

Test(job_maps, a_stage_learns_on_the_features_of_its_own_map)
{
    struct job job = parsed("", ONLINE ", map: " NYSTROM "}\n" SUMS "}\n" FIT ", map: " FOURIER
                                       "}\n" JUDGE NAMED);
    cr_assert(block_count(&job.schema) == 3 && round_width(&job) == 11);
    cr_assert(is_block(&job.stage[0], 0, 3, 11) && job.stage[0].schema.map.kind == MAP_NYSTROM);
    cr_assert(is_block(&job.stage[1], 3, 3, 11) && job.stage[1].schema.map.kind == MAP_NONE);
    cr_assert(is_block(&job.stage[2], 6, 5, 11) && job.stage[2].schema.map.kind == MAP_FOURIER);
    cr_assert(is_block(&job.stage[3], 0, 11, 11), "judging looks at all of them");
    cr_assert(job.stage[0].has_own_map && !job.stage[1].has_own_map);
    cr_assert_eq(round_answer_count(&job, &job.stage[0], 0, 0), 3);
    cr_assert_eq(round_answer_count(&job, &job.stage[1], 0, 0), 9);
    cr_assert_eq(round_answer_count(&job, &job.stage[2], 0, 0), 5);
    cr_assert_eq(job.stage[0].schema.map.landmark[2], 12);
    /* In the plain block: there a weight of 1/scale is the lag itself. */
    const double *weight = losses_stage(&job.stage[3])->forecaster_weights;
    for (size_t i = 0; i < 11; i++) {
        cr_assert_eq(weight[i], i == 4 ? 1 / schema_scale(3) : 0, "%zu", i);
    }
    job_free(&job);
}

Test(job_maps, the_data_sections_map_is_that_of_all_stages_without_one)
{
    struct job job =
        parsed("  map: " FOURIER "\n", SUMS "}\n" ONLINE ", map: " NYSTROM "}\n" FIT "}\n");
    cr_assert(block_count(&job.schema) == 2 && is_block(&job.stage[0], 0, 5, 8));
    cr_assert(is_block(&job.stage[1], 5, 3, 8) && is_block(&job.stage[2], 0, 5, 8));
    job_free(&job);
    job = parsed("  map: " FOURIER "\n", SUMS "}\n" JUDGE NAMED);
    cr_assert(is_block(&job.stage[0], 0, 5, 8), "and forecasters are of the plain features");
    cr_assert_eq(losses_stage(&job.stage[1])->forecaster_weights[6], 1 / schema_scale(3));
    job_free(&job);
}

Test(job_maps, the_same_map_twice_is_one_block)
{
    struct job job = parsed("", FIT ", map: " NYSTROM "}\n" UPDATE ", map: " NYSTROM "}\n");
    cr_assert(block_count(&job.schema) == 1 && is_block(&job.stage[0], 0, 3, 3) &&
              is_block(&job.stage[1], 0, 3, 3));
    job_free(&job);
    job = parsed("  map: " NYSTROM "\n", FIT "}\n" UPDATE ", map: " NYSTROM "}\n");
    cr_assert_eq(block_count(&job.schema), 1);
    job_free(&job);
}

/* What is told of the noise is of the map's own number of features as well. */
static void check_terms(const struct job *job, const struct job *alone, const char *stage)
{
    struct terms terms;
    struct terms expected;
    const struct terms_size size = {.agents = 3, .records = 100};
    struct why why = {{0}};
    cr_assert_eq(terms_of_stage(&terms, job, 0, size, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(terms_of_stage(&expected, alone, 0, size, &why), STATUS_OK, "%s", why.text);
    cr_assert(terms.line_count == expected.line_count && terms.line_count > 0);
    for (size_t i = 0; i < terms.line_count; i++) {
        const struct terms_line *line = &terms.line[i];
        cr_assert(line->noise == expected.line[i].noise &&
                      line->noise_to_signal == expected.line[i].noise_to_signal,
                  "%s: %s", stage, line->what);
        cr_assert_str_eq(line->what, expected.line[i].what);
    }
    terms_free(&terms);
    terms_free(&expected);
}

static struct round_bounds bounds_of(const char *map, const char *stage)
{
    char stages[1024];
    struct round_bounds bounds;
    struct why why = {{0}};
    (void)snprintf(stages, sizeof stages, "%s, map: %s}\n%s}\n", stage, map, SUMS);
    struct job job = parsed("", stages);
    cr_assert_eq(block_count(&job.schema), 2);
    cr_assert_eq(round_bounds(&bounds, &job, &job.stage[0], 0, 100, 0, &why), STATUS_OK);
    struct job alone;
    struct round_bounds expected;
    char section[256];
    (void)snprintf(section, sizeof section, "  map: %s\n", map);
    (void)snprintf(stages, sizeof stages, "%s}\n", stage);
    alone = parsed(section, stages);
    cr_assert_eq(round_bounds(&expected, &alone, &alone.stage[0], 0, 100, 0, &why), STATUS_OK);
    cr_assert(bounds.sensitivity == expected.sensitivity && bounds.low == expected.low &&
                  bounds.high == expected.high,
              "%s: as in a job that has this map alone", stage);
    cr_assert_eq(round_answer_count(&job, &job.stage[0], 0, 0),
                 round_answer_count(&alone, &alone.stage[0], 0, 0));
    cr_assert_eq(round_stage_width(&job.stage[0]), round_width(&alone));
    check_terms(&job, &alone, stage);
    job_free(&job);
    job_free(&alone);
    return bounds;
}

/* By the map's own number of features: a bound of the plain ones, three like the landmarks' and fewer
 * than the frequencies', would be too small. */
Test(job_maps, a_record_moves_an_answer_as_far_as_the_stages_own_map_lets_it)
{
    static const char *const stage[] = {FIT, UPDATE, SUMS, ONLINE};
    for (size_t i = 0; i < sizeof stage / sizeof stage[0]; i++) {
        const struct round_bounds few = bounds_of(NYSTROM, stage[i]);
        const struct round_bounds many = bounds_of(FOURIER, stage[i]);
        cr_assert(few.sensitivity < many.sensitivity || i == 1, "%s", stage[i]);
    }
}

struct refusal {
    const char *map;
    const char *stages;
    const char *message; /* whole; the section's map stands in line 6 */
};

static const struct refusal refusals[] = {
    {"", JUDGE ", map: " FOURIER NAMED,
     "job.yml:9:74: stages[0].map: is for a stage that learns: remove it"},
    {"", FIT ", map: {kind: fourier, kernel: gaussian, gamma: 1, features: 4}}\n",
     "job.yml:9:83: stages[0].map.seed: is missing: add any public number, for example `seed: 42`"},
    {"", SUMS "}\n" FIT ", map: {kind: nystrom, kernel: gaussian, gamma: 1, landmarks: [[1]]}}\n",
     "job.yml:10:139: stages[1].map.landmarks[0]: has 1 values: write 2, one per lag if there are any, then one per feature, in their order"},
    {"", FIT ", map: {kind: nystrom, kernel: gaussian, gamma: 1, landmarks: [[1, 1], [1, 1]]}}\n",
     "job.yml:9:138: stages[0].map.landmarks: landmark 2 is too near to those before it: remove it, or raise gamma"},
    {"", FIT ", map: {kernel: gaussian, gamma: 1, features: 4, seed: 1}}\n",
     "job.yml:9:83: stages[0].map: has no \"kind\": add it, for example `kind: fourier`"},
    {"  map: " FOURIER "\n", FIT ", map: " NYSTROM "}\n" JUDGE "}\n",
     "job.yml:6:8: data.map: is read by no stage, as none learns without a map of its own: remove it"},
};

Test(job_maps, refusals_name_place_key_and_remedy)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct job job;
        struct why why = {{0}};
        cr_expect_eq(parse(&job, refusals[i].map, refusals[i].stages, &why), STATUS_INVALID);
        cr_expect_str_eq(why.text, refusals[i].message, "%s gave: %s", refusals[i].stages,
                         why.text);
        cr_expect(job.schema.more == NULL && job.schema.map.landmark == NULL);
    }
}
