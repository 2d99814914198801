/* One program of the world, and a driver as io/driver is: effects in order, commits at once and
 * answered later, any trouble a crash, recovery from the journal. */

#include "base/check.h"
#include "crypto/digest.h"
#include "database/journal_place.h"
#include "database/lease.h"
#include "sim/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_LEAD_MS = 1000 }; /* so often a driver asks at least whether its journal is another's */

static int64_t clock_of(const struct node *node, int64_t world_ms)
{
    return node->clock_base_ms + world_ms + world_ms * node->clock_ppm / 1000000;
}

int64_t node_clock_ms(const struct world *world, const struct node *node)
{
    return clock_of(node, world->now_ms);
}

/* The first world time at which the node's clock shows at least local_ms. */
static int64_t world_time_of(const struct node *node, int64_t local_ms)
{
    int64_t guess = (local_ms - node->clock_base_ms) * 1000000 / (1000000 + node->clock_ppm) - 2;
    while (clock_of(node, guess) < local_ms) {
        guess++;
    }
    return guess;
}

/* The machine's own randomness, which may fail as the operating system's. */
static enum status draw(void *self, void *out, size_t bytes)
{
    struct node *node = self;
    if (node->random_failed) {
        return STATUS_NO_RANDOM;
    }
    struct random seeded = seeded_random_interface(&node->seeded);
    return random_fill(&seeded, out, bytes);
}

static void enter(struct world *world, const struct node *node)
{
    if (world->entered != NULL) {
        world->entered(world, node);
    }
}

static bool leave(struct world *world, const struct node *node)
{
    return world->left != NULL && world->left(world, node);
}

static void work(struct world *world, struct node *node)
{
    if (node->number == COORDINATOR) {
        node->random_failed = world_chance(world, world->plan.random_fails);
        node->work_failed = node->random_failed;
        node->before_work = node->seeded;
    }
    enter(world, node);
    node->machine.work(node->machine.self);
    node->starved = leave(world, node);
}

static int64_t after(struct world *world, uint64_t most)
{
    return world->now_ms + (int64_t)dice_below(&world->dice, most + 1);
}

static bool shares(const struct world *world, const struct node *node)
{
    return node->number == COORDINATOR && world_is_shared(world);
}

/* Of those who share a job: it may lead. */
static bool may_lead(const struct world *world, const struct node *node)
{
    return shares(world, node) && !world_collects(world, node);
}

/* Gives the lease back, where there is one; who was killed cannot. */
static void close_journal(struct world *world, struct node *node)
{
    if (node->journal.self != NULL && !node->reads) {
        struct node *before = server_visit(world, node);
        node->journal.close(node->journal.self);
        node->journal = (struct journal){.self = NULL};
        (void)server_visit(world, before);
    }
}

void node_free(struct world *world, struct node *node)
{
    node->up = false;
    node->working = false;
    node->committed_count = 0;
    if (node->looks) {
        return; /* once it has looked */
    }
    if (world_is_collected(world, node)) {
        collected_leave(world, node);
    }
    close_journal(world, node);
    participant_free(node->participant);
    coordinator_free(node->coordinator);
    node->participant = NULL;
    node->coordinator = NULL;
}

/* A program starts anew, killed or by itself. */
void node_restart(struct world *world, struct node *node, const char *reason)
{
    if (!node->up) {
        return;
    }
    world_tell(world, "%s crashes: %s", peer_name(node->number), reason);
    world->tally.crashes++;
    node_free(world, node);
    node->restart_ms = after(world, world->plan.crash_ms_max);
    if (world->plan.reboots && dice_one_in(&world->dice, 2)) {
        node->clock_base_ms = (int64_t)dice_below(&world->dice, 1000000) - world->now_ms;
    }
}

void node_crash(struct world *world, struct node *node, const char *reason)
{
    node->killed = true;
    node->stopped = false;
    if (!node->held) { /* else as soon as what it is in the middle of ends */
        node_restart(world, node, reason);
    }
}

