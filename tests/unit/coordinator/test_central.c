/* The coordinator under central trust: what it charges, what it writes, and its state after a
 * crash. */

#include "central.h"

#include "base/exit_code.h"
#include "dp/mechanism.h"
#include "task/close.h"
#include "task/losses/stage.h"
#include "task/select/stage.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct central bench;

static int64_t small(size_t agent, size_t place)
{
    return (int64_t)(agent + 3 * place) % 4;
}

static bool costs_equal(struct cost a, struct cost b)
{
    return a.epsilon_micro == b.epsilon_micro && a.delta_atto == b.delta_atto &&
           a.renyi_nano == b.renyi_nano;
}

/* What is spent, beside the limit. */
static struct balance paid_by(const struct curator *curator)
{
    return ledger_balance(curator->ledger, ALLOWANCE_TOTAL);
}

/* What the plays of the game under way have come to: all zero before the first. */
static struct balance budget_of(const struct curator *curator)
{
    return curator->budget == NULL ? (struct balance){0}
                                   : ledger_balance(curator->budget, ALLOWANCE_TOTAL);
}

/* What a game's plays came to is no more than the stage has paid. */
static void check_budget(struct balance budget, uint32_t round)
{
    uint32_t within;
    const struct stage *stage = job_stage_of(&bench.job, round, &within);
    struct charge charge = stage->charge;
    if (stage->task != TASK_LOSSES || !budget.limited) {
        return;
    }
    charge.pass = (struct digest){{1}};
    charge.row_count = 1;
    const struct cost paid = filter_cost(&budget.filter, &charge);
    cr_assert(budget.spent.epsilon_micro <= paid.epsilon_micro &&
                  budget.spent.renyi_nano <= paid.renyi_nano,
              "round %u: %llu of %llu", round, (unsigned long long)budget.spent.epsilon_micro,
              (unsigned long long)paid.epsilon_micro);
}

/* After every round the program begins anew: what it has paid, which question it asks next and which model
 * it has chosen are what they were. */
static void check_recovery(const char *delta, const char *stages, uint64_t seed)
{
    central_init(&bench, delta, stages);
    seeded_random_init(&bench.seeded, seed);
    central_greet(&bench);
    while (!bench.coordinator->outcome.finished) {
        central_answer(&bench, small);
        struct cost spent = paid_by(bench.coordinator->curator).spent;
        struct artifact input = bench.invite.as.invite.input;
        const uint32_t chosen = bench.coordinator->outcome.chosen;
        const uint32_t round = bench.invite.as.invite.round;
        const struct balance budget = budget_of(bench.coordinator->curator);
        check_budget(budget, bench.coordinator->outcome.rounds_closed - 1);
        cr_assert_eq(central_restart(&bench), STATUS_OK);
        central_greet(&bench);
        struct cost restored = paid_by(bench.coordinator->curator).spent;
        cr_assert(costs_equal(spent, restored), "round %u: paid %llu and %llu, restored %llu, %llu",
                  round, (unsigned long long)spent.epsilon_micro,
                  (unsigned long long)spent.renyi_nano, (unsigned long long)restored.epsilon_micro,
                  (unsigned long long)restored.renyi_nano);
        cr_assert(costs_equal(budget.spent, budget_of(bench.coordinator->curator).spent));
        cr_assert_eq(bench.coordinator->outcome.chosen, chosen);
        cr_assert(digest_equal(&bench.invite.as.invite.input.digest, &input.digest));
        cr_assert_eq(bench.invite.as.invite.input.bytes, input.bytes);
    }
    struct cost price = round_cost(&bench.job, &bench.job.filter, job_round_count(&bench.job));
    struct cost spent = paid_by(bench.coordinator->curator).spent;
    cr_assert(costs_equal(spent, price), "the agents have paid as much");
    cr_assert_gt(spent.epsilon_micro, 0);
    central_free(&bench);
}

