/* record.h - what the two journals hold, as plain structs. A record is one durable fact; balances,
 * cursors and the state of a round are always computed again from them. */

#ifndef PROTOCOL_RECORD_H
#define PROTOCOL_RECORD_H

#include "dp/charge.h"
#include "protocol/machine.h"
#include "protocol/message.h"

enum { RECORD_CAUSE_BYTES = 896 };

enum record_kind {
    RECORD_JOB,    /* both: this job has begun (coordinator) or is known (agent) */
    RECORD_ANSWER, /* agent: a charge and the noisy answer it paid for (the answer is the blob) */
    RECORD_ROUND,  /* coordinator: a round is closed (new rows of the experts are the blob) */
    RECORD_ROSTER, /* coordinator: whose keys a masked round has (masks/legs.h: they are the blob) */
    RECORD_SURVIVORS, /* coordinator: whose answers its sum has; agent: the one list of a round that it signs */
    RECORD_KEYS, /* agent: its keys for a masked round (masks/site.h: they are the blob, a secret) */
    RECORD_PARTIAL, /* in no journal, but beside a coordinator's: a collector's answers to a round, added up (the sum is the blob) */
    RECORD_KIND_COUNT
};

struct record {
    enum record_kind kind;
    int64_t wall_ms;
    union {
        struct {
            struct job_name job;
            char *
                text; /* (job.text_bytes), owned; NULL at an agent: the text is the record's blob, or
                           that of an earlier record with the same digest, or was dropped */
            bool
                trees; /* a coordinator names states and experts by their digest_tree; not in old journals: by their SHA-256 */
            bool shares; /* `learn` may share columns out; not in journals of version 4 or before */
            uint32_t
                protocol; /* version of who has begun the job; 0: 6 or before, by the two above. At an agent:
                           of the age that the job was told as (job_age_version); 0: an agent before wrote it */
        } job;
        struct {
            struct digest job;
            uint32_t round;
            char task[24]; /* "fit", "losses": for people */
            struct charge charge;
            struct digest invitation;
            struct digest
                answer; /* digest_tree of the blob; none for an exact answer (central trust),
                                     which is never written down, nor anything that tells it */
            uint64_t answer_bytes;
            uint64_t
                masks_bytes; /* bytes that open the answer's masks, after it in the blob; 0: it has
                              * none */
            uint32_t shift;  /* its words count steps of 2^shift of the grid's */
        } answer;
        struct {
            struct digest job;
            uint32_t round;
            bool failed;
            bool cancelled;     /* by an operator: one way to fail */
            uint32_t chosen;    /* row of the experts that the round's model is */
            struct peer *agent; /* (agent_count) whose answers are in, owned */
            uint32_t agent_count;
            struct peer *
                away; /* (away_count) of these, by name: who did not look, where sites do so by turns; owned */
            uint32_t away_count;
            uint64_t records; /* that their answers look at, where the job says a share; else 0 */
            int64_t *sum;     /* (sum_count) released sums that the outcome is read from, owned */
            uint32_t sum_count;
            uint64_t blob_bytes;            /* new rows of the experts, or a state */
            uint32_t duration_ms;           /* from opening (or recovery) to closing */
            char cause[RECORD_CAUSE_BYTES]; /* of a failed round, for people; "" in old journals */
        } round;
        struct {
            struct digest job;
            uint32_t round;
            uint64_t bytes; /* of the blob */
            uint32_t width; /* bits of a masked word: 32 or 64; 0, in old journals: 64 */
        } roster;
        struct {
            struct digest job;
            uint32_t round;
            struct digest set; /* of ranks, a bit each */
        } survivors;
        struct {
            struct digest job;
            uint32_t round;
            struct digest invitation;
            uint64_t bytes; /* of the blob */
        } keys;
        struct {
            struct digest job;
            uint32_t round;
            char collector[PEER_NAME_BYTES];
            struct peer *agent; /* (agent_count) whose answers are in, by name, owned */
            uint32_t agent_count;
            struct peer *away; /* (away_count) as a round's, owned */
            uint32_t away_count;
            uint64_t records;    /* as a round's */
            uint64_t blob_bytes; /* of the sum: 8 for each value */
        } partial;
    } as;
};

enum {
    RECORD_SUM_MAX = 1 << 20,
    RECORD_BODY_BYTES_MAX = 9 << 20,
    RECORD_MASKS_BYTES_MAX = 64 * 1024
};

/** Returns whether a record may be in a journal: what can be judged without knowing the job. */
bool record_is_valid(const struct record *record);

/** Frees what a record owns and zeroes it; record_free(NULL) does nothing. */
void record_free(struct record *record);

#endif
