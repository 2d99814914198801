/* query_answers_survival.c - the answers of a survival question, and its curves' points. */

#include "base/decimal.h"
#include "dp/encode.h"
#include "estimate/cells.h"
#include "query/query_answers_notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double query_cell_variance(const struct query_run *run)
{
    const double deviation = ldexp(query_noise_deviation(&run->noise), -(int)run->set->grid_bits);
    return deviation * deviation;
}

void query_balanced_cells(double *cell, const struct answering *answering)
{
    const size_t count = answering->query->cell_count;
    for (size_t i = 0; i < count; i++) {
        cell[i] = decode_value(answering->sum[i], answering->run->set->grid_bits);
    }
    cells_balance(cell, count, (double)answering->run->record_count);
}

struct survival_cells survival_cells_of(double *cell, const struct answering *answering)
{
    const struct query *query = answering->query;
    const double one = ldexp(1, (int)answering->run->set->grid_bits);
    const double part = (double)query_survival_part(query, (uint64_t)one);
    const struct survival_cells cells = {.cell = cell,
                                         .groups = query_groups(query),
                                         .intervals = query->intervals,
                                         .end = query->end,
                                         .variance = query_cell_variance(answering->run) *
                                                     (one / part) * (one / part),
                                         .block = query->block};
    for (size_t i = 0; i < query->cell_count; i++) {
        cell[i] = (double)answering->sum[i] / part;
    }
    survival_balance(cell, &cells, (double)answering->run->record_count);
    return cells;
}

size_t survival_answers(const struct query *query)
{
    const size_t groups = query_groups(query);
    return 2 * groups + (groups > 1 ? 2 * groups - 1 : 0);
}

size_t survival_points(const struct query *query)
{
    return query_groups(query) * query->intervals;
}

static void set_answer(struct query_answer *answer, const struct answering *answering,
                       const struct estimate *estimate, const char *unit)
{
    answer->records = (double)answering->run->record_count;
    answer->value = estimate->value;
    answer->error = isnan(estimate->value) ? NAN : estimate->noise;
    answer->low = estimate->value - ESTIMATE_Z_NOISE * estimate->noise;
    answer->high = estimate->value + ESTIMATE_Z_NOISE * estimate->noise;
    answer->sampling = isnan(estimate->value) ? NAN : estimate->sampling;
    answer->total_low = estimate->low;
    answer->total_high = estimate->high;
    (void)snprintf(answer->unit, sizeof answer->unit, "%s", unit);
}

/* How many are in no curve: what the cell for them has. */
static void say_left_out(struct query_answer *answer, const struct survival_cells *cells)
{
    const double left_out = cells->cell[SURVIVAL_CELLS(cells->groups, cells->intervals) - 1];
    query_say(answer,
              "; about %.0f records (noise %.1f) are in no curve: they have no time above 0 or "
              "no group, or where leaves them out",
              fmax(left_out, 0), sqrt(cells->variance));
}

/* As what the counts were released, and what the other way would have done to the noise, or does. */
static void say_release(struct query_answer *answer, const struct answering *answering,
                        const struct survival_cells *cells)
{
    const struct survival_public known = {.records = (double)answering->run->record_count,
                                          .groups = cells->groups,
                                          .variance = query_cell_variance(answering->run)};
    double ratio = 0;
    (void)survival_choose(&ratio, &known, cells->intervals, answering->run->noise.is_gaussian);
    char way[128] = "plain cells";
    char other[96] = "";
    if (cells->block > 0) {
        (void)snprintf(way, sizeof way, "two trees, of deaths and of the rest, in blocks of %zu",
                       cells->block);
    }
    if (!isnan(ratio)) {
        (void)snprintf(other, sizeof other, "; as %s its noise would have %.2f times the variance",
                       cells->block > 0 ? "plain cells" : "trees of deaths and of censorings",
                       cells->block > 0 ? 1 / ratio : ratio);
    }
    (void)snprintf(answer->note, sizeof answer->note, "from %zu intervals in %s%s",
                   cells->intervals, way, other);
    say_left_out(answer, cells);
}

void survival_name_median(char name[static QUERY_NAME_BYTES], const struct query *query,
                          size_t group)
{
    const char *of_group = query_group_name(query, group);
    query_part_name(name, query, "median%s%s", of_group[0] == '\0' ? "" : " ", of_group);
}

void survival_name_mean(char name[static QUERY_NAME_BYTES], const struct query *query, size_t group)
{
    const char *of_group = query_group_name(query, group);
    query_part_name(name, query, "mean up to %.6g%s%s", query->end, of_group[0] == '\0' ? "" : " ",
                    of_group);
}

