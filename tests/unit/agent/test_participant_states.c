/* The agent's states: steps that the table does not have, and states that contradict each other, stop the program;
 * and former faults that led there. */

#include "agent/participant_state.h"
#include "tests/support/quiet_fork.h"
#include "timed.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static struct timed bench;

static void let_pass(int64_t ms)
{
    for (const int64_t until_ms = bench.now_ms + ms; bench.now_ms < until_ms;) {
        bench.now_ms += SLOT_MS;
        timed_tick(&bench);
        timed_settle(&bench);
    }
}

static void begin_ready(void)
{
    timed_init(&bench, 10);
    timed_join(&bench);
    let_pass(SLOT_MS);
    cr_assert_eq(bench.participant->job_phase, JOB_READY);
}

/* Returns whether the plant stops the program, within it or at the next event. */
static bool is_caught(void (*plant)(struct participant *p))
{
    int result = 0;
    const pid_t child = quiet_fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        plant(bench.participant);
        bench.now_ms = bench.participant->hello_ms;
        timed_tick(&bench);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &result, 0), child);
    cr_assert(WIFEXITED(result) || WTERMSIG(result) == SIGABRT, "not by a CHECK: %d", result);
    return WIFSIGNALED(result);
}

static void nothing(UNUSED struct participant *p)
{
}

static void end(struct participant *p)
{
    participant_enter_job(p, JOB_OVER);
}

static void wait_when_ready(struct participant *p)
{
    participant_enter_job(p, JOB_WAITING);
}

static void begin_again_when_over(struct participant *p)
{
    participant_enter_job(p, JOB_OVER);
    participant_enter_job(p, JOB_READY);
}

static void offer_what_is_not_durable(struct participant *p)
{
    participant_enter_round(p, ROUND_WORKING);
    participant_enter_round(p, ROUND_COMMITTING);
    participant_enter_round(p, ROUND_OFFERED);
}

static void offer_unasked(struct participant *p)
{
    participant_enter_round(p, ROUND_OFFERED);
}

Test(participant_states, a_step_that_the_table_does_not_have_is_caught)
{
    begin_ready();
    cr_expect(!is_caught(nothing));
    cr_expect(!is_caught(end));
    cr_expect(is_caught(wait_when_ready));
    cr_expect(is_caught(begin_again_when_over));
    cr_expect(is_caught(offer_what_is_not_durable));
    cr_expect(is_caught(offer_unasked));
    timed_free(&bench);
}

static void round_of_a_job_that_is_over(struct participant *p)
{
    p->round_phase = ROUND_DECLINED;
    p->job_phase = JOB_OVER;
}

static void working_without_work(struct participant *p)
{
    p->round_phase = ROUND_WORKING;
}

static void loading_when_ready(struct participant *p)
{
    p->work.kind = WORK_LOAD;
}

static void done_without_work(struct participant *p)
{
    p->work.done = true;
    p->work.due_ms = INT64_MAX;
}

static void committing_without_a_commit(struct participant *p)
{
    p->round_phase = ROUND_COMMITTING;
}

static void ready_without_an_order(struct participant *p)
{
    p->order = NULL;
}

static void fetching_without_a_transfer(struct participant *p)
{
    p->fetch_final = true;
}

static void declined_when_ready(struct participant *p)
{
    p->declined = true;
}

static void model_owed_when_over(struct participant *p)
{
    p->job_phase = JOB_OVER;
    p->model_owed = true;
    p->keep_ms = INT64_MAX;
}

Test(participant_states, states_that_contradict_each_other_are_caught)
{
    void (*const plant[])(struct participant *) = {
        round_of_a_job_that_is_over, working_without_work,        loading_when_ready,
        done_without_work,           committing_without_a_commit, ready_without_an_order,
        fetching_without_a_transfer, declined_when_ready,         model_owed_when_over};
    begin_ready();
    for (size_t i = 0; i < sizeof plant / sizeof plant[0]; i++) {
        cr_expect(is_caught(plant[i]), "plant %zu", i);
    }
    timed_free(&bench);
}

