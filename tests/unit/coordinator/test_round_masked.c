/* A masked round at the coordinator when its list of agents changes, or when its time is over. */

#include "tests/unit/coordinator/masked.h"

#include <criterion/criterion.h>
#include <string.h>

enum { ALL = 0x1f, LAST = 4, BUT_LAST = 0xf };
enum { DEADLINE_MS = 10000, PATIENCE_MS = 20000 };

static struct masked rig;

static void answer_all(void)
{
    masked_init(&rig);
    masked_send_keys(&rig, ALL);
    cr_assert_eq(rig.coordinator->phase, PHASE_OPEN);
    masked_answer(&rig, BUT_LAST);
}

/* The sum as it is released: a fit's is released as it is. */
static void expect_round_of(unsigned set, uint32_t count)
{
    const struct record *round = masked_round(&rig);
    cr_assert_not_null(round);
    cr_assert_not(round->as.round.failed, "%s", round->as.round.cause);
    cr_assert_eq(round->as.round.agent_count, count);
    double row[MASKED_WORDS];
    cr_assert_geq(rig.blob_size[rig.record_count - 1], sizeof row);
    memcpy(row, rig.blob[rig.record_count - 1], sizeof row);
    for (size_t w = 0; w < MASKED_WORDS; w++) {
        cr_assert_float_eq(row[w], (double)masked_sum(&rig, set, w) / count / 1024, 1e-9,
                           "word %zu is %g", w, row[w]);
    }
}

Test(round_masked, the_sum_of_all_is_opened)
{
    answer_all();
    cr_assert_eq(masks_host_width(rig.coordinator->masks), MASKS_32);
    masked_answer(&rig, 1u << LAST);
    cr_assert_eq(rig.coordinator->phase, PHASE_OPENING);
    masked_sign(&rig, ALL);
    masked_reveal(&rig, ALL);
    expect_round_of(ALL, MASKED_SITES);
    masked_free(&rig);
}

/* The roster of a program that knew words of 8 bytes alone, whose journal says no width. */
Test(round_masked, a_round_that_an_older_program_listed_keeps_its_words)
{
    masked_init(&rig);
    rig.terms.width = MASKS_64;
    masked_send_keys(&rig, ALL);
    struct record *roster = &rig.record[rig.record_count - 1];
    cr_assert(roster->kind == RECORD_ROSTER && roster->as.roster.width == MASKS_32);
    roster->as.roster.width = 0;
    masked_rerun(&rig);
    masked_admit(&rig, ALL);
    masked_greet(&rig, ALL);
    cr_assert_eq(masks_host_width(rig.coordinator->masks), MASKS_64);
    masked_answer(&rig, ALL);
    masked_sign(&rig, ALL);
    masked_reveal(&rig, ALL);
    expect_round_of(ALL, MASKED_SITES);
    masked_free(&rig);
}

/* Words of another size than the round's are of another dimension. */
Test(round_masked, an_answer_of_other_words_is_refused)
{
    answer_all();
    rig.terms.width = MASKS_64;
    masked_answer(&rig, 1u << LAST);
    cr_expect_not_null(strstr(rig.said, "offer-refused"));
    cr_expect_eq(rig.coordinator->phase, PHASE_OPENING);
    cr_expect_not(masks_set_has(masks_host_survivors(rig.coordinator->masks), LAST));
    masked_free(&rig);
}

/* Planted: a site greets exactly when its round is lost, and the message to it used freed memory. */
Test(round_masked, survivors_are_told_whole_in_the_step_that_loses_their_round)
{
    answer_all();
    masked_answer(&rig, 1u << LAST);
    rig.now_ms += DEADLINE_MS + PATIENCE_MS;
    masked_greet(&rig, 1);
    const struct masked_sent *told = masked_find(&rig, 0, MESSAGE_SURVIVORS);
    const uint8_t all[MASKS_SET_BYTES] = {ALL};
    cr_assert_not_null(told);
    cr_assert_arr_eq(told->payload, all, sizeof all);
    cr_assert(masked_round(&rig) != NULL && masked_round(&rig)->as.round.failed);
    masked_free(&rig);
}

Test(round_masked, a_site_that_is_revoked_before_the_survivors_are_named_is_not_among_them)
{
    answer_all();
    masked_admit(&rig, ALL & ~1u);
    cr_assert_eq(rig.coordinator->phase, PHASE_OPEN);
    for (size_t i = 1; i < MASKED_SITES; i++) {
        cr_assert_not_null(masked_find(&rig, i, MESSAGE_INVITE), "site-%zu is asked again", i);
    }
    masked_offer(&rig, BUT_LAST & ~1u);
    masked_answer(&rig, 1u << LAST);
    cr_assert_eq(rig.coordinator->phase, PHASE_OPENING);
    masked_sign(&rig, ALL & ~1u);
    masked_reveal(&rig, ALL & ~1u);
    expect_round_of(ALL & ~1u, MASKED_SITES - 1);
    masked_free(&rig);
}

