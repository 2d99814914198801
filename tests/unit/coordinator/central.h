/* central.h - a coordinator, mostly under central trust, with two agents that send what a test wants, and a journal from
 * which it can begin anew. */

#ifndef TESTS_UNIT_COORDINATOR_CENTRAL_H
#define TESTS_UNIT_COORDINATOR_CENTRAL_H

#include "coordinator/round_state.h"
#include "tests/support/seeded_random.h"

enum { CENTRAL_AGENTS = 2, CENTRAL_RECORDS_MAX = 64 };

struct kept {
    uint8_t *body;
    size_t body_size;
    uint8_t *blob;
    size_t blob_size;
    bool forgotten;
};

struct central {
    struct job job;
    struct slice text;
    struct seeded_random seeded;
    struct random random;
    struct coordinator *coordinator;
    size_t first;                  /* its agents are agent-FIRST and the next */
    const struct peer *collectors; /* (collectors_count) that it has */
    size_t collectors_count;
    const char *collector;       /* it is one, of that name, or NULL */
    const struct central *leads; /* whose journal it follows then */
    size_t followed;             /* records of it that it has been told */
    struct machine machine;
    struct effects effects;
    int64_t now_ms;
    struct kept kept[CENTRAL_RECORDS_MAX];
    size_t kept_count;
    struct message invite;    /* the latest */
    struct message release;   /* the latest */
    size_t pulls;             /* asked for so far */
    size_t behind_release;    /* invitations so far that came right after their agent's release */
    enum message_kind before; /* of the latest message, */
    struct peer told;         /* and who got it */
    size_t invites;           /* sent so far, */
    size_t invited_bytes;     /* and the inputs that went with them */
    struct dictionary_sink dictionaries;
    struct digest shown[CENTRAL_AGENTS]; /* that HELLO names */
    size_t shows;                        /* asked for so far */
    uint32_t records[CENTRAL_AGENTS];    /* that an agent's answers look at, of a job of shares */
    bool is_slow; /* what it commits is not durable before central_committed */
    bool finished;
    int exit_code;
};

/** Stages (YAML lines) of moderate size: of a fit, of plays of every strategy after it, with a known
 * horizon or without, of an update (which needs a delta), of questions and a choice. */
extern const char CENTRAL_FIT[];
extern const char CENTRAL_PLAYS[];
extern const char CENTRAL_SEGMENTS[];
extern const char CENTRAL_UPDATE[];
extern const char CENTRAL_ASK[];

/** Starts a job of these stages, with epsilon 4 and this delta, each agent at least
 * 12 records, two agents at least. */
void central_init(struct central *bench, const char *delta, const char *stages);
void central_free(struct central *bench);

/** The same under local trust. */
void central_init_local(struct central *bench, const char *stages);

/** One of the coordinators that share a local job: the leader (collector NULL), or a collector. */
void central_init_shared(struct central *bench, const char *stages, size_t first,
                         const struct peer *collectors, size_t count, const char *collector,
                         const struct central *leads);
/** Tells a collector what the one that leads has committed since. */
void central_follow(struct central *bench);
/** Gives the machine an event that is none of the above. */
void central_tell(struct central *bench, struct event event);
/** What a slow one has committed is durable, and it is slow no more. */
void central_committed(struct central *bench);

/** The program ends and begins anew from its journal. Returns the first status that is not OK. */
enum status central_restart(struct central *bench);

/** Time passes; agents greet; one offers and sends what it offered; all agents answer, agent a with
 * value(a, i) at place i. */
void central_wait(struct central *bench, int64_t ms);
void central_greet(struct central *bench);
/** All of them are there, and none has said yes or no. */
void central_greet_undecided(struct central *bench);
void central_offer(struct central *bench, size_t agent, const int64_t *value, size_t count);
void central_send(struct central *bench, size_t agent, const int64_t *value, size_t count);
/** An agent offers words of 2 bytes, which count steps of 2^shift, and sends them along. */
void central_offer_short(struct central *bench, size_t agent, const int16_t *word, size_t count,
                         unsigned shift);
/** An agent offers value and sends other words along with the offer. */
void central_offer_whole(struct central *bench, size_t agent, const int64_t *value,
                         const int64_t *sent, size_t count);
void central_answer(struct central *bench, int64_t (*value)(size_t agent, size_t place));

/** An agent sends a text as its data dictionary. */
void central_show(struct central *bench, size_t agent, const struct digest *digest,
                  struct slice text);

/** Starts plays (CENTRAL_PLAYS), answers two rounds, and returns how many integers an answer to the third has: at most 16. */
size_t central_reach_third(struct central *bench, int64_t (*value)(size_t agent, size_t place));

/** Returns how many integers an answer to the open round has. */
size_t central_count(const struct central *bench);

/** Decodes the latest journal record; the caller frees it. */
struct record central_last(const struct central *bench);

#endif
