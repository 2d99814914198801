#include "task/learn/look.h"

#include "learn/selftune_second.h"

#include "job/round.h"

#include <math.h>
#include <string.h>

#define SHARE_LITTLE 1e-3 /* of a class, where it is divided by */

size_t learn_look_numbers(const struct stage *stage)
{
    return learn_class_count(stage) + learn_kept_count(stage) + learn_sum_count(stage) +
           learn_product_count(stage) + 2 * learn_column_count(stage);
}

/* Where a look's numbers go. */
struct reading {
    const struct stage *stage;
    struct learn_stage own;               /* as it is in this look */
    size_t column[SELFTUNE_FEATURES_MAX]; /* what it is at */
    size_t columns;
    const struct learn_summed *summed;
    double unit;
    double *sum;
    double *product;
    double *factor;
    double *part;
    double sum_deviation;
    double count_deviation; /* of the noise on a class's count of all sites */
};

/* All sites have looked at all columns. */
static void read_all(const struct reading *to, const int64_t *from)
{
    const struct learn_weights *weights = &to->own.weights;
    const size_t sums = learn_sum_count(to->stage);
    const size_t products = learn_product_count(to->stage);
    for (size_t i = 0; i < sums; i++) {
        to->sum[i] = (double)from[i] * to->unit / weights->sum;
    }
    for (size_t i = 0; i < products; i++) {
        to->product[i] = (double)from[sums + i] * to->unit / weights->product;
    }
    for (size_t j = 0; j < learn_column_count(to->stage); j++) {
        to->factor[j] = 1;
        to->part[j] = 1;
    }
}

/* What agents say of their group is held to what there is. */
struct group {
    const int64_t *own; /* counts, what the clip keeps, sums */
    double records;     /* 0: nobody has told of it */
    double sites;
};

static struct group group_of(const struct reading *to, const struct round_groups *groups, size_t g)
{
    const int64_t *tally = to->summed->sum + groups->count * groups->own + 2 * g;
    const double records = fmin((double)tally[0], to->summed->records);
    const double sites = fmin((double)tally[1], to->summed->sites);
    const bool told = records >= 1 && sites >= 1;
    return (struct group){.own = to->summed->sum + g * groups->own,
                          .records = told ? records : 0,
                          .sites = told ? sites : 0};
}

/* For each class: its share of all records, and the variance of its shares of the groups'. */
struct shares {
    double share[SELFTUNE_OUTPUTS_MAX];
    double spread[SELFTUNE_OUTPUTS_MAX];
    double weight[SELFTUNE_OUTPUTS_MAX]; /* in what tells the classes apart; together above 0 */
};

/* What a group's sums are multiplied by, and what that makes of their noise. */
struct told {
    double more;   /* all records over the group's */
    double scaled; /* mean square of what else the classes' sums are multiplied by */
    double weight; /* sum of the classes' weights in it */
    double unsure; /* sum of the variances of the group's shares */
};

static double share_of(const struct reading *to, const struct group *group, size_t class)
{
    const double weight = to->own.weights.count;
    return (double)group->own[class] * to->unit / weight / group->records;
}

/* The variance of the noise on a group's share of a class. */
static double share_noise(const struct reading *to, const struct group *group)
{
    const double one = to->count_deviation / group->records;
    return one * one * group->sites / to->summed->sites;
}

/* By how much more the groups' shares of a class differ than their noise lets them: a variance. */
static double spread_of(const struct reading *to, const struct round_groups *groups, size_t class,
                        double share)
{
    double square = 0;
    double told = 0;
    for (size_t g = 0; g < groups->count; g++) {
        const struct group group = group_of(to, groups, g);
        if (group.records > 0) {
            const double off = share_of(to, &group, class) - share;
            square += off * off - SELFTUNE_DIFFERS_LEAST * share_noise(to, &group);
            told++;
        }
    }
    return fmax(square / fmax(told, 1), 0);
}

/* Sites may have other shares of a class than all of them together. Then a sum of its records is scaled to what it would be of
 * the share of all. Shares that differ by noise alone are taken to be alike. unsure: out, the variance of a group's share. */
static double rescaled(double *unsure, const struct reading *to, const struct group *group,
                       size_t class, const struct shares *shares)
{
    const double share = shares->share[class];
    const double spread = shares->spread[class];
    const double noise = share_noise(to, group);
    const double part = spread > 0 ? spread / (spread + noise) : 0;
    const double own = share + part * (share_of(to, group, class) - share);
    const double ratio = share / fmax(own, SHARE_LITTLE);
    *unsure = part * noise;
    return share > SHARE_LITTLE
               ? fmin(fmax(ratio, 1 / SELFTUNE_RESCALED_MOST), SELFTUNE_RESCALED_MOST)
               : 1;
}

