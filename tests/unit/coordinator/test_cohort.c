#include "adds_up.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const struct peer ABC[] = {{"a"}, {"b"}, {"c"}};
static const struct job EVERYBODY = {.agent_count = 0};

Test(cohort, an_empty_roster_is_never_complete)
{
    struct cohort cohort = {0};
    cr_assert_not(cohort_is_complete(&cohort, 0, 0));
    cohort_free(&cohort);
}

Test(cohort, is_complete_when_nobody_is_left_to_wait_for)
{
    struct cohort cohort = {0};
    cr_assert_eq(cohort_set_roster(&cohort, &EVERYBODY, ABC, 3), STATUS_OK);
    cohort_set_standing(&cohort, &cohort.member[0], STANDING_ANSWERED);
    cohort_set_standing(&cohort, &cohort.member[1], STANDING_DECLINED);
    for (int standing = STANDING_SILENT; standing <= STANDING_REFUSED; standing++) {
        cohort_set_standing(&cohort, &cohort.member[2], (enum standing)standing);
        cr_assert_eq(cohort_is_complete(&cohort, 0, 0), standing >= STANDING_ANSWERED);
    }
    cohort_free(&cohort);
}

Test(cohort, a_revoked_agent_is_gone_but_its_counted_answer_is_named)
{
    struct cohort cohort = {0};
    struct peer b = {"b"};
    struct peer c = {"c"};

    cr_assert_eq(cohort_set_roster(&cohort, &EVERYBODY, ABC, 3), STATUS_OK);
    cohort_set_standing(&cohort, cohort_find(&cohort, &b), STANDING_ANSWERED);
    cohort_set_standing(&cohort, cohort_find(&cohort, &c), STANDING_OFFERED);
    cr_assert_eq(cohort_set_roster(&cohort, &EVERYBODY, ABC, 1), STATUS_OK);
    cr_assert_null(cohort_find(&cohort, &b), "a revoked agent's frames find nobody");
    cr_assert_null(cohort_find(&cohort, &c));
    cr_assert_eq(cohort_count(&cohort, STANDING_ANSWERED), 1);
    cr_assert_eq(cohort_count(&cohort, STANDING_OFFERED), 0);
    cr_assert_not(cohort_is_complete(&cohort, 0, 0), "a has not answered");
    cohort_begin_round(&cohort);
    cr_assert_eq(cohort.count, 1);
    cohort_free(&cohort);
}

Test(cohort, a_roster_change_keeps_what_members_have_done)
{
    struct cohort cohort = {0};
    const struct peer more[] = {{"0"}, {"a"}, {"b"}, {"c"}};
    struct peer a = {"a"};

    cr_assert_eq(cohort_set_roster(&cohort, &EVERYBODY, ABC, 3), STATUS_OK);
    cohort_set_standing(&cohort, cohort_find(&cohort, &a), STANDING_ANSWERED);
    cohort_find(&cohort, &a)->ready = true;
    cr_assert_eq(cohort_set_roster(&cohort, &EVERYBODY, more, 4), STATUS_OK);
    cr_assert_eq(cohort_find(&cohort, &a)->standing, STANDING_ANSWERED);
    cr_assert_eq(cohort_count_ready(&cohort), 1);
    cr_assert_str_eq(cohort.member[0].peer.name, "0");
    cohort_free(&cohort);
}

/* One that was cut for an attack, or that two rounds have waited for in vain, may trickle or come back at once. */
Test(cohort, an_offer_of_one_that_was_given_up_goes_last)
{
    struct cohort cohort = {0};
    cr_assert_eq(cohort_set_roster(&cohort, &EVERYBODY, ABC, 3), STATUS_OK);
    for (int i = 0; i < 3; i++) {
        cohort_set_standing(&cohort, &cohort.member[i], STANDING_OFFERED);
        cohort.member[i].offered_ms = 10 * i;
    }
    cohort.member[0].cut = true;
    cohort.member[1].missed = MISSED_MAX;
    cohort.member[2].turns = 1; /* slow, but waited for */
    cr_expect_str_eq(cohort_next_offer(&cohort)->peer.name, "c");
    cohort_set_standing(&cohort, &cohort.member[2], STANDING_PULLING);
    cr_expect_str_eq(cohort_next_offer(&cohort)->peer.name, "a");
    cohort.member[1].missed = MISSED_MAX - 1;
    cr_expect_str_eq(cohort_next_offer(&cohort)->peer.name, "b");
    cohort_free(&cohort);
}

Test(cohort, the_longest_waiting_offer_goes_first)
{
    struct cohort cohort = {0};
    cr_assert_eq(cohort_set_roster(&cohort, &EVERYBODY, ABC, 3), STATUS_OK);
    cr_assert_null(cohort_next_offer(&cohort));
    cohort_set_standing(&cohort, &cohort.member[0], STANDING_OFFERED);
    cohort.member[0].offered_ms = 20;
    cohort_set_standing(&cohort, &cohort.member[2], STANDING_OFFERED);
    cohort.member[2].offered_ms = 10;
    cr_assert_str_eq(cohort_next_offer(&cohort)->peer.name, "c");
    cohort_free(&cohort);
}

Test(cohort, only_those_whom_the_job_asks_are_in_it)
{
    static char asked[][JOB_AGENT_BYTES] = {"b", "x"};
    const struct job job = {.agent = asked, .agent_count = 2};
    struct cohort cohort = {0};
    cr_assert_eq(cohort_set_roster(&cohort, &job, ABC, 3), STATUS_OK);
    cr_expect_eq(cohort.count, 1);
    cr_expect_null(cohort_find(&cohort, &ABC[0]), "an admitted agent whom it does not ask");
    cr_expect_not_null(cohort_find(&cohort, &ABC[1]));
    cohort_free(&cohort);
}

/* Counts are kept with each event. They must always equal the true numbers. */
Test(cohort, counts_along_the_way_what_is_there)
{
    enum { MANY = 300, STEPS = 5000 };
    static struct peer peer[MANY];
    struct cohort cohort = {0};
    uint32_t dice = 1;
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(peer[i].name, sizeof peer[i].name, "agent-%03d", i);
    }
    cr_assert_eq(cohort_set_roster(&cohort, &EVERYBODY, peer, MANY), STATUS_OK);
    for (int64_t step = 0; step < STEPS; step++) {
        dice = dice * 1664525 + 1013904223;
        struct member *member = &cohort.member[(dice >> 8) % cohort.count];
        if (step % 500 == 499) {
            cr_assert_eq(cohort_set_roster(&cohort, &EVERYBODY, peer, 200 + (dice >> 8) % 100),
                         STATUS_OK);
        } else if (step % 700 == 699) {
            cohort_begin_round(&cohort);
        } else if (!member->admitted) {
            continue;
        } else if (dice >> 31 == 0) {
            (void)cohort_note_hello(&cohort, member, (dice >> 30 & 1) != 0, 0, step);
            cohort_mark_untold(&cohort, member, TELL_INVITE, (dice >> 29 & 1) != 0);
        } else {
            cohort_set_standing(&cohort, member, (enum standing)((dice >> 20) % STANDING_COUNT));
        }
        cr_assert(adds_up(&cohort), "step %d", (int)step);
    }
    cohort.ready++;
    cr_assert_not(adds_up(&cohort), "or nothing would be seen");
    cohort_free(&cohort);
}
