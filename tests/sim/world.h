/* world.h - a coordinator and its agents as programs on unreliable machines in one deterministic
 * world. It performs the effects of the real machines; nothing here knows what they are for. */

#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "agent/participant.h"
#include "coordinator/main_collect.h"
#include "coordinator/round.h"
#include "protocol/wire.h"
#include "sim/checker.h"
#include "sim/fixture.h"
#include "sim/plan.h"
#include "sim/server.h"
#include "support/memory_journal.h"
#include "support/seeded_random.h"

enum {
    COORDINATOR = 0,           /* then the agents, 1 to SIM_AGENTS */
    MACHINES = 1 + SIM_AGENTS, /* then the other coordinators, where several share a job */
    COORDINATORS_MAX = 4,
    MACHINES_MAX = MACHINES + COORDINATORS_MAX - 1,
    /* peers that are no machines */
    MALLORY = MACHINES, /* an admitted key in hostile hands */
    STRANGER,           /* a key that was never admitted */
    PEERS,
    COMMITS_PENDING_MAX = 8,
    HISTORY_MAX = 256,
    FAILURE_BYTES = 400
};

struct frame {
    int64_t due_ms;
    uint64_t order; /* among those due at once */
    size_t from;
    size_t to;
    struct node *machine; /* that hears it; NULL: a peer that is none */
    uint8_t *bytes;       /* control, then payload; owned */
    size_t control_size;
    size_t payload_size;
};

/* One program: it lives, crashes, is restarted; its journal and its clock's machine remain. */
struct node {
    uint64_t wiped; /* the record that it wiped last since it started */
    size_t number;  /* as a peer: all coordinators are one */
    size_t process; /* among the coordinators */
    size_t data_number;
    struct participant *participant;
    struct coordinator *coordinator;
    struct machine machine;
    bool once; /* an agent that ends with the job */
    bool up;
    bool finished;
    int exit_code;
    int64_t restart_ms;
    struct journal journal;        /* while the program lives */
    struct memory_journal *memory; /* what is durable: its own, or what coordinators share */
    struct memory_journal own;
    struct seeded_random seeded;
    struct seeded_random before_step; /* what the step under way draws from */
    struct seeded_random before_work; /* a coordinator's: what its work drew from */
    bool work_failed;                 /* it was refused randomness */
    struct random random;
    struct masks_self masks;
    bool random_failed;
    size_t starts;
    struct effects effects;
    bool working;
    bool starved; /* its work was refused memory */
    int64_t worked_ms;
    int64_t committed_ms[COMMITS_PENDING_MAX];
    uint64_t committed_sequence[COMMITS_PENDING_MAX];
    size_t committed_count;
    struct sim_write *write; /* what is to be written to the database, owned, oldest first */
    int64_t clock_base_ms;
    int64_t clock_ppm;
    unsigned spins; /* wake-ups in a row that asked for another one at once */
    bool link_dead; /* until the agent reconnects */
    int64_t cut_until_ms;

    struct node *heard; /* an agent's: the coordinator that it is connected to */

    /* one of several coordinators */
    struct lease_keeper *keeper; /* while it leads, or thinks so */
    bool keeping;                /* the keeper's turn is under way */
    bool reads;                  /* its journal is being read */
    bool held;                   /* it does not run, in the middle of a step */
    bool stopped;                /* likewise, between two */
    bool keeper_held;            /* stopped: neither does the keeper */
    bool killed;                 /* while it was held, or just now */
    bool roster_due;             /* the allow-list has changed meanwhile */
    int64_t held_until_ms;
    int64_t database_cut_until_ms;
    int64_t looked_ms; /* when it last asked whether it still leads */
    uint64_t known;    /* records that it has read or written */

    /* where some of them collect */
    struct office office;
    struct collect collect;
    int64_t look_due_ms;
    bool looks; /* it looks at the others: what it is made of stays until that ends */
};

