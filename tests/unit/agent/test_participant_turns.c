/* If sites take turns, each looks once and pays once, whatever slot the coordinator gives it in the second round, and also after
 * a restart in between. The policy allows exactly what the job costs. */

#include "timed.h"

#include "crypto/digest.h"
#include "learn/selftune.h"
#include "protocol/wire.h"
#include "task/learn/stage.h"
#include "tests/support/dictionary_of.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 40, ROWS = 60, EPSILON_MICRO = 100000, STATE_MOST = 1024, TABLE_BYTES = 16384 };

static char table[TABLE_BYTES];
static double state[STATE_MOST];
static size_t state_count;

static void write_text(char *text, size_t size)
{
    size_t used = (size_t)snprintf(
        text, size,
        "hedgerow: 1\njob: t\ndata:\n  label: {column: y, positive: \"1\", negative: \"0\"}\n"
        "  features:\n");
    for (int j = 0; j < COLUMNS; j++) {
        used += (size_t)snprintf(text + used, size - used,
                                 "  - {column: c%d, centre: 0, half_width: 1}\n", j);
    }
    used += (size_t)snprintf(text + used, size - used,
                             "privacy: {unit: record, neighbours: replace_one, trust: local, "
                             "epsilon: 0.1, delta: 0}\n"
                             "cohort: {minimum: 5, records: %d, deadline_s: 10}\n"
                             "stages: [{task: learn}]\n",
                             ROWS);
    cr_assert_lt(used, size);
}

static void write_table(void)
{
    size_t used = 0;
    for (int i = -1; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            used += (size_t)snprintf(table + used, sizeof table - used, i < 0 ? "c%d," : "0.%d,",
                                     i < 0 ? j : (i + j) % 10);
        }
        used += (size_t)snprintf(table + used, sizeof table - used, "%s\n",
                                 i < 0        ? "y"
                                 : i % 2 == 0 ? "0"
                                              : "1");
    }
    cr_assert_lt(used + 1, sizeof table);
}

/* What the first look has made: some columns are left to the second. */
static void write_state(const struct stage *stage)
{
    const struct selftune *tune = &learn_stage(stage)->tune;
    state_count = selftune_shown_count(tune);
    cr_assert(stage->turns == 2 && stage->rounds == 2 && state_count <= STATE_MOST);
    memset(state, 0, sizeof state);
    state[0] = 1;
    for (size_t j = 0; j < COLUMNS; j += 4) {
        state[state_count - COLUMNS + j] = 2;
    }
    cr_assert_eq(selftune_check_shown(state, tune), STATUS_OK);
}

static void join(struct timed *bench, enum job_age age)
{
    struct message welcome = timed_welcome(&bench->job);
    const struct message piece = {.kind = MESSAGE_PIECE, .as.piece.digest = bench->job.text_digest};
    welcome.as.welcome.older = age;
    timed_give(bench, &welcome, (struct slice){0});
    timed_give(bench, &piece, (struct slice){bench->text, bench->job.text_bytes});
    timed_settle(bench);
    bench->now_ms += SLOT_MS; /* the records are read by then */
    timed_tick(bench);
}

static void begin(struct timed *bench, enum job_age age)
{
    struct job job;
    struct why why = {{0}};
    timed_init(bench, 10);
    timed_stop(bench);
    write_text(bench->text, sizeof bench->text);
    write_table();
    const struct slice text = {bench->text, strlen(bench->text)};
    cr_assert_eq(job_parse(&job, text, "t", &why), STATUS_OK, "%s", why.text);
    write_state(job.stage);
    job_free(&job);
    free(bench->dictionary.column);
    bench->dictionary = dictionary_of_text(text, 2);
    bench->records = table;
    bench->policy.epsilon_micro = EPSILON_MICRO;
    bench->policy.cohort_min = 5;
    bench->policy.task_allowed[TASK_LEARN] = true;
    timed_name_job(&bench->job, text, 1);
    timed_start(bench);
    join(bench, age);
}

