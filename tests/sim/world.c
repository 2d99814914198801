#include "sim/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run with more events than this does not end. */
enum { STEPS_MAX = 400000, AFTERMATH_MS = 120000, TAKEOVER_MS = 10000 };

const char *peer_name(size_t number)
{
    static const char *const name[PEERS] = {"coordinator", "agent-1", "agent-2",
                                            "agent-3",     "mallory", "stranger"};
    return name[number];
}

void world_fail(struct world *world, const char *format, ...)
{
    va_list arguments;
    if (world->failure[0] != '\0') {
        return;
    }
    va_start(arguments, format);
    vsnprintf(world->failure, sizeof world->failure, format, arguments);
    va_end(arguments);
}

void world_tell(struct world *world, const char *format, ...)
{
    if (world->verbose) {
        va_list arguments;
        va_start(arguments, format);
        fprintf(stderr, "%8lld ms  ", (long long)world->now_ms);
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
        va_end(arguments);
    }
}

static void write_log(void *self, const struct log_entry *entry)
{
    struct world *world = self;
    world->tally.parts_refused += strcmp(entry->event, "collector-refused") == 0;
    world->tally.collectors_silent += strcmp(entry->event, "collector-silent") == 0;
    world_tell(world, "      log %s %s: %s", entry->event, entry->peer == NULL ? "" : entry->peer,
               entry->text);
}

bool world_is_faulty(const struct world *world)
{
    return world->plan.faulty && world->now_ms < world->plan.faults_end_ms;
}

bool world_is_shared(const struct world *world)
{
    return world->plan.coordinators > 1;
}

struct node *world_coordinator(struct world *world, size_t process)
{
    return &world->node[process == 0 ? COORDINATOR : MACHINES + process - 1];
}

bool world_chance(struct world *world, unsigned in_1000)
{
    return world_is_faulty(world) && dice_below(&world->dice, 1000) < in_1000;
}

void world_init(struct world *world, const struct plan *plan, bool verbose)
{
    memset(world, 0, sizeof *world);
    world->plan = *plan;
    world->verbose = verbose;
    world->log = (struct log){.write = write_log, .self = world, .level = LOG_DEBUG};
    world->dice.state = ~plan->seed;
    fixture_init(&world->fixture, plan);
    liar_init(world);
    for (size_t i = COORDINATOR; i < PEERS; i++) {
        world->admitted[i] = (i >= 1 && i <= SIM_AGENTS) || (i == MALLORY && plan->mallory > 0);
    }
    server_init(&world->server);
    world->machine_count = MACHINES + plan->coordinators - 1;
    for (size_t i = 0; i < world->machine_count; i++) {
        struct node *node = &world->node[i];
        node->number = i < MACHINES ? i : COORDINATOR;
        node->process = i < MACHINES ? 0 : i - MACHINES + 1;
        node->data_number = i;
        node->heard = world_coordinator(world, i <= SIM_AGENTS ? plan->group[i] : 0);
        /* If an earlier job's frames come again, "once" could be about that job. */
        node->once = i % 2 == 0 && !plan->earlier;
        node->restart_ms = (int64_t)dice_below(&world->dice, plan->faulty ? 2000 : 20);
        node->clock_base_ms = (int64_t)dice_below(&world->dice, 1000000);
        node->clock_ppm = plan->faulty ? (int64_t)dice_below(&world->dice, 2001) - 1000 : 0;
        memory_journal_init(&node->own);
        node->memory = node->number == COORDINATOR && world_is_shared(world)
                           ? &world->server.journal
                           : &node->own;
        seeded_random_init(&node->seeded, dice_word(&world->dice));
        if (effects_init(&node->effects, 64 * 1024) != STATUS_OK) {
            abort();
        }
    }
}

