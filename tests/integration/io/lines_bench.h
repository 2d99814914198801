/* lines_bench.h - a federation with lines, and an agent's end that has one: for tests of lines. */

#ifndef TESTS_IO_LINES_BENCH_H
#define TESTS_IO_LINES_BENCH_H

#include "federation.h"

#include "io/endpoint_lines.h"
#include "protocol/wire.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct federation federation;
static const struct peer coordinator = {"coordinator"};

static inline void start_two(void)
{
    federation_start(&federation, 2, NULL);
}

static inline void teardown(void)
{
    federation_stop(&federation);
}

static inline struct endpoint *dial_with_lines(int agent)
{
    struct endpoint *endpoint = NULL;
    struct why why = {""};
    const struct endpoint_options options = {.address = federation.address,
                                             .lines = "",
                                             .key = &federation.agent[agent],
                                             .payload_bytes_max = PAYLOAD_MAX,
                                             .coordinator_key = federation.coordinator.public_key};
    cr_assert_eq(endpoint_dial(&endpoint, &options, &why), STATUS_OK, "%s", why.text);
    return endpoint;
}

static inline void until_line(struct endpoint *endpoint, enum line_state state)
{
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    while (endpoint->lines->own.state != state && clock_now_ms() < until_ms) {
        cr_assert_geq(federation_round_trip(endpoint, PATIENCE_MS), 0);
    }
    cr_assert_eq(endpoint->lines->own.state, state);
}

/* Sends a large piece until it comes back, whole and right. */
static inline void large_round_trip(struct endpoint *endpoint)
{
    static uint8_t payload[PAYLOAD_MAX];
    static uint32_t number;
    uint8_t control[CONTROL_BYTES_MAX];
    struct message chunk = {.kind = MESSAGE_CHUNK, .as.chunk.job = {{1}}};
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    int64_t sent_ms = 0;
    bool back = false;

    store_u32(chunk.as.chunk.job.byte, ++number);
    const size_t size = wire_encode(control, &chunk);
    for (size_t i = 0; i < sizeof payload; i++) {
        payload[i] = (uint8_t)(i * 11 + number);
    }
    while (!back && clock_now_ms() < until_ms) {
        struct endpoint_message message;
        if (clock_now_ms() - sent_ms >= 500) {
            sent_ms = clock_now_ms();
            (void)!endpoint_send(endpoint, &coordinator, (struct slice){control, size},
                                 (struct slice){payload, sizeof payload});
        }
        cr_assert_eq(endpoint_poll(endpoint, NULL, 0, 20), STATUS_OK);
        while (endpoint_receive(endpoint, &message) == STATUS_OK) {
            if (message.control.size == size && memcmp(message.control.data, control, size) == 0) {
                cr_assert_eq(message.payload.size, sizeof payload);
                cr_assert_eq(memcmp(message.payload.data, payload, sizeof payload), 0);
                back = true;
            }
        }
    }
    cr_assert(back);
}

#endif