void survival_name_difference(char name[static QUERY_NAME_BYTES], const struct query *query,
                              size_t group)
{
    query_part_name(name, query, "mean up to %.6g, %s less %s", query->end,
                    query_group_name(query, group), query_group_name(query, 0));
}

/* One of two curves that are shown may stay above one half. refused: the note if one is not shown, also for the means */
static void answer_medians(struct query_answer *answer, const struct answering *answering,
                           const struct survival *survival, size_t group, const char *refused)
{
    const struct query *query = answering->query;
    const bool are_shown = survival->curve[0].shown > 0 && survival->curve[group].shown > 0;
    set_answer(answer, answering, &survival->median_difference[group], query->column.name);
    query_part_name(answer->name, query, "median, %s less %s", query_group_name(query, group),
                    query_group_name(query, 0));
    if (!are_shown) {
        (void)snprintf(answer->note, sizeof answer->note, "%s", refused);
    } else if (isnan(answer->value)) {
        (void)snprintf(answer->note, sizeof answer->note, "a curve stays above one half up to %.6g",
                       query->end);
    } else {
        (void)snprintf(answer->note, sizeof answer->note,
                       "the interval is made of the two medians' intervals");
    }
}

static size_t answer_groups(struct query_answer *answer, const struct answering *answering,
                            const struct survival *survival, const struct survival_cells *cells)
{
    const struct query *query = answering->query;
    const char *time = query->column.name;
    for (size_t g = 0; g < cells->groups; g++) {
        const struct survival_curve *curve = &survival->curve[g];
        const struct survival_of own = survival_of_two(g, g);
        struct query_answer *median = &answer[2 * g];
        struct query_answer *mean = &answer[2 * g + 1];
        set_answer(median, answering, &curve->median, time);
        set_answer(mean, answering, &curve->mean, time);
        survival_name_median(median->name, query, g);
        survival_name_mean(mean->name, query, g);
        if (curve->shown == 0) {
            survival_say_too_few(median, answering, cells, &own);
        } else if (curve->median_beyond) {
            (void)snprintf(median->note, sizeof median->note,
                           "the curve stays above one half up to %.6g", query->end);
        } else {
            (void)snprintf(median->note, sizeof median->note, "the interval is in steps of %s",
                           decimal_short(query->edge[0], 4).text);
        }
        if (curve->shown == 0) {
            (void)snprintf(mean->note, sizeof mean->note, "%s", median->note);
        } else if (isnan(curve->mean.value)) {
            survival_say_too_few(mean, answering, cells, &own);
        } else {
            say_release(mean, answering, cells);
        }
    }
    return 2 * cells->groups;
}

void answer_survival(struct query_answer *answer, const struct answering *answering)
{
    const struct query *query = answering->query;
    double cell[SURVIVAL_RELEASED_MAX];
    struct survival survival;
    const struct survival_cells cells = survival_cells_of(cell, answering);

    survival_estimate(&survival, &cells);
    answer += answer_groups(answer, answering, &survival, &cells);
    for (size_t g = 1; g < cells.groups; g++) {
        set_answer(answer, answering, &survival.mean_difference[g], query->column.name);
        survival_name_difference(answer->name, query, g);
        if (isnan(survival.mean_difference[g].value)) {
            const struct survival_of two = survival_of_two(0, g);
            survival_say_too_few(answer, answering, &cells, &two);
        }
        answer_medians(answer + 1, answering, &survival, g, answer->note);
        answer++;
        answer++;
    }
    if (cells.groups > 1) {
        const struct estimate p = {survival.log_rank_p, NAN, NAN, NAN, NAN};
        set_answer(answer, answering, &p, "p-value");
        query_part_name(answer->name, query, "log-rank test that the groups do not differ");
        survival_say_test(answer, answering, &survival, &cells);
    }
}

void point_survival(struct query_point *point, const struct answering *answering)
{
    const struct query *query = answering->query;
    double cell[SURVIVAL_RELEASED_MAX];
    struct survival survival;
    const struct survival_cells cells = survival_cells_of(cell, answering);

    survival_estimate(&survival, &cells);
    for (size_t g = 0; g < cells.groups; g++) {
        for (size_t j = 0; j < cells.intervals; j++) {
            const struct survival_point *from = &survival.curve[g].point[j];
            *point = (struct query_point){.time = from->time,
                                          .value = from->survival.value,
                                          .low = from->survival.low,
                                          .high = from->survival.high,
                                          .band_low = from->band_low,
                                          .band_high = from->band_high,
                                          .noise_low = from->noise_low,
                                          .noise_high = from->noise_high,
                                          .at_risk = from->at_risk};
            (void)snprintf(point->question, sizeof point->question, "%s", query->text);
            (void)snprintf(point->group, sizeof point->group, "%s", query_group_name(query, g));
            point++;
        }
    }
}
