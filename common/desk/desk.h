/* desk.h - the commands about a coordinator's queue: `hedgerow-coordinator` runs them on the queue's folder, and
 * `hedgerow --at NAME` through a coordinator's desk. They are written once: a port says how a question is answered. */

#ifndef DESK_DESK_H
#define DESK_DESK_H

#include "base/bytes.h"
#include "base/exit_code.h"
#include "base/status.h"
#include "base/why.h"
#include "protocol/ask.h"

#include <jansson.h>
#include <stdbool.h>

enum { DESK_RESULT_BYTES_MAX = 1 << 30, DESK_ID_BYTES_MAX = 200 };

/* A JSON text, or READ's piece of a file: malloc'd, owned. */
struct desk_answer {
    char *data;
    size_t size;
};

struct desk_port {
    void *self;
    const char *program; /* kept; as messages name the command: "hedgerow --at office" */
    unsigned look_ms;    /* how long to rest between two looks at a job */

    /** Asks and waits for the answer; ask->number is the port's to set. Returns an exit code: with EXIT_CODE_OK there
     * is an answer, else why says what was refused or failed. */
    enum exit_code (*ask)(void *self, const struct ask *ask, struct slice text,
                          struct desk_answer *answer, struct why *why);

    /** Answers whether the coordinator refused the key: no later answer is waited for then. NULL: it never does. */
    bool (*refused)(void *self);

    /** Writes the id of the submission of a text: the same one until it is forgotten, whatever dies in between. NULL:
     * submissions need none, for no answer can be lost. */
    enum status (*remember)(void *self, const struct digest *text, struct digest *id,
                            struct why *why);
    void (*forget)(void *self, const struct digest *text);
};

struct desk_request {
    const char *path; /* submit: the job's file */
    const char *out;  /* result: a folder that is new or empty */
    const char *job;  /* status, watch, result, cancel: a number as it was typed */
    const char *id;   /* submit: what the caller calls this submission; NULL: nothing */
    bool wait;        /* submit: until the job is over */
    bool stream;      /* submit: the same, with a line a round */
    bool json;
};

/* The commands. They print to standard output; why says what was refused or failed, or nothing. submit with an id that the
 * queue has from the same submitter adds no job: it tells the number of the first, if the text is the same. watch and submit that
 * waits return EXIT_CODE_JOB_FAILED for a job that failed or was cancelled. Once a question of theirs was answered they wait
 * for later answers, and return EXIT_CODE_UNREACHABLE when none has come for 600 looks. */
enum exit_code desk_submit(const struct desk_port *port, const struct desk_request *request,
                           struct why *why);
enum exit_code desk_jobs(const struct desk_port *port, const struct desk_request *request,
                         struct why *why);
enum exit_code desk_status(const struct desk_port *port, const struct desk_request *request,
                           struct why *why);
enum exit_code desk_watch(const struct desk_port *port, const struct desk_request *request,
                          struct why *why);
enum exit_code desk_result(const struct desk_port *port, const struct desk_request *request,
                           struct why *why);
enum exit_code desk_cancel(const struct desk_port *port, const struct desk_request *request,
                           struct why *why);
enum exit_code desk_agents(const struct desk_port *port, const struct desk_request *request,
                           struct why *why);

#endif
