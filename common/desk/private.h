/* private.h - what the files of this room share. */

#ifndef DESK_PRIVATE_H
#define DESK_PRIVATE_H

#include "desk/desk.h"

/** Asks a question whose answer is a JSON object; *out is the caller's. Fails as the port does, and with
 * EXIT_CODE_INTERNAL where the answer is none. */
enum exit_code desk_ask(json_t **out, const struct desk_port *port, const struct ask *ask,
                        struct slice text, struct why *why);

/** Asks about the job that the request names. */
enum exit_code desk_ask_job(json_t **out, const struct desk_port *port, enum ask_verb verb,
                            const struct desk_request *request, struct why *why);

/** Reads a job's number as it was typed. Fails with STATUS_INVALID. */
MUST_USE enum status desk_number(uint32_t *number, const struct desk_port *port,
                                 const struct desk_request *request, struct why *why);

/** Whether a job has its end; whether it has begun, and cannot go on unless a person mends it. */
bool desk_is_filed(const json_t *job);
bool desk_is_aside(const json_t *job);

/** Looks at a job until it is filed, and prints what it came to. answered: a question was, before; rounds: they are shown, a
 * line each. Returns as desk_watch does. */
enum exit_code desk_follow(const struct desk_port *port, uint32_t number, bool answered,
                           bool rounds, bool json, struct why *why);

/** Prints an object: on several lines, or on one. Returns the exit code. */
enum exit_code desk_print(const json_t *object, bool one_line);

#endif
