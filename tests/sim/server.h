/* server.h - the database that coordinators share, and how it fails. It takes the place of libpq below the real journal
 * (database/journal_shared.c) and the real lease (database/lease.c): it knows their statements, and performs each as
 * PostgreSQL would. A statement that checks no term is not stopped here either. */

#ifndef SIM_SERVER_H
#define SIM_SERVER_H

#include "base/bytes.h"
#include "database/database.h"
#include "protocol/machine.h"
#include "support/memory_journal.h"
#include "support/seeded_random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERVER_URL "postgresql://server/journal"

enum { SERVER_LATE_MAX = 16, SERVER_TEXT_BYTES = 128, SERVER_STANDINGS_MAX = 4 };

struct world;
struct node;

/* A statement whose asker has gone, and which the server has yet to begin. */
struct late {
    int64_t due_ms;
    struct node *asker;
    struct seeded_random before_step; /* the asker's, when it asked */
    const char *statement;
    struct database_value value[DATABASE_VALUES_MAX]; /* (count) their bytes are owned */
    size_t count;
};

/* A row of hedgerow_record, beside its body and blob. */
struct server_row {
    struct digest digest;
    struct digest chain;
};

/* A row of hedgerow_standing. */
struct server_standing {
    char name[PEER_NAME_BYTES];
    int64_t ready;
    int64_t undecided;
    int64_t open;
    int64_t settled;
    int64_t answers;
    int64_t left_ms;
    int64_t heard_ms; /* INT64_MIN: never */
};

struct server_part;

struct server {
    bool begun; /* there is a lease's row */
    char kind[SERVER_TEXT_BYTES];
    char holder[SERVER_TEXT_BYTES];
    int64_t version;
    int64_t term;
    int64_t until_ms;
    struct memory_journal journal;
    struct server_row *row; /* (journal.count) owned */
    struct late late[SERVER_LATE_MAX];
    size_t late_count;
    bool shared_tables; /* those of collectors are there */
    struct server_standing standing[SERVER_STANDINGS_MAX];
    size_t standing_count;
    struct server_part *part; /* (part_count) owned */
    size_t part_count;
    int64_t down_until_ms;
    uint64_t restarts;
    struct node
        *leader;    /* whose term it is; NULL before the first, or when nobody was told of it */
    int64_t led_ms; /* when there was last a leader that could act, or reason for none */
};

void server_init(struct server *server);
void server_free(struct server *server);

/** Whose program runs now: what the journal asks and what its clock shows is of this one. Returns who it was before. */
struct node *server_visit(struct world *world, struct node *node);

/** Opens the shared journal for the coordinator that server_visit named. Fails as journal_open. */
MUST_USE enum status server_open(struct journal *out);

/** Whether a program leads, by the database's own word. */
bool server_is_led_by(const struct world *world, const struct node *node);

/** The server stops for a time. Statements that run are lost, and commits stay. */
void server_stop(struct world *world, int64_t ms);

/** When something happens by itself, and lets it happen. */
int64_t server_due_ms(const struct world *world);
void server_act(struct world *world);

/** The lease's thread of a program: when it is due, and its turn. */
int64_t server_keeper_due_ms(const struct node *node);
void server_keep(struct world *world, struct node *node);

#endif
