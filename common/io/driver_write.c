/* Records and forgettings of a journal that waits for a server (struct journal, waits): each is performed on a thread of its lane
 * in the order of the effects, while the loop goes on with all machines. The lane's own machine takes events too. It is told of
 * a commit once that is durable, and what follows from it comes after that (protocol/machine.h).
 *
 * A write begins between two turns, when no errand of its lane is under way (driver_errand.c): that may share the journal's
 * connection. While a lane has a write it is not unmade. */

#include "io/driver_private.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

/* One write. It has copies of what the machine may change before it is done. */
struct driver_write {
    struct driver_write *next;
    struct journal journal;
    struct effect effect;
    uint64_t sequence; /* of the new record */
    enum status status;
    uint8_t body[];
};

enum status driver_write_now(const struct journal *journal, uint64_t *sequence,
                             const struct effect *effect)
{
    if (effect->kind == EFFECT_FORGET) {
        CHECK(effect->as.forget.sequence > 0);
        return (effect->as.forget.secret ? journal->wipe : journal->forget)(
            journal->self, effect->as.forget.sequence);
    }
    const struct slice body = effect->as.commit.body;
    const struct slice blob = effect->as.commit.blob;
    const struct digest *digest = effect->as.commit.digest;
    return digest != NULL && journal->append_known != NULL
               ? journal->append_known(journal->self, sequence, body, blob, digest)
               : journal->append(journal->self, sequence, body, blob);
}

enum status driver_write_later(struct lane *lane, const struct effect *effect)
{
    const bool commits = effect->kind == EFFECT_COMMIT;
    const struct slice body = commits ? effect->as.commit.body : (struct slice){NULL, 0};
    struct driver_write *write = malloc(sizeof *write + body.size);
    if (write == NULL) {
        return STATUS_NO_MEMORY;
    }
    *write = (struct driver_write){.journal = lane->journal, .effect = *effect};
    if (body.size > 0) {
        memcpy(write->body, body.data, body.size);
        write->effect.as.commit.body.data = write->body;
    }
    struct driver_write **last = &lane->write;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = write;
    return STATUS_OK;
}

static void perform(void *self)
{
    struct driver_write *write = self;
    write->status = driver_write_now(&write->journal, &write->sequence, &write->effect);
}

bool driver_writes(const struct lane *lane)
{
    return lane->write != NULL;
}

/* An errand may be on the same thread. */
static bool is_writing(const struct lane *lane)
{
    return driver_waits(lane) && !(lane->errand.run != NULL && lane->errand.begun);
}

/* Where no thread is to be had the write goes on waiting. */
void driver_begin_writes(struct driver *driver)
{
    for (size_t i = 0; i < driver->lane_count; i++) {
        struct lane *lane = &driver->lane[i];
        if (lane->write != NULL && !driver_waits(lane)) {
            (void)!worker_start(lane->writer, perform, lane->write);
        }
    }
}

static void drop_first(struct lane *lane)
{
    struct driver_write *write = lane->write;
    lane->write = write->next;
    free(write);
}

void driver_drop_writes(struct lane *lane)
{
    struct driver_write *under_way = is_writing(lane) ? lane->write : NULL;
    struct driver_write *left = under_way != NULL ? under_way->next : lane->write;
    while (left != NULL) {
        struct driver_write *next = left->next;
        free(left);
        left = next;
    }
    lane->write = under_way;
    if (under_way != NULL) {
        under_way->next = NULL;
    }
}

/* A machine that was thrown away meanwhile is told nothing: the journal tells the one that takes its place. Why a write failed is
 * logged in any case: it may be why the machine was thrown away, where the lease is in doubt since then. */
static void take(struct driver *driver, struct lane *lane)
{
    const struct driver_write *write = lane->write;
    struct event committed = {.kind = EVENT_COMMITTED,
                              .as.committed = {.sequence = write->sequence}};
    const bool commits = write->effect.kind == EFFECT_COMMIT;
    if (lane->status == STATUS_OK) {
        lane->status = driver_note_written(driver, lane, &write->effect, write->status);
    } else if (write->status != STATUS_OK) {
        (void)!driver_note_written(driver, lane, &write->effect, write->status);
    }
    drop_first(lane);
    if (lane->status != STATUS_OK) {
        driver_drop_writes(lane);
    } else if (commits && driver_runs(driver, lane)) {
        lane->status = driver_give(driver, lane, committed);
    }
}

void driver_take_writes(struct driver *driver)
{
    for (size_t i = 0; i < driver->lane_count; i++) {
        struct lane *lane = &driver->lane[i];
        if (is_writing(lane) && worker_collect(lane->writer)) {
            take(driver, lane);
        }
    }
}
