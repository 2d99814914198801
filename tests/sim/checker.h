/* checker.h - what must hold in every run, seen from outside: from what becomes durable and from
 * what leaves each program. Everything is computed again from the journals' bytes. */

#ifndef SIM_CHECKER_H
#define SIM_CHECKER_H

#include "dp/filter.h"
#include "experts/hedge_play.h"
#include "protocol/message.h"
#include "protocol/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHECKER_ANSWERS_MAX = 1024, CHECKER_ROUNDS_MAX = 32 };

struct world;
struct node;

struct known_answer {
    size_t agent;
    struct record record; /* RECORD_ANSWER: owns nothing */
    struct slice bytes;   /* in the agent's journal, kept there even when forgotten */
    bool offered;
    /* under central trust, as they first left the agent; under distributed, the noised answer without its masks */
    struct digest digest; /* of the offer */
    uint8_t *exact;       /* (exact_size) owned; NULL before */
    size_t exact_size;
};

struct known_round {
    struct record record;    /* RECORD_ROUND, owned */
    struct artifact experts; /* after it */
    struct artifact input;   /* that invitations to it named; bytes 0 before or none */
    struct slice roster;     /* durable, of a masked round; in the coordinator's journal */
    bool invited;
    bool released;
    struct message release; /* the first that left */
};

/* A durable list of survivors. */
struct known_list {
    size_t agent; /* or COORDINATOR */
    struct digest job;
    uint32_t round;
    struct digest set;
};

/* An agent's durable keys for a round. */
struct known_keys {
    size_t agent;
    uint64_t sequence;
    struct record record; /* RECORD_KEYS: owns nothing */
    struct slice packed;  /* in the agent's journal, kept there even when forgotten */
};

struct checker {
    struct known_answer answer[CHECKER_ANSWERS_MAX];
    size_t answer_count;
    struct job_name job; /* the coordinator's, once it is durable */
    bool job_known;
    struct known_round round[CHECKER_ROUNDS_MAX]; /* by number; beyond round_count only invited */
    size_t round_count;
    uint8_t *experts; /* (experts_bytes) all rows so far, owned */
    size_t experts_bytes;

    struct known_list list[CHECKER_ANSWERS_MAX];
    size_t list_count;
    struct known_keys keys[CHECKER_ANSWERS_MAX];
    size_t keys_count;

    /* under central trust */
    double *state; /* (width) of the gradient rounds so far, owned */
    struct hedge_state play;
    struct cost curator; /* what the durable rounds have cost */
    struct cost budget;  /* what the plays of the latest game that cost anything have */
    const struct hedge_run *game;
    bool coin_paid; /* in it */
};

void checker_free(struct checker *checker);

/** A record has become durable, or was found in the journal at the beginning. */
void checker_on_durable(struct world *world, struct node *node, struct slice body,
                        struct slice blob);

/** A program has acted on its journal: of answers, and of an update stage's states, it holds the latest and at most one
 * that the latest has just replaced, however often the program died before it forgot. */
void checker_on_kept(struct world *world, const struct node *node);

/** A record's blob is forgotten: what opens masks has to be overwritten. */
void checker_on_forget(struct world *world, const struct node *node, uint64_t sequence,
                       bool is_wiped);

/** A frame leaves a program. */
void checker_on_send(struct world *world, struct node *node, size_t to, struct slice control,
                     struct slice payload);

/** Something is written under a term while the database has another. */
void checker_on_term(struct world *world, int64_t term, int64_t current);

/** Called after each event: the leader knows every record, and soon after the last fault there is a
 * leader. */
void checker_on_turn(struct world *world);

/** The run is over. */
void checker_on_end(struct world *world);

/** Returns the durable answer of an agent to a round, or NULL. */
struct known_answer *checker_find(struct checker *checker, size_t agent, const struct digest *job,
                                  uint32_t round);

/** A coordinator's round has become durable: takes record. */
void checker_on_round(struct world *world, const struct node *node, struct record *record,
                      struct slice blob);

/** Appends a round's new experts. */
void checker_add_experts(struct checker *checker, struct slice rows);

/** Under central trust, in the same places: what an agent has written down and paid; what it offers and
 * sends, which is exact, and the same for ever; what a round has released; what a restarted coordinator
 * takes for paid; and in the end that no journal holds an exact answer, or its digest. */
void central_on_answer(struct world *world, const struct known_answer *answer, struct slice blob);
void central_on_offer(struct world *world, struct known_answer *answer,
                      const struct message *message);
void central_on_chunk(struct world *world, struct known_answer *answer,
                      const struct message *message, struct slice payload);
void central_on_round(struct world *world, const struct node *node, const struct record *record,
                      struct slice blob);
void central_on_piece(struct world *world, const struct message *message, struct slice payload);
void central_on_recovery(struct world *world, const struct node *node);
void central_on_end(struct world *world);

/** Under distributed trust, in the same places. */
void masked_on_answer(struct world *world, struct known_answer *answer);
void masked_on_durable(struct world *world, const struct node *node, const struct record *record,
                       struct slice blob);
void masked_on_round(struct world *world, const struct record *record);
void masked_from_agent(struct world *world, size_t agent, const struct message *message,
                       struct slice payload);
void masked_from_coordinator(struct world *world, const struct message *message,
                             struct slice payload);

/** The noise that the curator has drawn for a round: from a copy of the source as it was before the
 * closing step. count: of noise. */
void central_noise(const struct world *world, const struct node *node, uint32_t round,
                   int64_t *noise, size_t count);

/** What an agent's journal says it has spent on a job, in millionths. */
uint64_t checker_spent(const struct checker *checker, size_t agent, const struct digest *job);

/** The sum of what the agents that a round lists have committed, at a place of answers of count numbers. */
uint64_t checker_committed_sum(struct world *world, const struct record *record, size_t count,
                               size_t place);

/** A collector's part has become durable. */
void collected_on_part(struct world *world, const struct node *node, struct slice body,
                       struct slice blob);

/** Reads the number at a place of an answer of count numbers; false if the bytes do not hold count
 * numbers. */
bool checker_value(uint64_t *value, struct slice bytes, size_t count, size_t place);

#endif
