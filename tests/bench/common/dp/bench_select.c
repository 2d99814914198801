/* bench_select.c - what a private pick costs, and what its time tells.
 *
 * First nanoseconds per candidate with the cryptographic generator, beside one reading of the
 * scores. Then Welch's t between the times for three classes of scores (all equal; one far best, in
 * front; spread), taken in random order from one buffer: below 4.5 for ours, above it for the
 * textbook's sampler (inverse distribution function in double, left at the first success). The
 * slowest tenth of all times, which other programs on the machine cause, is left out. A class is
 * called different when it is so in each of ROUNDS independent rounds. Exit code 1 when ours is, or
 * the textbook's is not. */

#include "base/check.h"
#include "crypto/random.h"
#include "dp/select_private.h"
#include "tests/support/bench_clock.h"
#include "tests/support/seeded_random.h"
#include "tests/support/welch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES = 3, TIMED_COUNT = 1000, TIMES = 50000, ROUNDS = 2, REPEATS = 5 };

#define DIFFERENT 4.5

/* Everything prepared for one epsilon and sensitivity 1. */
struct prepared {
    struct noise_exponential decay;
    struct noise_laplace noise;
    double eta;
};

typedef enum status (*pick)(const struct prepared *prepared, const struct random *random,
                            size_t *chosen, const int64_t *scores, size_t count);

static enum status exponential(const struct prepared *prepared, const struct random *random,
                               size_t *chosen, const int64_t *scores, size_t count)
{
    return select_draw_exponential(&prepared->decay, random, chosen, scores, count);
}

static enum status flip(const struct prepared *prepared, const struct random *random,
                        size_t *chosen, const int64_t *scores, size_t count)
{
    return select_draw_flip(&prepared->decay, random, chosen, scores, count);
}

static enum status noisy(const struct prepared *prepared, const struct random *random,
                         size_t *chosen, const int64_t *scores, size_t count)
{
    return select_draw_noisy(&prepared->noise, random, chosen, scores, count);
}

/* The textbook's sampler, whose time tells the choice. */
static enum status textbook(const struct prepared *prepared, const struct random *random,
                            size_t *chosen, const int64_t *scores, size_t count)
{
    uint64_t word = 0;
    int64_t best = scores[0];
    double sum = 0;
    enum status status = random_fill(random, &word, sizeof word);
    for (size_t i = 1; i < count; i++) {
        if (scores[i] < best) {
            best = scores[i];
        }
    }
    for (size_t i = 0; i < count; i++) {
        sum += exp(-prepared->eta * (double)(scores[i] - best));
    }
    double point = sum * (double)(word >> 11) * 0x1p-53;
    for (*chosen = 0; *chosen + 1 < count; ++*chosen) {
        point -= exp(-prepared->eta * (double)(scores[*chosen] - best));
        if (point < 0) {
            break;
        }
    }
    return status;
}

static const struct {
    const char *name;
    pick run;
} picks[] = {{"exponential", exponential},
             {"permute-and-flip", flip},
             {"noisy max", noisy},
             {"textbook", textbook}};

enum { PICKS = 4, TEXTBOOK = 3 };

static void fill_class(int64_t *scores, size_t count, int class, struct seeded_random *seeded)
{
    for (size_t i = 0; i < count; i++) {
        scores[i] = class == 0   ? 100
                    : class == 1 ? (i == 0 ? 0 : 100000)
                                 : (int64_t)seeded_random_below(seeded, 100);
    }
}

static double time_reading(const int64_t *scores, size_t count, size_t runs)
{
    double best = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        volatile int64_t sink = 0;
        double start = now_ns();
        for (size_t run = 0; run < runs; run++) {
            int64_t sum = sink;
            for (size_t i = 0; i < count; i++) {
                sum += scores[i];
            }
            sink = sum;
        }
        double each = (now_ns() - start) / (double)(runs * count);
        best = repeat == 0 || each < best ? each : best;
    }
    return best;
}

static double time_pick(pick run, const struct prepared *prepared, const struct random *random,
                        const int64_t *scores, size_t count, size_t runs)
{
    double best = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double start = now_ns();
        for (size_t i = 0; i < runs; i++) {
            size_t chosen = 0;
            CHECK(run(prepared, random, &chosen, scores, count) == STATUS_OK && chosen < count);
        }
        double each = (now_ns() - start) / (double)(runs * count);
        best = repeat == 0 || each < best ? each : best;
    }
    return best;
}