static void make_machine(struct world *world, struct node *node)
{
    enum status status = STATUS_OK;
    enter(world, node);
    node->random = (struct random){.fill = draw, .self = node};
    if (node->number == COORDINATOR) {
        struct coordinator_options options = {.job = &world->fixture.job,
                                              .text = world->fixture.text,
                                              .random = &node->random,
                                              .log = &world->log,
                                              .answer_bytes_max = 1 << 20,
                                              .whole_bytes_max = world->plan.whole_bytes_max,
                                              .linger_ms = world->plan.linger_ms,
                                              .settle_ms = world->plan.settle_ms};
        if (world_is_collected(world, node)) {
            collect_tell_options(&node->collect, &options);
        }
        status = coordinator_new(&node->coordinator, &options);
        node->machine = coordinator_machine(node->coordinator);
    } else {
        node->masks = (struct masks_self){.peers = &world->fixture.peers,
                                          .signing = &world->fixture.signing[node->number - 1],
                                          .random = &node->random};
        struct participant_options options = {.policy = &world->fixture.policy,
                                              .dictionary = &world->fixture.dictionary,
                                              .source = fixture_source(&node->data_number),
                                              .random = &node->random,
                                              .masks = &node->masks,
                                              .log = &world->log,
                                              .whole_bytes_max = world->plan.whole_bytes_max,
                                              .heartbeat_ms = 500,
                                              .silence_ms = 4000,
                                              .once = node->once};
        if (world->plan.approved) {
            options.approved_text = world->fixture.text;
        }
        if (world->plan.planted == PLANTED_MUTE) {
            options.heartbeat_ms = INT32_MAX - 1;
            options.silence_ms = INT32_MAX;
        }
        status = participant_new(&node->participant, &options);
        node->machine = participant_machine(node->participant);
    }
    bool starved = leave(world, node);
    if (starved && status == STATUS_NO_MEMORY) {
        node_restart(world, node, "no memory to start");
    } else if (starved || status != STATUS_OK) {
        world_fail(world, "%s cannot start: %s", peer_name(node->number), status_text(status));
    }
}

/* Planted: a recovery that overlooks what it should read. */
static bool overlooks(const struct world *world, const struct node *node, uint64_t sequence)
{
    enum planted planted = world->plan.planted;
    struct record record;
    if (planted != PLANTED_FRESH_NOISE && planted != PLANTED_OUTCOME_CHANGES &&
        planted != PLANTED_TWO_LISTS && planted != PLANTED_TWO_KEYS) {
        return false;
    }
    if (wire_decode_record(&record, memory_journal_body(node->memory, sequence)) != STATUS_OK) {
        return false;
    }
    enum record_kind kind = record.kind;
    record_free(&record);
    if (planted == PLANTED_TWO_LISTS || planted == PLANTED_TWO_KEYS) {
        return kind == (planted == PLANTED_TWO_LISTS ? RECORD_SURVIVORS : RECORD_KEYS);
    }
    return planted == PLANTED_FRESH_NOISE ? kind == RECORD_ANSWER
                                          : kind == RECORD_ROUND && sequence == node->memory->count;
}

static void tell_roster(struct world *world, struct node *node)
{
    struct peer roster[PEERS] = {0};
    struct event event = {.kind = EVENT_ROSTER, .as.roster.peer = roster};
    node->roster_due = false;
    for (size_t i = 0; i < PEERS; i++) {
        if (world_lists(world, node, i) ||
            (i == STRANGER && world->plan.planted == PLANTED_REVOKED_COUNTS)) {
            struct peer *peer = &roster[event.as.roster.count++];
            (void)snprintf(peer->name, sizeof peer->name, "%s", peer_name(i));
        }
    }
    if (node->up) {
        node_step(world, node, &event);
    }
}