Test(central, a_restart_after_any_round_has_paid_what_was_paid)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        check_recovery("0", CENTRAL_PLAYS, seed);
        check_recovery("0", CENTRAL_SEGMENTS, seed);
        check_recovery("0.000001", CENTRAL_SEGMENTS, seed);
    }
    check_recovery("0.000001", CENTRAL_UPDATE, 1);
    check_recovery("0", CENTRAL_ASK, 1);
}

static size_t states_kept(void)
{
    size_t count = 0;
    for (size_t i = 0; i < bench.kept_count; i++) {
        count += bench.kept[i].blob_size > 0 && !bench.kept[i].forgotten;
    }
    return count;
}

Test(central, of_an_updates_states_the_latest_is_kept)
{
    central_init(&bench, "0.000001", CENTRAL_UPDATE);
    central_greet(&bench);
    for (int round = 0; round < 4; round++) {
        central_answer(&bench, small);
        cr_assert_eq(states_kept(), 1);
        cr_assert_not(bench.kept[bench.kept_count - 1].forgotten);
    }
    central_free(&bench);
}

/* A failed round has no state: forgetting the one before it left a journal that could not be read. */
Test(central, a_round_that_fails_leaves_the_state_before_it)
{
    central_init(&bench, "0.000001", CENTRAL_UPDATE);
    central_greet(&bench);
    central_answer(&bench, small);
    central_answer(&bench, small);
    central_wait(&bench, 11000);
    cr_assert(bench.coordinator->outcome.failed);
    cr_assert_eq(central_restart(&bench), STATUS_OK);
    cr_assert(bench.coordinator->outcome.failed && bench.coordinator->outcome.rounds_closed == 3);
    central_wait(&bench, 2000);
    cr_assert(bench.finished && bench.exit_code == EXIT_CODE_JOB_FAILED);
    central_free(&bench);
}

/* Coins that were tossed again make another answer: it takes the place of the first, until one of them is
 * in the sum. */
Test(central, the_answer_of_an_agent_that_began_anew_counts)
{
    int64_t first[3] = {1, 2, 3};
    int64_t second[3] = {5, 6, 7};
    central_init(&bench, "0.000001", CENTRAL_UPDATE);
    central_greet(&bench);
    central_offer(&bench, 0, first, 3);
    cr_assert_eq(bench.pulls, 1);
    central_offer(&bench, 0, second, 3);
    cr_assert_eq(bench.pulls, 2, "it is asked for anew");
    central_send(&bench, 0, second, 3);
    cr_assert_eq(aggregate_value(&bench.coordinator->aggregate, 0), 5);
    central_offer(&bench, 0, first, 3);
    central_send(&bench, 0, first, 3);
    cr_assert_eq(aggregate_value(&bench.coordinator->aggregate, 0), 5, "once");
    central_free(&bench);
}

/* The released sum minus the exact one is the noise that a copy of the source draws. */
Test(central, released_is_the_exact_sum_and_noise_drawn_once)
{
    central_init(&bench, "0", CENTRAL_ASK);
    central_greet(&bench);
    const size_t count = central_count(&bench);
    struct seeded_random copy = bench.seeded;
    struct random random = seeded_random_interface(&copy);
    struct ledger *ledger = ledger_new((struct price){4000000, 0});
    struct charge charge = bench.job.stage[0].charge;
    struct grant *grant = NULL;
    struct round_bounds bounds;
    int64_t noise[8] = {0};
    cr_assert(count <= 8 && count > 1);
    charge.pass = (struct digest){{1}};
    charge.row_count = 1;
    cr_assert_eq(charge.epsilon_micro, 2400000 / bench.job.stage[0].rounds);
    cr_assert_eq(round_bounds(&bounds, &bench.job, &bench.job.stage[0], 0, 12, 0, NULL), STATUS_OK);
    cr_assert_eq(ledger_spend(ledger, &grant, &charge, NULL), STATUS_OK);
    cr_assert_eq(mechanism_laplace(&grant, &random, noise, count, bounds.sensitivity), STATUS_OK);
    central_answer(&bench, small);
    struct record record = central_last(&bench);
    bool noisy = false;
    cr_assert_eq(record.as.round.sum_count, count);
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(record.as.round.sum[i], small(0, i) + small(1, i) + noise[i]);
        noisy = noisy || noise[i] != 0;
    }
    cr_assert(noisy);
    cr_assert_eq(bench.seeded.drawn_bytes, copy.drawn_bytes, "and nothing else is drawn");
    record_free(&record);
    ledger_free(ledger);
    central_free(&bench);
}

