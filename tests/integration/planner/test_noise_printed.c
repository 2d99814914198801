/* The noise that `hedgerow plan job` prints is the noise that is drawn: jobs of every task, unit, trust and
 * noise are planned, and a round of each is answered many times by the agents' own tasks and gates, the
 * curator and the strategies. What is released, less what the same strategy makes of the exact sums, must
 * deviate by what was printed before; and bars must hold as often as they say.
 *
 * Fixed seeds. A job's 16000 values or more, each over the noise printed for it, have a root mean square
 * within 5 % of 1. For Laplace noise added once, the worst case, it has a standard deviation of 0.88 %: a
 * right program fails at 5.7 of them, for all lines together with a probability below 1e-6. A line 10 % off lies four
 * points on the other side: planted for every one of them. */

#include "agent/gate.h"
#include "cli/plan_job.h"
#include "coordinator/strategy.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    AGENTS = 2,
    RECORDS = 80,
    COLUMNS = 2,
    VALUES_MAX = 256,
    VALUES_WANTED = 16000,
    REPEATED = 40
};

#define CLASSES "{column: y, positive: \"1\", negative: \"0\"}"
#define SEVERAL "{column: y, classes: [a, b, c]}"
#define NUMBER  "{column: y, centre: 10, half_width: 5}"
#define WIDE    "60"
#define LOSSES  "losses, rounds: 2, batch: 40, grid_bits: 10"
#define EXPERTS "  - {task: statistics, lambdas: [@], batch: 40, share: 0.2}\n"
#define KERNEL  "kernel: {kind: gaussian, gamma: 1}, points: [@]"

struct way {
    const char *unit;
    const char *trust;
    const char *label;
    const char *features; /* Fourier; NULL: the plain three */
    const char *repeated; /* of which @ is 40 */
    const char *before;   /* stages */
    const char *stage;    /* the one that is looked at */
    double bounded;       /* of the printed noise: a worst case that these records do not reach */
};

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

/* Records, a planned job, and the stage that is looked at. w = round_width */
struct bench {
    struct job_plan plan;
    const struct stage *stage;
    size_t index; /* of the stage */
    uint32_t first_round;
    size_t experts;
    double *experts_weights; /* (experts + 1, w) */
    struct dataset data[AGENTS];
    size_t order[RECORDS];
    struct peer agent[AGENTS];
    struct seeded_random seeded;
    struct random random;
    struct private_vector exact[AGENTS]; /* of the round that is looked at */
};

static void *must(void *memory)
{
    cr_assert_not_null(memory);
    return memory;
}

/* Label classes are balanced, and v is above 0 on exactly half of the records, where u is 0 in the mean. */
static void draw_data(struct dataset *data, const struct schema *schema,
                      struct seeded_random *seeded)
{
    const size_t d = schema_feature_count(schema);
    const double constant = schema_constant(schema);
    const double scale = sqrt((1 - constant * constant) / (double)(d - 1));
    double *x = must(calloc(RECORDS * d, sizeof *x));
    double *y = must(calloc(RECORDS, sizeof *y));
    double *raw = must(calloc((size_t)RECORDS * COLUMNS, sizeof *raw));
    for (size_t i = 0; i < RECORDS; i++) {
        const double side = i % 4 < 2 ? 1 : -1;
        raw[i * COLUMNS] = side * 0.5;
        raw[i * COLUMNS + 1] = (i % 2 == 0 ? 1 : -1) * (0.1 + 0.8 * seeded_random_unit(seeded));
        for (size_t j = 0; j + 1 < d; j++) {
            x[i * d + j] =
                scale * (j < COLUMNS ? raw[i * COLUMNS + j] : 1 - 2 * seeded_random_unit(seeded));
        }
        x[i * d + d - 1] = constant;
        y[i] = schema->label.kind == LABEL_NUMBER    ? 2 * seeded_random_unit(seeded) - 1
               : schema->label.kind == LABEL_CLASSES ? (double)(i % 3)
                                                     : side;
    }
    *data = (struct dataset){.record_count = RECORDS,
                             .feature_count = d,
                             .column_count = COLUMNS,
                             .x = x,
                             .y = y,
                             .raw = raw};
}

/* Writes text with the repeated part in place of @. */
static size_t spread(char *out, size_t room, const char *text, const char *repeated)
{
    size_t used = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at != '@') {
            out[used++] = *at;
            continue;
        }
        for (int i = 0; i < REPEATED; i++) {
            char one[128];
            (void)snprintf(one, sizeof one, "%.*s%d%s", (int)(strstr(repeated, "%02d") - repeated),
                           repeated, 10 + i, strstr(repeated, "%02d") + 4);
            used += (size_t)snprintf(out + used, room - used, "%s%s", i > 0 ? ", " : "", one);
        }
    }
    cr_assert(used < room);
    out[used] = '\0';
    return used;
}