/* Of several coordinators one leads; the others look now and then whether they may. */
static bool open_journal(struct world *world, struct node *node)
{
    enum { LOOK_MS = 500 };
    if (!shares(world, node)) {
        node->journal = memory_journal_open(node->memory);
        return true;
    }
    struct why why = {""};
    struct node *before = server_visit(world, node);
    const enum status status = world_is_collected(world, node) ? collected_open(world, node, &why)
                                                               : server_open(&node->journal);
    (void)server_visit(world, before);
    if (status != STATUS_OK && status != STATUS_BUSY && status != STATUS_AGAIN) {
        world_fail(world, "a coordinator cannot open the journal: %s", status_text(status));
    }
    world->tally.stand_bys += status == STATUS_BUSY;
    node->restart_ms = world->now_ms + LOOK_MS;
    node->looked_ms = world->now_ms;
    return status == STATUS_OK;
}

struct reading {
    struct world *world;
    struct node *node;
};

static enum status read_record(void *self, uint64_t sequence, struct slice body, struct slice blob)
{
    const struct reading *reading = self;
    struct node *node = reading->node;
    struct event event = {.kind = EVENT_RECORD};
    event.as.record.sequence = sequence;
    event.as.record.body = body;
    event.as.record.blob = blob;
    node->known = sequence;
    if (!overlooks(reading->world, node, sequence)) {
        node_step(reading->world, node, &event);
    }
    return node->up ? STATUS_OK : STATUS_REFUSED;
}

static void read_journal(struct world *world, struct node *node)
{
    struct reading reading = {world, node};
    struct why why = {""};
    struct node *before = server_visit(world, node);
    node->known = 0;
    node->reads = true;
    const enum status status = node->journal.each(node->journal.self, read_record, &reading, &why);
    node->reads = false;
    (void)server_visit(world, before);
    if (!node->up) {
        close_journal(world, node);
    } else if (status == STATUS_IO || status == STATUS_UNKNOWN_OUTCOME) {
        node_restart(world, node, why.text);
    } else if (status != STATUS_OK) {
        world_fail(world, "%s cannot read its journal: %s", peer_name(node->number), why.text);
    }
}

void node_start(struct world *world, struct node *node)
{
    node->killed = false;
    if (!open_journal(world, node)) {
        return;
    }
    world_tell(world, "%s starts, %zu records", peer_name(node->number), node->memory->count);
    node->starts++;
    if (plan_is_central(&world->plan) && !world->plan.patient && node->starts > 1 &&
        dice_one_in(&world->dice, 8)) {
        world->tally.records_changed++;
        node->data_number += MACHINES; /* the site's records have changed meanwhile */
    }
    node->up = true;
    node->random_failed = false;
    node->spins = 0;
    node->link_dead = false;
    node->wiped = 0;
    make_machine(world, node);
    if (node->up && world_is_collected(world, node) && collected_join(world, node) != STATUS_OK) {
        node_restart(world, node, "it does not reach the others");
    }
    if (node->up) {
        read_journal(world, node);
    }
    if (node->up && server_is_led_by(world, node) && node->number == COORDINATOR &&
        plan_is_central(&world->plan)) {
        planted_forgetful(world, node);
        central_on_recovery(world, node);
    }
    if (node->up) {
        struct event event = {.kind = EVENT_START};
        node_step(world, node, &event);
    }
    if (node->up && node->number == COORDINATOR) {
        tell_roster(world, node);
    }
}

void node_tell_roster(struct world *world)
{
    for (size_t i = 0; i < world->plan.coordinators; i++) {
        struct node *node = world_coordinator(world, i);
        node->roster_due = node->held || node->stopped;
        if (!node->roster_due) {
            tell_roster(world, node);
        }
    }
}

static size_t peer_number(const struct peer *peer)
{
    size_t i = 0;
    while (i < PEERS && strcmp(peer_name(i), peer->name) != 0) {
        i++;
    }
    return i;
}

