#include "protocol/record.h"

#include <stdlib.h>
#include <string.h>

static bool is_there(const struct digest *digest)
{
    return !digest_is_none(digest);
}

/* A coordinator writes them sorted: then neighbours tell. */
static bool names_rise(const struct peer *agent, size_t count)
{
    size_t i = 1;
    while (i < count && strcmp(agent[i - 1].name, agent[i].name) < 0) {
        i++;
    }
    return i >= count;
}

static bool names_differ(const struct peer *agent, size_t count)
{
    if (names_rise(agent, count)) {
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(agent[i].name, agent[j].name) == 0) {
                return false;
            }
        }
    }
    return true;
}

static bool agents_are_valid(const struct peer *agent, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!name_is_valid(agent[i].name, sizeof agent[i].name)) {
            return false;
        }
    }
    return names_differ(agent, count);
}

/* Whether each of some is one of all. Both lists are sorted where a coordinator wrote them: then one walk tells. */
static bool names_hold(const struct peer *all, size_t count, const struct peer *some, size_t part)
{
    const bool rise = names_rise(all, count) && names_rise(some, part);
    size_t i = 0;
    for (size_t j = 0; j < part; j++) {
        i = rise ? i : 0;
        while (i < count && strcmp(all[i].name, some[j].name) != 0) {
            i++;
        }
        if (i == count) {
            return false;
        }
    }
    return true;
}

/* away: those of all whose turn it was not. They are merged where collectors hand in parts, so nobody may be named by two. */
static bool lists_are_valid(const struct peer *agent, size_t count, const struct peer *away,
                            size_t away_count)
{
    return agents_are_valid(agent, count) && away_count <= count &&
           agents_are_valid(away, away_count) && names_hold(agent, count, away, away_count);
}

/* One line of printable characters, which ends; only a failed round has a cause. */
static bool cause_is_valid(const char *cause, bool failed)
{
    size_t length = strnlen(cause, RECORD_CAUSE_BYTES);
    for (size_t i = 0; i < length; i++) {
        if (cause[i] < 0x20 || cause[i] > 0x7e) {
            return false;
        }
    }
    return length < RECORD_CAUSE_BYTES && (failed || length == 0);
}

bool record_is_valid(const struct record *record)
{
    switch (record->kind) {
    case RECORD_JOB:
        return is_there(&record->as.job.job.id) && is_there(&record->as.job.job.nonce) &&
               is_there(&record->as.job.job.text_digest) && record->as.job.job.text_bytes >= 1 &&
               record->as.job.job.text_bytes <= JOB_TEXT_BYTES_MAX;
    case RECORD_ANSWER:
        return is_there(&record->as.answer.job) && record->as.answer.round < ROUNDS_MAX &&
               name_is_valid(record->as.answer.task, sizeof record->as.answer.task) &&
               charge_is_valid(&record->as.answer.charge) &&
               is_there(&record->as.answer.invitation) && record->as.answer.answer_bytes >= 1 &&
               record->as.answer.answer_bytes <= TRANSFER_BYTES_MAX &&
               record->as.answer.masks_bytes <= RECORD_MASKS_BYTES_MAX &&
               record->as.answer.shift <= WORD_SHIFT_MAX;
    case RECORD_ROUND:
        return is_there(&record->as.round.job) && record->as.round.round < ROUNDS_MAX &&
               record->as.round.agent_count <= PEERS_MAX &&
               record->as.round.sum_count <= RECORD_SUM_MAX &&
               record->as.round.blob_bytes <= TRANSFER_BYTES_MAX &&
               record->as.round.records <=
                   (uint64_t)record->as.round.agent_count * OFFER_RECORDS_MAX &&
               cause_is_valid(record->as.round.cause, record->as.round.failed) &&
               (record->as.round.failed || !record->as.round.cancelled) &&
               lists_are_valid(record->as.round.agent, record->as.round.agent_count,
                               record->as.round.away, record->as.round.away_count);
    case RECORD_ROSTER:
        return is_there(&record->as.roster.job) && record->as.roster.round < ROUNDS_MAX &&
               record->as.roster.bytes >= 1 && record->as.roster.bytes <= RECORD_MASKS_BYTES_MAX &&
               (record->as.roster.width == 0 || record->as.roster.width == 32 ||
                record->as.roster.width == 64);
    case RECORD_SURVIVORS:
        return is_there(&record->as.survivors.job) && record->as.survivors.round < ROUNDS_MAX &&
               is_there(&record->as.survivors.set);
    case RECORD_KEYS:
        return is_there(&record->as.keys.job) && record->as.keys.round < ROUNDS_MAX &&
               is_there(&record->as.keys.invitation) && record->as.keys.bytes >= 1 &&
               record->as.keys.bytes <= RECORD_MASKS_BYTES_MAX;
    case RECORD_PARTIAL:
        return is_there(&record->as.partial.job) && record->as.partial.round < ROUNDS_MAX &&
               name_is_valid(record->as.partial.collector, sizeof record->as.partial.collector) &&
               record->as.partial.agent_count >= 1 && record->as.partial.agent_count <= PEERS_MAX &&
               record->as.partial.records <=
                   (uint64_t)record->as.partial.agent_count * OFFER_RECORDS_MAX &&
               record->as.partial.blob_bytes >= 8 &&
               record->as.partial.blob_bytes <= TRANSFER_BYTES_MAX &&
               lists_are_valid(record->as.partial.agent, record->as.partial.agent_count,
                               record->as.partial.away, record->as.partial.away_count);
    case RECORD_KIND_COUNT:
        break;
    }
    return false;
}

void record_free(struct record *record)
{
    if (record == NULL) {
        return;
    }
    switch (record->kind) {
    case RECORD_JOB:
        free(record->as.job.text);
        break;
    case RECORD_ANSWER:
    case RECORD_ROSTER:
    case RECORD_SURVIVORS:
    case RECORD_KEYS:
    case RECORD_KIND_COUNT:
        break;
    case RECORD_ROUND:
        free(record->as.round.agent);
        free(record->as.round.away);
        free(record->as.round.sum);
        break;
    case RECORD_PARTIAL:
        free(record->as.partial.agent);
        free(record->as.partial.away);
        break;
    }
    memset(record, 0, sizeof *record);
}
