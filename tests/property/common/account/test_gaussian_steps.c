/* Discrete Gaussian noise on whole vectors beside the continuous noise that stands for it: every
 * distance on coarse grids, where the grid shows most. The curves are summed, not drawn: no alarm is
 * false. */

#include "account/gaussian_steps.h"

#include <criterion/criterion.h>
#include <math.h>

enum { REACH = 12, LEVELS = 40 };

static double normal(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

/* sum of max(0, P - c Q) of two continuous Gaussians v deviations apart */
static double continuous(double v, double c)
{
    const double h = v / 2 - log(c) / v;
    return normal(h) - c * normal(h - v);
}

/* The same of discrete Gaussian vectors in the plane, (x, y) apart, of deviation t. */
static double discrete(int x, int y, double t, double c)
{
    const int end = (int)(REACH * t);
    const double length = (double)x * x + (double)y * y;
    double norm = 0;
    double sum = 0;
    for (int i = -end; i <= end; i++) {
        norm += exp(-(double)i * i / (2 * t * t));
    }
    for (int i = -end; i <= end; i++) {
        for (int j = -end; j <= end; j++) {
            const double size = (double)i * i + (double)j * j;
            const double inner = (double)i * x + (double)j * y;
            const double ratio = exp((inner - length / 2) / (t * t));
            sum += exp(-size / (2 * t * t)) * fmax(0, ratio - c);
        }
    }
    return sum / (norm * norm);
}

/* Returns by how much the worst curve of all vectors within `steps` exceeds that of sigma, at levels
 * c of 1 to e^(2 v) and at those between which the grid's points fall. */
static double excess(double noise, double steps, double sigma)
{
    double worst = -INFINITY;
    for (int x = 0; x <= (int)steps; x++) {
        for (int y = 0; y <= x && (double)x * x + (double)y * y <= steps * steps; y++) {
            if ((double)(x + 1) * (x + 1) + (double)y * y <= steps * steps || x + y == 0) {
                continue; /* there is a longer one beside it */
            }
            for (int i = 0; i < LEVELS; i++) {
                const double c = exp(2 * i / (sigma * LEVELS));
                const double bound = continuous(1 / sigma, c);
                worst = fmax(worst, discrete(x, y, noise * steps, c) / bound - 1);
            }
        }
    }
    return worst;
}

Test(gaussian_steps, no_whole_vector_costs_more_than_the_continuous_noise_that_stands_for_it)
{
    static const struct {
        double noise;
        double steps;
    } list[] = {{1, 8}, {1, 9}, {2, 4}, {2, 5}, {4, 2}, {4, 3}, {8, 1}, {0.7, 12}, {0.5, 24}};
    double plain = 0;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        const double sigma = gaussian_steps_sigma(list[i].noise, list[i].steps);
        cr_assert(sigma > 0 && sigma < list[i].noise);
        const double over = excess(list[i].noise, list[i].steps, sigma);
        cr_expect(over <= 1e-10, "noise %g, steps %g: %g", list[i].noise, list[i].steps, over);
        plain = fmax(plain, excess(list[i].noise, list[i].steps, list[i].noise));
    }
    cr_expect_gt(plain, 1e-6, "the same sigma is no bound: without what the grid costs it fails");
}

Test(gaussian_steps, a_fine_grid_costs_next_to_nothing_and_what_is_not_proved_is_refused)
{
    const double sigma = gaussian_steps_sigma(1, 1024);
    cr_assert(sigma < 1 && sigma > 1 - 1e-5, "%.17g", sigma);
    cr_assert_gt(gaussian_steps_sigma(0.25, 1024), 0.249);
    cr_assert_eq(gaussian_steps_sigma(0.2499, 1024), 0);
    cr_assert_eq(gaussian_steps_sigma(1, 7.9), 0);
    cr_assert_eq(gaussian_steps_sigma(NAN, 1024), 0);
    for (double noise = 0.25; noise < 1e6; noise *= 1.1) {
        const double one = gaussian_steps_sigma(noise, 1024);
        cr_assert(one > 0 && one < noise && one > 0.99 * noise, "%g: %g", noise, one);
        cr_assert(one <= gaussian_steps_sigma(noise, 4096));
    }
}