static void decide(unsigned runs)
{
    char hex[2 * DIGEST_BYTES + 1];
    char text[128];
    hex_encode(hex, bench.job.text_digest.byte, DIGEST_BYTES);
    (void)snprintf(text, sizeof text, "%s %u\n", hex, runs);
    timed_file(&bench, FOLLOWED_APPROVALS, text);
    let_pass(SLOT_MS);
}

static void release(uint32_t round, bool last, const struct artifact *experts)
{
    struct message message = {.kind = MESSAGE_RELEASE};
    message.as.release.job = bench.job.id;
    message.as.release.round = round;
    message.as.release.last = last;
    message.as.release.failed = !last;
    if (experts != NULL) {
        message.as.release.experts = *experts;
    }
    timed_give(&bench, &message, (struct slice){0});
}

/* The agent used to load the records of a job that was over, and to be ready for it. */
Test(participant_states, a_late_yes_begins_no_job_that_is_over)
{
    begin_ready();
    decide(0);
    cr_assert_eq(bench.participant->job_phase, JOB_REFUSED);
    release(0, false, NULL);
    cr_assert_eq(bench.participant->job_phase, JOB_OVER);
    const size_t works = bench.works;
    decide(1);
    cr_expect_eq(bench.works, works, "no record is read");
    cr_expect_eq(bench.participant->job_phase, JOB_OVER);
    timed_free(&bench);
}

/* The agent used to compute, charge and offer it, for a job that was over. */
Test(participant_states, a_round_ends_with_its_job_whatever_number_the_release_has)
{
    static const double weights[DIM] = {0.1, 0.2, 0.3};
    const struct artifact experts = timed_experts(weights, 1);
    struct message piece = {.kind = MESSAGE_PIECE, .as.piece.digest = experts.digest};
    begin_ready();
    const size_t works = bench.works;
    const struct message invite = timed_invitation(&bench, 1, &experts);
    timed_give(&bench, &invite, (struct slice){0});
    cr_assert_eq(bench.participant->round_phase, ROUND_FETCHING);
    release(0, false, NULL);
    timed_give(&bench, &piece, (struct slice){weights, sizeof weights});
    let_pass(3 * SLOT_MS);
    cr_expect_eq(bench.works, works);
    cr_expect_eq(bench.body_count, 0, "nothing is charged");
    cr_expect_eq(bench.participant->job_phase, JOB_OVER);
    timed_free(&bench);
}

/* While a full disk does not take the model, a person says no and then yes. The job used to end under the reading of
 * its records, which then made it ready again; and with the no alone it ended without its model, as if it were kept. */
Test(participant_states, a_job_that_owes_its_model_alone_is_not_begun_again_nor_ended)
{
    static const double weights[DIM] = {0.1, 0.2, 0.3};
    const struct artifact experts = timed_experts(weights, 1);
    struct message piece = {.kind = MESSAGE_PIECE, .as.piece.digest = experts.digest};
    begin_ready();
    bench.full_of_models = true;
    release(2, true, &experts);
    timed_give(&bench, &piece, (struct slice){weights, sizeof weights});
    cr_assert(bench.participant->model_owed);
    const size_t works = bench.works;
    bench.work_takes_ms = 10000; /* longer than until the model is tried again */
    decide(0);
    let_pass(3000);
    cr_expect(bench.participant->model_owed);
    decide(1);
    let_pass(20000);
    cr_expect_eq(bench.works, works);
    cr_expect(bench.participant->model_owed);
    bench.full_of_models = false;
    let_pass(KEEP_RARE_MS);
    cr_expect_eq(bench.participant->job_phase, JOB_OVER);
    cr_expect_eq(bench.kept[1], weights[1]);
    timed_free(&bench);
}