/* Any fault of a disk, where the program has one of its own. */
static void plan_fault(struct world *world, struct node *node)
{
    if (!shares(world, node) && world_chance(world, world->plan.journal_fails)) {
        enum journal_fault fault = (enum journal_fault)(1 + dice_below(&world->dice, 3));
        memory_journal_plan(node->memory, 1, fault);
    }
}

/* A journal believes the digest that a machine knows. A wrong one would make a record damaged that is not. */
static void check_digest(const struct effect *effect)
{
    struct digest own;
    if (effect->as.commit.digest != NULL) {
        digest_sha256(&own, &effect->as.commit.blob, 1);
        CHECK(digest_equal(&own, effect->as.commit.digest));
    }
}

static void perform_commit(struct world *world, struct node *node, const struct effect *effect)
{
    uint64_t sequence = 0;
    size_t before = node->memory->count;
    struct slice body = effect->as.commit.body;
    struct slice blob = effect->as.commit.blob;
    check_digest(effect);
    uint8_t *planted = planted_body(world, node, &body);
    uint8_t *planted_blob = planted_part(world, node, &blob);

    plan_fault(world, node);
    enum status status = node->journal.append(node->journal.self, &sequence, body, blob);
    world_tell(world, "%s commits record %" PRIu64 ": %s", peer_name(node->number), sequence,
               status_text(status));
    if (!shares(world, node) && node->memory->count > before) {
        checker_on_durable(world, node, memory_journal_body(node->memory, node->memory->count),
                           memory_journal_blob(node->memory, node->memory->count));
    }
    if (status != STATUS_OK && shares(world, node) && world->plan.planted == PLANTED_RETRIED) {
        status = planted_retry(world, node, &sequence, body, blob);
    }
    free(planted);
    free(planted_blob);
    if (status != STATUS_OK) {
        world->tally.commits_failed += status == STATUS_IO;
        world->tally.commits_lost += status != STATUS_IO && node->memory->count == before;
        world->tally.commits_kept_unknown += node->memory->count > before;
        node_restart(world, node, status_text(status));
        return;
    }
    node->known = sequence;
    size_t slot = node->committed_count++;
    if (slot == COMMITS_PENDING_MAX) {
        world_fail(world, "%s commits without end", peer_name(node->number));
        return;
    }
    int64_t due = after(world, world->plan.commit_ms_max);
    node->committed_ms[slot] =
        slot > 0 && due < node->committed_ms[slot - 1] ? node->committed_ms[slot - 1] : due;
    node->committed_sequence[slot] = sequence;
}

static void perform_work(struct world *world, struct node *node)
{
    if (node->working) {
        world_fail(world, "%s asks for work while it works", peer_name(node->number));
        return;
    }
    node->working = true;
    node->worked_ms = after(world, world->plan.work_ms_max);
    if (world->plan.work_at_start) {
        work(world, node);
    }
}

static void perform(struct world *world, struct node *node, const struct effect *effect)
{
    switch (effect->kind) {
    case EFFECT_SEND: {
        size_t to = peer_number(&effect->as.send.peer);
        if (to == PEERS) {
            world_fail(world, "%s writes to nobody", peer_name(node->number));
            return;
        }
        planted_send(world, node, to, effect->as.send.control, effect->as.send.payload);
        liar_overhear(world, node->number, effect->as.send.control);
        break;
    }
    case EFFECT_COMMIT:
        if (planted_early(world, node, effect)) {
            break;
        }
        perform_commit(world, node, effect);
        break;
    case EFFECT_FORGET:
        plan_fault(world, node);
        checker_on_forget(world, node, effect->as.forget.sequence,
                          effect->as.forget.secret && world->plan.planted != PLANTED_NOT_WIPED);
        node->wiped = effect->as.forget.secret ? effect->as.forget.sequence : node->wiped;
        if ((effect->as.forget.secret ? node->journal.wipe : node->journal.forget)(
                node->journal.self, effect->as.forget.sequence) != STATUS_OK) {
            node_restart(world, node, "cannot forget");
        }
        break;
    case EFFECT_WORK:
        perform_work(world, node);
        break;
    case EFFECT_RESTART: /* no file changes in the simulator */
        break;
    case EFFECT_RECONNECT:
        world_tell(world, "%s reconnects", peer_name(node->number));
        world->tally.reconnects++;
        node->link_dead = false;
        network_reconnect(world, node);
        break;
    case EFFECT_FINISH:
        node->exit_code = effect->as.finish.exit_code;
        world_tell(world, "%s finishes: %d", peer_name(node->number), node->exit_code);
        node->finished = true;
        node_free(world, node);
        break;
    }
}

