/* Messages that a program sends in one turn must not be lost on a connection that works: a window
 * of pieces, an invitation, a greeting. A lost message is asked for again only after seconds. A
 * large answer with a hole in each window would take minutes. (libzmq gives back the room of sent
 * messages by halves of its limit: of 16, 9 can be relied on.) */

#include "io/clock.h"
#include "io/endpoint.h"
#include "protocol/message.h"

#include <criterion/criterion.h>
#include <string.h>

enum { AT_ONCE = 9, TURNS = 200, SECONDS_MAX = 60, PIECE_BYTES = 4096 };

static const struct peer coordinator = {"coordinator"};
static const struct peer agent = {"site"};

struct pair {
    struct endpoint *listening;
    struct endpoint *dialing;
};

static void poll_both(const struct pair *pair)
{
    cr_assert_eq(endpoint_poll(pair->listening, NULL, 0, 1), STATUS_OK);
    cr_assert_eq(endpoint_poll(pair->dialing, NULL, 0, 1), STATUS_OK);
}

/* One end sends all its messages without listening in between; then the other end reads them. */
static void burst(const struct pair *pair, struct endpoint *from, const struct peer *to,
                  struct endpoint *reader)
{
    static const uint8_t bytes[PIECE_BYTES];
    struct slice control = {bytes, 100};
    struct slice payload = {bytes, sizeof bytes};
    struct endpoint_message message;
    int64_t until_ms = clock_now_ms() + SECONDS_MAX * 1000;
    int read = 0;

    for (int i = 0; i < AT_ONCE; i++) {
        cr_assert_eq(endpoint_send(from, to, control, payload), STATUS_OK, "message %d was lost",
                     i);
    }
    while (read < AT_ONCE) {
        cr_assert(clock_now_ms() < until_ms, "%d of %d arrived", read, AT_ONCE);
        poll_both(pair);
        while (endpoint_receive(reader, &message) == STATUS_OK) {
            read++;
        }
    }
}

Test(burst, of_a_turn_is_not_lost_on_a_working_connection)
{
    struct pair pair = {0};
    struct key_pair office;
    struct key_pair site;
    struct why why = {""};
    static struct roster roster = {.count = 1};
    struct endpoint_message message;
    struct endpoint_options listen = {
        .address = "tcp://127.0.0.1:0", .key = &office, .payload_bytes_max = PIECE_BYTES};

    cr_assert_eq(key_pair_generate(&office), STATUS_OK);
    cr_assert_eq(key_pair_generate(&site), STATUS_OK);
    memcpy(roster.entry[0].name, agent.name, sizeof "site");
    roster.entry[0].key = site.public_key;
    cr_assert_eq(endpoint_listen(&pair.listening, &listen, &why), STATUS_OK, "%s", why.text);
    endpoint_admit(pair.listening, &roster);
    struct endpoint_options dial = {.address = endpoint_address(pair.listening),
                                    .key = &site,
                                    .payload_bytes_max = PIECE_BYTES,
                                    .coordinator_key = office.public_key};
    cr_assert_eq(endpoint_dial(&pair.dialing, &dial, &why), STATUS_OK, "%s", why.text);

    /* A first message makes the agent known. */
    int64_t until_ms = clock_now_ms() + SECONDS_MAX * 1000;
    cr_assert_eq(endpoint_send(pair.dialing, &coordinator, (struct slice){"hello", 5},
                               (struct slice){NULL, 0}),
                 STATUS_OK);
    while (endpoint_receive(pair.listening, &message) != STATUS_OK) {
        cr_assert(clock_now_ms() < until_ms);
        poll_both(&pair);
    }
    for (int turn = 0; turn < TURNS; turn++) {
        burst(&pair, pair.dialing, &coordinator, pair.listening);
        burst(&pair, pair.listening, &agent, pair.dialing);
    }
    endpoint_free(pair.dialing);
    endpoint_free(pair.listening);
}
