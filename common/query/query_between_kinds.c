/* query_between_kinds.c - the effects of survival curves, regressions and tables by site. */

#include "base/check.h"
#include "query/query_between_private.h"

#include <stdio.h>
#include <stdlib.h>

/* For each group the mean; of each but the first what it has more, and the hazards' ratio; of each the median. */
size_t survival_effects(const struct query *query)
{
    return 4 * query_groups(query) - 2;
}

/* Sites beside each other, not joined. */
static void keep_apart(struct query_effect *effect, const struct between_site *site, size_t count,
                       const char *where, const char *more)
{
    between_apart(&effect->all, site, count);
    effect->is_apart = true;
    (void)snprintf(
        effect->note, sizeof effect->note,
        "a median's interval ends at %s: it gives no standard error, so sites are not joined%s",
        where, more);
}

static void name_hazard(char name[static QUERY_NAME_BYTES], const struct query *query, size_t group)
{
    query_part_name(name, query, "hazard ratio up to %.6g, %s against %s", query->end,
                    query_group_name(query, group), query_group_name(query, 0));
}

/* Sites where many die have few left at the end, and are refused more often: those that are given are not like all. Where ten
 * sites of 1,000 records differ, at epsilon 0.45, the interval of the mean over sites holds in 0.92 (docs/STUDY.md). */
static void say_unjoined(struct query_effect *effect)
{
    joining_withhold(&effect->all);
    (void)snprintf(effect->note, sizeof effect->note,
                   "the mean over sites has no interval and no test: hedgerow study intervals "
                   "found that those of mean survival miss");
}

enum status join_survival(struct query_effect *effect, struct between_site *site,
                          const struct joining *joining)
{
    const struct query *query = joining->query;
    const size_t count = joining->sites->count;
    const size_t groups = query_groups(query);
    struct survival_cells *curve = calloc(count, sizeof *curve);
    double(*cell)[SURVIVAL_RELEASED_MAX] = calloc(count, sizeof *cell);
    const enum status status = curve == NULL || cell == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct query_run run;
        const struct answering answering = joining_site(&run, joining, i);
        curve[i] = survival_cells_of(cell[i], &answering);
    }
    for (size_t i = 0; i < 3 * groups - 2 && status == STATUS_OK; i++, site += count) {
        const size_t of_pair = i < groups ? i : (i - groups) / 2 + 1; /* the group */
        const bool is_hazard = i >= groups && (i - groups) % 2 == 1;
        if (is_hazard) {
            between_hazards(site, curve, count, of_pair);
            name_hazard(effect[i].name, query, of_pair);
        } else {
            between_means(site, curve, count, of_pair, i >= groups);
            (i < groups ? survival_name_mean : survival_name_difference)(effect[i].name, query,
                                                                         of_pair);
        }
        between_sites(&effect[i].all, site, count, false);
        (void)snprintf(effect[i].unit, sizeof effect[i].unit, "%s",
                       is_hazard ? "hazard ratio" : query->column.name);
        if (is_hazard) {
            joining_raise(&effect[i], site, count);
        } else if (!joining->sites->noise.is_gaussian && effect[i].all.sites >= BETWEEN_SITES_MIN) {
            say_unjoined(&effect[i]);
        }
    }
    effect += 3 * groups - 2;
    for (size_t g = 0; g < groups && status == STATUS_OK; g++, effect++, site += count) {
        between_medians(site, curve, count, g);
        keep_apart(effect, site, count, "the ends of the curve's intervals",
                   "; a curve that stays above one half has none");
        survival_name_median(effect->name, query, g);
        (void)snprintf(effect->unit, sizeof effect->unit, "%s", query->column.name);
    }
    free(curve);
    free(cell);
    return status;
}

size_t regress_effects(const struct query *query)
{
    size_t count = 0;
    for (size_t i = 0; i < query->variable_count; i++) {
        count += regress_slopes_of(&query->variable[i]);
    }
    return count;
}

/* One site's slopes, (effects, count) from `site` on. fit: (2) used for both readings of numbers */
static void fit_site(struct between_site *site, struct regress_fit *fit, double *cell,
                     const struct joining *joining, size_t at)
{
    struct query_run run;
    struct query_regress regress;
    struct query_regress whole;
    const struct answering answering = joining_site(&run, joining, at);
    const struct regress_cells cells = {&regress.design, cell, joining->query->cell_count,
                                        joining->variance};
    const struct regress_cells cells_whole = {&whole.design, cell, joining->query->cell_count,
                                              joining->variance};
    query_balanced_cells(cell, &answering);
    query_regress_design(&regress, joining->query);
    regress_solve(fit, &cells);
    if (query_regress_design_whole(&whole, joining->query)) {
        regress_solve(&fit[1], &cells_whole);
        fit->other = &fit[1];
    }
    for (size_t i = 0; i < regress_slopes(&regress.design); i++) {
        double weight[REGRESS_TERMS_MAX] = {0};
        weight[regress.design.intervals + i] = 1;
        between_slope(&site[i * joining->sites->count + at], fit, weight);
    }
}