void world_free(struct world *world)
{
    for (size_t i = 0; i < world->machine_count; i++) {
        world->node[i].killed = true; /* nobody is told */
        node_free(world, &world->node[i]);
        memory_journal_free(&world->node[i].own);
        effects_free(&world->node[i].effects);
    }
    server_free(&world->server);
    network_free(world);
    checker_free(&world->checker);
    fixture_free(&world->fixture);
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t next_ms(const struct world *world)
{
    int64_t next = world->frame_count > 0 ? world->frame[0].due_ms : INT64_MAX;
    next = earlier(next, server_due_ms(world));
    for (size_t i = 0; i < world->machine_count; i++) {
        next = earlier(next, node_due_ms(world, &world->node[i]));
    }
    if (world_is_faulty(world)) {
        next = earlier(next, world->chaos_ms);
    }
    return next;
}

static void act(struct world *world)
{
    if (world_is_faulty(world) && world->chaos_ms <= world->now_ms) {
        world->chaos_ms = world->now_ms + 1 +
                          (int64_t)dice_below(&world->dice, 2 * (uint64_t)world->plan.chaos_ms);
        chaos_strike(world);
        return;
    }
    if (server_due_ms(world) <= world->now_ms) {
        server_act(world);
        return;
    }
    /* Whose turn it is when several are due at once is chance as well. */
    size_t count = world->machine_count;
    size_t first = dice_below(&world->dice, count + 1);
    for (size_t i = 0; i <= count; i++) {
        size_t turn = (first + i) % (count + 1);
        if (turn == count) {
            if (world->frame_count > 0 && world->frame[0].due_ms <= world->now_ms) {
                network_deliver(world);
                return;
            }
        } else if (node_due_ms(world, &world->node[turn]) <= world->now_ms) {
            node_act(world, &world->node[turn]);
            return;
        }
    }
}

/* The latest end of the job: every round waits for its deadline. Each coordinator that shared the job ends too. */
static int64_t bound_ms(const struct world *world)
{
    const struct plan *plan = &world->plan;
    int64_t rounds = job_round_count(&world->fixture.job);
    int64_t deadlines =
        plan->patient ? 0 : rounds * (plan->deadline_s + plan->patience_s) + plan->join_deadline_s;
    int64_t others = (int64_t)(plan->coordinators - 1) * (plan->linger_ms + TAKEOVER_MS);
    return plan->faults_end_ms + 1000 * deadlines + AFTERMATH_MS + others;
}

/* What happens next, unless that is after until_ms: then it is that time. */
static void turn(struct world *world, int64_t until_ms)
{
    int64_t next = next_ms(world);
    if (!world->healed && next >= world->plan.faults_end_ms &&
        world->plan.faults_end_ms <= until_ms) {
        world->healed = true;
        world->now_ms = world->plan.faults_end_ms;
        chaos_heal(world);
        return;
    }
    if (next > until_ms) {
        world->now_ms = until_ms;
        return;
    }
    if (++world->steps > STEPS_MAX) {
        world_fail(world, "the world goes round in circles");
        return;
    }
    world->now_ms = next > world->now_ms ? next : world->now_ms;
    act(world);
    checker_on_turn(world);
}

void world_hold(struct world *world, struct node *node)
{
    struct node *before = server_visit(world, node);
    node_stop(world, node);
    node->stopped = false;
    node->held = true;
    for (size_t i = 0; i < world->plan.coordinators; i++) {
        const struct node *other = world_coordinator(world, i);
        if (other->held && other->held_until_ms < node->held_until_ms) {
            node->held_until_ms = other->held_until_ms;
        }
    }
    while (world->failure[0] == '\0' && world->now_ms < node->held_until_ms) {
        turn(world, node->held_until_ms);
    }
    node->held = false;
    world->tally.kills_held += node->killed;
    world_tell(world, "coordinator %zu goes on%s", node->process, node->killed ? " no more" : "");
    (void)server_visit(world, before);
}

static bool is_over(struct world *world)
{
    bool over = true;
    for (size_t i = 0; i < world->plan.coordinators; i++) {
        over = over && world_coordinator(world, i)->finished;
    }
    return over;
}

void world_run(struct world *world)
{
    int64_t bound = bound_ms(world);
    while (world->failure[0] == '\0' && !is_over(world)) {
        turn(world, bound);
        if (world->now_ms >= bound || world->steps > STEPS_MAX) {
            world_fail(world, "the job has not ended %lld ms after the last fault (%llu steps)",
                       (long long)(bound - world->plan.faults_end_ms),
                       (unsigned long long)world->steps);
        }
    }
    checker_on_end(world);
}
