/* What answers by site are to tell, before anything is asked: of one site as large as the batch, by sampling and its own noise; and of
 * the mean over sites, if these are alike. */

#include "estimate/between.h"
#include "estimate/cells.h"
#include "query/query.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

/* Half of one site's interval, and what it is of. */
struct site_half {
    const char *of;
    const char *unit;
    double half;  /* NAN: not given */
    double range; /* of the unit */
};

struct asking {
    const struct query *query;
    double deviation; /* of the noise on a cell; unit: records */
    double records;
};

/* Sampling is the widest there is. A difference of two shares is twice as uncertain as a share. */
static struct site_half of_sums(const struct asking *asking)
{
    const struct query *query = asking->query;
    const bool is_mean = query->kind == QUERY_MEAN;
    const bool is_table = query->kind == QUERY_CROSSTAB;
    const double width = is_mean ? query->high - query->low : 1;
    const double noise = asking->deviation / asking->records;
    const double half = (is_table ? 2 : 1) * width *
                        hypot(ESTIMATE_Z / 2 / sqrt(asking->records), ESTIMATE_Z_NOISE * noise);
    return (struct site_half){is_mean    ? "the mean, of the widest spread"
                              : is_table ? "the shares' difference, if all cells are alike"
                                         : "the share, if half match",
                              is_mean ? query->column.name : "share",
                              noise > (is_table ? 0.1 / sqrt(2) : 0.2) ? NAN : half, width};
}

static struct site_half of_survival(const struct asking *asking)
{
    const struct query *query = asking->query;
    const double deviation = asking->deviation / query_survival_share(query);
    const struct survival_public known = {.records = asking->records,
                                          .groups = query_groups(query),
                                          .variance = deviation * deviation,
                                          .block = query->block};
    return (struct site_half){"a group's mean up to the end, if half die", query->column.name,
                              query->end * survival_expect(&known, query->intervals).mean,
                              query->end};
}

static struct site_half of_regress(const struct asking *asking)
{
    const struct query *query = asking->query;
    const double unit = query->family == REGRESS_LINEAR ? (query->high - query->low) / 2 : 1;
    struct query_regress regress;
    query_regress_design(&regress, query);
    const struct regress_expected expected =
        regress_expect(&regress.design, asking->records, asking->deviation * asking->deviation);
    return (struct site_half){
        query->variable[0].column.kind == COLUMN_NUMBER ? "the first column over half of its range"
                                                        : "the first column's second category",
        "coefficient", expected.factor < BETWEEN_DOUBT_MOST ? unit * expected.half : NAN, 5 * unit};
}

/* Of the first variable. */
static struct site_half of_table1(const struct asking *asking)
{
    const struct query *query = asking->query;
    const struct query_variable *variable = &query->variable[0];
    const bool is_number = variable->column.kind == COLUMN_NUMBER;
    const double one = ldexp(1, 20);
    const double part = (double)query_part_of(variable, (uint64_t)one) / one;
    const double deviation = asking->deviation / part;
    const struct table1_expected expected =
        table1_expect(&(struct table1_public){asking->records, 1, deviation * deviation}, is_number,
                      variable->levels);
    const double range = is_number ? variable->step[variable->levels - 1] - variable->step[0] : 1;
    return (struct site_half){is_number ? "the first column's mean, if values spread by a sixth of "
                                          "the range"
                                        : "a share of the first column",
                              is_number ? variable->column.name : "share",
                              range * (is_number ? expected.mean : expected.share), range};
}

static struct site_half half_of(const struct asking *asking)
{
    const enum query_kind kind = asking->query->kind;
    return kind == QUERY_SURVIVAL  ? of_survival(asking)
           : kind == QUERY_REGRESS ? of_regress(asking)
           : kind == QUERY_TABLE1  ? of_table1(asking)
                                   : of_sums(asking);
}

enum status query_terms_site(struct terms *terms, const struct query *query,
                             const struct query_noise *noise, double step,
                             const struct terms_sites *sites)
{
    const struct asking asking = {query, step * query_noise_deviation(noise), sites->records};
    const struct site_half own = half_of(&asking);
    struct terms_line *line = terms_add_line(terms);
    struct terms_line *joined = line != NULL ? terms_add_line(terms) : NULL;
    if (joined == NULL) {
        return STATUS_NO_MEMORY;
    }
    line = joined - 1;
    (void)snprintf(line->what, sizeof line->what, "%s: half of one site's 95 %% interval of %s",
                   query->text, own.of);
    (void)snprintf(line->unit, sizeof line->unit, "%s", own.unit);
    line->bar = own.half;
    line->noise_to_signal = isnan(own.half) ? 2 : own.half / own.range / (2 * TERMS_TENTH);
    line->measure = "half of the interval is a fifth of the range";
    *joined = *line;
    (void)snprintf(joined->what, sizeof joined->what,
                   "%s: the same of the mean over %zu sites, if these are alike", query->text,
                   sites->count);
    joined->bar = between_expect(own.half, sites->count);
    joined->noise_to_signal = isnan(joined->bar) ? 2 : joined->bar / own.range / (2 * TERMS_TENTH);
    return STATUS_OK;
}
