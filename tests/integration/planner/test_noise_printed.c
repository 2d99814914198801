/* The noise that `hedgerow plan job` prints is the noise that is drawn: jobs of every task, unit, trust and
 * noise are planned, and a round of each is answered many times by the agents' own tasks and gates, the
 * curator and the strategies. The test subtracts what the same strategy computes from the exact sums. The
 * differences must deviate by what was printed, and bars must hold as often as they say.
 *
 * Fixed seeds. A job's 16000 values or more, each over the noise printed for it, have a root mean square
 * within 5 % of 1. For Laplace noise added once, the worst case, it has a standard deviation of 0.88 %: a
 * right program fails at 5.7 of them, for all lines together with a probability below 1e-6. A line 10 % off lies four
 * points on the other side: planted for every one of them. */

#include "planned.h"
#include "task/query/stage.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_WANTED = 16000 };

#define CLASSES "{column: y, positive: \"1\", negative: \"0\"}"
#define SEVERAL "{column: y, classes: [a, b, c]}"
#define NUMBER  "{column: y, centre: 10, half_width: 5}"
#define WIDE    "60"
#define LOSSES  "losses, rounds: 2, batch: 40, grid_bits: 10"
#define EXPERTS "  - {task: statistics, lambdas: [@], batch: 40, share: 0.2}\n"
#define KERNEL  "kernel: {kind: gaussian, gamma: 1}, points: [@]"

