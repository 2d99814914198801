/* Correlations that are barely shown: how far below the limit the columns may be. And the reason for the length of an interval
 * without fourth moments. */

#include "estimate/cells.h"
#include "estimate/correlate_private.h"

#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { CELLS = 6, DRAWS = 400000, STUDIES = 4000, RECORDS = 500 };

static const bool plain[] = {false, false};

static double unit(struct seeded_random *seeded)
{
    return 1 - seeded_random_unit(seeded);
}

/* With a standard deviation of 1. */
static double laplace(struct seeded_random *seeded)
{
    return log(unit(seeded) / unit(seeded)) / sqrt(2);
}

static void normals(double *out, struct seeded_random *seeded)
{
    const double radius = sqrt(-2 * log(unit(seeded)));
    const double angle = 2 * 3.14159265358979323846 * seeded_random_unit(seeded);
    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
}

static struct correlate_moments moments_of(const double *cell, double variance, double records)
{
    return (struct correlate_moments){cell, 2, 0, plain, variance, records};
}

/* What is counted of draws that are shown. */
struct counted {
    double shown;
    double holds;
    double rejects;
    double plain_holds; /* planted: the interval of what was found */
};

/* Two skewed columns that are not correlated: means of -0.8, variances of 0.15. 5,000 records, whose own chance is left out. Noise of such
 * a deviation that two in a hundred are shown. */
static struct counted draw_rare(void)
{
    const double n = 5000;
    const double mean = -0.8;
    const double square = 0.15 + mean * mean;
    const double exact[CELLS] = {n / 2,          n * mean,        n * mean,
                                 n * square / 2, n * mean * mean, n * square / 2};
    const double sd = 0.0104 * n;
    struct counted out = {0};
    struct seeded_random seeded;
    seeded_random_init(&seeded, 11);
    for (int draw = 0; draw < DRAWS; draw++) {
        double cell[CELLS];
        for (size_t k = 0; k < CELLS; k++) {
            cell[k] = exact[k] + sd * laplace(&seeded);
        }
        const struct correlate_moments moments = moments_of(cell, sd * sd, n);
        struct correlate all;
        correlate_init(&all, &moments);
        const struct table1_figure figure = correlate_pair(&all, 0, 1);
        if (isnan(figure.estimate.value)) {
            continue;
        }
        const struct correlate_two found = correlate_found(&all, 0, 1);
        const struct correlate_ends ends = correlate_ends_of(&all, &found);
        out.shown++;
        out.holds += figure.noise_low <= 0 && 0 <= figure.noise_high;
        out.rejects += correlate_test(&all, 0, 1) < 0.05;
        out.plain_holds += ends.noise_low <= 0 && 0 <= ends.noise_high;
    }
    return out;
}

/* If intervals hold in 93.5 %, fewer than 91 % of 3,000 or more hold with a probability of 10^-7. If tests reject in 6.5 %, more
 * than 9 % reject with about the same probability. */
Test(correlate_choice, holds_where_few_are_shown_and_what_was_found_alone_does_not)
{
    const struct counted counted = draw_rare();
    const double holds = counted.holds / counted.shown;
    const double rejects = counted.rejects / counted.shown;
    const double planted = counted.plain_holds / counted.shown;
    cr_log_info("%g shown; %g hold, planted %g; %g reject", counted.shown, holds, planted, rejects);
    cr_assert(counted.shown > 0.01 * DRAWS && counted.shown < 0.1 * DRAWS);
    cr_expect(holds > 0.91, "%g", holds);
    cr_expect(rejects < 0.09, "%g", rejects);
    cr_expect(planted < 0.85, "planted: %g", planted);
}

