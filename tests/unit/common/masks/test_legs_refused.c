/* Attacks of a coordinator with helpers at each leg of a masked round. A site refuses faults of keys before anything is
 * charged, and faults of lists before anything is revealed. */

#include "legs.h"

#include <criterion/criterion.h>
#include <string.h>

static struct table table;
static struct why why;

enum { ALL = 31, SITES = 5 };

static void setup(void)
{
    table_init(&table, SITES, 5);
}

static void teardown(void)
{
    table_free(&table);
}

/* A roster of the sites that `change` has changed. */
static struct slice changed(void (*change)(struct masks_roster *roster))
{
    static struct masks_roster roster;
    static uint8_t bytes[MASKS_ROSTER_BYTES_MAX];
    roster = *masks_host_roster(table.host);
    change(&roster);
    return (struct slice){bytes, masks_roster_pack(bytes, &roster)};
}

static void refuses(struct slice roster, const char *says)
{
    cr_expect_eq(masks_site_list(table.site[0], roster, &why), STATUS_REFUSED, "%s", says);
    cr_expect_not_null(strstr(why.text, says), "%s", why.text);
}

static void swap_key(struct masks_roster *roster)
{
    struct key_pair own; /* the man in the middle's */
    cr_assert_eq(key_pair_generate(&own), STATUS_OK);
    roster->site[1].mask_key = own.public_key;
}

/* Its keys are signed, by a key that the site never approved. */
static void forge_site(struct masks_roster *roster)
{
    struct key_pair own;
    cr_assert_eq(key_signing_generate(&own), STATUS_OK);
    roster->site[1].signing_key = own.public_key;
    cr_assert_eq(masks_keys_sign(&roster->site[1], &table.terms, &own.secret_key), STATUS_OK);
}

/* Institution 2 takes two places, under two names. */
static void stand_twice(struct masks_roster *roster)
{
    struct masks_keys second = roster->site[2];
    memcpy(second.name, "site-3", sizeof "site-3");
    second.mask_key.byte[0] ^= 1;
    second.commitment.byte[0] ^= 1;
    cr_assert_eq(masks_keys_sign(&second, &table.terms, &table.signing[2].secret_key), STATUS_OK);
    roster->site[3] = second;
}

/* Signed by an approved key, but that of another institution. */
static void borrow_name(struct masks_roster *roster)
{
    roster->site[3].signing_key = table.signing[2].public_key;
    cr_assert_eq(masks_keys_sign(&roster->site[3], &table.terms, &table.signing[2].secret_key),
                 STATUS_OK);
    roster->site[2] = roster->site[3];
    memcpy(roster->site[2].name, "site-2x", sizeof "site-2x");
    roster->count = 3;
}

static void keep_old_keys(struct masks_roster *roster)
{
    struct masks_terms before = table.terms;
    before.round--;
    cr_assert_eq(masks_keys_sign(&roster->site[1], &before, &table.signing[1].secret_key),
                 STATUS_OK);
}

static void copy_commitment(struct masks_roster *roster)
{
    roster->site[1].commitment = roster->site[2].commitment;
    cr_assert_eq(masks_keys_sign(&roster->site[1], &table.terms, &table.signing[1].secret_key),
                 STATUS_OK);
}

static void change_own(struct masks_roster *roster)
{
    roster->site[0].mask_key.byte[0] ^= 1;
    cr_assert_eq(masks_keys_sign(&roster->site[0], &table.terms, &table.signing[0].secret_key),
                 STATUS_OK);
}

static void leave_out(struct masks_roster *roster)
{
    roster->count--;
    memmove(&roster->site[0], &roster->site[1], roster->count * sizeof roster->site[0]);
}

static void shrink(struct masks_roster *roster)
{
    roster->count = 1;
}

static void use_small_order(struct masks_roster *roster)
{
    memset(&roster->site[1].mask_key, 0, sizeof roster->site[1].mask_key);
    roster->site[1].mask_key.byte[0] = 1;
    cr_assert_eq(masks_keys_sign(&roster->site[1], &table.terms, &table.signing[1].secret_key),
                 STATUS_OK);
}

static void disorder(struct masks_roster *roster)
{
    const struct masks_keys first = roster->site[1];
    roster->site[1] = roster->site[2];
    roster->site[2] = first;
}

