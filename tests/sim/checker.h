/* checker.h - what must hold whatever happens, seen from outside: from what becomes durable and
 * from what leaves each program. Everything is computed again from the journals' bytes. */

#ifndef SIM_CHECKER_H
#define SIM_CHECKER_H

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
};

struct known_round {
    struct record record;    /* RECORD_ROUND, owned */
    struct artifact experts; /* after it */
    struct artifact input;   /* that invitations to it named; bytes 0 before or none */
    bool invited;
    bool released;
    struct message release; /* the first that left */
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
};

void checker_free(struct checker *checker);

/** A record has become durable, or was found in the journal at the beginning. */
void checker_on_durable(struct world *world, struct node *node, struct slice body,
                        struct slice blob);

/** A frame leaves a program. */
void checker_on_send(struct world *world, struct node *node, size_t to, struct slice control,
                     struct slice payload);

/** The run is over. */
void checker_on_end(struct world *world);

/** What an agent's journal says it has spent on a job, in millionths. */
uint64_t checker_spent(const struct checker *checker, size_t agent, const struct digest *job);

#endif