static void scale(struct between_site *site, size_t count, double unit)
{
    for (size_t i = 0; i < count; i++) {
        site[i].value *= unit;
        site[i].low *= unit;
        site[i].high *= unit;
        site[i].sampling *= unit;
        site[i].noise *= unit;
    }
}

static void name_slope(struct query_effect *effect, const struct query *query,
                       const struct regress_slope *slope)
{
    const char *ratio = regress_ratio(query);
    const char *unit = ratio != NULL ? ratio : "coefficient";
    query_part_name(effect->name, query, "%s, %s, %s", slope->variable, slope->row, unit);
    (void)snprintf(effect->unit, sizeof effect->unit, "%s", unit);
}

enum status join_regress(struct query_effect *effect, struct between_site *site,
                         const struct joining *joining)
{
    const struct query *query = joining->query;
    const size_t count = joining->sites->count;
    struct regress_fit *fit = calloc(2, sizeof *fit);
    double *cell = calloc(query->cell_count, sizeof *cell);
    const enum status status = fit == NULL || cell == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        fit_site(site, fit, cell, joining, i);
    }
    for (size_t i = 0; i < query->variable_count && status == STATUS_OK; i++) {
        const struct query_variable *variable = &query->variable[i];
        for (size_t k = 0; k < regress_slopes_of(variable); k++, effect++, site += count) {
            struct regress_slope slope;
            regress_slope_of(&slope, query, variable, k);
            scale(site, count, slope.unit);
            between_sites(&effect->all, site, count, false);
            name_slope(effect, query, &slope);
            if (regress_ratio(query) != NULL) {
                joining_raise(effect, site, count);
            }
        }
    }
    free(fit);
    free(cell);
    return status;
}

/* A number's mean and median; of two categories the second one's share, of more each one's. */
size_t table1_effects_of(const struct query_variable *variable)
{
    return variable->column.kind == COLUMN_NUMBER ? 2
           : variable->levels <= 2                ? 1
                                                  : variable->levels;
}

size_t table1_effects(const struct query *query)
{
    size_t count = 0;
    for (size_t i = 0; i < query->variable_count; i++) {
        count += table1_effects_of(&query->variable[i]);
    }
    return count;
}

static void name_figure(struct query_effect *effect, const struct query *query,
                        const struct query_variable *variable, size_t level)
{
    const bool is_number = variable->column.kind == COLUMN_NUMBER;
    (void)snprintf(effect->table, sizeof effect->table, "%s", query->text);
    (void)snprintf(effect->row, sizeof effect->row, "%s, %s", variable->column.name,
                   !is_number   ? variable->column.category[level]
                   : level == 0 ? "mean"
                                : "median");
    (void)snprintf(effect->unit, sizeof effect->unit, "%s",
                   is_number ? variable->column.name : "share");
    query_part_name(effect->name, query, "%s", effect->row);
}

enum status join_table1(struct query_effect *effect, struct between_site *site,
                        const struct joining *joining)
{
    const struct query *query = joining->query;
    const size_t count = joining->sites->count;
    struct table1 *table = calloc(1, sizeof *table);
    struct table1_column *column = calloc(count * query->variable_count, sizeof *column);
    const enum status status = table == NULL || column == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct query_run run;
        const struct answering answering = joining_site(&run, joining, i);
        table->answering = &answering;
        table1_set_blocks(table);
        for (size_t v = 0; v < query->variable_count; v++) {
            table1_column_of(&column[v * count + i], &table->block[v], &table->sizes,
                             query_groups(query));
        }
    }
    for (size_t v = 0; v < query->variable_count && status == STATUS_OK; v++) {
        const struct query_variable *variable = &query->variable[v];
        for (size_t k = 0; k < table1_effects_of(variable); k++, effect++, site += count) {
            const size_t level = table1_effects_of(variable) == 1 ? variable->levels - 1 : k;
            name_figure(effect, query, variable, level);
            if (variable->column.kind == COLUMN_NUMBER && k == 1) {
                between_quantiles(site, &column[v * count], count);
                keep_apart(effect, site, count, "steps of the public range", "");
            } else {
                between_columns(site, &column[v * count], count, level);
                between_sites(&effect->all, site, count, false);
            }
        }
    }
    free(table);
    free(column);
    return status;
}
