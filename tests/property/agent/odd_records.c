#include "tests/property/agent/odd_records.h"

#include "base/check.h"
#include "dp/encode.h"
#include "job/job.h"
#include "job/round.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 1 << 16, STAGES_BYTES = 2048 };

#define TWO    "{column: y, positive: \"1\", negative: rest}"
#define NUMBER "{column: y, centre: 0, half_width: 1}"
#define THREE  "{column: y, classes: [p, q, r]}"

/* Experts to judge. */
#define STEP                                                                                       \
    "  - {task: update, loss: logistic, rounds: 1, batch: #, clip: 1, rate: 1, share: 0.5,\n"      \
    "     experts: {shifts: [0.25, 0.5]}}\n"
#define CLASSES                                                                                    \
    "  - {task: update, loss: hinge, rounds: 1, batch: #, clip: 1, rate: 1, share: 0.5}\n"
#define SLOPE                                                                                      \
    "  - {task: update, loss: squared, rounds: 1, batch: #, clip: 1, rate: 1, share: 0.5}\n"

#define LOSSES(loss)                                                                               \
    "  - {task: losses, loss: " loss ", rounds: 2, batch: #, share: 0.5, grid_bits: 20}\n"
const struct odd_task odd_tasks[] = {
    {"losses, logistic", TWO, "record", "local", STEP LOSSES("logistic"), 1},
    {"losses, hinge", TWO, "record", "local", STEP LOSSES("hinge"), 0},
    {"losses, zero_one", TWO, "record", "local", STEP LOSSES("zero_one"), 0},
    {"losses, pinball", NUMBER, "record", "local", SLOPE LOSSES("pinball, loss_parameter: 0.3"), 0},
    {"losses, absolute", NUMBER, "record", "local", SLOPE LOSSES("absolute"), 0},
    {"losses, insensitive", NUMBER, "record", "local",
     SLOPE LOSSES("insensitive, loss_parameter: 0.25"), 0},
    {"losses, huber", NUMBER, "record", "local", SLOPE LOSSES("huber, loss_parameter: 0.5"), 0},
    {"losses, squared", NUMBER, "record", "local", SLOPE LOSSES("squared"), 0},
    {"losses, classes, logistic", THREE, "record", "local", CLASSES LOSSES("logistic"), 0},
    {"losses, classes, zero_one", THREE, "record", "local", CLASSES LOSSES("zero_one"), 0},
    {"losses, plays", TWO, "record", "central",
     STEP "  - {task: losses, strategy: dartboard, loss: hinge, rounds: 2, batch: #, share: 0.5}\n",
     1},
    {"losses, plays, unit agent", TWO, "agent", "central",
     STEP "  - {task: losses, strategy: rwm, loss: hinge, rounds: 2, batch: #, share: 0.5}\n", 1},
    {"update, logistic", TWO, "record", "local",
     "  - {task: update, loss: logistic, rounds: 2, batch: #, clip: 1, rate: 1, share: 1}\n", 0},
    {"update, hinge, L2", TWO, "record", "local",
     "  - {task: update, loss: hinge, rounds: 2, batch: #, clip: 0.25, rate: 1, noise: gaussian}\n",
     0},
    {"update, squared, far out", NUMBER, "record", "local",
     "  - {task: update, loss: squared, rounds: 2, batch: #, clip: 1, rate: 1, noise: gaussian,\n"
     "     grid_bits: 32}\n",
     0},
    {"update, huber", NUMBER, "record", "local",
     "  - {task: update, loss: huber, loss_parameter: 0.5, rounds: 2, batch: #, clip: 1, rate: 1,\n"
     "     share: 1}\n",
     0},
    {"update, pinball", NUMBER, "record", "local",
     "  - {task: update, loss: pinball, loss_parameter: 0.3, rounds: 2, batch: #, clip: 1, rate: 1,\n"
     "     share: 1}\n",
     0},
    {"update, absolute", NUMBER, "record", "local",
     "  - {task: update, loss: absolute, rounds: 2, batch: #, clip: 1, rate: 1, share: 1}\n", 0},
    {"update, insensitive", NUMBER, "record", "local",
     "  - {task: update, loss: insensitive, loss_parameter: 0.25, rounds: 2, batch: #, clip: 1,\n"
     "     rate: 1, share: 1}\n",
     0},
    {"update, classes", THREE, "record", "local",
     "  - {task: update, loss: logistic, rounds: 2, batch: #, clip: 1, rate: 1, share: 1}\n", 0},
    {"update, unit agent", TWO, "agent", "local",
     "  - {task: update, loss: hinge, rounds: 2, batch: #, clip: 0.5, clip_all: 0.5, rate: 1,\n"
     "     share: 1}\n",
     0},
    {"update, unit agent, L2", TWO, "agent", "local",
     "  - {task: update, loss: hinge, rounds: 2, batch: #, clip: 0.5, clip_all: 0.5, rate: 1,\n"
     "     noise: gaussian}\n",
     0},
    {"statistics", NUMBER, "record", "local",
     "  - {task: statistics, lambdas: [0.1], batch: #, share: 1, grid_bits: 16}\n", 0},
    {"statistics, classes", THREE, "record", "local",
     "  - {task: statistics, lambdas: [0.1], batch: #, share: 1, grid_bits: 16}\n", 0},
    {"online", NUMBER, "record", "local",
     "  - {task: online, t0: 3, rounds: 1, share: 1, grid_bits: 30}\n", 0},
    {"query, counts", TWO, "record", "local",
     "  - {task: query, batch: #, share: 1, grid_bits: 10, queries: [\"count: a < 0.5 and not s == v\",\n"
     "     \"count: b <= 0.2 or c > 1\", \"count: y != 1\", \"count: d >= 0 and e != 1 and s != w\"]}\n",
     0},
    {"query, means", NUMBER, "record", "local",
     "  - {task: query, batch: #, share: 1, grid_bits: 10, queries: [\"mean: a\", \"mean: c where s == u\",\n"
     "     \"mean: y\", \"mean: f\"]}\n",
     0},
    {"query, histograms", THREE, "record", "local",
     "  - {task: query, batch: #, share: 1, grid_bits: 10, queries: [\"histogram: s\", \"histogram: y\",\n"
     "     \"histogram: a by 0.25 where b > 0\"]}\n",
     0},
    {"query, quantiles", NUMBER, "record", "local",
     "  - {task: query, batch: #, share: 1, grid_bits: 10, queries: [\"quantile: 0.5 of a in 2 rounds\",\n"
     "     \"quantile: 0.9 of c in 2 rounds\"]}\n",
     0},
    {"query, survival", TWO, "record", "local",
     "  - {task: query, batch: #, share: 1, grid_bits: 10,\n"
     "     queries: [\"survival: time c event y by s, to 1 in 4 intervals\"]}\n",
     0},
    {"query, cross table", TWO, "record", "local",
     "  - {task: query, batch: #, share: 1, grid_bits: 10, queries: [\"crosstab: s x y where a > 0\"]}\n",
     0},
    {"query, table 1", TWO, "record", "local",
     "  - {task: query, batch: #, share: 1, grid_bits: 10,\n"
     "     queries: [\"table1: [a, c, s] by y in 8 steps\"]}\n",
     0},
    {"query, score", TWO, "record", "local",
     "  - {task: query, batch: #, share: 1, grid_bits: 10,\n"
     "     queries: [\"evaluate: a for y by s in 8 levels where c < 0.5\"]}\n",
     0},
    {"query, written model", TWO, "record", "local",
     "  - {task: query, batch: #, share: 1, grid_bits: 10,\n"
     "     queries: [\"evaluate: risk for time c event y by s, to 1 in 4 bins\"],\n"
     "     models: [{name: risk, columns: [{column: a, weights: [3, 1]}, {column: s, weights: [1, -1, 9]}]}]}\n",
     0},
    {"query, chosen model", TWO, "record", "local",
     STEP
     "  - {task: query, batch: #, share: 0.5, grid_bits: 10, models: [{name: own, chosen: true}],\n"
     "     queries: [\"evaluate: own for y by s in 8 levels\"]}\n",
     0},
    {"query, chosen model of a number", NUMBER, "record", "local",
     SLOPE
     "  - {task: query, batch: #, share: 0.5, grid_bits: 10, models: [{name: own, chosen: true}],\n"
     "     queries: [\"evaluate: own for y > 0 in 8 levels\"]}\n",
     0},
    {"query, score and time", TWO, "record", "local",
     "  - {task: query, batch: #, share: 1, grid_bits: 10,\n"
     "     queries: [\"evaluate: a for time c event y by s, to 1 in 4 bins where b < 0.5\"]}\n",
     0},
    {"query, correlations", TWO, "record", "local",
     "  - {task: query, batch: #, share: 1, grid_bits: 16,\n"
     "     queries: [\"correlate: [a, b, c, y, f, e] where d > -0.5\"]}\n",
     0},
    {"query, components", NUMBER, "record", "local",
     "  - {task: query, batch: #, share: 1, grid_bits: 10, queries: [\"pca: [c, f, y] where s == u\"]}\n",
     0},
    {"query, regression", TWO, "record", "local",
     "  - {task: query, batch: #, share: 1, grid_bits: 10,\n"
     "     queries: [\"regress: y ~ a + s + c in 3 levels where b < 0.5\"]}\n",
     0},
    {"query, regression of times", TWO, "record", "local",
     "  - {task: query, batch: #, share: 1, grid_bits: 10,\n"
     "     queries: [\"regress: time c event y ~ a + s, to 1 in 3 levels\"]}\n",
     0},
    {"query, regression of a number", NUMBER, "record", "local",
     "  - {task: query, batch: #, share: 1, grid_bits: 10, queries: [\"regress: f ~ a + s\"]}\n",
     0},
    {"query, table 1 of a number", NUMBER, "record", "local",
     "  - {task: query, batch: #, share: 1, grid_bits: 10,\n"
     "     queries: [\"table1: [y, f] by s in 8 steps where b < 0.5\"]}\n",
     0},
    {"select, stumps", TWO, "record", "local",
     "  - {task: select, candidates: {stumps: [a, c, s], thresholds: 5, predicates: [\"b > 0.5\"]},\n"
     "     batch: #, share: 1}\n",
     0},
    {"select among experts", TWO, "record", "central",
     STEP "  - {task: select, loss: zero_one, batch: #, share: 0.5, grid_bits: 4}\n", 0},
};
const size_t odd_task_count = sizeof odd_tasks / sizeof *odd_tasks;

