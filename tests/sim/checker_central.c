/* What must also hold under central trust, for agents and journals. An agent's answer is known from
 * the first time that it leaves. */

#include "coordinator/round_state.h"
#include "crypto/digest.h"
#include "sim/world.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What an agent has spent on a job, or in all: each pass once, as its rows are different ones. */
static struct cost spent_by(const struct world *world, size_t agent, const struct digest *job)
{
    const struct checker *checker = &world->checker;
    struct cost spent = {0};
    for (size_t i = 0; i < checker->answer_count; i++) {
        const struct charge *charge = &checker->answer[i].record.as.answer.charge;
        bool counted = checker->answer[i].agent != agent ||
                       !digest_equal(&checker->answer[i].record.as.answer.job, job);
        for (size_t j = 0; j < i && !counted; j++) {
            counted = checker->answer[j].agent == agent &&
                      digest_equal(&checker->answer[j].record.as.answer.charge.pass, &charge->pass);
        }
        if (!counted) {
            spent = cost_add(spent, filter_cost(&world->fixture.job.filter, charge));
        }
    }
    return spent;
}

static bool costs_equal(struct cost a, struct cost b)
{
    return a.epsilon_micro == b.epsilon_micro && a.delta_atto == b.delta_atto &&
           a.renyi_nano == b.renyi_nano;
}

static struct cost whole_price(const struct world *world)
{
    const struct job *job = &world->fixture.job;
    return round_cost(job, &job->filter, job_round_count(job));
}

void central_on_answer(struct world *world, const struct known_answer *answer, struct slice blob)
{
    const struct job *job = &world->fixture.job;
    const struct record *record = &answer->record;
    const char *name = peer_name(answer->agent);
    uint32_t within;
    if (record->as.answer.round >= job_round_count(job)) {
        world_fail(world, "%s: a round that the job has not is durable", name);
        return;
    }
    const struct stage *stage = job_stage_of(job, record->as.answer.round, &within);
    const struct round_rows rows = round_rows(stage, within, SIM_RECORDS);
    const struct charge *charge = &record->as.answer.charge;
    if (blob.size != 0 || !digest_is_none(&record->as.answer.answer)) {
        world_fail(world, "%s: an exact answer is written down", name);
    }
    if (!charge_same_event(charge, &stage->charge) || charge->row_first != rows.first ||
        charge->row_count != rows.count) {
        world_fail(world, "%s: round %" PRIu32 " is not charged as the job says", name,
                   record->as.answer.round);
    }
    const struct cost spent = spent_by(world, answer->agent, &record->as.answer.job);
    if (!filter_admits(&job->filter, &spent)) {
        world_fail(world, "%s: a job has cost more than an undisturbed run", name);
    }
}

void central_on_offer(struct world *world, struct known_answer *answer,
                      const struct message *message)
{
    if (answer->offered && !digest_equal(&answer->digest, &message->as.offer.answer)) {
        world_fail(world, "%s offers two different exact answers to round %" PRIu32,
                   peer_name(answer->agent), message->as.offer.round);
    }
    answer->digest = message->as.offer.answer;
}

void central_on_chunk(struct world *world, struct known_answer *answer,
                      const struct message *message, struct slice payload)
{
    struct digest digest;
    if (message->as.chunk.offset != 0 || payload.size != answer->record.as.answer.answer_bytes) {
        return; /* a liar's wish: part of what follows */
    }
    digest_sha256(&digest, &payload, 1);
    if (!answer->offered || !digest_equal(&digest, &answer->digest)) {
        world_fail(world, "%s sends another exact answer than it offered",
                   peer_name(answer->agent));
    }
    if (answer->exact == NULL) {
        answer->exact = malloc(payload.size);
        if (answer->exact == NULL) {
            abort();
        }
        memcpy(answer->exact, payload.data, payload.size);
        answer->exact_size = payload.size;
    }
}

/* A message that is asked for whole is a release: it has the digest that an invitation or a release
 * named. */
