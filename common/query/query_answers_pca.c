/* query_answers_pca.c - what share each principal component explains, and its loadings. */

#include "estimate/pca.h"
#include "query/query_answers.h"

#include <math.h>
#include <stdio.h>

size_t pca_answers(const struct query *query)
{
    return 1 + query->variable_count * (query->variable_count + 1);
}

/* Without an interval: pca.h says why. */
static void tell(struct query_answer *answer, const struct answering *answering, double value,
                 double factor, const char *unit)
{
    const struct table1_figure figure = {.estimate = {factor < 1 ? value : NAN, NAN, NAN, NAN, NAN},
                                         .noise_low = NAN,
                                         .noise_high = NAN,
                                         .factor = factor};
    table_tell(answer, answering, &figure, unit);
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
    char part[QUERY_NAME_BYTES];
    query_moments(&moments, cell, is_two, answering);
    correlate_init(&all, &moments);
    pca_of(&pca, &all);
    const struct table1_figure size = correlate_size(&all);
    table_tell(answer, answering, &size, "records");
    query_answer_name(answer++, query, "records in which no column is missing");
    for (size_t k = 0; k < pca.columns; k++, answer++) {
        tell(answer, answering, pca.share[k], pca.share_factor, "share");
        (void)snprintf(part, sizeof part, "component %zu, explained share", k + 1);
        query_answer_name(answer, query, part);
    }
    for (size_t k = 0; k < pca.columns; k++) {
        for (size_t i = 0; i < pca.columns; i++, answer++) {
            const bool is_told = pca.has_loadings[k] || !(pca.share_factor < 1);
            tell(answer, answering, is_told ? pca.loading[k][i] : NAN, pca.share_factor, "loading");
            if (!is_told) {
                (void)snprintf(answer->note, sizeof answer->note,
                               "not enough data for this question at this epsilon: another "
                               "component explains about as much");
            }
            (void)snprintf(part, sizeof part, "component %zu, loading of %s", k + 1,
                           query->variable[i].column.name);
            query_answer_name(answer, query, part);
        }
    }
}
