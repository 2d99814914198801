/* query_answers_counts.c - counts as they are told: none is below 0, none is told that the noise drowns, and what is a sum of others
 * is their sum. */

#include "base/check.h"
#include "estimate/cells.h"
#include "query/query_advice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A count's bar, and what it may not be wider than. */
struct counted {
    const struct answering *answering;
    double bar;
    double records;
};

/* How many times less the noise on a cell deviates; of a table1 on that of the variable for which it is least. */
static double quieter(const struct advised *advised, const struct answering *answering)
{
    const struct query *now = answering->query;
    const double cell = sqrt(query_cell_variance(answering->run) / advised->variance);
    double least = 1;
    for (size_t i = 0; i < now->variable_count && now->kind == QUERY_TABLE1; i++) {
        const uint64_t one = UINT64_C(1) << QUERY_BITS_MAX;
        const double of_part = (double)query_part_of(&advised->query.variable[i], one) /
                               (double)query_part_of(&now->variable[i], one);
        least = i == 0 || of_part < least ? of_part : least;
    }
    return cell * least;
}

static bool does(const struct advised *advised, const void *of)
{
    const struct counted *counted = of;
    return counted->bar <= counted->records * advised->times * quieter(advised, counted->answering);
}

/* The nearest count that can be: the truth is one, so that this is never farther from it than what was found. */
void query_tell_count(struct query_answer *answer, const struct answering *answering, double value,
                      double noise)
{
    const double n = answer->records;
    const double at = fmin(fmax(value, 0), n);
    answer->value = at;
    answer->error = noise;
    answer->low = fmax(at - ESTIMATE_Z_NOISE * noise, 0);
    answer->high = fmin(at + ESTIMATE_Z_NOISE * noise, n);
    const double bar = 2 * ESTIMATE_Z_NOISE * noise;
    if (bar > n) {
        answer->value = answer->error = answer->low = answer->high = answer->sampling = NAN;
        const struct advice advice =
            advice_search(answering, does, &(struct counted){answering, bar, n});
        (void)snprintf(answer->note, sizeof answer->note,
                       "not enough data for this question at this epsilon: the noise's bar is "
                       "wider than all records");
        if (!advice_say(answer->note, sizeof answer->note, &advice)) {
            query_say(answer, "; for the noise alone, about %.0f records in all would be enough",
                      ceil(bar));
        }
    }
}

/* Michelot 1986: as much is added to all that is left as their sum lacks; what that moves to 0 or below is out. */
void query_agree(double *x, size_t count, double total)
{
    bool is_out[AGREE_MAX] = {false};
    bool is_new = total > 0;
    double each = -INFINITY;
    CHECK(count > 0 && count <= AGREE_MAX && total >= 0);
    while (is_new) {
        double sum = 0;
        double in = 0;
        for (size_t i = 0; i < count; i++) {
            sum += is_out[i] ? 0 : x[i];
            in += is_out[i] ? 0 : 1;
        }
        each = (total - sum) / in;
        is_new = false;
        for (size_t i = 0; i < count; i++) {
            const bool is = !is_out[i] && x[i] + each <= 0;
            is_out[i] = is_out[i] || is;
            is_new = is_new || is;
        }
    }
    for (size_t i = 0; i < count; i++) {
        x[i] = fmax(x[i] + each, 0);
    }
}

void query_tell_agreed(struct query_answer *answer, double value)
{
    if (!isnan(answer->value)) {
        answer->value = value;
        answer->low = fmin(answer->low, value);
        answer->high = fmax(answer->high, value);
    }
}
