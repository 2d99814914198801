/* between.c - the joining of sites. */

#include "estimate/between.h"

#include "base/check.h"
#include "estimate/cells.h"

#include <math.h>

enum { HALVINGS = 200, GRID = 64 };

static const double precise = 1e-7; /* of another site's interval, in standard errors */

static const double pi = 3.14159265358979323846;

/* The sites that are given. */
struct given {
    double y[BETWEEN_SITES_MAX];
    double v[BETWEEN_SITES_MAX];
    double excess
        [BETWEEN_SITES_MAX]; /* kurtosis of y above a normal variable's: 3 of Laplace noise alone */
    size_t k;
};

/* The weighted mean with a given tau^2. */
struct weighed {
    double mean;
    double weights; /* their sum */
    double squares; /* the sum of their squares */
    double q;
};

static struct weighed weigh(const struct given *given, double variance)
{
    struct weighed out = {.mean = 0};
    for (size_t i = 0; i < given->k; i++) {
        const double w = 1 / (given->v[i] + variance);
        out.weights += w;
        out.squares += w * w;
        out.mean += w * given->y[i];
    }
    out.mean /= out.weights;
    for (size_t i = 0; i < given->k; i++) {
        const double gap = given->y[i] - out.mean;
        out.q += gap * gap / (given->v[i] + variance);
    }
    return out;
}