/* Returns whether a program that thought it led knows better now. */
static bool looks(struct world *world, struct node *node)
{
    if (node->reads ||
        (world->now_ms - node->looked_ms < LOOK_LEAD_MS && !dice_one_in(&world->dice, 4))) {
        return false;
    }
    struct node *before = server_visit(world, node);
    const bool lost = journal_is_lost(&node->journal);
    (void)server_visit(world, before);
    node->looked_ms = world->now_ms;
    if (lost) {
        world->tally.leads_lost++;
        node_restart(world, node, "it leads no longer");
    }
    return lost;
}

static void hold_between(struct world *world, struct node *node)
{
    if (world_chance(world, world->plan.held_between)) {
        world_hold(world, node);
    }
    if (node->killed) {
        node_restart(world, node, "killed while it was held up");
    }
}

void node_step(struct world *world, struct node *node, struct event *event)
{
    if (may_lead(world, node) && event->kind != EVENT_START && looks(world, node)) {
        return;
    }
    event->now_ms = clock_of(node, world->now_ms);
    /* A second is a quarter of a day, and the site's clock is wrong by up to a day either way. */
    event->wall_ms =
        world->now_ms * 21600 + (int64_t)dice_below(&world->dice, 172800000) - 86400000;
    effects_clear(&node->effects);
    node->random_failed = world_chance(world, world->plan.random_fails);
    node->before_step = node->seeded;
    if (node->number == COORDINATOR && event->kind == EVENT_WORKED) {
        node->before_step = node->before_work;
        node->random_failed = node->random_failed || node->work_failed;
    }
    enter(world, node);
    enum status status = node->machine.step(node->machine.self, event, &node->effects);
    bool starved = leave(world, node) || (event->kind == EVENT_WORKED && node->starved);
    if (starved != (status == STATUS_NO_MEMORY)) {
        world_fail(world, "%s: memory %s, and the step says: %s", peer_name(node->number),
                   starved ? "was refused" : "was there", status_text(status));
    }
    if (status != STATUS_OK) {
        if (!starved && (status != STATUS_NO_RANDOM || !node->random_failed)) {
            world_fail(world, "%s: a step failed: %s", peer_name(node->number),
                       status_text(status));
        }
        world->tally.no_random++;
        node_restart(world, node, status_text(status));
        return;
    }
    for (size_t i = 0; i < node->effects.count && node->up && !node->finished; i++) {
        if (world_chance(world, world->plan.crash_between)) {
            node_crash(world, node, "between two effects");
            return;
        }
        perform(world, node, &node->effects.item[i]);
        if (node->up && shares(world, node)) {
            hold_between(world, node);
        }
    }
    if (node->up && (node->number != COORDINATOR || server_is_led_by(world, node)) &&
        (event->kind == EVENT_START || event->kind == EVENT_COMMITTED)) {
        checker_on_kept(world, node);
    }
    if (node->up && world_chance(world, world->plan.crash_between / 4)) {
        node_crash(world, node, "after a step");
    }
}