Test(legs_refused, rosters_that_a_site_declines, .init = setup, .fini = teardown)
{
    static const struct {
        void (*change)(struct masks_roster *roster);
        const char *says;
    } row[] = {
        {swap_key, "the keys of site-1 are not signed for this job and round"},
        {forge_site, "site-1 signs by a key that is not in this site's list of peers"},
        {stand_twice, "site-2 and site-3 have the same signing key"},
        {borrow_name, "site-2x signs by the key that this site's list of peers has for site-2"},
        {keep_old_keys, "the keys of site-1 are not signed for this job and round"},
        {copy_commitment, "have the same commitment"},
        {change_own, "does not have this site's keys as they were sent"},
        {leave_out, "does not have this site's keys as they were sent"},
        {shrink, "and the job counts with 2 at least"},
        {use_small_order, "the mask key of site-1 shares nothing"},
        {disorder, "comes twice, or out of order"}};
    table_send_keys(&table, ALL);
    cr_assert_eq(masks_host_list(table.host, &why), STATUS_OK);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        refuses(changed(row[i].change), row[i].says);
    }
    refuses((struct slice){"x", 1}, "its size is that of no roster");
    cr_expect_eq(masks_site_list(table.site[0], table_roster(&table), &why), STATUS_OK,
                 "and the right one is still taken: %s", why.text);
}

static void nothing(struct masks_roster *roster)
{
    (void)roster;
}

/* Two rosters on the same keys would let masks cancel across them. */
Test(legs_refused, keys_serve_one_roster, .init = setup, .fini = teardown)
{
    table_send_keys(&table, ALL);
    table_list(&table, ALL);
    cr_expect_eq(masks_site_list(table.site[0], changed(nothing), &why), STATUS_OK,
                 "again is fine");
    cr_expect_eq(masks_site_list(table.site[0], changed(shrink), &why), STATUS_REFUSED);
    cr_expect_not_null(strstr(why.text, "another roster was accepted"), "%s", why.text);
}

/* Different terms give different rosters: if a coordinator lies about c or h, sites have no common
 * mask. */
Test(legs_refused, the_roster_binds_what_the_job_says, .init = setup, .fini = teardown)
{
    struct digest one;
    struct digest other;
    table_send_keys(&table, ALL);
    masks_roster_digest(&one, masks_host_roster(table.host), &table.terms);
    struct masks_terms terms[5] = {table.terms, table.terms, table.terms, table.terms, table.terms};
    terms[0].dishonest++;
    terms[1].honest++;
    terms[2].round++;
    terms[3].width = MASKS_32;
    terms[4].job.byte[0] ^= 1;
    for (size_t i = 0; i < 5; i++) {
        masks_roster_digest(&other, masks_host_roster(table.host), &terms[i]);
        cr_expect(!digest_equal(&one, &other), "%zu", i);
    }
}

static void refuses_list(size_t site, const struct masks_set *list, const char *says)
{
    bool again = false;
    cr_expect_eq(masks_site_note(table.site[site], list, &again, &why), STATUS_REFUSED, "%s", says);
    cr_expect_not_null(strstr(why.text, says), "%s", why.text);
}

Test(legs_refused, lists_that_a_site_does_not_sign, .init = setup, .fini = teardown)
{
    bool again = true;
    table_send_keys(&table, ALL);
    table_list(&table, ALL);
    struct masks_set list = table_ranks(&table, ALL);
    refuses_list(0, &list, "this site has not answered yet");
    table_answer(&table, ALL, ALL);
    list = table_ranks(&table, 30);
    refuses_list(0, &list, "the list of survivors is without this site");
    list = table_ranks(&table, 7); /* t = 4 of 5 */
    refuses_list(0, &list, "a sum of fewer than 4 is not opened");
    list = table_ranks(&table, ALL);
    masks_set_add(&list, 200);
    refuses_list(0, &list, "a site that is not in the roster");
    list = table_ranks(&table, 15);
    cr_expect_eq(masks_site_note(table.site[0], &list, &again, &why), STATUS_OK, "%s", why.text);
    cr_expect(!again);
    cr_expect_eq(masks_site_note(table.site[0], &list, &again, &why), STATUS_OK);
    cr_expect(again);
    list = table_ranks(&table, ALL);
    refuses_list(0, &list, "another list of survivors was signed for this round");
}

/* With m = h + c above t: below it no list is signed. */
Test(legs_refused, fewer_than_h_and_c_are_not_opened, .init = setup, .fini = teardown)
{
    masks_host_free(table.host);
    table.terms.honest = 4;
    cr_assert_eq(masks_host_new(&table.host, &table.terms, &table.invitation), STATUS_OK);
    table_send_keys(&table, ALL);
    table_list(&table, ALL);
    table_answer(&table, ALL, ALL);
    const struct masks_set list = table_ranks(&table, 15);
    refuses_list(0, &list, "a sum of fewer than 5 is not opened");
}

