#include "query/query_between.h"
#include "base/text.h"

#include "base/bytes.h"
#include "base/check.h"
#include "dp/encode.h"
#include "query/query_advice.h"
#include "query/query_between_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_CELLS = 5 };

static const int64_t *row_of(const struct joining *joining, size_t site)
{
    return joining->sites->row + site * (1 + query_set_cells(joining->sites->set, 0));
}

struct answering joining_site(struct query_run *run, const struct joining *joining, size_t site)
{
    const struct query_sites *sites = joining->sites;
    const int64_t *row = row_of(joining, site);
    *run = (struct query_run){
        .set = sites->set, .noise = sites->noise, .record_count = (uint64_t)row[0]};
    return (struct answering){.run = run, .query = joining->query, .sum = row + 1 + joining->first};
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

static enum status join_sums(struct query_effect *effect, struct between_site *site,
                             const struct joining *joining)
{
    const struct query *query = joining->query;
    const bool is_mean = query->kind == QUERY_MEAN;
    const size_t count = joining->sites->count;
    struct between_sum *sum = calloc(count, sizeof *sum);
    if (sum == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        const double n = (double)row_of(joining, i)[0];
        /* A mean's values are counted from the middle of the range. */
        const double cell =
            decode_value(row_of(joining, i)[1 + joining->first], joining->sites->set->grid_bits);
        sum[i] = (struct between_sum){cell + (is_mean ? n / 2 : 0), n};
    }
    between_shares(site, sum, count, joining->variance);
    between_sites(&effect->all, site, count, is_mean);
    (void)snprintf(effect->name, sizeof effect->name, "%s", query->text);
    (void)snprintf(effect->unit, sizeof effect->unit, "%s", is_mean ? query->column.name : "share");
    if (is_mean) {
        (void)snprintf(
            effect->note, sizeof effect->note,
            "a mean does not show how far values spread within a site: the widest spread is "
            "assumed, and how far sites differ is not given");
        widen_mean(effect, site, joining);
    }
    free(sum);
    return STATUS_OK;
}

void joining_raise(struct query_effect *effect, struct between_site *site, size_t count)
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

void joining_withhold(struct between *all)
{
    double *const figure[] = {&all->low,    &all->high,     &all->error,
                              &all->spread, &all->share,    &all->statistic,
                              &all->p,      &all->next_low, &all->next_high};
    for (size_t i = 0; i < sizeof figure / sizeof figure[0]; i++) {
        *figure[i] = NAN;
    }
}

static enum status join_tables(struct query_effect *effect, struct between_site *site,
                               const struct joining *joining)
{
    const size_t count = joining->sites->count;
    struct crosstab_cells *table = calloc(count, sizeof *table);
    double(*cell)[TABLE_CELLS] = calloc(count, sizeof *cell);
    const enum status status = table == NULL || cell == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct query_run run;
        const struct answering answering = joining_site(&run, joining, i);
        query_balanced_cells(cell[i], &answering);
        table[i] = (struct crosstab_cells){.cell = cell[i],
                                           .rows = 2,
                                           .columns = 2,
                                           .m = TABLE_CELLS,
                                           .variance = joining->variance};
    }
    if (status == STATUS_OK) {
        between_differences(site, table, count);
        between_sites(&effect[0].all, site, count, false);
        between_odds(site + count, table, count);
        between_sites(&effect[1].all, site + count, count, false);
        joining_raise(&effect[1], site + count, count);
        crosstab_name_difference(effect[0].name, joining->query);
        crosstab_name_odds(effect[1].name, joining->query);
        (void)snprintf(effect[0].unit, sizeof effect[0].unit, "share");
        (void)snprintf(effect[1].unit, sizeof effect[1].unit, "odds ratio");
    }
    free(table);
    free(cell);
    return status;
}

static size_t count_effects(UNUSED const struct query *query)
{
    return 1;
}

static size_t mean_effects(const struct query *query)
{
    return query->is_partial ? 0 : 1;
}

static size_t table_effects(const struct query *query)
{
    return crosstab_is_fourfold(query) ? 2 : 0;
}

/* Kinds that are answered by site. */
static const struct between_row {
    size_t (*count)(const struct query *query);
    enum status (*join)(struct query_effect *effect, struct between_site *site,
                        const struct joining *joining);
} rows[QUERY_KINDS] = {
    [QUERY_COUNT] = {count_effects, join_sums},
    [QUERY_MEAN] = {mean_effects, join_sums},
    [QUERY_CROSSTAB] = {table_effects, join_tables},
    [QUERY_SURVIVAL] = {survival_effects, join_survival},
    [QUERY_REGRESS] = {regress_effects, join_regress},
    [QUERY_TABLE1] = {table1_effects, join_table1},
};