static void bench_init(struct bench *bench, const struct way *way, uint64_t seed)
{
    char whole[4096];
    char map[256] = "";
    char text[8192];
    struct why why = {""};
    if (way->features != NULL) {
        (void)snprintf(
            map, sizeof map,
            "  map: {kind: fourier, kernel: gaussian, gamma: 1, features: %s, seed: 1}\n",
            way->features);
    }
    (void)snprintf(
        whole, sizeof whole,
        "hedgerow: 1\njob: toy\ndata:\n  label: %s\n"
        "  features: [{column: u, centre: 0, half_width: 1}, {column: v, centre: 0, half_width: 1}]\n%s"
        "privacy: {unit: %s, neighbours: replace_one, trust: %s, epsilon: 40, delta: 0.00001}\n"
        "cohort: {minimum: 2, records: %d, deadline_s: 1}\nstages:\n%s  - {task: %s}\n",
        way->label, map, way->unit, way->trust, RECORDS, way->before, way->stage);
    const size_t size = spread(text, sizeof text, whole, way->repeated);
    const struct job_source source = {
        .text = {text, size}, .name = way->stage, .size = {.agents = AGENTS}};
    memset(bench, 0, sizeof *bench);
    cr_assert_eq(job_plan_make(&bench->plan, &source, NULL, &why), STATUS_OK, "%s", why.text);
    const struct job *job = &bench->plan.job;
    bench->index = job->stage_count - 1;
    bench->stage = &job->stage[bench->index];
    bench->first_round = job_round_count(job) - bench->stage->rounds;
    bench->experts = job_experts_at(job, bench->index, AGENTS);
    seeded_random_init(&bench->seeded, seed);
    bench->random = seeded_random_interface(&bench->seeded);
    bench->experts_weights = must(calloc((bench->experts + 1) * round_width(job), sizeof(double)));
    for (size_t i = 0; i < bench->experts * round_width(job); i++) {
        bench->experts_weights[i] = 2 * seeded_random_unit(&bench->seeded) - 1;
    }
    for (size_t i = 0; i < RECORDS; i++) {
        bench->order[i] = i * 7 % RECORDS;
    }
    for (size_t i = 0; i < AGENTS; i++) {
        draw_data(&bench->data[i], &job->schema, &bench->seeded);
        (void)snprintf(bench->agent[i].name, sizeof bench->agent[i].name, "agent-%zu", i);
    }
}

static void bench_free(struct bench *bench)
{
    for (size_t i = 0; i < AGENTS; i++) {
        dataset_free(&bench->data[i]);
    }
    free(bench->experts_weights);
    job_plan_free(&bench->plan);
}

static void compute_exact(struct bench *bench, uint32_t within)
{
    double *state =
        must(calloc(round_state_count(&bench->plan.job, bench->stage) + 1, sizeof *state));
    const enum round_input input = round_input(bench->stage, within);
    for (size_t i = 0; i < AGENTS; i++) {
        struct why why = {""};
        const struct task_input asked = {.job = &bench->plan.job,
                                         .stage = bench->stage,
                                         .within = within,
                                         .data = &bench->data[i],
                                         .order = bench->order,
                                         .random = &bench->random,
                                         .experts = input == INPUT_EXPERTS ? bench->experts_weights
                                                    : input == INPUT_STATE ? state
                                                                           : NULL,
                                         .expert_count =
                                             input == INPUT_EXPERTS ? bench->experts : 0};
        cr_assert_eq(task_run(&bench->exact[i], &asked, &why), STATUS_OK, "%s", why.text);
    }
    free(state);
}

