/* What leaves the gate under distributed trust: the value, this site's share of the noise and its masks; always all
 * three together. And what a restart finds. */

#include "noise/gaussian.h"
#include "noise/share.h"
#include "some_gate.h"

#include "crypto/digest.h"
#include "dp/mechanism.h"
#include "tests/unit/common/masks/legs.h"

#include <string.h>

enum { SITES = 3, SHARES = 2, LIMIT_MICRO = 5000000 };

static struct table table;

/* All sites' rosters are judged, and none has answered. */
static void setup(void)
{
    table_init(&table, SITES, 3);
    table_send_keys(&table, 7);
    table_list(&table, 7);
}

static void teardown(void)
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

/* Answers and commits. Returns what leaves. */
static struct gate_answer_view answer_of_site(struct gate *gate, size_t site, struct record *record,
                                              const struct gate_request *request)
{
    struct private_vector vector = vector_of((int64_t)site);
    struct gate_answer_view view;
    struct slice blob;
    struct why why = {""};
    cr_assert_eq(gate_answer(gate, record, &blob, &vector, request, &why), STATUS_OK, "%s",
                 why.text);
    cr_expect(!gate_latest(gate, &view), "nothing can be read before it is durable");
    cr_expect_eq(record->as.answer.answer_bytes, 8 * COUNT);
    cr_expect_eq(blob.size, 8 * COUNT + record->as.answer.masks_bytes);
    gate_committed(gate, 1);
    cr_assert(gate_latest(gate, &view));
    cr_expect_eq(view.bytes.size, 8 * COUNT, "what opens the masks is not among what leaves");
    return view;
}

/* Opens the sum of what left: it is that of the values and of the shares. */
static void expect_sum(const uint64_t sum[static COUNT], const int64_t share[static COUNT])
{
    memcpy(table.sum, sum, COUNT * sizeof *sum);
    table_settle(&table, 7);
    table_sign(&table, 7);
    table_reveal(&table, 7);
    for (size_t w = 0; w < COUNT; w++) {
        cr_expect_eq((int64_t)table.sum[w], 0 + 1 + 2 + SITES * share[w]);
    }
}

/* Every site has a gate of its own, with the same seed: so each adds the same share, and the sum is known. */
Test(gate_masked, the_sum_of_what_leaves_is_that_of_values_and_shares, .init = setup,
     .fini = teardown)
{
    int64_t share[COUNT];
    uint64_t sum[COUNT] = {0};
    draw_share(share);
    for (size_t i = 0; i < SITES; i++) {
        struct gate *gate = new_gate(LIMIT_MICRO);
        struct gate_request request = masked(table.site[i]);
        struct record record;
        const struct gate_answer_view view = answer_of_site(gate, i, &record, &request);
        bool plain = true;
        for (size_t w = 0; w < COUNT; w++) {
            const uint64_t word = load_u64((const uint8_t *)view.bytes.data + 8 * w);
            sum[w] += word;
            plain = plain && word == (uint64_t)((int64_t)i + share[w]);
        }
        cr_expect(!plain, "a share of noise protects nothing by itself");
        gate_free(gate);
    }
    expect_sum(sum, share);
}

Test(gate_masked, a_restart_finds_answer_and_masks_and_no_others, .init = setup, .fini = teardown)
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

static struct gate_request gaussian(struct masks_site *site, uint64_t delta_atto)
{
    struct gate_request request = masked(site);
    request.charge = (struct charge){.mechanism = MECHANISM_DISCRETE_GAUSSIAN,
                                     .sigma_micro = 2500000,
                                     .delta_atto = delta_atto,
                                     .row_count = 5,
                                     .pass = {{1}}};
    return request;
}

static struct gate *new_gate_with_delta(void)
{
    struct gate *gate = NULL;
    const struct allowances allowances = {.total = {LIMIT_MICRO, DELTA_ATTO_ONE / 1000}};
    seeded_random_init(&seeded, 7);
    source = seeded_random_interface(&seeded);
    cr_assert_eq(gate_new(&gate, &allowances, &source), STATUS_OK);
    return gate;
}

/* The share that the gate's seeded source gives: of sigma 10 steps, divided by the root of two. */
static void draw_gaussian(int64_t share[static COUNT])
{
    struct seeded_random again;
    struct noise_gaussian noise;
    struct noise_scale sigma;
    seeded_random_init(&again, 7);
    const struct random same = seeded_random_interface(&again);
    memset(share, 0, COUNT * sizeof *share);
    cr_assert_eq(mechanism_sigma_of_share(&sigma, 4, 2500000, SHARES, NULL), STATUS_OK);
    cr_assert_eq(noise_gaussian_init(&noise, sigma), STATUS_OK);
    cr_assert_eq(noise_gaussian_add(&noise, &same, share, COUNT), STATUS_OK);
    noise_gaussian_free(&noise);
}

Test(gate_masked, gaussian_noise_leaves_in_shares_as_well, .init = setup, .fini = teardown)
{
    int64_t share[COUNT];
    uint64_t sum[COUNT] = {0};
    draw_gaussian(share);
    for (size_t i = 0; i < SITES; i++) {
        struct gate *gate = new_gate_with_delta();
        struct gate_request request = gaussian(table.site[i], mechanism_sigma_delta(SHARES, COUNT));
        struct record record;
        const struct gate_answer_view view = answer_of_site(gate, i, &record, &request);
        for (size_t w = 0; w < COUNT; w++) {
            sum[w] += load_u64((const uint8_t *)view.bytes.data + 8 * w);
        }
        gate_free(gate);
    }
    expect_sum(sum, share);
}

/* Nothing is spent, and nothing drawn, where the charge lacks a 10^-18th of what the sum lacks, or a share would be
 * too small for the theorem: sigma^2/h below 4. */
Test(gate_masked, gaussian_shares_that_are_not_paid_for_or_too_small_are_refused, .init = setup,
     .fini = teardown)
{
    struct gate *gate = new_gate_with_delta();
    const uint64_t delta = mechanism_sigma_delta(SHARES, COUNT);
    for (int row = 0; row < 2; row++) {
        struct gate_request request = gaussian(table.site[0], row == 0 ? delta - 1 : delta);
        struct private_vector vector = vector_of(3);
        struct record record;
        struct slice blob;
        struct why why = {""};
        request.charge.sigma_micro = row == 0 ? 2500000 : 707106; /* times 4, over the root of 2 */
        cr_expect_eq(gate_answer(gate, &record, &blob, &vector, &request, &why), STATUS_INVALID);
        cr_expect_not_null(strstr(why.text, row == 0 ? "does not pay" : "too little for 2 sites"),
                           "%s", why.text);
        cr_expect(has_spent(gate, LIMIT_MICRO, 0));
        cr_expect_eq(seeded.drawn_bytes, 0);
    }
    cr_expect(!gate_has_noise(
        &(struct charge){.mechanism = MECHANISM_DISCRETE_GAUSSIAN, .sigma_micro = 707106}, false, 4,
        SHARES));
    gate_free(gate);
}
