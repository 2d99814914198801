/* bench_noise_timing.c - does the time of a draw tell what was drawn?
 *
 *     bench_noise_timing [--json] [SAMPLER]
 *
 * Draws short vectors many times, takes the time of each, and sorts the times into two classes by
 * the values that came out: by size (the mean magnitude up to or above its median in this run), and
 * by the first value's sign. Welch's t between the classes beyond 4.5 means that the clock tells
 * them apart (Goodwill et al., NIST workshop 2011; Reparaz, Balasch, Verbauwhede, DATE 2017). Every
 * kernel of laplace.h, and of Gaussian noise and shares, must stay below it; the textbook sampler
 * (reference_laplace.h) must exceed it by size, else the bench has no power here. Rule for outliers, fixed
 * in advance: of all times of a comparison, both classes together, those above the ninth decile are
 * left out. Random bits come from the seeded source, whose time does not vary, so that the sampler
 * alone is measured.
 *
 * SAMPLER (plain, gaussian, share ...) leaves out the samplers whose names do not begin so; the
 * textbook stays.
 *
 * Ends with 1 when a kernel is told apart or the textbook is not. There are some
 * hundred comparisons: without any leak one exceeds 4.5 in about 1,300 runs. Use an optimised
 * build: without optimisation Gaussian noise and shares are told apart, too. Other programs on the
 * machine add noise to both classes alike, and so hide leaks rather than show them. */

#include "base/check.h"
#include "noise/gaussian.h"
#include "noise/laplace_kernel.h"
#include "noise/share.h"
#include "noise/table_kernel.h"
#include "tests/support/bench_clock.h"
#include "tests/support/noise_draw.h"
#include "tests/support/reference_laplace.h"
#include "tests/support/seeded_random.h"
#include "tests/support/welch.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 200000, WARM_UP = 2000, COUNT_MAX = 64, SHARES = 3, SEED = 1, NAME_BYTES = 32 };

static const double told_apart = 4.5;

/* What is timed: one call draws `count` values. */
struct sampler {
    const char *name;
    enum status (*draw)(const void *self, const struct random *random, int64_t *values,
                        size_t count);
    const void *self;
    bool leaks; /* the textbook, which must be told apart */
};

/* One draw: how long it took, and what came out. */
struct draw {
    double ns;
    double size;   /* sum of magnitudes */
    bool negative; /* the first value */
};

static enum status draw_laplace(const void *self, const struct random *random, int64_t *values,
                                size_t count)
{
    return noise_laplace_draw(self, random, values, count);
}

static enum status draw_gaussian(const void *self, const struct random *random, int64_t *values,
                                 size_t count)
{
    return noise_gaussian_draw(self, random, values, count);
}

static enum status draw_share(const void *self, const struct random *random, int64_t *values,
                              size_t count)
{
    return noise_share_draw(self, random, values, count);
}

static enum status draw_textbook(const void *self, const struct random *random, int64_t *values,
                                 size_t count)
{
    const struct noise_scale *scale = self;
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        status = noise_reference_draw(*scale, random, &values[i]);
    }
    return status;
}

static void record(struct draw *draw, const struct sampler *sampler, size_t count)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    seeded_random_init(&seeded, SEED);
    for (size_t i = 0; i < WARM_UP + DRAWS; i++) {
        int64_t values[COUNT_MAX];
        double start = now_ns();
        CHECK(sampler->draw(sampler->self, &random, values, count) == STATUS_OK);
        double ns = now_ns() - start;
        double size = 0;
        for (size_t j = 0; j < count; j++) {
            size += fabs((double)values[j]);
        }
        if (i >= WARM_UP) {
            draw[i - WARM_UP] = (struct draw){.ns = ns, .size = size, .negative = values[0] < 0};
        }
    }
}

static int compare_sizes(const void *left, const void *right)
{
    double a = ((const struct draw *)left)->size;
    double b = ((const struct draw *)right)->size;
    return a < b ? -1 : a > b;
}

static int compare_times(const void *left, const void *right)
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
    qsort(draw, DRAWS, sizeof *draw, compare_sizes);
    double median = draw[DRAWS / 2].size;
    qsort(draw, DRAWS, sizeof *draw, compare_times);
    double slow = draw[DRAWS / 10 * 9].ns; /* its equals stay too, whatever order they are in */
    for (size_t i = 0; i < DRAWS && draw[i].ns <= slow; i++) {
        welch_add(&size[draw[i].size > median], draw[i].ns);
        welch_add(&sign[draw[i].negative], draw[i].ns);
    }
    CHECK(size[0].count > 1000 && size[1].count > 1000);
    CHECK(sign[0].count > 1000 && sign[1].count > 1000);
    *by_size = welch_t(&size[1], &size[0]);
    *by_sign = welch_t(&sign[1], &sign[0]);
}

