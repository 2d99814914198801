/* The peers that a site has approved: read strictly, ordered, and compared by their digest. */

#include "masks/peers.h"

#include <criterion/criterion.h>
#include <string.h>

#define KEY_A "aa000000000000000000000000000000000000000000000000000000000000aa"
#define KEY_B "bb000000000000000000000000000000000000000000000000000000000000bb"

static struct masks_peers peers;
static struct why why;

static enum status parse(const char *text)
{
    return masks_peers_parse(&peers, (struct slice){text, strlen(text)}, "peers", &why);
}

static struct digest digest_of_hex(const char *hex)
{
    struct digest digest;
    cr_assert_eq(hex_decode(digest.byte, sizeof digest.byte, hex), STATUS_OK);
    return digest;
}

Test(peers, lines_are_read_and_found_by_their_key)
{
    const struct digest key = digest_of_hex(KEY_A);
    const struct digest other = digest_of_hex(KEY_B);
    cr_assert_eq(parse("# ours\n\nzoe " KEY_B "\nann\t" KEY_A " \r\n"), STATUS_OK, "%s", why.text);
    cr_assert_eq(peers.count, 2);
    cr_expect_str_eq(peers.peer[0].name, "ann");
    cr_expect_str_eq(masks_peers_find(&peers, &key)->name, "ann");
    cr_expect(masks_peers_remove(&peers, &other));
    cr_expect(!masks_peers_remove(&peers, &other));
    cr_expect_null(masks_peers_find(&peers, &other));
    cr_assert_eq(parse("last " KEY_B), STATUS_OK); /* without a line's end */
    cr_expect_eq(peers.count, 1);
}

Test(peers, what_is_no_list_is_refused_with_its_line)
{
    static const char *const wrong[] = {"ann\n",
                                        "ann 00\n",
                                        "Ann " KEY_A "\n",
                                        "-ann " KEY_A "\n",
                                        " " KEY_A "\n",
                                        "ann " KEY_A " x\n",
                                        "ann " KEY_A "\nbob " KEY_A "\n",
                                        "ann zz000000000000000000000000000000000000000000000000"
                                        "00000000000000\n",
                                        "ann 00000000000000000000000000000000000000000000000000"
                                        "00000000000000\n",
                                        "a-name-that-is-longer-than-thirty-two " KEY_A "\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_expect_eq(parse(wrong[i]), STATUS_INVALID, "%s", wrong[i]);
        cr_expect_not_null(strstr(why.text, "peers:"), "%s", why.text);
        cr_expect_eq(peers.count, 0);
    }
    cr_expect_eq(parse("ann " KEY_A "\nbob " KEY_A "\n"), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "peers:2: ann signs by this key already"), "%s", why.text);
}

Test(peers, the_digest_tells_names_and_keys_and_not_the_lines_order)
{
    struct digest one;
    struct digest two;
    cr_assert_eq(parse("ann " KEY_A "\nbob " KEY_B "\n"), STATUS_OK);
    masks_peers_digest(&one, &peers);
    cr_assert_eq(parse("# as agreed\nbob " KEY_B "\nann " KEY_A "\n"), STATUS_OK);
    masks_peers_digest(&two, &peers);
    cr_expect(digest_equal(&one, &two));
    cr_assert_eq(parse("ann " KEY_B "\nbob " KEY_A "\n"), STATUS_OK);
    masks_peers_digest(&two, &peers);
    cr_expect(!digest_equal(&one, &two));
    cr_assert_eq(parse("ann " KEY_A "\n"), STATUS_OK);
    masks_peers_digest(&two, &peers);
    cr_expect(!digest_equal(&one, &two));
}