/* How much larger the noise on what tells classes apart is. Where a group's shares are not known well, a column's mean is taken
 * for a difference of classes: it counts as noise. */
static double factor_of(const struct reading *to, const struct group *group, size_t column,
                        const struct told *told)
{
    const struct learn_stage *own = &to->own;
    const double classes = (double)learn_class_count(to->stage);
    double mean = 0;
    for (size_t c = 0; c < learn_class_count(to->stage); c++) {
        mean += to->sum[c * own->tune.feature_count + column] / to->summed->records;
    }
    mean = fmin(fabs(mean), 1);
    const double plain = told->more * sqrt(group->sites / to->summed->sites * told->scaled);
    const double mistaken = mean * sqrt(told->unsure / classes) * to->summed->records /
                            fmax(to->sum_deviation * sqrt(told->weight / classes), 1e-9);
    return sqrt(plain * plain + mistaken * mistaken);
}

static void read_group(const struct reading *to, const struct group *group, size_t g,
                       const struct shares *shares)
{
    struct told all = {.more = 0};
    const struct learn_stage *own = &to->own;
    const size_t d = own->tune.feature_count;
    const size_t mine = learn_own_columns(own);
    const size_t classes = learn_class_count(to->stage);
    const int64_t *from = group->own + classes + learn_kept_count(to->stage);
    const bool told = group->records > 0;
    all.more = told ? to->summed->records / group->records : 0;
    for (size_t c = 0; c < classes; c++) {
        double unsure = 0;
        const double ratio = told ? rescaled(&unsure, to, group, c, shares) : 0;
        const double weight = shares->weight[c];
        const double scale = all.more * ratio;
        all.scaled += weight * ratio * ratio;
        all.weight += weight;
        all.unsure += unsure;
        for (size_t i = 0, at = g; at < to->columns; i++, at += own->groups) {
            const size_t j = to->column[at];
            to->sum[c * d + j] = scale * (double)from[c * mine + i] * to->unit / own->weights.sum;
        }
    }
    all.scaled /= all.weight;
    for (size_t at = g; at < to->columns; at += own->groups) {
        const size_t j = to->column[at];
        to->factor[j] = told ? factor_of(to, group, j, &all) : HUGE_VAL;
        to->part[j] = told ? group->records / to->summed->records : 0;
    }
}

static void read_groups(const struct reading *to, const struct round_groups *groups)
{
    const size_t d = to->own.tune.feature_count;
    memset(to->sum, 0, learn_sum_count(to->stage) * sizeof *to->sum);
    for (size_t j = 0; j < d; j++) {
        to->factor[j] = HUGE_VAL; /* what the look is not at */
        to->part[j] = 0;
    }
    const size_t classes = learn_class_count(to->stage);
    struct shares shares = {.share = {0}};
    double records = 0;
    double whole = 0;
    for (size_t g = 0; g < groups->count; g++) {
        const struct group group = group_of(to, groups, g);
        records += group.records;
        for (size_t c = 0; group.records > 0 && c < classes; c++) {
            shares.share[c] += share_of(to, &group, c) * group.records;
        }
    }
    for (size_t c = 0; c < classes; c++) {
        shares.share[c] = fmin(fmax(shares.share[c] / fmax(records, 1), 0), 1);
        shares.spread[c] = spread_of(to, groups, c, shares.share[c]);
        whole += shares.share[c];
    }
    /* Noise may give every class all of the records: such shares are parts of their sum, or no class would weigh anything. */
    for (size_t c = 0; c < classes; c++) {
        const double rest = 1 - shares.share[c] / fmax(whole, 1);
        shares.weight[c] = rest * rest;
    }
    for (size_t g = 0; g < groups->count; g++) {
        const struct group group = group_of(to, groups, g);
        read_group(to, &group, g, &shares);
    }
}

/* For two looks: who has looked in this one. */
static struct learn_summed lookers_of(const struct stage *stage, const struct learn_summed *summed)
{
    const struct round_groups groups = round_groups(stage, summed->within);
    struct learn_summed told = *summed;
    if (stage->turns == 0) {
        return told;
    }
    told.records = 0;
    told.sites = 0;
    const struct reading to = {.summed = summed};
    for (size_t g = 0; g < groups.count; g++) {
        const struct group group = group_of(&to, &groups, g);
        told.records += group.records;
        told.sites += group.sites;
    }
    told.records = fmin(fmax(told.records, 1), summed->records); /* nobody: no column is told of */
    told.sites = fmin(fmax(told.sites, 1), summed->sites);
    told.deviation *= sqrt(told.sites / summed->sites);
    return told;
}

