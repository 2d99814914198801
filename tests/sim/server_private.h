/* server_private.h - what the files of the server share: server.c, server_connection.c, and server_parts.c for what coordinators write beside the
 * journal. */

#ifndef SIM_SERVER_PRIVATE_H
#define SIM_SERVER_PRIVATE_H

#include "sim/server.h"

enum { CELLS_MAX = 8 };

struct pg_result {
    size_t count;
    struct database_value (*cell)[CELLS_MAX]; /* (count) owned, with their bytes */
};

/* A statement, as it reaches the server. */
struct question {
    struct world *world;
    struct server *server;
    struct node *asker;
    const char *statement;
    const struct database_value *value;
    bool answered; /* somebody waits for it */
};

/* What the server knows by some of its words. */
struct server_statement {
    const char *words;
    bool (*perform)(const struct question *question, struct pg_result *answer);
    bool writes;
    unsigned
        seldom; /* one of this many chances for a fault becomes a fault. Most questions only ask who
                 * leads */
};

const struct server_statement *server_statement_of(const char *statement);

struct database_value server_copy_of(struct database_value value); /* its bytes are owned */
void server_drop(struct database_value *value);
struct database_value server_number(int64_t value);
struct database_value server_bytes(const void *data, size_t size);
void server_add_row(struct pg_result *answer, const struct database_value *cell, size_t count);
void server_add_number(struct pg_result *answer, int64_t value);

/** Whether a statement's writer holds the term. It has to ask that itself. */
bool server_is_held(const struct question *question);

/* server_parts.c: each returns whether the server performed it. */
void server_make_parts(struct server *server);
void server_free_parts(struct server *server);
bool server_tell_parts_there(const struct question *question, struct pg_result *answer);
bool server_list_collectors(const struct question *question, struct pg_result *answer);
bool server_set_standing(const struct question *question, struct pg_result *answer);
bool server_tell_standings(const struct question *question, struct pg_result *answer);
bool server_add_part(const struct question *question, struct pg_result *answer);
bool server_tell_parts(const struct question *question, struct pg_result *answer);
bool server_tell_part(const struct question *question, struct pg_result *answer);
bool server_drop_parts(const struct question *question, struct pg_result *answer);

#endif
