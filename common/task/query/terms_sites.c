/* What answers by site are to tell, before anything is asked: of one site as large as the batch, by sampling and its own noise; and of
 * the mean over sites, if these are alike. */

#include "base/text.h"
#include "estimate/between.h"
#include "estimate/cells.h"
#include "query/query_between.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

static const double log_range = 5; /* that a ratio's logarithm is beside */

/* Half of one site's interval, and what it is of. */
struct site_half {
    const char *of;
    const char *more; /* behind it */
    const char *row;  /* of the question's table */
    const char *unit;
    double half;    /* NAN: not given */
    double range;   /* of the unit */
    double records; /* the fewest records of a site that is shown; NAN: no number is enough */
    bool is_apart;  /* sites are not joined, or without an interval */
    bool is_beside; /* another figure is the question's main one: this one warns of nothing */
    bool is_bound;  /* sampling is a bound: nothing is told of another site */
};

struct asking {
    const struct query_asking *one; /* site */
    size_t sites;
    bool is_confirmed; /* else there are no intervals */
};

static enum status fill(struct terms_line *line, const struct site_half *own, double half)
{
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    const double ratio = isnan(half) ? 2 : half / own->range / (2 * TERMS_TENTH);
    line->bar = half;
    line->noise_to_signal = own->is_beside ? 0 : ratio;
    line->measure = "half of the interval is a fifth of the range";
    return STATUS_OK;
}

/* One line in place of two. */
static enum status add_unconfirmed(const struct asking *asking, const struct site_half *own,
                                   const struct query_width *of_site)
{
    struct terms_line *line = query_add_width(
        asking->one, of_site,
        "one site's interval of %s%s, which no study has confirmed: the estimate stands alone",
        own->of, own->more);
    const enum status status = fill(line, own, NAN);
    if (status == STATUS_OK && !isnan(own->half)) {
        line->noise_to_signal = 0;
    }
    return status;
}

/* Why there may be no mean over sites. */
static const char *say_joined(const struct asking *asking, const struct site_half *own)
{
    return asking->sites < BETWEEN_SITES_MIN ? "; fewer than 3 sites are not joined"
           : isnan(own->half)                ? "; no site alone has enough records"
                                             : "";
}

static enum status add(const struct asking *asking, const struct site_half *own)
{
    const struct query_asking *one = asking->one;
    struct query_width width = {own->row,     TERMS_OF_SITE, own->unit,        "a site",
                                own->records, one->records,  !isnan(own->half)};
    if (!asking->is_confirmed) {
        return add_unconfirmed(asking, own, &width);
    }
    enum status status =
        fill(query_add_width(one, &width, "half of one site's 95 %% interval of %s%s", own->of,
                             own->more),
             own, own->half);
    if (status != STATUS_OK || own->is_apart) {
        return status;
    }
    width = (struct query_width){.row = own->row, .column = TERMS_OF_SITES, .unit = own->unit};
    status = fill(
        query_add_width(one, &width, "the same of the mean over %zu site%s, if these are alike%s",
                        asking->sites, text_plural_s(asking->sites), say_joined(asking, own)),
        own, between_expect(own->half, asking->sites));
    if (status != STATUS_OK || own->is_bound) {
        return status;
    }
    width.column = TERMS_OF_NEXT;
    return fill(query_add_width(one, &width, "the same of another such site, if these are alike%s",
                                say_joined(asking, own)),
                own, between_expect_next(own->half, asking->sites));
}

/* How many records a site needs for one of the question's effects. */
static double need(const struct asking *asking, size_t effect)
{
    return query_between_need(asking->one->query, effect,
                              asking->one->deviation * asking->one->deviation,
                              asking->one->records);
}

/* Sampling is the widest there is. A difference of two shares is twice as uncertain as a share. */
static enum status of_sums(const struct asking *asking)
{
    const struct query *query = asking->one->query;
    const bool is_mean = query->kind == QUERY_MEAN;
    const bool is_table = query->kind == QUERY_CROSSTAB;
    const double width = is_mean ? query->high - query->low : 1;
    const double noise = asking->one->deviation / asking->one->records;

    const double half =
        (is_table ? 2 : 1) * width *
        hypot(ESTIMATE_Z / 2 / sqrt(asking->one->records), ESTIMATE_Z_NOISE * noise);
    enum status status =
        add(asking, &(struct site_half){.of = is_mean    ? "the mean, of the widest spread"
                                              : is_table ? "the shares' difference, if all cells "
                                                           "are alike"
                                                         : "the share, if half match",
                                        .more = "",
                                        .row = is_mean    ? "mean"
                                               : is_table ? "difference of the shares"
                                                          : "share, if half match",
                                        .unit = is_mean ? query->column.name : "share",
                                        .half = asking->one->records < need(asking, 0) ? NAN : half,
                                        .range = width,
                                        .records = need(asking, 0),
                                        .is_bound = is_mean});
    if (status == STATUS_OK && is_table) {
        status =
            add(asking, &(struct site_half){.of = "the odds ratio's logarithm, likewise",
                                            .more = "",
                                            .row = "odds ratio's logarithm",
                                            .unit = "logarithm",
                                            .half = between_expect_odds(
                                                asking->one->records, query->cell_count,
                                                asking->one->deviation * asking->one->deviation),
                                            .range = log_range,
                                            .records = need(asking, 1),
                                            .is_beside = true});
    }
    return status;
}

