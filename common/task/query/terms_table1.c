/* What a Table 1 is to tell, before anything is asked. */

#include "estimate/table1.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

enum { FIGURES = 4, OF_BYTES = 160 };

static double range_of(const struct query_variable *variable)
{
    return variable->column.kind == COLUMN_NUMBER
               ? variable->step[variable->levels - 1] - variable->step[0]
               : 1;
}

/* For a number all figures, of categories the share; the first one with what is taken of the values. */
static enum status describe_figures(const struct query_asking *asking,
                                    const struct query_variable *variable,
                                    const struct table1_expected *expected,
                                    const struct query_group *group)
{
    static const char measure[] = "half of the interval is a tenth of the range";
    const bool is_number = variable->column.kind == COLUMN_NUMBER;
    const double range = range_of(variable);
    const struct {
        const char *of;
        struct table1_half half;
        bool is_beside;
    } figure[FIGURES] = {{is_number ? "mean" : "share of a category",
                          is_number ? expected->mean : expected->share, false},
                         {"standard deviation", expected->deviation, true},
                         {"median", expected->median, false},
                         {"lower or upper quartile", expected->quartile, true}};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < (is_number ? FIGURES : 1) && status == STATUS_OK; i++) {
        const struct table1_half *own = &figure[i].half;
        char row[OF_BYTES];
        const char *values = !is_number ? ""
                             : i == 0   ? ", if values spread by a sixth of the range"
                                        : ", likewise";
        (void)snprintf(row, sizeof row, "%s of %s",
                       is_number ? figure[i].of : "share of a category", variable->column.name);
        const struct query_half half = {.row = row,
                                        .unit = is_number ? variable->column.name : "share",
                                        .measure =
                                            is_number ? measure : "half of the interval is a tenth",
                                        .width = own->half * range,
                                        .most = TERMS_TENTH * range,
                                        .needs = own->group,
                                        .is_beside = figure[i].is_beside};
        status = query_add_half(asking, &half, group, "%s of %s%s%s", figure[i].of,
                                variable->column.name, group->where, values);
    }
    return status;
}

/* Groups that are alike; one that has a tenth of all records, as groups are seldom alike; and all together. */
static enum status describe_groups(const struct query_asking *asking,
                                   const struct query_variable *variable,
                                   const struct table1_public *known)
{
    const bool is_number = variable->column.kind == COLUMN_NUMBER;
    const double count = (double)known->groups;
    const double n = known->records;
    const struct table1_public small = {n * count / 10, known->groups, known->variance};
    const struct {
        struct query_group group;
        struct table1_expected expected;
    } told[] = {{{known->groups > 1 ? " in a group, if all are alike" : "", n / count, false,
                  "a group", known->groups > 1 ? TERMS_OF_ALIKE : TERMS_OF_ALL},
                 table1_expect(known, is_number, variable->levels)},
                {{" in a group of a tenth of the records", n / 10, true, "a group", TERMS_OF_SMALL},
                 table1_expect(&small, is_number, variable->levels)},
                {{" in all groups together", n, true, "that", TERMS_OF_ALL},
                 table1_expect_all(known, is_number, variable->levels)}};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < (known->groups > 1 ? 3 : 1) && status == STATUS_OK; i++) {
        status = describe_figures(asking, variable, &told[i].expected, &told[i].group);
    }
    return status;
}

static enum status describe_sizes(const struct query_asking *asking,
                                  const struct table1_block *block)
{
    const struct query *query = asking->query;
    const size_t groups = query_groups(query);
    const struct table1_counted size =
        table1_expect_count(block, query->variable_count, groups, query->variable_count);
    const struct query_counted of_group = {"records", groups > 1 ? "a group" : "that", size.group,
                                           groups > 1 ? TERMS_OF_ALIKE : TERMS_OF_ALL};
    const struct query_counted of_all = {"records", "that", size.all, TERMS_OF_ALL};
    const enum status status = query_add_count(asking, &of_group, "the number of records %s",
                                               groups > 1 ? "of a group" : "that are in the table");
    return status == STATUS_OK && groups > 1
               ? query_add_count(asking, &of_all, "the number of records of all groups together")
               : status;
}

/* The cells of a variable, and the numbers of records that are made of them. */
static enum status describe_cells(const struct query_asking *asking,
                                  const struct table1_block *block, size_t at, double bar)
{
    const struct query *query = asking->query;
    const struct query_variable *variable = &query->variable[at];
    const size_t groups = query_groups(query);
    const bool is_number = variable->column.kind == COLUMN_NUMBER;
    const struct table1_counted count =
        table1_expect_count(block, query->variable_count, groups, at);
    const char *where[] = {groups > 1 ? " in a group" : "", " in all groups together"};
    const double half[] = {count.group, count.all};
    enum status status = STATUS_OK;
    struct terms_line *cell = query_add_cell(
        asking, is_number ? "values spread by a sixth of their range" : NULL,
        "each of %zu cells of %s", query_variable_cells(query, variable), variable->column.name);
    if (cell == NULL) {
        return STATUS_NO_MEMORY;
    }
    cell->noise = sqrt(block[at].variance);
    cell->bar = bar;
    for (size_t i = 0; i < (groups > 1 ? 2 : 1) && status == STATUS_OK; i++) {
        char row[OF_BYTES];
        (void)snprintf(row, sizeof row, "records %s%s",
                       is_number ? "without " : "of a category of ", variable->column.name);
        const struct query_counted counted = {row, "that", half[i],
                                              i == 0 && groups > 1 ? TERMS_OF_ALIKE : TERMS_OF_ALL};
        status =
            query_add_count(asking, &counted, "the number of records %s%s%s%s",
                            is_number ? "in which " : "of a category of ", variable->column.name,
                            is_number ? " is missing" : ", or in which it is missing", where[i]);
    }
    return status;
}

enum status query_terms_table1(const struct query_asking *asking)
{
    const struct query *query = asking->query;
    struct table1_block block[QUERY_VARIABLES_MAX];
    double part[QUERY_VARIABLES_MAX] = {0};
    for (size_t i = 0; i < query->variable_count; i++) {
        part[i] = (double)query_part_of(&query->variable[i], (uint64_t)(1 / asking->step));
        const double deviation = query_noise_deviation(asking->noise) / part[i];
        block[i] = (struct table1_block){.levels = query->variable[i].levels,
                                         .variance = deviation * deviation};
    }
    enum status status = describe_sizes(asking, block);
    for (size_t i = 0; i < query->variable_count && status == STATUS_OK; i++) {
        status = describe_cells(asking, block, i,
                                query_noise_bar(asking->noise, 0, TERMS_BAR_MISSES) / part[i]);
        if (status == STATUS_OK) {
            status = describe_groups(
                asking, &query->variable[i],
                &(struct table1_public){asking->records, query_groups(query), block[i].variance});
        }
    }
    return status;
}
