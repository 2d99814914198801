/* query_advice.c - the search for a factor that is enough. The question is then planned again with this factor. */

#include "query/query_advice.h"
#include "base/text.h"

#include "base/check.h"
#include "estimate/cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ADVICE_CELLS_MOST = CORRELATE_CELLS_MAX };

double advice_quieter(double factor, double multiplier)
{
    static const double delta = 1e-5;
    static const double bound_of_ratio =
        0.06; /* what the closed form is too large by, as a power */
    if (!(multiplier > 0)) {
        return factor;
    }
    /* zCDP: epsilon = rho + 2 sqrt(rho log(1/delta)), rho = 1/(2 multiplier^2) (Bun and Steinke 2016). */
    const double left = log(1 / delta);
    const double root = sqrt(0.5) / multiplier;
    const double epsilon = root * root + 2 * root * sqrt(left);
    return (sqrt(left + factor * epsilon) - sqrt(left)) / root * pow(factor, -bound_of_ratio);
}

/* How far a record moves the set's vector, with another plan of one of its questions; unit: grid steps. */
static double moves_of(const struct query_run *run, const struct query *query,
                       const struct query *planned)
{
    const struct query_set *set = run->set;
    const unsigned bits = set->grid_bits;
    if (run->noise.is_gaussian) {
        return sqrt(fmax(cells_square((double)query_set_sensitivity_l2(set, 0)) -
                             query_sensitivity_squared(query, bits) +
                             query_sensitivity_squared(planned, bits),
                         0));
    }
    return (double)query_set_sensitivity_l1(set, 0) - (double)query_sensitivity_l1(query, bits) +
           (double)query_sensitivity_l1(planned, bits);
}

void advised_init(struct advised *out, const struct answering *answering, double factor,
                  bool is_of_records)
{
    const struct query_run *run = answering->run;
    const struct query *query = answering->query;
    const double moves = moves_of(run, query, query);
    const double multiplier = run->noise.is_gaussian ? run->noise.scale / moves : 0;
    const double quieter = is_of_records ? 1 : advice_quieter(factor, multiplier);
    out->query = *query;
    out->times = is_of_records ? factor : 1;
    if (query->planned.records > 0) {
        struct query_public known = query->planned;
        known.records *= out->times;
        known.variance /= cells_square(quieter);
        query_plan(&out->query, &known);
    }
    out->variance = query_cell_variance(run) *
                    cells_square(moves_of(run, query, &out->query) / moves / quieter);
}

/* A twelfth more each, as a note prints it: 1.1 first. */
static double printed(size_t step)
{
    static const double growth = 1.08;
    return ceil(10 * 1.05 * pow(growth, (double)step)) / 10;
}

struct advice advice_search(const struct answering *answering, advice_does *does, const void *of)
{
    struct advice out;
    double *const factor[] = {&out.epsilon, &out.records};
    size_t most = 0;
    while (printed(most) <= ADVICE_FACTOR_MOST) {
        most++;
    }
    for (size_t is_of_records = 0; is_of_records < 2; is_of_records++) {
        size_t fewer = 0; /* steps that do not do, or are not looked at */
        size_t end = most;
        while (fewer < end) {
            const size_t middle = (fewer + end) / 2;
            struct advised advised;
            advised_init(&advised, answering, printed(middle), is_of_records == 1);
            const bool is = does(&advised, of);
            end = is ? middle : end;
            fewer = is ? fewer : middle + 1;
        }
        *factor[is_of_records] = end < most ? printed(end) : NAN;
    }
    return out;
}

static double told(double factor)
{
    const double tenths = ceil(10 * factor - 1e-6);
    return tenths <= 10 * ADVICE_FACTOR_MOST ? tenths / 10 : NAN;
}

struct advice advice_of_noise(const struct answering *answering, double factor)
{
    enum { HALVINGS = 40 };
    const struct query_noise *noise = &answering->run->noise;
    const double multiplier =
        noise->is_gaussian
            ? noise->scale / moves_of(answering->run, answering->query, answering->query)
            : 0;
    double less = 1;
    double epsilon = 2 * ADVICE_FACTOR_MOST; /* is not told */
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (less + epsilon) / 2;
        *(advice_quieter(middle, multiplier) >= factor ? &epsilon : &less) = middle;
    }
    return (struct advice){told(epsilon), told(factor)};
}

bool advice_text(char *text, size_t bytes, const struct advice *advice)
{
    const double epsilon = told(advice->epsilon);
    const double records = told(advice->records);
    if (isnan(epsilon) && isnan(records)) {
        return false;
    }
    if (epsilon == records) {
        (void)snprintf(text, bytes, "%.3g times the epsilon, or the records, would be enough",
                       epsilon);
    } else if (isnan(epsilon) || isnan(records)) {
        (void)snprintf(text, bytes, "%.3g times the %s would be enough",
                       isnan(epsilon) ? records : epsilon, isnan(epsilon) ? "records" : "epsilon");
    } else {
        (void)snprintf(text, bytes,
                       "%.3g times the epsilon, or %.3g times the records, would be enough",
                       epsilon, records);
    }
    return true;
}

bool advice_say(char *note, size_t bytes, const struct advice *advice)
{
    char text[ADVICE_BYTES];
    const bool is = advice_text(text, sizeof text, advice);
    if (is) {
        text_add(note, bytes, "; %s", text);
    }
    return is;
}

/* Adds normal variables of this deviation; to counts without a change of their total. */
static void add_noise(double *cell, const struct advice_cells *cells, double deviation,
                      uint64_t *state)
{
    double total = 0;
    double normal[2];
    for (size_t i = 0; i < cells->m; i++) {
        total += cell[i];
        if (i % 2 == 0) {
            cells_normals(normal, state);
        }
        cell[i] += deviation * normal[i % 2];
    }
    if (cells->is_counts) {
        cells_balance(cell, cells->m, total);
    }
}

/* How many times the records, others. For sums of values chance is small beside noise. */
static void draw_records(double *cell, const struct advice_cells *cells, double times,
                         uint64_t *state)
{
    double normal[2] = {0};
    for (size_t i = 0; i < cells->m; i++) {
        if (cells->is_counts) {
            cells_normals(normal, state);
        }
        cell[i] = times * cell[i] + sqrt(fmax(times * cell[i], 0)) * normal[0];
    }
}

bool advice_in_trials(const struct advice_cells *found, const struct advised *advised,
                      advice_given *given, const void *of)
{
    enum { TRIALS = 24, FAILURES_MOST = 4 };
    double cell[ADVICE_CELLS_MOST];
    const struct advice_cells next = {cell, found->m, advised->variance, found->is_counts, NULL};
    uint64_t state = 1;
    size_t failures = 0;
    CHECK(found->m <= ADVICE_CELLS_MOST);
    for (size_t trial = 0; trial < TRIALS && failures <= FAILURES_MOST; trial++) {
        memcpy(cell, found->cell, found->m * sizeof *cell);
        add_noise(cell, found, sqrt(found->variance), &state);
        if (found->suppose != NULL) {
            found->suppose(cell, ((double)trial + 0.5) / TRIALS, of);
        }
        if (advised->times > 1) {
            draw_records(cell, found, advised->times, &state);
        }
        add_noise(cell, found, sqrt(next.variance), &state);
        failures += !given(&next, advised, of);
    }
    return failures <= FAILURES_MOST;
}