/* Counts of what happened: a run without faults shows nothing. */
#define TALLY_LIST(ENTRY)                                                                          \
    ENTRY(jobs_done)                                                                               \
    ENTRY(jobs_failed)                                                                             \
    ENTRY(crashes)                                                                                 \
    ENTRY(commits_failed)                                                                          \
    ENTRY(commits_lost)                                                                            \
    ENTRY(commits_kept_unknown)                                                                    \
    ENTRY(no_random)                                                                               \
    ENTRY(reconnects)                                                                              \
    ENTRY(frames_lost)                                                                             \
    ENTRY(frames_doubled)                                                                          \
    ENTRY(frames_damaged)                                                                          \
    ENTRY(replays)                                                                                 \
    ENTRY(lies)                                                                                    \
    ENTRY(answers_to_lies)                                                                         \
    ENTRY(revocations)                                                                             \
    ENTRY(declines)                                                                                \
    ENTRY(answers_whole)                                                                           \
    ENTRY(inputs_whole)                                                                            \
    ENTRY(answers_sent_again)                                                                      \
    ENTRY(central_rounds)                                                                          \
    ENTRY(plays_anew)                                                                              \
    ENTRY(records_changed)                                                                         \
    ENTRY(masked_answers)                                                                          \
    ENTRY(masked_rounds)                                                                           \
    ENTRY(masked_without)

/* Where several coordinators share a job. */
#define TALLY_SHARED_LIST(ENTRY)                                                                   \
    ENTRY(terms)                                                                                   \
    ENTRY(takeovers)                                                                               \
    ENTRY(stand_bys)                                                                               \
    ENTRY(holds)                                                                                   \
    ENTRY(kills_held)                                                                              \
    ENTRY(leads_lost)                                                                              \
    ENTRY(writes_fenced)                                                                           \
    ENTRY(statements_refused)                                                                      \
    ENTRY(statements_lost)                                                                         \
    ENTRY(statements_late)                                                                         \
    ENTRY(statements_void)                                                                         \
    ENTRY(answers_lost)                                                                            \
    ENTRY(database_restarts)                                                                       \
    ENTRY(database_cuts)

/* Where some of them collect. */
#define TALLY_COLLECTED_LIST(ENTRY)                                                                \
    ENTRY(parts)                                                                                   \
    ENTRY(parts_further)                                                                           \
    ENTRY(standings_fenced)                                                                        \
    ENTRY(looks_failed)                                                                            \
    ENTRY(collectors_silent)

struct tally {
#define TALLY_FIELD(name) uint64_t name;
    TALLY_LIST(TALLY_FIELD)
    TALLY_SHARED_LIST(TALLY_FIELD)
    TALLY_COLLECTED_LIST(TALLY_FIELD)
    uint64_t parts_refused; /* too seldom to be sure of */
#undef TALLY_FIELD
};

struct world {
    struct plan plan;
    struct fixture fixture;
    struct dice dice;
    int64_t now_ms;
    uint64_t steps;
    struct node node[MACHINES_MAX];
    size_t machine_count;
    struct server server; /* where several coordinators share a job */
    bool healed;          /* the faults are over */
    bool admitted[PEERS];
    struct frame *frame; /* (frame_count) a heap by due_ms and order; owned */
    size_t frame_count;
    size_t frame_room;
    uint64_t frame_order;
    struct frame history[HISTORY_MAX]; /* frames that came by, for replays; owned */
    size_t history_count;
    int64_t chaos_ms;
    struct checker checker;
    struct liar {
        uint8_t artifact[96];
        struct slice bytes;
        struct digest digest;
        struct digest text_digest;
        struct job_name job;
    } liar;
    bool verbose;
    struct log log;
    struct tally tally;
    bool formula_answers; /* fuzzing: every agent's answer is what mallory_value says */

