/* probe.h - the two short conversations that are not a job: can I reach the coordinator, and
 * enrolment. */

#ifndef IO_PROBE_H
#define IO_PROBE_H

#include "base/status.h"
#include "base/why.h"
#include "io/endpoint.h"
#include "io/token.h"

/** Says HELLO (not ready, no job) until a WELCOME comes. Fails with STATUS_AGAIN after timeout_ms,
 * why tells the likely cause and remedy; with STATUS_UNSUPPORTED when the versions differ; else as
 * endpoint_dial. */
MUST_USE enum status probe_reach(const struct endpoint_options *options, int timeout_ms,
                                 struct why *why);

/** Agent: enrols own's public key under a one-time token, then proves that it is admitted. When the
 * token was already spent for this very key (a lost reply) that is success too. Fails like
 * probe_reach. */
MUST_USE enum status probe_enrol(const struct token *token, const struct key_pair *own,
                                 const struct digest *signing_key, const struct log *log,
                                 int timeout_ms, struct why *why);

#endif
