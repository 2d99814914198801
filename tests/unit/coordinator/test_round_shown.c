/* Data dictionaries that agents show: they are asked for once, and read before they are kept, as they may
 * be hostile. */

#include "central.h"
#include "crypto/digest.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const char GOOD[] =
    "hedgerow: 1\ndata_sets: [{records: 500, columns: [{name: age, kind: number}]}]\n";
static const char OTHER[] =
    "hedgerow: 1\ndata_sets: [{records: 600, columns: [{name: age, kind: number}]}]\n";

static struct central bench;
static size_t kept;
static struct digest on_file; /* of agent-0 */

static bool has(UNUSED void *self, const struct peer *agent, const struct digest *digest)
{
    return strcmp(agent->name, "agent-0") == 0 && digest_equal(digest, &on_file);
}

static bool is_full; /* nothing can be kept */

static bool put(UNUSED void *self, const struct peer *agent, struct slice text)
{
    cr_assert_str_eq(agent->name, "agent-0");
    if (is_full) {
        return false;
    }
    digest_sha256(&on_file, &text, 1);
    kept++;
    return true;
}

static struct slice text_of(const char *text)
{
    return (struct slice){text, strlen(text)};
}

static struct digest digest_of(const char *text)
{
    struct digest digest;
    const struct slice slice = text_of(text);
    digest_sha256(&digest, &slice, 1);
    return digest;
}

static void greet(const char *text)
{
    bench.shown[0] = digest_of(text);
    central_greet(&bench);
}

static void begin(void)
{
    memset(&bench, 0, sizeof bench);
    kept = 0;
    on_file = (struct digest){{0}};
    central_init(&bench, "0", CENTRAL_FIT);
    cr_assert_eq(bench.shows, 0);
    bench.dictionaries = (struct dictionary_sink){has, put, NULL};
    cr_assert_eq(central_restart(&bench), STATUS_OK);
}

Test(round_shown, a_dictionary_is_asked_for_once_and_kept)
{
    begin();
    greet(GOOD);
    cr_expect_eq(bench.shows, 1);
    const struct digest good = digest_of(GOOD);
    central_show(&bench, 0, &good, text_of(GOOD));
    cr_expect_eq(kept, 1);
    bench.now_ms += 60000;
    greet(GOOD);
    cr_expect_eq(bench.shows, 1, "it is known");
    central_show(&bench, 0, &good, text_of(GOOD));
    cr_expect_eq(kept, 1, "nobody has asked again");
    central_free(&bench);
}

Test(round_shown, what_could_not_be_kept_is_asked_for_again)
{
    begin();
    const struct digest good = digest_of(GOOD);
    greet(GOOD);
    is_full = true;
    central_show(&bench, 0, &good, text_of(GOOD));
    is_full = false;
    cr_expect_eq(kept, 0);
    bench.now_ms += 60000;
    greet(GOOD);
    cr_expect_eq(bench.shows, 2);
    central_show(&bench, 0, &good, text_of(GOOD));
    cr_expect_eq(kept, 1);
    central_free(&bench);
}

Test(round_shown, a_restart_asks_for_nothing_that_is_on_file)
{
    begin();
    on_file = digest_of(GOOD);
    greet(GOOD);
    cr_expect_eq(bench.shows, 0);
    greet(OTHER);
    cr_expect_eq(bench.shows, 1, "the latest counts");
    central_free(&bench);
}

Test(round_shown, what_is_no_dictionary_is_dropped_and_not_asked_for_again)
{
    static const char *const hostile[] = {"", "x", "hedgerow: 1\ndata_sets: []\n",
                                          ("hedgerow: 1\ndata_sets: [{records: 500, columns: "
                                           "[{name: \"\x1b[2J\", kind: number}]}]\n"),
                                          "hedgerow: 1\njob: x\n"};
    for (size_t i = 1; i < sizeof hostile / sizeof hostile[0]; i++) {
        begin();
        const struct digest digest = digest_of(hostile[i]);
        greet(hostile[i]);
        central_show(&bench, 0, &digest, text_of(hostile[i]));
        cr_expect_eq(kept, 0, "%s", hostile[i]);
        bench.now_ms += 60000;
        greet(hostile[i]);
        cr_expect_eq(bench.shows, 1);
        central_free(&bench);
    }
}

Test(round_shown, a_text_of_another_digest_is_dropped)
{
    begin();
    greet(GOOD);
    const struct digest good = digest_of(GOOD);
    const struct digest other = digest_of(OTHER);
    central_show(&bench, 0, &good, text_of(OTHER));
    central_show(&bench, 0, &other, text_of(OTHER));
    cr_expect_eq(kept, 0);
    central_free(&bench);
}

/* Each is another text: asking, reading and writing are limited. */
Test(round_shown, an_agent_that_names_text_after_text_is_asked_seldom)
{
    begin();
    for (int i = 0; i < 100; i++) {
        greet(i % 2 == 0 ? GOOD : OTHER);
        bench.now_ms += 500;
    }
    cr_expect_eq(bench.shows, 5, "%zu in 50 seconds", bench.shows);
    central_free(&bench);
}
