/* Statements in, answers out: what the server performs. How it is reached, and fails, is server_connection.c's. */

#include "sim/server_private.h"

#include "base/check.h"
#include "database/lease.h"
#include "sim/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_AGO_MS = -1 };

/* Answers */

struct database_value server_copy_of(struct database_value value)
{
    if (!value.is_number && value.bytes.data != NULL) {
        uint8_t *copy = malloc(value.bytes.size + 1);
        if (copy == NULL) {
            abort();
        }
        memcpy(copy, value.bytes.data, value.bytes.size);
        value.bytes.data = copy;
    }
    return value;
}

void server_drop(struct database_value *value)
{
    free((void *)(uintptr_t)value->bytes.data);
    value->bytes.data = NULL;
}

struct database_value server_number(int64_t value)
{
    return (struct database_value){.number = value, .is_number = true};
}

struct database_value server_bytes(const void *data, size_t size)
{
    return (struct database_value){.bytes = {data, size}};
}

static struct database_value text(const char *words)
{
    return server_bytes(words, strlen(words));
}

void server_add_row(struct pg_result *answer, const struct database_value *cell, size_t count)
{
    answer->cell = realloc(answer->cell, (answer->count + 1) * sizeof *answer->cell);
    if (answer->cell == NULL) {
        abort();
    }
    memset(answer->cell[answer->count], 0, sizeof answer->cell[0]);
    for (size_t i = 0; i < count; i++) {
        answer->cell[answer->count][i] = server_copy_of(cell[i]);
    }
    answer->count++;
}

void server_add_number(struct pg_result *answer, int64_t value)
{
    const struct database_value cell = server_number(value);
    server_add_row(answer, &cell, 1);
}

size_t database_rows(const struct pg_result *answer)
{
    return answer->count;
}

int64_t database_number(const struct pg_result *answer, size_t row, unsigned field)
{
    return row < answer->count ? answer->cell[row][field].number : 0;
}

struct slice database_bytes(const struct pg_result *answer, size_t row, unsigned field)
{
    return row < answer->count ? answer->cell[row][field].bytes : (struct slice){NULL, 0};
}

void database_answer_free(struct pg_result *answer)
{
    for (size_t i = 0; answer != NULL && i < answer->count; i++) {
        for (size_t j = 0; j < CELLS_MAX; j++) {
            server_drop(&answer->cell[i][j]);
        }
    }
    if (answer != NULL) {
        free(answer->cell);
        free(answer);
    }
}

/* Statements: each returns whether the server performed it. */

static bool say_durable(UNUSED const struct question *question, struct pg_result *answer)
{
    server_add_number(answer, 1);
    return true;
}

static bool make_tables(const struct question *question, UNUSED struct pg_result *answer)
{
    if (strstr(question->statement, "hedgerow_standing") != NULL) {
        server_make_parts(question->server);
    }
    return true;
}

static bool tell_begun(const struct question *question, struct pg_result *answer)
{
    server_add_number(answer, question->server->begun ? 1 : 0);
    return true;
}

static void write_text(char out[SERVER_TEXT_BYTES], struct slice words)
{
    (void)snprintf(out, SERVER_TEXT_BYTES, "%.*s", (int)words.size, (const char *)words.data);
}

static bool make_lease(const struct question *question, UNUSED struct pg_result *answer)
{
    struct server *server = question->server;
    if (!server->begun) {
        server->begun = true;
        server->until_ms = LONG_AGO_MS;
        write_text(server->kind, question->value[0].bytes);
        server->version = question->value[1].number;
    }
    return true;
}

static bool tell_kind(const struct question *question, struct pg_result *answer)
{
    const struct database_value cell[] = {text(question->server->kind),
                                          server_number(question->server->version)};
    server_add_row(answer, cell, 2);
    return true;
}

static bool tell_holder(const struct question *question, struct pg_result *answer)
{
    const struct database_value cell = text(question->server->holder);
    server_add_row(answer, &cell, 1);
    return true;
}

static bool take_lease(const struct question *question, struct pg_result *answer)
{
    struct server *server = question->server;
    const bool again =
        question->world->plan.planted == PLANTED_READ_AGAIN && server->leader == question->asker;
    if (server->until_ms < question->world->now_ms) {
        server->term += again ? 0 : 1;
        question->world->tally.terms++;
        question->world->tally.takeovers +=
            server->leader != NULL && server->leader != question->asker;
        server->until_ms = question->world->now_ms + LEASE_MS;
        server->leader = question->answered ? question->asker : NULL;
        if (question->answered) { /* also one that finds the job over, and ends at once */
            server->led_ms = question->world->now_ms;
        }
        write_text(server->holder, question->value[0].bytes);
        server_add_number(answer, server->term);
    }
    return true;
}

/* Whether a statement's writer holds the term. It has to ask that itself. */
bool server_is_held(const struct question *question)
{
    return strstr(question->statement, "WHERE term = $1") == NULL ||
           question->world->plan.planted == PLANTED_NO_FENCE ||
           question->value[0].number == question->server->term;
}

static bool renew(const struct question *question, struct pg_result *answer)
{
    if (question->value[0].number == question->server->term) {
        question->server->until_ms = question->world->now_ms + LEASE_MS;
        server_add_number(answer, question->server->term);
    }
    return true;
}

