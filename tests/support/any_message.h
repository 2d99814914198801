/* any_message.h - some valid message or record, whichever the dice say. */

#ifndef TESTS_SUPPORT_ANY_MESSAGE_H
#define TESTS_SUPPORT_ANY_MESSAGE_H

#include "protocol/message.h"
#include "protocol/record.h"
#include "support/dice.h"

#include <stdlib.h>
#include <string.h>

static inline struct digest any_digest(struct dice *dice)
{
    struct digest digest;
    dice_fill(dice, digest.byte, DIGEST_BYTES);
    digest.byte[dice_below(dice, DIGEST_BYTES)] |= 1;
    return digest;
}

/* Numbers of every length, the ends of the range more often than chance would. */
static inline uint64_t any_number(struct dice *dice, uint64_t least, uint64_t most)
{
    uint64_t choice = dice_below(dice, 6);
    uint64_t span = most - least;
    uint64_t wide = dice_word(dice) >> dice_below(dice, 64);
    if (choice == 0) {
        return least;
    }
    return choice == 1 || span == UINT64_MAX ? most : least + wide % (span + 1);
}

static inline void any_name(struct dice *dice, char *name, size_t size)
{
    size_t length = 1 + dice_below(dice, size - 1);
    memset(name, 0, size);
    for (size_t i = 0; i < length; i++) {
        name[i] = (char)('!' + dice_below(dice, '~' - '!' + 1));
    }
}

static inline struct artifact any_artifact(struct dice *dice)
{
    struct artifact artifact = {0};
    if (!dice_one_in(dice, 3)) {
        artifact.digest = any_digest(dice);
        artifact.bytes = any_number(dice, 1, TRANSFER_BYTES_MAX);
    }
    return artifact;
}

static inline uint32_t any_round(struct dice *dice)
{
    return (uint32_t)any_number(dice, 0, ROUNDS_MAX - 1);
}

static inline struct job_name any_job_name(struct dice *dice)
{
    return (struct job_name){.id = any_digest(dice),
                             .nonce = any_digest(dice),
                             .text_digest = any_digest(dice),
                             .text_bytes = (uint32_t)any_number(dice, 1, JOB_TEXT_BYTES_MAX)};
}

static inline void any_from_coordinator(struct dice *dice, struct message *message)
{
    uint32_t length = (uint32_t)any_number(dice, 1, CHUNK_BYTES_MAX);
    if (message->kind == MESSAGE_WELCOME) {
        message->as.welcome.version = PROTOCOL_VERSION;
        message->as.welcome.job = any_job_name(dice);
        message->as.welcome.rounds_closed = any_round(dice);
        message->as.welcome.older = any_number(dice, 0, 1) == 1;
    } else if (message->kind == MESSAGE_INVITE) {
        message->as.invite.job = any_digest(dice);
        message->as.invite.round = any_round(dice);
        message->as.invite.input = any_artifact(dice);
        message->as.invite.deadline_ms = (uint32_t)any_number(dice, 0, UINT32_MAX);
    } else if (message->kind == MESSAGE_PULL) {
        message->as.pull.job = any_digest(dice);
        message->as.pull.round = any_round(dice);
        message->as.pull.length = length;
        message->as.pull.offset = any_number(dice, 0, TRANSFER_BYTES_MAX - length);
    } else if (message->kind == MESSAGE_RELEASE) {
        message->as.release.job = any_digest(dice);
        message->as.release.round = any_round(dice);
        message->as.release.last = dice_one_in(dice, 2);
        message->as.release.failed = dice_one_in(dice, 2);
        message->as.release.experts = any_artifact(dice);
        message->as.release.chosen = (uint32_t)any_number(dice, 0, UINT32_MAX);
    } else if (message->kind == MESSAGE_PIECE) {
        message->as.piece.digest = any_digest(dice);
        message->as.piece.offset = any_number(dice, 0, TRANSFER_BYTES_MAX - CHUNK_BYTES_MAX);
    } else if ((message->kind >= MESSAGE_KEYS && message->kind <= MESSAGE_REVEAL)) {
        message->as.leg.job = any_digest(dice);
        message->as.leg.round = any_round(dice);
        message->as.leg.width = message->kind != MESSAGE_ROSTER  ? 0
                                : message->as.leg.round % 2 == 0 ? 32
                                                                 : 64;
    } else if (message->kind == MESSAGE_SHOW) {
        message->as.show.digest = any_digest(dice);
    } else if (message->kind == MESSAGE_CHALLENGE) {
        message->as.challenge.number = any_number(dice, 1, UINT64_MAX);
    } else if (message->kind == MESSAGE_PRESENT) {
        message->as.present.number = any_number(dice, 1, UINT64_MAX);
    } else if (message->kind == MESSAGE_WANT) {
        message->as.want.shared = dice_one_in(dice, 2);
    } else if (message->kind == MESSAGE_LINE) {
        message->as.line.port = (uint32_t)any_number(dice, 1, UINT16_MAX);
        const struct digest id = any_digest(dice);
        memcpy(message->as.line.id, id.byte, sizeof message->as.line.id);
        message->as.line.to_coordinator = any_digest(dice);
        message->as.line.to_agent = any_digest(dice);
    } else if (message->kind == MESSAGE_ENROLLED) {
        any_name(dice, message->as.enrolled.name, sizeof message->as.enrolled.name);
    }
}

