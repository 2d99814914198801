#include "learn/selftune_second.h"

#include "base/check.h"
#include "learn/selftune_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHARE_LEAST 0.01 /* of a class, where it is divided by */

/* The first look as it is kept: all numbers finite. */
struct told {
    double *records; /* (1) */
    double *chosen;  /* (1) how many columns the second look is at */
    double *noise;   /* (2) the deviations on a count, and on what is kept of a class */
    double *count;   /* (K) */
    double *kept;    /* (K) */
    double *sum;     /* (K, d) */
    double *sure;    /* (d) 1 over the variance of the noise on a column's sums; 0: none has told */
    double *part;    /* (d) */
};

size_t selftune_told_count(const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    const size_t classes = selftune_class_count(stage);
    return 4 + 2 * classes + classes * d + 2 * d;
}

static struct told told_of(double *at, const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    const size_t classes = selftune_class_count(stage);
    struct told told = {.records = at, .chosen = at + 1, .noise = at + 2, .count = at + 4};
    told.kept = told.count + classes;
    told.sum = told.kept + classes;
    told.sure = told.sum + classes * d;
    told.part = told.sure + d;
    return told;
}

/* 1 over the variance of the noise on a column's sums. */
static double sure_of(const struct selftune_look *look, size_t column)
{
    const double deviation = look->sum_deviation * selftune_factor(look->factor, column);
    return isinf(deviation) ? 0 : 1 / fmax(deviation * deviation, 1e-100);
}

static void keep(double *at, const struct selftune *stage, const struct selftune_look *look)
{
    const size_t d = stage->feature_count;
    const size_t classes = selftune_class_count(stage);
    const struct told told = told_of(at, stage);
    *told.records = look->record_count;
    told.noise[0] = look->count_deviation;
    told.noise[1] = look->kept_deviation;
    memcpy(told.count, look->count, classes * sizeof *told.count);
    memcpy(told.kept, look->kept, classes * sizeof *told.kept);
    memcpy(told.sum, look->sum, classes * d * sizeof *told.sum);
    for (size_t j = 0; j < d; j++) {
        told.sure[j] = sure_of(look, j);
        told.part[j] = look->part == NULL ? 1 : look->part[j];
    }
}

struct column {
    double unsure;
    size_t number;
};

static int by_unsure(const void *a, const void *b)
{
    const struct column *x = a;
    const struct column *y = b;
    return x->unsure > y->unsure ? -1 : x->unsure < y->unsure ? 1 : x->number < y->number ? -1 : 1;
}

/* How many of the columns, the least sure ones first, a second look should have. For a number that has yet the variance v a
 * look with noise s^2 tells v^2/(v + s^2), in expectation. */
static size_t best_count(const struct column *column, size_t d, size_t outputs, double contrast,
                         const struct selftune_second *second)
{
    double most = -1;
    size_t best = d;
    for (size_t k = 1; k <= d; k++) {
        const double groups = fmin(second->groups, (double)k);
        const double mean = second->deviation * ceil((double)k / groups);
        const double chance = (groups / second->part - 1) / second->records;
        const double noise = mean * mean * contrast + chance * (double)outputs;
        double told = 0;
        for (size_t i = 0; i < k; i++) {
            told += column[i].unsure * (column[i].unsure / fmax(column[i].unsure + noise, 1e-100));
        }
        if ((double)k >= fmin(second->groups, (double)d) && told > most) {
            most = told;
            best = k;
        }
    }
    return best;
}

enum status selftune_take_first(double *state, double *told, const struct selftune *stage,
                                const struct selftune_look *look,
                                const struct selftune_second *second)
{
    const size_t d = stage->feature_count;
    double unsure[SELFTUNE_FEATURES_MAX];
    struct column column[SELFTUNE_FEATURES_MAX];
    struct selftune_unsure left = {.column = unsure};
    CHECK(stage->sight == SIGHT_SUMS && stage->steps == 0 && d <= SELFTUNE_FEATURES_MAX);
    const enum status status = selftune_take_look_unsure(state, stage, look, &left);
    if (status != STATUS_OK) {
        return status;
    }
    keep(told, stage, look);
    for (size_t j = 0; j < d; j++) {
        column[j] = (struct column){unsure[j], j};
    }
    qsort(column, d, sizeof *column, by_unsure);
    const double kept = selftune_mean_kept(look, selftune_class_count(stage));
    const double contrast = left.contrast / (kept * kept);
    const struct selftune_parts parts = selftune_parts_of(state, stage);
    const size_t chosen = best_count(column, d, stage->output_count, contrast, second);
    *told_of(told, stage).chosen = (double)chosen;
    for (size_t i = chosen; i < d; i++) {
        parts.w[column[i].number] = 0;
    }
    return STATUS_OK;
}

size_t selftune_chosen(size_t *column, const double *shown, const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    const double *w = shown + selftune_shown_count(stage) - d;
    size_t count = 0;
    CHECK(stage->sight == SIGHT_SUMS);
    for (size_t j = 0; j < d; j++) {
        if (w[j] != 0) {
            column[count++] = j;
        }
    }
    return count;
}

size_t selftune_told_chosen(const double *told)
{
    return (size_t)selftune_between(told[1], 0, SELFTUNE_FEATURES_MAX);
}

/* Both looks as one. */
struct both {
    const struct told *first;
    const struct selftune_look *second;
    const double *mu;
    double records;
    double share[SELFTUNE_OUTPUTS_MAX];
    double kept_first; /* the mean share of a record that the clip leaves */
    double kept_second;
    double kept;
    double first_scale
        [SELFTUNE_OUTPUTS_MAX]; /* of a class's sums: from the share in the look to that in both */
    double second_scale[SELFTUNE_OUTPUTS_MAX];
    size_t classes;
    size_t d;
};

