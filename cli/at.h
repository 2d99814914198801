/* at.h - an operator's command and the coordinator that it works at: its settings, its key, and the line to the desk. */

#ifndef CLI_AT_H
#define CLI_AT_H

#include "crypto/key.h"
#include "desk/desk.h"
#include "io/endpoint.h"

enum { AT_PATH_BYTES = 1024, AT_NAME_MAX = 32 };

/* What ~/.config/hedgerow/NAME.yml says; XDG_CONFIG_HOME takes the place of ~/.config. */
struct at {
    char name[AT_NAME_MAX + 1];
    char folder[AT_PATH_BYTES]; /* .../hedgerow */
    char path[AT_PATH_BYTES];   /* of the settings */
    char address[256];          /* of the desk */
    char key_path[AT_PATH_BYTES];
    struct digest coordinator_key;
    struct key_pair key;
    struct endpoint *endpoint; /* NULL before the first question */
    uint64_t number;           /* of the latest question */
};

/** Answers whether a coordinator can have that name. Fails with STATUS_INVALID: the command line is wrong. */
MUST_USE enum status at_check_name(const char *name, struct why *why);

/** Finds the folder and the settings' path of a checked name. Fails with STATUS_INVALID (no home). */
MUST_USE enum status at_find(struct at *at, const char *name, struct why *why);

/** Reads settings and key. It refuses settings that others can change, and a key that others can read. Fails
 * with STATUS_NOT_FOUND (not enrolled), STATUS_INVALID, STATUS_IO. */
MUST_USE enum status at_read(struct at *at, struct why *why);

/** Writes settings and, where there is none, a new key, to enrol with. Existing settings have to name the same coordinator.
 * Fails with STATUS_EXISTS, STATUS_IO, STATUS_NO_RANDOM. */
MUST_USE enum status at_prepare(struct at *at, const char *address,
                                const struct digest *coordinator_key, struct why *why);

void at_free(struct at *at);

/** Asks over the line, which is opened under `key` at the first question and kept: asks again while no answer comes, for
 * patience_ms. Returns the code that came with the answer, or EXIT_CODE_UNREACHABLE. */
enum exit_code at_ask(struct at *at, const struct key_pair *key, int patience_ms,
                      const struct ask *ask, struct slice text, struct desk_answer *answer,
                      struct why *why);

/** Closes the line, so that the next question may go under another key. */
void at_hang_up(struct at *at);

/** A struct desk_port's functions; self is a struct at. */
bool at_was_refused(void *self);
enum exit_code at_port_ask(void *self, const struct ask *ask, struct slice text,
                           struct desk_answer *answer, struct why *why);
enum status at_remember(void *self, const struct digest *text, struct digest *id, struct why *why);
void at_forget(void *self, const struct digest *text);

#endif
