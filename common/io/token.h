/* token.h - the file that a coordinator's administrator hands to a site, or to an operator, so that it can enrol:
 * everything needed to dial in, and a temporary secret key that admits one enrolment message. */

#ifndef IO_TOKEN_H
#define IO_TOKEN_H

#include "base/status.h"
#include "base/why.h"
#include "crypto/key.h"
#include "io/roster.h"

#include <stdbool.h>
#include <stdint.h>

enum { ADDRESS_BYTES = 256 };

struct token {
    char name[AGENT_NAME_MAX + 1];
    char address[ADDRESS_BYTES];   /* where the coordinator listens: tcp://host:port */
    struct digest coordinator_key; /* public */
    struct key_pair key;           /* temporary; only the secret half is in the file */
    int64_t until_s;               /* Unix time */
    bool operators;                /* it enrols to the operators' list, not to the agents' */
};

/** Writes a new file, 0600. Fails with STATUS_EXISTS or STATUS_IO. */
MUST_USE enum status token_write(const struct token *token, const char *path, struct why *why);

/** Reads a token file for one of the lists. Fails with STATUS_NOT_FOUND, STATUS_IO, STATUS_INVALID (also when others may
 * read it), STATUS_REFUSED (it is for the other list). */
MUST_USE enum status token_read(struct token *out, bool operators, const char *path,
                                struct why *why);

void token_wipe(struct token *token);

#endif
