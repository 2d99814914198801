/* Statements in, answers out. A question may be held up before it arrives or after it is answered, while the rest of the
 * world goes on; its answer may be lost; it may be lost itself; and it may be left at the server, to be begun when its asker
 * has long given up. */

#include "sim/server_private.h"

#include "base/check.h"
#include "database/journal_shared.h"
#include "database/lease.h"
#include "database/lease_keeper.h"
#include "io/clock.h"
#include "sim/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LATE_MS_MAX = 8000, SOON_MS_MAX = 100, LONG_AGO_MS = -1 };

struct database {
    struct node *asker;
    uint64_t restarts; /* of the server, when it was opened */
    bool broken;
};

struct lease_keeper {
    lease_turn *turn;
    void *self;
    int64_t due_ms;
};

/* The headers of libpq's room and of the clock know no world. */
static struct {
    struct world *world;
    struct node *node;
} here;

struct node *server_visit(struct world *world, struct node *node)
{
    struct node *before = here.node;
    here.world = world;
    here.node = node;
    return before;
}

int64_t clock_now_ms(void)
{
    return node_clock_ms(here.world, here.node);
}

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

/* The primary key: no sequence twice, whoever asks. */
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
static const struct {
    const char *words;
    bool (*perform)(const struct question *question, struct pg_result *answer);
    bool writes;
    unsigned
        seldom; /* one of so many chances for a fault is one: most of what is asked only asks who leads */
} known[] = {{"SELECT (current_setting(", say_durable, false, 8},
             {"DO $$ BEGIN", make_tables, true, 8},
             {" to_regclass('hedgerow_standing') IS NOT NULL)", server_tell_parts_there, false, 8},
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

static size_t known_of(const char *statement)
{
    size_t which = 0;
    while (which < sizeof known / sizeof known[0] &&
           strstr(statement, known[which].words) == NULL) {
        which++;
    }
    CHECK(which < sizeof known / sizeof known[0]); /* a statement that is new: teach it here */
    return which;
}

static struct pg_result *answer_new(void)
{
    struct pg_result *answer = calloc(1, sizeof *answer);
    if (answer == NULL) {
        abort();
    }
    return answer;
}

/* Connections */

static bool is_away(const struct world *world, const struct node *node)
{
    return node->killed || world->server.down_until_ms > world->now_ms ||
           node->database_cut_until_ms > world->now_ms;
}

enum status database_open(struct database **out, UNUSED const char *url, struct why *why)
{
    *out = NULL;
    if (is_away(here.world, here.node) ||
        world_chance(here.world, here.world->plan.statement / 8)) {
        why_set(why, "the server does not answer");
        return STATUS_AGAIN;
    }
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        abort();
    }
    **out = (struct database){.asker = here.node, .restarts = here.world->server.restarts};
    return STATUS_OK;
}

void database_close(struct database *database)
{
    free(database);
}

void database_describe(char *out, size_t size, UNUSED const char *url)
{
    (void)snprintf(out, size, "the server");
}

static void leave_behind(struct world *world, const struct question *question, size_t count)
{
    struct server *server = &world->server;
    if (server->late_count == SERVER_LATE_MAX) {
        return; /* it is lost */
    }
    struct late *late = &server->late[server->late_count++];
    *late = (struct late){
        .due_ms = world->now_ms + (int64_t)dice_below(&world->dice, dice_one_in(&world->dice, 2)
                                                                        ? LATE_MS_MAX
                                                                        : SOON_MS_MAX),
        .asker = question->asker,
        .before_step = question->asker->before_step,
        .statement = question->statement,
        .count = count,
    };
    for (size_t i = 0; i < count; i++) {
        late->value[i] = server_copy_of(question->value[i]);
    }
}

static unsigned rate_of(unsigned in_1000, size_t which)
{
    return in_1000 / known[which].seldom;
}

/* Who stands by would hold up those whom it matters to: it goes on first. */
static void hold_up(struct world *world, struct node *node, size_t which)
{
    if (!node->keeping && (world->server.leader == node || world_collects(world, node)) &&
        world_chance(world, rate_of(world->plan.held_up, which))) {
        world_hold(world, node);
    }
}

enum { FAULT_NONE, FAULT_REFUSED, FAULT_LOST, FAULT_ANSWER_LOST, FAULT_LATE, FAULTS };

static enum status lose(struct database *database, struct why *why)
{
    database->broken = true;
    why_set(why, "the connection is gone");
    return STATUS_UNKNOWN_OUTCOME;
}

enum status database_ask(struct database *database, struct pg_result **answer,
                         const char *statement, const struct database_value *value, size_t count,
                         struct why *why)
{
    struct world *world = here.world;
    struct node *node = database->asker;
    const size_t which = known_of(statement);
    struct question question = {world, &world->server, node, statement, value, true};

