/* machine.h - the shape of every program: a pure machine that turns events into effects. It has no
 * socket, clock, file or thread; whatever it needs comes in with an event, whatever it wants done
 * goes out as an effect. io/driver performs the effects for real, tests/sim in a simulated world. */

#ifndef PROTOCOL_MACHINE_H
#define PROTOCOL_MACHINE_H

#include "base/bytes.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PEER_NAME_BYTES = 40, EFFECTS_MAX = 256, PEERS_MAX = 10000 };

/* Who sent a frame, as the transport authenticated it: an admitted agent's name at the coordinator,
 * "coordinator" at an agent. A frame never says who it is from. */
struct peer {
    char name[PEER_NAME_BYTES];
};

enum event_kind {
    EVENT_RECORD, /* recovery: one journal record, oldest first, before EVENT_START; at a collector also after it: the job's
                      coordinator has committed it */
    EVENT_START,  /* recovery is complete; the machine may act */
    EVENT_TICK,   /* the time that wake_ms asked for has come (or any other time) */
    EVENT_MESSAGE, /* a frame from a peer */
    EVENT_ROSTER, /* coordinator: the admitted agents have changed (or are told for the first time) */
    EVENT_CUT,    /* coordinator: a peer broke a limit of the transport, its connection was cut */
    EVENT_LINK, /* agent: bytes of the coordinator have come, maybe of a message that is not whole yet */
    EVENT_FILE,      /* a file that people edit has changed (or is told for the first time) */
    EVENT_COMMITTED, /* the oldest commit not yet answered is durable */
    EVENT_WORKED,    /* the work that EFFECT_WORK asked for is done */
    EVENT_STANDINGS, /* coordinator: how far those are that serve a job together, when that has changed; a collector opens
                        a round by it, and has been shown its own parts of that round before */
    EVENT_PARTIAL /* coordinator: what a collector has committed: to the one that leads, and at first to itself */
};

/* Which file that is. */
enum followed {
    FOLLOWED_POLICY,    /* agent */
    FOLLOWED_APPROVALS, /* agent */
    FOLLOWED_CANCEL,    /* coordinator: who cancelled the job; empty while nobody has */
    FOLLOWED_JOBS,      /* coordinator: the names in the queue's folder, sorted, a line each */
    FOLLOWED_COUNT
};

/* How far one of the coordinators is that serve a job together: a collector, or the one that leads. */
struct standing_of {
    struct peer peer;   /* a collector; "" the coordinator that leads */
    uint64_t ready;     /* its agents that are ready */
    uint64_t undecided; /* its agents that are connected and have said neither yes nor no */
    uint64_t open;      /* 0, or 1 + the round that it has open */
    uint64_t
        settled; /* a collector: 0, or 1 + the round to which it has nothing more to add, all parts handed in */
    uint64_t answers; /* that its open round has */
    int64_t left_ms;  /* until the deadline of its open round */
    bool present;     /* it has said so within the last seconds */
};

struct event {
    enum event_kind kind;
    int64_t now_ms;  /* monotonic clock */
    int64_t wall_ms; /* Unix time, for what people read; decides nothing */
    union {
        struct {
            uint64_t sequence;
            struct slice body;
            struct slice blob; /* what was committed beside the body; size 0 when dropped or none */
        } record;
        struct {
            uint64_t sequence; /* the new record's number, as EVENT_RECORD would tell it */
        } committed;
        struct {
            struct peer peer;
            struct slice control; /* the first frame: protocol/wire decodes it */
            struct slice payload; /* the second, raw; size 0 when there is none */
        } message;
        struct {
            struct peer peer;
        } cut;
        struct {
            bool
                anew; /* its connection is another one since the last such event: what was asked for is lost */
        } link;
        struct {
            const struct peer *peer; /* (count), sorted by name */
            size_t count;
        } roster;
        struct {
            enum followed which;
            struct slice text; /* all of it */
        } file;
        struct {
            const struct standing_of *of; /* (count) */
            size_t count;
        } standings;
        struct {
            struct peer collector; /* whose it is */
            struct slice body;     /* a record: protocol/wire decodes it */
            struct slice blob;     /* the sum, in words of 8 bytes */
        } partial;
    } as;
};

