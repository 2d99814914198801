/* What a unit loses over a whole stage, against what the ledger was paid. A table is read by the real reader,
 * answered for by the agent's own code in every round, and read again with one unit of its ROWS replaced, so that in
 * a series a row moves every record that looks back at it. The test divides how far each round's answer moves by the
 * distance that its noise is for. The sum of these shares over all rounds of the stage, of their squares if the
 * noise is Gaussian, is what the pair loses, in charges. It must be at most the charges that a ledger counts. Some
 * pair must come near, so that a bound of half the size, of a smaller unit, or of one round alone would fail. Pairs
 * are drawn, and then the one that loses the most is changed cell by cell. Fixed seeds: no false alarms.
 *
 * Faults are planted beside: noise for one round's own records alone, of a learner's step products of columns that are
 * left out of what is clipped, and of columns that are dealt out to sites one that answers for two groups. */

#include "dp/ledger.h"
#include "job/reach.h"
#include "learn/dense.h"
#include "task/answer.h"
#include "task/learn/stage.h"
#include "task/select/stage.h"
#include "task/update/stage.h"
#include "tests/property/agent/task_ways.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TRIALS = 300, COLUMNS = 3, ROWS_MAX = 80, EXPERTS = 3, WIDTH_MAX = 64, ROUNDS_MAX = 48 };
enum { TEXT_BYTES = 8192, CSV_BYTES = 4096 };

/* A site with few rows in one process. */
struct site {
    struct job job;
    bool torn, swung, number, bent, shared;
    size_t records;
    size_t rows;
    size_t history;
    double cell[ROWS_MAX][COLUMNS]; /* a, b, y */
    size_t order[ROWS_MAX];
    double experts[EXPERTS * WIDTH_MAX];
    struct seeded_random coins;
    struct random random;
    struct dataset data;
    struct task_input input;
};

struct unit {
    size_t row[ROWS_MAX]; /* (count) of the file */
    size_t count;
};

static double corner(struct seeded_random *seeded)
{
    return seeded_random_below(seeded, 2) == 0 ? -1 : 1;
}

/* Near the corners as often as inside: there bounds are met. */
static void draw_row(const struct site *s, struct seeded_random *seeded, double *cell)
{
    for (size_t j = 0; j < COLUMNS; j++) {
        const bool inside = j + 1 < COLUMNS || s->history > 0 || s->number;
        cell[j] = inside && seeded_random_below(seeded, 2) == 0 ? 2 * seeded_random_unit(seeded) - 1
                                                                : corner(seeded);
        cell[j] = s->torn && j + 1 < COLUMNS ? 1 : cell[j];
    }
}

/* A clip and a model as they begin. Where products of columns are tried they all have a scale and a part in the model, and the
 * clip is below most gradients. */
static void learn_begins(double *state, const struct selftune *tune, bool bent)
{
    const size_t e = selftune_column_count(tune);
    double *v = state + 1;
    cr_assert_eq(tune->bends, bent);
    cr_assert_eq(selftune_begin(state, tune), STATUS_OK);
    if (bent) {
        state[0] = 0.5;
        for (size_t j = tune->feature_count; j < e; j++) {
            v[j] = 0.25;
            state[selftune_shown_count(tune) - 1 - (e - 1 - j)] = 1;
        }
        cr_assert_eq(selftune_check_shown(state, tune), STATUS_OK);
    }
}

