/* What a Table 1 is to tell, before anything is asked. */

#include "estimate/table1.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

/* Besides the mean, of a number. */
static enum status describe_spread(struct terms *terms, const struct query *query,
                                   const struct query_variable *variable,
                                   const struct table1_expected *expected)
{
    static const char measure[] = "half of the interval is a tenth of the range";
    const double range = variable->step[variable->levels - 1] - variable->step[0];
    const char *unit = variable->column.name;
    const double most = TERMS_TENTH * range;
    const struct query_half half[] = {
        {"standard deviation, likewise", unit, measure, expected->deviation.half * range, most,
         expected->deviation.group, true},
        {"median, likewise", unit, measure, expected->median.half * range, most,
         expected->median.group, false},
        {"lower or upper quartile, likewise", unit, measure, expected->quartile.half * range, most,
         expected->quartile.group, true}};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof half / sizeof half[0] && status == STATUS_OK; i++) {
        status = query_add_half(terms, query, &half[i]);
    }
    return status;
}

/* Of a group that has a tenth of all records, as groups are seldom alike. */
static enum status describe_small(struct terms *terms, const struct query *query,
                                  const struct query_variable *variable, double records,
                                  double deviation)
{
    const bool is_number = variable->column.kind == COLUMN_NUMBER;
    const size_t groups = query_groups(query);
    const struct table1_expected expected =
        table1_expect(&(struct table1_public){.records = records * (double)groups / 10,
                                              .groups = groups,
                                              .variance = deviation * deviation},
                      is_number, variable->levels);
    const struct table1_half *own = is_number ? &expected.mean : &expected.share;
    const double range = is_number ? variable->step[variable->levels - 1] - variable->step[0] : 1;
    return query_add_half(
        terms, query,
        &(struct query_half){.of = is_number ? "mean in a group of a tenth of the records"
                                             : "share in a group of a tenth of the records",
                             .unit = is_number ? variable->column.name : "share",
                             .measure = "half of the interval is a tenth of the range",
                             .width = own->half * range,
                             .most = TERMS_TENTH * range,
                             .group = own->group,
                             .is_beside = true});
}

/* Of each variable the answer that needs most: a share, or a mean; groups alike. */
enum status query_terms_table1(struct terms *terms, const struct query *query,
                               const struct query_noise *noise, double step, double records)
{
    const double one = 1 / step;
    for (size_t i = 0; i < query->variable_count; i++) {
        const struct query_variable *variable = &query->variable[i];
        const bool is_number = variable->column.kind == COLUMN_NUMBER;
        const double part = (double)query_part_of(variable, (uint64_t)one);
        const double deviation = query_noise_deviation(noise) / part;
        const struct table1_expected expected =
            table1_expect(&(struct table1_public){.records = records,
                                                  .groups = query_groups(query),
                                                  .variance = deviation * deviation},
                          is_number, variable->levels);
        struct terms_line *cell = terms_add_line(terms);
        struct terms_line *line = cell != NULL ? terms_add_line(terms) : NULL;
        char group[64];
        if (line == NULL) {
            return STATUS_NO_MEMORY;
        }
        cell = line - 1;
        (void)snprintf(cell->what, sizeof cell->what, "%s: each of %zu cells of %s", query->text,
                       query_variable_cells(query, variable), variable->column.name);
        (void)snprintf(cell->unit, sizeof cell->unit, "records");
        cell->noise = deviation;
        cell->bar = query_noise_bar(noise, 0, TERMS_BAR_MISSES) / part;
        const struct table1_half *main = is_number ? &expected.mean : &expected.share;
        query_say_group(group, main->group);
        const double range =
            is_number ? variable->step[variable->levels - 1] - variable->step[0] : 1;
        (void)snprintf(
            line->what, sizeof line->what,
            "%s: half of the 95 %% interval of %s, if all groups are alike; %s", query->text,
            is_number ? "a mean of values that spread by a sixth of the range" : "a share", group);
        (void)snprintf(line->unit, sizeof line->unit, "%s",
                       is_number ? variable->column.name : "share");
        line->bar = main->half * range;
        line->noise_to_signal = isnan(main->half) ? 2 : main->half / TERMS_TENTH;
        line->measure = is_number ? "half of the interval is a tenth of the range"
                                  : "half of the interval is a tenth";
        enum status status =
            is_number ? describe_spread(terms, query, variable, &expected) : STATUS_OK;
        if (status == STATUS_OK && query_groups(query) > 1) {
            status = describe_small(terms, query, variable, records, deviation);
        }
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}