/* An OPEN whose signatures `change` has changed. */
static void refuses_open(void (*change)(uint8_t *open, size_t *size), const char *says)
{
    static uint8_t open[MASKS_OPEN_BYTES_MAX + 1];
    uint8_t reveal[MASKS_REVEAL_BYTES_MAX];
    const struct slice right = table_open(&table);
    size_t size = right.size;
    size_t revealed = 1;
    memcpy(open, right.data, right.size);
    change(open, &size);
    cr_expect_eq(
        masks_site_reveal(table.site[0], (struct slice){open, size}, reveal, &revealed, &why),
        STATUS_REFUSED, "%s", says);
    cr_expect_eq(revealed, 0);
    cr_expect_not_null(strstr(why.text, says), "%s", why.text);
}

static void drop_one(uint8_t *open, size_t *size)
{
    (void)open;
    *size -= MASKS_SIGNED_BYTES;
}

static void double_one(uint8_t *open, size_t *size)
{
    memcpy(open + *size - MASKS_SIGNED_BYTES, open + *size - 2 * MASKS_SIGNED_BYTES,
           MASKS_SIGNED_BYTES);
}

static void flip_one(uint8_t *open, size_t *size)
{
    open[*size - 1] ^= 1;
}

static void rename_one(uint8_t *open, size_t *size)
{
    open[*size - MASKS_SIGNED_BYTES] = SITES - 1; /* who is absent */
}

static void change_list(uint8_t *open, size_t *size)
{
    (void)size;
    open[0] = ALL;
}

static void cut(uint8_t *open, size_t *size)
{
    (void)open;
    *size -= 1;
}

static void empty(uint8_t *open, size_t *size)
{
    (void)open;
    *size = 0;
}

/* Signatures over this list, but of the round before. */
static void sign_other_round(uint8_t *open, size_t *size)
{
    struct masks_terms terms = table.terms;
    struct masks_round round = {.invitation = table.invitation};
    struct signature signature;
    terms.round--;
    masks_roster_digest(&round.roster, masks_host_roster(table.host), &terms);
    cr_assert_eq(masks_survivors_sign(&signature, &table.signing[3].secret_key, &terms, &round,
                                      masks_host_survivors(table.host)),
                 STATUS_OK);
    open[*size - MASKS_SIGNED_BYTES] = 3;
    memcpy(open + *size - SIGNATURE_BYTES, signature.byte, SIGNATURE_BYTES);
}

/* A list of another job is refused: the roster's digest and the signed text both hold the job's
 * id. */
static void sign_other_job(uint8_t *open, size_t *size)
{
    struct masks_terms terms = table.terms;
    struct masks_round round = {.invitation = table.invitation};
    struct signature signature;
    terms.job.byte[0] ^= 1;
    masks_roster_digest(&round.roster, masks_host_roster(table.host), &table.terms);
    cr_assert_eq(masks_survivors_sign(&signature, &table.signing[3].secret_key, &terms, &round,
                                      masks_host_survivors(table.host)),
                 STATUS_OK);
    open[*size - MASKS_SIGNED_BYTES] = 3;
    memcpy(open + *size - SIGNATURE_BYTES, signature.byte, SIGNATURE_BYTES);
}

static void sign_other_input(uint8_t *open, size_t *size)
{
    struct masks_round round = {.invitation = {{8}}};
    struct signature signature;
    masks_roster_digest(&round.roster, masks_host_roster(table.host), &table.terms);
    cr_assert_eq(masks_survivors_sign(&signature, &table.signing[3].secret_key, &table.terms,
                                      &round, masks_host_survivors(table.host)),
                 STATUS_OK);
    open[*size - MASKS_SIGNED_BYTES] = 3;
    memcpy(open + *size - SIGNATURE_BYTES, signature.byte, SIGNATURE_BYTES);
}

Test(legs_refused, opens_that_reveal_nothing, .init = setup, .fini = teardown)
{
    uint8_t reveal[MASKS_REVEAL_BYTES_MAX];
    size_t size = 0;
    table_send_keys(&table, ALL);
    table_list(&table, ALL);
    table_answer(&table, ALL, 15);
    table_settle(&table, 15);
    table_sign(&table, 15);
    refuses_open(drop_one, "3 signatures are there, and 4 are needed");
    refuses_open(double_one, "a signature comes twice");
    refuses_open(flip_one, "did not sign this list of survivors");
    refuses_open(rename_one, "from a site that is no survivor");
    refuses_open(change_list, "another list of survivors than this site signed");
    refuses_open(cut, "its size is that of no OPEN");
    refuses_open(empty, "its size is that of no OPEN");
    refuses_open(sign_other_round, "did not sign this list of survivors");
    refuses_open(sign_other_job, "did not sign this list of survivors");
    refuses_open(sign_other_input, "did not sign this list of survivors");
    cr_expect_eq(masks_site_reveal(table.site[4], table_open(&table), reveal, &size, &why),
                 STATUS_REFUSED, "who is not in the list reveals nothing");
    cr_expect_eq(masks_site_reveal(table.site[0], table_open(&table), reveal, &size, &why),
                 STATUS_OK, "%s", why.text);
    cr_expect_eq(size, 2 * DIGEST_BYTES, "its seed, and the one pair with who is absent");
}