/* One agent's answer as it leaves the gate, added to the sum. */
static void answer(int64_t *sum, struct bench *bench, size_t agent, uint32_t within)
{
    const struct job *job = &bench->plan.job;
    const struct allowances allowances = {.total = {job->epsilon_micro, job->delta_atto}};
    const struct round_rows rows = round_rows(bench->stage, within, RECORDS);
    struct gate_request request = {.job = {{1}},
                                   .round = bench->first_round + within,
                                   .task = task_name(bench->stage->task),
                                   .charge = bench->stage->charge,
                                   .exact = job->trust == TRUST_CENTRAL};
    struct private_vector vector = bench->exact[agent];
    struct gate *gate = NULL;
    struct record record;
    struct slice blob;
    struct why why = {""};
    struct gate_answer_view view;
    request.charge.pass = (struct digest){{1}};
    request.charge.row_first = rows.first;
    request.charge.row_count = rows.count;
    vector.value = must(malloc(vector.count * sizeof *vector.value));
    memcpy(vector.value, bench->exact[agent].value, vector.count * sizeof *vector.value);
    cr_assert_eq(gate_new(&gate, &allowances, &bench->random), STATUS_OK);
    cr_assert_eq(gate_answer(gate, &record, &blob, &vector, &request, &why), STATUS_OK, "%s",
                 why.text);
    gate_committed(gate, 1);
    cr_assert(gate_latest(gate, &view) && view.bytes.size == 8 * bench->exact[agent].count);
    for (size_t i = 0; i < bench->exact[agent].count; i++) {
        sum[i] = (int64_t)((uint64_t)sum[i] + load_u64((const uint8_t *)view.bytes.data + 8 * i));
    }
    gate_free(gate);
}

/* Numbers in the unit of the printed lines, from what the strategy released; returns how many. */
static size_t read_release(double *value, const struct bench *bench, const struct closing *closing,
                           const int64_t *sum, struct outcome *outcome)
{
    const struct job *job = &bench->plan.job;
    const struct stage *stage = bench->stage;
    const struct strategy_kind *kind = strategy_kind(job, stage);
    const size_t width = round_width(job);
    struct outcome_round round = {.task = stage->task};
    int64_t score[VALUES_MAX];
    size_t count = width;
    switch (stage->task) {
    case TASK_FIT:
    case TASK_ONLINE:
        memcpy(value, closing->rows, width * sizeof *value);
        break;
    case TASK_UPDATE: /* one step of rate 1 from zero */
        memcpy(value, closing->rows, width * sizeof *value);
        break;
    case TASK_STATISTICS: /* the sums that the ridge is solved from */
        count = closing->count;
        for (size_t i = 0; i < count; i++) {
            value[i] =
                ldexp((double)sum[i], -(int)stage->grid_bits) / (AGENTS * (double)stage->batch);
        }
        break;
    case TASK_SELECT: /* the scores that the least is taken of; all of one column deviate alike */
        if (stage->among_experts) {
            count = bench->experts;
            for (size_t i = 0; i < count; i++) {
                value[i] = ldexp((double)sum[i], -(int)stage->grid_bits);
            }
            break;
        }
        candidates_scores(score, &stage->candidates, sum, (uint64_t)AGENTS * stage->batch);
        count = stage->candidates.column_count + stage->candidates.predicate_count;
        for (size_t i = 0; i < count; i++) { /* the first of each column, and every predicate */
            const size_t stumps =
                i < stage->candidates.column_count ? i * stage->candidates.threshold_count : i;
            value[i] = (double)score[2 * stumps] / 2;
        }
        break;
    case TASK_LOSSES:
    case TASK_QUERY:
        cr_assert_eq(
            kind->add(outcome, job, stage, closing->within, closing->record, (struct slice){0}),
            STATUS_OK);
        cr_assert_eq(kind->tell(&round, outcome, job, stage, closing->record), STATUS_OK);
        count = stage->task == TASK_LOSSES ? bench->experts : closing->record->as.round.sum_count;
        if (stage->task == TASK_QUERY && stage->queries.query[0].kind == QUERY_MEAN) {
            count = round.answer_count;
        }
        for (size_t i = 0; i < count; i++) {
            value[i] =
                stage->task == TASK_LOSSES ? round.loss[i]
                : count == round.answer_count && stage->queries.query[0].kind == QUERY_MEAN
                    ? round.answer[i].value
                    : ldexp((double)sum[i], -(int)stage->grid_bits); /* counts, not yet clamped */
        }
        break;
    case TASK_PREDICT:
        cr_assert_eq(kind->tell(&round, outcome, job, stage, closing->record), STATUS_OK);
        count = round.answer_count;
        for (size_t i = 0; i < count; i++) {
            value[i] = round.answer[i].value;
        }
        break;
    }
    free(round.loss);
    free(round.weight);
    free(round.answer);
    free(round.said);
    return count;
}