size_t query_effect_count(const struct query *query)
{
    return rows[query->kind].count == NULL ? 0 : rows[query->kind].count(query);
}

size_t query_between_count(const struct query_set *set)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        count += query_effect_count(&set->query[i]);
    }
    return count;
}

/* What would be enough, if sites are left out. */
static void say_enough(char *more, size_t bytes, const struct query_effect *effect, bool has_few)
{
    more[0] = '\0';
    (void)advice_say(more, bytes, &(struct advice){effect->factor, NAN});
    if (isfinite(effect->needed) && has_few) {
        text_add(
            more, bytes,
            "; for the noise alone, a site of about %.0f records in cells that are alike would be "
            "enough",
            ceil(effect->needed));
    }
}

static void note_missing(struct query_effect *effect, const struct joining *joining)
{
    const size_t count = joining->sites->count;
    const size_t used = strlen(effect->note);
    char *note = effect->note + used;
    const size_t bytes = sizeof effect->note - used;
    char more[160];
    const char *begin = used > 0 ? "; " : "";
    bool has_few = false;
    for (size_t i = 0; i < count; i++) {
        has_few = has_few || (double)row_of(joining, i)[0] < effect->needed;
    }
    say_enough(more, sizeof more, effect, has_few);
    if (effect->is_apart) {
        (void)snprintf(note, bytes, "%s%zu of %zu sites have none%s", begin,
                       count - effect->all.sites, count, more);
    } else if (effect->all.sites >= BETWEEN_SITES_MIN) {
        (void)snprintf(
            note, bytes,
            "%s%zu of %zu sites do not have enough data at this epsilon and are left out%s", begin,
            count - effect->all.sites, count, more);
    } else {
        (void)snprintf(note, bytes,
                       "%s%zu of %zu sites have enough data for this question at this epsilon: "
                       "fewer than %d sites are not joined%s",
                       begin, effect->all.sites, count, BETWEEN_SITES_MIN, more);
    }
}

/* A site that is left out and may have no records for the effect. Then no epsilon is enough. With less assumed noise, the noise
 * in its cells would look like records. */
static enum status find_hidden(bool *is_hidden, const struct between_site *site, size_t effects,
                               const struct joining *joining)
{
    const size_t count = joining->sites->count;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < effects * count && status == STATUS_OK; i++) {
        bool hides = false;
        if (isnan(site[i].value) && !is_hidden[i / count]) {
            status = joining_hides(&hides, joining, i / count, i % count);
        }
        is_hidden[i / count] = is_hidden[i / count] || hides;
    }
    return status;
}

/* How many times less noise a sum of cells would have, with that many times the epsilon: the question is planned anew, and more
 * steps, levels or intervals have more noise together. */
static double quieter(const struct joining *joining, double epsilon)
{
    const struct query *query = joining->query;
    const uint64_t one = UINT64_C(1) << QUERY_BITS_MAX;
    struct query_run run;
    struct advised advised;
    const struct answering answering = joining_site(&run, joining, 0);
    advised_init(&advised, &answering, epsilon, false);
    double least = 1; /* of the variables' parts */
    for (size_t i = 0; i < query->variable_count && query->kind == QUERY_TABLE1; i++) {
        const double part = (double)query_part_of(&advised.query.variable[i], one) /
                            (double)query_part_of(&query->variable[i], one);
        least = fmin(least, part);
    }
    return least * sqrt(joining->variance / advised.variance * (double)query->cell_count /
                        (double)advised.query.cell_count);
}

/* Up, to what is printed of it: two digits. NAN: more than is told. */
static double printed(double factor)
{
    const double unit = factor < 10 ? 10 : 1;
    return factor > ADVICE_FACTOR_MOST ? NAN : ceil(factor * unit - 1e-6) / unit;
}

/* With how much more epsilon the released cells would give all sites an effect: joined again, until they do. What is told is a
 * bit more, as the cells are themselves by chance what they are. Regressions and curves take long, so that they are tried for
 * few sites. */
