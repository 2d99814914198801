/* select_measured.h - the weights by which the running code selects, measured: a source of chosen words
 * drives it to both ends of every interval in which it decides, and bisection finds where the exact
 * path changes its mind. */

#ifndef TESTS_EXHAUSTIVE_SELECT_MEASURED_H
#define TESTS_EXHAUSTIVE_SELECT_MEASURED_H

#include "dp/select_private.h"
#include "noise/whole.h"
#include "tests/exhaustive/select_grid.h"

#include <string.h>

enum { UNITS_LOG2 = 64, ONE_LOG2 = NOISE_EXPONENTIAL_BITS + UNITS_LOG2 };
enum { SLACK = NOISE_EXPONENTIAL_SLACK };

/* A source that answers the first request with given words, later requests for one word with the
 * fraction and then zeros, and refuses anything else: a second try. */
struct driver {
    uint64_t word[2 * K];
    uint64_t fraction;
    unsigned requests;
};

static inline enum status driver_fill(void *self, void *out, size_t bytes)
{
    struct driver *driver = self;
    unsigned request = driver->requests++;
    memset(out, 0, bytes);
    if (request == 0) {
        CHECK(bytes <= sizeof driver->word);
        memcpy(out, driver->word, bytes);
        return STATUS_OK;
    }
    if (request == 1 && bytes == 8) {
        memcpy(out, &driver->fraction, 8);
    }
    return bytes == 8 ? STATUS_OK : STATUS_NO_RANDOM;
}

typedef enum status (*draw)(const struct noise_exponential *decay, const struct random *random,
                            size_t *chosen, const int64_t *scores, size_t count);

/* Asks the mechanism with one word of the driver set: whether it chooses the candidate. */
struct question {
    draw run;
    const struct noise_exponential *decay;
    const int64_t *scores;
    size_t candidate;
    struct driver driver;
};

static inline bool is_chosen(struct question *question, uint64_t *asked, uint64_t word)
{
    struct random random = {.fill = driver_fill, .self = &question->driver};
    size_t chosen = SIZE_MAX;
    *asked = word;
    question->driver.requests = 0;
    enum status status = question->run(question->decay, &random, &chosen, question->scores, K);
    return status == STATUS_OK && chosen == question->candidate;
}

/* The largest word for which the answer is yes. It is yes for 0, and turns to no at most once. */
static inline uint64_t largest_yes(struct question *question, uint64_t *asked)
{
    uint64_t yes = 0;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t next = yes | UINT64_C(1) << bit;
        yes = is_chosen(question, asked, next) ? next : yes;
    }
    (void)is_chosen(question, asked, yes);
    return yes;
}

/* Points the driver at the integer `point` below `end`: its words are (point + 1/2) 2^192 / end. */
static inline void aim(struct driver *driver, uint128 point, uint128 end)
{
    mpz_t word;
    mpz_t divisor;
    mpz_inits(word, divisor, NULL);
    whole_set_u128(word, 2 * point + 1);
    mpz_mul_2exp(word, word, 191);
    whole_set_u128(divisor, end);
    mpz_fdiv_q(word, word, divisor);
    memset(driver->word, 0, sizeof driver->word);
    mpz_export(driver->word, NULL, -1, 8, 0, 0, word);
    mpz_clears(word, divisor, NULL);
}

/* A weight in units of 2^-126 of the best one's: measured to be within [low, high]. */
struct measured {
    mpz_t low;
    mpz_t high;
};

/* All weights of all vectors of one mechanism. */
struct table {
    struct measured of[VECTORS][K];
};

static inline struct table *table_new(void)
{
    struct table *table = calloc(1, sizeof *table);
    CHECK(table != NULL);
    for (int v = 0; v < VECTORS; v++) {
        for (int i = 0; i < K; i++) {
            mpz_inits(table->of[v][i].low, table->of[v][i].high, NULL);
        }
    }
    return table;
}

static inline void table_free(struct table *table)
{
    for (int v = 0; v < VECTORS; v++) {
        for (int i = 0; i < K; i++) {
            mpz_clears(table->of[v][i].low, table->of[v][i].high, NULL);
        }
    }
    free(table);
}

/* Adds [whole, whole] 2^64 + [fraction, fraction + 1]. */
static inline void add_units(struct measured *out, uint64_t whole, uint64_t fraction)
{
    mpz_t units;
    mpz_init(units);
    whole_set_u128(units, ((uint128)whole << UNITS_LOG2) + fraction);
    mpz_add(out->low, out->low, units);
    mpz_add(out->high, out->high, units);
    mpz_add_ui(out->high, out->high, 1);
    mpz_clear(units);
}

/* The exponential mechanism's decisions: the integers below sum(w) + 8 K in the order of the
 * candidates, then 8 spare ones for each. */
static inline void measure_exponential(struct table *table, const struct noise_exponential *decay)
{
    for (int v = 0; v < VECTORS; v++) {
        int64_t scores[K];
        uint64_t weight[K];
        uint128 end = K * SLACK;
        uint128 first = 0;
        vector_of(v, scores);
        for (int i = 0; i < K; i++) {
            weight[i] = distance_in(scores, i);
            noise_exponential_floor(decay, &weight[i], &weight[i], 1);
            end += weight[i];
        }
        for (size_t i = 0; i < K; i++) {
            struct question ask = {select_draw_exponential, decay, scores, i, {.requests = 0}};
            uint64_t *fraction = &ask.driver.fraction;
            aim(&ask.driver, first, end);
            cr_assert(is_chosen(&ask, fraction, UINT64_MAX));
            aim(&ask.driver, first + weight[i] - 1, end);
            cr_assert(is_chosen(&ask, fraction, UINT64_MAX));
            first += weight[i];
            whole_set_u128(table->of[v][i].low, (uint128)weight[i] << UNITS_LOG2);
            mpz_set(table->of[v][i].high, table->of[v][i].low);
            for (size_t spare = 0; spare < SLACK; spare++) {
                aim(&ask.driver, end - K * SLACK + i * SLACK + spare, end);
                if (is_chosen(&ask, fraction, 0)) {
                    add_units(&table->of[v][i], 0, largest_yes(&ask, fraction));
                }
            }
        }
    }
}

/* Permute-and-flip's decisions: candidate i has the first priority and wins when its coin falls; of
 * the others only the best ones' coins do. */
static inline void measure_flip(struct table *table, const struct noise_exponential *decay)
{
    for (int v = 0; v < VECTORS; v++) {
        int64_t scores[K];
        vector_of(v, scores);
        for (size_t i = 0; i < K; i++) {
            struct question ask = {select_draw_flip, decay, scores, i, {.requests = 0}};
            uint64_t *word = ask.driver.word;
            for (size_t j = 0; j < K; j++) {
                word[2 * j] = UINT64_MAX;
                word[2 * j + 1] = j == i ? 0 : 1 + j;
            }
            uint64_t coin = largest_yes(&ask, &word[2 * i]) >> 2;
            word[2 * i] = coin << 2;
            mpz_set_ui(table->of[v][i].low, 0);
            mpz_set_ui(table->of[v][i].high, 0);
            add_units(&table->of[v][i], coin, largest_yes(&ask, &ask.driver.fraction));
        }
    }
}

#endif
