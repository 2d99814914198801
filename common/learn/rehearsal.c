/* rehearsal.c - the plan played on made-up tables, and the figures. A row stands for many records where a job has more of
 * them than a table has rows. Accuracies are expectations over the labels of test records, whose probabilities are known. */

#include "learn/rehearsal.h"

#include "learn/rehearsal_judge.h"
#include "learn/rehearsal_look.h"
#include "learn/rehearsal_step.h"
#include "learn/rehearsal_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 2000, ROWS_MOST_MANY = 1500, NUMBERS_MOST = 400000, CHANCES = 9 };

#define OPERATIONS      0.3e9 /* of one call, about */
#define OPERATIONS_SOON 1e9   /* half a second and less */
#define OPERATIONS_MOST 14e9  /* beyond it, a person would wait too long */
#define HELD_OUT                                                                                   \
    0.25 /* records to test on, over those that are learned from: a fifth of all, as `simulate` holds out */
#define OUTSIDE      0.05 /* what is beyond each end of a band */
#define OUTSIDE_MANY 0.02 /* of several classes, whose prior is the least sure: bands are wider */

/* Plays the plan: w (outputs, d + 1) out, its model. */
static enum status play(double *w, const struct rehearsal *plan,
                        const struct rehearsal_table *table, struct public_random *random)
{
    const struct selftune_number number = rehearsal_number(plan);
    const bool is_number = plan->kind == LABEL_NUMBER;
    const size_t states =
        is_number ? selftune_number_state_count(&number) : selftune_state_count(&plan->tune);
    const size_t width = table->d + 1;
    double *state = calloc(states, sizeof *state);
    double *sum = calloc(rehearsal_look_numbers(plan) + (table->outputs + 2) * width, sizeof *sum);
    enum status status = state == NULL || sum == NULL ? STATUS_NO_MEMORY
                         : is_number                  ? selftune_number_begin(state, &number)
                                                      : selftune_begin(state, &plan->tune);
    if (status == STATUS_OK) {
        status = rehearsal_look(state, sum, plan, table, random);
    }
    for (uint32_t i = 0; status == STATUS_OK && i < plan->tune.steps; i++) {
        status = rehearsal_step(state, sum, i, plan, table, random);
    }
    if (status == STATUS_OK) {
        selftune_model(w, state, &plan->tune);
    }
    free(state);
    free(sum);
    return status;
}

static double quantile_of(const double *sorted, size_t count, double q)
{
    const double place = q * (double)(count - 1);
    const size_t below = (size_t)place;
    const size_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

/* The figure of all tables, of what so many held-out records of one show. outside: of the band, at each end. x: (CHANCES count)
 * scratch */
static struct rehearsal_figure figure_of(double *x, const struct rehearsal_shown *shown,
                                         size_t count, double held_out, double outside)
{
    /* What a normal number is between with probability 1/9 each: their medians. */
    static const double chance[CHANCES] = {-1.593, -0.967, -0.589, -0.282, 0,
                                           0.282,  0.589,  0.967,  1.593};
    double sum = 0;
    if (isnan(shown[0].mean)) {
        return (struct rehearsal_figure){NAN, NAN, NAN, NAN, NAN};
    }
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
        const double deviation = sqrt(fmax(shown[i].variance, 0) / held_out);
        for (size_t j = 0; j < CHANCES; j++) {
            x[i * CHANCES + j] = shown[i].mean + chance[j] * deviation;
        }
    }
    qsort(x, CHANCES * count, sizeof *x, rehearsal_by_size);
    /* One more table lies below the k-th smallest of n with chance k/(n + 1), and (k - 1/2)/n of their own mass does. */
    const double n = (double)count;
    const double edge = fmax(outside * (n + 1) - 0.5, 0) / n;
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
    const double limit = plan->kind == LABEL_CLASSES ? ROWS_MOST_MANY : ROWS_MOST;
    const double most = fmin(limit, NUMBERS_MOST / ((double)plan->tune.feature_count + 1));
    double records = 0;
    for (size_t i = 0; i < count; i++) {
        records = fmax(records, plan[i].records);
    }
    const double labels_each = fmax(ceil(records / most), 1);
    *labels = (size_t)labels_each;
    return (size_t)(records / labels_each);
}

/* The cost of one table, roughly, from public sizes. No clock decides how many tables there are. */
static double operations(const struct rehearsal *plan, size_t count)
{
    const double width = (double)plan->tune.feature_count + 1;
    const double standin = (double)standin_rows(plan->tune.feature_count);
    size_t labels = 0;
    const double rows = (double)rows_of(&labels, plan, count);
    const double outputs = (double)plan->tune.output_count;
    const double fit = plan->kind == LABEL_CLASSES ? 150 * rows * width * outputs : 0;
    double sum = (rows + REHEARSAL_TEST_ROWS) * width * 60 + rows * width * width + fit;
    for (size_t i = 0; i < count; i++) {
        const double move = plan->kind == LABEL_NUMBER ? 30 : 60 + 4 * width;
        sum += plan[i].tune.steps * outputs * (standin * width * move + 6 * rows * width);
        sum += plan[i].tune.sight == SIGHT_PRODUCTS ? rows * width * width : 0;
        sum += plan->kind == LABEL_CLASSES ? 6 * rows * width * outputs : 0;
    }
    return sum;
}