/* What the coordinator makes of this sum of exact or noisy answers; central noise is in it already. */
static size_t close_round(double *value, const struct bench *bench, int64_t *sum, uint32_t within)
{
    const struct job *job = &bench->plan.job;
    const struct strategy_kind *kind = strategy_kind(job, bench->stage);
    const size_t count = bench->exact[0].count;
    const struct slice weights = {bench->experts_weights, bench->experts * round_width(job) * 8};
    struct record record = {.kind = RECORD_ROUND};
    struct record begin = {.kind = RECORD_JOB, .as.job.job.id.byte = {1}};
    struct outcome_expert *expert = NULL;
    struct cohort cohort = {0};
    struct outcome outcome;
    outcome_init(&outcome, job, true);
    cr_assert_eq(outcome_add(&outcome, job, &begin, (struct slice){0}), STATUS_OK);
    if (bench->experts > 0) {
        cr_assert_eq(outcome_add_experts(&expert, &outcome, bench->experts, weights), STATUS_OK);
    }
    if (kind->start != NULL) {
        struct outcome blank = outcome;
        blank.expert_count = 0; /* from zero */
        cr_assert_eq(kind->start(&blank, bench->stage), STATUS_OK);
        blank.expert_count = outcome.expert_count;
        outcome = blank;
    }
    cr_assert_eq(cohort_set_roster(&cohort, bench->agent, AGENTS), STATUS_OK);
    record.as.round.round = bench->first_round + within;
    record.as.round.agent = (struct peer *)bench->agent;
    record.as.round.agent_count = AGENTS;
    struct closing closing = {.job = job,
                              .stage = bench->stage,
                              .within = within,
                              .outcome = &outcome,
                              .cohort = &cohort,
                              .random = &bench->random,
                              .sum = must(calloc(count + 1, sizeof *sum)),
                              .count = count,
                              .record = &record};
    memcpy(closing.sum, sum, count * sizeof *sum);
    cr_assert_eq(kind->close(&closing), STATUS_OK);
    const size_t values = read_release(value, bench, &closing, sum, &outcome);
    free(record.as.round.sum);
    closing_free(&closing);
    cohort_free(&cohort);
    outcome_free(&outcome);
    return values;
}

static void add_central(int64_t *sum, struct bench *bench, uint32_t within)
{
    struct curator *curator = NULL;
    struct why why = {""};
    cr_assert_eq(curator_new(&curator, &bench->plan.job, &bench->random), STATUS_OK);
    cr_assert_eq(curator_add_noise(curator, sum, bench->exact[0].count, bench->first_round + within,
                                   bench->experts, &why),
                 STATUS_OK, "%s", why.text);
    curator_free(curator);
}

/* Released values' errors, over what was printed for each. */
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

static struct lines lines_of(const struct bench *bench, uint32_t within)
{
    const struct terms *terms = &bench->plan.stage[bench->index];
    const enum task task = bench->stage->task;
    const struct label *label = &bench->plan.job.schema.label;
    const bool twice = task == TASK_FIT && label->kind == LABEL_NUMBER;
    cr_assert(task != TASK_QUERY || terms->line_count == bench->stage->queries.count);
    return (struct lines){.first = within * (twice ? 2u : 1u),
                          .count = twice ? 2 : 1,
                          .by_value = task == TASK_QUERY && terms->line_count > 1,
                          .unit = label->kind == LABEL_NUMBER ? label->half_width : 1};
}

static void look_at_round(struct bench *bench, const struct way *way, uint32_t within)
{
    const struct terms_line *told = bench->plan.stage[bench->index].line;
    const struct lines lines = lines_of(bench, within);
    const bool stream = bench->stage->task == TASK_ONLINE;
    struct seen seen[2] = {{0}};
    double exact[VALUES_MAX];
    double value[VALUES_MAX];
    int64_t sum[VALUES_MAX] = {0};
    compute_exact(bench, within);
    for (size_t agent = 0; agent < AGENTS; agent++) {
        for (size_t i = 0; i < bench->exact[agent].count; i++) {
            sum[i] += bench->exact[agent].value[i];
        }
    }
    const size_t count = close_round(exact, bench, sum, within);
    while (seen[0].count < VALUES_WANTED) {
        memset(sum, 0, sizeof sum);
        for (size_t agent = 0; agent < AGENTS; agent++) {
            answer(sum, bench, agent, within);
        }
        add_central(sum, bench, within);
        cr_assert_eq(close_round(value, bench, sum, within), count);
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
        struct bench *bench = must(malloc(sizeof *bench));
        bench_init(bench, &ways[i], 1000 + i);
        const struct stage *stage = bench->stage;
        const bool differ =
            stage->task == TASK_FIT || stage->task == TASK_PREDICT || stage->task == TASK_ONLINE;
        for (uint32_t within = 0; within < (differ ? stage->rounds : 1); within++) {
            look_at_round(bench, &ways[i], within);
        }
        bench_free(bench);
        free(bench);
    }
}
