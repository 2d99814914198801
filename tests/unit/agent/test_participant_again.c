/* A solver's answer waits for a slot, also if it is asked for again and nothing is computed. Otherwise a
 * person who restarts a site would see which answers were in memory. */

#define ASKED_STAGES                                                                               \
    "  - {task: fit, loss: logistic, lambdas: [0.5, 0.6], share: 1, tolerance: 0.01,\n"            \
    "     grid_bits: 10}\n"

#include "tests/unit/agent/asked.h"

static void expect_an_offer_at_a_slot(const char *when)
{
    const struct message invite = {.kind = MESSAGE_INVITE, .as.invite.job = bench.job.id};
    const int64_t asked_ms = bench.now_ms;
    say(&invite, (struct slice){0});
    wait_until(asked_ms + SLOT_MS - 1);
    cr_expect_eq(bench.offers, 0, "%s", when);
    wait_until(asked_ms + SLOT_MS);
    wait_until(asked_ms + SLOT_MS); /* durable */
    cr_expect_eq(bench.offers, 1, "%s", when);
}

Test(participant_again, the_answer_of_a_solver_waits_for_a_slot_each_time)
{
    (void)ask_and_wait; /* for stages with an input */
    init();
    bench.policy.task_allowed[TASK_FIT] = true;
    restart();
    expect_an_offer_at_a_slot("computed");
    const struct digest first = bench.offer.as.offer.answer;
    restart();
    const size_t works = bench.works;
    expect_an_offer_at_a_slot("at hand");
    cr_expect(digest_equal(&bench.offer.as.offer.answer, &first) && bench.works == works);
    end();
}