/* One candidate, one number in the journal. The scores differ by so little that the noise decides. */
Test(central, a_selection_releases_a_candidate_and_no_sum)
{
    central_init(&bench, "0", CENTRAL_ASK);
    central_greet(&bench);
    while (!bench.coordinator->outcome.finished) {
        central_answer(&bench, small);
    }
    struct record record = central_last(&bench);
    cr_assert_eq(record.as.round.sum_count, 1);
    cr_assert_lt((size_t)record.as.round.sum[0],
                 candidates_count(&select_stage(&bench.job.stage[1])->candidates));
    record_free(&record);
    central_free(&bench);
}

Test(central, a_play_releases_the_chosen_expert_and_no_loss)
{
    central_init(&bench, "0", CENTRAL_PLAYS);
    central_greet(&bench);
    for (uint32_t round = 0; !bench.coordinator->outcome.finished; round++) {
        central_answer(&bench, small);
        struct record record = central_last(&bench);
        if (round >= 2) {
            cr_assert_eq(record.as.round.sum_count, 3);
            cr_assert_eq(record.as.round.blob_bytes, 0);
            cr_assert_eq(record.as.round.sum[1], record.as.round.chosen);
            cr_assert_eq(bench.release.as.release.chosen, record.as.round.chosen);
        }
        record_free(&record);
    }
    central_free(&bench);
}

static enum status add_play(int64_t round, int64_t expert, int64_t draws)
{
    int64_t sum[3] = {round, expert, draws};
    struct outcome *outcome = &bench.coordinator->outcome;
    struct peer agents[2] = {{"a"}, {"b"}};
    struct record record = {.kind = RECORD_ROUND};
    record.as.round.job = outcome->job_name.id;
    record.as.round.round = outcome->rounds_closed;
    record.as.round.agent = agents;
    record.as.round.agent_count = 2;
    record.as.round.sum = sum;
    record.as.round.sum_count = 3;
    record.as.round.chosen = (uint32_t)expert;
    return outcome_add(outcome, &bench.job, &record, (struct slice){0});
}

Test(central, plays_that_cannot_follow_are_refused)
{
    central_init(&bench, "0", CENTRAL_PLAYS);
    central_greet(&bench);
    central_answer(&bench, small);
    central_answer(&bench, small);
    cr_assert_eq(add_play(2, 0, 0), STATUS_CORRUPT, "a round is missing");
    cr_assert_eq(add_play(1, 9, 0), STATUS_CORRUPT, "no such expert");
    cr_assert_eq(add_play(1, 0, 2), STATUS_CORRUPT, "two draws at once");
    cr_assert_eq(add_play(1, 1, 0), STATUS_OK);
    cr_assert_eq(add_play(2, 0, 0), STATUS_CORRUPT, "another expert without a draw");
    cr_assert_eq(add_play(2, 0, 1), STATUS_OK);
    cr_assert_eq(add_play(3, 0, 0), STATUS_CORRUPT, "a draw that is not there any more");
    central_free(&bench);
}