/* What the look is at: the second of two at the columns that the first one has chosen. */
static void take_columns(struct reading *to)
{
    struct learn_stage *own = &to->own;
    *own = learn_at(own, to->summed->within);
    if (own->groups_second > 0 && to->summed->within > 0) {
        to->columns = selftune_chosen(to->column, to->summed->shown, &own->tune);
        own->weights.sum = learn_second_sum(to->stage, to->columns);
        return;
    }
    to->columns = own->tune.feature_count;
    for (size_t j = 0; j < to->columns; j++) {
        to->column[j] = j;
    }
}

void learn_read_look(struct selftune_look *out, double *value, const struct stage *stage,
                     const struct learn_summed *whole_sum)
{
    const struct learn_summed lookers = lookers_of(stage, whole_sum);
    const struct learn_summed *summed = &lookers;
    const struct learn_stage *own = learn_stage(stage);
    const size_t classes = learn_class_count(stage);
    const size_t kept = learn_kept_count(stage);
    const double unit = ldexp(1, -(int)own->look_bits);
    const double noise = summed->deviation * unit;
    double *sum = value + classes + kept;
    double *product = sum + learn_sum_count(stage);
    struct reading to = {.stage = stage,
                         .own = *own,
                         .summed = summed,
                         .unit = unit,
                         .sum = sum,
                         .product = product,
                         .factor = product + learn_product_count(stage),
                         .part = product + learn_product_count(stage) + learn_column_count(stage),
                         .count_deviation = classes > 0 ? noise / own->weights.count : 0};
    take_columns(&to);
    const struct learn_weights *weights = &to.own.weights;
    to.sum_deviation = noise / weights->sum;
    const struct round_groups groups = round_groups(stage, summed->within);
    for (size_t i = 0; i < classes + kept; i++) {
        double whole = 0;
        for (size_t g = 0; g < groups.count; g++) {
            whole += (double)summed->sum[g * groups.own + i];
        }
        value[i] = whole * unit / (i < classes ? weights->count : weights->kept);
    }
    if (groups.count > 1) {
        read_groups(&to, &groups);
    } else {
        read_all(&to, summed->sum + classes + kept);
    }
    *out = (struct selftune_look){
        .record_count = summed->records,
        .count = value,
        .kept = kept > 0 ? value + classes : NULL,
        .sum = sum,
        .product = product,
        .factor = to.factor,
        .part = to.part,
        .count_deviation = to.count_deviation,
        .kept_deviation = kept > 0 ? noise / weights->kept : 0,
        .sum_deviation = noise / weights->sum,
        .product_deviation = learn_product_count(stage) > 0 ? noise / weights->product : 0};
}

size_t learn_told_count(const struct stage *stage)
{
    return stage->turns > 0 ? selftune_told_count(&learn_stage(stage)->tune) : 0;
}

/* What is known of the second look when the first one closes: those that have answered and not looked will look. */
static struct selftune_second second_of(const struct stage *stage,
                                        const struct learn_summed *summed,
                                        const struct selftune_look *look)
{
    const struct learn_stage *own = learn_stage(stage);
    const struct learn_summed lookers = lookers_of(stage, summed);
    const double records = fmax(summed->records - look->record_count, 1);
    const double sites = fmax(summed->sites - lookers.sites, 1);
    const double groups = fmin(own->groups_second, sites);
    const double one = summed->deviation * ldexp(1, -(int)own->look_bits) / sqrt(summed->sites);
    return (struct selftune_second){.records = records + look->record_count,
                                    .part = records / (records + look->record_count),
                                    .groups = groups,
                                    .deviation = one * sqrt(sites * groups) / records /
                                                 learn_second_sum(stage, 1)};
}

enum status learn_take_look(double *state, double *told, double *value, const struct stage *stage,
                            const struct learn_summed *summed)
{
    const struct selftune *tune = &learn_stage(stage)->tune;
    struct selftune_look look;
    learn_read_look(&look, value, stage, summed);
    if (stage->turns == 0) {
        return selftune_take_look(state, tune, &look);
    }
    if (summed->within > 0) {
        return selftune_take_second(state, told, tune, &look);
    }
    const struct selftune_second second = second_of(stage, summed, &look);
    return selftune_take_first(state, told, tune, &look, &second);
}
