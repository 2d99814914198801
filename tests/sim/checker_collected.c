/* What a collector hands in: the sum of what the agents that it names have committed, each of them on its own list, to a round
 * that is open or was. */

#include "sim/world.h"

#include <inttypes.h>
#include <string.h>

static size_t peer_of(const char *name)
{
    size_t peer = 0;
    while (peer < PEERS && strcmp(peer_name(peer), name) != 0) {
        peer++;
    }
    return peer;
}

void collected_on_part(struct world *world, const struct node *node, struct slice body,
                       struct slice blob)
{
    struct record part;
    if (wire_decode_record(&part, body) != STATUS_OK || part.kind != RECORD_PARTIAL ||
        !digest_equal(&part.as.partial.job, &world->checker.job.id) ||
        part.as.partial.round > world->checker.round_count || blob.size % 8 != 0) {
        world_fail(world, "coordinator %zu hands in what is no part", node->process);
        return;
    }
    const size_t count = blob.size / 8;
    struct record listed = {.kind = RECORD_ROUND,
                            .as.round = {.job = part.as.partial.job,
                                         .round = part.as.partial.round,
                                         .agent = part.as.partial.agent,
                                         .agent_count = part.as.partial.agent_count}};
    for (size_t i = 0; i < part.as.partial.agent_count; i++) {
        const size_t peer = peer_of(part.as.partial.agent[i].name);
        if (peer == PEERS || world->plan.group[peer] != node->process) {
            world_fail(world, "coordinator %zu hands in an answer of %s", node->process,
                       part.as.partial.agent[i].name);
        }
    }
    for (size_t i = 0; i < count && world->failure[0] == '\0'; i++) {
        uint64_t word = 0;
        (void)checker_value(&word, blob, count, i);
        if (word != checker_committed_sum(world, &listed, count, i)) {
            world_fail(world,
                       "the part of coordinator %zu in round %" PRIu32
                       " is not the sum of its agents' answers",
                       node->process, part.as.partial.round);
        }
    }
    record_free(&part);
}