static enum status of_survival(const struct asking *asking)
{
    const struct query *query = asking->one->query;
    const double deviation = asking->one->deviation / query_survival_share(query);
    const struct survival_public known = {.records = asking->one->records,
                                          .groups = query_groups(query),
                                          .variance = deviation * deviation,
                                          .block = query->block};
    const struct survival_expected expected = survival_expect(&known, query->intervals);
    const char *unit = query->column.name;
    const double end = query->end;
    const bool has_pair = known.groups > 1;
    const double hazards = has_pair ? between_expect_hazards(&known, query->intervals) : NAN;
    const double for_mean = need(asking, 0);
    const double for_median = (double)known.groups * expected.median_group;
    const double for_hazards = has_pair ? need(asking, known.groups + 1) : NAN;
    const struct site_half half[] = {
        {"a group's mean up to the end, if half die", "", "mean up to the end", unit,
         end * expected.mean, end, for_mean, true, false, false},
        {"a group's median, if three of four die", "", "median", unit, end * expected.median, end,
         for_median, true, true, false},
        {"the difference of two groups' means, if half die", "", "difference of two means", unit,
         sqrt(2) * end * expected.mean, end, for_mean, true, true, false},
        {"the hazard ratio's logarithm, likewise", "", "hazard ratio's logarithm", "logarithm",
         hazards, log_range, for_hazards, false, true, false},
    };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < (has_pair ? 4 : 2) && status == STATUS_OK; i++) {
        status = add(asking, &half[i]);
    }
    return status;
}

static enum status of_regress(const struct asking *asking)
{
    const struct query *query = asking->one->query;
    const double unit = query->family == REGRESS_LINEAR ? (query->high - query->low) / 2 : 1;
    struct query_regress regress;
    enum status status = STATUS_OK;
    query_regress_design(&regress, query);
    for (size_t i = 0; i < query->variable_count && status == STATUS_OK; i++) {
        const struct query_variable *variable = &query->variable[i];
        const double variance = asking->one->deviation * asking->one->deviation;
        const struct regress_expected expected =
            regress_expect(&regress.design, i, asking->one->records, variance);
        char row[TERMS_ROW_BYTES];
        query_name_term(row, variable);
        status = add(
            asking, &(struct site_half){
                        .of = variable->column.name,
                        .more = variable->column.kind == COLUMN_NUMBER ? " over half of its range"
                                                                       : "'s second category",
                        .row = row,
                        .unit = "coefficient",
                        .half = expected.factor < BETWEEN_DOUBT_MOST ? unit * expected.half : NAN,
                        .range = 5 * unit,
                        .records = regress_fewest(&regress.design, i, variance, BETWEEN_DOUBT_MOST),
                        .is_beside = i > 0});
    }
    return status;
}

static enum status of_variable(const struct asking *asking, const struct query_variable *variable,
                               bool is_first)
{
    const bool is_number = variable->column.kind == COLUMN_NUMBER;
    const double one = ldexp(1, 20);
    const double part = (double)query_part_of(variable, (uint64_t)one) / one;
    const double deviation = asking->one->deviation / part;
    const struct table1_expected expected =
        table1_expect(&(struct table1_public){asking->one->records, 1, deviation * deviation},
                      is_number, variable->levels);
    const double range = is_number ? variable->step[variable->levels - 1] - variable->step[0] : 1;
    char row[TERMS_ROW_BYTES];
    (void)snprintf(row, sizeof row, "%s of %.96s", is_number ? "mean" : "share of a category",
                   variable->column.name);
    struct site_half half = {
        .row = row,
        .of = variable->column.name,
        .more = is_number ? ", its mean, if values spread by a sixth of the range" : ", a share",
        .unit = is_number ? variable->column.name : "share",
        .half = range * (is_number ? expected.mean.half : expected.share.half),
        .range = range,
        .records = is_number ? expected.mean.group : expected.share.group,
        .is_beside = !is_first};
    enum status status = add(asking, &half);
    if (status == STATUS_OK && is_number) {
        (void)snprintf(row, sizeof row, "median of %.96s", variable->column.name);
        half.more = ", its median, likewise";
        half.half = range * expected.median.half;
        half.records = expected.median.group;
        half.is_apart = true;
        half.is_beside = true;
        status = add(asking, &half);
    }
    return status;
}

static enum status of_table1(const struct asking *asking)
{
    const struct query *query = asking->one->query;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < query->variable_count && status == STATUS_OK; i++) {
        status = of_variable(asking, &query->variable[i], i == 0);
    }
    return status;
}

enum status query_terms_site(const struct query_asking *asking, size_t sites)
{
    const struct asking of_sites = {asking, sites,
                                    query_between_is_confirmed(asking->query, asking->noise)};
    const enum query_kind kind = asking->query->kind;
    return kind == QUERY_SURVIVAL  ? of_survival(&of_sites)
           : kind == QUERY_REGRESS ? of_regress(&of_sites)
           : kind == QUERY_TABLE1  ? of_table1(&of_sites)
                                   : of_sums(&of_sites);
}