/* Only the site itself can open its part of the sum, so the round waits for its return. */
Test(round_masked, a_survivor_that_is_revoked_and_admitted_again_opens_its_round)
{
    answer_all();
    masked_answer(&rig, 1u << LAST);
    masked_sign(&rig, ALL);
    masked_admit(&rig, ALL & ~1u);
    cr_assert_not_null(strstr(rig.said, "survivor-revoked"));
    masked_reveal(&rig, ALL & ~1u);
    cr_assert_eq(rig.coordinator->phase, PHASE_OPENING);
    masked_admit(&rig, ALL);
    masked_greet(&rig, 1);
    cr_assert_not_null(masked_find(&rig, 0, MESSAGE_OPEN));
    masked_reveal(&rig, 1);
    expect_round_of(ALL, MASKED_SITES);
    masked_free(&rig);
}

Test(round_masked, a_survivor_that_is_revoked_after_it_has_revealed_is_not_needed)
{
    answer_all();
    masked_answer(&rig, 1u << LAST);
    masked_sign(&rig, ALL);
    masked_reveal(&rig, 1);
    masked_admit(&rig, ALL & ~1u);
    cr_assert_null(strstr(rig.said, "survivor-revoked"));
    masked_reveal(&rig, ALL & ~1u);
    expect_round_of(ALL, MASKED_SITES);
    masked_free(&rig);
}

Test(round_masked, a_survivor_that_stays_revoked_is_named_when_its_round_is_lost)
{
    for (int rerun = 0; rerun < 2; rerun++) {
        answer_all();
        masked_answer(&rig, 1u << LAST);
        masked_admit(&rig, ALL & ~1u);
        if (rerun == 1) {
            masked_rerun(&rig);
            masked_admit(&rig, ALL & ~1u);
            masked_greet(&rig, ALL & ~1u);
            masked_offer(&rig, ALL & ~1u);
        }
        cr_assert_null(masked_round(&rig), "it may be admitted again");
        masked_pass(&rig, DEADLINE_MS);
        masked_pass(&rig, PATIENCE_MS);
        const struct record *round = masked_round(&rig);
        cr_assert(round != NULL && round->as.round.failed);
        cr_assert_not_null(strstr(round->as.round.cause, "site-0"), "%s", round->as.round.cause);
        masked_free(&rig);
    }
}

/* A survivor that comes back after the coordinator's death is in the same list, and in the sum once. */
Test(round_masked, a_survivor_that_is_admitted_again_after_a_restart_opens_its_round)
{
    answer_all();
    masked_answer(&rig, 1u << LAST);
    masked_sign(&rig, ALL);
    masked_rerun(&rig);
    masked_admit(&rig, ALL & ~1u);
    masked_greet(&rig, ALL & ~1u);
    masked_offer(&rig, ALL & ~1u);
    cr_assert_eq(rig.coordinator->phase, PHASE_OPEN);
    masked_admit(&rig, ALL);
    masked_greet(&rig, 1);
    masked_offer(&rig, 1);
    cr_assert_eq(rig.coordinator->phase, PHASE_OPENING);
    masked_sign(&rig, ALL);
    masked_reveal(&rig, ALL);
    expect_round_of(ALL, MASKED_SITES);
    masked_free(&rig);
}

/* A site that was asked another question, or forged keys: the log names the event, and the round goes on without the
 * one that sent it. */
Test(round_masked, keys_and_signatures_that_are_refused_are_in_the_log)
{
    masked_init(&rig);
    rig.terms.round++; /* signed for the round after */
    masked_send_keys(&rig, 1u << LAST);
    rig.terms.round--;
    cr_assert_not_null(strstr(rig.said, "keys-refused"));
    masked_send_keys(&rig, BUT_LAST);
    masked_answer(&rig, BUT_LAST);
    cr_assert_eq(rig.coordinator->phase, PHASE_OPENING);
    const struct digest right = rig.signing[0].secret_key;
    rig.signing[0].secret_key = rig.signing[1].secret_key;
    cr_assert_null(strstr(rig.said, "signature-refused"));
    masked_sign(&rig, 1);
    cr_assert_not_null(strstr(rig.said, "signature-refused"));
    rig.signing[0].secret_key = right;
    masked_sign(&rig, BUT_LAST);
    masked_reveal(&rig, BUT_LAST);
    expect_round_of(BUT_LAST, MASKED_SITES - 1);
    masked_free(&rig);
}
