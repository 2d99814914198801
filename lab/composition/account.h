/* account.h - the one question: what do these events cost together? Asks every accountant and keeps
 * the best. */

#ifndef COMPOSITION_ACCOUNT_H
#define COMPOSITION_ACCOUNT_H

#include "account/event.h"
#include "lab/composition/pld.h"

/* In the order of the fields in the answer of `hedgerow plan compose`. */
enum accountant {
    ACCOUNTANT_BASIC,
    ACCOUNTANT_ADVANCED,
    ACCOUNTANT_OPTIMAL,
    ACCOUNTANT_ZCDP,
    ACCOUNTANT_RENYI,
    ACCOUNTANT_PLD
};

enum { ACCOUNTANT_COUNT = ACCOUNTANT_PLD + 1 };

/* Each accountant's upper bound (NAN where it does not cover some event, INFINITY where it has none),
 * the least of them, the accountant that gave it, and a lower bound on the truth: low <= truth <= high = bound[best];
 * best says nothing where high is INFINITY. PLD is not asked about lists of 10^6 nats and more. */
struct account {
    double bound[ACCOUNTANT_COUNT];
    enum accountant best;
    double low;
    double high;
};

/** Returns "basic", "advanced", "optimal", "zcdp", "renyi", "pld"; NULL beyond. */
const char *accountant_name(enum accountant accountant);

/**
 * Checks each event by itself, and that all speak of the same neighbours.
 *
 * Fails with STATUS_INVALID; why says which event by its number, counted from 1, and the field.
 */
MUST_USE enum status account_check(const struct privacy_event *events, size_t count,
                                   struct why *why);

/**
 * Bounds the epsilon of all events together at a delta, or the delta at an epsilon.
 *
 * events    in  (count), count >= 1
 * question  in  0 <= delta < 1; epsilon >= 0, finite
 *
 * Fails with STATUS_INVALID (as account_check; delta or epsilon out of range), STATUS_NO_MEMORY.
 * Privacy: high holds for events chosen one after another, each after seeing what the ones before
 * gave out, as long as the list itself was fixed beforehand.
 */
MUST_USE enum status account_ask(struct account *out, const struct privacy_event *events,
                                 size_t count, struct composition_question question,
                                 struct why *why);

#endif
