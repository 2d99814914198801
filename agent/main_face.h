/* main_face.h - what the agent shows on its own machine: the page, the metrics and the status of settings key `http`. */

#ifndef AGENT_MAIN_FACE_H
#define AGENT_MAIN_FACE_H

#include "agent/main.h"
#include "agent/main_approve.h"
#include "agent/participant.h"
#include "agent/spending.h"
#include "crypto/random.h"
#include "io/driver.h"
#include "io/journal_watch.h"
#include "page/page_host.h"

/* Who may decide at the agent's page. Every account of a machine reaches its loopback, so a person proves that
 * the state folder is theirs: `hedgerow-agent page` leaves the digest of a ticket there, and the ticket, once, opens a session.
 * The session's secret is in the page alone: a cookie would go to every port of 127.0.0.1, those of other accounts too. */
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

enum { FACE_ANSWERS = 200 }; /* that the page lists, the latest ones */

struct face_answer {
    int64_t wall_ms;
    struct digest job;
    uint32_t round;
    char task[24];
    struct charge charge;
    uint64_t used_micro; /* of the policy's epsilon for all time, by this answer */
    uint64_t bytes;
};

/* Starts zeroed. */
struct face {
    const struct site *site;
    struct participant *participant; /* NULL: it starts again */
    struct journal_watch journal;
    struct page_host host;
    int64_t started_ms;
    uint64_t answer_count;
    struct face_answer answer[FACE_ANSWERS]; /* a ring: number i is at i modulo FACE_ANSWERS */
    uint64_t used_micro;                     /* of that epsilon, so far */
    struct spending spending;
    struct page_session session;
    struct desk *desk; /* NULL: nothing listens */
    bool desk_failed;  /* a job could not be noted: what it shows would not be whole */
};

/** Begins to listen where the settings say so, and puts itself into the driver's options. log: told the address. Fails like
 * watch_open. */
MUST_USE enum status site_face_open(struct face *face, const struct site *site,
                                    const struct log *log, struct driver_options *driver,
                                    struct why *why);
void site_face_close(struct face *face);

/** Returns the site's own page's figures as JSON, malloc'd; NULL without memory, or where the decisions cannot be read. */
char *site_face_json(void *self, unsigned *code);

/** Answer what the page sends; see http.h. value: of the ticket; of session, digest, decision, runs before and words. */
char *site_face_open_session(void *self, const char *const value[static HTTP_GIVEN_MAX],
                             unsigned *code);
char *site_face_decide(void *self, const char *const value[static HTTP_GIVEN_MAX], unsigned *code);

/** A machine was made on this journal, which it has not read yet; or is about to be unmade. */
void site_face_begin(struct face *face, struct participant *participant, struct journal *journal);
void site_face_pause(struct face *face);

#endif
