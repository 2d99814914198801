/* main_balance.h - what `hedgerow-agent ledger` found in the journal, and how it tells it. */

#ifndef AGENT_MAIN_BALANCE_H
#define AGENT_MAIN_BALANCE_H

#include "account/event.h"
#include "agent/policy.h"
#include "dp/digest_table.h"
#include "dp/ledger.h"
#include "protocol/message.h"

#include <jansson.h>
#include <stddef.h>

struct known_text {
    char name[JOB_NAME_BYTES]; /* of the text's job; "" when the journal has dropped it */
};

/* Starts zeroed; ledger_found_free frees what it owns. */
struct ledger_found {
    const struct policy *policy;
    struct ledger *ledger;       /* owned */
    struct digest_table job;     /* that the journal names */
    size_t *job_text;            /* (job.capacity) which text each of them has, owned */
    struct digest_table text;    /* by digest */
    struct known_text *known;    /* (text.capacity), owned */
    struct privacy_event *event; /* (event_count) each charge that its pass had to pay for, owned */
    size_t event_count;
    struct charge latest; /* the charge before */
    size_t answer_count;
};

void ledger_found_free(struct ledger_found *found);

/** Takes a job into what is known. text: of its record, or its blob; empty where an earlier job had the same or
 * where it was dropped. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status ledger_found_job(struct ledger_found *found, const struct job_name *job,
                                      struct slice text);

/** Returns the job's name; "" when the journal does not have it. */
const char *ledger_found_job_name(const struct ledger_found *found, const struct digest *job);

/** Takes a charge into the list of events, in the journal's order. Ensures that no record saw more
 * of them than the list has. charge: in, valid. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status ledger_found_event(struct ledger_found *found, const struct charge *charge);

/** Writes an event for people: "pure epsilon 0.3", "gaussian sigma 4, 10 times, sampled 0.01". */
void event_text(char *text, size_t text_bytes, const struct charge *charge);

enum { SITE_PRICE_BYTES = 160 };

/** Writes "epsilon 1, delta 0"; of UINT64_MAX "epsilon without bound". */
void site_price_text(char text[static SITE_PRICE_BYTES], struct price price);

/** Returns an event as JSON, NULL without memory. */
json_t *event_json(const struct charge *charge);

/** Prints what every allowance has left, or puts it into *root, which is NULL without memory. */
void balance_print(const struct ledger_found *found);
void balance_json(json_t **root, const struct ledger_found *found);

#endif