/* Sites that were asked different questions share no masks, and do not sign each other's list. */
Test(legs_refused, different_questions_open_nothing_and_are_named, .init = setup, .fini = teardown)
{
    struct signature signature;
    bool again = false;
    const struct digest same = table.invitation;
    table_send_keys(&table, 30);
    table.invitation = (struct digest){{7}};
    table_send_keys(&table, 1);
    table.invitation = same;
    table_list(&table, ALL);
    table_answer(&table, ALL, ALL);
    table_settle(&table, ALL);
    table_sign(&table, 30);
    cr_assert_eq(masks_site_note(table.site[0], masks_host_survivors(table.host), &again, &why),
                 STATUS_OK);
    cr_assert_eq(masks_site_sign(table.site[0], &signature), STATUS_OK);
    cr_expect_eq(
        masks_host_take_signature(table.host, 0, (struct slice){signature.byte, SIGNATURE_BYTES}),
        STATUS_INVALID, "the coordinator sees whose signature is of another question");
    table_reveal(&table, 30);
    cr_expect(!masks_host_is_open(table.host));
    cr_expect(!table_is_sum_of(&table, ALL));
    cr_expect_eq(masks_site_reveal(table.site[0], table_open(&table),
                                   (uint8_t[MASKS_REVEAL_BYTES_MAX]){0}, &(size_t){0}, &why),
                 STATUS_REFUSED, "it cannot check the others' signatures either");
}

/* What a site or its forger may send the coordinator. */
Test(legs_refused, what_a_coordinator_does_not_take, .init = setup, .fini = teardown)
{
    uint8_t keys[MASKS_KEYS_BYTES];
    uint8_t reveal[MASKS_REVEAL_BYTES_MAX];
    size_t size = 0;
    table_send_keys(&table, 15);
    cr_assert_eq(
        masks_site_new(&table.site[4], &table.self[4], &table.terms, &table.invitation, &why),
        STATUS_OK);
    masks_site_keys(table.site[4], keys);
    struct slice slice = {keys, sizeof keys};
    cr_expect_eq(masks_host_take_keys(table.host, "site-9", slice, &why), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "its list of peers calls it site-4"), "%s", why.text);
    keys[MASKS_KEYS_BYTES - 1] ^= 1;
    cr_expect_eq(masks_host_take_keys(table.host, "site-4", slice, &why), STATUS_INVALID);
    keys[MASKS_KEYS_BYTES - 1] ^= 1;
    keys[MASKS_NAME_BYTES - 1] = 'x';
    cr_expect_eq(masks_host_take_keys(table.host, "site-4", slice, &why), STATUS_INVALID);
    table_list(&table, 15);
    table_answer(&table, 15, 15);
    table_settle(&table, 15);
    table_sign(&table, 15);
    cr_assert_eq(masks_site_reveal(table.site[0], table_open(&table), reveal, &size, &why),
                 STATUS_OK);
    reveal[0] ^= 1;
    cr_expect_eq(table_take(&table, 0, (struct slice){reveal, size}), STATUS_CORRUPT,
                 "a seed that does not meet its commitment");
    cr_expect_eq(table_take(&table, 0, (struct slice){reveal, size + 32}), STATUS_INVALID);
    cr_expect(!masks_host_has_revealed(table.host, 0));
    table_reveal(&table, 15);
    cr_expect(table_is_sum_of(&table, 15), "and the right one still opens");
}

Test(legs_refused, a_site_that_is_not_among_its_own_peers_takes_no_part)
{
    struct masks_site *site = NULL;
    table_init(&table, 2, 1);
    cr_assert(masks_peers_remove(&table.peers, &table.signing[0].public_key));
    cr_expect_eq(masks_site_new(&site, &table.self[0], &table.terms, &table.invitation, &why),
                 STATUS_REFUSED);
    cr_expect_not_null(strstr(why.text, "hedgerow-agent peers add"), "%s", why.text);
    table_free(&table);
}