static void site_init(struct site *s, const struct way *way, struct seeded_random *seeded)
{
    char text[TEXT_BYTES];
    char label[512] = "{column: y, positive: \"1\", negative: \"-1\"}";
    struct why why = {{0}};
    memset(s, 0, sizeof *s);
    if (way->lags != NULL) {
        (void)snprintf(label, sizeof label,
                       "{column: y, centre: 0, half_width: 1}\n  series: {column: y, lags: [%s]}",
                       way->lags);
    }
    if (way->several) {
        (void)snprintf(label, sizeof label, "{column: y, classes: [\"-1\", \"0\", \"1\"]}");
    }
    if (way->number) {
        (void)snprintf(label, sizeof label, "{column: y, centre: 0, half_width: 1}");
    }
    s->number = way->number;
    s->torn = way->torn;
    s->swung = way->swung;
    s->bent = way->bent;
    s->shared = way->shared;
    s->records = way->records == 0 ? 24 : way->records;
    int size = snprintf(
        text, sizeof text,
        "hedgerow: 1\njob: trial\ndata:\n  label: %s\n  features:\n"
        "    - {column: a, centre: 0, half_width: 1}\n"
        "    - {column: b, %s}\n"
        "cohort: {minimum: %s, records: %zu, records_most: 1000, deadline_s: 30}\n"
        "privacy: {unit: %s, neighbours: replace_one, trust: %s, epsilon: %g, "
        "delta: %s}\nstages:\n%s",
        label, way->category ? "categories: [\"-1.000\", \"1.000\"]" : "centre: 0, half_width: 1",
        strcmp(way->trust, "distributed") == 0 ? "3, dishonest: 1"
        : way->shared                          ? "4"
                                               : "2",
        s->records, way->unit, way->trust, way->epsilon > 0 ? way->epsilon : 8, way->delta,
        way->stages);
    cr_assert_eq(job_parse(&s->job, (struct slice){text, (size_t)size}, "trial", &why), STATUS_OK,
                 "%s: %s", way->name, why.text);
    cr_assert_eq(job_settle(&s->job, s->records, &why), STATUS_OK, "%s", why.text);
    s->history = schema_history(&s->job.schema);
    s->rows = s->records + s->history;
    cr_assert_leq(s->rows, ROWS_MAX);
    for (size_t i = 0; i < s->rows; i++) {
        s->order[i] = s->history > 0 ? i : (i * 7) % s->records;
        draw_row(s, seeded, s->cell[i]);
        s->cell[i][COLUMNS - 1] = s->torn ? (double)(i % 2) * 2 - 1 : s->cell[i][COLUMNS - 1];
    }
    const size_t width = round_width(&s->job);
    cr_assert_leq(width, WIDTH_MAX);
    for (size_t i = 0; i < EXPERTS * width; i++) {
        s->experts[i] = 4 * seeded_random_unit(seeded) - 2;
        if (s->job.stage[0].task == TASK_QUERY) { /* where quantiles ask */
            s->experts[i] /= 4;
        }
    }
    for (size_t i = 0; i < EXPERTS && s->history > 0; i++) { /* a day is as one before it */
        memset(s->experts + i * width, 0, width * sizeof *s->experts);
        s->experts[i * width + i % s->job.schema.lag_count] = 1 / schema_scale(width);
    }
    for (size_t i = 0; i < s->job.schema.lag_count && s->swung; i++) {
        s->experts[i] = -100 / schema_scale(width);
    }
    if (s->job.stage[s->job.stage_count - 1].task == TASK_LEARN) {
        learn_begins(s->experts, &learn_stage(&s->job.stage[s->job.stage_count - 1])->tune,
                     way->bent);
    }
    cr_assert_eq(round_groups(&s->job.stage[s->job.stage_count - 1], 0).count, way->shared ? 2 : 1,
                 "%s", way->name);
    s->random = seeded_random_interface(&s->coins);
    const struct stage *stage = &s->job.stage[s->job.stage_count - 1];
    s->input =
        (struct task_input){.job = &s->job,
                            .stage = stage,
                            .data = &s->data,
                            .order = s->order,
                            .random = &s->random,
                            .expert_count = round_input(stage, 0) == INPUT_EXPERTS ? EXPERTS : 0};
}

/* The file, through the reader. */
static void read_table(struct site *s)
{
    char text[CSV_BYTES];
    struct why why = {{0}};
    size_t used = (size_t)snprintf(text, sizeof text, "a,b,y\n");
    for (size_t i = 0; i < s->rows; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%.3f,%.3f,%.*f\n", s->cell[i][0],
                                 s->cell[i][1], s->history > 0 || s->number ? 3 : 0, s->cell[i][2]);
        cr_assert_lt(used, sizeof text);
    }
    const struct dataset_options all = {.use = DATASET_LEARN, .row_count = DATASET_ALL_ROWS};
    dataset_free(&s->data);
    cr_assert_eq(
        dataset_parse(&s->data, (struct slice){text, used}, "table", &s->job.schema, &all, &why),
        STATUS_OK, "%s", why.text);
    cr_assert_eq(s->data.record_count, s->records);
}

/* One unit of the job: any row; the rows that one round of any stage shows, or a row of the history; or
 * all rows. */
