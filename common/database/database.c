/* libpq without blocking calls: a server that is stopped, or a network that swallows packets, shows nothing, so every wait
 * has an end of its own. An answer counts when the server is ready for the next question, which is after its commit. */

#include "database/database.h"

#include "base/check.h"
#include "io/clock.h"

#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 5, NUMBER_TEXT_BYTES = 24, LIMIT_BYTES = 1 << 29 };

struct database {
    PGconn *connection;
};

bool database_is_named(const char *place)
{
    return strncmp(place, "postgresql://", strlen("postgresql://")) == 0 ||
           strncmp(place, "postgres://", strlen("postgres://")) == 0;
}

/* libpq's messages are lines; a why is a sentence. One that waited in vain ends in a colon. */
static void set_words(struct why *why, const char *prefix, const char *words)
{
    char line[256];
    size_t used = 0;
    for (; *words != '\0' && used + 1 < sizeof line; words++) {
        const bool space = *words == '\n' || *words == '\t' || *words == ' ';
        if (!space) {
            line[used++] = *words;
        } else if (used > 0 && line[used - 1] != ' ') {
            line[used++] = ' ';
        }
    }
    while (used > 0 && line[used - 1] == ' ') {
        used--;
    }
    line[used] = '\0';
    why_set(why, "%s: %s%s", prefix, line,
            used > 0 && line[used - 1] == ':'
                ? " no answer in time; remedy: see whether the server runs and can be reached"
                : "");
}

static const char *option_of(const PQconninfoOption *option, const char *keyword)
{
    for (; option->keyword != NULL; option++) {
        if (strcmp(option->keyword, keyword) == 0) {
            return option->val;
        }
    }
    return NULL;
}

enum status database_check(const char *url, struct why *why)
{
    char *words = NULL;
    PQconninfoOption *option = PQconninfoParse(url, &words);
    enum status status = STATUS_OK;

    if (option == NULL) {
        set_words(why, "is no database's URL", words == NULL ? "no memory" : words);
        status = STATUS_INVALID;
    } else if (option_of(option, "password") != NULL) {
        status = why_refuse(
            why, "has a password; remedy: put it into a file that PGPASSFILE names, or let the "
                 "server admit this account by a certificate or as its peer");
    } else if (option_of(option, "service") != NULL) {
        status = why_refuse(
            why, "names a service of libpq's; remedy: write its host, port and name instead, as "
                 "what is written here decides whether the server must show a certificate");
    }
    PQconninfoFree(option);
    PQfreemem(words);
    return status;
}

/* What a connection is made of: the URL, then what libpq takes from the environment. */
struct target {
    PQconninfoOption *url;
    PQconninfoOption *rest;
};

static struct target target_of(const char *url)
{
    return (struct target){PQconninfoParse(url, NULL), PQconndefaults()};
}

static void target_free(struct target *target)
{
    PQconninfoFree(target->url);
    PQconninfoFree(target->rest);
}

static const char *target_option(const struct target *target, const char *keyword)
{
    const char *of_url = target->url == NULL ? NULL : option_of(target->url, keyword);
    return of_url != NULL || target->rest == NULL ? of_url : option_of(target->rest, keyword);
}

void database_describe(char *out, size_t size, const char *url)
{
    struct target target = target_of(url);
    const char *name = target.url == NULL ? NULL : option_of(target.url, "dbname");
    const char *host = target_option(&target, "host");
    host = host == NULL ? target_option(&target, "hostaddr") : host;
    (void)snprintf(out, size, "database %s at %s", name == NULL ? "(the default one)" : name,
                   host == NULL ? "this machine" : host);
    target_free(&target);
}

/* One of a list: a folder is a socket's; names and addresses of this machine need no certificate. */
static bool is_here(const char *host, size_t bytes)
{
    static const char *const here[] = {"", "localhost", "127.0.0.1", "::1"};
    bool found = bytes > 0 && (host[0] == '/' || host[0] == '@');
    for (size_t i = 0; !found && i < sizeof here / sizeof here[0]; i++) {
        found = strlen(here[i]) == bytes && memcmp(host, here[i], bytes) == 0;
    }
    return found;
}

/* hosts: a list with commas, or NULL. */
static bool are_here(const char *hosts)
{
    while (hosts != NULL) {
        const size_t bytes = strcspn(hosts, ",");
        if (!is_here(hosts, bytes)) {
            return false;
        }
        hosts = hosts[bytes] == ',' ? hosts + bytes + 1 : NULL;
    }
    return true;
}