/** Makes a valid message of a kind; *payload_bytes becomes what its payload has to be. Bytes that
 * no field holds are zero, so that messages compare by memcmp. */
static inline void any_message(struct dice *dice, enum message_kind kind, struct message *message,
                               size_t *payload_bytes)
{
    memset(message, 0, sizeof *message);
    message->kind = kind;
    *payload_bytes = 0;
    if (message_carries(kind)) {
        const bool piece = kind == MESSAGE_CHUNK || kind == MESSAGE_PIECE;
        *payload_bytes = any_number(dice, 1, piece ? CHUNK_BYTES_MAX : CHUNK_BYTES_SMALL);
    }
    if (kind == MESSAGE_HELLO) {
        message->as.hello.version = PROTOCOL_VERSION;
        if (dice_one_in(dice, 2)) {
            message->as.hello.job = any_digest(dice);
        }
        message->as.hello.rounds_closed = (uint32_t)any_number(dice, 0, ROUNDS_MAX);
        message->as.hello.ready = dice_one_in(dice, 2);
        if (dice_one_in(dice, 2)) {
            message->as.hello.dictionary = any_digest(dice);
        }
    } else if (kind == MESSAGE_OFFER) {
        message->as.offer.job = any_digest(dice);
        message->as.offer.round = any_round(dice);
        message->as.offer.invitation = any_digest(dice);
        message->as.offer.answer = any_digest(dice);
        message->as.offer.bytes = any_number(dice, 1, TRANSFER_BYTES_MAX);
        message->as.offer.records = (uint32_t)any_number(dice, 0, OFFER_RECORDS_MAX);
        message->as.offer.shift = (uint32_t)any_number(dice, 0, WORD_SHIFT_MAX);
    } else if (kind == MESSAGE_CHUNK) {
        message->as.chunk.job = any_digest(dice);
        message->as.chunk.round = any_round(dice);
        message->as.chunk.offset = any_number(dice, 0, TRANSFER_BYTES_MAX - *payload_bytes);
    } else if (kind == MESSAGE_DECLINE) {
        message->as.decline.job = any_digest(dice);
        message->as.decline.round = any_round(dice);
    } else if (kind == MESSAGE_FETCH) {
        message->as.fetch.digest = any_digest(dice);
        message->as.fetch.length = (uint32_t)any_number(dice, 1, CHUNK_BYTES_MAX);
        message->as.fetch.offset =
            any_number(dice, 0, TRANSFER_BYTES_MAX - message->as.fetch.length);
    } else if (kind == MESSAGE_ENROL) {
        message->as.enrol.public_key = any_digest(dice);
        if (dice_one_in(dice, 2)) {
            message->as.enrol.signing_key = any_digest(dice);
        }
    } else if (kind == MESSAGE_DICTIONARY) {
        message->as.dictionary.digest = any_digest(dice);
    } else {
        any_from_coordinator(dice, message);
    }
    if (message_whole_bytes(message) > 0 && dice_one_in(dice, 2)) {
        *payload_bytes = message_whole_bytes(message);
    }
}

enum { ANY_AGENTS_MAX = 256 };

static inline void any_round_record(struct dice *dice, struct record *record)
{
    record->as.round.job = any_digest(dice);
    record->as.round.round = any_round(dice);
    record->as.round.failed = dice_one_in(dice, 2);
    record->as.round.chosen = (uint32_t)any_number(dice, 0, UINT32_MAX);
    record->as.round.agent_count = (uint32_t)any_number(dice, 0, ANY_AGENTS_MAX);
    record->as.round.sum_count = (uint32_t)any_number(dice, 0, 2000);
    record->as.round.blob_bytes = any_number(dice, 0, TRANSFER_BYTES_MAX);
    record->as.round.duration_ms = (uint32_t)any_number(dice, 0, UINT32_MAX);
    record->as.round.records =
        any_number(dice, 0, (uint64_t)record->as.round.agent_count * OFFER_RECORDS_MAX);
    record->as.round.agent = calloc(ANY_AGENTS_MAX, sizeof *record->as.round.agent);
    record->as.round.sum = calloc(2000, sizeof *record->as.round.sum);
    if (record->as.round.agent == NULL || record->as.round.sum == NULL) {
        abort();
    }
    for (uint32_t i = 0; i < record->as.round.agent_count; i++) {
        any_name(dice, record->as.round.agent[i].name, PEER_NAME_BYTES - 4);
        size_t length = strlen(record->as.round.agent[i].name);
        hex_encode(record->as.round.agent[i].name + length, &(uint8_t){(uint8_t)i}, 1);
    }
    record->as.round.away = calloc(ANY_AGENTS_MAX, sizeof *record->as.round.away);
    if (record->as.round.away == NULL) {
        abort();
    }
    for (uint32_t i = 0; i < record->as.round.agent_count; i++) {
        if (dice_one_in(dice, 3)) {
            record->as.round.away[record->as.round.away_count++] = record->as.round.agent[i];
        }
    }
    for (size_t i = 0; record->as.round.failed && i < dice_below(dice, RECORD_CAUSE_BYTES); i++) {
        record->as.round.cause[i] = (char)any_number(dice, 0x20, 0x7e);
    }
    for (uint32_t i = 0; i < record->as.round.sum_count; i++) {
        record->as.round.sum[i] = (int64_t)any_number(dice, 0, UINT64_MAX);
    }
}

