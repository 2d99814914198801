/* An exact number leaves no trace at the coordinator beside its journal: no line of the log at any
 * level, nothing from a round that failed or could not be paid, no digest in memory that is freed. */

#include "central.h"

#include "dp/select.h"
#include "task/select/stage.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_BYTES = 1 << 16, SEEDS = 12 };

static const char FIT[] =
    "  - {task: fit, loss: logistic, lambdas: [0.5, 0.9], share: 0.5, tolerance: 0.01, grid_bits: 10,"
    " experts: {own: false, shifts: [0.25]}}\n"
    "  - {task: losses, strategy: dartboard, loss: zero_one, rounds: 3, batch: 4, share: 0.2,"
    " grid_bits: 10}\n"
    "  - {task: losses, strategy: epochs, loss: zero_one, rounds: 4, batch: 3, share: 0.1,"
    " grid_bits: 10}\n";
static const char ASK[] =
    "  - {task: query, queries: [\"count: a >= 0.5\", \"quantile: 0.5 of b\"], batch: 12,"
    " share: 0.6, grid_bits: 10}\n"
    "  - {task: select, candidates: {predicates: [\"a >= 0.2\"]}, batch: 12, share: 0.4}\n";

static const char SELECT[] =
    "  - {task: fit, loss: logistic, lambdas: [0.5, 0.9], share: 0.5, tolerance: 0.01, grid_bits: 10,"
    " experts: {own: false, shifts: [0.25]}}\n"
    "  - {task: select, loss: zero_one, batch: 12, share: 0.5, grid_bits: 10}\n";

static struct central bench;
static char said[LOG_BYTES];
static size_t said_bytes;

static void note(UNUSED void *self, const struct log_entry *entry)
{
    said_bytes += (size_t)snprintf(said + said_bytes, LOG_BYTES - said_bytes, "%s: %s\n",
                                   entry->event, entry->text);
    cr_assert_lt(said_bytes, LOG_BYTES);
}

/* Numbers that show where they are, as large as the round's bounds let them be. */
static int64_t telling(size_t agent, UNUSED size_t place)
{
    static const int64_t large[CENTRAL_AGENTS] = {4007, 3989};
    static const int64_t small[CENTRAL_AGENTS] = {983, 977};
    uint32_t within;
    struct round_bounds bounds;
    const struct outcome *outcome = &bench.coordinator->outcome;
    const struct stage *stage = job_stage_of(&bench.job, outcome->rounds_closed, &within);
    cr_assert_eq(round_bounds(&bounds, &bench.job, stage, within, 1, outcome->expert_count, NULL),
                 STATUS_OK);
    return bounds.high >= 4007 ? large[agent] : bounds.high >= 983 ? small[agent] : 1;
}

static int64_t scattered(UNUSED size_t agent, size_t place)
{
    return (int64_t)(place * 5 % 7) - 3;
}

Test(central_traces, the_log_holds_no_exact_number)
{
    static const char *const stages[] = {FIT, CENTRAL_UPDATE, ASK};
    static const char *const exact[] = {"4007", "3989", "7996", "983", "977", "1960"};
    const struct log log = {.write = note, .level = LOG_DEBUG};
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        said_bytes = 0;
        central_init(&bench, stages[i] == CENTRAL_UPDATE ? "0.000001" : "0", stages[i]);
        bench.coordinator->options.log = &log;
        central_greet(&bench);
        while (!bench.coordinator->outcome.finished) {
            central_answer(&bench, telling);
        }
        cr_assert(!bench.coordinator->outcome.failed && strstr(said, "answer-counted") != NULL);
        for (size_t j = 0; j < sizeof exact / sizeof exact[0]; j++) {
            cr_expect(strstr(said, exact[j]) == NULL, "%s in\n%s", exact[j], said);
        }
        central_free(&bench);
    }
}

