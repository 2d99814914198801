/* rehearsal.c - the plan played on made-up tables, and the figures. A row stands for many records where a job has more of
 * them than a table has rows. Accuracies are expectations over the labels of test records, whose probabilities are known. */

#include "learn/rehearsal.h"

#include "learn/dense.h"
#include "learn/rehearsal_look.h"
#include "learn/rehearsal_table.h"
#include "learn/rival.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 2000, NUMBERS_MOST = 400000, CHANCES = 9 };

#define OPERATIONS      0.3e9 /* of one call, about */
#define OPERATIONS_SOON 0.3e9 /* half a second and less */
#define OPERATIONS_MOST 14e9  /* beyond it, a person would wait too long */
#define HELD_OUT                                                                                   \
    0.25 /* records to test on, over those that are learned from: a fifth of all, as `simulate` holds out */
#define OUTSIDE      0.05 /* what is beyond each end of a band */
#define FREE_PENALTY 0.1  /* of the model without privacy, over the records */

static double norm_of(const double *u, size_t count, bool gaussian)
{
    double sum = 0;
    for (size_t j = 0; j < count; j++) {
        sum += gaussian ? u[j] * u[j] : fabs(u[j]);
    }
    return gaussian ? sqrt(sum) : sum;
}

/* sum: (d + 1) the gradient; behind it (d + 1) scratch */
static enum status play_step(double *state, double *sum, uint32_t step,
                             const struct rehearsal *plan, const struct rehearsal_table *table,
                             struct public_random *random)
{
    const size_t width = table->d + 1;
    const double scale = plan->records / (double)table->rows;
    const double clip = state[0];
    double *u = sum + width;
    memset(sum, 0, width * sizeof *sum);
    for (size_t i = 0; i < table->rows; i++) {
        selftune_transform(u, table->z + i * width, state, &plan->tune);
        const double chance = rehearsal_chance(dense_dot(u, state + 1, width));
        const double norm = norm_of(u, width, plan->tune.gaussian); /* >= 1: u has a constant */
        const double positive = (1 + table->lean[i]) / 2;
        const double slope =
            (1 - positive) * fmin(norm * chance, clip) - positive * fmin(norm * (1 - chance), clip);
        dense_axpy(sum, scale * slope / norm, u, width);
    }
    for (size_t j = 0; j < width; j++) {
        sum[j] += rehearsal_noise(plan, clip * plan->step, random);
    }
    const struct selftune_release release = {.step = step,
                                             .record_count = plan->records,
                                             .gradient = sum,
                                             .deviation = clip * plan->step};
    return selftune_take_gradient(state, &plan->tune, &release);
}

/* Plays the plan: w (d + 1) out, its model. */
static enum status play(double *w, const struct rehearsal *plan,
                        const struct rehearsal_table *table, struct public_random *random)
{
    const size_t d = table->d;
    double *state = calloc(selftune_state_count(&plan->tune), sizeof *state);
    double *sum = calloc(4 + 6 * d + d * (d + 1) / 2 + 2 * (d + 1), sizeof *sum);
    enum status status =
        state == NULL || sum == NULL ? STATUS_NO_MEMORY : selftune_begin(state, &plan->tune);
    if (status == STATUS_OK) {
        status = rehearsal_look(state, sum, plan, table, random);
    }
    for (uint32_t i = 0; status == STATUS_OK && i < plan->tune.steps; i++) {
        status = play_step(state, sum, i, plan, table, random);
    }
    if (status == STATUS_OK) {
        selftune_model(w, state, &plan->tune);
    }
    free(state);
    free(sum);
    return status;
}

/* The model without privacy: w (d + 1) out. */
static enum status play_freely(double *w, const struct rehearsal_table *table)
{
    const struct dataset data = {.record_count = table->rows,
                                 .feature_count = table->d + 1,
                                 .x = table->z,
                                 .y = table->lean};
    const struct rival_problem problem = {.kind = LABEL_SIGN, .outputs = 1, .data = &data};
    memset(w, 0, (table->d + 1) * sizeof *w);
    return rival_fit(w, &problem, FREE_PENALTY / (double)table->rows);
}