struct bench {
    struct draw *draw; /* (DRAWS) */
    const char *only;  /* the sampler asked for, NULL for all */
    bool json;
    size_t done; /* comparisons */
    bool good;   /* ours were not told apart, and the textbook was */
};

static void compare(struct bench *bench, const struct sampler *sampler, uint64_t scale,
                    size_t count)
{
    double by_size = 0;
    double by_sign = 0;
    if (bench->only != NULL && !sampler->leaks &&
        strncmp(bench->only, sampler->name, strlen(bench->only)) != 0) {
        return;
    }
    record(bench->draw, sampler, count);
    judge(bench->draw, &by_size, &by_sign);
    bool told = fabs(by_size) > told_apart || (!sampler->leaks && fabs(by_sign) > told_apart);
    if (bench->json) {
        printf("%s\n  {\"sampler\": \"%s\", \"scale\": %" PRIu64 ", \"values\": %zu, "
               "\"t_size\": %.2f, \"t_sign\": %.2f, \"told_apart\": %s}",
               bench->done == 0 ? "" : ",", sampler->name, scale, count, by_size, by_sign,
               told ? "true" : "false");
    } else {
        printf("%-22s %14" PRIu64 " %8zu %12.2f %12.2f   %s\n", sampler->name, scale, count,
               by_size, by_sign, told ? "told apart" : "not told apart");
    }
    bench->done++;
    bench->good = bench->good && told == sampler->leaks;
}

/* Every sampler at one scale. */
static void compare_all(struct bench *bench, uint64_t whole, size_t count)
{
    struct noise_scale scale = {.numerator = whole, .denominator = 1};
    struct noise_laplace laplace;
    struct noise_gaussian gaussian;
    struct noise_share share;
    CHECK(noise_laplace_init(&laplace, scale) == STATUS_OK);
    CHECK(noise_gaussian_init(&gaussian, scale) == STATUS_OK);
    CHECK(noise_share_init(&share, scale, SHARES) == STATUS_OK);
    for (size_t k = 0; noise_kernel_at(k) != NULL; k++) {
        struct sampler kernel = {noise_kernel_at(k)->name, draw_laplace, &laplace, false};
        laplace.magnitude.kernel = noise_kernel_at(k);
        compare(bench, &kernel, whole, count);
    }
    for (size_t k = 0; noise_table_kernel_at(k) != NULL; k++) {
        char name[2][NAME_BYTES];
        gaussian.table.kernel = share.table.kernel = noise_table_kernel_at(k);
        (void)snprintf(name[0], NAME_BYTES, "gaussian %s", noise_table_kernel_at(k)->name);
        (void)snprintf(name[1], NAME_BYTES, "share %s", noise_table_kernel_at(k)->name);
        compare(bench, &(struct sampler){name[0], draw_gaussian, &gaussian, false}, whole, count);
        compare(bench, &(struct sampler){name[1], draw_share, &share, false}, whole, count);
    }
    const struct sampler textbook = {"textbook", draw_textbook, &scale, true};
    compare(bench, &textbook, whole, count);
    noise_gaussian_free(&gaussian);
    noise_share_free(&share);
}

int main(int argument_count, char **argument)
{
    static const uint64_t scales[] = {1, 1 << 10, 1 << 20, UINT64_C(1) << 40};
    struct bench bench = {.draw = calloc(DRAWS, sizeof *bench.draw), .good = true};
    bench.json = argument_count > 1 && strcmp(argument[1], "--json") == 0;
    bench.only = argument_count > 1 + bench.json ? argument[1 + bench.json] : NULL;

    CHECK(bench.draw != NULL);
    if (bench.json) {
        printf("{\"comparisons\": [");
    } else {
        printf("%-22s %14s %8s %12s %12s\n", "sampler", "scale", "values", "t by size",
               "t by sign");
    }
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        compare_all(&bench, scales[i], 1);
        compare_all(&bench, scales[i], COUNT_MAX);
    }
    printf(bench.json ? "\n], \"verdict\": \"%s\"}\n" : "verdict: %s\n",
           bench.good ? "pass" : "fail");
    free(bench.draw);
    return bench.good ? 0 : 1;
}