Test(central_traces, the_sum_of_a_round_that_failed_is_gone)
{
    central_init(&bench, "0", ASK);
    central_greet(&bench);
    int64_t value[16] = {0};
    const size_t count = central_count(&bench);
    cr_assert_leq(count, 16);
    central_offer(&bench, 0, value, count);
    central_send(&bench, 0, value, count);
    cr_assert(aggregate_is_open(&bench.coordinator->aggregate));
    central_wait(&bench, 11000);
    cr_assert(bench.coordinator->outcome.failed);
    cr_assert_not(aggregate_is_open(&bench.coordinator->aggregate));
    central_free(&bench);
}

/* The job's price is all that its coordinator may spend; what it cannot pay for is wiped, not released. */
Test(central_traces, a_sum_that_cannot_be_paid_is_wiped)
{
    static const char *const stages[] = {CENTRAL_UPDATE, ASK};
    for (size_t i = 0; i < 2; i++) {
        struct curator *curator = NULL;
        struct why why = {{0}};
        int64_t sum[3] = {11, 9, 7};
        static const int64_t nothing[3] = {0};
        central_init(&bench, stages[i] == CENTRAL_UPDATE ? "0.000001" : "0", stages[i]);
        const uint64_t epsilon_micro = bench.job.epsilon_micro;
        const uint64_t price_micro = bench.job.stage[0].charge.epsilon_micro;
        bench.job.epsilon_micro = price_micro > 0 ? price_micro - 1 : epsilon_micro / 100;
        cr_assert_eq(curator_new(&curator, &bench.job, &bench.random), STATUS_OK);
        cr_expect_eq(curator_add_noise(curator, sum, 3, 0, 0, &why), STATUS_EXHAUSTED);
        cr_expect_arr_eq(sum, nothing, sizeof sum);
        cr_expect(why.text[0] != '\0');
        curator_free(curator);
        bench.job.epsilon_micro = epsilon_micro;
        central_free(&bench);
    }
}

Test(central_traces, a_value_beyond_its_bounds_is_seen_at_every_place)
{
    for (size_t place = 0; place < 3; place++) {
        for (int64_t beyond = -11; beyond <= 11; beyond++) {
            uint8_t bytes[24] = {0};
            const struct aggregate aggregate = {.count = 3};
            store_u64(bytes + 8 * place, (uint64_t)beyond);
            const struct slice answer = {bytes, sizeof bytes};
            cr_expect_eq(aggregate_is_within(&aggregate, answer, -10, 9),
                         beyond >= -10 && beyond <= 9, "%d at %zu", (int)beyond, place);
        }
    }
}

/* A choice is the mechanism's own, on the exact scores, at their whole sensitivity, from the same stream. */
Test(central_traces, a_choice_is_drawn_at_the_sensitivity_that_is_charged)
{
    static const char *const strategy[] = {"exponential", "permute_and_flip"};
    for (uint64_t seed = 0; seed < 2 * SEEDS; seed++) {
        char stages[512];
        int64_t sum[16];
        int64_t score[64];
        size_t expected = 0;
        struct grant *grant = NULL;
        (void)snprintf(
            stages, sizeof stages,
            "  - {task: select, strategy: %s, candidates: {stumps: [a, b], thresholds: 4},"
            " batch: 12, share: 0.5}\n",
            strategy[seed / SEEDS]);
        central_init(&bench, "0", stages);
        central_greet(&bench);
        const struct stage *stage = &bench.job.stage[0];
        const size_t cells = central_count(&bench);
        const size_t count = candidates_count(&select_stage(stage)->candidates);
        cr_assert(cells <= 16 && count <= 64);
        for (size_t i = 0; i < cells; i++) {
            sum[i] = CENTRAL_AGENTS * scattered(0, i);
        }
        candidates_scores(score, &select_stage(stage)->candidates, sum,
                          CENTRAL_AGENTS * stage->batch);
        seeded_random_init(&bench.seeded, 100 + seed);
        struct seeded_random twin = bench.seeded;
        const struct random random = seeded_random_interface(&twin);
        central_answer(&bench, scattered);
        struct ledger *ledger = ledger_new((struct price){UINT64_MAX, 0});
        struct charge charge = stage->charge;
        charge.pass.byte[0] = 1;
        charge.row_count = 12;
        cr_assert_eq(ledger_spend(ledger, &grant, &charge, NULL), STATUS_OK);
        cr_assert_eq(seed < SEEDS
                         ? select_exponential(&grant, &random, &expected, score, count, 2)
                         : select_permute_and_flip(&grant, &random, &expected, score, count, 2),
                     STATUS_OK);
        struct record last = central_last(&bench);
        cr_assert(last.kind == RECORD_ROUND && last.as.round.sum_count == 1);
        cr_expect_eq(last.as.round.sum[0], (int64_t)expected, "%s, seed %u", strategy[seed / SEEDS],
                     (unsigned)seed);
        record_free(&last);
        ledger_free(ledger);
        central_free(&bench);
    }
}

