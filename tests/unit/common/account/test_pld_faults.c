/* Wrong variants of a privacy-loss distribution, each caught by a known answer. */

#include "lab/composition/pld.h"
#include "lab/composition/pld_private.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

/* The reference: group b, b = 2, k = 1000, delta = 1e-6. */
static const double laplace_truth = 173.064483561;

static double composed(const struct pld_part *part, double delta, bool round_down)
{
    struct pld_mix mix;
    struct pld_sum sum;
    struct composition_question question = {true, log(delta)};
    struct pld_precision limits = {1e-6, 20, PLD_HIGH};
    cr_assert(pld_mix_init(&mix, part, 1, question, limits) == STATUS_OK);
    struct pld_run *law = &mix.runs[0];
    if (round_down) { /* what lies between the two single losses, a step lower */
        law->log_mass[0] = log(exp(law->log_mass[0]) + exp(law->log_mass[1]));
        for (size_t i = 1; i + 2 < law->count; i++) {
            law->log_mass[i] = law->log_mass[i + 1];
        }
        law->log_mass[law->count - 2] = -INFINITY;
    }
    cr_assert(pld_sum_init(&sum, &mix, limits.log2_size_max) == STATUS_OK);
    double epsilon = pld_sum_epsilon(&sum, question.at, true);
    pld_sum_free(&sum);
    pld_mix_free(&mix);
    return epsilon;
}

Test(pld_faults, losses_rounded_down_would_be_caught)
{
    struct pld_part part = {PLD_RUN_LAPLACE, PLD_RUN_REMOVE, 0.5, 1, 1, 0, 1000};
    cr_expect(composed(&part, 1e-6, false) >= laplace_truth - 1e-5);
    cr_expect(composed(&part, 1e-6, true) < laplace_truth - 1e-3, "%.9f",
              composed(&part, 1e-6, true));
}

Test(pld_faults, one_direction_alone_would_be_caught)
{
    /* group e: Laplace noise, b = 1, q = 0.01, k = 100, delta = 1e-6 */
    double truth = 0.387873232759;
    struct pld_part part = {PLD_RUN_LAPLACE, PLD_RUN_REMOVE, 1, 1, 0.01, 0, 100};
    cr_expect(composed(&part, 1e-6, false) >= truth - 1e-6);
    part.side = PLD_RUN_ADD;
    cr_expect(composed(&part, 1e-6, false) < truth * 0.99);
}

/* Without a tilt, without its errors added: how a transform alone undercuts the truth. */
static double plain_transform(double e, size_t count, double delta)
{
    unsigned bits = 11;
    size_t size = (size_t)1 << bits;
    struct fft *fft = fft_new(bits);
    struct fft_value *x = calloc(size, sizeof *x);
    x[0].re = 1 / (1 + exp(e));
    x[1].re = 1 / (1 + exp(-e));
    fft_forward(fft, x);
    for (size_t i = 0; i < size; i++) {
        double log_size = log(hypot(x[i].re, x[i].im)) * (double)count;
        double angle = atan2(x[i].im, x[i].re) * (double)count;
        x[i] = (struct fft_value){exp(log_size) * cos(angle), exp(log_size) * sin(angle)};
    }
    fft_backward(fft, x);
    double low = 0;
    double high = e * (double)count;
    for (unsigned step = 0; step < 100; step++) {
        double middle = (low + high) / 2;
        double sum = 0;
        for (size_t i = 0; i <= count; i++) {
            double loss = e * (2 * (double)i - (double)count);
            sum += loss > middle ? x[i].re / (double)size * -expm1(middle - loss) : 0;
        }
        *(sum > delta ? &low : &high) = middle;
    }
    fft_free(fft);
    free(x);
    return high;
}

/* delta at epsilon of k runs of randomised response e, the sum over all outcomes in long double. */
static long double response_delta(double e, size_t count, double epsilon)
{
    long double total = 0;
    long double odds = log1pl(expl(-(long double)e));
    for (size_t i = 0; i <= count; i++) {
        long double loss = (long double)e * (2 * (long double)i - (long double)count);
        long double log_mass = lgammal((long double)count + 1) - lgammal((long double)i + 1) -
                               lgammal((long double)(count - i) + 1) - (long double)count * odds -
                               (long double)e * (long double)(count - i);
        total += loss > epsilon ? expl(log_mass) * -expm1l(epsilon - loss) : 0;
    }
    return total;
}

/* Rows of group a at delta = 1e-9: eps_tight, which the sum over all outcomes confirms. The plain
 * transform is 4e-6 below it at e = 0.1. */
Test(pld_faults, transform_without_its_error_would_be_caught)
{
    static const struct {
        double e;
        size_t count;
        double tight;
    } rows[] = {{0.05, 1000, 10.2799003820537},
                {0.1, 1000, 23.2757399160193},
                {0.5, 1000, 211.857344913079},
                {1.0, 1000, 623.564350141902}};
    unsigned below = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double truth = (double)response_delta(rows[i].e, rows[i].count, rows[i].tight);
        cr_assert(fabs(truth - 1e-9) < 1e-9 * 1e-8, "row %zu: %.17g", i, truth);
        const struct privacy_event e = {.mechanism = MECHANISM_PURE,
                                        .neighbours = NEIGHBOURS_ADD_REMOVE,
                                        .parameter = rows[i].e,
                                        .sensitivity = 1,
                                        .count = rows[i].count,
                                        .sampling = 1};
        struct interval got = {NAN, NAN};
        cr_assert(pld_epsilon(&got, &e, 1, 1e-9) == STATUS_OK);
        cr_expect(got.high >= rows[i].tight - 1e-9 && got.low <= rows[i].tight + 1e-9);
        double plain = plain_transform(rows[i].e, rows[i].count, 1e-9);
        cr_expect(plain > 0.99 * rows[i].tight, "a fault of another kind: %g", plain);
        below += plain < rows[i].tight - 1e-9;
    }
    cr_expect(below > 0, "plain transforms never fell below the truth");
}