static struct unit choose_unit(const struct site *s, struct seeded_random *seeded)
{
    struct unit unit = {.count = 1};
    const struct stage *shown = &s->job.stage[seeded_random_below(seeded, s->job.stage_count)];
    const size_t begins = s->history > 0 ? seeded_random_below(seeded, 2) : 0;
    if (s->job.unit == UNIT_RECORD) {
        unit.row[0] = seeded_random_below(seeded, s->rows);
        return unit;
    }
    if (s->job.unit == UNIT_ROUND && begins > 0) {
        unit.row[0] = seeded_random_below(seeded, s->history);
        return unit;
    }
    const struct round_rows rows =
        s->job.unit == UNIT_AGENT
            ? (struct round_rows){0, s->rows}
            : round_rows(shown, (uint32_t)seeded_random_below(seeded, shown->rounds), s->records);
    for (unit.count = 0; unit.count < rows.count; unit.count++) {
        const size_t at = rows.first + unit.count;
        unit.row[unit.count] = s->job.unit == UNIT_AGENT ? at
                               : s->history > 0          ? at + s->history
                                                         : s->order[at];
    }
    return unit;
}

/* Other rows: all alike, each its own, or by turns one and its opposite. */
static void replace(struct site *s, const struct unit *unit, struct seeded_random *seeded)
{
    const uint64_t manner = seeded_random_below(seeded, 3);
    double first[COLUMNS];
    for (size_t i = 0; i < s->rows && s->swung; i++) {
        s->cell[i][0] = s->cell[i][1] = 1;
        s->cell[i][COLUMNS - 1] = 0;
    }
    if (s->swung) {
        const double turned = 0.05 * corner(seeded);
        for (size_t i = 0; i < unit->count; i++) {
            s->cell[unit->row[i]][COLUMNS - 1] = turned;
        }
        return;
    }
    draw_row(s, seeded, first);
    for (size_t i = 0; i < unit->count; i++) {
        double *cell = s->cell[unit->row[i]];
        draw_row(s, seeded, cell);
        for (size_t j = 0; j < COLUMNS && manner > 0; j++) {
            cell[j] = manner == 2 && i % 2 == 1 ? -first[j] : first[j];
        }
    }
}

/* Every round's answer. */
static void answer(struct site *s, struct private_vector *vector)
{
    read_table(s);
    for (uint32_t within = 0; within < s->input.stage->rounds; within++) {
        struct why why = {{0}};
        s->input.within = within;
        s->input.experts = round_input(s->input.stage, within) == INPUT_NONE ? NULL : s->experts;
        cr_assert_eq(task_run(&vector[within], &s->input, &why), STATUS_OK, "%s", why.text);
        for (size_t i = 0; i < vector[within].count; i++) {
            cr_assert(vector[within].low <= vector[within].value[i] &&
                      vector[within].value[i] <= vector[within].high);
        }
    }
}

static bool is_gaussian(const struct site *s)
{
    return s->input.stage->charge.mechanism == MECHANISM_DISCRETE_GAUSSIAN &&
           !round_is_drawn(&s->job, s->input.stage);
}

/* As the bound is meant: L2 for Gaussian noise, the largest value for a draw, else L1. */
static double distance(const struct site *s, const struct private_vector *a,
                       const struct private_vector *b)
{
    double sum = 0;
    double largest = 0;
    double squares = 0;
    for (size_t i = 0; i < a->count; i++) {
        double apart = fabs((double)(a->value[i] - b->value[i]));
        sum += apart;
        squares += apart * apart;
        largest = fmax(largest, apart);
    }
    if (round_is_drawn(&s->job, s->input.stage)) { /* a predicate's score is twice its errors */
        const struct stage *stage = s->input.stage;
        const bool twice = stage->task == TASK_SELECT && !select_stage(stage)->among_experts;
        return twice ? 2 * largest : largest;
    }
    return is_gaussian(s) ? sqrt(squares) : sum;
}

/* What a pair loses over all rounds, in charges; `noise` times the noise that there is. A play's sums
 * are cumulative, and its draws are reckoned elsewhere: there, the round that moves the furthest. */
static double loss_of(const struct site *s, const struct private_vector *before,
                      const struct private_vector *after, double noise)
{
    const bool play =
        s->input.stage->task == TASK_LOSSES && round_is_drawn(&s->job, s->input.stage);
    double loss = 0;
    for (uint32_t i = 0; i < s->input.stage->rounds; i++) {
        const double part =
            distance(s, &before[i], &after[i]) / ((double)before[i].sensitivity * noise);
        cr_assert_eq(before[i].sensitivity, after[i].sensitivity);
        loss = play ? fmax(loss, part) : loss + (is_gaussian(s) ? part * part : part);
    }
    return loss;
}