void central_on_piece(struct world *world, const struct message *message, struct slice payload)
{
    const struct checker *checker = &world->checker;
    struct digest digest;
    bool named = false;
    for (size_t i = 0; i < CHECKER_ROUNDS_MAX; i++) {
        const struct known_round *round = &checker->round[i];
        const struct artifact *artifact[] = {&round->input, &round->experts};
        for (size_t j = 0; j < 2; j++) {
            if (artifact[j]->bytes > 0 &&
                digest_equal(&message->as.piece.digest, &artifact[j]->digest)) {
                named = true;
                digest_sha256(&digest, &payload, 1);
                if (message->as.piece.offset == 0 && payload.size == artifact[j]->bytes &&
                    !digest_equal(&digest, &artifact[j]->digest)) {
                    world_fail(world, "the coordinator sends bytes that nobody released");
                }
            }
        }
    }
    if (!named &&
        checker->round_count > 0) { /* before, there is nothing but where a model begins */
        world_fail(world, "the coordinator sends something that it has not named");
    }
}

void central_on_recovery(struct world *world, const struct node *node)
{
    const struct curator *curator = node->coordinator->curator;
    const struct cost restored = ledger_balance(curator->ledger, ALLOWANCE_TOTAL).spent;
    if (!costs_equal(restored, world->checker.curator)) {
        world_fail(world,
                   "a restarted curator has spent %" PRIu64 " (%" PRIu64
                   "), its journal says %" PRIu64 " (%" PRIu64 ")",
                   restored.epsilon_micro, restored.renyi_nano,
                   world->checker.curator.epsilon_micro, world->checker.curator.renyi_nano);
    }
    const struct cost budget = curator->budget == NULL
                                   ? (struct cost){0}
                                   : ledger_balance(curator->budget, ALLOWANCE_TOTAL).spent;
    if (!costs_equal(budget, world->checker.budget)) {
        world_fail(world,
                   "a restarted curator's plays have cost %" PRIu64 " (%" PRIu64
                   "), its journal says %" PRIu64 " (%" PRIu64 ")",
                   budget.epsilon_micro, budget.renyi_nano, world->checker.budget.epsilon_micro,
                   world->checker.budget.renyi_nano);
    }
}

static bool holds(struct slice where, struct slice what)
{
    for (size_t i = 0; i + what.size <= where.size; i++) {
        if (memcmp((const uint8_t *)where.data + i, what.data, what.size) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_telling(const struct known_answer *answer)
{
    size_t zeroes = 0;
    for (size_t i = 0; i < answer->exact_size; i++) {
        zeroes += answer->exact[i] == 0;
    }
    return answer->exact_size >= 16 && zeroes + 2 <= answer->exact_size;
}

static void check_journal(struct world *world, const struct memory_journal *journal)
{
    const struct checker *checker = &world->checker;
    for (size_t i = 0; i < journal->count; i++) {
        const struct memory_record *record = &journal->record[i];
        const struct slice part[] = {{.data = record->body, .size = record->body_size},
                                     {.data = record->blob, .size = record->blob_size}};
        for (size_t j = 0; j < 2 * checker->answer_count; j++) {
            const struct known_answer *answer = &checker->answer[j / 2];
            const struct slice exact = {.data = answer->exact, .size = answer->exact_size};
            const struct slice digest = {.data = answer->digest.byte, .size = DIGEST_BYTES};
            if ((answer->offered && holds(part[j % 2], digest)) ||
                (is_telling(answer) && holds(part[j % 2], exact))) {
                world_fail(world, "an exact answer of %s, or its digest, is in a journal",
                           peer_name(answer->agent));
                return;
            }
        }
    }
}

void central_on_end(struct world *world)
{
    for (size_t i = 0; i < MACHINES; i++) {
        check_journal(world, world->node[i].memory);
    }
    for (size_t agent = 1; agent <= SIM_AGENTS && world->plan.patient; agent++) {
        if (!costs_equal(spent_by(world, agent, &world->checker.job.id), whole_price(world))) {
            world_fail(world, "%s has not spent what an undisturbed run costs", peer_name(agent));
        }
    }
}
