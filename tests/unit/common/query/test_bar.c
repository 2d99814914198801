/* Bars of noise against the exact distribution of what is drawn, summed up term by term: they are
 * exceeded no more often than they say, and are not much longer than necessary. */

#include "query/bar.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPAN = 4001, ZERO = SPAN / 2 };

/* p (SPAN) of one draw; the tails beyond the span are below 1e-15. */
static void draw(double *p, const struct query_noise *noise)
{
    double sum = 0;
    for (int i = 0; i < SPAN; i++) {
        const double z = fabs((double)(i - ZERO)) / noise->scale;
        p[i] = exp(noise->is_gaussian ? -z * z / 2 : -z);
        sum += p[i];
    }
    for (int i = 0; i < SPAN; i++) {
        p[i] /= sum;
    }
}

static void convolve(double *p, const double *q)
{
    static double out[SPAN];
    memset(out, 0, sizeof out);
    for (int i = 0; i < SPAN; i++) {
        for (int j = 0; j < SPAN && p[i] > 1e-18; j++) {
            const int k = i + j - ZERO;
            if (k >= 0 && k < SPAN) {
                out[k] += p[i] * q[j];
            }
        }
    }
    memcpy(p, out, sizeof out);
}

static void distribution(double *p, const struct query_noise *noise)
{
    static double one[SPAN];
    draw(one, noise);
    memcpy(p, one, sizeof one);
    for (uint32_t i = 1; i < noise->draws; i++) {
        convolve(p, one);
    }
}

static double exceeded(const double *p, double ratio, double bar)
{
    double sum = 0;
    for (int i = 0; i < SPAN; i++) {
        for (int j = ratio > 0 ? 0 : ZERO; j < (ratio > 0 ? SPAN : ZERO + 1); j++) {
            if (fabs((i - ZERO) + ratio * (j - ZERO)) > bar) {
                sum += p[i] * (ratio > 0 ? p[j] : 1);
            }
        }
    }
    return sum;
}

static const struct query_noise noises[] = {
    {false, 0.3, 1}, {false, 1, 1},   {false, 7.5, 1}, {false, 40, 1},
    {false, 7.5, 5}, {false, 20, 20}, {true, 0.3, 1},  {true, 0.5, 3},
    {true, 1, 1},    {true, 4, 5},    {true, 40, 1},   {true, 20, 20},
};

Test(bar, holds_for_the_noise_as_drawn_and_is_not_much_too_large)
{
    static double p[SPAN];
    for (size_t i = 0; i < sizeof noises / sizeof noises[0]; i++) {
        const struct query_noise *noise = &noises[i];
        distribution(p, noise);
        for (double probability = 0.5; probability > 1e-6; probability /= 7) {
            const double bar = query_noise_bar(noise, 0, probability);
            cr_expect(exceeded(p, 0, bar) <= probability * (1 + 1e-9), "noise %zu, %g: %g", i,
                      probability, exceeded(p, 0, bar));
            const double without_steps = bar - 2.0 * noise->draws - 1;
            cr_expect(exceeded(p, 0, without_steps) > probability, "noise %zu, %g: %g", i,
                      probability, exceeded(p, 0, without_steps));
        }
    }
}

Test(bar, holds_for_a_ratio_too)
{
    static double p[SPAN];
    for (size_t i = 0; i < sizeof noises / sizeof noises[0]; i++) {
        const struct query_noise *noise = &noises[i];
        distribution(p, noise);
        for (double ratio = 0.25; ratio <= 1; ratio *= 2) {
            const double bar = query_noise_bar(noise, ratio, 0.05);
            cr_expect(exceeded(p, ratio, bar) <= 0.05, "noise %zu, ratio %g: %g", i, ratio,
                      exceeded(p, ratio, bar));
            const double smaller = 0.98 * bar - (1 + ratio) * 2 * noise->draws - 1;
            cr_expect(exceeded(p, ratio, smaller) > 0.05, "noise %zu, ratio %g: %g", i, ratio,
                      exceeded(p, ratio, smaller));
        }
    }
}

/* Planted: half the bar; the bar of another number of draws; the other side forgotten. */
Test(bar, shows_planted_faults)
{
    static double p[SPAN];
    const struct query_noise noise = {false, 20, 5};
    const struct query_noise fewer = {false, 20, 4};
    distribution(p, &noise);
    cr_expect(exceeded(p, 0, query_noise_bar(&noise, 0, 0.05) / 2) > 0.05);
    cr_expect(exceeded(p, 0, query_noise_bar(&fewer, 0, 0.05)) > 0.05);
    cr_expect(exceeded(p, 0, query_noise_bar(&noise, 0, 0.1)) > 0.05);
    cr_expect(exceeded(p, 0.5, query_noise_bar(&noise, 0, 0.05)) > 0.05);
}

/* Laplace of scale 1: P(|z| > t) = exp(-t); the bound on the deviation is nearly reached. */
Test(bar, agrees_with_what_is_known)
{
    const struct query_noise noise = {false, 1e6, 1};
    const struct query_noise normal = {true, 1e6, 4};
    cr_assert(fabs(query_noise_bar(&noise, 0, 0.05) / 1e6 - log(20)) < 1e-5);
    cr_assert(fabs(query_noise_bar(&normal, 0, 0.05) / 2e6 - 1.959964) < 1e-5);
    cr_assert(fabs(query_noise_deviation(&noise) - sqrt(2) * 1e6) < 1);
    cr_assert(fabs(query_noise_deviation(&normal) - 2e6) < 1);
    for (size_t i = 0; i < sizeof noises / sizeof noises[0]; i++) {
        static double p[SPAN];
        double variance = 0;
        distribution(p, &noises[i]);
        for (int z = 0; z < SPAN; z++) {
            variance += p[z] * (z - ZERO) * (z - ZERO);
        }
        const double bound = query_noise_deviation(&noises[i]);
        cr_expect(variance <= bound * bound * (1 + 1e-6), "%zu", i);
        cr_expect(noises[i].scale < 7 || variance >= bound * bound * 0.99, "%zu", i);
    }
}

/* 256 agents: close to normal. */
Test(bar, of_many_draws_is_nearly_normal)
{
    const struct query_noise noise = {false, 1000, QUERY_DRAWS_MAX};
    const double bar = query_noise_bar(&noise, 0, 0.05) - QUERY_DRAWS_MAX;
    cr_assert(fabs(bar / query_noise_deviation(&noise) - 1.96) < 0.005);
    const double both = query_noise_bar(&noise, 0.5, 0.05) - 1.5 * QUERY_DRAWS_MAX;
    cr_assert(fabs(both / query_noise_deviation(&noise) / sqrt(1.25) - 1.96) < 0.04);
}

/* bar.c uses this: a discrete Gaussian variable lies within one step of a normal one. */
Test(bar, discrete_gaussian_lies_within_a_step_of_a_normal_variable)
{
    static double p[SPAN];
    for (double sigma = 1.0 / 16; sigma < 90; sigma *= 1.3) {
        const struct query_noise noise = {true, sigma, 1};
        double above = 0;
        draw(p, &noise);
        for (int m = SPAN - 1 - ZERO; m >= 1; m--) {
            above += p[m + ZERO];
            if (m > 20 * sigma) {
                continue; /* the span's end is missing there */
            }
            cr_assert(above >= erfc(m / sigma / sqrt(2)) / 2 * (1 - 1e-9), "%g %d", sigma, m);
            cr_assert(above <= erfc((m - 1) / sigma / sqrt(2)) / 2 * (1 + 1e-9), "%g %d", sigma, m);
        }
    }
}