    /* Around every call into a machine of this program; left returns whether memory was refused. */
    void (*entered)(struct world *world, const struct node *node);
    bool (*left)(struct world *world, const struct node *node);
    char failure[FAILURE_BYTES];
};

/* world.c */
const char *peer_name(size_t number);
void world_init(struct world *world, const struct plan *plan, bool verbose);
void world_free(struct world *world);

/** Runs until the coordinator has finished and agents had time to hear of it, or something failed.
 */
void world_run(struct world *world);

/** The first failure stays. */
void world_fail(struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));
void world_tell(struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool world_is_faulty(const struct world *world); /* faults still happen */
bool world_chance(struct world *world, unsigned in_1000);

/** One of the coordinators, 0 to plan.coordinators - 1. */
struct node *world_coordinator(struct world *world, size_t process);
bool world_is_shared(const struct world *world);

/** collected.c: whether a coordinator is a collector; one of those who have some; has a peer on its list now. */
bool world_collects(const struct world *world, const struct node *node);
bool world_is_collected(const struct world *world, const struct node *node);
bool world_lists(const struct world *world, const struct node *node, size_t peer);
MUST_USE enum status collected_open(struct world *world, struct node *node, struct why *why);
MUST_USE enum status collected_join(struct world *world, struct node *node);
void collected_leave(struct world *world, struct node *node);
void collected_look(struct world *world, struct node *node);

/** A program does not run for some time, and all others do: it is stopped, or waits for the server. It may be killed
 * meanwhile. Returns when it goes on. If another program is held already, the new one goes on first. */
void world_hold(struct world *world, struct node *node);

/* node.c */
void node_start(struct world *world, struct node *node);
void node_crash(struct world *world, struct node *node, const char *reason);
void node_step(struct world *world, struct node *node, struct event *event);
void node_free(struct world *world, struct node *node);
void node_restart(struct world *world, struct node *node, const char *reason);
void node_tell_roster(struct world *world);
int64_t node_clock_ms(const struct world *world, const struct node *node);
int64_t node_due_ms(const struct world *world, const struct node *node);
void node_stop(struct world *world, struct node *node); /* until held_until_ms */
void node_act(struct world *world, struct node *node);  /* what is due */

/* network.c */
void network_send(struct world *world, struct node *node, size_t to, struct slice control,
                  struct slice payload);
void network_inject(struct world *world, size_t from, size_t to, struct slice control,
                    struct slice payload);
void network_inject_message(struct world *world, size_t from, size_t to,
                            const struct message *message, struct slice payload);
void network_deliver(struct world *world);
void network_reconnect(struct world *world, struct node *agent);
struct frame network_next(struct world *world); /* taken: the caller frees its bytes */
void network_replay(struct world *world);
void network_keep(struct world *world, const struct world *earlier);
void network_free(struct world *world);

/* planted.c: faults of a wrong program; an ordinary run has none */
uint8_t *planted_body(const struct world *world, struct node *node, struct slice *body);
uint8_t *planted_part(const struct world *world, const struct node *node, struct slice *blob);
enum status planted_retry(struct world *world, struct node *node, uint64_t *sequence,
                          struct slice body, struct slice blob);
bool planted_early(struct world *world, struct node *node, const struct effect *effect);
void planted_forgetful(const struct world *world, struct node *node);
void planted_send(struct world *world, struct node *node, size_t to, struct slice control,
                  struct slice payload);

/* chaos.c */
void chaos_strike(struct world *world);
void chaos_heal(struct world *world);

/* hostile.c */
void liar_init(struct world *world);
void liar_act(struct world *world);
void liar_overhear(struct world *world, size_t from, struct slice control);
void mallory_act(struct world *world);
void mallory_hear(struct world *world, size_t self, struct slice control);
void speak_rubbish(struct world *world, size_t from, size_t to);
void say_hello(struct world *world, size_t from);
void stranger_act(struct world *world);
void junk_act(struct world *world);
int64_t mallory_value(uint32_t round, size_t place);

#endif
