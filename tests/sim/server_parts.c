/* What coordinators of one job write beside its journal: collectors' parts of rounds, and how each stands. */

#include "sim/server_private.h"
#include "sim/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRESENT_MS = 10000 };

/* A row of hedgerow_partial. */
struct server_part {
    int64_t round;
    char collector[PEER_NAME_BYTES];
    int64_t number;
    struct database_value body; /* their bytes are owned */
    struct database_value blob;
    struct database_value digest;
};

void server_make_parts(struct server *server)
{
    server->shared_tables = true;
}

static void drop_part(struct server_part *part)
{
    server_drop(&part->body);
    server_drop(&part->blob);
    server_drop(&part->digest);
}

void server_free_parts(struct server *server)
{
    for (size_t i = 0; i < server->part_count; i++) {
        drop_part(&server->part[i]);
    }
    free(server->part);
}

bool server_tell_parts_there(const struct question *question, struct pg_result *answer)
{
    server_add_number(answer, question->server->begun && question->server->shared_tables ? 1 : 0);
    return true;
}

static bool is_name(const char *name, struct slice words)
{
    return strlen(name) == words.size &&
           (words.size == 0 || memcmp(name, words.data, words.size) == 0);
}

static struct server_standing *standing_of_name(struct server *server, struct slice words)
{
    for (size_t i = 0; i < server->standing_count; i++) {
        if (is_name(server->standing[i].name, words)) {
            return &server->standing[i];
        }
    }
    return NULL;
}

/* The list begins with a comma, and the first name is empty: that of the one that leads. */
bool server_list_collectors(const struct question *question, struct pg_result *answer)
{
    struct server *server = question->server;
    const bool held = server_is_held(question);
    char list[SERVER_TEXT_BYTES];
    const struct slice words = question->value[1].bytes;
    (void)snprintf(list, sizeof list, "%.*s", (int)words.size, (const char *)words.data);
    for (const char *at = list; held && at != NULL;) { /* the simulator's names never change */
        const char *comma = strchr(at, ',');
        const struct slice name = {at, comma == NULL ? strlen(at) : (size_t)(comma - at)};
        if (standing_of_name(server, name) == NULL &&
            server->standing_count < SERVER_STANDINGS_MAX) {
            struct server_standing *standing = &server->standing[server->standing_count++];
            *standing = (struct server_standing){.heard_ms = INT64_MIN};
            memcpy(standing->name, name.data, name.size);
        }
        at = comma == NULL ? NULL : comma + 1;
    }
    server_add_number(answer, held ? 1 : 0);
    return true;
}

bool server_set_standing(const struct question *question, struct pg_result *answer)
{
    const struct database_value *value = question->value;
    struct server_standing *standing = standing_of_name(question->server, value[1].bytes);
    const bool leads = value[1].bytes.size == 0;
    if (standing == NULL) {
        return true;
    }
    if (leads && !server_is_held(question)) {
        question->world->tally.standings_fenced++;
        return true;
    }
    if (leads) {
        checker_on_term(question->world, value[0].number, question->server->term);
    }
    const bool early = !leads && question->world->plan.planted == PLANTED_SETTLED_EARLY;
    standing->ready = value[2].number;
    standing->open = value[3].number;
    standing->settled = early ? value[3].number : value[4].number;
    standing->answers = value[5].number;
    standing->left_ms = value[6].number;
    standing->undecided = value[8].number;
    standing->heard_ms = value[7].number == 1 ? question->world->now_ms : INT64_MIN;
    server_add_number(answer, 1);
    return true;
}

bool server_tell_standings(const struct question *question, struct pg_result *answer)
{
    const struct server *server = question->server;
    for (size_t i = 0; i < server->standing_count; i++) { /* they were listed in order */
        const struct server_standing *standing = &server->standing[i];
        const bool heard = standing->heard_ms != INT64_MIN;
        const int64_t since_ms = heard ? question->world->now_ms - standing->heard_ms : 0;
        const struct database_value cell[] = {server_bytes(standing->name, strlen(standing->name)),
                                              server_number(standing->ready),
                                              server_number(standing->open),
                                              server_number(standing->settled),
                                              server_number(standing->answers),
                                              server_number(standing->left_ms - since_ms),
                                              server_number(heard && since_ms < PRESENT_MS ? 1 : 0),
                                              server_number(standing->undecided)};
        server_add_row(answer, cell, sizeof cell / sizeof cell[0]);
    }
    return true;
}

static int64_t latest_of(const struct server *server, int64_t round, const char *collector)
{
    int64_t latest = 0;
    for (size_t i = 0; i < server->part_count; i++) {
        const struct server_part *part = &server->part[i];
        if (part->round == round && strcmp(part->collector, collector) == 0) {
            latest = part->number > latest ? part->number : latest;
        }
    }
    return latest;
}

bool server_add_part(const struct question *question, UNUSED struct pg_result *answer)
{
    struct server *server = question->server;
    const struct database_value *value = question->value;
    server->part = realloc(server->part, (server->part_count + 1) * sizeof *server->part);
    if (server->part == NULL) {
        abort();
    }
    struct server_part *part = &server->part[server->part_count];
    *part = (struct server_part){.round = value[0].number,
                                 .body = server_copy_of(value[2]),
                                 .blob = server_copy_of(value[3]),
                                 .digest = server_copy_of(value[4])};
    memcpy(part->collector, value[1].bytes.data, value[1].bytes.size);
    part->number = 1 + latest_of(server, part->round, part->collector);
    server->part_count++;
    question->world->tally.parts++;
    question->world->tally.parts_further += part->number > 1;
    collected_on_part(question->world, question->asker, part->body.bytes, part->blob.bytes);
    return true;
}

bool server_tell_parts(const struct question *question, struct pg_result *answer)
{
    const struct server *server = question->server;
    for (size_t i = 0; i < server->standing_count; i++) {
        const char *name = server->standing[i].name;
        const int64_t latest = latest_of(server, question->value[0].number, name);
        if (name[0] != '\0' && latest > 0 &&
            (question->value[1].bytes.size == 0 || is_name(name, question->value[1].bytes))) {
            const struct database_value cell[] = {server_bytes(name, strlen(name)),
                                                  server_number(latest)};
            server_add_row(answer, cell, 2);
        }
    }
    return true;
}

bool server_tell_part(const struct question *question, struct pg_result *answer)
{
    const struct server *server = question->server;
    const struct database_value *value = question->value;
    for (size_t i = 0; i < server->part_count; i++) {
        const struct server_part *part = &server->part[i];
        if (part->round == value[0].number && is_name(part->collector, value[1].bytes) &&
            part->number == value[2].number) {
            const struct database_value cell[] = {part->body, part->blob, part->digest};
            server_add_row(answer, cell, 3);
        }
    }
    return true;
}

/* Those of closed rounds; all, when the job is over. */
bool server_drop_parts(const struct question *question, UNUSED struct pg_result *answer)
{
    struct server *server = question->server;
    const bool some = strstr(question->statement, "round < $2") != NULL;
    size_t kept = 0;
    if (!server_is_held(question)) {
        question->world->tally.standings_fenced++;
        return true;
    }
    checker_on_term(question->world, question->value[0].number, server->term);
    for (size_t i = 0; i < server->part_count; i++) {
        if (some && server->part[i].round >= question->value[1].number) {
            server->part[kept++] = server->part[i];
        } else {
            drop_part(&server->part[i]);
        }
    }
    server->part_count = kept;
    return true;
}
