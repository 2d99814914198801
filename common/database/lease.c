/* A lease says alone who may try to lead; the term in each statement is what keeps an old leader from writing. So a renewal
 * that comes too late does no harm, and the renewing thread needs nothing of the journal but the term. */

#include "database/lease.h"

#include "database/lease_keeper.h"
#include "io/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HOLDER_BYTES = 96, NAME_BYTES = 64, URL_BYTES = 1024 };

struct lease {
    int64_t term;
    char url[URL_BYTES];
    struct database *database; /* the keeper's own; NULL: it has none now */
    struct lease_keeper *keeper;
    pthread_mutex_t mutex;
    bool taken;         /* guarded by mutex: the row has another term */
    bool doubted;       /* likewise: lease_doubt was called */
    int64_t renewed_ms; /* likewise: when the latest renewal that succeeded was asked for */
};

static void name_holder(char holder[static HOLDER_BYTES])
{
    char machine[NAME_BYTES] = "";
    (void)gethostname(machine, sizeof machine - 1);
    (void)snprintf(holder, HOLDER_BYTES, "%s, process %ld", machine, (long)getpid());
}

static enum status tell_holder(struct database *database, struct why *why)
{
    struct pg_result *answer = NULL;
    enum status status =
        database_ask(database, &answer, "SELECT holder FROM hedgerow_lease", NULL, 0, why);
    if (status == STATUS_OK) {
        const struct slice holder = database_bytes(answer, 0, 0);
        status = why_fail(why, STATUS_BUSY, "another coordinator leads (%.*s)", (int)holder.size,
                          holder.data == NULL ? "" : (const char *)holder.data);
    }
    database_answer_free(answer);
    return status;
}

static enum status take_row(int64_t *term, struct database *database, struct why *why)
{
    static const char statement[] = "UPDATE hedgerow_lease SET term = term + 1, guard = term + 1,"
                                    " version = " LEASE_VERSION_TEXT ", least = " LEASE_VERSION_TEXT
                                    ", holder = convert_from($1, 'UTF8'),"
                                    " until = clock_timestamp() + " LEASE_LENGTH
                                    " WHERE until < clock_timestamp() RETURNING term";
    char holder[HOLDER_BYTES];
    struct pg_result *answer = NULL;

    name_holder(holder);
    const struct database_value value = database_of_words(holder);
    enum status status = database_ask(database, &answer, statement, &value, 1, why);
    if (status == STATUS_OK && database_rows(answer) == 1) {
        *term = database_number(answer, 0, 0);
    } else if (status == STATUS_OK) {
        status = tell_holder(database, why);
    }
    database_answer_free(answer);
    return status;
}

/* Renews, or gives back. Returns what came of the question; an answer without a row says that the term is another's. */
static enum status say_so(struct lease *lease, bool goes_on)
{
    const struct database_value term = database_of_number(lease->term);
    const int64_t asked_ms = clock_now_ms();
    struct pg_result *answer = NULL;
    struct why why = {""};
    enum status status =
        database_ask(lease->database, &answer,
                     goes_on ? "UPDATE hedgerow_lease SET until = clock_timestamp() + " LEASE_LENGTH
                               " WHERE term = $1 RETURNING term"
                             : "UPDATE hedgerow_lease SET until = '-infinity'"
                               " WHERE term = $1 RETURNING term",
                     &term, 1, &why);
    if (status == STATUS_OK) {
        (void)pthread_mutex_lock(&lease->mutex);
        lease->taken = database_rows(answer) == 0;
        lease->renewed_ms = asked_ms;
        (void)pthread_mutex_unlock(&lease->mutex);
    }
    database_answer_free(answer);
    return status;
}

/* A server that is away is asked again; meanwhile the lease runs out, and a coordinator that reaches the server leads. */
static void take_turn(void *self, bool goes_on)
{
    struct lease *lease = self;
    struct why why = {""};
    enum status status = STATUS_OK;

    if (lease->database == NULL) {
        status = database_open(&lease->database, lease->url, &why);
    }
    if (status == STATUS_OK) {
        status = say_so(lease, goes_on);
    }
    if (status != STATUS_OK) {
        database_close(lease->database);
        lease->database = NULL;
    }
}

bool lease_is_lost(struct lease *lease)
{
    (void)pthread_mutex_lock(&lease->mutex);
    const bool lost =
        lease->taken || lease->doubted || clock_now_ms() - lease->renewed_ms > LEASE_MS;
    (void)pthread_mutex_unlock(&lease->mutex);
    return lost;
}

void lease_doubt(struct lease *lease)
{
    (void)pthread_mutex_lock(&lease->mutex);
    lease->doubted = true;
    (void)pthread_mutex_unlock(&lease->mutex);
}

enum status lease_take(struct lease **out, int64_t *term, struct database *database,
                       const char *url, struct why *why)
{
    const int64_t asked_ms = clock_now_ms();
    enum status status = take_row(term, database, why);
    if (status != STATUS_OK) {
        return status;
    }
    struct lease *lease = calloc(1, sizeof *lease);
    if (lease == NULL || strlen(url) >= sizeof lease->url) {
        why_set(why, "no memory for the lease, or its URL is too long");
        free(lease);
        return STATUS_NO_MEMORY;
    }
    lease->term = *term;
    lease->renewed_ms = asked_ms;
    memcpy(lease->url, url, strlen(url));
    (void)pthread_mutex_init(&lease->mutex, NULL);
    status = lease_keeper_new(&lease->keeper, take_turn, lease);
    if (status != STATUS_OK) {
        why_set(why, "no thread for the lease");
        lease_free(lease);
        return status;
    }
    *out = lease;
    return STATUS_OK;
}

void lease_free(struct lease *lease)
{
    if (lease == NULL) {
        return;
    }
    lease_keeper_free(lease->keeper);
    database_close(lease->database);
    (void)pthread_mutex_destroy(&lease->mutex);
    free(lease);
}