static enum status find_factors(struct query_effect *effect, size_t effects, const bool *is_hidden,
                                const struct joining *joining)
{
    enum { STEPS = 10, SITES_MOST = 16 };
    const double step = 1.5;
    const double chance = 1.2;
    const size_t count = joining->sites->count;
    CHECK(effects > 0 && effects <= QUERY_EFFECTS_MAX && count > 0);
    struct query_effect *again = calloc(effects, sizeof *again);
    struct between_site *site = calloc(count, effects * sizeof *site);
    enum status status = again == NULL || site == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    const enum query_kind kind = joining->query->kind;
    bool are_known = (kind == QUERY_REGRESS || kind == QUERY_SURVIVAL) && count > SITES_MOST;
    for (int i = 1; i <= STEPS && status == STATUS_OK && !are_known; i++) {
        struct query_sites quiet = *joining->sites;
        struct joining with = *joining;
        const double epsilon = pow(step, i);
        const double factor = quieter(joining, epsilon);
        quiet.noise.scale /= factor;
        with.variance /= factor * factor;
        with.sites = &quiet;
        memset(again, 0, effects * sizeof *again);
        status = rows[joining->query->kind].join(again, site, &with);
        are_known = true;
        for (size_t k = 0; k < effects && status == STATUS_OK; k++) {
            if (isnan(effect[k].factor) && effect[k].all.sites < count && !is_hidden[k]) {
                effect[k].factor = again[k].all.sites == count ? printed(chance * epsilon) : NAN;
                are_known = are_known && !isnan(effect[k].factor);
            }
        }
    }
    free(again);
    free(site);
    return status;
}

static enum status note_all_missing(struct query_effect *effect, const struct between_site *site,
                                    size_t effects, const struct joining *joining)
{
    const struct query *query = joining->query;
    double needed = NAN;
    size_t known = effects; /* the effect that needed is of */
    bool is_hidden[QUERY_EFFECTS_MAX] = {false};
    bool is_missing = false;
    CHECK(effects <= QUERY_EFFECTS_MAX);
    for (size_t i = 0; i < effects; i++) {
        effect[i].needed = NAN;
        effect[i].factor = NAN;
        is_missing = is_missing || effect[i].all.sites < joining->sites->count;
    }
    enum status status = is_missing ? find_hidden(is_hidden, site, effects, joining) : STATUS_OK;
    if (is_missing && status == STATUS_OK) {
        status = find_factors(effect, effects, is_hidden, joining);
    }
    for (size_t i = 0; i < effects && status == STATUS_OK; i++) {
        if (effect[i].all.sites == joining->sites->count) {
            continue;
        }
        if (known == effects || !query_between_needs_alike(query, known, i)) {
            needed = query_between_need(query, i, joining->variance, (double)row_of(joining, 0)[0]);
            known = i;
        }
        effect[i].needed = needed;
        note_missing(&effect[i], joining);
    }
    return status;
}

bool query_between_is_confirmed(const struct query *query, const struct query_noise *noise)
{
    return !noise->is_gaussian || query->kind == QUERY_COUNT || query->kind == QUERY_MEAN ||
           query->kind == QUERY_CROSSTAB || query->kind == QUERY_TABLE1;
}

/* The estimates stand, without what `study intervals` has not shown to hold. */
static void withhold(struct query_effect *effect, struct between_site *site, size_t effects,
                     const struct joining *joining)
{
    const size_t count = joining->sites->count;
    for (size_t i = 0; i < effects; i++) {
        const size_t used = strlen(effect[i].note);
        joining_withhold(&effect[i].all);
        for (size_t k = 0; k < count; k++) {
            site[i * count + k].low = NAN;
            site[i * count + k].high = NAN;
        }
        text_add(effect[i].note, sizeof effect[i].note,
                 "%sno intervals and no tests: hedgerow study intervals has not confirmed "
                 "those by site of this kind with noise: gaussian",
                 used > 0 ? "; " : "");
    }
}

enum status query_between(struct query_effect *effect, struct between_site *site,
                          const struct query_sites *sites)
{
    const double deviation =
        ldexp(query_noise_deviation(&sites->noise), -(int)sites->set->grid_bits);
    struct joining joining = {.sites = sites, .variance = deviation * deviation};
    enum status status = STATUS_OK;

    CHECK(sites->count > 0 && sites->count <= BETWEEN_SITES_MAX);
    for (size_t i = 0; i < sites->set->count && status == STATUS_OK; i++) {
        joining.query = &sites->set->query[i];
        const size_t effects = query_effect_count(joining.query);
        memset(effect, 0, effects * sizeof *effect);
        if (effects > 0) {
            status = rows[joining.query->kind].join(effect, site, &joining);
        }
        if (status == STATUS_OK) {
            status = note_all_missing(effect, site, effects, &joining);
        }
        if (status == STATUS_OK && !query_between_is_confirmed(joining.query, &sites->noise)) {
            withhold(effect, site, effects, &joining);
        }
        for (size_t k = 0; k < effects; k++) {
            letters_mend(effect[k].name);
            letters_mend(effect[k].note);
        }
        effect += effects;
        site += effects * sites->count;
        joining.first += joining.query->cell_count;
    }
    return status;
}
