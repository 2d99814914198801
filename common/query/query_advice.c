/* query_advice.c - the search for a factor that does. Whoever follows the advice gets a question that is planned anew. */

#include "query/query_advice.h"

#include <math.h>

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

static double square(double x)
{
    return x * x;
}

/* How far a record moves the set's vector, with another plan of one of its questions; unit: grid steps. */
static double moves_of(const struct query_run *run, const struct query *query,
                       const struct query *planned)
{
    const struct query_set *set = run->set;
    const unsigned bits = set->grid_bits;
    if (run->noise.is_gaussian) {
        return sqrt(fmax(square((double)query_set_sensitivity_l2(set, 0)) -
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
        known.variance /= square(quieter);
        query_plan(&out->query, &known);
    }
    out->variance =
        query_cell_variance(run) * square(moves_of(run, query, &out->query) / moves / quieter);
}

/* What is asked of a factor: of the epsilon, of the records, or of both. */
struct asked {
    const struct answering *answering;
    advice_does *does;
    const void *of;
    bool of_epsilon;
    bool of_records;
};

static bool is_enough(const struct asked *asked, double factor)
{
    struct advised advised;
    for (size_t is_of_records = 0; is_of_records < 2; is_of_records++) {
        if (is_of_records == 0 ? asked->of_epsilon : asked->of_records) {
            advised_init(&advised, asked->answering, factor, is_of_records == 1);
            if (!asked->does(&advised, asked->of)) {
                return false;
            }
        }
    }
    return true;
}

/* A twelfth more each, as a note prints it: 1.1 first. */
static double printed(size_t step)
{
    static const double growth = 1.08;
    return ceil(10 * 1.05 * pow(growth, (double)step)) / 10;
}

static double least_factor(const struct asked *asked)
{
    size_t fewer = 0; /* steps that do not do, or are not looked at */
    size_t most = 0;
    while (printed(most) <= ADVICE_FACTOR_MOST) {
        most++;
    }
    size_t end = most;
    while (fewer < end) {
        const size_t middle = (fewer + end) / 2;
        const bool is = is_enough(asked, printed(middle));
        end = is ? middle : end;
        fewer = is ? fewer : middle + 1;
    }
    return end < most ? printed(end) : NAN;
}

double advice_factor(const struct answering *answering, advice_does *does, const void *of)
{
    return least_factor(&(struct asked){answering, does, of, true, true});
}

double advice_factor_of(const struct answering *answering, advice_does *does, const void *of,
                        bool is_of_records)
{
    return least_factor(&(struct asked){answering, does, of, !is_of_records, is_of_records});
}