/* How many charges a ledger counts for the stage's rounds. */
static double charges_of(const struct site *s)
{
    const struct price limit = {UINT64_C(1000000) * EPSILON_MICRO_ONE, DELTA_ATTO_ONE / 2};
    struct ledger *ledger = ledger_new(limit);
    const uint32_t count = job_round_count(&s->job);
    for (uint32_t round = count - s->input.stage->rounds; round < count; round++) {
        uint32_t pass;
        struct grant *grant = NULL;
        struct charge charge = reach_charge(&s->job, round, s->records, &pass);
        store_u32(charge.pass.byte, 1 + pass);
        cr_assert_eq(ledger_spend(ledger, &grant, &charge, NULL), STATUS_OK);
        grant_free(grant);
    }
    const struct balance balance = ledger_balance(ledger, ALLOWANCE_TOTAL);
    const struct cost one = reach_event_cost(&balance.filter, s->input.stage->charge);
    ledger_free(ledger);
    return (double)balance.spent.renyi_nano / (double)one.renyi_nano;
}

/* Planted: noise for as many records as one round has, and for one clipped round, as if days were in no
 * other. */
static double noise_before(const struct site *s)
{
    const struct stage *stage = s->input.stage;
    const struct reach reach = reach_of(&s->job, stage);
    const struct reach alone = {stage->batch, stage->batch, 1};
    const uint64_t whole =
        stage->task == TASK_UPDATE ? 2 * (uint64_t)update_stage(stage)->clip_sum : 0;
    const uint64_t record = whole > 0 ? whole : 1000;
    if (s->job.unit != UNIT_ROUND) {
        return 1;
    }
    return (double)reach_sensitivity(&alone, record, whole, is_gaussian(s)) /
           (double)reach_sensitivity(&reach, record, whole, is_gaussian(s));
}

/* Planted: a step clips the columns, and then products of them are added as they are. Writes a row's part (e + 1) of it. */
static void add_raw_products(double *part, const struct site *s, const double *cell, double sign)
{
    const struct selftune *tune = &learn_stage(s->input.stage)->tune;
    const size_t d = tune->feature_count;
    const size_t e = selftune_column_count(tune);
    double u[WIDTH_MAX];
    double norm = 1; /* of columns and the constant */
    selftune_transform(u, cell, s->experts, tune);
    for (size_t j = 0; j < d; j++) {
        norm += is_gaussian(s) ? u[j] * u[j] : fabs(u[j]);
    }
    norm = is_gaussian(s) ? sqrt(norm) : norm;
    const double chance = 1 / (1 + exp(-dense_dot(u, s->experts + 1, e + 1)));
    const double slope = chance - (cell[COLUMNS - 1] > 0 ? 1 : 0);
    const double clipped = fmin(1, s->experts[0] / (fabs(slope) * norm));
    dense_axpy(part, sign * slope * clipped, u, e + 1);
}

/* What a replaced row then loses in one step, in charges. */
static double raw_products_lose(const struct site *s, const double *before, const double *after)
{
    double part[WIDTH_MAX] = {0};
    double moved = 0;
    add_raw_products(part, s, before, 1);
    add_raw_products(part, s, after, -1);
    for (size_t j = 0; j < WIDTH_MAX; j++) {
        moved += is_gaussian(s) ? part[j] * part[j] : fabs(part[j]);
    }
    const double bound = 2 * s->experts[0];
    return is_gaussian(s) ? moved / (bound * bound) : moved / bound;
}

struct pair {
    double before[ROWS_MAX][COLUMNS];
    double after[ROWS_MAX][COLUMNS];
    struct unit unit;
    double loss;
};

struct seen {
    double most;
    double most_before;
    double most_raw;   /* of a step with raw products */
    double most_twice; /* of two groups */
};

static double pair_loses(struct site *s, const struct pair *pair, struct seen *seen)
{
    struct private_vector before[ROUNDS_MAX] = {{0}};
    struct private_vector after[ROUNDS_MAX] = {{0}};
    memcpy(s->cell, pair->before, sizeof s->cell);
    answer(s, before);
    memcpy(s->cell, pair->after, sizeof s->cell);
    answer(s, after);
    const double loss = loss_of(s, before, after, 1);
    seen->most_before = fmax(seen->most_before, loss_of(s, before, after, noise_before(s)));
    for (uint32_t i = 0; i < s->input.stage->rounds; i++) {
        private_vector_free(&before[i]);
        private_vector_free(&after[i]);
    }
    return loss;
}

