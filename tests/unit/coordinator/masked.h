/* masked.h - a coordinator of one masked round and sites that answer it by hand: each leg is a call, and what the coordinator
 * sends is kept as it stands when the step is over. */

#ifndef TESTS_UNIT_COORDINATOR_MASKED_H
#define TESTS_UNIT_COORDINATOR_MASKED_H

#include "coordinator/round_state.h"
#include "masks/site.h"
#include "protocol/message.h"
#include "tests/support/seeded_random.h"

enum { MASKED_SITES = 5, MASKED_WORDS = 2, MASKED_SENT_MAX = 64, MASKED_RECORDS_MAX = 8 };

struct masked_sent {
    size_t site;
    struct message message;
    uint8_t payload[4096];
    size_t size;
};

struct masked {
    struct job job;
    struct seeded_random seeded;
    struct random random;
    struct log log;
    char said[4096]; /* the events' names, each followed by a space */
    struct coordinator *coordinator;
    struct machine machine;
    struct effects effects;
    int64_t now_ms;
    struct digest job_id;
    struct digest invitation;
    struct masks_terms terms;
    struct masks_peers peers;
    struct key_pair signing[MASKED_SITES];
    struct masks_self self[MASKED_SITES];
    struct masks_site *site[MASKED_SITES];
    uint64_t words[MASKED_SITES][MASKED_WORDS]; /* as they leave */
    uint64_t plain[MASKED_SITES][MASKED_WORDS];
    struct masked_sent
        sent[MASKED_SENT_MAX]; /* (sent_count) of the latest step and what followed it */
    size_t sent_count;
    struct record *record; /* (record_count) the journal, owned */
    uint8_t *blob[MASKED_RECORDS_MAX];
    size_t blob_size[MASKED_RECORDS_MAX];
    size_t record_count;
};

/** Starts a job of one fit for MASKED_SITES sites. With c = 1 and h = 2, 3 of them are enough. All are admitted and
 * ready. */
void masked_init(struct masked *rig);
void masked_free(struct masked *rig);
/** The coordinator is killed, and begins anew from its journal. */
void masked_rerun(struct masked *rig);

/** Sets are of bits. These sites alone are admitted; these say HELLO. */
void masked_admit(struct masked *rig, unsigned set);
void masked_greet(struct masked *rig, unsigned set);
void masked_pass(struct masked *rig, int64_t ms);

/** The legs, of these sites: keys; roster and answer; signature; what opens the sum. */
void masked_send_keys(struct masked *rig, unsigned set);
void masked_answer(struct masked *rig, unsigned set);
void masked_offer(struct masked *rig, unsigned set);
void masked_sign(struct masked *rig, unsigned set);
void masked_reveal(struct masked *rig, unsigned set);

/** Returns what was sent to a site in the latest step, or NULL. */
const struct masked_sent *masked_find(const struct masked *rig, size_t site,
                                      enum message_kind kind);
/** Returns the latest record if it closes the round, or NULL. */
const struct record *masked_round(const struct masked *rig);
/** Returns the sum of what these sites masked, in one word. */
uint64_t masked_sum(const struct masked *rig, unsigned set, size_t word);

#endif
