/* Bytes -> a frame of either protocol, and a journal record. Whatever is accepted packs to the same bytes again. */

#include "base/check.h"
#include "protocol/ask.h"
#include "protocol/wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_frame(struct slice control, struct slice payload)
{
    struct message message;
    if (wire_decode(&message, control, payload) == STATUS_OK) {
        uint8_t again[CONTROL_BYTES_MAX];
        CHECK(message_is_valid(&message, payload.size));
        CHECK(wire_encode(again, &message) == control.size);
        CHECK(memcmp(again, control.data, control.size) == 0);
    } else {
        static const struct message zeroed;
        CHECK(memcmp(&message, &zeroed, sizeof message) == 0);
    }
}

static void try_question(struct slice control, struct slice payload)
{
    uint8_t again[ASK_FRAME_BYTES_MAX];
    struct ask ask;
    struct told told;
    if (ask_decode(&ask, control, payload) == STATUS_OK) {
        struct message message;
        CHECK(ask_is_valid(&ask, payload.size));
        CHECK(ask_encode(again, &ask) == control.size);
        CHECK(memcmp(again, control.data, control.size) == 0);
        CHECK(wire_decode(&message, control, payload) != STATUS_OK);
    } else {
        CHECK(ask.number == 0 && ask.verb == ASK_NONE);
    }
    if (told_decode(&told, control, payload) == STATUS_OK) {
        CHECK(told_encode(again, &told) == control.size);
        CHECK(memcmp(again, control.data, control.size) == 0);
    } else {
        CHECK(told.number == 0);
    }
}

static void try_record(struct slice body)
{
    struct record record;
    if (wire_decode_record(&record, body) == STATUS_OK) {
        uint8_t *again = NULL;
        size_t size = 0;
        CHECK(wire_encode_record(&again, &size, &record) == STATUS_OK);
        CHECK(size == body.size && memcmp(again, body.data, size) == 0);
        free(again);
        record_free(&record);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t payload[1];
    struct slice bytes = {.data = data, .size = size};
    if (size > 0) {
        try_frame(bytes, (struct slice){.data = payload, .size = 0});
        try_frame(bytes, (struct slice){.data = payload, .size = 1});
        try_question(bytes, (struct slice){.data = payload, .size = 0});
        try_question(bytes, (struct slice){.data = payload, .size = 1});
        try_record(bytes);
    }
    return 0;
}
