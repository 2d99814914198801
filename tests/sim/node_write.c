/* What a program writes. With a disk of its own it writes at once, and the answer comes later. To the database that coordinators
 * share it writes later too, while the machine hears and sends other messages, as in io/driver_write.c. So nothing that follows
 * from a record may leave before the record is durable. */

#include "base/check.h"
#include "crypto/digest.h"
#include "sim/node_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One that is to be done. The machine keeps the blob until it hears of the commit: it must not change before. */
struct sim_write {
    struct sim_write *next;
    int64_t due_ms;
    struct effect effect;
    struct digest blob;
    struct seeded_random before_step;
    uint8_t body[];
};

/* Any fault of a disk, where the program has one of its own. */
static void plan_fault(struct world *world, struct node *node)
{
    if (!node_shares(world, node) && world_chance(world, world->plan.journal_fails)) {
        enum journal_fault fault = (enum journal_fault)(1 + dice_below(&world->dice, 3));
        memory_journal_plan(node->memory, 1, fault);
    }
}

/* A journal uses the digest that a machine knows. With a wrong one a good record would seem damaged. */
static void check_digest(const struct effect *effect)
{
    if (effect->as.commit.digest != NULL) {
        CHECK(digest_is_of(effect->as.commit.digest, effect->as.commit.blob));
    }
}

static void commit(struct world *world, struct node *node, const struct effect *effect)
{
    uint64_t sequence = 0;
    size_t before = node->memory->count;
    struct slice body = effect->as.commit.body;
    struct slice blob = effect->as.commit.blob;
    check_digest(effect);
    uint8_t *planted = planted_body(world, node, &body);
    uint8_t *planted_blob = planted_part(world, node, &blob);

    plan_fault(world, node);
    enum status status = node->journal.append(node->journal.self, &sequence, body, blob);
    world_tell(world, "%s commits record %" PRIu64 ": %s", peer_name(node->number), sequence,
               status_text(status));
    if (!node_shares(world, node) && node->memory->count > before) {
        checker_on_durable(world, node, memory_journal_body(node->memory, node->memory->count),
                           memory_journal_blob(node->memory, node->memory->count));
    }
    if (status != STATUS_OK && node_shares(world, node) && world->plan.planted == PLANTED_RETRIED) {
        status = planted_retry(world, node, &sequence, body, blob);
    }
    free(planted);
    free(planted_blob);
    if (status != STATUS_OK) {
        world->tally.commits_failed += status == STATUS_IO;
        world->tally.commits_lost += status != STATUS_IO && node->memory->count == before;
        world->tally.commits_kept_unknown += node->memory->count > before;
        node_restart(world, node, status_text(status));
        return;
    }
    node->known = sequence;
    size_t slot = node->committed_count++;
    if (slot == COMMITS_PENDING_MAX) {
        world_fail(world, "%s commits without end", peer_name(node->number));
        return;
    }
    int64_t due = node_after(world, world->plan.commit_ms_max);
    node->committed_ms[slot] =
        slot > 0 && due < node->committed_ms[slot - 1] ? node->committed_ms[slot - 1] : due;
    node->committed_sequence[slot] = sequence;
}

static void forget(struct world *world, struct node *node, const struct effect *effect)
{
    plan_fault(world, node);
    checker_on_forget(world, node, effect->as.forget.sequence,
                      effect->as.forget.secret && world->plan.planted != PLANTED_NOT_WIPED);
    node->wiped = effect->as.forget.secret ? effect->as.forget.sequence : node->wiped;
    if ((effect->as.forget.secret ? node->journal.wipe : node->journal.forget)(
            node->journal.self, effect->as.forget.sequence) != STATUS_OK) {
        node_restart(world, node, "cannot forget");
    }
}

static void write_now(struct world *world, struct node *node, const struct effect *effect)
{
    if (effect->kind == EFFECT_COMMIT) {
        commit(world, node, effect);
    } else {
        forget(world, node, effect);
    }
}

static void write_later(struct world *world, struct node *node, const struct effect *effect)
{
    const bool commits = effect->kind == EFFECT_COMMIT;
    const size_t size = commits ? effect->as.commit.body.size : 0;
    struct sim_write *write = calloc(1, sizeof *write + size);
    struct sim_write **last = &node->write;
    if (write == NULL) {
        abort();
    }
    write->effect = *effect;
    write->before_step = node->before_step;
    write->due_ms = node_after(world, world->plan.commit_ms_max);
    if (commits) {
        memcpy(write->body, effect->as.commit.body.data, size);
        write->effect.as.commit.body.data = write->body;
        digest_sha256(&write->blob, &effect->as.commit.blob, 1);
    }
    while (*last != NULL) {
        write->due_ms = write->due_ms < (*last)->due_ms ? (*last)->due_ms : write->due_ms;
        last = &(*last)->next;
    }
    *last = write;
}

void node_write(struct world *world, struct node *node, const struct effect *effect)
{
    if (node_shares(world, node)) {
        write_later(world, node, effect);
    } else {
        write_now(world, node, effect);
    }
}

int64_t node_write_due_ms(const struct node *node)
{
    return node->write != NULL ? node->write->due_ms : INT64_MAX;
}

void node_write_first(struct world *world, struct node *node)
{
    struct sim_write *write = node->write;
    const struct seeded_random before = node->before_step;
    struct digest is;
    node->write = write->next; /* a program that restarts meanwhile drops the rest */
    if (write->effect.kind == EFFECT_COMMIT) {
        digest_sha256(&is, &write->effect.as.commit.blob, 1);
        if (!digest_equal(&is, &write->blob)) {
            world_fail(world, "%s: what is to be written has changed", peer_name(node->number));
        }
    }
    node->before_step = write->before_step;
    write_now(world, node, &write->effect);
    node->before_step = before;
    free(write);
}

void node_write_all(struct world *world, struct node *node)
{
    while (node->up && node->write != NULL) {
        node_write_first(world, node);
    }
}

void node_drop_writes(struct node *node)
{
    while (node->write != NULL) {
        struct sim_write *next = node->write->next;
        free(node->write);
        node->write = next;
    }
}
