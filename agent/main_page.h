/* main_page.h - who may decide at the agent's page. Every account of a machine reaches its loopback, so a person proves that
 * the state folder is theirs: `hedgerow-agent page` leaves the digest of a ticket there, and the ticket, once, opens a session.
 * The session's secret is in the page alone: a cookie would go to every port of 127.0.0.1, those of other accounts too. */

#ifndef AGENT_MAIN_PAGE_H
#define AGENT_MAIN_PAGE_H

#include "agent/main.h"
#include "crypto/random.h"

enum {
    PAGE_SECRET_BYTES = 32,
    PAGE_SECRET_DIGITS = 2 * PAGE_SECRET_BYTES,
    PAGE_TICKET_MS = 10 * 60 * 1000,  /* how long a ticket is good */
    PAGE_SESSION_MS = 60 * 60 * 1000, /* and a session */
};

/* The one session of a running agent. Starts zeroed. */
struct page_session {
    struct random_source *random; /* owned; never a seeded one */
    struct digest secret;         /* of its digits */
    int64_t until_ms;             /* of the monotonic clock; 0: there is none */
};

/** Says where the page is, for `hedgerow-agent page`, and drops a ticket that was made before: somebody else may have listened
 * at the port then, and have it. Fails with STATUS_IO, STATUS_NO_MEMORY. */
MUST_USE enum status page_begin(struct page_session *session, const struct site *site,
                                const char *address, struct why *why);

/** Takes back what page_begin said, and ends the session. */
void page_end(struct page_session *session, const struct site *site);

/** Opens a session for a ticket, which is good once, and ends the one before. secret: out, what proves it, as digits.
 * Returns false where the ticket is none, or too old. */
bool page_open(struct page_session *session, const struct site *site, const char *ticket,
               char secret[static PAGE_SECRET_DIGITS + 1]);

/** Returns whether this is the open session's secret. given: may be NULL. */
bool page_is_open(const struct page_session *session, const char *given);

#endif
