/* query_between_private.h - what the kinds of questions do to join sites, for the files of query_between alone. */

#ifndef QUERY_QUERY_BETWEEN_PRIVATE_H
#define QUERY_QUERY_BETWEEN_PRIVATE_H

#include "query/query_answers.h"
#include "query/query_between.h"

/* One question, of all sites. */
struct joining {
    const struct query_sites *sites;
    const struct query *query;
    size_t first;    /* of its cells in a site's row */
    double variance; /* of the noise on a cell of one site; unit: records^2 */
};

/** Returns the question as it is asked of one site alone. run: filled in, and kept. */
struct answering joining_site(struct query_run *run, const struct joining *joining, size_t site);

/** From logarithms to ratios; deviations stay those of the logarithms. */
void joining_raise(struct query_effect *effect, struct between_site *site, size_t count);

/** Takes away everything that is said of all sites together but the estimate. */
void joining_withhold(struct between *all);

/** Answers whether what the effect of one site is about may be empty: a group, row, column or category of no more records than its
 * noise. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status joining_hides(bool *out, const struct joining *joining, size_t effect,
                                   size_t site);

/* For each kind: how many effects it has; and they, zeroed before, with `count` sites each in site. Fail with STATUS_NO_MEMORY. */
size_t survival_effects(const struct query *query);
enum status join_survival(struct query_effect *effect, struct between_site *site,
                          const struct joining *joining);
size_t regress_effects(const struct query *query);
enum status join_regress(struct query_effect *effect, struct between_site *site,
                         const struct joining *joining);
size_t table1_effects(const struct query *query);
enum status join_table1(struct query_effect *effect, struct between_site *site,
                        const struct joining *joining);

#endif