bool rehearsal_is_short(const struct rehearsal *plan, size_t count)
{
    return REHEARSAL_TABLES_MIN * operations(plan, count) <= OPERATIONS_MOST;
}

size_t rehearsal_prompt_tables(const struct rehearsal *plan)
{
    const double tables = fmin(OPERATIONS_SOON / operations(plan, 1), REHEARSAL_TABLES_PROMPT);
    return tables < REHEARSAL_TABLES_FEW ? 0 : (size_t)tables;
}

/* Where the rehearsal writes. */
struct stage_play {
    struct rehearsal_table table;
    struct standin rows;
    double *w;                     /* (2, outputs, d + 1) the model, and the one without privacy */
    double *scratch;               /* (CHANCES tables) */
    struct rehearsal_shown *shown; /* (count + 1, PART_COUNT, tables) the last: without privacy */
    size_t tables;
};

static void end_play(struct stage_play *play)
{
    rehearsal_table_free(&play->table);
    standin_free(&play->rows);
    free(play->w);
    free(play->scratch);
    free(play->shown);
    *play = (struct stage_play){.w = NULL};
}

static enum status begin_play(struct stage_play *out, const struct rehearsal *plan, size_t count,
                              size_t tables)
{
    const size_t d = plan->tune.feature_count;
    const size_t outputs = plan->tune.output_count;
    *out = (struct stage_play){.tables = tables};
    out->table = (struct rehearsal_table){.kind = plan->kind, .outputs = outputs, .d = d};
    out->table.rows = rows_of(&out->table.labels, plan, count);
    out->w = calloc(2 * outputs * (d + 1), sizeof *out->w);
    out->scratch = calloc(CHANCES * tables, sizeof *out->scratch);
    out->shown = calloc((count + 1) * PART_COUNT * tables, sizeof *out->shown);
    enum status status = out->w == NULL || out->scratch == NULL || out->shown == NULL
                             ? STATUS_NO_MEMORY
                             : rehearsal_table_init(&out->table);
    if (status == STATUS_OK) {
        status = standin_init_rows(&out->rows, standin_rows(d), d, outputs, plan->tune.gaussian);
    }
    if (status != STATUS_OK) {
        end_play(out);
    }
    return status;
}

/* What is judged of a plan on table t, where it is kept: every part has all tables. */
static void keep(struct stage_play *out, size_t plan, size_t t, const struct rehearsal_shown *part)
{
    for (size_t p = 0; p < PART_COUNT; p++) {
        out->shown[(plan * PART_COUNT + p) * out->tables + t] = part[p];
    }
}

/* Plays all plans on table t with the same random draws, so that they can be compared. */
static enum status play_table(struct stage_play *out, size_t t, const struct rehearsal *plan,
                              size_t count, uint64_t seed)
{
    struct rehearsal_shown shown[PART_COUNT];
    struct public_random random = public_random_from(seed + t);
    struct public_random drawn = public_random_from(public_random_next(&random));
    double *w = out->w;
    double *best = w + out->table.outputs * (out->table.d + 1);
    enum status status = rehearsal_table_draw(&out->table, plan->schema, t, out->tables, &drawn);
    if (status == STATUS_OK) {
        status = rehearsal_free_model(best, plan, &out->table);
    }
    if (status == STATUS_OK) {
        rehearsal_judge(shown, best, best, plan, &out->table);
        keep(out, count, t, shown);
    }
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        struct public_random noise = random;
        struct rehearsal own = plan[i];
        own.tune.rows = own.tune.gaussian == out->rows.gaussian ? &out->rows : NULL;
        status = play(w, &own, &out->table, &noise);
        if (status == STATUS_OK) {
            rehearsal_judge(shown, w, best, &own, &out->table);
            keep(out, i, t, shown);
        }
    }
    return status;
}

static double outside_of(const struct stage_play *play)
{
    return play->table.kind == LABEL_CLASSES ? OUTSIDE_MANY : OUTSIDE;
}

/* plan: among those that are kept */
static struct rehearsal_figure told(const struct stage_play *play, size_t plan,
                                    enum rehearsal_part part, double records)
{
    struct rehearsal_figure figure =
        figure_of(play->scratch, play->shown + (plan * PART_COUNT + part) * play->tables,
                  play->tables, fmax(1, records * HELD_OUT), outside_of(play));
    if (part == PART_REACHED) {
        figure.low = fmax(figure.low, 0);
        figure.high = fmin(figure.high, 1);
    }
    return figure;
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
        const double records = plan[i].records;
        answer[i] =
            (struct rehearsal_answer){.reached = told(&play, i, PART_REACHED, records),
                                      .lost = told(&play, i, PART_LOST, records),
                                      .free = told(&play, count, PART_REACHED, records),
                                      .explained = told(&play, i, PART_EXPLAINED, records),
                                      .free_explained = told(&play, count, PART_EXPLAINED, records),
                                      .tables = tables,
                                      .inside = 1 - 2 * outside_of(&play)};
    }
    end_play(&play);
    return status;
}
