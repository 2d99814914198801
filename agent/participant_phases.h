/* participant_phases.h - the states of the participant: of the job, and of the round in it. Each has the word that is shown of it and
 * the states that may follow. Inside the participant alone. */

#ifndef AGENT_PARTICIPANT_PHASES_H
#define AGENT_PARTICIPANT_PHASES_H

#include "protocol/machine.h"

/* The job. From every state another job's WELCOME leads to NONE and on to FETCHING.
 *
 *   NONE -> FETCHING -> LOADING -> READY -> OVER     WAITING -> LOADING   a person's yes
 *              |         |    ^      |               REFUSED -> LOADING   a person's later yes
 *              |         v    |      v               UNFIT -> as FETCHING, when the table is looked for again
 *              +------> UNFIT +   REFUSED            UNFIT, REFUSED -> OVER   the last release
 *              +------> WAITING, REFUSED             WAITING, READY -> REFUSED   a person's no
 *                                                      WAITING -> OVER   the last release
 *   FETCHING, WAITING, UNFIT, REFUSED -> NONE   the coordinator offers it no more */
/* clang-format off */
#define JOB_STATES(STATE) \
    STATE(JOB_NONE, "no job", NEXT(JOB_NONE) | NEXT(JOB_FETCHING)) /* no job known */ \
    STATE(JOB_FETCHING, "fetching the job", /* its text is on the way */ \
          NEXT(JOB_NONE) | NEXT(JOB_LOADING) | NEXT(JOB_WAITING) | NEXT(JOB_UNFIT) | NEXT(JOB_REFUSED)) \
    STATE(JOB_LOADING, "reading the records", /* a worker reads the records */ \
          NEXT(JOB_NONE) | NEXT(JOB_UNFIT) | NEXT(JOB_READY)) \
    STATE(JOB_WAITING, "waiting for a person", /* for a person: not ready, which is no secret */ \
          NEXT(JOB_NONE) | NEXT(JOB_LOADING) | NEXT(JOB_REFUSED) | NEXT(JOB_OVER)) \
    STATE(JOB_UNFIT, "unfit", /* the text is no job, or the records' file is gone: not ready */ \
          NEXT(JOB_NONE) | NEXT(JOB_LOADING) | NEXT(JOB_WAITING) | NEXT(JOB_REFUSED) | NEXT(JOB_OVER)) \
    STATE(JOB_REFUSED, "refused", /* policy or dictionary forbid it: every invitation is declined */ \
          NEXT(JOB_NONE) | NEXT(JOB_LOADING) | NEXT(JOB_REFUSED) | NEXT(JOB_OVER)) \
    STATE(JOB_READY, "ready", NEXT(JOB_NONE) | NEXT(JOB_REFUSED) | NEXT(JOB_OVER)) \
    STATE(JOB_OVER, "over", NEXT(JOB_NONE))
/* clang-format on */
enum job_phase { JOB_STATES(STATE_NAME) JOB_PHASE_COUNT };

/* The round, of a job that is READY; otherwise IDLE. To IDLE leads whatever ends a round (a release, a later
 * invitation, a person's no, an edited policy), but not while an answer is COMMITTING.
 *
 *   IDLE -> FETCHING -> KEYING -> KEYED -> WORKING -> COMMITTING -> WAITING -> OFFERED -> SIGNING -> SIGNED
 *     |        |                    |       |    |                     ^
 *     |        v                    v       v    +--- paid before -----+   OFFERED -> SIGNED   where the list was noted before
 *     +---> DECLINED <--------------+-------+                          |
 *     +-------- answered before ---------------------------------------+   and from IDLE on, where nothing is to be fetched
 *
 * KEYING, KEYED, SIGNING and SIGNED are of masked rounds alone. KEYING is left out where the keys are durable already. */
/* clang-format off */
#define ROUND_STATES(STATE) \
    STATE(ROUND_IDLE, "none", \
          NEXT(ROUND_IDLE) | NEXT(ROUND_FETCHING) | NEXT(ROUND_WORKING) | NEXT(ROUND_KEYING) | \
          NEXT(ROUND_KEYED) | NEXT(ROUND_WAITING) | NEXT(ROUND_DECLINED)) \
    STATE(ROUND_FETCHING, "fetching", /* the experts to judge are on the way */ \
          NEXT(ROUND_IDLE) | NEXT(ROUND_KEYING) | NEXT(ROUND_KEYED) | NEXT(ROUND_WORKING) | \
          NEXT(ROUND_DECLINED)) \
    STATE(ROUND_KEYING, "keying", NEXT(ROUND_KEYED)) /* masked: keys are on their way to the journal */ \
    STATE(ROUND_KEYED, "keyed", /* masked: keys are sent, and the roster is waited for */ \
          NEXT(ROUND_IDLE) | NEXT(ROUND_WORKING) | NEXT(ROUND_DECLINED)) \
    STATE(ROUND_WORKING, "working", /* a worker computes the exact answer */ \
          NEXT(ROUND_IDLE) | NEXT(ROUND_COMMITTING) | NEXT(ROUND_WAITING) | NEXT(ROUND_DECLINED)) \
    STATE(ROUND_COMMITTING, "committing", /* charge and noisy answer are on their way to the journal */ \
          NEXT(ROUND_WAITING)) \
    STATE(ROUND_WAITING, "waiting", NEXT(ROUND_IDLE) | NEXT(ROUND_OFFERED)) /* durable; leaves at its slot */ \
    STATE(ROUND_OFFERED, "offered", /* offered; pieces are sent on demand until the round is closed */ \
          NEXT(ROUND_IDLE) | NEXT(ROUND_SIGNING) | NEXT(ROUND_SIGNED)) \
    STATE(ROUND_SIGNING, "signing", /* masked: the list of survivors is on its way to the journal */ \
          NEXT(ROUND_SIGNED)) \
    STATE(ROUND_SIGNED, "signed", NEXT(ROUND_IDLE)) /* masked: that list was signed, and no other one will be */ \
    STATE(ROUND_DECLINED, "declined", NEXT(ROUND_IDLE))
/* clang-format on */
enum round_phase { ROUND_STATES(STATE_NAME) ROUND_PHASE_COUNT };

#endif
