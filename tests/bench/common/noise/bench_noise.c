/* bench_noise.c - nanoseconds per discrete Laplace variable, with the
 * cryptographic generator, beside the plain reference. Prints a table; checks
 * nothing. */

#include "base/check.h"
#include "crypto/random.h"
#include "noise/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { VALUES = 1 << 20, REFERENCE_VALUES = 1 << 16, REPEATS = 5 };

static double now_ns(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double time_prepared(const struct noise_laplace *noise, const struct random *random,
                            int64_t *values)
{
    double best = 0;
    for (int i = 0; i < REPEATS; i++) {
        double start = now_ns();
        CHECK(noise_laplace_draw(noise, random, values, VALUES) == STATUS_OK);
        double each = (now_ns() - start) / VALUES;
        best = i == 0 || each < best ? each : best;
    }
    return best;
}

static double time_reference(struct noise_scale scale, const struct random *random, int64_t *values)
{
    double start = now_ns();
    for (int i = 0; i < REFERENCE_VALUES; i++) {
        CHECK(noise_reference_draw(scale, random, &values[i]) == STATUS_OK);
    }
    return (now_ns() - start) / REFERENCE_VALUES;
}

int main(void)
{
    static const unsigned bits[] = {0, 10, 20, 40};
    struct random_source *source = random_source_new();
    int64_t *values = calloc(VALUES, sizeof *values);
    CHECK(source != NULL && values != NULL);
    struct random random = random_source_interface(source);

    printf("%-8s %8s %14s %14s %14s\n", "scale", "digits", "prepare us", "ns/value",
           "reference ns");
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        struct noise_scale scale = {.numerator = UINT64_C(1) << bits[i], .denominator = 1};
        struct noise_laplace noise;
        double start = now_ns();
        CHECK(noise_laplace_init(&noise, scale) == STATUS_OK);
        double prepare = (now_ns() - start) / 1000;
        double prepared = time_prepared(&noise, &random, values);
        printf("2^%-6u %8zu %14.0f %14.1f %14.1f\n", bits[i], noise.digit_count, prepare, prepared,
               time_reference(scale, &random, values));
    }
    free(values);
    random_source_free(source);
    return 0;
}
