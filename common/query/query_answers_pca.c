/* query_answers_pca.c - what share each principal component explains, and its loadings. */

#include "estimate/pca.h"
#include "query/query_advice.h"

#include <math.h>
#include <stdio.h>

size_t pca_answers(const struct query *query)
{
    return 1 + query->variable_count * (query->variable_count + 1);
}

static bool has_shares(const struct advice_cells *cells, const struct advised *advised,
                       const void *of)
{
    const struct correlate_moments *found = of;
    struct correlate_moments moments = *found;
    struct correlate all;
    moments.cell = cells->cell;
    moments.variance = cells->variance;
    moments.records = found->records * advised->times;
    correlate_init(&all, &moments);
    return pca_is_given(&all);
}

static bool does(const struct advised *advised, const void *of)
{
    const struct correlate_moments *found = of;
    const struct advice_cells cells = {found->cell, correlate_cells(found->columns),
                                       found->variance, false, NULL};
    return advice_in_trials(&cells, advised, has_shares, of);
}

/* Without an interval: pca.h says why. */
static void tell(struct query_answer *answer, const struct answering *answering, double value,
                 const struct advice *advice, const char *unit)
{
    const struct table1_figure figure = {
        .estimate = {value, NAN, NAN, NAN, NAN}, .noise_low = NAN, .noise_high = NAN};
    table_tell_advised(answer, answering, &figure, unit, advice);
    if (!isnan(answer->value)) {
        (void)snprintf(answer->note, sizeof answer->note, "an estimate without an interval");
    }
}

void answer_pca(struct query_answer *answer, const struct answering *answering)
{
    const struct query *query = answering->query;
    double cell[CORRELATE_CELLS_MAX];
    bool is_two[CORRELATE_COLUMNS_MAX];
    struct correlate_moments moments;
    struct correlate all;
    struct pca pca;
    query_moments(&moments, cell, is_two, answering);
    correlate_init(&all, &moments);
    pca_of(&pca, &all);
    struct advice advice = {NAN, NAN};
    if (!pca.is_given) {
        advice = advice_search(answering, does, &moments);
    }
    const struct table1_figure size = correlate_size(&all);
    table_tell(answer, answering, &size, "records");
    query_part_name((answer++)->name, query, "records in which no column is missing");
    for (size_t k = 0; k < pca.columns; k++, answer++) {
        tell(answer, answering, pca.is_given ? pca.share[k] : NAN, &advice, "share");
        query_part_name(answer->name, query, "component %zu, explained share", k + 1);
    }
    for (size_t k = 0; k < pca.columns; k++) {
        for (size_t i = 0; i < pca.columns; i++, answer++) {
            const bool has_loading = pca.is_given && pca.has_loadings[k];
            tell(answer, answering, has_loading ? pca.loading[k][i] : NAN, &advice, "loading");
            if (pca.is_given && !has_loading) {
                (void)snprintf(answer->note, sizeof answer->note,
                               "not enough data for this question at this epsilon: another "
                               "component explains about as much");
            }
            query_part_name(answer->name, query, "component %zu, loading of %s", k + 1,
                            query->variable[i].column.name);
        }
    }
}
