/* How long accounting takes: a million runs of one event (to be below 100 ms), a list of a thousand
 * different events of all kinds (below 1 s), a thousand runs of one event to all digits (about 100 ms),
 * transforms. On an idle machine. */

#include "lab/composition/account.h"
#include "lab/composition/fft.h"
#include "lab/composition/pld.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* The processor time of this program. Other programs on the machine do not add to it. */
static double busy_ms(void)
{
    return (double)clock() * (1e3 / CLOCKS_PER_SEC);
}

/* The least of three: by the clock and by the processor, for loss distributions alone and for all
 * accountants together, as `hedgerow plan compose` asks them. */
static void report(const char *what, const struct privacy_event *events, size_t count)
{
    struct interval out = {0, 0};
    struct account account;
    double best[4] = {1e9, 1e9, 1e9, 1e9};
    for (unsigned i = 0; i < 3; i++) {
        double took[4] = {now_ms(), busy_ms(), 0, 0};
        if (pld_epsilon(&out, events, count, 1e-6) != STATUS_OK) {
            printf("%-38s out of memory\n", what);
            return;
        }
        took[2] = now_ms();
        took[3] = busy_ms();
        if (account_ask(&account, events, count,
                        (struct composition_question){.wants_epsilon = true, .at = 1e-6},
                        NULL) != STATUS_OK) {
            printf("%-38s out of memory\n", what);
            return;
        }
        const double since[4] = {took[2] - took[0], took[3] - took[1], now_ms() - took[2],
                                 busy_ms() - took[3]};
        for (unsigned j = 0; j < 4; j++) {
            best[j] = since[j] < best[j] ? since[j] : best[j];
        }
    }
    printf("%-38s %7.1f (%7.1f) %7.1f (%7.1f)   [%.6g, %.6g], by all [%.6g, %.6g]\n", what, best[0],
           best[1], best[2], best[3], out.low, out.high, account.low, account.high);
}

static struct privacy_event one(enum mechanism mechanism, double parameter, double sampling)
{
    return (struct privacy_event){mechanism, NEIGHBOURS_ADD_REMOVE, parameter, 1, 1000000, sampling,
                                  0};
}

static void transforms(void)
{
    for (unsigned bits = 10; bits <= 20; bits += 5) {
        size_t size = (size_t)1 << bits;
        struct fft *fft = fft_new(bits);
        struct fft_value *x = calloc(size, sizeof *x);
        if (fft != NULL && x != NULL) {
            x[1].re = 1;
            double start = now_ms();
            fft_forward(fft, x);
            double took = (now_ms() - start) * 1e6;
            printf("transform of 2^%-2u %37.2f ns per value\n", bits, took / (double)size);
        }
        fft_free(fft);
        free(x);
    }
}

int main(void)
{
    static const char *const names[] = {"10^6 pure",
                                        "10^6 Laplace",
                                        "10^6 discrete Laplace",
                                        "10^6 Gaussian",
                                        "10^6 discrete Gaussian",
                                        "10^6 sampled Laplace",
                                        "10^6 sampled Gaussian",
                                        "10^6 draws of bounded range"};
    const struct privacy_event events[] = {one(MECHANISM_PURE, 1e-3, 1),
                                           one(MECHANISM_LAPLACE, 1000, 1),
                                           one(MECHANISM_DISCRETE_LAPLACE, 1000, 1),
                                           one(MECHANISM_GAUSSIAN, 1000, 1),
                                           one(MECHANISM_DISCRETE_GAUSSIAN, 1000, 1),
                                           one(MECHANISM_LAPLACE, 1, 1e-3),
                                           one(MECHANISM_GAUSSIAN, 1, 1e-3),
                                           one(MECHANISM_EXPONENTIAL, 1e-3, 1)};
    static struct privacy_event list[1000];

    printf("%-38s %s\n", "ms: by the clock (and the processor's)", "loss laws, all accountants");
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        report(names[i], &events[i], 1);
    }
    for (unsigned i = 0; i < 1000; i++) {
        list[i] = (struct privacy_event){
            MECHANISM_LAPLACE, NEIGHBOURS_ADD_REMOVE, 20 + 0.05 * i, 1, 1 + i % 7, 1, 0};
    }
    report("1,000 different Laplace events", list, 1000);
    list[0] = one(MECHANISM_LAPLACE, 2, 1);
    list[1] = one(MECHANISM_GAUSSIAN, 1, 0.01);
    list[0].count = list[1].count = 1000;
    report("1,000 Laplace", &list[0], 1);
    report("1,000 sampled Gaussian", &list[1], 1);
    for (unsigned i = 0; i < 1000; i++) {
        static const enum mechanism kinds[] = {
            MECHANISM_PURE,     MECHANISM_LAPLACE,           MECHANISM_DISCRETE_LAPLACE,
            MECHANISM_GAUSSIAN, MECHANISM_DISCRETE_GAUSSIAN, MECHANISM_EXPONENTIAL};
        enum mechanism kind = kinds[i % 6];
        bool known = kind == MECHANISM_PURE || kind == MECHANISM_EXPONENTIAL;
        bool sampled = i % 24 == 1 || i % 24 == 3;
        list[i] = (struct privacy_event){
            kind, NEIGHBOURS_ADD_REMOVE, known ? 0.01 + 1e-5 * i : 20 + 0.05 * i,
            1,    1 + i % 100,           sampled ? 0.1 : 1,
            0};
    }
    report("1,000 different events of all kinds", list, 1000);
    transforms();
    return 0;
}
