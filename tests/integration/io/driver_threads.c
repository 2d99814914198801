/* Two drivers in one process, each on a thread of its own, with working threads beside them: a
 * plain program, because the thread sanitizer cannot run the test framework. The agent's machine
 * computes on the worker, commits, sends; the coordinator's answers; ROUNDS times. The coordinator ends when
 * the agent has: its last answer may have been lost. */

#include "io/driver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 200 };

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static atomic_bool agent_is_done;
static atomic_bool race_is_run; /* read and written relaxed, so that it puts nothing in order */

/* One side's machine; the sides share nothing but the above. */
struct side {
    bool is_agent;
    bool races;
    unsigned round;
    uint64_t computed[64];
    uint64_t sum;
    size_t records;
    uint8_t control[8];
    int64_t wake_ms;
};

static void work(void *self)
{
    struct side *side = self;
    while (side->races && !atomic_load_explicit(&race_is_run, memory_order_relaxed)) {
        usleep(1000);
    }
    for (size_t i = 0; i < 64; i++) {
        side->computed[i] = side->computed[i] * 3 + i + side->round;
    }
}

static void send_round(struct side *side, const struct peer *peer, struct effects *effects)
{
    store_u64(side->control, side->round);
    struct effect *effect = effects_add(effects, EFFECT_SEND);
    effect->as.send.peer = *peer;
    effect->as.send.control = (struct slice){side->control, sizeof side->control};
    effect->as.send.payload = (struct slice){side->computed, sizeof side->computed};
}

static enum status agent_step(struct side *side, const struct event *event, struct effects *effects)
{
    static const struct peer coordinator = {"coordinator"};
    switch (event->kind) {
    case EVENT_START:
        effects_add(effects, EFFECT_WORK);
        side->wake_ms = side->races ? event->now_ms + 5 : INT64_MAX;
        break;
    case EVENT_WORKED:
        effects_add(effects, EFFECT_COMMIT)->as.commit.body = (struct slice){side->computed, 8};
        break;
    case EVENT_TICK: /* the last one may have been lost */
        if (side->races && !atomic_load_explicit(&race_is_run, memory_order_relaxed)) {
            side->computed[0]++; /* while the worker has it */
            atomic_store_explicit(&race_is_run, true, memory_order_relaxed);
            side->wake_ms = INT64_MAX;
            break;
        }
        send_round(side, &coordinator, effects);
        side->wake_ms = event->now_ms + 300;
        break;
    case EVENT_COMMITTED:
        send_round(side, &coordinator, effects);
        side->wake_ms = event->now_ms + 300;
        break;
    case EVENT_MESSAGE:
        if (load_u64(event->as.message.control.data) != side->round) {
            break;
        }
        side->wake_ms = INT64_MAX;
        if (++side->round == ROUNDS) {
            atomic_store(&agent_is_done, true);
            effects_add(effects, EFFECT_FINISH);
        } else {
            effects_add(effects, EFFECT_WORK);
        }
        break;
    case EVENT_STANDINGS:
    case EVENT_PARTIAL:
    case EVENT_ROSTER:
    case EVENT_CUT:
    case EVENT_LINK:
    case EVENT_FILE:
    case EVENT_RECORD:
        break;
    }
    return STATUS_OK;
}

static enum status step(void *self, const struct event *event, struct effects *effects)
{
    struct side *side = self;
    if (side->is_agent) {
        return agent_step(side, event, effects);
    }
    if (event->kind == EVENT_MESSAGE) {
        side->round = (unsigned)load_u64(event->as.message.control.data);
        for (size_t i = 0; i < event->as.message.payload.size; i++) {
            side->sum += ((const uint8_t *)event->as.message.payload.data)[i];
        }
        send_round(side, &event->as.message.peer, effects);
    } else if (event->kind == EVENT_START) {
        side->wake_ms = event->now_ms;
    } else if (event->kind == EVENT_TICK) {
        side->wake_ms = event->now_ms + 20;
        if (atomic_load(&agent_is_done)) {
            effects_add(effects, EFFECT_FINISH);
        }
    }
    return STATUS_OK;
}

static int64_t wake_ms(const void *self)
{
    return ((const struct side *)self)->wake_ms;
}

static enum status append(void *self, uint64_t *sequence, UNUSED struct slice body,
                          UNUSED struct slice blob)
{
    struct side *side = self;
    *sequence = ++side->records;
    return STATUS_OK;
}

static enum status forget(UNUSED void *self, UNUSED uint64_t sequence)
{
    return STATUS_OK;
}

static enum status each(UNUSED void *self, UNUSED journal_visit *visit, UNUSED void *visit_self,
                        UNUSED struct why *why)
{
    return STATUS_OK;
}

static const char *trouble(UNUSED const void *self)
{
    return "";
}

static void close_nothing(UNUSED void *self)
{
}

static enum status make(void *self, struct machine *machine, struct journal *journal,
                        UNUSED struct why *why)
{
    *machine = (struct machine){.self = self, .step = step, .work = work, .wake_ms = wake_ms};
    *journal = (struct journal){.self = self,
                                .waits = true, /* it is written on a third thread */
                                .append = append,
                                .forget = forget,
                                .each = each,
                                .trouble = trouble,
                                .close = close_nothing};
    return STATUS_OK;
}

static void unmake(UNUSED void *self, UNUSED struct machine *machine, struct journal *journal)
{
    journal_close(journal);
}

struct run {
    struct side side;
    struct endpoint *endpoint;
};

static void *drive(void *argument)
{
    struct run *run = argument;
    int exit_code = 1;
    struct driver_options options = {.endpoint = run->endpoint, .no_signals = true};
    struct driver_factory factory = {.self = &run->side, .make = make, .unmake = unmake};
    REQUIRE(driver_run(&options, &factory, &exit_code, NULL) == STATUS_OK);
    REQUIRE(exit_code == 0);
    return NULL;
}

int main(int count, char **argument)
{
    static struct run run[2] = {{.side = {.wake_ms = INT64_MAX}},
                                {.side = {.is_agent = true, .wake_ms = INT64_MAX}}};
    static struct roster roster = {.entry = {{.name = "agent"}}, .count = 1};
    struct key_pair key[2];
    struct why why = {""};
    pthread_t thread[2];

    run[1].side.races = count == 2 && strcmp(argument[1], "--race") == 0;
    REQUIRE(key_pair_generate(&key[0]) == STATUS_OK && key_pair_generate(&key[1]) == STATUS_OK);
    struct endpoint_options options = {
        .address = "tcp://127.0.0.1:0", .key = &key[0], .payload_bytes_max = 65536};
    REQUIRE(endpoint_listen(&run[0].endpoint, &options, &why) == STATUS_OK);
    roster.entry[0].key = key[1].public_key;
    endpoint_admit(run[0].endpoint, &roster);
    options.address = endpoint_address(run[0].endpoint);
    options.key = &key[1];
    options.coordinator_key = key[0].public_key;
    REQUIRE(endpoint_dial(&run[1].endpoint, &options, &why) == STATUS_OK);
    for (int i = 0; i < 2; i++) {
        REQUIRE(pthread_create(&thread[i], NULL, drive, &run[i]) == 0);
    }
    for (int i = 0; i < 2; i++) {
        REQUIRE(pthread_join(thread[i], NULL) == 0);
        endpoint_free(run[i].endpoint);
    }
    REQUIRE(run[1].side.records == ROUNDS);
    puts("two drivers and their workers: passed");
    return 0;
}