static bool give_back(const struct question *question, struct pg_result *answer)
{
    if (question->value[0].number == question->server->term) {
        question->server->until_ms = LONG_AGO_MS;
        server_add_number(answer, question->server->term);
    }
    return true;
}

static bool tell_end(const struct question *question, struct pg_result *answer)
{
    const struct server *server = question->server;
    const size_t count = server->journal.count;
    if (count > 0) {
        const struct database_value cell[] = {
            server_number((int64_t)count),
            server_bytes(server->row[count - 1].chain.byte, DIGEST_BYTES)};
        server_add_row(answer, cell, 2);
    }
    return true;
}

/* The primary key: no sequence twice. */
static bool add_record(const struct question *question, struct pg_result *answer)
{
    struct server *server = question->server;
    const struct database_value *value = question->value;
    uint64_t sequence = 0;
    if (!server_is_held(question)) {
        question->world->tally.writes_fenced++;
        server_add_number(answer, 0);
        return true;
    }
    if (value[1].number != (int64_t)server->journal.count + 1) {
        world_fail(question->world, "record %lld is written where there are %zu",
                   (long long)value[1].number, server->journal.count);
        return false;
    }
    server->row = realloc(server->row, (server->journal.count + 1) * sizeof *server->row);
    if (server->row == NULL || value[4].bytes.size != DIGEST_BYTES ||
        value[5].bytes.size != DIGEST_BYTES ||
        memory_journal_append(&server->journal, &sequence, value[2].bytes, value[6].bytes) !=
            STATUS_OK) {
        abort();
    }
    memcpy(server->row[sequence - 1].digest.byte, value[4].bytes.data, DIGEST_BYTES);
    memcpy(server->row[sequence - 1].chain.byte, value[5].bytes.data, DIGEST_BYTES);
    checker_on_durable(question->world, question->asker,
                       memory_journal_body(&server->journal, sequence),
                       memory_journal_blob(&server->journal, sequence));
    checker_on_term(question->world, value[0].number, server->term);
    server_add_number(answer, 1);
    return true;
}

static bool forget_blob(const struct question *question, struct pg_result *answer)
{
    const bool held = server_is_held(question);
    if (held && memory_journal_forget(&question->server->journal,
                                      (uint64_t)question->value[1].number) != STATUS_OK) {
        abort();
    }
    if (held) {
        checker_on_term(question->world, question->value[0].number, question->server->term);
    }
    server_add_number(answer, held ? 1 : 0);
    return true;
}

static bool tell_records(const struct question *question, struct pg_result *answer)
{
    const struct server *server = question->server;
    for (size_t i = (size_t)question->value[0].number;
         i < server->journal.count && answer->count < (size_t)question->value[1].number; i++) {
        const struct memory_record *record = &server->journal.record[i];
        const struct database_value cell[CELLS_MAX] = {
            server_number((int64_t)i + 1), server_bytes(record->body, record->body_size),
            server_number((int64_t)record->blob_size),
            server_bytes(server->row[i].digest.byte, DIGEST_BYTES),
            server_bytes(server->row[i].chain.byte, DIGEST_BYTES)};
        server_add_row(answer, cell, CELLS_MAX);
    }
    return true;
}

static bool tell_blob(const struct question *question, struct pg_result *answer)
{
    const struct slice blob =
        memory_journal_blob(&question->server->journal, (uint64_t)question->value[0].number);
    if (blob.size > 0) {
        const struct database_value cell = {.bytes = blob};
        server_add_row(answer, &cell, 1);
    }
    return true;
}

/* The first whose words are in a statement. */
static const struct server_statement known[] = {
    {"SELECT (current_setting(", say_durable, false, 8},
    {"DO $$ BEGIN", make_tables, true, 8},
    {"attrelid = to_regclass('hedgerow_standing')", server_tell_parts_there, false, 8},
    {"SELECT (to_regclass('hedgerow_lease')", tell_begun, false, 8},
    {"INSERT INTO hedgerow_standing", server_list_collectors, true, 8},
    {"UPDATE hedgerow_standing", server_set_standing, true, 32},
    {"SELECT name, greatest(0", server_tell_standings, false, 64},
    {"INSERT INTO hedgerow_partial", server_add_part, true, 1},
    {"SELECT p.collector", server_tell_parts, false, 64},
    {"SELECT body, blob, digest", server_tell_part, false, 8},
    {"DELETE FROM hedgerow_partial", server_drop_parts, true, 8},
    {"INSERT INTO hedgerow_lease", make_lease, true, 8},
    {"INSERT INTO hedgerow_record", add_record, true, 1},
    {"DELETE FROM hedgerow_blob", forget_blob, true, 1},
    {"SET term = term + 1", take_lease, true, 8},
    {"SET until = '-infinity'", give_back, true, 8},
    {"SET until = clock_timestamp()", renew, true, 8},
    {"SELECT kind, version", tell_kind, false, 8},
    {"SELECT holder", tell_holder, false, 8},
    {"SELECT sequence, chain", tell_end, false, 8},
    {"SELECT sequence, body", tell_records, false, 8},
    {"SELECT bytes FROM hedgerow_blob", tell_blob, false, 8}};

const struct server_statement *server_statement_of(const char *statement)
{
    size_t which = 0;
    while (which < sizeof known / sizeof known[0] &&
           strstr(statement, known[which].words) == NULL) {
        which++;
    }
    CHECK(which < sizeof known / sizeof known[0]); /* a statement that this server does not know:
                                                    * add it here */
    return &known[which];
}
