/* participant.h - the agent's machine: greets the coordinator, learns the job, answers invitations
 * through the gate, offers committed answers until their round is closed. */

#ifndef AGENT_PARTICIPANT_H
#define AGENT_PARTICIPANT_H

#include "agent/policy.h"
#include "base/log.h"
#include "base/random.h"
#include "dictionary/dictionary.h"
#include "masks/site.h"
#include "protocol/machine.h"
#include "protocol/message.h"

struct participant;

/* Where an agent's records come from: handed to the participant so that it needs no file. */
struct source {
    /** Reads the records that the site's dictionary states: as many, whatever the file holds.
     * Fails with STATUS_IO, STATUS_INVALID (the header line lacks a column of the dictionary),
     * STATUS_NO_MEMORY, whatever the schema asks for; why is for the agent's own operator. */
    enum status (*load)(void *self, struct dataset *out, const struct schema *schema,
                        struct why *why);
    /** Returns the milliseconds that load takes at most, by public numbers: sizes, and the speed of this
     * machine on made-up records. NULL: load takes no more than a slot. Called where load is. */
    uint64_t (*longest_ms)(void *self, const struct schema *schema);
    void *self;
};

/* Where a released model goes: the site's own copy. */
struct model_sink {
    /** weights (count): the released model of a round; final: the job's last. Returns whether it is kept; the final one is
     * put again until it is. NULL: not wanted. */
    bool (*put)(void *self, const struct job *job, const double *weights, size_t count, bool final);
    void *self;
};

/* Where the text of a job that waits for a person goes. */
struct text_sink {
    /** Returns whether it is kept; it is put again until it is. NULL: nowhere. */
    bool (*put)(void *self, const struct digest *digest, struct slice text);
    void *self;
};

/* The jobs that were looked at on a day, each look counted, and the latest of them. */
struct look {
    int64_t day; /* since 1970, UTC */
    uint32_t count;
    struct digest job; /* none: nothing was looked at yet */
};

/* Where that is kept, so that a restart does not forget it. */
struct look_sink {
    /** Returns whether the look is durable; only then the job is looked at. NULL: memory will do. */
    bool (*put)(void *self, const struct look *look);
    void *self;
};

/* Where it is kept which job the coordinator offers this site: what waits or runs besides is over. */
struct offer_sink {
    /** job: NULL: none, or it is over. Returns whether it is kept; it is put again until it is. NULL: nowhere. */
    bool (*put)(void *self, const struct job_name *job);
    void *self;
};

/* A job that this site takes no part in without asking a person. Policy, dictionary, machine and the job's text decide that, and
 * no record. */
struct refusal {
    struct digest text;
    const char *name;       /* as the text says; "" where it cannot be read */
    uint64_t epsilon_micro; /* the price of a run; 0 likewise */
    const char *why;        /* NULL: it is refused no more */
};

/* Where it is kept which jobs were refused, for the site's people. */
struct refusal_sink {
    /** NULL: nowhere. */
    void (*put)(void *self, const struct refusal *refusal);
    void *self;
};

/** Reads and writes a look as one line of text. Parsing fails with STATUS_INVALID. */
enum { LOOK_TEXT_BYTES = 128 };
MUST_USE enum status look_parse(struct look *look, struct slice text);
void look_format(char text[static LOOK_TEXT_BYTES], const struct look *look);

struct participant_options {
    const struct policy *policy;         /* kept */
    const struct dictionary *dictionary; /* kept; jobs are judged by it and by the policy alone */
    struct source source;
    const struct random *random;    /* kept */
    const struct masks_self *masks; /* kept; NULL: masked rounds are declined */
    const struct log *log;          /* kept */
    struct model_sink model;
    struct text_sink waiting;
    struct look looked; /* as it was put last */
    struct look_sink looks;
    struct offer_sink offers;
    struct refusal_sink refusals;
    struct slice dictionary_text; /* kept; as the person wrote it, shown if the policy says so */
    struct slice approved_text; /* kept; if size > 0, only a job of exactly these bytes is joined */
    bool approvals_followed;    /* EVENT_FILE tells decisions; until the first, all jobs wait */
    uint64_t memory_bytes; /* for records and computations; 0: not known. A job that needs more is
                              declined */
    double
        speed; /* operations a second, of speed_measure; 0: not known. A job that does not fit into the policy's
                     slot is declined */
    const char *key_text;     /* kept; the site's public key, for messages; may be NULL */
    uint64_t whole_bytes_max; /* answers up to here go with their offer: WHOLE_BYTES_MAX; 0: none */
    uint32_t heartbeat_ms;    /* a HELLO at least this often */
    uint32_t silence_ms;      /* after this time without a valid frame or a part of a piece:
                          * EFFECT_RECONNECT */
    bool once;                /* EFFECT_FINISH when a job ends, instead of waiting for the next */
};

/** Makes the machine. Fails with STATUS_NO_MEMORY. participant_free wipes and frees it. */
MUST_USE enum status participant_new(struct participant **out,
                                     const struct participant_options *options);
void participant_free(struct participant *participant);

/** Returns the machine's face for a driver; valid as long as the participant. */
struct machine participant_machine(struct participant *participant);

/* What the site's own page shows of the machine. While a computation on the records runs, and until the public slot at which
 * its result is looked at, nothing here changes. */
struct participant_view {
    const char *phase;           /* of the job: "ready" */
    const char *round_phase;     /* "working" */
    const char *job;             /* its name as its text says; "" */
    struct digest id;            /* of the job; none */
    uint32_t round;              /* from 0; of the round that is under way */
    bool in_round;               /* there is one */
    const struct ledger *ledger; /* as of now; borrowed until the machine's next step */
};

/* In the order of the machine's states; the views' words are among them. */
extern const char *const participant_phases[];
extern const size_t participant_phase_count;
extern const char *const participant_round_phases[];
extern const size_t participant_round_phase_count;

/** Looks at a machine between two steps. It changes nothing that a step sees. */
struct participant_view participant_look(struct participant *participant, int64_t wall_ms);

#endif
