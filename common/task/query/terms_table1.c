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
static enum status describe_figures(struct terms *terms, const struct query *query,
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
                          is_number ? expected->mean : expected->share, group->is_beside},
                         {"standard deviation", expected->deviation, true},
                         {"median", expected->median, group->is_beside},
                         {"lower or upper quartile", expected->quartile, true}};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < (is_number ? FIGURES : 1) && status == STATUS_OK; i++) {
        const struct table1_half *own = &figure[i].half;
        char of[OF_BYTES];
        char row[OF_BYTES];
        const char *values = !is_number ? ""
                             : i == 0   ? ", if values spread by a sixth of the range"
                                        : ", likewise";
        (void)snprintf(of, sizeof of, "%s of %s%s%s", figure[i].of, variable->column.name,
                       group->where, values);
        (void)snprintf(row, sizeof row, "%s of %s",
                       is_number ? figure[i].of : "share of a category", variable->column.name);
        status = query_add_half(
            terms, query,
            &(struct query_half){.of = of,
                                 .unit = is_number ? variable->column.name : "share",
                                 .measure = is_number ? measure : "half of the interval is a tenth",
                                 .width = own->half * range,
                                 .most = TERMS_TENTH * range,
                                 .group = own->group,
                                 .is_beside = figure[i].is_beside,
                                 .has = group->has,
                                 .who = group->who,
                                 .row = row,
                                 .column = group->column});
    }
    return status;
}

/* Groups that are alike; one that has a tenth of all records, as groups are seldom alike; and all together. */
static enum status describe_groups(struct terms *terms, const struct query *query,
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
        status = describe_figures(terms, query, variable, &told[i].expected, &told[i].group);
    }
    return status;
}

static enum status describe_sizes(struct terms *terms, const struct query *query,
                                  const struct table1_block *block, double records)
{
    const size_t groups = query_groups(query);
    const struct table1_counted size =
        table1_expect_count(block, query->variable_count, groups, query->variable_count);
    enum status status = query_add_count(
        terms, query,
        &(struct query_counted){groups > 1 ? "the number of records of a group"
                                           : "the number of records that are in the table",
                                groups > 1 ? "a group" : "that", size.group, "records",
                                groups > 1 ? TERMS_OF_ALIKE : TERMS_OF_ALL, records});
    if (status == STATUS_OK && groups > 1) {
        status = query_add_count(
            terms, query,
            &(struct query_counted){"the number of records of all groups together", "that",
                                    size.all, "records", TERMS_OF_ALL, records});
    }
    return status;
}

/* The cells of a variable, and the numbers of records that are made of them. */
static enum status describe_cells(struct terms *terms, const struct query *query,
                                  const struct table1_block *block, size_t at, double bar,
                                  double records)
{
    const struct query_variable *variable = &query->variable[at];
    const size_t groups = query_groups(query);
    const struct table1_counted count =
        table1_expect_count(block, query->variable_count, groups, at);
    struct terms_line *cell = terms_add_line(terms);
    const char *where[] = {groups > 1 ? " in a group" : "", " in all groups together"};
    const double half[] = {count.group, count.all};
    enum status status = STATUS_OK;
    if (cell == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)snprintf(cell->what, sizeof cell->what, "%s: each of %zu cells of %s", query->text,
                   query_variable_cells(query, variable), variable->column.name);
    (void)snprintf(cell->unit, sizeof cell->unit, "records");
    cell->noise = sqrt(block[at].variance);
    cell->bar = bar;
    query_place(cell, query, "", TERMS_OF_NONE, 0, 0);
    cell->place.taken =
        variable->column.kind == COLUMN_NUMBER ? "values spread by a sixth of their range" : NULL;
    for (size_t i = 0; i < (groups > 1 ? 2 : 1) && status == STATUS_OK; i++) {
        char of[OF_BYTES];
        char row[OF_BYTES];
        const bool is_number = variable->column.kind == COLUMN_NUMBER;
        (void)snprintf(of, sizeof of, "the number of records %s%s%s%s",
                       is_number ? "in which " : "of a category of ", variable->column.name,
                       is_number ? " is missing" : ", or in which it is missing", where[i]);
        (void)snprintf(row, sizeof row, "records %s%s",
                       is_number ? "without " : "of a category of ", variable->column.name);
        status = query_add_count(
            terms, query,
            &(struct query_counted){of, "that", half[i], row,
                                    i == 0 && groups > 1 ? TERMS_OF_ALIKE : TERMS_OF_ALL, records});
    }
    return status;
}

enum status query_terms_table1(struct terms *terms, const struct query *query,
                               const struct query_noise *noise, double step, double records)
{
    struct table1_block block[QUERY_VARIABLES_MAX];
    double part[QUERY_VARIABLES_MAX] = {0};
    for (size_t i = 0; i < query->variable_count; i++) {
        part[i] = (double)query_part_of(&query->variable[i], (uint64_t)(1 / step));
        const double deviation = query_noise_deviation(noise) / part[i];
        block[i] = (struct table1_block){.levels = query->variable[i].levels,
                                         .variance = deviation * deviation};
    }
    enum status status = describe_sizes(terms, query, block, records);
    for (size_t i = 0; i < query->variable_count && status == STATUS_OK; i++) {
        status = describe_cells(terms, query, block, i,
                                query_noise_bar(noise, 0, TERMS_BAR_MISSES) / part[i], records);
        if (status == STATUS_OK) {
            status = describe_groups(
                terms, query, &query->variable[i],
                &(struct table1_public){records, query_groups(query), block[i].variance});
        }
    }
    return status;
}