const char *odd_class_name(enum odd_class class)
{
    static const char *const name[] = {"typical",   "zero",   "missing", "unlisted", "huge",
                                       "subnormal", "lowest", "highest", "mixed",    "each"};
    _Static_assert(sizeof name / sizeof *name == ODD_CLASSES, "every class has a name");
    return name[class];
}

/* The stages, with a number for each #. */
static void write_stages(char *out, size_t bytes, const char *stages, size_t batch)
{
    size_t used = 0;
    for (; *stages != '\0'; stages++) {
        used += *stages == '#' ? (size_t)snprintf(out + used, bytes - used, "%zu", batch)
                               : (size_t)snprintf(out + used, bytes - used, "%c", *stages);
        CHECK(used < bytes);
    }
}

void odd_init(struct odd_world *w, const struct odd_task *task, size_t batch)
{
    char text[TEXT_BYTES];
    char stages[STAGES_BYTES];
    struct why why = {{0}};
    memset(w, 0, sizeof *w);
    w->rows = 2 * batch;
    CHECK(w->rows <= ODD_ROWS_MAX);
    write_stages(stages, sizeof stages, task->stages, batch);
    const int size = snprintf(
        text, sizeof text,
        "hedgerow: 1\njob: trial\ndata:\n  label: %s\n  features:\n"
        "    - {column: a, centre: 0, half_width: 1, missing_indicator: true}\n"
        "    - {column: b, centre: 0.5, half_width: 0.5}\n"
        "    - {column: c, transform: log1p, centre: 1, half_width: 1}\n"
        "    - {column: d, centre: 0, half_width: 1}\n"
        "    - {column: e, centre: 0, half_width: 2}\n"
        "    - {column: f, transform: log1p, centre: 354.5, half_width: 354.5}\n"
        "    - {column: s, categories: [u, v, w]}\n"
        "cohort: {minimum: 2, records: %zu, deadline_s: 30}\n"
        "privacy: {unit: %s, neighbours: replace_one, trust: %s, epsilon: 8, delta: 0.00001}\n"
        "stages:\n%s",
        task->label, w->rows, task->unit, task->trust, stages);
    const enum status status =
        job_parse(&w->job, (struct slice){text, (size_t)size}, "trial", &why);
    if (status != STATUS_OK) {
        fprintf(stderr, "%s: %s\n", task->name, why.text);
    }
    CHECK(status == STATUS_OK);
    const struct stage *stage = &w->job.stage[w->job.stage_count - 1];
    const enum round_input input = round_input(stage, task->within);
    const size_t width = round_width(&w->job);
    const size_t count = input == INPUT_EXPERTS ? ODD_EXPERTS * width
                         : input == INPUT_STATE ? round_state_count(stage)
                                                : 0;
    struct seeded_random seeded;
    seeded_random_init(&seeded, 5);
    CHECK(count <= ODD_STATE_MAX);
    for (size_t i = 0; i < count; i++) {
        const size_t expert = i / width;
        const double typical = 4 * seeded_random_unit(&seeded) - 2;
        w->experts[i] = expert == 1 ? 0 : expert == 2 ? typical * 0x1p900 : typical;
    }
    for (size_t i = 0; i < w->rows; i++) {
        w->order[i] = (i * 7) % w->rows;
    }
    w->random = seeded_random_interface(&w->coins);
    w->input = (struct task_input){.job = &w->job,
                                   .stage = stage,
                                   .within = task->within,
                                   .data = &w->data,
                                   .order = w->order,
                                   .random = &w->random,
                                   .experts = count > 0 ? w->experts : NULL,
                                   .expert_count = input == INPUT_EXPERTS ? ODD_EXPERTS : 0};
}

