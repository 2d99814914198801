/* How wide the words of a masked answer are: as wide as the roster says, and never narrower than their sum needs. */

#include "crypto/digest.h"
#include "protocol/wire.h"
#include "tests/support/dictionary_of.h"
#include "tests/unit/common/masks/legs.h"
#include "timed.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { SITES = 4, OTHERS = 0xe, NARROW_GRID = 10, WIDE_GRID = 30 };

static struct timed bench;
static struct table table;

/* The first of four sites, in a round that has begun: its keys are sent. */
static void begin(unsigned grid_bits)
{
    timed_init(&bench, 10);
    timed_stop(&bench);
    (void)snprintf(bench.text, sizeof bench.text,
                   "hedgerow: 1\njob: masked\ndata:\n"
                   "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
                   "  features:\n"
                   "    - {column: a, centre: 0, half_width: 1}\n"
                   "    - {column: b, centre: 0, half_width: 1}\n"
                   "privacy: {unit: record, neighbours: replace_one, trust: distributed, epsilon: "
                   "1, delta: 0}\n"
                   "cohort: {minimum: 3, dishonest: 1, honest: 1, records: 5, join_deadline_s: 10,"
                   " deadline_s: 10}\n"
                   "stages:\n  - {task: fit, loss: logistic, lambdas: [0.5], share: 1, tolerance: "
                   "0.01, grid_bits: %u}\n",
                   grid_bits);
    const struct slice text = {bench.text, strlen(bench.text)};
    free(bench.dictionary.column);
    bench.dictionary = dictionary_of_text(text, 2);
    timed_name_job(&bench.job, text, 1);
    bench.policy.trust_allowed[TRUST_DISTRIBUTED] = true;
    (void)snprintf(bench.policy.peers, sizeof bench.policy.peers, "peers");
    table_init(&table, SITES, 3);
    bench.masks = &table.self[0];
    timed_start(&bench);
    timed_join(&bench);
    bench.now_ms += SLOT_MS; /* records are read */
    timed_tick(&bench);
    timed_settle(&bench);
    const struct message invite = timed_invitation(&bench, 0, NULL);
    timed_give(&bench, &invite, (struct slice){0});
    timed_settle(&bench);
}

static void end(void)
{
    timed_free(&bench);
    table_free(&table);
}

/* The coordinator's part: the roster of all four, with words of a given width. */
static void tell_roster(enum masks_width width)
{
    const struct artifact none = {0};
    struct message roster = {.kind = MESSAGE_ROSTER, .as.leg.job = bench.job.id};
    uint8_t named[INVITATION_BYTES];
    struct why why = {""};
    cr_assert_eq(timed_count(&bench, MESSAGE_KEYS), 1, "%s", bench.logged);
    cr_assert_eq(bench.sent_payload.size, MASKS_KEYS_BYTES);
    invitation_bytes(named, &bench.job.id, 0, &none);
    digest_sha256(&table.invitation, &(struct slice){named, sizeof named}, 1);
    table.terms = (struct masks_terms){
        .job = bench.job.id, .sites_least = 3, .dishonest = 1, .honest = 1, .width = width};
    masks_host_free(table.host);
    cr_assert_eq(masks_host_new(&table.host, &table.terms, &table.invitation), STATUS_OK);
    cr_assert_eq(masks_host_take_keys(table.host, table_name(0), bench.sent_payload, &why),
                 STATUS_OK, "%s", why.text);
    table_send_keys(&table, OTHERS);
    cr_assert_eq(masks_host_list(table.host, &why), STATUS_OK, "%s", why.text);
    roster.as.leg.width = (uint32_t)width;
    timed_give(&bench, &roster, table_roster(&table));
    timed_settle(&bench);
    bench.now_ms += 2 * SLOT_MS;
    timed_tick(&bench);
    timed_settle(&bench);
}

/* The size of the answer that was offered; 0: the round was declined. */
static uint64_t offered(void)
{
    struct message message;
    uint64_t bytes = 0;
    for (size_t i = 0; i < bench.sent_count; i++) {
        const struct slice control = {bench.sent[i].control, bench.sent[i].size};
        if (control.size > 0 && wire_decode(&message, control, (struct slice){0}) == STATUS_OK &&
            message.kind == MESSAGE_OFFER) {
            bytes = message.as.offer.bytes;
        }
    }
    cr_assert_eq(timed_count(&bench, MESSAGE_DECLINE), bytes == 0 ? 1 : 0);
    return bytes;
}

Test(participant_masked, answers_in_words_that_the_roster_says)
{
    begin(NARROW_GRID);
    tell_roster(MASKS_32);
    cr_expect_eq(offered(), 4 * DIM);
    end();
}

/* A coordinator that has listed the round as an older program. */
Test(participant_masked, takes_wider_words_than_it_needs)
{
    begin(NARROW_GRID);
    tell_roster(MASKS_64);
    cr_expect_eq(offered(), 8 * DIM);
    end();
}

Test(participant_masked, declines_words_that_are_too_narrow)
{
    begin(WIDE_GRID);
    tell_roster(MASKS_32);
    cr_expect_eq(offered(), 0);
    cr_expect_not_null(strstr(bench.logged, "roster-refused"));
    end();
    begin(WIDE_GRID);
    tell_roster(MASKS_64);
    cr_expect_eq(offered(), 8 * DIM);
    end();
}