/* A column's variance a number of deviations of its noise above the least: the interval ends further out near it, and nowhere else. */
Test(correlate_choice, longer_near_the_limit_alone)
{
    const double n = 20000;
    for (double over = 0.1; over < 6; over += 0.25) {
        const double sd = 0.1 * n / 2 / sqrt(1.01) / (over + 1 / correlate_variance_noise_most);
        const double cell[CELLS] = {n / 2, 0, 0, 0.1 * n / 2, 0.1 * 0.1 * n, 0.1 * n / 2};
        const struct correlate_moments moments = moments_of(cell, sd * sd, n);
        struct correlate all;
        correlate_init(&all, &moments);
        const struct correlate_two found = correlate_found(&all, 0, 1);
        const struct correlate_ends ends = correlate_ends_of(&all, &found);
        const struct estimate own = correlate_pair(&all, 0, 1).estimate;
        const bool is_near = correlate_over(&all, 0) < 1.75;
        cr_expect((own.high > ends.high) == is_near && own.low <= ends.low, "%g: %g and %g", over,
                  own.high, ends.high);
        cr_expect(is_near || own.low >= ends.low, "%g: %g and %g", over, own.low, ends.low);
    }
}

/* More records than there are, or a column that varies more than values at both ends do: noise alone. */
Test(correlate_choice, refuses_what_noise_alone_has_made_large)
{
    const double n = 4000;
    const double cell[CELLS] = {n / 2, 0, 0, 0.9 * n / 2, 0.3 * n, 0.9 * n / 2};
    const double sd = 0.12 * 0.9 * n / 2 / sqrt(1.81); /* the noise is 12 % of the variance */
    for (double records = n; records > n / 8; records /= 2) {
        const struct correlate_moments moments = moments_of(cell, sd * sd, records);
        struct correlate all;
        correlate_init(&all, &moments);
        const bool is_shown = !isnan(correlate_pair(&all, 0, 1).estimate.value);
        cr_expect(is_shown == (records > 0.9 * n), "%g records", records);
    }
}

/* The moments of a law: of x, y, x^2, xy, y^2; and of psi^2, which is what the variance of r is n times. */
struct law {
    double mean[5];
    double square;
};

static void add(struct law *law, double chance, double x, double y, double s, double r)
{
    const double psi = (x * y - r * (x * x + y * y) / 2) / (s * s);
    const double of[] = {x, y, x * x, x * y, y * y};
    for (size_t k = 0; k < 5; k++) {
        law->mean[k] += chance * of[k];
    }
    law->square += chance * psi * psi;
}

static const double spread = 0.29;
static const double correlation = 0.5;

/* Both are 0, but in a share s^2 of the records at an end: the same one in (1 + r)/2. */
static void draw_ends(double *z, struct seeded_random *seeded)
{
    z[0] = z[1] = 0;
    if (seeded_random_unit(seeded) < spread * spread) {
        z[0] = seeded_random_unit(seeded) < 0.5 ? 1 : -1;
        z[1] = seeded_random_unit(seeded) < (1 + correlation) / 2 ? z[0] : -z[0];
    }
}

static void draw_normal(double *z, struct seeded_random *seeded)
{
    double own[2];
    normals(own, seeded);
    z[0] = spread * own[0];
    z[1] = spread * (correlation * own[0] + sqrt(1 - correlation * correlation) * own[1]);
}

/* The standard deviation of r over some studies, and how many of some intervals hold the truth. */
struct spread_of_r {
    double deviation;
    double shown;  /* the interval that correlate_pair gives */
    double normal; /* one of 1.96 deviations of the normal law */
};

