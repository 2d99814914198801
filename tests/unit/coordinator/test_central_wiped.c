/* Under central trust no exact number stays in the coordinator's memory after its round. */

#include "central.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct central bench;

/* Marks that no other memory holds one after another: in an agent's answer, and, doubled, in the sum. */
static const int64_t mark[] = {11, 9, 7};

static size_t marks_freed;

void __real_free(void *memory);
size_t malloc_usable_size(void *memory);
void __wrap_free(void *memory);

void __wrap_free(void *memory)
{
    const size_t bytes = memory == NULL ? 0 : malloc_usable_size(memory);
    for (size_t at = 0; at + sizeof mark <= bytes; at += 8) {
        int64_t word[3];
        memcpy(word, (const unsigned char *)memory + at, sizeof word);
        const int64_t times = word[0] / mark[0];
        marks_freed += (times == 1 || times == 2) && word[0] == times * mark[0] &&
                       word[1] == times * mark[1] && word[2] == times * mark[2];
    }
    __real_free(memory);
}

static int64_t marked(UNUSED size_t agent, size_t place)
{
    return mark[place % 3];
}

/* Planted: memory given back unwiped is seen. It stays marked in the heap: a test of its own. */
Test(central_wiped, an_exact_number_that_is_given_back_unwiped_is_seen)
{
    volatile int64_t *leak = malloc(64);
    for (size_t i = 0; i < 3; i++) {
        leak[2 + i] = 2 * mark[i];
    }
    free((void *)(uintptr_t)leak);
    cr_assert_eq(marks_freed, 1);
}

Test(central_wiped, no_exact_number_is_given_back_unwiped)
{
    static const char *const stages[] = {CENTRAL_FIT, CENTRAL_ASK, CENTRAL_PLAYS, CENTRAL_SEGMENTS,
                                         CENTRAL_UPDATE};
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        central_init(&bench, stages[i] == CENTRAL_UPDATE ? "0.000001" : "0", stages[i]);
        central_greet(&bench);
        marks_freed = 0;
        while (!bench.coordinator->outcome.finished) {
            central_answer(&bench, marked);
        }
        central_free(&bench);
        cr_assert_eq(marks_freed, 0, "stage %zu", i);
        /* also when the round fails, and at a sudden end */
        central_init(&bench, stages[i] == CENTRAL_UPDATE ? "0.000001" : "0", stages[i]);
        central_greet(&bench);
        int64_t words[64];
        for (size_t j = 0; j < 64; j++) {
            words[j] = mark[j % 3];
        }
        central_offer(&bench, 0, words, central_count(&bench));
        central_send(&bench, 0, words, central_count(&bench));
        central_wait(&bench, 11000);
        cr_assert(bench.coordinator->outcome.failed);
        central_free(&bench);
        cr_assert_eq(marks_freed, 0, "stage %zu, failed", i);
    }
}

static int64_t small(size_t agent, size_t place)
{
    return (int64_t)(agent + 3 * place) % 4;
}

static void expect_no_digests(const char *when)
{
    for (size_t i = 0; i < bench.coordinator->cohort.count; i++) {
        cr_expect(digest_is_none(&bench.coordinator->cohort.member[i].answer), "%s: agent %zu",
                  when, i);
    }
}

/* A reader of the memory could try the few sums that are possible. */
Test(central_wiped, the_digest_of_an_exact_answer_ends_with_its_round)
{
    central_init(&bench, "0", CENTRAL_ASK);
    central_greet(&bench);
    while (!bench.coordinator->outcome.finished) {
        central_answer(&bench, small);
        expect_no_digests("closed");
    }
    central_free(&bench);
    central_init(&bench, "0", CENTRAL_ASK);
    central_greet(&bench);
    const int64_t words[16] = {0};
    cr_assert(central_count(&bench) <= 16);
    central_offer(&bench, 0, words, central_count(&bench));
    central_send(&bench, 0, words, central_count(&bench));
    central_wait(&bench, 11000);
    cr_assert(bench.coordinator->outcome.failed);
    expect_no_digests("failed");
    central_free(&bench);
}
