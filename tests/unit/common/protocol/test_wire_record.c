#include "protocol/wire.h"
#include "support/known_bytes.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct digest digest_filled(uint8_t byte)
{
    struct digest digest;
    memset(digest.byte, byte, DIGEST_BYTES);
    return digest;
}

static void check_known(const char *name, const struct record *record)
{
    uint8_t known[1024];
    uint8_t *packed = NULL;
    size_t packed_size = 0;
    size_t size = known_bytes(known, sizeof known, TEST_VECTORS "/wire.txt", name);
    cr_assert_eq(wire_encode_record(&packed, &packed_size, record), STATUS_OK);
    cr_assert_eq(packed_size, size, "%s: %zu", name, packed_size);
    cr_assert_eq(memcmp(packed, known, size), 0, "%s", name);
    free(packed);
}

static struct record known_answer(void)
{
    struct record record = {.kind = RECORD_ANSWER, .wall_ms = -1, .as.answer.task = "losses"};
    record.as.answer.job = digest_filled(0x0a);
    record.as.answer.round = 2;
    record.as.answer.charge = (struct charge){
        .epsilon_micro = 250000, .pass = digest_filled(0x7d), .row_first = 64, .row_count = 32};
    record.as.answer.invitation = digest_filled(0xb0);
    record.as.answer.answer = digest_filled(0xc1);
    record.as.answer.answer_bytes = 24;
    return record;
}

Test(wire_record, packs_as_protoc_does)
{
    char text[] = "name: x\n";
    struct record record = {.kind = RECORD_JOB, .wall_ms = 1700000000000, .as.job.text = text};
    record.as.job.job = (struct job_name){.id = digest_filled(0x0a),
                                          .nonce = digest_filled(0xb0),
                                          .text_digest = digest_filled(0xc1),
                                          .text_bytes = 8};
    check_known("job", &record);
    record.as.job.trees = true;
    check_known("job-trees", &record);
    record.as.job.shares = true;
    check_known("job-shares", &record);
    record.as.job.protocol = 7;
    check_known("job-of-seven", &record);
    record.as.job.protocol = 0;
    record.as.job.trees = record.as.job.shares = false;
    record.as.job.text = NULL; /* in the blob, or beside an earlier job */
    check_known("job-elsewhere", &record);

    record = known_answer();
    check_known("answer", &record);

    record.wall_ms = 1;
    (void)snprintf(record.as.answer.task, sizeof record.as.answer.task, "update");
    record.as.answer.charge = (struct charge){.mechanism = MECHANISM_DISCRETE_GAUSSIAN,
                                              .neighbours = NEIGHBOURS_ADD_REMOVE,
                                              .sigma_micro = 4500000,
                                              .delta_atto = 7,
                                              .count = 12,
                                              .sampling_nano = 10000000,
                                              .pass = digest_filled(0x7d),
                                              .row_count = 32};
    check_known("answer-event", &record);
    record.as.answer.charge =
        (struct charge){.epsilon_micro = 250000, .pass = digest_filled(0x7d), .row_count = 32};
    record.as.answer.shift = 12;
    check_known("answer-rounded", &record);

    struct peer agent[2] = {{.name = "hospital-1"}, {.name = "hospital-2"}};
    int64_t sum[2] = {-1, INT64_C(1) << 62};
    record = (struct record){.kind = RECORD_ROUND, .wall_ms = 1};
    record.as.round.job = digest_filled(0x0a);
    record.as.round.round = 2;
    record.as.round.chosen = 1;
    record.as.round.agent = agent;
    record.as.round.agent_count = 2;
    record.as.round.sum = sum;
    record.as.round.sum_count = 2;
    record.as.round.duration_ms = 1500;
    check_known("round", &record);
    record.as.round.records = 5000;
    check_known("round-share", &record);
    record = (struct record){.kind = RECORD_ROUND, .wall_ms = 1};
    record.as.round.job = digest_filled(0x0a);
    record.as.round.round = 2;
    record.as.round.agent = agent;
    record.as.round.agent_count = 2;
    record.as.round.away = agent + 1;
    record.as.round.away_count = 1;
    record.as.round.blob_bytes = 8;
    record.as.round.duration_ms = 1500;
    check_known("round-turn", &record);

    record = (struct record){.kind = RECORD_ROSTER, .wall_ms = 1};
    record.as.roster.job = digest_filled(0x0a);
    record.as.roster.round = 2;
    record.as.roster.bytes = 300;
    record.as.roster.width = 32;
    check_known("roster-kept", &record);
    record = (struct record){.kind = RECORD_SURVIVORS, .wall_ms = 1};
    record.as.survivors.job = digest_filled(0x0a);
    record.as.survivors.round = 2;
    record.as.survivors.set = digest_filled(0x7d);
    check_known("survivors-kept", &record);
    record = (struct record){.kind = RECORD_KEYS, .wall_ms = 1};
    record.as.keys.job = digest_filled(0x0a);
    record.as.keys.round = 2;
    record.as.keys.invitation = digest_filled(0xb0);
    record.as.keys.bytes = 300;
    check_known("keys-kept", &record);
}

