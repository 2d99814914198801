/* How a program of the world starts from its journal, is delayed, and ends. */

#include "database/lease.h"
#include "sim/node_private.h"

#include <stdio.h>

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

/* Gives the lease back, if there is one. A program that was killed cannot. */
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
    node_drop_writes(node);
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
    node->restart_ms = node_after(world, world->plan.crash_ms_max);
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
    node_enter(world, node);
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
    bool starved = node_leave(world, node);
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

void node_hear_roster(struct world *world, struct node *node)
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

/* One of several coordinators leads. The others look from time to time whether they may. */
static bool open_journal(struct world *world, struct node *node)
{
    enum { LOOK_MS = 500 };
    if (!node_shares(world, node)) {
        if (node->starts % 2 == 1) {
            memory_journal_die(node->memory);
        }
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
        node_hear_roster(world, node);
    }
}

void node_tell_roster(struct world *world)
{
    for (size_t i = 0; i < world->plan.coordinators; i++) {
        struct node *node = world_coordinator(world, i);
        node->roster_due = node->held || node->stopped;
        if (!node->roster_due) {
            node_hear_roster(world, node);
        }
    }
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
        hold_ms = DATABASE_ANSWER_MS; /* only a question makes a single thread wait */
    }
    node->held_until_ms = world->now_ms + hold_ms;
    world_tell(world, "coordinator %zu is held up until %lld ms", node->process,
               (long long)node->held_until_ms);
    world->tally.holds++;
}