static void try_pair(struct site *s, struct pair *pair, struct pair *best, struct seen *seen)
{
    pair->loss = pair_loses(s, pair, seen);
    if (s->shared) { /* the other group of columns, too */
        s->input.slot = 1;
        const double other = pair_loses(s, pair, seen);
        seen->most_twice = fmax(seen->most_twice, pair->loss + other);
        pair->loss = fmax(pair->loss, other);
        s->input.slot = 0;
    }
    seen->most = fmax(seen->most, pair->loss);
    if (s->bent) {
        const size_t row = pair->unit.row[0];
        seen->most_raw =
            fmax(seen->most_raw, raw_products_lose(s, pair->before[row], pair->after[row]));
    }
    if (pair->loss >= best->loss) {
        *best = *pair;
    }
}

static bool is_in(const struct unit *unit, size_t row)
{
    bool found = false;
    for (size_t i = 0; i < unit->count; i++) {
        found = found || unit->row[i] == row;
    }
    return found;
}

/* Some cells of the pair, drawn anew: in both tables alike, but for the unit's. */
static void change(struct site *s, struct pair *pair, struct seeded_random *seeded)
{
    const uint64_t cells = 1 + seeded_random_below(seeded, 3);
    for (uint64_t i = 0; i < cells; i++) {
        const size_t row = seeded_random_below(seeded, 2) == 0
                               ? pair->unit.row[seeded_random_below(seeded, pair->unit.count)]
                               : seeded_random_below(seeded, s->rows);
        const size_t column = seeded_random_below(seeded, COLUMNS);
        double cell[COLUMNS];
        draw_row(s, seeded, cell);
        const bool own = is_in(&pair->unit, row);
        const bool left = seeded_random_below(seeded, 2) == 0;
        if (!own || left) {
            pair->before[row][column] = cell[column];
        }
        if (!own || !left) {
            pair->after[row][column] = cell[column];
        }
    }
}

static void check(const struct way *way, uint64_t seed)
{
    static struct site s;
    struct seeded_random seeded;
    static struct pair best;
    struct seen seen = {0};
    best.loss = -1;
    seeded_random_init(&seeded, seed);
    site_init(&s, way, &seeded);
    const uint32_t rounds = s.input.stage->rounds;
    cr_assert_leq(rounds, ROUNDS_MAX);
    const double paid = charges_of(&s);
    for (int trial = 0; trial < TRIALS; trial++) {
        const struct unit unit = choose_unit(&s, &seeded);
        struct pair pair = {.unit = unit};
        replace(&s, &unit, &seeded);
        memcpy(pair.before, s.cell, sizeof pair.before);
        replace(&s, &unit, &seeded);
        memcpy(pair.after, s.cell, sizeof pair.after);
        try_pair(&s, &pair, &best, &seen);
    }
    for (int trial = 0; trial < TRIALS; trial++) {
        struct pair pair = best;
        change(&s, &pair, &seeded);
        try_pair(&s, &pair, &best, &seen);
    }
    const double allowed = paid * (1 + 1e-9);
    cr_expect_leq(seen.most, allowed, "%s: %g of %g charges", way->name, seen.most, paid);
    cr_expect_geq(seen.most, way->reached_least * paid, "%s: only %g of %g charges", way->name,
                  seen.most, paid);
    cr_expect(way->reached_least >= REACHED || way->loose != NULL, "%s: why not?", way->name);
    cr_expect(way->leaked_least == 0 || seen.most_before >= way->leaked_least * paid,
              "%s: planted: %g of %g charges go unseen", way->name, seen.most_before, paid);
    cr_expect(!way->bent || seen.most_raw > 1.3, "%s: planted: %g of a step's charge goes unseen",
              way->name, seen.most_raw);
    cr_expect(!way->shared || seen.most_twice > 1.3 * paid,
              "%s: planted: %g of %g charges go unseen", way->name, seen.most_twice, paid);
    dataset_free(&s.data);
    job_free(&s.job);
}

Test(task_sensitivity,
     no_unit_loses_more_than_its_charges_over_a_stage_and_some_pair_nearly_so_much)
{
    for (size_t i = 0; i < WAYS; i++) {
        check(&ways[i], 100 + i);
    }
}