static double quantile_of(const double *sorted, size_t count, double q)
{
    const double place = q * (double)(count - 1);
    const size_t below = (size_t)place;
    const size_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

/* What a model does on one table: in expectation, and the deviation of what held-out records show. */
struct shown {
    double mean;
    double deviation;
};

/* The figure of all tables. x: (CHANCES count) scratch */
static struct rehearsal_figure figure_of(double *x, const struct shown *shown, size_t count)
{
    /* What a normal number is between with probability 1/9 each: their medians. */
    static const double chance[CHANCES] = {-1.593, -0.967, -0.589, -0.282, 0,
                                           0.282,  0.589,  0.967,  1.593};
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += shown[i].mean;
        x[i] = shown[i].mean;
    }
    qsort(x, count, sizeof *x, rehearsal_by_size);
    const double median = quantile_of(x, count, 0.5);
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        const double off = x[i] - sum / (double)count;
        squares += off * off;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < CHANCES; j++) {
            x[i * CHANCES + j] = shown[i].mean + chance[j] * shown[i].deviation;
        }
    }
    qsort(x, CHANCES * count, sizeof *x, rehearsal_by_size);
    /* One more table lies below the k-th smallest of n with chance k/(n + 1), and (k - 1/2)/n of their own mass does. */
    const double n = (double)count;
    const double edge = fmax(OUTSIDE * (n + 1) - 0.5, 0) / n;
    return (struct rehearsal_figure){.mean = sum / (double)count,
                                     .low = quantile_of(x, CHANCES * count, edge),
                                     .high = quantile_of(x, CHANCES * count, 1 - edge),
                                     .median = median,
                                     .error = sqrt(squares / (n * (n - 1)))};
}

/* A quarter of the learner's stand-in rows: the figures differ by less than those of other tables do. */
static size_t standin_rows(size_t d)
{
    return standin_count(d) / 4 > d ? standin_count(d) / 4 : d + 1;
}

/* As the plan with the most records has, up to a limit; then each stands for `labels` of them. Fewer labels than records
 * would teach the model without privacy their chance, and it would seem to gain less by it than it does. */
static size_t rows_of(size_t *labels, const struct rehearsal *plan, size_t count)
{
    const double most = fmin(ROWS_MOST, NUMBERS_MOST / ((double)plan->tune.feature_count + 1));
    double records = 0;
    for (size_t i = 0; i < count; i++) {
        records = fmax(records, plan[i].records);
    }
    const double labels_each = fmax(ceil(records / most), 1);
    *labels = (size_t)labels_each;
    return (size_t)(records / labels_each);
}

/* Of one table, roughly, from public sizes: no clock decides how many tables there are. */
static double operations(const struct rehearsal *plan, size_t count)
{
    const double width = (double)plan->tune.feature_count + 1;
    const double standin = (double)standin_rows(plan->tune.feature_count);
    size_t labels = 0;
    const double rows = (double)rows_of(&labels, plan, count);
    double sum = (rows + REHEARSAL_TEST_ROWS) * width * 60 + rows * width * width;
    for (size_t i = 0; i < count; i++) {
        sum += plan[i].tune.steps * (standin * width * (60 + 4 * width) + 6 * rows * width);
        sum += plan[i].tune.sight == SIGHT_PRODUCTS ? rows * width * width : 0;
    }
    return sum;
}

bool rehearsal_is_short(const struct rehearsal *plan, size_t count)
{
    return REHEARSAL_TABLES_MIN * operations(plan, count) <= OPERATIONS_MOST;
}

size_t rehearsal_prompt_tables(const struct rehearsal *plan)
{
    const double tables = fmin(OPERATIONS_SOON / operations(plan, 1), REHEARSAL_TABLES_MIN);
    return tables < REHEARSAL_TABLES_FEW ? 0 : (size_t)tables;
}

/* Where the rehearsal writes. */
struct stage_play {
    struct rehearsal_table table;
    struct standin rows;
    double *w;           /* (2, d + 1) the model, and the one without privacy */
    double *scratch;     /* (CHANCES tables) */
    struct shown *free;  /* (tables) */
    struct shown *shown; /* (count, 2, tables) accuracy, then points lost */
    size_t tables;
};

