/* correlate_advice.c - whether a pair of columns would be given if it were asked again, with less noise or more records. */

#include "estimate/advice.h"
#include "estimate/correlate_private.h"

#include <math.h>

enum { PAIR = 2 };

/* What only noise can have made is not counted, as in correlate_pair. Returns false where there may be nothing. */
static bool set_like(struct correlate_like *out, const struct correlate *all, const size_t *both,
                     const struct correlate_again *again)
{
    const double most = all->moments->records;
    const struct advice_asked records = {.found = fmin(all->records, most),
                                         .deviation = 2 * sqrt(all->moments->variance),
                                         .times = again->times,
                                         .deviation_again = 2 * sqrt(again->variance)};
    out->records = advice_least(&records);
    bool is_there = out->records > 0;
    for (size_t k = 0; k < PAIR; k++) {
        const double variance = fmin(all->covariance[both[k]][both[k]], most / all->records);
        out->mean[k] = fmin(fmax(all->mean[both[k]], -1), 1);
        out->variance[k] = advice_found(variance, correlate_noise_of_variance(all, both[k]));
        is_there = is_there && out->variance[k] > 0;
    }
    return is_there;
}

bool correlate_would_do(const struct correlate *all, size_t i, size_t j,
                        const struct correlate_again *again)
{
    const size_t both[PAIR] = {i, j};
    const bool is_two[PAIR] = {all->moments->is_two[i], all->moments->is_two[j]};
    double cell[CORRELATE_CELLS_OF_TWO];
    const struct correlate_moments moments = {.cell = cell,
                                              .columns = PAIR,
                                              .fourth = again->fourth,
                                              .is_two = is_two,
                                              .variance = again->variance,
                                              .records = all->moments->records * again->times};
    struct correlate_like like;
    struct correlate next;
    if (!set_like(&like, all, both, again)) {
        return false;
    }
    correlate_fill(cell, &like, again->fourth);
    correlate_init(&next, &moments);
    for (size_t k = 0; k < PAIR; k++) {
        like.variance[k] -= ADVICE_MOVED * correlate_noise_of_variance(&next, k);
        if (!(like.variance[k] > 0)) {
            return false;
        }
    }
    correlate_fill(cell, &like, again->fourth);
    correlate_init(&next, &moments);
    return !isnan(correlate_pair(&next, 0, 1).estimate.value);
}
