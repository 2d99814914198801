/* What leaves the gate under distributed trust: the value, this site's share of the noise and its masks; never the one
 * without the other. And what a restart finds. */

#include "noise/share.h"
#include "some_gate.h"

#include "crypto/digest.h"
#include "dp/mechanism.h"
#include "tests/unit/common/masks/legs.h"

#include <string.h>

enum { SITES = 3, SHARES = 2, LIMIT_MICRO = 5000000 };

static struct table table;

/* All sites' rosters are judged, and none has answered. */
static void sit(void)
{
    table_init(&table, SITES, 3);
    table_send_keys(&table, 7);
    table_list(&table, 7);
}

static void stand(void)
{
    table_free(&table);
}

static struct gate_request masked(struct masks_site *site)
{
    struct gate_request request = request_of(0, 1000000);
    request.masks = site;
    request.shares = SHARES;
    return request;
}

/* The share that the gate's seeded source gives a site. */
static void draw_share(int64_t share[static COUNT])
{
    struct seeded_random again;
    struct grant *grant = NULL;
    struct noise_share table_of_shares = {.shares = 0};
    struct charge charge = request_of(0, 1000000).charge;
    struct ledger *ledger = ledger_new((struct price){LIMIT_MICRO, 0});
    seeded_random_init(&again, 7);
    const struct random same = seeded_random_interface(&again);
    memset(share, 0, COUNT * sizeof *share);
    cr_assert_eq(ledger_spend(ledger, &grant, &charge, NULL), STATUS_OK);
    cr_assert_eq(mechanism_share(&grant, &table_of_shares, &same, share, COUNT, 4, SHARES),
                 STATUS_OK);
    noise_share_free(&table_of_shares);
    ledger_free(ledger);
}

/* Every site has a gate of its own, with the same seed: so each adds the same share, and the sum is known. */
Test(gate_masked, the_sum_of_what_leaves_is_that_of_values_and_shares, .init = sit, .fini = stand)
{
    int64_t share[COUNT];
    uint64_t sum[COUNT] = {0};
    draw_share(share);
    for (size_t i = 0; i < SITES; i++) {
        struct gate *gate = new_gate(LIMIT_MICRO);
        struct gate_request request = masked(table.site[i]);
        struct private_vector vector = vector_of((int64_t)i);
        struct gate_answer_view view;
        struct record record;
        struct slice blob;
        struct why why = {""};
        cr_assert_eq(gate_answer(gate, &record, &blob, &vector, &request, &why), STATUS_OK, "%s",
                     why.text);
        cr_expect(!gate_latest(gate, &view), "nothing can be read before it is durable");
        cr_expect_eq(record.as.answer.answer_bytes, 8 * COUNT);
        cr_expect_eq(blob.size, 8 * COUNT + record.as.answer.masks_bytes);
        gate_committed(gate, 1);
        cr_assert(gate_latest(gate, &view));
        cr_expect_eq(view.bytes.size, 8 * COUNT, "what opens the masks is not among what leaves");
        bool plain = true;
        for (size_t w = 0; w < COUNT; w++) {
            const uint64_t word = load_u64((const uint8_t *)view.bytes.data + 8 * w);
            sum[w] += word;
            plain = plain && word == (uint64_t)((int64_t)i + share[w]);
        }
        cr_expect(!plain, "a share of noise protects nothing by itself");
        gate_free(gate);
    }
    memcpy(table.sum, sum, sizeof sum);
    table_settle(&table, 7);
    table_sign(&table, 7);
    table_reveal(&table, 7);
    for (size_t w = 0; w < COUNT; w++) {
        cr_expect_eq((int64_t)table.sum[w], 0 + 1 + 2 + SITES * share[w]);
    }
}

Test(gate_masked, a_restart_finds_answer_and_masks_and_no_others, .init = sit, .fini = stand)
{
    struct gate *gate = new_gate(LIMIT_MICRO);
    struct gate *again = new_gate(LIMIT_MICRO);
    struct gate_request request = masked(table.site[0]);
    struct private_vector vector = vector_of(3);
    struct gate_answer_view view;
    struct gate_answer_view restored;
    struct masks_site *site = NULL;
    struct record record;
    struct slice blob;
    struct why why = {""};
    cr_assert_eq(gate_answer(gate, &record, &blob, &vector, &request, &why), STATUS_OK);
    gate_committed(gate, 1);
    cr_assert(gate_latest(gate, &view));
    record.as.answer.masks_bytes--;
    cr_expect_eq(gate_restore(again, &record, 1, blob), STATUS_CORRUPT);
    gate_free(again);
    again = new_gate(LIMIT_MICRO);
    record.as.answer.masks_bytes++;
    cr_assert_eq(gate_restore(again, &record, 1, blob), STATUS_OK);
    cr_assert(gate_latest(again, &restored));
    cr_assert_eq(restored.bytes.size, view.bytes.size);
    cr_expect_arr_eq(restored.bytes.data, view.bytes.data, view.bytes.size);
    cr_expect_eq(
        masks_site_unpack(&site, &table.self[0], &table.terms, &table.invitation, restored.masks),
        STATUS_OK);
    masks_site_free(site);
    cr_expect(gate_drop(again));
    cr_assert(gate_latest(again, &restored));
    cr_expect_eq(restored.masks.size, 0, "with the round what opens it goes");
    gate_free(again);
    gate_free(gate);
}

Test(gate_masked, there_are_no_shares_of_gaussian_noise, .init = sit, .fini = stand)
{
    struct gate *gate = new_gate(LIMIT_MICRO);
    struct gate_request request = masked(table.site[0]);
    struct private_vector vector = vector_of(3);
    struct record record;
    struct slice blob;
    struct why why = {""};
    request.charge = (struct charge){.mechanism = MECHANISM_DISCRETE_GAUSSIAN,
                                     .sigma_micro = 1000000,
                                     .row_count = 5,
                                     .pass = {{1}}};
    cr_expect_eq(gate_answer(gate, &record, &blob, &vector, &request, &why), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "shares of Laplace noise only"), "%s", why.text);
    cr_expect(has_spent(gate, LIMIT_MICRO, 0));
    gate_free(gate);
}