/** Makes a valid record of a kind; the caller calls record_free. */
static inline void any_record(struct dice *dice, enum record_kind kind, struct record *record)
{
    memset(record, 0, sizeof *record);
    record->kind = kind;
    record->wall_ms = (int64_t)any_number(dice, 0, UINT64_MAX);
    if (kind == RECORD_JOB) {
        record->as.job.job = any_job_name(dice);
        record->as.job.trees = any_number(dice, 0, 1) == 1;
        record->as.job.shares = any_number(dice, 0, 1) == 1;
        record->as.job.protocol = (uint32_t)any_number(dice, 0, 9);
        if (any_number(dice, 0, 3) > 0) { /* else it is elsewhere */
            record->as.job.text = malloc(record->as.job.job.text_bytes);
            if (record->as.job.text == NULL) {
                abort();
            }
            dice_fill(dice, record->as.job.text, record->as.job.job.text_bytes);
        }
    } else if (kind == RECORD_ANSWER) {
        record->as.answer.job = any_digest(dice);
        record->as.answer.round = any_round(dice);
        any_name(dice, record->as.answer.task, sizeof record->as.answer.task);
        record->as.answer.charge.epsilon_micro = any_number(dice, 1, UINT64_MAX);
        record->as.answer.charge.delta_atto = any_number(dice, 0, DELTA_ATTO_ONE - 1);
        record->as.answer.charge.pass = any_digest(dice);
        record->as.answer.charge.row_first = any_number(dice, 0, UINT64_MAX / 2);
        record->as.answer.charge.row_count = any_number(dice, 1, UINT64_MAX / 2);
        record->as.answer.invitation = any_digest(dice);
        record->as.answer.answer = any_digest(dice);
        record->as.answer.answer_bytes = any_number(dice, 1, TRANSFER_BYTES_MAX);
        record->as.answer.masks_bytes = any_number(dice, 0, RECORD_MASKS_BYTES_MAX);
        record->as.answer.shift = (uint32_t)any_number(dice, 0, WORD_SHIFT_MAX);
    } else if (kind == RECORD_ROSTER) {
        record->as.roster.job = any_digest(dice);
        record->as.roster.round = any_round(dice);
        record->as.roster.bytes = any_number(dice, 1, RECORD_MASKS_BYTES_MAX);
    } else if (kind == RECORD_SURVIVORS) {
        record->as.survivors.job = any_digest(dice);
        record->as.survivors.round = any_round(dice);
        record->as.survivors.set = any_digest(dice);
    } else if (kind == RECORD_KEYS) {
        record->as.keys.job = any_digest(dice);
        record->as.keys.round = any_round(dice);
        record->as.keys.invitation = any_digest(dice);
        record->as.keys.bytes = any_number(dice, 1, RECORD_MASKS_BYTES_MAX);
    } else if (kind == RECORD_PARTIAL) {
        struct record round = {.kind = RECORD_ROUND};
        any_round_record(dice, &round);
        record->as.partial.job = any_digest(dice);
        record->as.partial.round = any_round(dice);
        any_name(dice, record->as.partial.collector, sizeof record->as.partial.collector);
        record->as.partial.agent = round.as.round.agent;
        record->as.partial.agent_count = round.as.round.agent_count;
        record->as.partial.away = round.as.round.away;
        record->as.partial.away_count = round.as.round.away_count;
        round.as.round.agent = round.as.round.away = NULL;
        record_free(&round);
        if (record->as.partial.agent_count == 0) {
            free(record->as.partial.agent);
            record->as.partial.agent = calloc(1, sizeof *record->as.partial.agent);
            if (record->as.partial.agent == NULL) {
                abort();
            }
            record->as.partial.agent_count = 1;
            any_name(dice, record->as.partial.agent->name, sizeof record->as.partial.agent->name);
        }
        record->as.partial.records = any_number(dice, 0, record->as.partial.agent_count);
        record->as.partial.blob_bytes = any_number(dice, 8, TRANSFER_BYTES_MAX);
    } else {
        any_round_record(dice, record);
    }
}

#endif