Test(wire_record, reads_negative_sums_and_names)
{
    uint8_t known[1024];
    struct record record;
    size_t size = known_bytes(known, sizeof known, TEST_VECTORS "/wire.txt", "round");
    struct slice body = {.data = known, .size = size};
    cr_assert_eq(wire_decode_record(&record, body), STATUS_OK);
    cr_assert_eq(record.kind, RECORD_ROUND);
    cr_assert_eq(record.as.round.agent_count, 2);
    cr_assert_str_eq(record.as.round.agent[1].name, "hospital-2");
    cr_assert_eq(record.as.round.sum[0], -1);
    cr_assert_eq(record.as.round.sum[1], INT64_C(1) << 62);
    record_free(&record);
    record_free(NULL);
}

Test(wire_record, one_agent_listed_twice_is_refused)
{
    uint8_t known[1024];
    struct record record;
    size_t size = known_bytes(known, sizeof known, TEST_VECTORS "/wire.txt", "round");
    struct slice body = {.data = known, .size = size};
    for (size_t i = 0; i + 10 < size; i++) {
        if (memcmp(known + i, "hospital-2", 10) == 0) {
            known[i + 9] = '1';
        }
    }
    cr_assert_eq(wire_decode_record(&record, body), STATUS_CORRUPT);
}

/* The bytes above are of a journal from before charges were events: it reads as one pure run. */
Test(wire_record, a_charge_is_an_event_and_an_old_one_is_pure)
{
    uint8_t known[1024];
    struct record record;
    size_t size = known_bytes(known, sizeof known, TEST_VECTORS "/wire.txt", "answer");
    cr_assert_eq(wire_decode_record(&record, (struct slice){known, size}), STATUS_OK);
    cr_assert_eq(record.as.answer.charge.mechanism, MECHANISM_PURE);
    cr_assert_eq(record.as.answer.charge.neighbours, NEIGHBOURS_REPLACE_ONE);
    cr_assert_eq(charge_count(&record.as.answer.charge), 1);
    cr_assert_eq(charge_sampling_nano(&record.as.answer.charge), SAMPLING_NANO_ONE);
    record_free(&record);
}

Test(wire_record, every_field_of_a_charge_comes_back)
{
    uint8_t *packed = NULL;
    size_t size = 0;
    struct record again;
    struct record record = known_answer();
    struct charge *charge = &record.as.answer.charge;
    charge->mechanism = MECHANISM_DISCRETE_GAUSSIAN;
    charge->neighbours = NEIGHBOURS_ADD_REMOVE;
    charge->epsilon_micro = 0;
    charge->sigma_micro = 4500000;
    charge->delta_atto = 7;
    charge->count = 12;
    charge->sampling_nano = 10000000;
    cr_assert_eq(wire_encode_record(&packed, &size, &record), STATUS_OK);
    cr_assert_eq(wire_decode_record(&again, (struct slice){packed, size}), STATUS_OK);
    cr_assert(memcmp(&again.as.answer.charge, charge, sizeof *charge) == 0);
    record_free(&again);
    free(packed);
}

Test(wire_record, an_answer_without_a_charge_is_refused)
{
    struct record record = known_answer();
    record.as.answer.charge.epsilon_micro = 0;
    cr_assert_not(record_is_valid(&record));
    record = known_answer();
    record.as.answer.charge.row_count = 0;
    cr_assert_not(record_is_valid(&record));
    record = known_answer();
    record.as.answer.charge.mechanism = (enum mechanism)MECHANISM_COUNT;
    cr_assert_not(record_is_valid(&record));
    record = known_answer();
    record.as.answer.answer = (struct digest){0};
    cr_assert(record_is_valid(&record), "an exact answer's digest is not kept");
}

Test(wire_record, packing_what_could_not_be_read_again_is_our_own_error, .signal = SIGABRT)
{
    struct record record = known_answer();
    uint8_t *out = NULL;
    size_t size = 0;
    record.as.answer.charge.epsilon_micro = 0;
    (void)!wire_encode_record(&out, &size, &record);
}