static void ask(struct timed *bench, uint32_t round, uint32_t slot)
{
    struct artifact input = {.bytes = state_count * sizeof *state};
    const struct slice bytes = {state, input.bytes};
    digest_sha256(&input.digest, &bytes, 1);
    struct message invite = timed_invitation(bench, round, round > 0 ? &input : NULL);
    const struct message piece = {.kind = MESSAGE_PIECE, .as.piece.digest = input.digest};
    invite.as.invite.slot = slot;
    bench->now_ms += 2 * SLOT_MS;
    timed_tick(bench);
    timed_give(bench, &invite, (struct slice){0});
    if (round > 0) {
        timed_give(bench, &piece, bytes);
    }
    for (int i = 0; i < 3; i++) {
        timed_settle(bench);
        bench->now_ms += SLOT_MS;
        timed_tick(bench);
    }
}

static struct charge charge_at(const struct timed *bench, size_t at)
{
    struct record record;
    cr_assert_lt(at, bench->body_count, "it did not answer");
    cr_assert_eq(wire_decode_record(&record, (struct slice){bench->body[at], bench->body_size[at]}),
                 STATUS_OK);
    cr_assert_eq(record.kind, RECORD_ANSWER);
    cr_expect_eq(record.as.answer.charge.epsilon_micro, EPSILON_MICRO);
    cr_expect_eq(record.as.answer.charge.row_count, ROWS, "what it tells the coordinator");
    return record.as.answer.charge;
}

static bool has_looked(struct charge charge)
{
    return charge.row_first == ROWS;
}

/* Each way of a coordinator to give slots. */
Test(participant_turns, a_site_looks_once_whatever_slots_it_is_given)
{
    for (uint32_t slots = 0; slots < 8; slots++) {
        const uint32_t first = slots % 2;
        struct timed bench;
        begin(&bench, JOB_OF_NOW);
        ask(&bench, 0, first);
        if (slots >= 4) { /* killed between the looks: only the journal is left */
            timed_stop(&bench);
            timed_start(&bench);
            join(&bench, JOB_OF_NOW);
        }
        ask(&bench, 1, slots / 2 % 2);
        cr_assert_eq(bench.body_count, 3, "the job and two answers, %u: %s", slots, bench.told);
        const struct charge one = charge_at(&bench, 1);
        const struct charge two = charge_at(&bench, 2);
        cr_expect_eq(has_looked(one), first == 0, "%u", slots);
        cr_expect_eq(has_looked(two), first == 1, "%u", slots);
        cr_expect(digest_equal(&one.pass, &two.pass), "one pass, paid once");
        cr_expect_geq(two.row_first, one.row_first + one.row_count, "in the order of time");
        timed_free(&bench);
    }
}

Test(participant_turns, a_site_that_was_not_there_looks_second)
{
    struct timed bench;
    begin(&bench, JOB_OF_NOW);
    ask(&bench, 1, 0);
    cr_expect(has_looked(charge_at(&bench, 1)));
    timed_free(&bench);
}

/* A coordinator tells the same job as one that version 6 has begun, whose one look names other rows, and then as one of now. */
Test(participant_turns, the_other_ages_look_would_be_another_pass)
{
    for (int age = 0; age < 2; age++) { /* two sites, which each know of one age alone */
        struct timed bench;
        static struct digest pass[2];
        begin(&bench, age == 0 ? JOB_OF_NOW : JOB_OF_6);
        ask(&bench, 0, 0);
        pass[age] = charge_at(&bench, 1).pass;
        cr_expect(age == 0 || !digest_equal(&pass[0], &pass[1]));
        timed_free(&bench);
    }
}

/* The text of another job, of another nonce: its WELCOME alone takes the place of the one that is here. */
static void join_other(struct timed *bench)
{
    const struct job_name own = bench->job;
    timed_name_job(&bench->job, (struct slice){bench->text, strlen(bench->text)}, 2);
    join(bench, JOB_OF_NOW);
    bench->job = own;
}

static void restart(struct timed *bench)
{
    timed_stop(bench);
    timed_start(bench);
}