enum effect_kind {
    EFFECT_SEND,      /* one message to a peer; may be lost */
    EFFECT_COMMIT,    /* append a record; answered by EVENT_COMMITTED, or the program restarts */
    EFFECT_FORGET,    /* drop the blob of a record; its body stays */
    EFFECT_WORK,      /* run work() away from the loop; answered by EVENT_WORKED */
    EFFECT_RECONNECT, /* agent: build the connection anew */
    EFFECT_DOUBT, /* agent: pieces came that others may have made: none that is sealed for others too is wanted any more */
    EFFECT_RESTART, /* throw the machine away and begin anew from the journal */
    EFFECT_FINISH   /* the program's task is over: leave the loop with this exit code */
};

/* What is pointed to stays valid and unchanged until the machine's next step; EFFECT_COMMIT's blob
 * and digest until its EVENT_COMMITTED. Effects are performed in order, but what a journal in a database is to write is written
 * beside what follows (io/driver_write.c): other events may come before EVENT_COMMITTED. A machine never emits, before
 * EVENT_COMMITTED, an effect that is only right if the commit happens. */
struct effect {
    enum effect_kind kind;
    union {
        struct {
            struct peer peer;
            struct slice control;
            struct slice payload;
        } send;
        struct {
            struct slice body;
            struct slice blob;
            const struct digest
                *digest; /* the blob's digest_tree, where the machine has it; or NULL */
        } commit;
        struct {
            uint64_t sequence;
            bool secret; /* overwrite it where it was written */
        } forget;
        struct {
            int exit_code;
        } finish;
    } as;
};

/* The room for one step's effects. control_bytes holds the packed control frames they point to. */
struct effects {
    struct effect item[EFFECTS_MAX];
    size_t count;
    uint8_t *control_bytes; /* (control_size) */
    size_t control_size;
    size_t control_used;
};

struct machine {
    void *self;

    /** Takes one event, appends to effects (cleared by the caller). Fails only with
     * STATUS_NO_MEMORY, STATUS_NO_RANDOM, STATUS_CORRUPT (a journal record it cannot read) or
     * STATUS_FOREIGN (another job's journal): the caller then drops the effects, throws the machine
     * away and restarts from the journal. */
    enum status (*step)(void *self, const struct event *event, struct effects *effects);

    /** Between EFFECT_WORK and EVENT_WORKED: the long computation, on a thread of its own. It touches
     * only what the machine set aside for it. NULL when the machine has none. */
    void (*work)(void *self);

    /** Returns when EVENT_TICK is wanted next (monotonic), INT64_MAX for never. */
    int64_t (*wake_ms)(const void *self);
};

static inline int64_t machine_earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/** Makes room for one step's effects; fails with STATUS_NO_MEMORY. effects_free(NULL) does nothing. */
MUST_USE enum status effects_init(struct effects *effects, size_t control_size);
void effects_clear(struct effects *effects);
void effects_free(struct effects *effects);

/** Appends an effect for the caller to fill, or returns NULL when the room is full. A machine that
 * meets NULL leaves the rest for the next tick: every message is repeatable. */
struct effect *effects_add(struct effects *effects, enum effect_kind kind);

/* A machine's states are one list of STATE(name, word, next): word is what is shown of it, next the states that may follow. */
#define STATE_NAME(name, word, next) name,
#define STATE_WORD(name, word, next) word,
#define STATE_NEXT(name, word, next) next,
#define NEXT(state)                  (1u << (state))

/* Which records' blobs are needed no longer. A machine notes a record while it reads its journal or once
 * what replaces it is durable, and asks for the forgetting when it may act. A death in between loses nothing: the
 * next start notes the record again, because its blob is still there. */

struct stale_record {
    uint64_t sequence;
    bool secret; /* to be overwritten */
};

/* Starts zeroed. Oldest first. */
struct stale {
    struct stale_record *record; /* (count) owned */
    size_t count;
    size_t capacity;
};

/** Notes a record that holds a blob. Fails with STATUS_NO_MEMORY: restart from the journal. */
MUST_USE enum status stale_add(struct stale *stale, uint64_t sequence, bool secret);

/** Asks for what was noted, as far as it fits beside EFFECTS_LEFT other effects. The rest waits for the next call. */
void stale_forget(struct stale *stale, struct effects *effects);

/** Gives the list back; it may be used again. */
void stale_free(struct stale *stale);

#endif