static int64_t wake_of(const struct world *world, const struct node *node)
{
    int64_t wake = node->machine.wake_ms(node->machine.self);
    if (wake == INT64_MAX) {
        return INT64_MAX;
    }
    int64_t due = world_time_of(node, wake);
    return due > world->now_ms ? due : world->now_ms;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void node_stop(struct world *world, struct node *node)
{
    node->stopped = true;
    node->keeper_held = dice_one_in(&world->dice, 2);
    int64_t hold_ms = (int64_t)dice_below(&world->dice, world->plan.hold_ms_max);
    if (dice_one_in(&world->dice, 3)) { /* and another one may lead meanwhile */
        hold_ms += LEASE_MS;
    }
    if (!node->keeper_held && hold_ms > DATABASE_ANSWER_MS) {
        hold_ms = DATABASE_ANSWER_MS; /* nothing but a question keeps one thread alone waiting */
    }
    node->held_until_ms = world->now_ms + hold_ms;
    world_tell(world, "coordinator %zu is held up until %lld ms", node->process,
               (long long)node->held_until_ms);
    world->tally.holds++;
}

int64_t node_due_ms(const struct world *world, const struct node *node)
{
    if (node->held || node->stopped) {
        return earlier(node->keeper_held ? INT64_MAX : server_keeper_due_ms(node),
                       node->stopped ? node->held_until_ms : INT64_MAX);
    }
    if (node->finished) {
        return INT64_MAX;
    }
    if (!node->up) {
        return node->restart_ms;
    }
    if (node->roster_due) {
        return world->now_ms;
    }
    int64_t due = wake_of(world, node);
    if (may_lead(world, node)) {
        due = earlier(due, earlier(server_keeper_due_ms(node), node->looked_ms + LOOK_LEAD_MS));
    }
    if (world_is_collected(world, node)) {
        due = earlier(due, node->look_due_ms);
    }
    if (node->working && node->worked_ms < due) {
        due = node->worked_ms;
    }
    if (node->committed_count > 0 && node->committed_ms[0] < due) {
        due = node->committed_ms[0];
    }
    return due;
}

static void tell_committed(struct world *world, struct node *node)
{
    struct event event = {.kind = EVENT_COMMITTED};
    event.as.committed.sequence = node->committed_sequence[0];
    node->committed_count--;
    for (size_t i = 0; i < node->committed_count; i++) {
        node->committed_ms[i] = node->committed_ms[i + 1];
        node->committed_sequence[i] = node->committed_sequence[i + 1];
    }
    node_step(world, node, &event);
}

static void tell_worked(struct world *world, struct node *node)
{
    struct event event = {.kind = EVENT_WORKED};
    if (!world->plan.work_at_start) {
        work(world, node);
    }
    node->working = false;
    node_step(world, node, &event);
}

void node_act(struct world *world, struct node *node)
{
    if (node->stopped && node->held_until_ms <= world->now_ms) {
        node->stopped = false;
        world_tell(world, "coordinator %zu goes on", node->process);
        return;
    }
    if (server_keeper_due_ms(node) <= world->now_ms) {
        server_keep(world, node);
        return;
    }
    if (node->up && node->roster_due) {
        tell_roster(world, node);
        return;
    }
    if (!node->up) {
        node_start(world, node);
        return;
    }
    if (node->committed_count > 0 && node->committed_ms[0] <= world->now_ms) {
        tell_committed(world, node);
        return;
    }
    if (node->working && node->worked_ms <= world->now_ms) {
        tell_worked(world, node);
        return;
    }
    if (world_is_collected(world, node) && node->look_due_ms <= world->now_ms) {
        collected_look(world, node);
        return;
    }
    struct event event = {.kind = EVENT_TICK};
    node_step(world, node, &event);
    bool spins = node->up && wake_of(world, node) <= world->now_ms;
    node->spins = spins ? node->spins + 1 : 0;
    if (node->spins > 3) {
        world_fail(world, "%s wants to be woken again and again at the same time",
                   peer_name(node->number));
    }
}
