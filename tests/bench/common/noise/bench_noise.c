/* bench_noise.c - nanoseconds per value: discrete Laplace by every kernel that this processor has
 * and by the plain reference, beside the keystream they are all drawn from.
 *
 *     bench_noise [--json]
 *
 * The reference asks for few bytes at a time; it gets them from a buffer, so that it is measured
 * and not the cost of asking. Every figure is the median of RUNS runs, in the process's own time.
 * Runs take turns, so that other load affects all of them alike. The least of them is printed
 * beside it. Prints a table, or a JSON object; checks nothing. Use an optimised build and an idle
 * machine. */

#include "base/check.h"
#include "crypto/random.h"
#include "noise/laplace_kernel.h"
#include "tests/support/bench_clock.h"
#include "tests/support/noise_draw.h"
#include "tests/support/reference_laplace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = 1 << 19, REFERENCE_VALUES = 1 << 15, RUNS = 15, KERNELS_MAX = 8, SCALES = 5 };

/* What is timed: KEYSTREAM, GEOMETRIC (by the fastest kernel), REFERENCE, or a kernel by number. */
enum { KEYSTREAM, GEOMETRIC, REFERENCE, FIRST_KERNEL, SUBJECTS_MAX = FIRST_KERNEL + KERNELS_MAX };

struct figure {
    double run[RUNS];
    double median;
    double least;
};

static const struct {
    const char *name;
    struct noise_scale scale;
} scales[SCALES] = {
    {"1", {1, 1}},
    {"22/7", {22, 7}},
    {"2^10", {UINT64_C(1) << 10, 1}},
    {"2^20", {UINT64_C(1) << 20, 1}},
    {"2^40", {UINT64_C(1) << 40, 1}},
};

/* A source that asks another one for many bytes at a time. */
struct buffered {
    const struct random *random;
    size_t left;
    uint8_t byte[8192];
};

static enum status buffered_fill(void *self, void *out, size_t bytes)
{
    struct buffered *buffered = self;
    enum status status = STATUS_OK;
    CHECK(bytes <= sizeof buffered->byte);
    if (buffered->left < bytes) {
        status = random_fill(buffered->random, buffered->byte, sizeof buffered->byte);
        buffered->left = sizeof buffered->byte;
    }
    buffered->left -= bytes;
    memcpy(out, buffered->byte + buffered->left, bytes);
    return status;
}

static void draw(struct noise_laplace *noise, const struct random *random, int64_t *values,
                 size_t subject)
{
    enum status status = STATUS_OK;
    if (subject == KEYSTREAM) {
        status = random_fill(random, values, VALUES * sizeof *values);
    } else if (subject == GEOMETRIC) {
        status = noise_geometric_draw(&noise->magnitude, random, values, VALUES);
    } else if (subject == REFERENCE) {
        struct buffered buffered = {.random = random};
        struct random few = {.fill = buffered_fill, .self = &buffered};
        for (size_t i = 0; i < REFERENCE_VALUES && status == STATUS_OK; i++) {
            status = noise_reference_draw(noise->magnitude.scale, &few, &values[i]);
        }
    } else {
        noise->magnitude.kernel = noise_kernel_at(subject - FIRST_KERNEL);
        status = noise_laplace_draw(noise, random, values, VALUES);
    }
    CHECK(status == STATUS_OK);
}

/* figure (subjects) */
static void measure(struct figure *figure, size_t subjects, struct noise_scale scale,
                    const struct random *random, int64_t *values)
{
    struct noise_laplace noise;
    CHECK(noise_laplace_init(&noise, scale) == STATUS_OK);
    for (size_t run = 0; run < RUNS; run++) {
        for (size_t subject = 0; subject < subjects; subject++) {
            double start = busy_ns();
            draw(&noise, random, values, subject);
            double each = subject == REFERENCE ? REFERENCE_VALUES : VALUES;
            figure[subject].run[run] = (busy_ns() - start) / each;
        }
    }
    for (size_t subject = 0; subject < subjects; subject++) {
        qsort(figure[subject].run, RUNS, sizeof(double), compare_doubles);
        figure[subject].median = figure[subject].run[RUNS / 2];
        figure[subject].least = figure[subject].run[0];
    }
}

static const char *name_of(size_t subject)
{
    static const char *const name[FIRST_KERNEL] = {"keystream word", "geometric", "reference"};
    return subject < FIRST_KERNEL ? name[subject] : noise_kernel_at(subject - FIRST_KERNEL)->name;
}

static void print_table(struct figure figure[SCALES][SUBJECTS_MAX], size_t subjects)
{
    printf("ns per value, median of %d (least)\n%-16s", RUNS, "scale");
    for (size_t i = 0; i < SCALES; i++) {
        printf("%18s", scales[i].name);
    }
    printf("\n");
    for (size_t subject = 0; subject < subjects; subject++) {
        printf("%-16s", name_of(subject));
        for (size_t i = 0; i < SCALES; i++) {
            printf("%9.2f (%6.2f)", figure[i][subject].median, figure[i][subject].least);
        }
        printf("\n");
    }
    printf("the fastest kernel (the last) in keystream words, and how often it fits into the "
           "reference\n%-16s",
           "");
    for (size_t i = 0; i < SCALES; i++) {
        double fastest = figure[i][subjects - 1].median;
        printf("%9.1f %7.1fx", fastest / figure[i][KEYSTREAM].median,
               figure[i][REFERENCE].median / fastest);
    }
    printf("\n");
}

static void print_json(struct figure figure[SCALES][SUBJECTS_MAX], size_t subjects)
{
    printf("{\"unit\": \"ns per value\", \"runs\": %d, \"fastest\": \"%s\", \"scales\": [", RUNS,
           name_of(subjects - 1));
    for (size_t i = 0; i < SCALES; i++) {
        printf("%s\n  {\"scale\": \"%s\"", i > 0 ? "," : "", scales[i].name);
        for (size_t subject = 0; subject < subjects; subject++) {
            printf(", \"%s\": {\"median\": %.3f, \"least\": %.3f}", name_of(subject),
                   figure[i][subject].median, figure[i][subject].least);
        }
        printf("}");
    }
    printf("\n]}\n");
}

int main(int count, char **argument)
{
    static struct figure figure[SCALES][SUBJECTS_MAX];
    struct random_source *source = random_source_new();
    int64_t *values = calloc(VALUES, sizeof *values);
    size_t subjects = FIRST_KERNEL;

    CHECK(source != NULL && values != NULL);
    struct random random = random_source_interface(source);
    while (subjects < SUBJECTS_MAX && noise_kernel_at(subjects - FIRST_KERNEL) != NULL) {
        subjects++;
    }
    for (size_t i = 0; i < SCALES; i++) {
        measure(figure[i], subjects, scales[i].scale, &random, values);
    }
    if (count > 1 && strcmp(argument[1], "--json") == 0) {
        print_json(figure, subjects);
    } else {
        print_table(figure, subjects);
    }
    free(values);
    random_source_free(source);
    return 0;
}
