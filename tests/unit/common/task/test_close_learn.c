/* States of learn that are read back: as they were written, and of builds that expected nothing or did not shorten steps; and
 * what a stage says of itself. */

#include "task/close.h"
#include "task/learn/said.h"
#include "task/learn/stage.h"
#include "tests/unit/coordinator/history_of_one.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_MOST = 256 };

static const char TEXT[] =
    "hedgerow: 1\n"
    "job: toy\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "    - {column: b, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, "
    "epsilon: 4}\n"
    "cohort: {minimum: 2, records: 5000, join_deadline_s: 1, deadline_s: 1}\n"
    "stages:\n"
    "  - {task: learn}\n";

static void setup(void)
{
    history_begin(&job, &outcome, TEXT);
}

static enum status add(double *state, size_t count)
{
    struct record record = history_round(0, agents, AGENTS);
    record.as.round.records = (uint64_t)AGENTS * job.stage[0].batch;
    record.as.round.blob_bytes = count * sizeof *state;
    return outcome_add(&outcome, &job, &record, (struct slice){state, count * sizeof *state});
}

Test(close_learn, reads_a_state_that_an_earlier_build_wrote, .init = setup, .fini = teardown)
{
    const struct selftune *tune = &learn_stage(&job.stage[0])->tune;
    const size_t own = selftune_state_count(tune);
    const size_t count = own + LEARN_EXPECTED_NUMBERS;
    const size_t at = selftune_steep_place(tune);
    double state[STATE_MOST];
    cr_assert(job.stage[0].rounds > 1 && count < STATE_MOST);
    for (size_t i = 0; i < count; i++) {
        state[i] = 1 + (double)i / STATE_MOST;
    }
    cr_assert_eq(add(state, count), STATUS_OK);
    cr_expect_eq(memcmp(outcome.state, state, count * sizeof *state), 0);

    /* A state without an expectation is read without one. */
    teardown();
    setup();
    learn_expect_nothing(state + own);
    cr_assert_eq(add(state, own), STATUS_OK);
    cr_expect_eq(memcmp(outcome.state, state, count * sizeof *state), 0);

    teardown();
    setup();
    double old[STATE_MOST];
    memcpy(old, state, at * sizeof *old);
    memcpy(old + at, state + at + 1, (own - 1 - at) * sizeof *old);
    state[at] = 1;
    cr_assert_eq(add(old, own - 1), STATUS_OK);
    cr_expect_eq(memcmp(outcome.state, state, count * sizeof *state), 0);
    cr_expect_eq(add(old, own - 2), STATUS_CORRUPT);
    cr_expect_eq(add(state, count - 1), STATUS_CORRUPT);
}

/* A job of so many columns. */
static void begin_columns(int columns, const char *label, const char *epsilon, int records)
{
    static char text[4096];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "hedgerow: 1\njob: toy\ndata:\n"
                                   "  label: {column: y, %s}\n"
                                   "  features:\n",
                                   label);
    for (int j = 0; j < columns; j++) {
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "    - {column: c%d, centre: 0, half_width: 1}\n", j);
    }
    (void)snprintf(text + used, sizeof text - used,
                   "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: %s}\n"
                   "cohort: {minimum: 2, records: %d, join_deadline_s: 1, deadline_s: 1}\n"
                   "stages: [{task: learn}]\n",
                   epsilon, records);
    history_begin(&job, &outcome, text);
}

/* States of before secants: 5 columns after sums, where one step follows. */
static void begin_sums(void)
{
    begin_columns(5, "positive: \"1\", negative: \"0\"", "1", 90);
    const struct selftune *tune = &learn_stage(&job.stage[0])->tune;
    cr_assert(tune->sight == SIGHT_SUMS && tune->steps == 1);
}

Test(close_learn, reads_a_state_that_lacks_secants, .fini = teardown)
{
    enum { SHOWN = 1 + 6 + 2 * 5, STEEP = SHOWN + 6 + 5, OWN = STEEP + 2, SECANTS = 39 };
    double state[OWN + SECANTS + LEARN_EXPECTED_NUMBERS];
    double old[OWN + LEARN_EXPECTED_NUMBERS];
    for (size_t i = 0; i < OWN + LEARN_EXPECTED_NUMBERS; i++) {
        old[i] = 1 + (double)i / STATE_MOST;
    }
    memset(state, 0, sizeof state);
    memcpy(state, old, OWN * sizeof *old);
    memcpy(state + OWN + SECANTS, old + OWN, LEARN_EXPECTED_NUMBERS * sizeof *old);
    begin_sums();
    cr_assert_eq(learn_state_count(&job.stage[0]), sizeof state / sizeof *state);
    cr_assert_eq(add(old, OWN + LEARN_EXPECTED_NUMBERS), STATUS_OK);
    cr_expect_eq(memcmp(outcome.state, state, sizeof state), 0);

    /* Of before anything was expected. */
    teardown();
    begin_sums();
    learn_expect_nothing(state + OWN + SECANTS);
    cr_assert_eq(add(old, OWN), STATUS_OK);
    cr_expect_eq(memcmp(outcome.state, state, sizeof state), 0);

    /* Of before steps were shortened. */
    teardown();
    begin_sums();
    memmove(old + STEEP, old + STEEP + 1, (OWN - 1 - STEEP) * sizeof *old);
    state[STEEP] = 1;
    cr_assert_eq(add(old, OWN - 1), STATUS_OK);
    cr_expect_eq(memcmp(outcome.state, state, sizeof state), 0);
    cr_expect_eq(add(old, OWN - 2), STATUS_CORRUPT);
    cr_expect_eq(add(state, OWN + SECANTS - 2), STATUS_CORRUPT);
}