/* Three rounds of the dartboard, then the first play of the segment of four: by then there are no draws. */
Test(central, plays_that_cannot_follow_in_a_segment_are_refused)
{
    central_init(&bench, "0", CENTRAL_SEGMENTS);
    central_greet(&bench);
    central_answer(&bench, small);
    central_answer(&bench, small);
    cr_assert_eq(add_play(1, 0, 1), STATUS_CORRUPT, "a segment begins with a draw");
    cr_assert_eq(add_play(1, 3, 0), STATUS_OK);
    cr_assert_eq(add_play(2, 1, 0), STATUS_CORRUPT, "another expert without a draw");
    cr_assert_eq(add_play(2, 1, 1), STATUS_OK);
    cr_assert_eq(add_play(3, 1, 1), STATUS_CORRUPT, "a draw that the segment before has made");
    cr_assert_eq(add_play(3, 2, 0), STATUS_OK, "any expert may begin a segment");
    cr_assert_eq(add_play(4, 2, 2), STATUS_CORRUPT, "two draws at once");
    cr_assert_eq(add_play(4, 0, 1), STATUS_OK);
    cr_assert_eq(add_play(5, 0, 3), STATUS_CORRUPT, "more draws than plays");
    cr_assert_eq(add_play(5, 3, 2), STATUS_OK, "the last pick is a draw of its segment");
    central_free(&bench);
}

/* There are seven rounds. The last pick comes after three draws of the segment of four, whose first draw
 * looks at nothing. It spends what these draws leave, and nothing that its game has not paid for. */
Test(central, the_last_pick_is_a_draw_that_its_segment_has_paid_for)
{
    central_init(&bench, "0", CENTRAL_SEGMENTS);
    seeded_random_init(&bench.seeded, 8);
    central_greet(&bench);
    while (!bench.coordinator->outcome.finished) {
        central_answer(&bench, small);
    }
    struct record record = central_last(&bench);
    const struct stage *stage = &bench.job.stage[2];
    struct charge charge[HEDGE_CHARGES_MAX];
    cr_assert_eq(losses_stage(stage)->plays.game_count, 3);
    cr_assert(losses_stage(stage)->plays.game[2].first == 3 &&
              losses_stage(stage)->plays.game[2].rounds == 5);
    cr_assert_eq(hedge_charges(charge, &losses_stage(stage)->plays.game[2]), 2);
    cr_assert(record.as.round.sum[0] == 7 && record.as.round.sum[2] == 4);
    const struct balance budget = budget_of(bench.coordinator->curator);
    cr_assert_eq(charge[0].count, 3);
    cr_assert_eq(charge[1].count, 1);
    cr_assert_eq(budget.spent.epsilon_micro, 3 * charge[0].epsilon_micro + charge[1].epsilon_micro);
    cr_assert_eq(budget.spent.epsilon_micro, stage->epsilon_micro, "all of the share");
    record_free(&record);
    central_free(&bench);
}

/* A sum that wrapped would tell a draw on which side of 2^63 it was. An attacker who knows the rest
 * would learn another agent's exact sum. Bounded answers cannot wrap. */
Test(central, an_answer_beyond_its_bounds_is_in_no_sum)
{
    static const int64_t beyond[] = {INT64_MAX, INT64_MIN, -1, 1 + (INT64_C(3 * 4) << 10)};
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
        int64_t words[16] = {0};
        const size_t count = central_reach_third(&bench, small);
        words[count - 1] = INT64_C(3 * 4) << 10; /* the most there is */
        central_offer(&bench, 1, words, count);
        central_send(&bench, 1, words, count);
        cr_assert_eq(bench.coordinator->cohort.member[1].standing, STANDING_ANSWERED);
        cr_assert_eq(aggregate_value(&bench.coordinator->aggregate, count - 1), words[count - 1]);
        words[count - 1] = beyond[i];
        central_offer(&bench, 0, words, count);
        central_send(&bench, 0, words, count);
        cr_assert_eq(bench.coordinator->cohort.member[0].standing, STANDING_REFUSED);
        struct record record =
            central_last(&bench); /* one of two is too few, and no more can come */
        cr_assert(record.as.round.failed && record.as.round.agent_count == 1);
        cr_assert_str_eq(record.as.round.agent[0].name, "agent-1");
        record_free(&record);
        central_free(&bench);
    }
}