/* A cell's text; label: of the last column. */
static void write_cell(char *text, size_t bytes, enum odd_class class, size_t column,
                       const struct odd_world *w, struct seeded_random *seeded)
{
    static const char *const category[] = {"u", "v", "w"};
    static const char *const of_three[] = {"p", "q", "r"};
    const enum label_kind kind = w->job.schema.label.kind;
    const bool is_label = column == ODD_COLUMNS;
    const bool is_text = column == ODD_COLUMNS - 1 || (is_label && kind == LABEL_CLASSES);
    const char *const *list = is_label ? of_three : category;
    const size_t pick = (size_t)seeded_random_below(seeded, 3);
    const double unit = 2 * seeded_random_unit(seeded) - 1;
    const bool is_sign = is_label && kind == LABEL_SIGN;
    switch (class) {
    case ODD_MISSING:
        text[0] = '\0';
        return;
    case ODD_UNLISTED:
        (void)snprintf(text, bytes, "%s", "what");
        return;
    case ODD_ZERO:
        (void)snprintf(text, bytes, "%s", is_text ? list[0] : "0");
        return;
    case ODD_HUGE:
        (void)snprintf(text, bytes, "%s", is_text ? list[2] : pick == 0 ? "-1e308" : "1e308");
        return;
    case ODD_SUBNORMAL:
        (void)snprintf(text, bytes, "%s", is_text ? list[1] : pick == 0 ? "-5e-324" : "3e-310");
        return;
    case ODD_LOWEST:
        (void)snprintf(text, bytes, "%s", is_text ? list[0] : is_sign ? "0" : "-2");
        return;
    case ODD_HIGHEST:
        (void)snprintf(text, bytes, "%s", is_text ? list[2] : is_sign ? "1" : "8");
        return;
    case ODD_TYPICAL:
    case ODD_MIXED:
    case ODD_EACH:
    case ODD_CLASSES:
        break;
    }
    if (is_text || is_sign) {
        (void)snprintf(text, bytes, "%s", is_text ? list[pick] : pick == 0 ? "1" : "0");
    } else {
        (void)snprintf(text, bytes, "%.6f", unit);
    }
}

