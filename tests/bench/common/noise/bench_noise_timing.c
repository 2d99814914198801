/* bench_noise_timing.c - does the time of a draw tell what was drawn?
 *
 *     bench_noise_timing [--json]
 *
 * Draws short vectors many times, takes the time of each, and sorts the times into two classes by
 * the values that came out: by size (the mean magnitude below or above what it mostly is), and by
 * the first value's sign. Welch's t between the classes beyond 4.5 means that the clock tells them
 * apart (Goodwill et al., NIST workshop 2011; Reparaz, Balasch, Verbauwhede, DATE 2017). Every
 * kernel of laplace.h must stay below it; the textbook sampler (reference.h) must exceed it by
 * size, else the bench has no power here. Rule for outliers, fixed in advance: of all times of a
 * comparison, both classes together, the largest tenth is left out. Random bits come from the
 * seeded source, whose time does not vary, so that the sampler alone is measured.
 *
 * Ends with 1 when a kernel is told apart or the textbook is not. There are some forty comparisons:
 * without any leak one exceeds 4.5 in about 3,000 runs. Use an optimised build; other programs on
 * the machine add noise to both classes alike, and so hide leaks rather than show them. */

#include "base/check.h"
#include "noise/laplace_kernel.h"
#include "noise/reference.h"
#include "tests/support/seeded_random.h"
#include "tests/support/welch.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DRAWS = 200000, WARM_UP = 2000, COUNT_MAX = 64, KERNELS_MAX = 8, SEED = 1 };

static const double told_apart = 4.5;

/* One draw: how long it took, and the class of what came out. */
struct draw {
    double ns;
    bool large;    /* the mean magnitude is above scale * ln 2, about its median */
    bool negative; /* the first value */
};

static double now_ns(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void fill(const struct noise_laplace *noise, const struct random *random, int64_t *values,
                 size_t count, bool textbook)
{
    enum status status = STATUS_OK;
    if (!textbook) {
        status = noise_laplace_draw(noise, random, values, count);
    }
    for (size_t i = 0; textbook && status == STATUS_OK && i < count; i++) {
        status = noise_reference_draw(noise->magnitude.scale, random, &values[i]);
    }
    CHECK(status == STATUS_OK);
}

static void record(struct draw *draw, struct noise_laplace *noise, size_t count, bool textbook)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    double scale = (double)noise->magnitude.scale.numerator;
    double limit = floor(scale * (count == 1 ? log(2) : 1)) * (double)count;
    seeded_random_init(&seeded, SEED);
    for (size_t i = 0; i < WARM_UP + DRAWS; i++) {
        int64_t values[COUNT_MAX];
        double start = now_ns();
        fill(noise, &random, values, count, textbook);
        double ns = now_ns() - start;
        double size = 0;
        for (size_t j = 0; j < count; j++) {
            size += fabs((double)values[j]);
        }
        if (i >= WARM_UP) {
            draw[i - WARM_UP] =
                (struct draw){.ns = ns, .large = size > limit, .negative = values[0] < 0};
        }
    }
}

static int compare_draws(const void *left, const void *right)
{
    double a = ((const struct draw *)left)->ns;
    double b = ((const struct draw *)right)->ns;
    return a < b ? -1 : a > b;
}

/* t by size and by sign, of all but the slowest tenth. Sorts the draws. */
static void judge(struct draw *draw, double *by_size, double *by_sign)
{
    struct welch_class size[2] = {{0}};
    struct welch_class sign[2] = {{0}};
    qsort(draw, DRAWS, sizeof *draw, compare_draws);
    for (size_t i = 0; i < DRAWS / 10 * 9; i++) {
        welch_add(&size[draw[i].large], draw[i].ns);
        welch_add(&sign[draw[i].negative], draw[i].ns);
    }
    CHECK(size[0].count > 1000 && size[1].count > 1000);
    CHECK(sign[0].count > 1000 && sign[1].count > 1000);
    *by_size = welch_t(&size[1], &size[0]);
    *by_sign = welch_t(&sign[1], &sign[0]);
}

/* kernel NULL is the textbook sampler. Returns whether the sampler behaves as it should: ours is
 * not told apart, the textbook is. */
static bool compare(struct draw *draw, struct noise_laplace *noise, size_t count,
                    const struct noise_kernel *kernel, bool json, bool first)
{
    bool textbook = kernel == NULL;
    const char *name = textbook ? "textbook" : kernel->name;
    double by_size = 0;
    double by_sign = 0;
    noise->magnitude.kernel = textbook ? &noise_kernel_plain : kernel;
    record(draw, noise, count, textbook);
    judge(draw, &by_size, &by_sign);
    bool told = fabs(by_size) > told_apart || (!textbook && fabs(by_sign) > told_apart);
    if (json) {
        printf("%s\n  {\"sampler\": \"%s\", \"scale\": %.0f, \"values\": %zu, \"t_size\": %.2f, "
               "\"t_sign\": %.2f, \"told_apart\": %s}",
               first ? "" : ",", name, (double)noise->magnitude.scale.numerator, count, by_size,
               by_sign, told ? "true" : "false");
    } else {
        printf("%-14s %12.0f %8zu %12.2f %12.2f   %s\n", name,
               (double)noise->magnitude.scale.numerator, count, by_size, by_sign,
               told ? "told apart" : "not told apart");
    }
    return told == textbook;
}

int main(int argument_count, char **argument)
{
    static const uint64_t scales[] = {1, 1 << 10, 1 << 20, UINT64_C(1) << 40};
    static const size_t counts[] = {1, COUNT_MAX};
    bool json = argument_count > 1 && strcmp(argument[1], "--json") == 0;
    bool good = true;
    bool first = true;
    struct draw *draw = calloc(DRAWS, sizeof *draw);

    CHECK(draw != NULL);
    if (json) {
        printf("{\"comparisons\": [");
    } else {
        printf("%-14s %12s %8s %12s %12s\n", "sampler", "scale", "values", "t by size",
               "t by sign");
    }
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        struct noise_laplace noise;
        struct noise_scale scale = {.numerator = scales[i], .denominator = 1};
        CHECK(noise_laplace_init(&noise, scale) == STATUS_OK);
        for (size_t j = 0; j < sizeof counts / sizeof counts[0]; j++) {
            for (size_t k = 0; noise_kernel_at(k) != NULL; k++) {
                good = compare(draw, &noise, counts[j], noise_kernel_at(k), json, first) && good;
                first = false;
            }
            good = compare(draw, &noise, counts[j], NULL, json, false) && good;
        }
    }
    printf(json ? "\n], \"verdict\": \"%s\"}\n" : "verdict: %s\n", good ? "pass" : "fail");
    free(draw);
    return good ? 0 : 1;
}
