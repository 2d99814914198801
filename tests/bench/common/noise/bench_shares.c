/* bench_shares.c - nanoseconds per Polya share and per discrete Gaussian value, with what preparing
 * them costs, beside discrete Laplace noise and the keystream they are drawn from. Shares and
 * Gaussian values are drawn by the fastest kernel of the processor, and by the plain one.
 *
 *     bench_shares
 *
 * Every figure is the median of RUNS runs, in the process's own time. Runs take turns, so that
 * other load affects all of them alike. The least of them is printed beside it. The last column is
 * the least as a multiple of discrete Laplace noise's. Prints a table; checks nothing. Use an
 * optimised build and an idle machine. */

#include "base/check.h"
#include "crypto/random.h"
#include "noise/gaussian.h"
#include "noise/laplace.h"
#include "noise/share.h"
#include "noise/table_kernel.h"
#include "tests/support/bench_clock.h"
#include "tests/support/noise_draw.h"

#include <stdio.h>
#include <stdlib.h>

enum { VALUES = 1 << 17, RUNS = 15, SCALES = 4 };
enum {
    KEYSTREAM,
    LAPLACE,
    GAUSSIAN,
    SHARE_3,
    SHARE_100,
    PLAIN_GAUSSIAN,
    PLAIN_SHARE_3,
    PLAIN_SHARE_100,
    SUBJECTS
};

static const char *const subject_name[SUBJECTS] = {"keystream word",
                                                   "laplace",
                                                   "gaussian",
                                                   "share, h = 3",
                                                   "share, h = 100",
                                                   "gaussian, plain",
                                                   "share, h = 3, plain",
                                                   "share, h = 100, plain"};

static const struct {
    const char *name;
    struct noise_scale scale;
} scales[SCALES] = {
    {"1", {1, 1}},
    {"2^10", {UINT64_C(1) << 10, 1}},
    {"2^20", {UINT64_C(1) << 20, 1}},
    {"2^40", {UINT64_C(1) << 40, 1}},
};

struct prepared {
    struct noise_laplace laplace;
    struct noise_gaussian gaussian;
    struct noise_share share[2];
};

static void draw(struct prepared *prepared, const struct random *random, int64_t *values,
                 size_t subject)
{
    enum status status = STATUS_OK;
    const struct noise_table_kernel *fastest = prepared->gaussian.table.kernel;
    if (subject >= PLAIN_GAUSSIAN) {
        prepared->gaussian.table.kernel = &noise_table_plain;
        prepared->share[0].table.kernel = &noise_table_plain;
        prepared->share[1].table.kernel = &noise_table_plain;
        subject -= PLAIN_GAUSSIAN - GAUSSIAN;
    }
    if (subject == KEYSTREAM) {
        status = random_fill(random, values, VALUES * sizeof *values);
    } else if (subject == LAPLACE) {
        status = noise_laplace_draw(&prepared->laplace, random, values, VALUES);
    } else if (subject == GAUSSIAN) {
        status = noise_gaussian_draw(&prepared->gaussian, random, values, VALUES);
    } else {
        status = noise_share_draw(&prepared->share[subject - SHARE_3], random, values, VALUES);
    }
    prepared->gaussian.table.kernel = fastest;
    prepared->share[0].table.kernel = fastest;
    prepared->share[1].table.kernel = fastest;
    CHECK(status == STATUS_OK);
}

/* ms (SUBJECTS): what each preparation takes. */
static void prepare(struct prepared *prepared, struct noise_scale scale, double *ms)
{
    double start = busy_ns();
    CHECK(noise_laplace_init(&prepared->laplace, scale) == STATUS_OK);
    ms[LAPLACE] = (busy_ns() - start) / 1e6;
    start = busy_ns();
    CHECK(noise_gaussian_init(&prepared->gaussian, scale) == STATUS_OK);
    ms[GAUSSIAN] = (busy_ns() - start) / 1e6;
    for (size_t i = 0; i < 2; i++) {
        start = busy_ns();
        CHECK(noise_share_init(&prepared->share[i], scale, i == 0 ? 3 : 100) == STATUS_OK);
        ms[SHARE_3 + i] = (busy_ns() - start) / 1e6;
    }
}

static void measure(const struct random *random, int64_t *values, size_t scale)
{
    struct prepared prepared;
    double figure[SUBJECTS][RUNS];
    double ms[SUBJECTS] = {0};
    prepare(&prepared, scales[scale].scale, ms);
    for (size_t run = 0; run < RUNS; run++) {
        for (size_t subject = 0; subject < SUBJECTS; subject++) {
            double start = busy_ns();
            draw(&prepared, random, values, subject);
            figure[subject][run] = (busy_ns() - start) / VALUES;
        }
    }
    for (size_t subject = 0; subject < SUBJECTS; subject++) {
        qsort(figure[subject], RUNS, sizeof(double), compare_doubles);
    }
    for (size_t subject = 0; subject < SUBJECTS; subject++) {
        printf("%-8s %-21s %8.2f (%7.2f) ns %10.2f ms %7.2f\n", scales[scale].name,
               subject_name[subject], figure[subject][RUNS / 2], figure[subject][0], ms[subject],
               figure[subject][0] / figure[LAPLACE][0]);
    }
    noise_gaussian_free(&prepared.gaussian);
    noise_share_free(&prepared.share[0]);
    noise_share_free(&prepared.share[1]);
}

int main(void)
{
    struct random_source *source = random_source_new();
    int64_t *values = calloc(VALUES, sizeof *values);
    CHECK(source != NULL && values != NULL);
    struct random random = random_source_interface(source);
    printf("%-8s %-21s %8s (%7s)    %10s    %7s\n", "scale", "", "median", "least", "to prepare",
           "laplace");
    for (size_t i = 0; i < SCALES; i++) {
        measure(&random, values, i);
    }
    free(values);
    random_source_free(source);
    return 0;
}