/* A number's steps keep no secants: its states are as long as they were before there were any. */
Test(close_learn, a_number_after_squares_keeps_no_secants, .fini = teardown)
{
    enum { COUNT = 286 };
    double state[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        state[i] = 1 + (double)i / COUNT;
    }
    begin_columns(30, "centre: 0, half_width: 1", "4", 10000);
    const struct learn_stage *own = learn_stage(&job.stage[0]);
    cr_assert(own->is_number && own->tune.sight == SIGHT_SQUARES && own->tune.steps >= 5);
    cr_expect_eq(learn_state_count(&job.stage[0]), COUNT);
    cr_assert_eq(add(state, COUNT), STATUS_OK);
    cr_expect_eq(memcmp(outcome.state, state, sizeof state), 0);
}

/* Added to a history of the whole job: what each round says. */
static const char *note_of(double *state, uint32_t round, struct peer *away, uint32_t away_count)
{
    const size_t count = learn_state_count(&job.stage[0]);
    struct record record = history_round(round, agents, AGENTS);
    record.as.round.records = (uint64_t)AGENTS * job.stage[0].batch;
    record.as.round.blob_bytes = count * sizeof *state;
    record.as.round.away = away;
    record.as.round.away_count = away_count;
    if (round + 1 == job.stage[0].rounds) {
        record.as.round.chosen = 0;
    }
    cr_assert_eq(outcome_add(&outcome, &job, &record, (struct slice){state, count * sizeof *state}),
                 STATUS_OK);
    return outcome.round[round].note;
}

static const char *note_with_all_sites(double *state, uint32_t round)
{
    return note_of(state, round, NULL, 0);
}

Test(close_learn, says_its_shares_of_epsilon_and_what_noise_may_cost, .init = setup,
     .fini = teardown)
{
    const size_t own = selftune_state_count(&learn_stage(&job.stage[0])->tune);
    double state[STATE_MOST];
    char share[64];
    cr_assert(job.stage[0].rounds > 2);
    for (size_t i = 0; i < own; i++) {
        state[i] = 0.5;
    }
    state[own] = 0.0042;
    state[own + 1] = -0.01;
    state[own + 2] = 0.021;
    (void)snprintf(share, sizeof share, "with %.3g %% of epsilon", 100.0 / job.stage[0].rounds);
    const char *look = note_with_all_sites(state, 0);
    cr_expect_not_null(strstr(look, share), "%s", look);
    cr_expect_not_null(
        strstr(look, "expected accuracy lost to noise: 0.4 points (-1.0 to 2.1 in nine of ten"),
        "%s", look);
    cr_expect_not_null(strstr(look, "then "), "%s", look);
    learn_expect_nothing(state + own);
    const char *step = note_with_all_sites(state, 1);
    cr_expect_not_null(strstr(step, share), "%s", step);
    cr_expect_null(strstr(step, "expected"), "%s", step);
}

/* The rehearsal depends on the job's text and on how many agents have answered. It gives the same twice, and less
 * noise with more agents. */
Test(close_learn, expects_the_same_of_the_same_text, .init = setup, .fini = teardown)
{
    double expected[4][LEARN_EXPECTED_NUMBERS];
    char text[sizeof TEXT];
    memcpy(text, TEXT, sizeof text);
    memcpy(strstr(text, "epsilon: 4"), "epsilon: 1", 10);
    memcpy(strstr(text, "records: 5000"), "records: 1000", 13);
    teardown();
    history_begin(&job, &outcome, text);
    for (size_t i = 0; i < 4; i++) {
        struct record record = history_round(0, agents, AGENTS);
        record.as.round.agent_count = i < 2 ? AGENTS : 200;
        outcome.job_name.text_digest.byte[0] ^= (uint8_t)(i == 3);
        const struct closing closing = {
            .job = &job, .stage = &job.stage[0], .outcome = &outcome, .record = &record};
        cr_assert_eq(learn_expect(expected[i], &closing), STATUS_OK);
        cr_expect(expected[i][1] <= expected[i][0] && expected[i][0] <= expected[i][2]);
        cr_expect(expected[i][0] > -0.05 && expected[i][0] < 0.5, "%g", expected[i][0]);
    }
    cr_expect_eq(memcmp(expected[0], expected[1], sizeof expected[0]), 0);
    cr_expect_lt(expected[2][0], expected[0][0]);
    cr_expect_neq(memcmp(expected[2], expected[3], sizeof expected[2]), 0);
}