static enum odd_class class_of_cell(enum odd_class class, size_t row, size_t column, uint64_t seed)
{
    if (class == ODD_MIXED) {
        return (enum odd_class)((2 * row + column + seed) % ODD_MIXED);
    }
    return class == ODD_EACH ? (enum odd_class)((row + seed) % ODD_MIXED) : class;
}

void odd_fill(struct odd_world *w, enum odd_class class, uint64_t seed)
{
    char text[TEXT_BYTES];
    struct why why = {{0}};
    struct dataset read;
    struct seeded_random seeded;
    size_t used = (size_t)snprintf(text, sizeof text, "a,b,c,d,e,f,s,y\n");
    const struct dataset_options all = {.use = DATASET_LEARN, .row_count = DATASET_ALL_ROWS};
    seeded_random_init(&seeded, seed);
    for (size_t i = 0; i < w->rows; i++) {
        for (size_t column = 0; column <= ODD_COLUMNS; column++) {
            char cell[32];
            write_cell(cell, sizeof cell, class_of_cell(class, i, column, seed), column, w,
                       &seeded);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", cell,
                                     column == ODD_COLUMNS ? "\n" : ",");
            CHECK(used < sizeof text);
        }
    }
    CHECK(dataset_parse(&read, (struct slice){text, used}, "table", &w->job.schema, &all, &why) ==
          STATUS_OK);
    CHECK(read.record_count == w->rows && read.feature_count <= ODD_WIDTH_MAX);
    memcpy(w->x, read.x, w->rows * read.feature_count * sizeof *w->x);
    memcpy(w->y, read.y, w->rows * sizeof *w->y);
    if (read.raw != NULL) {
        memcpy(w->raw, read.raw, w->rows * read.column_count * sizeof *w->raw);
    }
    if (read.raw_label != NULL) {
        memcpy(w->raw_label, read.raw_label, w->rows * sizeof *w->raw_label);
    }
    w->data = (struct dataset){.record_count = w->rows,
                               .feature_count = read.feature_count,
                               .column_count = read.column_count,
                               .x = w->x,
                               .y = w->y,
                               .raw = read.raw != NULL ? w->raw : NULL,
                               .raw_label = read.raw_label != NULL ? w->raw_label : NULL};
    dataset_free(&read);
}

void odd_run(void *world)
{
    struct odd_world *w = world;
    seeded_random_init(&w->coins, 77);
    CHECK(task_run(&w->vector, &w->input, NULL) == STATUS_OK);
    clip_box(w->vector.value, w->vector.count, w->vector.low, w->vector.high);
}

void odd_free(struct odd_world *w)
{
    job_free(&w->job);
}