bool database_needs_certificate(const char *url)
{
    struct target target = target_of(url);
    const bool is_said = target.url != NULL && option_of(target.url, "sslmode") != NULL;
    const bool needs = !is_said && !(are_here(target_option(&target, "host")) &&
                                     are_here(target_option(&target, "hostaddr")));
    target_free(&target);
    return needs;
}

/* Returns whether the socket is ready before the deadline. */
static bool await(const PGconn *connection, short events, int64_t deadline_ms)
{
    for (;;) {
        struct pollfd one = {.fd = PQsocket(connection), .events = events};
        const int64_t left_ms = deadline_ms - clock_now_ms();
        if (one.fd < 0 || left_ms <= 0) {
            return false;
        }
        if (poll(&one, 1, (int)left_ms) > 0) {
            return true;
        }
    }
}

static bool finish_connecting(PGconn *connection)
{
    const int64_t deadline_ms = clock_now_ms() + DATABASE_CONNECT_MS;
    PostgresPollingStatusType step = PGRES_POLLING_WRITING;

    while (PQstatus(connection) != CONNECTION_BAD && step != PGRES_POLLING_OK &&
           step != PGRES_POLLING_FAILED) {
        if (!await(connection, step == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline_ms)) {
            return false;
        }
        step = PQconnectPoll(connection);
    }
    return PQstatus(connection) == CONNECTION_OK && PQsetnonblocking(connection, 1) == 0;
}

static void ignore_notice(UNUSED void *self, UNUSED const PGresult *notice)
{
}

enum status database_open(struct database **out, const char *url, struct why *why)
{
    const char *const keyword[] = {"dbname", "application_name",
                                   database_needs_certificate(url) ? "sslmode" : NULL, NULL};
    const char *const value[] = {url, "hedgerow-coordinator", "verify-full", NULL};
    /* A statement whose asker is gone ends soon, and a transaction never stays open. */
    static const char manners[] =
        "SELECT set_config('client_connection_check_interval', '200ms', false),"
        " set_config('idle_in_transaction_session_timeout', '2s', false),"
        " set_config('statement_timeout', '8s', false)";
    char place[256];

    *out = NULL;
    enum status status = database_check(url, why);
    if (status != STATUS_OK) {
        return status;
    }
    struct database *database = calloc(1, sizeof *database);
    if (database == NULL ||
        (database->connection = PQconnectStartParams(keyword, value, 1)) == NULL) {
        why_set(why, "no memory for the database");
        free(database);
        return STATUS_NO_MEMORY;
    }
    (void)PQsetNoticeReceiver(database->connection, ignore_notice, NULL);
    if (!finish_connecting(database->connection)) {
        const char *words = PQerrorMessage(database->connection);
        database_describe(place, sizeof place, url);
        set_words(why, place, words[0] == '\0' ? "the server does not answer" : words);
        database_close(database);
        return STATUS_AGAIN;
    }
    status = database_ask(database, NULL, manners, NULL, 0, why);
    if (status != STATUS_OK) {
        database_close(database);
        return STATUS_AGAIN;
    }
    *out = database;
    return STATUS_OK;
}

void database_close(struct database *database)
{
    if (database != NULL) {
        PQfinish(database->connection);
        free(database);
    }
}

/* Waits until the whole question has left. */
static bool flush(PGconn *connection, int64_t deadline_ms)
{
    int left = PQflush(connection);
    while (left == 1) {
        struct pollfd one = {.fd = PQsocket(connection), .events = POLLIN | POLLOUT};
        const int64_t left_ms = deadline_ms - clock_now_ms();
        if (one.fd < 0 || left_ms <= 0 || poll(&one, 1, (int)left_ms) == 0) {
            return false;
        }
        if ((one.revents & POLLIN) != 0 && PQconsumeInput(connection) == 0) {
            return false;
        }
        left = PQflush(connection);
    }
    return left == 0;
}

/* Takes results until the server is ready for another question. An error that comes last counts: a commit may fail after its
 * statement has been answered. NULL when that did not come in time. */
