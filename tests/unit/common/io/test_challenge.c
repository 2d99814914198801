/* Which of two connections under one key may stay, on a clock of the test's own. */

#include "io/challenge.h"

#include <criterion/criterion.h>

/* What an older connection does, a step every 50 ms, as the endpoint looks. */
struct older {
    int64_t bytes_every_ms; /* 0: none */
    int64_t bytes_until_ms;
    int64_t answers_ms; /* after the challenge; negative: never */
};

enum { LOOK_MS = 50, END_MS = 60000, BEGUN_MS = 1000 };

/* Plays it to its verdict; returns how long it took. */
static int64_t play(const struct older *older, enum challenge_verdict *verdict)
{
    struct challenge challenge;
    uint64_t bytes = 500;
    int64_t after_ms = 0;

    challenge_begin(&challenge, 7, BEGUN_MS, bytes);
    for (*verdict = CHALLENGE_OPEN; *verdict == CHALLENGE_OPEN && after_ms < END_MS;
         after_ms += LOOK_MS) {
        if (older->bytes_every_ms != 0 && after_ms <= older->bytes_until_ms &&
            after_ms % older->bytes_every_ms == 0) {
            bytes += 100;
        }
        if (older->answers_ms >= 0 && after_ms >= older->answers_ms) {
            challenge_answered(&challenge, 7);
        }
        *verdict = challenge_look(&challenge, BEGUN_MS + after_ms, bytes);
    }
    return after_ms - LOOK_MS;
}

Test(challenge, an_agent_that_answers_stays_at_once)
{
    enum challenge_verdict verdict;
    cr_expect_eq(play(&(struct older){.answers_ms = 50}, &verdict), 50);
    cr_expect_eq(verdict, CHALLENGE_STAYS);
}

Test(challenge, a_dead_connection_yields_after_its_silence)
{
    enum challenge_verdict verdict;
    cr_expect_eq(play(&(struct older){.answers_ms = -1}, &verdict), CHALLENGE_SILENCE_MS);
    cr_expect_eq(verdict, CHALLENGE_YIELDS);
}

/* The heartbeat of an agent far away arrives, its answer is still on the way. */
Test(challenge, a_slow_agent_stays_as_long_as_something_comes)
{
    enum challenge_verdict verdict;
    const struct older slow = {
        .bytes_every_ms = 2000, .bytes_until_ms = END_MS, .answers_ms = 12000};
    cr_expect_eq(play(&slow, &verdict), 12000);
    cr_expect_eq(verdict, CHALLENGE_STAYS);
}

/* A known limit: an agent that is silent for 2.5 s loses its place. */
Test(challenge, an_agent_that_is_silent_for_longer_loses_its_place)
{
    enum challenge_verdict verdict;
    cr_expect_eq(play(&(struct older){.answers_ms = 2400}, &verdict), 2400);
    cr_expect_eq(verdict, CHALLENGE_STAYS);
    (void)play(&(struct older){.answers_ms = 2600}, &verdict);
    cr_expect_eq(verdict, CHALLENGE_YIELDS);
}

/* The program has ended; what it left in its kernel's buffer takes 20 s on a slow line. If bytes counted as life, the
 * site's only agent would be turned away. */
Test(challenge, the_bytes_of_a_program_that_has_ended_do_not_keep_its_place)
{
    enum challenge_verdict verdict;
    const struct older drained = {.bytes_every_ms = 50, .bytes_until_ms = 20000, .answers_ms = -1};
    cr_expect_eq(play(&drained, &verdict), 20000 + CHALLENGE_SILENCE_MS);
    cr_expect_eq(verdict, CHALLENGE_YIELDS);
    const struct older endless = {.bytes_every_ms = 50, .bytes_until_ms = END_MS, .answers_ms = -1};
    cr_expect_eq(play(&endless, &verdict), CHALLENGE_PATIENCE_MS);
    cr_expect_eq(verdict, CHALLENGE_YIELDS);
}

Test(challenge, an_answer_to_another_question_is_none)
{
    struct challenge challenge;
    challenge_begin(&challenge, 8, BEGUN_MS, 0);
    challenge_answered(&challenge, 7);
    cr_expect_eq(challenge_look(&challenge, BEGUN_MS, 0), CHALLENGE_OPEN);
    challenge_answered(&challenge, 8);
    cr_expect_eq(challenge_look(&challenge, BEGUN_MS, 0), CHALLENGE_STAYS);
}

/* The coordinator stood still and reads only now what came meanwhile. */
Test(challenge, a_message_that_is_taken_late_counts_as_heard)
{
    struct challenge challenge;
    challenge_begin(&challenge, 1, BEGUN_MS, 0);
    challenge_heard(&challenge, BEGUN_MS + 5000);
    cr_expect_eq(challenge_look(&challenge, BEGUN_MS + 5000 + CHALLENGE_SILENCE_MS - 1, 0),
                 CHALLENGE_OPEN);
    cr_expect_eq(challenge_look(&challenge, BEGUN_MS + 5000 + CHALLENGE_SILENCE_MS, 0),
                 CHALLENGE_YIELDS);
}

Test(challenge, the_question_is_repeated_once_a_second)
{
    struct challenge challenge;
    size_t asked = 0;
    challenge_begin(&challenge, 1, BEGUN_MS, 0);
    for (int64_t after_ms = 0; after_ms <= 2500; after_ms += LOOK_MS) {
        asked += challenge_asks(&challenge, BEGUN_MS + after_ms) ? 1 : 0;
    }
    cr_expect_eq(asked, 3);
}