static void end_play(struct stage_play *play)
{
    rehearsal_table_free(&play->table);
    standin_free(&play->rows);
    free(play->w);
    free(play->scratch);
    free(play->free);
    *play = (struct stage_play){.w = NULL};
}

static enum status begin_play(struct stage_play *out, const struct rehearsal *plan, size_t count,
                              size_t tables)
{
    const size_t d = plan->tune.feature_count;
    *out = (struct stage_play){.tables = tables};
    out->w = calloc(2 * (d + 1), sizeof *out->w);
    out->scratch = calloc(CHANCES * tables, sizeof *out->scratch);
    out->free = calloc((2 * count + 1) * tables, sizeof *out->free);
    size_t labels = 0;
    const size_t rows = rows_of(&labels, plan, count);
    enum status status = out->w == NULL || out->scratch == NULL || out->free == NULL
                             ? STATUS_NO_MEMORY
                             : rehearsal_table_init(&out->table, d, rows, labels);
    if (status == STATUS_OK) {
        out->shown = out->free + tables;
        status = standin_init_rows(&out->rows, standin_rows(d), d, plan->tune.output_count,
                                   plan->tune.gaussian);
    }
    if (status != STATUS_OK) {
        end_play(out);
    }
    return status;
}

static struct shown shown_of(double mean, double variance, double held_out)
{
    return (struct shown){mean, sqrt(fmax(variance, 0) / held_out)};
}

/* All plans on table t, with the same draws behind their noise: they are to be compared. */
static enum status play_table(struct stage_play *out, size_t t, const struct rehearsal *plan,
                              size_t count, uint64_t seed)
{
    const size_t tables = out->tables;
    struct public_random random = public_random_from(seed + t);
    struct public_random drawn = public_random_from(public_random_next(&random));
    double *w = out->w;
    double *best = w + plan->tune.feature_count + 1;
    const double held_out = fmax(1, plan->records * HELD_OUT);
    enum status status = rehearsal_table_draw(&out->table, plan->schema, t, tables, &drawn);
    if (status == STATUS_OK) {
        status = play_freely(best, &out->table);
    }
    const double most = status == STATUS_OK ? rehearsal_table_accuracy(best, &out->table) : 0;
    out->free[t] = shown_of(most, most * (1 - most), held_out);
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        struct public_random noise = random;
        struct rehearsal own = plan[i];
        own.tune.rows = own.tune.gaussian == out->rows.gaussian ? &out->rows : NULL;
        status = play(w, &own, &out->table, &noise);
        const double right = status == STATUS_OK ? rehearsal_table_accuracy(w, &out->table) : 0;
        const double lost = most - right;
        struct shown *shown = out->shown + 2 * i * tables + t;
        shown[0] = shown_of(right, right * (1 - right), held_out);
        shown[tables] =
            shown_of(lost, rehearsal_table_differ(w, best, &out->table) - lost * lost, held_out);
    }
    return status;
}

enum status rehearsal_play(struct rehearsal_answer *answer, const struct rehearsal *plan,
                           size_t count, size_t tables_most, uint64_t seed)
{
    struct stage_play play;
    const double wanted = OPERATIONS / operations(plan, count);
    const size_t tables = (size_t)fmin(fmax(wanted, REHEARSAL_TABLES_MIN), (double)tables_most);
    enum status status = begin_play(&play, plan, count, tables);
    if (status != STATUS_OK) {
        return status;
    }
    for (size_t t = 0; status == STATUS_OK && t < tables; t++) {
        status = play_table(&play, t, plan, count, seed);
    }
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        const struct shown *shown = play.shown + 2 * i * tables;
        answer[i] =
            (struct rehearsal_answer){.accuracy = figure_of(play.scratch, shown, tables),
                                      .lost = figure_of(play.scratch, shown + tables, tables),
                                      .free = figure_of(play.scratch, play.free, tables),
                                      .tables = tables};
    }
    end_play(&play);
    return status;
}