enum { MARK = 0xa7, SUM = 7996 };

static size_t marks_freed;
static size_t sums_freed; /* three consecutive sums of recognisable numbers */

void __real_free(void *memory);
size_t malloc_usable_size(void *memory);
void __wrap_free(void *memory);

void __wrap_free(void *memory)
{
    const size_t bytes = memory == NULL ? 0 : malloc_usable_size(memory);
    size_t run = 0;
    for (size_t i = 0; i < bytes; i++) {
        run = ((const unsigned char *)memory)[i] == MARK ? run + 1 : 0;
        marks_freed += run == DIGEST_BYTES;
    }
    for (size_t at = 0; at + 24 <= bytes; at += 8) {
        int64_t word[3];
        memcpy(word, (const unsigned char *)memory + at, sizeof word);
        sums_freed += word[0] == SUM && word[1] == SUM && word[2] == SUM;
    }
    __real_free(memory);
}

/* The scores that experts are selected by are a copy of the sum. */
Test(central_traces, no_sum_and_no_score_is_given_back_unwiped)
{
    static const char *const stages[] = {FIT, SELECT};
    for (size_t i = 0; i < 2; i++) {
        central_init(&bench, "0", stages[i]);
        central_greet(&bench);
        while (!bench.coordinator->outcome.finished) {
            central_answer(&bench, telling);
        }
        central_free(&bench);
        cr_expect_eq(sums_freed, 0, "%zu", i);
    }
    volatile int64_t *leak = malloc(64);
    leak[2] = leak[3] = leak[4] = SUM;
    free((void *)(uintptr_t)leak);
    cr_expect_eq(sums_freed, 1, "planted");
}

static const struct job EVERYBODY = {.agent_count = 0};

static void offer_marked(struct cohort *cohort)
{
    for (size_t i = 0; i < cohort->count; i++) {
        cohort->member[i].standing = STANDING_OFFERED;
        memset(&cohort->member[i].answer, MARK, DIGEST_BYTES);
    }
}

/* Planted: what is looked for is found. A test of its own, as the heap stays marked. */
Test(central_traces, a_digest_that_is_given_back_unwiped_is_seen)
{
    struct cohort cohort = {0};
    const struct peer peers[] = {{"a"}, {"b"}};
    cr_assert_eq(cohort_set_roster(&cohort, &EVERYBODY, peers, 2), STATUS_OK);
    offer_marked(&cohort);
    free(cohort.member);
    cr_assert_eq(marks_freed, 2);
}

Test(central_traces, no_digest_of_an_exact_answer_is_given_back_unwiped)
{
    struct cohort cohort = {0};
    const struct peer peers[] = {{"a"}, {"b"}, {"c"}};
    cr_assert_eq(cohort_set_roster(&cohort, &EVERYBODY, peers, 3), STATUS_OK);
    offer_marked(&cohort);
    cr_assert_eq(cohort_set_roster(&cohort, &EVERYBODY, peers, 2), STATUS_OK);
    cr_expect_eq(marks_freed, 0, "one is revoked");
    offer_marked(&cohort);
    cohort_begin_round(&cohort);
    for (size_t i = 0; i < cohort.count; i++) {
        cr_expect(digest_is_none(&cohort.member[i].answer), "a round later");
    }
    offer_marked(&cohort);
    cohort_free(&cohort);
    cr_expect_eq(marks_freed, 0, "at the end");
}
