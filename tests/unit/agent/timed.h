/* timed.h - an agent whose computations take as long as a test wants, with its driver, its journal and a
 * clock of milliseconds: what it sends and commits, and when. */

#ifndef TESTS_UNIT_AGENT_TIMED_H
#define TESTS_UNIT_AGENT_TIMED_H

#include "agent/participant.h"
#include "base/log.h"
#include "protocol/message.h"
#include "tests/support/seeded_random.h"

enum { SLOT_MS = 100, SENT_MAX = 4096, DIM = 3, NEVER = 1 << 30 };

/* A moment and what was sent then; nothing when it was the journal that kept the program busy. */
struct sent {
    int64_t at_ms;
    size_t size;
    uint8_t control[CONTROL_BYTES_MAX];
};

/* One agent, its driver, and the other side. */
struct timed {
    struct policy policy;
    struct dictionary dictionary; /* of the job's columns and the records at the start */
    struct seeded_random seeded;
    struct random random;
    const struct masks_self *masks; /* of the next start; NULL: no peers */
    struct participant *participant;
    struct machine machine;
    struct effects effects;
    struct job_name job;
    char text[2048];
    const char *records;
    bool gone;             /* the table is */
    size_t loads;          /* tries to read it */
    size_t features;       /* of a record, at the latest try */
    uint64_t memory_bytes; /* for records and computations; 0: no limit */
    double speed;          /* operations a second; 0: not known */
    uint64_t reading_ms;   /* what reading the records is said to take at most; 0: a slot */
    int64_t now_ms;
    int64_t work_takes_ms; /* of the next computation; the others take none */
    int64_t worked_ms;     /* when it ends, or NEVER */
    size_t works;
    struct sent *sent; /* (sent_count) */
    size_t sent_count;
    struct slice sent_payload;    /* of the latest message that had one */
    struct slice dictionary_text; /* as the site's person wrote it */
    uint8_t body[4][4096];        /* the journal */
    size_t body_size[4];
    size_t body_count;
    uint64_t committing;
    int64_t wall_ms;
    size_t restarts;     /* asked for */
    unsigned full;       /* this many texts cannot be kept, as the disk is full */
    struct look look;    /* as it was put last */
    bool forgets;        /* planted: a restart knows of no look */
    bool full_of_looks;  /* no look can be kept */
    bool full_of_offers; /* nor which job is offered */
    bool full_of_models; /* nor the last model */
    bool approvals_followed;
    size_t offers;         /* how often the offered job was kept, */
    struct digest offered; /* and which at last; none */
    size_t waiting;        /* texts that were kept for a person */
    struct digest waiting_text;
    size_t refusals;       /* how often a refusal, or its end, was kept, */
    bool refused;          /* the latest of these, */
    char refused_why[512]; /* and why */
    struct log log;
    char logged[4096];  /* the events' names, each followed by a space */
    char told[512];     /* the latest event's text */
    int64_t overrun_ms; /* when `slot-overrun` was logged first; NEVER */
    bool
        tells_overrun; /* planted: the end of a computation that outlasts its slot is logged at once */
    double kept[DIM]; /* the model that was published last */
};

/** Starts an agent with a journal, five records, and a job of a fit and two rounds of losses with these
 * grid bits. */
void timed_init(struct timed *bench, unsigned grid_bits);
void timed_free(struct timed *bench);

/** The program ends, and begins anew from its journal. */
void timed_stop(struct timed *bench);
void timed_start(struct timed *bench);

/** A message comes in; what was asked of journal and computation is done, where its time has come; a
 * wake-up is given where it is due. */
void timed_give(struct timed *bench, const struct message *message, struct slice payload);
void timed_settle(struct timed *bench);
void timed_tick(struct timed *bench);

/** A followed file has this text. */
void timed_file(struct timed *bench, enum followed which, const char *text);

/** The coordinator names the job and hands its text over. */
void timed_join(struct timed *bench);

void timed_name_job(struct job_name *job, struct slice text, uint8_t nonce);
struct message timed_welcome(const struct job_name *job);
struct artifact timed_experts(const double *weights, size_t count);
struct message timed_invitation(const struct timed *bench, uint32_t round,
                                const struct artifact *input);

/** Returns how many messages of this kind were sent. */
size_t timed_count(const struct timed *bench, enum message_kind kind);

/** Tells whether an event of this name was logged. */
bool timed_says(const struct timed *bench, const char *event);

/** Starts an agent whose policy leaves jobs to a person. */
void timed_init_asking(struct timed *bench);

/** A person decides on the job's text: for how many runs, 0 for a rejection. Then the agent looks. */
void timed_decide(struct timed *bench, unsigned runs);

/** The coordinator offers a job of this nonce; asks for a round, whose answer's slot passes. */
void timed_offer(struct timed *bench, uint8_t nonce);
void timed_ask_round(struct timed *bench, uint32_t round);

#endif