static const struct way ways[] = {
    {"record", "local", CLASSES, WIDE, "", "",
     "fit, loss: logistic, lambdas: [0.5, 0.1], share: 1, grid_bits: 20", 1},
    {"record", "central", NUMBER, WIDE, "", "", "fit, loss: squared, lambdas: [0.5], share: 0.5",
     1},
    {"record", "local", SEVERAL, WIDE, "", "", "fit, loss: hinge, lambdas: [0.5], share: 0.5", 1},
    {"record", "local", NUMBER, NULL, "[0.%02d, 1]", "",
     "predict, loss: absolute, lambdas: [0.5, 0.7], " KERNEL ", share: 1", 1},
    {"record", "central", CLASSES, NULL, "[0.%02d, 1]", "",
     "predict, loss: squared, lambdas: [0.5], " KERNEL ", share: 1", 1},
    {"record", "local", NUMBER, WIDE, "", "", "online, rounds: 2, t0: 20, share: 1, grid_bits: 30",
     1},
    {"record", "central", CLASSES, WIDE, "", "",
     "online, rounds: 1, t0: 20, share: 1, grid_bits: 30", 1},
    {"record", "local", CLASSES, "10", "", "", "statistics, lambdas: [0.1], batch: 60, share: 0.7",
     1},
    {"record", "central", SEVERAL, "10", "", "",
     "statistics, lambdas: [0.1], batch: 60, noise: gaussian", 1},
    {"round", "local", NUMBER, "10", "", "", "statistics, lambdas: [0.1], batch: 60, share: 1", 1},
    {"agent", "central", NUMBER, "10", "", "",
     "statistics, lambdas: [0.1], batch: 60, noise: gaussian", 1},
    {"record", "local", CLASSES, NULL, "", "", "learn", 1},
    {"record", "local", NUMBER, NULL, "", "", "learn", 1},
    {"record", "central", CLASSES, NULL, "0.1%02d", EXPERTS, "learn, share: 0.01", 1},
    {"record", "local", CLASSES, WIDE, "", "",
     "update, loss: logistic, rounds: 4, batch: 80, clip: 0.5, rate: 1, share: 1", 1},
    {"record", "local", NUMBER, WIDE, "", "",
     "update, loss: huber, loss_parameter: 0.5, rounds: 3, batch: 20, batches: 3, clip: 0.5, rate: 1, "
     "noise: gaussian",
     1},
    {"record", "central", CLASSES, WIDE, "", "",
     "update, loss: logistic, rounds: 4, batch: 80, sampling: 0.5, clip: 0.5, rate: 1, noise: gaussian",
     1},
    {"record", "central", CLASSES, WIDE, "", "",
     "update, loss: logistic, rounds: 4, batch: 80, sampling: 0.25, clip: 0.5, rate: 1, share: 1",
     1},
    {"round", "central", CLASSES, WIDE, "", "",
     "update, loss: hinge, rounds: 2, batch: 40, clip: 0.5, clip_all: 0.1, rate: 1, share: 1", 1},
    {"agent", "local", CLASSES, WIDE, "", "",
     "update, loss: hinge, rounds: 2, batch: 40, clip: 0.5, rate: 1, noise: gaussian", 1},
    {"record", "local", CLASSES, NULL, "0.1%02d", EXPERTS, LOSSES ", loss: zero_one, share: 0.5",
     1},
    {"round", "local", NUMBER, NULL, "0.1%02d", EXPERTS, LOSSES ", loss: absolute, share: 0.5", 1},
    {"agent", "local", CLASSES, NULL, "0.1%02d", EXPERTS,
     LOSSES ", loss: zero_one, horizon: doubling, share: 0.5", 1},
    {"record", "local", CLASSES, NULL, "\"count: u > 0.0%02d\"", "",
     "query, queries: [@], batch: 60, share: 1, grid_bits: 10", 1},
    {"record", "central", NUMBER, NULL, "\"mean: u where u < 1 or u > 0.0%02d\"", "",
     "query, queries: [\"mean: u\", \"mean: v\", \"mean: y\"], batch: 60, share: 0.3, grid_bits: 10",
     1},
    {"record", "central", NUMBER, NULL, "\"mean: u where v > 0.0%02d\"", "",
     "query, queries: [@], batch: 80, share: 1, grid_bits: 20", 0.894427191},
    {"round", "local", CLASSES, NULL, "\"count: u > 0.0%02d\"", "",
     "query, queries: [@], batch: 60, share: 1, grid_bits: 10", 1},
    {"agent", "central", CLASSES, NULL, "", "",
     "query, queries: [\"histogram: u by 0.02\"], batch: 60, share: 1, grid_bits: 10", 1},
    {"record", "local", CLASSES, NULL, "", "",
     "select, candidates: {stumps: [u, v], thresholds: 9}, batch: 60, share: 0.1", 1},
    {"round", "local", CLASSES, NULL, "\"u > 0.0%02d\"", "",
     "select, candidates: {predicates: [@]}, batch: 60, share: 1", 1},
    {"record", "local", CLASSES, NULL, "0.1%02d", EXPERTS,
     "select, loss: zero_one, batch: 60, share: 0.5", 1},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* The errors of released values, divided by the noise that was printed for each. */
struct seen {
    double squares;
    size_t count;
    size_t beyond[3]; /* the bar, and bars 10 % shorter and longer */
};

static void observe(struct seen *seen, const struct terms_line *line, double error)
{
    static const double factor[3] = {1, 0.9, 1.1};
    seen->squares += error * error / (line->noise * line->noise);
    seen->count++;
    for (size_t i = 0; i < 3; i++) {
        seen->beyond[i] += fabs(error) > factor[i] * line->bar;
    }
}

static bool is_near(double value, double wanted)
{
    return fabs(value / wanted - 1) <= 0.05;
}

/* 5 % lie beyond a bar, give or take 0.17 points. */
static void judge_bar(const struct seen *seen, const char *what, bool exact)
{
    const double all = (double)seen->count;
    cr_expect((double)seen->beyond[0] <= 0.059 * all, "%s: %zu of %zu beyond the bar", what,
              seen->beyond[0], seen->count);
    if (exact) {
        cr_expect((double)seen->beyond[0] > 0.041 * all, "%s: only %zu of %zu beyond the bar", what,
                  seen->beyond[0], seen->count);
        cr_expect((double)seen->beyond[1] > 0.059 * all, "%s: a bar too short is not seen", what);
        cr_expect((double)seen->beyond[2] < 0.041 * all, "%s: a bar too long is not seen", what);
    }
}

static void judge(const struct seen *seen, const struct terms_line *line, const struct way *way)
{
    const double measured = sqrt(seen->squares / (double)seen->count);
    cr_expect(is_near(measured, way->bounded), "%s, %s, %s, %s: %g times what is printed",
              way->stage, way->unit, way->trust, line->what, measured);
    cr_expect(!is_near(measured / 1.1, way->bounded) && !is_near(measured / 0.9, way->bounded),
              "%s: 10 %% off are not seen", line->what);
    if (isfinite(line->bar)) {
        judge_bar(seen, line->what, way->bounded == 1);
    }
}

/* Where the lines of a round begin, and how many values share one. */
struct lines {
    size_t first;
    size_t count; /* 2: a fit of numbers tells weights, and the same as predictions */
    bool by_value;
    double unit; /* of the second, or of a stream's predictions: the label's half width */
};

static struct lines lines_of(const struct planned *bench, uint32_t within)
{
    const struct terms *terms = &bench->plan.stage[bench->index];
    const enum task task = bench->stage->task;
    const struct label *label = &bench->plan.job.schema.label;
    const bool twice = task == TASK_FIT && label->kind == LABEL_NUMBER;
    cr_assert(task != TASK_QUERY || terms->line_count == query_stage(bench->stage)->queries.count);
    return (struct lines){.first = within * (twice ? 2u : 1u),
                          .count = twice ? 2 : 1,
                          .by_value = task == TASK_QUERY && terms->line_count > 1,
                          .unit = label->kind == LABEL_NUMBER ? label->half_width : 1};
}

static void look_at_round(struct planned *bench, const struct way *way, uint32_t within)
{
    const struct terms_line *told = bench->plan.stage[bench->index].line;
    const struct lines lines = lines_of(bench, within);
    const bool stream = bench->stage->task == TASK_ONLINE;
    struct seen seen[2] = {{0}};
    double exact[VALUES_MAX];
    double value[VALUES_MAX];
    int64_t sum[VALUES_MAX] = {0};
    planned_compute(bench, within);
    for (size_t agent = 0; agent < AGENTS; agent++) {
        for (size_t i = 0; i < bench->exact[agent].count; i++) {
            sum[i] += bench->exact[agent].value[i];
        }
    }
    const size_t count = planned_close(exact, bench, sum, within);
    while (seen[0].count < VALUES_WANTED) {
        memset(sum, 0, sizeof sum);
        for (size_t agent = 0; agent < AGENTS; agent++) {
            planned_answer(sum, bench, agent, within);
        }
        planned_add_noise(sum, bench, within);
        cr_assert_eq(planned_close(value, bench, sum, within), count);
        for (size_t i = 0; i < count; i++) {
            const double error = value[i] - exact[i];
            observe(&seen[0], &told[lines.first + (lines.by_value ? i : 0)],
                    stream ? error * lines.unit : error);
            observe(&seen[1], &told[lines.first + lines.count - 1], error * lines.unit);
        }
    }
    judge(&seen[0], &told[lines.first], way);
    if (lines.count == 2) {
        judge(&seen[1], &told[lines.first + 1], way);
    }
    for (size_t agent = 0; agent < AGENTS; agent++) {
        private_vector_free(&bench->exact[agent]);
    }
}

Test(noise_printed, is_the_noise_of_what_is_released)
{
    for (size_t i = 0; i < WAYS; i++) {
        struct planned *bench = malloc(sizeof *bench);
        cr_assert_not_null(bench);
        planned_init(bench, &ways[i], 1000 + i);
        const struct stage *stage = bench->stage;
        const bool differ =
            stage->task == TASK_FIT || stage->task == TASK_PREDICT || stage->task == TASK_ONLINE;
        for (uint32_t within = 0; within < (differ ? stage->rounds : 1); within++) {
            look_at_round(bench, &ways[i], within);
        }
        planned_free(bench);
        free(bench);
    }
}