static struct spread_of_r simulate(void (*draw)(double *, struct seeded_random *), uint64_t seed)
{
    const double z =
        ESTIMATE_Z * (1 - correlation * correlation) / sqrt(RECORDS); /* of normal columns */
    struct spread_of_r out = {0};
    struct seeded_random seeded;
    double sum = 0;
    double square = 0;
    seeded_random_init(&seeded, seed);
    for (int study = 0; study < STUDIES; study++) {
        double cell[CELLS] = {RECORDS / 2.0};
        for (int i = 0; i < RECORDS; i++) {
            double x[2];
            draw(x, &seeded);
            cell[1] += x[0];
            cell[2] += x[1];
            cell[3] += x[0] * x[0] / 2;
            cell[4] += x[0] * x[1];
            cell[5] += x[1] * x[1] / 2;
        }
        const struct correlate_moments moments = moments_of(cell, 0, RECORDS);
        struct correlate all;
        correlate_init(&all, &moments);
        const struct estimate own = correlate_pair(&all, 0, 1).estimate;
        sum += own.value / STUDIES;
        square += own.value * own.value / STUDIES;
        out.shown += own.low <= correlation && correlation <= own.high;
        out.normal += fabs(own.value - correlation) <= z;
    }
    out.deviation = sqrt(square - sum * sum);
    out.shown /= STUDIES;
    out.normal /= STUDIES;
    return out;
}

/* docs/STUDY.md argues by these. Every sum of the release has the same mean under both laws, so that no release tells which it is. */
Test(correlate_choice, two_laws_of_the_same_moments_spread_by_a_factor_of_3_98)
{
    const double s = spread;
    const double r = correlation;
    struct law ends = {{0}, 0};
    struct law normal = {{0}, 0};
    add(&ends, 1 - s * s, 0, 0, s, r);
    for (int k = 0; k < 4; k++) {
        const double x = k % 2 == 0 ? 1 : -1;
        const double y = k < 2 ? x : -x;
        add(&ends, s * s / 2 * (k < 2 ? (1 + r) / 2 : (1 - r) / 2), x, y, s, r);
    }
    /* Gauss and Hermite's five points: exact for products up to the ninth power. */
    const double at[] = {-2.8569700138728056, -1.3556261799742659, 0, 1.3556261799742659,
                         2.8569700138728056};
    const double weight[] = {0.011257411327720689, 0.22207592200561265, 0.53333333333333333,
                             0.22207592200561265, 0.011257411327720689};
    for (size_t a = 0; a < 5; a++) {
        for (size_t b = 0; b < 5; b++) {
            add(&normal, weight[a] * weight[b], s * at[a],
                s * (r * at[a] + sqrt(1 - r * r) * at[b]), s, r);
        }
    }
    for (size_t k = 0; k < 5; k++) {
        cr_expect(fabs(ends.mean[k] - normal.mean[k]) < 1e-12, "%zu: %g and %g", k, ends.mean[k],
                  normal.mean[k]);
    }
    cr_expect(fabs(sqrt(normal.square) - 0.75) < 1e-12 && fabs(sqrt(ends.square) - 2.986) < 5e-4);
    cr_expect(fabs(sqrt(ends.square / normal.square) - 3.98) < 5e-3);
}

/* A deviation of 4,000 errs by 1.1 %, a share by 0.8 % at most: 6 % of the deviations and 0.04 of the shares have false alarms below 1e-6. */
Test(correlate_choice, an_interval_that_serves_one_law_fails_the_other)
{
    const struct spread_of_r of_normal = simulate(draw_normal, 21);
    const struct spread_of_r of_ends = simulate(draw_ends, 22);
    const double root = sqrt(RECORDS);
    cr_log_info("%g and %g; shown %g and %g, normal's %g and %g", of_normal.deviation * root,
                of_ends.deviation * root, of_normal.shown, of_ends.shown, of_normal.normal,
                of_ends.normal);
    cr_expect(fabs(of_normal.deviation * root / 0.75 - 1) < 0.06);
    cr_expect(fabs(of_ends.deviation * root / 2.986 - 1) < 0.08, "%g", of_ends.deviation * root);
    cr_expect(of_normal.normal > 0.91 && of_ends.normal < 0.42); /* P(|Z| < 1.96 / 3.98) is 0.38 */
    cr_expect(of_ends.shown > 0.91 && of_normal.shown > 0.999);
}
