#include "sim/checker.h"

#include "crypto/digest.h"
#include "sim/world.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* What the job costs, as its text says: three fifths of epsilon over two fits, the rest for one
 * pass. */
enum { FIT_ROUNDS = 2, LOSSES_ROUNDS = 3, ROUNDS = FIT_ROUNDS + LOSSES_ROUNDS, BATCH = 4 };
enum { FIT_EPSILON_MICRO = 300000, LOSSES_EPSILON_MICRO = 400000, JOB_EPSILON_MICRO = 1000000 };

void checker_free(struct checker *checker)
{
    for (size_t i = 0; i < checker->round_count; i++) {
        record_free(&checker->round[i].record);
    }
    for (size_t i = 0; i < checker->answer_count; i++) {
        free(checker->answer[i].exact);
    }
    free(checker->experts);
    free(checker->state);
}

struct known_answer *checker_find(struct checker *checker, size_t agent, const struct digest *job,
                                  uint32_t round)
{
    for (size_t i = 0; i < checker->answer_count; i++) {
        struct known_answer *answer = &checker->answer[i];
        if (answer->agent == agent && answer->record.as.answer.round == round &&
            digest_equal(&answer->record.as.answer.job, job)) {
            return answer;
        }
    }
    return NULL;
}

/* Row by row: a pass costs what its largest row was charged, passes add up. */
uint64_t checker_spent(const struct checker *checker, size_t agent, const struct digest *job)
{
    uint64_t spent = 0;
    for (size_t i = 0; i < checker->answer_count; i++) {
        const struct record *first = &checker->answer[i].record;
        uint64_t row[SIM_RECORDS] = {0};
        uint64_t largest = 0;
        bool counted = false;
        for (size_t j = 0; j < checker->answer_count; j++) {
            const struct record *other = &checker->answer[j].record;
            const struct charge *charge = &other->as.answer.charge;
            if (checker->answer[j].agent != agent ||
                !digest_equal(&charge->pass, &first->as.answer.charge.pass)) {
                continue;
            }
            counted = counted || j < i;
            for (uint64_t k = charge->row_first; k < charge->row_first + charge->row_count; k++) {
                row[k] += charge->epsilon_micro;
                largest = row[k] > largest ? row[k] : largest;
            }
        }
        if (checker->answer[i].agent == agent && !counted &&
            (job == NULL || digest_equal(&first->as.answer.job, job))) {
            spent += largest;
        }
    }
    return spent;
}

/* The day on which answer number last counts: the latest that its journal has shown until then. */
static int64_t day_of(const struct checker *checker, size_t last)
{
    enum { DAY_MS = 86400000 };
    int64_t day = 0;
    for (size_t i = 0; i <= last; i++) {
        int64_t shown = checker->answer[i].record.wall_ms / DAY_MS;
        if (checker->answer[i].agent == checker->answer[last].agent && shown > day) {
            day = shown;
        }
    }
    return day;
}

/* What the agent of answer number last had spent, with it, in the days that end with its own: each
 * pass whole, on the day of its latest answer. */
static uint64_t window_spent(const struct checker *checker, size_t last)
{
    uint64_t spent = 0;
    for (size_t i = 0; i <= last; i++) {
        const struct charge *charge = &checker->answer[i].record.as.answer.charge;
        uint64_t largest = 0;
        bool speaks = checker->answer[i].agent == checker->answer[last].agent &&
                      day_of(checker, last) - day_of(checker, i) <= SIM_WINDOW_DAYS;
        for (size_t j = 0; j <= last; j++) {
            const struct charge *other = &checker->answer[j].record.as.answer.charge;
            if (checker->answer[j].agent == checker->answer[last].agent &&
                digest_equal(&other->pass, &charge->pass)) {
                largest = other->epsilon_micro > largest ? other->epsilon_micro : largest;
                speaks = speaks && j <= i;
            }
        }
        spent += speaks ? largest : 0;
    }
    return spent;
}