static double time_preparing(void)
{
    enum { RUNS = 1000 };
    struct noise_exponential decay;
    double start = now_ns();
    for (uint64_t i = 0; i < RUNS; i++) {
        CHECK(noise_exponential_init(&decay, i + 1, 2000000) == STATUS_OK);
    }
    return (now_ns() - start) / RUNS;
}

static void print_costs(const struct prepared *prepared, const struct random *random)
{
    static const size_t counts[] = {10, 1000, 1000000};
    struct seeded_random seeded;
    seeded_random_init(&seeded, 1);
    printf("%-10s %10s", "candidates", "reading");
    for (size_t i = 0; i < PICKS; i++) {
        printf(" %18s", picks[i].name);
    }
    printf("   ns per candidate\n");
    for (size_t c = 0; c < 3; c++) {
        size_t count = counts[c];
        size_t runs = 1000000 / count;
        int64_t *scores = calloc(count, sizeof *scores);
        CHECK(scores != NULL);
        fill_class(scores, count, 2, &seeded);
        printf("%-10zu %10.2f", count, time_reading(scores, count, runs));
        for (size_t i = 0; i < PICKS; i++) {
            printf(" %18.1f", time_pick(picks[i].run, prepared, random, scores, count, runs));
        }
        printf("\n");
        free(scores);
    }
}

struct timed {
    double ns;
    int class;
};

static int compare_timed(const void *a, const void *b)
{
    const struct timed *left = a;
    const struct timed *right = b;
    return (left->ns > right->ns) - (left->ns < right->ns);
}

/* The largest |t| between two of the classes in one round. */
static double largest_t(pick run, const struct prepared *prepared, const struct random *random,
                        struct seeded_random *seeded)
{
    static int64_t scores[CLASSES][TIMED_COUNT];
    static int64_t buffer[TIMED_COUNT];
    struct welch_class sums[CLASSES] = {{0}};
    struct timed *times = calloc(TIMES, sizeof *times);
    CHECK(times != NULL);
    for (int class = 0; class < CLASSES; class ++) {
        fill_class(scores[class], TIMED_COUNT, class, seeded);
    }
    for (size_t i = 0; i < TIMES; i++) {
        size_t chosen = 0;
        times[i].class = (int)seeded_random_below(seeded, CLASSES);
        memcpy(buffer, scores[times[i].class], sizeof buffer);
        double start = now_ns();
        CHECK(run(prepared, random, &chosen, buffer, TIMED_COUNT) == STATUS_OK);
        times[i].ns = now_ns() - start;
    }
    qsort(times, TIMES, sizeof *times, compare_timed);
    for (size_t i = 0; i < TIMES - TIMES / 10; i++) {
        welch_add(&sums[times[i].class], times[i].ns);
    }
    free(times);
    double largest = 0;
    for (int a = 0; a < CLASSES; a++) {
        for (int b = 0; b < a; b++) {
            double t = sums[a].count < 2 || sums[b].count < 2 /* all of its times were slow */
                           ? INFINITY
                           : fabs(welch_t(&sums[a], &sums[b]));
            largest = t > largest ? t : largest;
        }
    }
    return largest;
}

int main(void)
{
    struct random_source *source = random_source_new();
    struct seeded_random seeded;
    struct prepared prepared = {.eta = 0.5};
    bool right = true;
    CHECK(source != NULL);
    CHECK(noise_exponential_init(&prepared.decay, 1, 2) == STATUS_OK);
    CHECK(noise_laplace_init(&prepared.noise, (struct noise_scale){2, 1}) == STATUS_OK);
    struct random random = random_source_interface(source);
    seeded_random_init(&seeded, 2);

    printf("preparing one epsilon: %.0f ns\n", time_preparing());
    print_costs(&prepared, &random);
    printf("\n%-18s", "largest |t|");
    for (size_t i = 0; i < PICKS; i++) {
        double least = INFINITY;
        for (int round = 0; round < ROUNDS; round++) {
            double t = largest_t(picks[i].run, &prepared, &random, &seeded);
            least = t < least ? t : least;
        }
        bool different = least >= DIFFERENT;
        right = right && different == (i == TEXTBOOK);
        printf("  %s %.1f%s", picks[i].name, least, different ? " (different)" : "");
    }
    printf("\n%s\n", right ? "as it should be" : "NOT as it should be");
    random_source_free(source);
    return right ? 0 : 1;
}
