/* enrolment.h - what a coordinator does under one-time tokens: a site's own key takes a token's place on the
 * allow-list. While a job runs the driver does so beside it; enrolment_run does nothing else. */

#ifndef IO_ENROLMENT_H
#define IO_ENROLMENT_H

#include "io/endpoint.h"
#include "io/log_sink.h"
#include "io/roster.h"
#include "protocol/message.h"

/* The allow-list that enrolments change. */
struct enrolment_list {
    const char *path;  /* NULL: nobody enrols */
    const char *other; /* the other role's list, whose keys are refused; NULL: there is none */
};

/** Puts a key into the place of the token under which it came. Returns whether it did. Logged. */
bool enrolment_spend(struct log_rate *rate, const struct log *log,
                     const struct enrolment_list *list, const struct endpoint_message *from,
                     const struct digest *key, const struct digest *signing_key);

/** Answers a message that came under a token. Only ENROL is heard; the list then has the site's key. Returns whether the list
 * has changed. Logged. */
bool enrolment_take(struct endpoint *endpoint, struct log_rate *rate, const struct log *log,
                    const struct enrolment_list *list, const struct endpoint_message *from);

struct enrolment_options {
    struct endpoint *endpoint;
    const struct log *log;
    struct enrolment_list list;

    /** Is told once that tokens are waited for, and that signals are taken. */
    void (*begin)(void *self);
    /** Is told of each name whose token is spent (enrolled) or has expired. */
    void (*notify)(void *self, const char *name, bool enrolled);
    /** Hears what a site that is let in says beside HELLO's answer; returns whether `answer` is to be sent to
     * it. May be NULL. */
    bool (*hear)(void *self, const struct peer *site, const struct message *message,
                 struct slice payload, struct message *answer);
    void *self;
};

/**
 * Stays until every token of the list is spent or has expired, or until SIGTERM or SIGINT comes. The list is
 * followed: a token that is added meanwhile is waited for as well.
 *
 * exit_code  out  0; 130 after SIGINT
 *
 * Fails with STATUS_NOT_FOUND (no token waits), STATUS_IO, STATUS_NO_MEMORY.
 */
MUST_USE enum status enrolment_run(const struct enrolment_options *options, int *exit_code,
                                   struct why *why);

/* Which one-time tokens of a list are waited for, and what has become of those that were. */

struct enrolment_wait {
    struct roster told;    /* the tokens that are waited for, in the order of their names */
    int64_t first_until_s; /* the first of them expires then; INT64_MAX without any */
};

/** Returns whether a token that is waited for has expired since: the list need not have changed. */
bool enrolment_wait_is_due(const struct enrolment_wait *wait, int64_t now_s);

/**
 * Tells of the tokens that are no longer waited for, each once, and waits for those of the list.
 *
 * roster  in-out  the list; its entries are put in order
 * notify  in      is told of each such name, and whether the list has a key of its own for it
 *
 * Cost: O(n log n) comparisons of the list's n entries.
 */
void enrolment_wait_account(struct enrolment_wait *wait, struct roster *roster, int64_t now_s,
                            void (*notify)(void *self, const char *name, bool enrolled),
                            void *self);

#endif
