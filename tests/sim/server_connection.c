/* A question may be delayed before it arrives or after it is answered, while the rest of the world goes on. The question or
 * its answer may be lost. It may also wait at the server until its asker has given up, and be begun then. */

#include "sim/server_private.h"

#include "database/journal_shared.h"
#include "database/lease.h"
#include "database/lease_keeper.h"
#include "io/clock.h"
#include "sim/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LATE_MS_MAX = 8000, SOON_MS_MAX = 100 };

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

static unsigned rate_of(unsigned in_1000, const struct server_statement *which)
{
    return in_1000 / which->seldom;
}

/* A coordinator that stands by would delay the others, so it goes on first. */
static void hold_up(struct world *world, struct node *node, const struct server_statement *which)
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
    const struct server_statement *which = server_statement_of(statement);
    struct question question = {world, &world->server, node, statement, value, true};

    hold_up(world, node, which);
    if (database->broken || database->restarts != world->server.restarts || is_away(world, node)) {
        return lose(database, why);
    }
    unsigned fault = FAULT_NONE;
    if (world_chance(world, rate_of(world->plan.statement, which))) {
        fault = 1 + (unsigned)dice_below(&world->dice, FAULTS - 1);
    }
    if (fault == FAULT_REFUSED && which->writes) {
        why_set(why, "the disk is full");
        world->tally.statements_refused++;
        return STATUS_IO;
    }
    if (fault == FAULT_LATE && which->writes) {
        leave_behind(world, &question, count);
    }
    if (fault == FAULT_LOST || fault == FAULT_LATE) {
        world->tally.statements_lost++;
        return lose(database, why);
    }
    struct pg_result *made = answer_new();
    question.answered = fault != FAULT_ANSWER_LOST;
    const bool performed = which->perform(&question, made);
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
    (void)server_statement_of(late->statement)->perform(&question, answer);
    world_tell(world, "a statement of %s is begun late", peer_name(asker.number));
    world->tally.statements_late += server->journal.count > records;
    world->tally.statements_void +=
        strstr(late->statement, "INSERT INTO hedgerow_record") != NULL &&
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