enum { TURNS_COLUMNS = 40, TURNS_STATE = 1024 };

/* A job whose sites look by turns. */
static void begin_turns(char text[static 4096], const char *stages)
{
    size_t used = (size_t)snprintf(text, 4096,
                                   "hedgerow: 1\njob: toy\ndata:\n"
                                   "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
                                   "  features:\n");
    for (int j = 0; j < TURNS_COLUMNS; j++) {
        used += (size_t)snprintf(text + used, 4096 - used,
                                 "    - {column: c%d, centre: 0, half_width: 1}\n", j);
    }
    (void)snprintf(text + used, 4096 - used,
                   "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1}\n"
                   "cohort: {minimum: 5, records: 90, join_deadline_s: 1, deadline_s: 1}\n"
                   "stages: [%s]\n",
                   stages);
    history_begin(&job, &outcome, text);
}

Test(close_learn, says_who_looks_when_sites_take_turns, .fini = teardown)
{
    static char text[4096];
    static double state[TURNS_STATE];
    begin_turns(text, "{task: learn}");
    const size_t own = selftune_state_count(&learn_stage(&job.stage[0])->tune);
    const size_t count = learn_state_count(&job.stage[0]);
    cr_assert(job.stage[0].turns == 2 && count <= TURNS_STATE);
    for (size_t i = 0; i < count; i++) {
        state[i] = 0.5;
    }
    state[own + 1] = 9; /* columns that the first look has left to the second */
    learn_expect_nothing(state + count - LEARN_EXPECTED_NUMBERS);
    char words[64];
    const char *first = note_of(state, 0, agents, 1);
    (void)snprintf(words, sizeof words, "(%d of %d sites, which share", AGENTS - 1, AGENTS);
    cr_expect_not_null(strstr(first, words), "%s", first);
    cr_expect_not_null(strstr(first, "the other sites look next at 9 of the columns"), "%s", first);
    cr_expect_not_null(strstr(first, "with 100 % of epsilon"), "%s", first);
    cr_expect_null(strstr(first, "then "), "%s", first);
    cr_expect(outcome.away_count == 1 && outcome.took_count == AGENTS);
    const char *second = note_of(state, 1, agents + 1, AGENTS - 1);
    (void)snprintf(words, sizeof words, "1 of %d sites looked at the", AGENTS);
    cr_expect_not_null(strstr(second, words), "%s", second);
    cr_expect_not_null(strstr(second, "at the 9 columns that were left most unsure"), "%s", second);
    cr_expect_null(outcome.took);
    cr_expect_not_null(strstr(second, "with 100 % of epsilon"), "%s", second);
}

/* Another stage deals its columns out anew, among all who took part. */
Test(close_learn, a_second_stage_begins_with_all_sites, .fini = teardown)
{
    static char text[4096];
    static double state[TURNS_STATE];
    uint32_t place = 0;
    begin_turns(text, "{task: learn, share: 0.5}, {task: learn}");
    const size_t count = learn_state_count(&job.stage[0]);
    cr_assert(job.stage[0].turns == 2 && job.stage[1].turns == 2 && count <= TURNS_STATE);
    for (size_t i = 0; i < count; i++) {
        state[i] = 0.5;
    }
    (void)note_of(state, 0, agents, 1);
    cr_expect_eq(outcome_turn_of(&place, &outcome, &agents[0]), OUTCOME_TURN_NOW);
    cr_expect_eq(outcome_turn_of(&place, &outcome, &agents[AGENTS - 1]), OUTCOME_TURN_OVER);
    (void)note_of(state, 1, agents + 1, AGENTS - 1);
    for (uint32_t i = 0; i < AGENTS; i++) {
        cr_expect_eq(outcome_turn_of(&place, &outcome, &agents[i]), OUTCOME_TURN_OVER);
        cr_expect_eq(place, i);
    }
    cr_expect_eq(outcome_turn_of(&place, &outcome, &(struct peer){"z"}), OUTCOME_TURN_NEW);
}

/* What the first look has told is in the state, and no other size is one. */
Test(close_learn, a_state_between_two_looks_is_read_back, .fini = teardown)
{
    static char text[4096];
    static double state[TURNS_STATE];
    begin_turns(text, "{task: learn}");
    const size_t own = selftune_state_count(&learn_stage(&job.stage[0])->tune);
    const size_t count = learn_state_count(&job.stage[0]);
    for (size_t i = 0; i < count; i++) {
        state[i] = 0.5 + (double)i / TURNS_STATE;
    }
    cr_expect_eq(add(state, own), STATUS_CORRUPT);
    cr_expect_eq(add(state, own + LEARN_EXPECTED_NUMBERS), STATUS_CORRUPT);
    cr_assert_eq(add(state, count), STATUS_OK);
    cr_expect_eq(memcmp(outcome.state, state, count * sizeof *state), 0);
}