static void check_charge(struct world *world, const struct known_answer *answer)
{
    const struct checker *checker = &world->checker;
    const struct record *record = &answer->record;
    const struct charge *charge = &record->as.answer.charge;
    const char *name = peer_name(answer->agent);
    uint32_t round = record->as.answer.round;
    bool fit = round < FIT_ROUNDS;
    uint64_t first = fit ? 0 : (uint64_t)(round - FIT_ROUNDS) * BATCH;
    uint64_t count = fit ? SIM_RECORDS : BATCH;
    uint64_t epsilon_micro = fit ? FIT_EPSILON_MICRO : LOSSES_EPSILON_MICRO;

    if (fit && world->plan.local == LOCAL_STREAM) { /* releases after 4 and 10 records, one pass */
        first = round == 0 ? 0 : 4;
        count = round == 0 ? 4 : 6;
        epsilon_micro = 2 * FIT_EPSILON_MICRO;
    }
    if (round >= ROUNDS || charge->epsilon_micro != epsilon_micro || charge->delta_atto != 0 ||
        charge->row_first != first || charge->row_count != count) {
        world_fail(world, "%s: round %" PRIu32 " is not charged as the job says", name, round);
        return;
    }
    if (checker_spent(checker, answer->agent, &record->as.answer.job) > JOB_EPSILON_MICRO) {
        world_fail(world, "%s: a job has cost more than an undisturbed run", name);
    }
    if (checker_spent(checker, answer->agent, NULL) > world->fixture.policy.epsilon_micro) {
        world_fail(world, "%s: more is spent than the policy allows", name);
    }
    if (window_spent(checker, checker->answer_count - 1) >
        world->fixture.policy.allowance_epsilon_micro) {
        world_fail(world, "%s: more is spent than %d days allow", name, SIM_WINDOW_DAYS);
    }
}

static void on_durable_answer(struct world *world, const struct node *node,
                              const struct record *record, struct slice blob)
{
    struct checker *checker = &world->checker;
    const bool central = plan_is_central(&world->plan);
    const bool masked = world->plan.trial == TRIAL_MASKED;
    const size_t size = masked && blob.size >= record->as.answer.masks_bytes
                            ? blob.size - (size_t)record->as.answer.masks_bytes
                            : blob.size;
    struct digest digest;
    digest_sha256(&digest, &(struct slice){blob.data, size}, 1);
    if (!central &&
        (size != record->as.answer.answer_bytes || (record->as.answer.masks_bytes > 0) != masked ||
         (blob.size > 0 && !digest_equal(&digest, &record->as.answer.answer)))) {
        world_fail(world, "%s: a record does not fit its answer", peer_name(node->number));
    }
    if (checker_find(checker, node->number, &record->as.answer.job, record->as.answer.round) !=
        NULL) {
        world_fail(world, "%s: a second draw for round %" PRIu32 " of a job is durable",
                   peer_name(node->number), record->as.answer.round);
        return;
    }
    if (checker->answer_count == CHECKER_ANSWERS_MAX) {
        world_fail(world, "too many answers");
        return;
    }
    struct known_answer *answer = &checker->answer[checker->answer_count++];
    *answer = (struct known_answer){.agent = node->number, .record = *record, .bytes = blob};
    world->tally.answers_to_lies +=
        checker->job_known && !digest_equal(&record->as.answer.job, &checker->job.id);
    if (central) {
        central_on_answer(world, answer, blob);
    } else {
        check_charge(world, answer);
    }
    if (masked && world->failure[0] == '\0') {
        masked_on_answer(world, answer);
    }
}

void checker_on_durable(struct world *world, struct node *node, struct slice body,
                        struct slice blob)
{
    struct checker *checker = &world->checker;
    struct record record;
    if (wire_decode_record(&record, body) != STATUS_OK) {
        world_fail(world, "%s: a record cannot be read again", peer_name(node->number));
        return;
    }
    if (node->number == COORDINATOR && record.kind == RECORD_ROUND) {
        checker_on_round(world, node, &record, blob);
        return;
    }
    if (world->plan.trial == TRIAL_MASKED &&
        (record.kind == RECORD_ROSTER || record.kind == RECORD_SURVIVORS ||
         record.kind == RECORD_KEYS)) {
        masked_on_durable(world, node, &record, blob);
        return;
    }
    if (node->number != COORDINATOR && record.kind == RECORD_ANSWER) {
        on_durable_answer(world, node, &record, blob);
    } else if (record.kind != RECORD_JOB || (node->number == COORDINATOR && checker->job_known)) {
        world_fail(world, "%s: a record has no business in this journal", peer_name(node->number));
    } else if (node->number == COORDINATOR) {
        checker->job_known = true;
        checker->job = record.as.job.job;
    }
    record_free(&record);
}

