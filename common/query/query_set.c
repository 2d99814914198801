#include "query/query_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum status query_set_init(struct query_set *out, const char *const *text, size_t count,
                           unsigned grid_bits, const struct query_names *names, struct why *why)
{
    *out = (struct query_set){0};
    if (count < 1 || count > QUERY_SET_MAX) {
        return why_refuse(why, "write 1 to %d questions", QUERY_SET_MAX);
    }
    if (grid_bits < QUERY_BITS_MIN || grid_bits > QUERY_BITS_MAX) {
        return why_refuse(why, "questions need a grid of %d to %d bits", QUERY_BITS_MIN,
                          QUERY_BITS_MAX);
    }
    out->query = calloc(count, sizeof *out->query);
    if (out->query == NULL) {
        return why_fail(why, STATUS_NO_MEMORY, "not enough memory for the questions");
    }
    out->count = count;
    out->written = count;
    out->grid_bits = grid_bits;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct slice line = {text[i], strlen(text[i])};
        struct why inner = {{0}};
        status = query_parse(&out->query[i], line, names, &inner);
        if (status != STATUS_OK) {
            why_set(why, "question %zu: %s", i + 1, inner.text);
        } else if (out->query[i].rounds > out->round_count) {
            out->round_count = out->query[i].rounds;
        }
    }
    if (status != STATUS_OK) {
        query_set_free(out);
    }
    return status;
}

void query_set_free(struct query_set *set)
{
    if (set != NULL) {
        free(set->query);
        *set = (struct query_set){0};
    }
}

void query_set_plan(struct query_set *set, const struct query_public *known)
{
    for (size_t i = 0; i < set->count; i++) {
        query_plan(&set->query[i], known);
    }
}

bool query_set_wants_model(const struct query_set *set)
{
    bool wants = false;
    for (size_t i = 0; i < set->count; i++) {
        const struct query_score *score = set->query[i].score;
        wants = wants || (score != NULL && score->weight == NULL);
    }
    return wants;
}

bool query_is_asked(const struct query *query, uint32_t round)
{
    return round < query->rounds;
}

size_t query_set_cells(const struct query_set *set, uint32_t round)
{
    size_t cells = 0;
    for (size_t i = 0; i < set->count; i++) {
        cells += query_is_asked(&set->query[i], round) ? set->query[i].cell_count : 0;
    }
    return cells;
}

uint64_t query_set_sensitivity_l1(const struct query_set *set, uint32_t round)
{
    uint64_t sensitivity = 0; /* each adds some cells of at most 2^QUERY_BITS_MAX: far below 2^63 */
    for (size_t i = 0; i < set->count; i++) {
        if (query_is_asked(&set->query[i], round)) {
            sensitivity += query_sensitivity_l1(&set->query[i], set->grid_bits);
        }
    }
    return sensitivity;
}

/* Squares below 2^53 are exact, and so is a root's square; the sum of larger ones is off by less than 2^-40 of it. */
static uint64_t root_up(double squares)
{
    const double safe = squares < 0x1p53 ? squares : squares * (1 + 0x1p-40);
    const double root = ceil(sqrt(safe));
    return (uint64_t)root + (root * root < safe ? 1 : 0);
}

uint64_t query_set_sensitivity_l2(const struct query_set *set, uint32_t round)
{
    double squares = 0;
    for (size_t i = 0; i < set->count; i++) {
        if (query_is_asked(&set->query[i], round)) {
            squares += query_sensitivity_squared(&set->query[i], set->grid_bits);
        }
    }
    return root_up(squares);
}

void query_set_add(int64_t *sum, const struct query_set *set, uint32_t round,
                   const double *threshold, const struct row *row)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct query *query = &set->query[i];
        if (query_is_asked(query, round)) {
            const double asked = query->kind == QUERY_QUANTILE ? threshold[i] : 0;
            query_add(sum, query, set->grid_bits, asked, row);
            sum += query->cell_count;
        }
    }
}