/* Sites that look in one round may have other shares of a class than all of them. Then a sum of their records is scaled to the
 * share of all, as far as the shares differ by more than their noise lets them. */
static double scale_of(double share, double count, double records, double deviation)
{
    const double noise = (deviation / records) * (deviation / records);
    const double off = count / records - share;
    const double spread = fmax(off * off - SELFTUNE_DIFFERS_LEAST * noise, 0);
    const double own = share + (spread > 0 ? off * (spread / (spread + noise)) : 0);
    return selftune_between(share / fmax(own, SHARE_LEAST), 1 / SELFTUNE_RESCALED_MOST,
                            SELFTUNE_RESCALED_MOST);
}

/* One column: its sums over all records as the first clip leaves them, weighted by what both looks are sure of. */
static void combine(double *sum, double *factor, double *part, const struct both *both, size_t j,
                    double base)
{
    const struct told *first = both->first;
    const struct selftune_look *second = both->second;
    const double first_more = both->records / *first->records;
    const double second_more = both->records / second->record_count;
    const double like = both->kept_first / both->kept_second;
    const double a = first->sure[j] / (first_more * first_more);
    const double b = sure_of(second, j) / (second_more * second_more * like * like);
    const double to = both->kept / both->kept_first;
    const double share = a + b > 0 ? a / (a + b) : 0;
    for (size_t c = 0; c < both->classes; c++) {
        const double middle = both->share[c] * both->records * both->mu[j] * both->kept_first;
        const double one = first->sum[c * both->d + j] * first_more * both->first_scale[c];
        const double two =
            second->sum[c * both->d + j] * second_more * like * both->second_scale[c] + middle;
        sum[c * both->d + j] = a + b > 0 ? to * (share * one + (b > 0 ? (1 - share) * two : 0)) : 0;
    }
    /* Chance moves the sums as it does those of fewer records, where these are weighted. */
    const double records_first = first->part[j] * *first->records;
    const double records_second =
        (second->part == NULL ? 1 : second->part[j]) * second->record_count;
    double chance = a > 0 ? share * share / fmax(records_first, 1e-9) : 0;
    chance += b > 0 ? (1 - share) * (1 - share) / fmax(records_second, 1e-9) : 0;
    *factor = a + b > 0 ? to / (sqrt(a + b) * base) : HUGE_VAL;
    *part = a + b > 0 ? fmin(1, 1 / (chance * both->records)) : 0;
}

/* value: (K d + 2 K + 2 d) */
static void make_look(struct selftune_look *out, double *value, struct both *both)
{
    const struct told *first = both->first;
    const struct selftune_look *second = both->second;
    const size_t d = both->d;
    double *sum = value + 2 * both->classes;
    double *factor = sum + both->classes * d;
    double whole = 0;
    for (size_t c = 0; c < both->classes; c++) {
        value[c] = first->count[c] + second->count[c];
        value[both->classes + c] = first->kept[c] + second->kept[c];
        both->share[c] = fmax(value[c] / both->records, SHARE_LEAST);
        whole += both->share[c];
    }
    for (size_t c = 0; c < both->classes; c++) {
        both->share[c] /= whole;
        both->first_scale[c] =
            scale_of(both->share[c], first->count[c], *first->records, first->noise[0]);
        both->second_scale[c] = scale_of(both->share[c], second->count[c], second->record_count,
                                         second->count_deviation);
    }
    *out =
        (struct selftune_look){.record_count = both->records,
                               .count = value,
                               .kept = value + both->classes,
                               .sum = sum,
                               .count_deviation = hypot(first->noise[0], second->count_deviation),
                               .kept_deviation = hypot(first->noise[1], second->kept_deviation),
                               .sum_deviation = fmax(second->sum_deviation, 1e-9),
                               .factor = factor,
                               .part = factor + d};
    both->kept = selftune_mean_kept(out, both->classes);
    for (size_t j = 0; j < d; j++) {
        combine(sum, factor + j, factor + d + j, both, j, out->sum_deviation);
    }
}

enum status selftune_take_second(double *state, const double *told, const struct selftune *stage,
                                 const struct selftune_look *look)
{
    const size_t d = stage->feature_count;
    const size_t classes = selftune_class_count(stage);
    const size_t count = selftune_told_count(stage);
    CHECK(count > 1);
    if (!selftune_look_is_good(look, stage) || !selftune_all_finite(told, count) ||
        !(told[0] >= 1)) {
        return STATUS_INVALID;
    }
    double *own = malloc((count + classes * d + 2 * classes + 2 * d) * sizeof *own);
    if (own == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(own, told, count * sizeof *own);
    const struct told first = told_of(own, stage);
    const struct selftune_look of_first = {
        .record_count = *first.records, .kept = first.kept, .kept_deviation = first.noise[1]};
    struct both both = {.first = &first,
                        .second = look,
                        .mu = selftune_parts_of(state, stage).mu,
                        .records = *first.records + look->record_count,
                        .kept_first = selftune_mean_kept(&of_first, classes),
                        .kept_second = selftune_mean_kept(look, classes),
                        .classes = classes,
                        .d = d};
    struct selftune_look whole;
    make_look(&whole, own + count, &both);
    const enum status status = selftune_take_look(state, stage, &whole);
    free(own);
    return status;
}