/* The tau^2 at which Q, which falls in it, is as asked; 0 where it is less everywhere. */
static double variance_where(const struct given *given, double q)
{
    double low = 0;
    double high = given->v[0];
    if (!(weigh(given, 0).q > q)) {
        return 0;
    }
    while (weigh(given, high).q > q && high < 1e300) {
        high *= 2;
    }
    for (int i = 0; i < HALVINGS && high - low > 1e-14 * high; i++) {
        const double middle = (low + high) / 2;
        *(weigh(given, middle).q > q ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

/* P(T > x) of Student's t, x >= 0, by its finite sums (Abramowitz, Stegun 26.7.3, 26.7.4). */
static double t_above(double x, size_t freedom)
{
    const double tangent = x / sqrt((double)freedom);
    const double c = 1 / sqrt(1 + tangent * tangent);
    const bool is_odd = freedom % 2 == 1;
    double term = is_odd ? c : 1;
    double sum = freedom == 1 ? 0 : term;
    for (size_t j = is_odd ? 3 : 2; j < freedom; j += 2) {
        term *= c * c * (double)(j - 1) / (double)j;
        sum += term;
    }
    const double inside = is_odd ? (atan(tangent) + tangent * c * sum) * 2 / pi : tangent * c * sum;
    return (1 - inside) / 2;
}

/* The 97.5 % point. */
static double t_point(size_t freedom)
{
    double low = 0;
    double high = 16;
    for (int i = 0; i < HALVINGS && high - low > 1e-14 * high; i++) {
        const double middle = (low + high) / 2;
        *(t_above(middle, freedom) > 0.025 ? &low : &high) = middle;
    }
    return high;
}

/* The median of chi-squared. */
static double median_of(size_t freedom)
{
    double low = 0;
    double high = (double)freedom;
    for (int i = 0; i < HALVINGS && high - low > 1e-14 * high; i++) {
        const double middle = (low + high) / 2;
        *(chi_squared_above(middle, freedom) > 0.5 ? &low : &high) = middle;
    }
    return high;
}

static double error_of(const struct weighed *weighed, size_t k)
{
    return sqrt(fmax(1, weighed->q / (double)(k - 1)) / weighed->weights);
}

/* What tau^2 may be: P(tau^2 <= x) = P(chi-squared >= Q(x)), so that 0 has a mass. Each part between two points of the grid counts
 * as its upper end, which is wider. */
struct possible {
    double mass[GRID + 1];
    double mean[GRID + 1];
    double scale[GRID + 1];
    size_t freedom; /* of Student's t about each mean; 0: normal */
};

/* is_next: of another site's effect; else of the mean, which at a given tau^2 is normal. */
static void list_possible(struct possible *out, const struct given *given, bool is_next)
{
    const size_t freedom = given->k - 1;
    double high = given->v[0];
    double before = 0;
    while (chi_squared_above(weigh(given, high).q, freedom) < 0.999 && high < 1e300) {
        high *= 2;
    }
    for (size_t i = 0; i <= GRID; i++) {
        const double variance = i == 0 ? 0 : high * pow(10, 7 * ((double)i / GRID - 1));
        const struct weighed at = weigh(given, variance);
        const double until = i == GRID ? 1 : chi_squared_above(at.q, freedom);
        const double error = error_of(&at, given->k);
        out->mass[i] = until - before;
        out->mean[i] = at.mean;
        out->scale[i] = is_next ? sqrt(variance + error * error) : 1 / sqrt(at.weights);
        before = until;
    }
    out->freedom = is_next ? freedom : 0;
}

static double tail_of(const struct possible *possible, double x)
{
    return possible->freedom > 0 ? t_above(x, possible->freedom) : erfc(x / sqrt(2)) / 2;
}

/* The point that is exceeded with 2.5 %, or all but 2.5 %. */
static double point_of(const struct possible *possible, bool is_upper)
{
    double low = INFINITY;
    double high = -INFINITY;
    for (size_t i = 0; i <= GRID; i++) {
        const double reach = 50 * possible->scale[i];
        low = fmin(low, possible->mean[i] - reach);
        high = fmax(high, possible->mean[i] + reach);
    }
    while (high - low > precise * possible->scale[0]) {
        const double middle = (low + high) / 2;
        double above = 0;
        for (size_t i = 0; i <= GRID; i++) {
            const double t = (middle - possible->mean[i]) / possible->scale[i];
            const double tail = tail_of(possible, fabs(t));
            above += possible->mass[i] * (t >= 0 ? tail : 1 - tail);
        }
        *(above > (is_upper ? 0.025 : 0.975) ? &low : &high) = middle;
    }
    return is_upper ? high : low;
}

/* v so that all weights 1/v would say as much of tau^2. */
static double typical(const struct given *given)
{
    const struct weighed alike = weigh(given, 0);
    const double k = (double)given->k;
    return (k - 1) * alike.weights / (alike.weights * alike.weights - alike.squares);
}

/* The noise's tails are heavier than the normal distribution's, and so are Q's. A multiple of chi-squared has Q's mean and
 * variance, 2 (k - 1) + sum excess_i (1 - w_i / sum w)^2 (Box 1954); between whole degrees of freedom the chance is drawn
 * straight. */
static double p_of(const struct given *given, double q)
{
    const double mean = (double)(given->k - 1);
    const struct weighed all = weigh(given, 0);
    double variance = 2 * mean;
    for (size_t i = 0; i < given->k; i++) {
        const double other = 1 - 1 / given->v[i] / all.weights;
        variance += given->excess[i] * other * other;
    }
    const double freedom = fmax(2 * mean * mean / variance, 1);
    const size_t below = (size_t)freedom;
    const double x = q * freedom / mean;
    const double first = chi_squared_above(x, below);
    return first + (freedom - (double)below) * (chi_squared_above(x, below + 1) - first);
}

static void tell_spread(struct between *out, const struct given *given, double variance)
{
    struct possible possible;
    out->spread = sqrt(variance);
    out->share = variance / (variance + typical(given));
    out->statistic = weigh(given, 0).q;
    out->p = p_of(given, out->statistic);
    list_possible(&possible, given, true);
    out->next_low = point_of(&possible, false);
    out->next_high = point_of(&possible, true);
}

/* Student's t counts k sites, and noise may leave fewer. Then the interval of what tau^2 may be is the wider one. */
static void tell_mean(struct between *out, const struct given *given, double variance)
{
    const struct weighed all = weigh(given, variance);
    struct possible possible;
    out->value = all.mean;
    out->error = error_of(&all, given->k);
    const double reach = t_point(given->k - 1) * out->error;
    list_possible(&possible, given, false);
    out->low = fmin(out->value - reach, point_of(&possible, false));
    out->high = fmax(out->value + reach, point_of(&possible, true));
}

static double cut_off(double value, const struct between_site *site)
{
    return isnan(value) || !(site->from < site->to) ? value
                                                    : fmin(fmax(value, site->from), site->to);
}

static void join(struct between *out, struct between_site *site, size_t count, bool is_bound)
{
    struct given given = {.k = 0};
    CHECK(count <= BETWEEN_SITES_MAX);
    for (size_t i = 0; i < count; i++) {
        site[i].weight = NAN;
        if (!isnan(site[i].value)) {
            const double noise = site[i].noise * site[i].noise;
            const double v = site[i].sampling * site[i].sampling + noise;
            given.y[given.k] = site[i].value;
            given.v[given.k] = v;
            given.excess[given.k++] = 3 * (noise / v) * (noise / v);
        }
    }
    *out = (struct between){given.k, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (given.k < BETWEEN_SITES_MIN) {
        return;
    }
    const double variance = variance_where(&given, median_of(given.k - 1));
    const double weights = weigh(&given, variance).weights;
    tell_mean(out, &given, variance);
    for (size_t i = 0, j = 0; i < count; i++) {
        if (!isnan(site[i].value)) {
            site[i].weight = 1 / (given.v[j++] + variance) / weights;
        }
    }
    if (!is_bound) {
        tell_spread(out, &given, variance);
    }
}

void between_sites(struct between *out, struct between_site *site, size_t count, bool is_bound)
{
    double *const end[] = {&out->low, &out->high, &out->next_low, &out->next_high};
    join(out, site, count, is_bound);
    for (size_t i = 0; i < count; i++) {
        if (!isnan(site[i].value)) {
            /* A mean beyond an end is told as the end, and its interval is about that: else it might be empty. */
            const double value = cut_off(out->value, &site[i]);
            for (size_t j = 0; j < sizeof end / sizeof end[0]; j++) {
                *end[j] = cut_off(*end[j] + (value - out->value), &site[i]);
            }
            out->value = value;
            site[i].value = cut_off(site[i].value, &site[i]);
        }
    }
}

void between_apart(struct between *out, const struct between_site *site, size_t count)
{
    *out = (struct between){0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    for (size_t i = 0; i < count; i++) {
        out->sites += isnan(site[i].value) ? 0 : 1;
    }
}

double between_expect(double half, size_t sites)
{
    return sites < BETWEEN_SITES_MIN ? NAN
                                     : half / ESTIMATE_Z * t_point(sites - 1) / sqrt((double)sites);
}

double between_expect_next(double half, size_t sites)
{
    struct between_site site[BETWEEN_SITES_MAX] = {{0}};
    struct between out;
    const size_t count = sites < BETWEEN_SITES_MAX ? sites : BETWEEN_SITES_MAX;
    const double k = (double)count;
    const double deviation = half / ESTIMATE_Z;
    if (isnan(half) || sites < BETWEEN_SITES_MIN) {
        return NAN;
    }
    for (size_t i = 0; i < count; i++) {
        site[i].value = sqrt(12 / k / (k + 1)) * deviation * ((double)i - (k - 1) / 2);
        site[i].sampling = deviation;
    }
    between_sites(&out, site, count, false);
    return (out.next_high - out.next_low) / 2;
}