/* Nobody lied, and no deadline was near: nothing may be missing. */
static void check_undisturbed(struct world *world)
{
    const struct checker *checker = &world->checker;
    if (world->plan.trial == TRIAL_MASKED && world->tally.crashes > 0) {
        return; /* who dies before its answer is durable is not in a masked round */
    }
    for (size_t i = 0; i < checker->round_count; i++) {
        if (checker->round[i].record.as.round.agent_count != SIM_AGENTS) {
            world_fail(world, "round %zu has %" PRIu32 " agents, though all were back in time", i,
                       checker->round[i].record.as.round.agent_count);
        }
    }
    for (size_t agent = 1; agent <= SIM_AGENTS && !plan_is_central(&world->plan); agent++) {
        uint64_t spent = checker_spent(checker, agent, &checker->job.id);
        if (spent != (uint64_t)JOB_EPSILON_MICRO) {
            world_fail(world, "%s has spent %" PRIu64 ", in an undisturbed run it is %" PRIu64,
                       peer_name(agent), spent, (uint64_t)JOB_EPSILON_MICRO);
        }
    }
}

void checker_on_term(struct world *world, int64_t term, int64_t current)
{
    if (term != current) {
        world_fail(world, "something is written under term %lld when term %lld leads",
                   (long long)term, (long long)current);
    }
}

/* The process that leads, by the database, and is not stopped. */
static void check_leader(struct world *world, const struct node *node)
{
    const bool acts = !node->held && !node->stopped;
    if (!server_is_led_by(world, node) ||
        (acts ? !node->up : node->keeper_held || node->keeper == NULL)) {
        return;
    }
    world->server.led_ms =
        world->now_ms; /* it may wait for the server, and renew its lease meanwhile */
    if (acts && !node->reads && node->known != node->memory->count) {
        world_fail(world, "coordinator %zu leads and knows %" PRIu64 " of %zu records",
                   node->process, node->known, node->memory->count);
    }
}

void checker_on_turn(struct world *world)
{
    enum { TAKEOVER_MS = 10000 };
    if (!world_is_shared(world)) {
        return;
    }
    const bool alone = world->plan.coordinators - world->plan.collectors == 1;
    bool over = true; /* with collectors: they may be the last ones */
    for (size_t i = 0; i < world->plan.coordinators; i++) {
        const struct node *node = world_coordinator(world, i);
        check_leader(world, node);
        if (alone && !world_collects(world, node) && (node->held || node->stopped)) {
            world->server.led_ms = world->now_ms; /* there is nobody to take over */
        }
        over = over && (node->finished || world_collects(world, node));
    }
    if (!over && world->healed && world->now_ms - world->server.led_ms > TAKEOVER_MS) {
        world_fail(world, "nobody leads for %d ms", TAKEOVER_MS);
    }
}

void checker_on_end(struct world *world)
{
    const struct checker *checker = &world->checker;
    size_t rounds = checker->round_count;
    bool failed = rounds > 0 && checker->round[rounds - 1].record.as.round.failed;
    if (world->failure[0] != '\0') {
        return;
    }
    world->tally.jobs_done += !failed;
    world->tally.jobs_failed += failed;
    if (!failed && rounds != job_round_count(&world->fixture.job)) {
        world_fail(world, "the coordinator finished after %zu rounds", rounds);
    }
    if (world->plan.patient) {
        check_undisturbed(world);
    }
    if (plan_is_central(&world->plan)) {
        central_on_end(world);
    }
}