Test(wire_record, empty_and_oversized_bodies_are_refused_unread)
{
    struct record record;
    struct slice body = {.data = NULL, .size = 0};
    cr_assert_eq(wire_decode_record(&record, body), STATUS_CORRUPT);
    body.size = RECORD_BODY_BYTES_MAX + 1;
    cr_assert_eq(wire_decode_record(&record, body), STATUS_CORRUPT);
}

/* Only a job that failed was cancelled; a journal from before says of none that it was. */
Test(wire_record, a_cancellation_comes_back)
{
    uint8_t *packed = NULL;
    size_t size = 0;
    struct record again;
    struct record record = {.kind = RECORD_ROUND, .wall_ms = 1};
    record.as.round.job = digest_filled(0x0a);
    record.as.round.failed = true;
    for (int cancelled = 0; cancelled < 2; cancelled++) {
        record.as.round.cancelled = cancelled == 1;
        cr_assert_eq(wire_encode_record(&packed, &size, &record), STATUS_OK);
        cr_assert_eq(wire_decode_record(&again, (struct slice){packed, size}), STATUS_OK);
        cr_expect_eq(again.as.round.cancelled, cancelled == 1);
        record_free(&again);
        free(packed);
    }
    record.as.round.failed = false;
    cr_expect_not(record_is_valid(&record));
    record.as.round.cancelled = false;
    cr_expect(record_is_valid(&record));
}

Test(wire_record, names_as_many_agents_as_a_coordinator_serves)
{
    struct record record = {.kind = RECORD_ROUND, .wall_ms = 1};
    struct record again;
    uint8_t *body = NULL;
    size_t size = 0;
    record.as.round.job = digest_filled(0x0a);
    record.as.round.agent_count = PEERS_MAX;
    record.as.round.agent = calloc(PEERS_MAX, sizeof *record.as.round.agent);
    cr_assert_not_null(record.as.round.agent);
    for (size_t i = 0; i < PEERS_MAX; i++) { /* short names unfold most */
        (void)snprintf(record.as.round.agent[i].name, PEER_NAME_BYTES, "%zu", 10000 + i);
    }
    cr_assert_eq(wire_encode_record(&body, &size, &record), STATUS_OK);
    cr_assert_eq(wire_decode_record(&again, (struct slice){body, size}), STATUS_OK);
    cr_assert_eq(again.as.round.agent_count, PEERS_MAX);
    cr_assert_str_eq(again.as.round.agent[PEERS_MAX - 1].name, "19999");
    record_free(&again);
    free(body);
    record.as.round.away = calloc(PEERS_MAX, sizeof *record.as.round.away);
    cr_assert_not_null(record.as.round.away);
    for (uint32_t away = 0; away <= PEERS_MAX;
         away += 2000) { /* of these, where they look by turns */
        record.as.round.away_count = away;
        memcpy(record.as.round.away, record.as.round.agent, away * sizeof *record.as.round.away);
        cr_assert_eq(wire_encode_record(&body, &size, &record), STATUS_OK);
        cr_assert_eq(wire_decode_record(&again, (struct slice){body, size}), STATUS_OK, "%u", away);
        cr_assert_eq(again.as.round.away_count, away);
        record_free(&again);
        free(body);
    }
    memcpy(record.as.round.agent[7].name, record.as.round.agent[9000].name, PEER_NAME_BYTES);
    cr_assert_not(record_is_valid(&record), "one is named twice");
    record_free(&record);
}

/* Else parts of two collectors could name the same, and a round's record with both cannot be written. */
Test(wire_record, who_did_not_look_is_one_of_the_agents)
{
    static const char *const lists[][2] = {{"a b c", ""},  {"a b c", "a c"}, {"c a b", "b a"},
                                           {"a b", "c"},   {"a b", "a b b"}, {"c a b", "d"},
                                           {"a b", "a a"}, {"", "a"}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct peer agent[3] = {{{0}}};
        struct peer away[3] = {{{0}}};
        struct record record = {.kind = RECORD_PARTIAL, .wall_ms = 1};
        record.as.partial.job = digest_filled(0x0a);
        record.as.partial.collector[0] = 'e';
        record.as.partial.blob_bytes = 8;
        record.as.partial.agent = agent;
        record.as.partial.away = away;
        for (const char *c = lists[i][0]; *c != 0; c += c[1] == ' ' ? 2 : 1) {
            agent[record.as.partial.agent_count++].name[0] = *c;
        }
        for (const char *c = lists[i][1]; *c != 0; c += c[1] == ' ' ? 2 : 1) {
            away[record.as.partial.away_count++].name[0] = *c;
        }
        cr_expect_eq(record_is_valid(&record), i < 3, "%s, and away: %s", lists[i][0], lists[i][1]);
    }
}
