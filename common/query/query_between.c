#include "query/query_between.h"

#include "base/check.h"
#include "dp/encode.h"
#include "estimate/cells.h"
#include "query/query_answers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_CELLS = 5 };

/* One question, of all sites. */
struct joining {
    const struct query_sites *sites;
    const struct query *query;
    size_t first; /* of its cells */
    double variance;
    struct between_sum *sum;      /* (count) */
    struct crosstab_cells *table; /* (count) */
    double (*cell)[TABLE_CELLS];  /* (count) */
};

size_t query_effect_count(const struct query *query)
{
    switch (query->kind) {
    case QUERY_COUNT:
        return 1;
    case QUERY_MEAN:
        return query->is_partial ? 0 : 1;
    case QUERY_CROSSTAB:
        return crosstab_is_fourfold(query) ? 2 : 0;
    case QUERY_HISTOGRAM:
    case QUERY_QUANTILE:
    case QUERY_SURVIVAL:
    case QUERY_TABLE1:
    case QUERY_EVALUATE:
    case QUERY_CORRELATE:
    case QUERY_PCA:
    case QUERY_REGRESS:
        break; /* not by site */
    }
    return 0;
}

size_t query_between_count(const struct query_set *set)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        count += query_effect_count(&set->query[i]);
    }
    return count;
}

static const int64_t *row_of(const struct joining *joining, size_t site)
{
    return joining->sites->row + site * (1 + query_set_cells(joining->sites->set, 0));
}

static double cell_of(const struct joining *joining, size_t site, size_t cell)
{
    return decode_value(row_of(joining, site)[1 + joining->first + cell],
                        joining->sites->set->grid_bits);
}

/* From shares of the range to its unit; each record's value was rounded by less than half a step. */
static void widen_mean(struct query_effect *effect, struct between_site *site,
                       const struct joining *joining)
{
    const struct query *query = joining->query;
    const double width = query->high - query->low;
    const double rounding = width * ldexp(0.5, -(int)joining->sites->set->grid_bits);
    struct between *all = &effect->all;
    all->value = query->low + width * all->value;
    all->low = query->low + width * all->low - rounding;
    all->high = query->low + width * all->high + rounding;
    all->error *= width;
    for (size_t i = 0; i < joining->sites->count; i++) {
        site[i].value = query->low + width * site[i].value;
        site[i].low = query->low + width * site[i].low - rounding;
        site[i].high = query->low + width * site[i].high + rounding;
        site[i].sampling *= width;
        site[i].noise *= width;
    }
}

static void join_sums(struct query_effect *effect, struct between_site *site,
                      const struct joining *joining)
{
    const struct query *query = joining->query;
    const bool is_mean = query->kind == QUERY_MEAN;
    const size_t count = joining->sites->count;
    for (size_t i = 0; i < count; i++) {
        const double n = (double)row_of(joining, i)[0];
        /* A mean's values are counted from the middle of the range. */
        joining->sum[i] = (struct between_sum){cell_of(joining, i, 0) + (is_mean ? n / 2 : 0), n};
    }
    between_shares(site, joining->sum, count, joining->variance);
    between_sites(&effect->all, site, count, is_mean);
    (void)snprintf(effect->name, sizeof effect->name, "%s", query->text);
    (void)snprintf(effect->unit, sizeof effect->unit, "%s", is_mean ? query->column.name : "share");
    if (is_mean) {
        (void)snprintf(effect->note, sizeof effect->note,
                       "a mean does not tell how far values spread within a site, so that how far "
                       "sites differ is not told; the widest spread is assumed");
        widen_mean(effect, site, joining);
    }
}

/* The odds ratio itself; its deviations stay those of the logarithm. */
static void raise(struct query_effect *effect, struct between_site *site, size_t count)
{
    struct between *all = &effect->all;
    double *const figure[] = {&all->value, &all->low, &all->high, &all->next_low, &all->next_high};
    effect->is_ratio = true;
    for (size_t i = 0; i < sizeof figure / sizeof figure[0]; i++) {
        *figure[i] = exp(*figure[i]);
    }
    for (size_t i = 0; i < count; i++) {
        site[i].value = exp(site[i].value);
        site[i].low = exp(site[i].low);
        site[i].high = exp(site[i].high);
    }
}

static void join_tables(struct query_effect *effect, struct between_site *site,
                        const struct joining *joining)
{
    const size_t count = joining->sites->count;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < TABLE_CELLS; j++) {
            joining->cell[i][j] = cell_of(joining, i, j);
        }
        cells_balance(joining->cell[i], TABLE_CELLS, (double)row_of(joining, i)[0]);
        joining->table[i] = (struct crosstab_cells){.cell = joining->cell[i],
                                                    .rows = 2,
                                                    .columns = 2,
                                                    .m = TABLE_CELLS,
                                                    .variance = joining->variance};
    }
    between_differences(site, joining->table, count);
    between_sites(&effect[0].all, site, count, false);
    between_odds(site + count, joining->table, count);
    between_sites(&effect[1].all, site + count, count, false);
    raise(&effect[1], site + count, count);
    crosstab_name_difference(effect[0].name, joining->query);
    crosstab_name_odds(effect[1].name, joining->query);
    (void)snprintf(effect[0].unit, sizeof effect[0].unit, "share");
    (void)snprintf(effect[1].unit, sizeof effect[1].unit, "odds ratio");
}

static void note_missing(struct query_effect *effect, size_t count)
{
    const size_t given = effect->all.sites;
    if (given < BETWEEN_SITES_MIN) {
        (void)snprintf(effect->note, sizeof effect->note,
                       "%zu of %zu sites have enough data for this question at this epsilon: fewer "
                       "than %d sites are not joined",
                       given, count, BETWEEN_SITES_MIN);
    }
}

enum status query_between(struct query_effect *effect, struct between_site *site,
                          const struct query_sites *sites)
{
    const double deviation =
        ldexp(query_noise_deviation(&sites->noise), -(int)sites->set->grid_bits);
    struct joining joining = {.sites = sites, .variance = deviation * deviation};
    enum status status = STATUS_OK;

    CHECK(sites->count <= BETWEEN_SITES_MAX);
    joining.sum = calloc(sites->count + 1, sizeof *joining.sum);
    joining.table = calloc(sites->count + 1, sizeof *joining.table);
    joining.cell = calloc(sites->count + 1, sizeof *joining.cell);
    if (joining.sum == NULL || joining.table == NULL || joining.cell == NULL) {
        status = STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < sites->set->count && status == STATUS_OK; i++) {
        joining.query = &sites->set->query[i];
        const size_t effects = query_effect_count(joining.query);
        memset(effect, 0, effects * sizeof *effect);
        if (effects > 0) {
            (joining.query->kind == QUERY_CROSSTAB ? join_tables : join_sums)(effect, site,
                                                                              &joining);
        }
        for (size_t j = 0; j < effects; j++) {
            note_missing(&effect[j], sites->count);
        }
        effect += effects;
        site += effects * sites->count;
        joining.first += joining.query->cell_count;
    }
    free(joining.sum);
    free(joining.table);
    free(joining.cell);
    return status;
}
