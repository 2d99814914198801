#include "learn/rehearsal_judge.h"

#include "learn/dense.h"
#include "learn/loss.h"
#include "learn/rival.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FREE_PENALTY 0.1  /* of the model without privacy, over the records */
#define FREE_ENOUGH  1e-5 /* of several classes, whose fit takes long */

/* Puts the constant where a part tau of the labels is below the model. */
static enum status move_to_quantile(double *w, double tau, const struct rehearsal_table *table)
{
    const size_t width = table->d + 1;
    const size_t count = table->rows * table->draws;
    double *off = malloc(count * sizeof *off);
    if (off == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        const double *z = table->z + i / table->draws * width;
        off[i] = table->y[i] - dense_dot(w, z, width);
    }
    qsort(off, count, sizeof *off, rehearsal_by_size);
    w[width - 1] += off[(size_t)(tau * (double)(count - 1))];
    free(off);
    return STATUS_OK;
}

enum status rehearsal_free_model(double *w, const struct rehearsal *plan,
                                 const struct rehearsal_table *table)
{
    const struct dataset data = {.record_count = table->rows,
                                 .feature_count = table->d + 1,
                                 .x = table->z,
                                 .y = table->lean};
    const struct rival_problem problem = {.kind = table->kind,
                                          .outputs = table->outputs,
                                          .data = &data,
                                          .share =
                                              table->kind == LABEL_CLASSES ? table->share : NULL,
                                          .enough = table->kind == LABEL_CLASSES ? FREE_ENOUGH : 0};
    memset(w, 0, table->outputs * (table->d + 1) * sizeof *w);
    const enum status status = rival_fit(w, &problem, FREE_PENALTY / (double)table->rows);
    return status == STATUS_OK && plan->loss.kind == LOSS_PINBALL
               ? move_to_quantile(w, plan->loss.parameter, table)
               : status;
}

static void judge_classes(struct rehearsal_shown *shown, const double *w, const double *best,
                          const struct rehearsal_table *table)
{
    const double right = rehearsal_table_accuracy(w, table);
    const double lost = w == best ? 0 : rehearsal_table_accuracy(best, table) - right;
    shown[PART_REACHED] = (struct rehearsal_shown){right, right * (1 - right)};
    shown[PART_LOST] =
        (struct rehearsal_shown){lost, rehearsal_table_differ(w, best, table) - lost * lost};
    shown[PART_EXPLAINED] = (struct rehearsal_shown){NAN, NAN};
}

/* Sums over labels of test rows. */
struct sums {
    double count;
    double sum;
    double square;
};

static void add(struct sums *sums, double x)
{
    sums->count++;
    sums->sum += x;
    sums->square += x * x;
}

static double mean_of(const struct sums *sums)
{
    return sums->sum / sums->count;
}

static double variance_of(const struct sums *sums)
{
    const double mean = mean_of(sums);
    return fmax(sums->square / sums->count - mean * mean, 0);
}

/* What a model costs at a label: its scores are held to the range, as those of results are. */
static double cost_of(const double *w, const double *z, double y, const struct rehearsal *plan)
{
    const double f = fmin(fmax(dense_dot(w, z, plan->tune.feature_count + 1), -1), 1);
    return plan->loss.kind == LOSS_PINBALL ? loss_value(plan->loss, f, y) : (f - y) * (f - y);
}

/* Both models' costs: means first, then the parts of which figures are made, whose variances chance has. A root's
 * derivative makes parts of squares. */
static void judge_number(struct rehearsal_shown *shown, const double *w, const double *best,
                         const struct rehearsal *plan, const struct rehearsal_table *table)
{
    const size_t first = table->rows * table->draws;
    const size_t end = first + REHEARSAL_TEST_ROWS * table->draws;
    const bool squared = plan->loss.kind != LOSS_PINBALL;
    struct sums label = {0};
    struct sums own = {0};
    struct sums other = {0};
    struct sums lost = {0};
    struct sums explained = {0};
    for (size_t i = first; i < end; i++) {
        const double *z = table->z + i / table->draws * (table->d + 1);
        add(&label, table->y[i]);
        add(&own, cost_of(w, z, table->y[i], plan));
        add(&other, cost_of(best, z, table->y[i], plan));
    }
    const double mine = squared ? sqrt(mean_of(&own)) : mean_of(&own);
    const double least = squared ? sqrt(mean_of(&other)) : mean_of(&other);
    const double by_own = squared ? 1 / (2 * fmax(mine, 1e-9)) : 1;
    const double by_other = squared ? 1 / (2 * fmax(least, 1e-9)) : 1;
    const double spread = fmax(variance_of(&label), 1e-12);
    const double rest = mean_of(&own) / spread;
    for (size_t i = first; i < end; i++) {
        const double *z = table->z + i / table->draws * (table->d + 1);
        const double off = table->y[i] - mean_of(&label);
        const double cost = cost_of(w, z, table->y[i], plan);
        add(&lost, by_own * cost - by_other * cost_of(best, z, table->y[i], plan));
        add(&explained, (cost - rest * off * off) / spread);
    }
    /* A range is 2 wide. */
    shown[PART_REACHED] =
        (struct rehearsal_shown){mine / 2, by_own * by_own * variance_of(&own) / 4};
    shown[PART_LOST] = (struct rehearsal_shown){(mine - least) / 2, variance_of(&lost) / 4};
    shown[PART_EXPLAINED] = squared ? (struct rehearsal_shown){1 - rest, variance_of(&explained)}
                                    : (struct rehearsal_shown){NAN, NAN};
}

void rehearsal_judge(struct rehearsal_shown *shown, const double *w, const double *best,
                     const struct rehearsal *plan, const struct rehearsal_table *table)
{
    if (table->kind == LABEL_NUMBER) {
        judge_number(shown, w, best, plan, table);
    } else {
        judge_classes(shown, w, best, table);
    }
}