static PGresult *take_results(PGconn *connection, int64_t deadline_ms)
{
    PGresult *kept = NULL;

    for (;;) {
        while (PQisBusy(connection) == 1) {
            if (!await(connection, POLLIN, deadline_ms) || PQconsumeInput(connection) == 0) {
                PQclear(kept);
                return NULL;
            }
        }
        PGresult *next = PQgetResult(connection);
        if (next == NULL) {
            return kept;
        }
        if (kept == NULL || PQresultStatus(kept) != PGRES_FATAL_ERROR) {
            PQclear(kept);
            kept = next;
        } else {
            PQclear(next);
        }
    }
}

static PGresult *ask_once(PGconn *connection, const char *statement,
                          const struct database_value *value, size_t count)
{
    const int64_t deadline_ms = clock_now_ms() + DATABASE_ANSWER_MS;
    char text[DATABASE_VALUES_MAX][NUMBER_TEXT_BYTES];
    const char *pointer[DATABASE_VALUES_MAX];
    int length[DATABASE_VALUES_MAX];
    int format[DATABASE_VALUES_MAX];

    CHECK(count <= DATABASE_VALUES_MAX);
    for (size_t i = 0; i < count; i++) {
        CHECK(value[i].bytes.size <= LIMIT_BYTES);
        (void)snprintf(text[i], NUMBER_TEXT_BYTES, "%lld", (long long)value[i].number);
        pointer[i] = value[i].is_number ? text[i] : value[i].bytes.data;
        length[i] = (int)value[i].bytes.size;
        format[i] = value[i].is_number ? 0 : 1;
    }
    if (PQsendQueryParams(connection, statement, (int)count, NULL, pointer, length, format, 1) !=
            1 ||
        !flush(connection, deadline_ms)) {
        return NULL;
    }
    return take_results(connection, deadline_ms);
}

/* Two transactions met, and the server took this one back. */
static bool may_try_again(const PGresult *result)
{
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return code != NULL && (strcmp(code, "40001") == 0 || strcmp(code, "40P01") == 0);
}

enum status database_ask(struct database *database, struct pg_result **answer,
                         const char *statement, const struct database_value *value, size_t count,
                         struct why *why)
{
    PGconn *connection = database->connection;
    PGresult *result = NULL;
    enum status status = STATUS_IO;

    for (size_t i = 0; i < count; i++) {
        if (value[i].bytes.size > LIMIT_BYTES) {
            return why_fail(why, STATUS_IO, "the database: a record of more than %d MiB",
                            LIMIT_BYTES >> 20);
        }
    }
    for (int i = 0; i < TRIES && status == STATUS_IO; i++) {
        PQclear(result);
        result = ask_once(connection, statement, value, count);
        const ExecStatusType said = PQresultStatus(result); /* of NULL: PGRES_FATAL_ERROR */
        if (said == PGRES_TUPLES_OK || said == PGRES_COMMAND_OK) {
            status = STATUS_OK;
        } else if (result == NULL || PQstatus(connection) != CONNECTION_OK ||
                   PQtransactionStatus(connection) != PQTRANS_IDLE) {
            status = STATUS_UNKNOWN_OUTCOME;
        } else if (!may_try_again(result)) {
            break;
        }
    }
    if (status != STATUS_OK) {
        const char *words =
            result == NULL ? PQerrorMessage(connection) : PQresultErrorMessage(result);
        set_words(why, "the database", words[0] == '\0' ? "no answer came" : words);
    }
    if (status == STATUS_OK && answer != NULL) {
        *answer = result;
    } else {
        PQclear(result);
    }
    return status;
}

size_t database_rows(const struct pg_result *answer)
{
    return (size_t)PQntuples(answer);
}

struct slice database_bytes(const struct pg_result *answer, size_t row, unsigned field)
{
    if (row >= database_rows(answer) || PQgetisnull(answer, (int)row, (int)field) != 0) {
        return (struct slice){NULL, 0};
    }
    return (struct slice){PQgetvalue(answer, (int)row, (int)field),
                          (size_t)PQgetlength(answer, (int)row, (int)field)};
}

int64_t database_number(const struct pg_result *answer, size_t row, unsigned field)
{
    const struct slice bytes = database_bytes(answer, row, field);
    uint64_t number = 0;
    for (size_t i = 0; bytes.size == sizeof number && i < bytes.size; i++) {
        number = number << 8 | ((const uint8_t *)bytes.data)[i];
    }
    return (int64_t)number;
}

void database_answer_free(struct pg_result *answer)
{
    PQclear(answer);
}
