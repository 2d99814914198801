/* query_regress_cells.c - which cell of a regression a record is in. */

#include "base/check.h"
#include "base/even.h"
#include "query/query_kind.h"

#include <math.h>

/* The record's part of each outcome; together they are one, or 0 where it is missing. */
static uint64_t set_event(uint64_t *part, const struct query_asked *asked, uint64_t one)
{
    const struct query *query = asked->query;
    const bool is_predicate = query->event.step_count > 0;
    const double cell =
        is_predicate ? 0 : query_cell_of(asked->row, query->column_index, query->label_kind);
    const uint64_t happens =
        is_predicate ? mask_of(predicate_holds(&query->event, asked->row)) : mask_of(cell == 1);
    const uint64_t is_there = happens | mask_of(cell == 0);
    part[0] = one & is_there & ~happens;
    part[1] = one & happens;
    return is_there;
}

static uint64_t set_number(uint64_t *part, const struct query_asked *asked, uint64_t one)
{
    const struct query *query = asked->query;
    const double cell = query_cell_of(asked->row, query->column_index, query->label_kind);
    double step[QUERY_OUTCOME_LEVELS];
    for (size_t k = 0; k < QUERY_OUTCOME_LEVELS; k++) {
        const double at =
            query->low + (query->high - query->low) * (double)k / (QUERY_OUTCOME_LEVELS - 1);
        step[k] = fabs(at) < 0x1p-900 ? 0 : at; /* no difference is subnormal: query.c */
    }
    query_split_number(part, step, QUERY_OUTCOME_LEVELS, one, cell);
    return ~even_is_nan(cell);
}

/* As a survival's: query_add_survival. */
static uint64_t set_time(uint64_t *part, const struct query_asked *asked, uint64_t one)
{
    const struct query *query = asked->query;
    const double time = query_cell_of(asked->row, query->column_index, query->label_kind);
    const int64_t at = even_key(time);
    const uint64_t is_known = ~even_is_nan(time) & mask_of(at > 0);
    const uint64_t dies = mask_of(predicate_holds(&query->event, asked->row));
    const size_t k = query->intervals;
    uint64_t died_later = one & is_known & dies;
    uint64_t censored_later = one & is_known & ~dies;
    for (size_t j = 0; j < k; j++) {
        const uint64_t died_after = died_later & mask_of(at > query->edge_key[j]);
        const uint64_t censored_after = censored_later & mask_of(at >= query->edge_key[j]);
        part[j] = died_later & ~died_after;
        part[k + j] = censored_later & ~censored_after;
        died_later = died_after;
        censored_later = censored_after;
    }
    part[2 * k] = died_later | censored_later;
    return is_known;
}

/* A number is in the category of that whole number, or of the end that it lies beyond. */
static uint64_t set_whole(uint64_t *is_here, const struct query_variable *variable, double cell)
{
    const size_t last = variable->levels - 1;
    const int64_t at = even_key(cell);
    uint64_t placed = 0;
    for (size_t k = 0; k <= last; k++) {
        const int64_t own = even_key(variable->step[k]);
        is_here[k] = mask_of(at == own);
        is_here[k] |= mask_of(at < own) & mask_of(k == 0);
        is_here[k] |= mask_of(at > own) & mask_of(k == last);
        is_here[k] &= ~even_is_nan(cell);
        placed |= is_here[k];
    }
    return placed;
}

/* Masks of the variable's levels. Returns whether it has one. */
static uint64_t set_level(uint64_t *is_here, const struct query_variable *variable, double cell)
{
    if (variable->is_factor) {
        return set_whole(is_here, variable, cell);
    }
    if (variable->column.kind == COLUMN_CATEGORY) {
        uint64_t placed = 0;
        for (size_t k = 0; k < variable->levels; k++) {
            is_here[k] = mask_of(cell == (double)k);
            placed |= is_here[k];
        }
        return placed;
    }
    const int64_t at = even_key(cell);
    uint64_t left = ~even_is_nan(cell);
    for (size_t k = 0; k + 1 < variable->levels; k++) {
        const uint64_t above = left & mask_of(at >= even_key(variable->step[k]));
        is_here[k] = left & ~above;
        left = above;
    }
    is_here[variable->levels - 1] = left;
    return ~even_is_nan(cell);
}

/* Every cell is gone through, whatever the record is. A number beyond the public range is in the first level or the last. */
void query_add_regress(int64_t *sum, const struct query_asked *asked)
{
    static uint64_t (*const set_outcome[])(uint64_t *, const struct query_asked *, uint64_t) = {
        [REGRESS_LOGISTIC] = set_event,
        [REGRESS_LINEAR] = set_number,
        [REGRESS_POISSON] = set_number,
        [REGRESS_HAZARD] = set_time,
    };
    const struct query *query = asked->query;
    const uint64_t one = UINT64_C(1) << asked->grid_bits;
    const size_t outcomes = query_regress_outcomes(query);
    uint64_t part[REGRESS_OUTCOMES_MAX + 1];
    uint64_t is_here[REGRESS_POINTS_MAX];
    size_t points = 1;
    uint64_t own = asked->holds & set_outcome[query->family](part, asked, one);

    is_here[0] = UINT64_MAX;
    for (size_t i = 0; i < query->variable_count; i++) {
        const struct query_variable *variable = &query->variable[i];
        uint64_t level[REGRESS_LEVELS_MAX];
        own &= set_level(level, variable,
                         query_cell_of(asked->row, variable->column_index, query->label_kind));
        for (size_t point = points; point-- > 0;) {
            for (size_t k = variable->levels; k-- > 0;) {
                is_here[point * variable->levels + k] = is_here[point] & level[k];
            }
        }
        points *= variable->levels;
    }
    CHECK(points * outcomes + 1 == query->cell_count);
    for (size_t point = 0; point < points; point++) {
        for (size_t y = 0; y < outcomes; y++) {
            *sum++ += (int64_t)(part[y] & is_here[point] & own);
        }
    }
    *sum += (int64_t)(one & ~own);
}