    hold_up(world, node, which);
    if (database->broken || database->restarts != world->server.restarts || is_away(world, node)) {
        return lose(database, why);
    }
    unsigned fault = FAULT_NONE;
    if (world_chance(world, rate_of(world->plan.statement, which))) {
        fault = 1 + (unsigned)dice_below(&world->dice, FAULTS - 1);
    }
    if (fault == FAULT_REFUSED && known[which].writes) {
        why_set(why, "the disk is full");
        world->tally.statements_refused++;
        return STATUS_IO;
    }
    if (fault == FAULT_LATE && known[which].writes) {
        leave_behind(world, &question, count);
    }
    if (fault == FAULT_LOST || fault == FAULT_LATE) {
        world->tally.statements_lost++;
        return lose(database, why);
    }
    struct pg_result *made = answer_new();
    question.answered = fault != FAULT_ANSWER_LOST;
    const bool performed = known[which].perform(&question, made);
    hold_up(world, node, which);
    const bool heard = performed && question.answered && !node->killed;
    if (heard && answer != NULL) {
        *answer = made;
    } else {
        database_answer_free(made);
    }
    if (!heard && performed) {
        world->tally.answers_lost++;
        return lose(database, why);
    }
    if (!performed) {
        why_set(why, "duplicate key");
    }
    return performed ? STATUS_OK : STATUS_IO;
}

/* What happens by itself */

void server_init(struct server *server)
{
    memset(server, 0, sizeof *server);
    memory_journal_init(&server->journal);
}

static void drop_late(struct server *server, size_t which)
{
    for (size_t i = 0; i < server->late[which].count; i++) {
        server_drop(&server->late[which].value[i]);
    }
    server->late[which] = server->late[--server->late_count];
}

void server_free(struct server *server)
{
    while (server->late_count > 0) {
        drop_late(server, 0);
    }
    memory_journal_free(&server->journal);
    server_free_parts(server);
    free(server->row);
}

void server_stop(struct world *world, int64_t ms)
{
    struct server *server = &world->server;
    world_tell(world, "the database stops for %lld ms", (long long)ms);
    world->tally.database_restarts++;
    server->restarts++;
    server->down_until_ms = world->now_ms + ms;
    while (server->late_count > 0) {
        drop_late(server, 0);
    }
}

static size_t first_late(const struct server *server)
{
    size_t first = 0;
    for (size_t i = 1; i < server->late_count; i++) {
        first = server->late[i].due_ms < server->late[first].due_ms ? i : first;
    }
    return first;
}

int64_t server_due_ms(const struct world *world)
{
    const struct server *server = &world->server;
    return server->late_count > 0 ? server->late[first_late(server)].due_ms : INT64_MAX;
}

void server_act(struct world *world)
{
    struct server *server = &world->server;
    const size_t which = first_late(server);
    struct late *late = &server->late[which];
    static struct node asker;
    struct pg_result *answer = answer_new();
    const size_t records = server->journal.count;
    const int64_t until_ms = server->until_ms;

    asker = *late->asker;
    asker.before_step = late->before_step;
    const struct question question = {world, server, &asker, late->statement, late->value, false};
    (void)known[known_of(late->statement)].perform(&question, answer);
    world_tell(world, "a statement of %s is begun late", peer_name(asker.number));
    world->tally.statements_late += server->journal.count > records;
    world->tally.statements_void +=
        known_of(late->statement) == known_of("INSERT INTO hedgerow_record") &&
        server->journal.count == records;
    if (server->until_ms != until_ms) {
        server->led_ms = world->now_ms; /* it may have put the lease's end off */
    }
    database_answer_free(answer);
    drop_late(server, which);
}

bool server_is_led_by(const struct world *world, const struct node *node)
{
    return node->number == COORDINATOR &&
           (world->plan.coordinators < 2 || world->server.leader == node);
}

enum status server_open(struct journal *out)
{
    const struct journal_options options = {.place = SERVER_URL, .kind = "coordinator"};
    struct why why = {""};
    const enum status status = journal_shared_open(out, &options, &why);
    if (status != STATUS_OK) {
        world_tell(here.world, "coordinator %zu stands by: %s", here.node->process, why.text);
    }
    return status;
}

enum status journal_open(struct journal *out, const struct journal_options *options,
                         struct why *why)
{
    return journal_shared_open(out, options, why);
}

void journal_close(struct journal *journal)
{
    if (journal->self != NULL) {
        journal->close(journal->self);
    }
    *journal = (struct journal){.self = NULL};
}

/* The lease's thread */

enum status lease_keeper_new(struct lease_keeper **out, lease_turn *turn, void *self)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        abort();
    }
    **out = (struct lease_keeper){turn, self, here.world->now_ms + LEASE_RENEWAL_MS};
    here.node->keeper = *out;
    return STATUS_OK;
}

void lease_keeper_free(struct lease_keeper *keeper)
{
    if (keeper != NULL) {
        here.node->keeper = NULL;
        here.node->keeping = true;
        keeper->turn(keeper->self, false);
        here.node->keeping = false;
        free(keeper);
    }
}

int64_t server_keeper_due_ms(const struct node *node)
{
    return node->keeper == NULL || node->killed ? INT64_MAX : node->keeper->due_ms;
}

void server_keep(struct world *world, struct node *node)
{
    struct node *before = server_visit(world, node);
    node->keeper->due_ms = world->now_ms + LEASE_RENEWAL_MS;
    node->keeping = true;
    node->keeper->turn(node->keeper->self, true);
    node->keeping = false;
    (void)server_visit(world, before);
}