enum between { NOTHING, RESTART, OTHER_JOB, OTHER_JOB_AND_RESTART, BETWEEN_COUNT };

/* The policy also allows the price of the other age, so that only the age can be the reason for a
 * refusal. */
Test(participant_turns, a_job_keeps_the_age_that_it_was_first_answered_as)
{
    for (int i = 0; i < 2 * BETWEEN_COUNT; i++) {
        const enum job_age first = i % 2 == 0 ? JOB_OF_NOW : JOB_OF_6;
        const enum job_age other = i % 2 == 0 ? JOB_OF_6 : JOB_OF_NOW;
        const enum between between = (enum between)(i / 2);
        struct timed bench;
        begin(&bench, first);
        bench.policy.epsilon_micro = 4 * EPSILON_MICRO;
        restart(&bench);
        join(&bench, first);
        ask(&bench, 0, 1);
        cr_assert_eq(bench.body_count, 2, "%d: the job and an answer: %s", i, bench.told);
        if (between == OTHER_JOB || between == OTHER_JOB_AND_RESTART) {
            join_other(&bench);
        }
        if (between == RESTART || between == OTHER_JOB_AND_RESTART) {
            restart(&bench);
        }
        const size_t declined = timed_count(&bench, MESSAGE_DECLINE);
        bench.logged[0] = 0;
        join(&bench, other);
        cr_expect(timed_says(&bench, "job-misdated"), "%d: %s", i, bench.logged);
        cr_expect_not_null(strstr(bench.told, between == NOTHING
                                                  ? ": it goes on as that;"
                                                  : ": every round will be declined;"),
                           "%d: %s", i, bench.told);
        cr_expect_eq(timed_count(&bench, MESSAGE_DECLINE), declined + (between != NOTHING), "%d",
                     i);
        bench.logged[0] = 0;
        join(&bench, other);
        cr_expect(!timed_says(&bench, "job-misdated"), "%d: once is enough", i);
        if (between != NOTHING) { /* else its own job is here, and goes on below */
            ask(&bench, 1, 0);
            cr_assert_eq(bench.body_count, 2, "%d: it is not answered as another age: %s", i,
                         bench.told);
        }
        join(&bench, first);
        if (first == JOB_OF_NOW) {
            ask(&bench, 1, 0);
            cr_assert_eq(bench.body_count, 3, "%d: as its own age it goes on: %s", i, bench.told);
            const struct charge one = charge_at(&bench, 1);
            const struct charge two = charge_at(&bench, 2);
            cr_expect(digest_equal(&one.pass, &two.pass) && has_looked(two), "%d", i);
        }
        timed_free(&bench);
    }
}

/* Agents before this one wrote down no age. They knew none of now, and whatever was before may go on. */
Test(participant_turns, a_job_that_an_older_agent_has_answered_goes_on_as_an_older_job)
{
    for (int older = 0; older < 2; older++) {
        struct record record;
        struct timed bench;
        begin(&bench, JOB_OF_6);
        ask(&bench, 0, 1);
        cr_assert_eq(bench.body_count, 2, "%s", bench.told);
        cr_assert_eq(wire_decode_record(&record, (struct slice){bench.body[0], bench.body_size[0]}),
                     STATUS_OK);
        cr_expect_eq(record.as.job.protocol, 6);
        record.as.job.protocol = 0;
        uint8_t *packed = NULL;
        cr_assert_eq(wire_encode_record(&packed, &bench.body_size[0], &record), STATUS_OK);
        memcpy(bench.body[0], packed, bench.body_size[0]);
        free(packed);
        restart(&bench);
        bench.logged[0] = 0;
        join(&bench, older == 1 ? JOB_OF_6 : JOB_OF_NOW);
        cr_expect_eq(timed_says(&bench, "job-misdated"), older == 0, "%s", bench.logged);
        cr_expect_eq(timed_says(&bench, "job-joined"), older == 1, "%s", bench.logged);
        timed_free(&bench);
    }
}
