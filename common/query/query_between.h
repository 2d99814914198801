/* query_between.h - the answers by site: of some questions the effect at each site, from the site's own released cells, and what all
 * sites together say of it (estimate/between.h). Works on released sums and public numbers alone, as query_run.h does. */

#ifndef QUERY_QUERY_BETWEEN_H
#define QUERY_QUERY_BETWEEN_H

#include "base/status.h"
#include "estimate/between.h"
#include "query/query_run.h"

enum { QUERY_EFFECTS_MAX = 64, QUERY_SITE_CELLS_MAX = 4096 };

struct query_effect {
    char name[QUERY_NAME_BYTES]; /* as the answer's of all records together */
    char unit[SCHEMA_NAME_BYTES];
    char note[QUERY_NOTE_BYTES]; /* why a figure is not given; may be empty */
    char table
        [QUERY_TEXT_BYTES]; /* of a table1 its question, and the effect's row; else both are empty */
    char row[2 * SCHEMA_NAME_BYTES];
    bool
        is_ratio; /* of odds, rates or hazards: error, spread and sites' deviations are those of its logarithm */
    bool is_apart; /* sites are beside each other, and are not joined */
    double
        needed; /* if sites are left out: records of a site that would be enough by the noise, in equal cells; else NAN */
    double
        factor; /* and the factor of the epsilon that would be enough for all sites, as far as released cells tell; NAN:
                 * not known */
    struct between all;
};

/* The sites' own released sums. */
struct query_sites {
    const struct query_set *set;
    const int64_t *row; /* (count, 1 + cells): the site's number of records, its cells of round 0 */
    size_t count;       /* at most BETWEEN_SITES_MAX */
    struct query_noise noise; /* on each cell of one site */
};

/** Returns how many effects the questions have: of a count its share; of a mean without `where` the mean; of a cross table of 2 x 2 the
 * difference of two shares and the odds ratio; of a survival each group's mean, and of each group but the first what it has more and
 * the hazard ratio, then each group's median; of a regress each coefficient; of a table1 each number's mean and median and each
 * category's share. Medians are told of each site alone: their intervals end at steps, which is no standard error. */
size_t query_between_count(const struct query_set *set);
size_t query_effect_count(const struct query *query);

/** Returns how many records a site needs for an effect of the question, by the noise alone; NAN: no number is enough, or sites are
 * not joined. variance: of the noise on a cell of one site; records: of a site, about. */
double query_between_need(const struct query *query, size_t effect, double variance,
                          double records);

/** Answers whether studies have shown that the question's intervals by site hold under this noise. Else estimates are told alone. */
bool query_between_is_confirmed(const struct query *query, const struct query_noise *noise);

/** Answers whether two effects of a question need as many records for the same reason: the search for that number is slow. */
bool query_between_needs_alike(const struct query *query, size_t a, size_t b);

/**
 * Writes the effects.
 *
 * effect  out  (query_between_count)
 * site    out  (query_between_count, count) in the effect's unit
 *
 * Fails with STATUS_NO_MEMORY.
 */
MUST_USE enum status query_between(struct query_effect *effect, struct between_site *site,
                                   const struct query_sites *sites);

#endif
