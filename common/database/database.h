/* database.h - one connection to a PostgreSQL server, and questions with a time limit. A question is one statement, and so
 * one transaction: it is committed when its answer has come. */

#ifndef DATABASE_DATABASE_H
#define DATABASE_DATABASE_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct database;
struct pg_result; /* libpq's, an answer */

/** Whether a place for a journal is a database: it begins with postgresql:// or postgres://. */
bool database_is_named(const char *place);

/** Checks a URL before anything is opened. Fails with STATUS_INVALID: it is malformed, has a password, which does not belong into a
 * file of settings, or names a service, whose file decides where the server is. */
MUST_USE enum status database_check(const char *url, struct why *why);

/** Writes the URL's server and name, without anything else, for messages. */
void database_describe(char *out, size_t size, const char *url);

/** Returns whether the server has to show a certificate for its name: the URL says no sslmode, and a host or an address of it, or of
 * PGHOST and PGHOSTADDR where it has none, is none of this machine. */
bool database_needs_certificate(const char *url);

/**
 * Connects within some seconds. What database_needs_certificate says has to be, or nothing is sent.
 *
 * Fails with STATUS_INVALID (the URL), STATUS_AGAIN (no server answers, or it does not admit us: why repeats its words),
 * STATUS_NO_MEMORY.
 */
MUST_USE enum status database_open(struct database **out, const char *url, struct why *why);
void database_close(struct database *database);

/* A value for a statement: a number, or bytes; or null, where bytes.data is NULL and number is 0. */
struct database_value {
    struct slice bytes;
    int64_t number;
    bool is_number;
};

static inline struct database_value database_of_number(int64_t value)
{
    return (struct database_value){.number = value, .is_number = true};
}

static inline struct database_value database_of_bytes(struct slice value)
{
    return (struct database_value){.bytes = {value.data != NULL ? value.data : "", value.size}};
}

static inline struct database_value database_of_words(const char *words)
{
    return database_of_bytes((struct slice){words, strlen(words)});
}

/**
 * Performs a statement in a transaction of its own and waits for its answer, DATABASE_ANSWER_MS at most. A transaction
 * that the server took back because it met another one is tried again.
 *
 * answer  out     what it answered, in binary; the caller frees it; may be NULL
 * value   (count) for $1, $2, ...
 *
 * Fails with STATUS_IO when it is certain that nothing has changed: the server said so. Fails with STATUS_UNKNOWN_OUTCOME
 * otherwise: the answer did not come, and the server may still be at it. The connection is then of no more use.
 */
MUST_USE enum status database_ask(struct database *database, struct pg_result **answer,
                                  const char *statement, const struct database_value *value,
                                  size_t count, struct why *why);

size_t database_rows(const struct pg_result *answer);

/** Read a field; what is absent or has another size is 0, or an empty slice. The slice lives as long as the answer. */
int64_t database_number(const struct pg_result *answer, size_t row, unsigned field);
struct slice database_bytes(const struct pg_result *answer, size_t row, unsigned field);

/** Does nothing on NULL. */
void database_answer_free(struct pg_result *answer);

enum { DATABASE_VALUES_MAX = 9, DATABASE_CONNECT_MS = 5000, DATABASE_ANSWER_MS = 10000 };

#endif
