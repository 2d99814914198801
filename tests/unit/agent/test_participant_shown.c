/* The data dictionary leaves a site when its policy says so: the text alone, whole, and no more often than once a
 * second. */

#include "timed.h"

#include "crypto/digest.h"
#include "protocol/wire.h"

#include <criterion/criterion.h>
#include <string.h>

static const char TEXT[] = "hedgerow: 1\ndata_sets: [{records: 5, columns: []}] # as it stands\n";

static struct digest digest_of(struct slice text)
{
    struct digest digest;
    digest_sha256(&digest, &text, 1);
    return digest;
}

static void begin(struct timed *bench, bool shared)
{
    timed_init(bench, 10);
    timed_stop(bench);
    bench->policy.share_dictionary = shared;
    bench->dictionary_text = (struct slice){TEXT, sizeof TEXT - 1};
    timed_start(bench);
    bench->sent_count = 0;
    bench->now_ms += 100;
    timed_tick(bench);
}

static struct digest digest_in_hello(struct timed *bench)
{
    struct message hello;
    cr_assert_gt(bench->sent_count, 0);
    const struct sent *last = &bench->sent[bench->sent_count - 1];
    cr_assert_eq(wire_decode(&hello, (struct slice){last->control, last->size}, (struct slice){0}),
                 STATUS_OK);
    cr_assert_eq(hello.kind, MESSAGE_HELLO);
    return hello.as.hello.dictionary;
}

static size_t dictionaries_sent(struct timed *bench)
{
    size_t count = 0;
    for (size_t i = 0; i < bench->sent_count; i++) {
        struct message message;
        const struct slice control = {bench->sent[i].control, bench->sent[i].size};
        count += wire_decode(&message, control, bench->sent_payload) == STATUS_OK &&
                 message.kind == MESSAGE_DICTIONARY;
    }
    return count;
}

static void ask(struct timed *bench, struct digest digest)
{
    const struct message show = {.kind = MESSAGE_SHOW, .as.show = {digest}};
    timed_give(bench, &show, (struct slice){0});
}

Test(participant_shown, nothing_is_shown_unless_the_policy_says_so)
{
    struct timed bench;
    begin(&bench, false);
    const struct digest none = digest_in_hello(&bench);
    cr_expect(digest_is_none(&none), "not even its digest");
    ask(&bench, digest_of((struct slice){TEXT, sizeof TEXT - 1}));
    cr_expect_eq(dictionaries_sent(&bench), 0);
    timed_free(&bench);
}

Test(participant_shown, the_unchanged_text_is_sent_to_each_coordinator_that_asks)
{
    struct timed bench;
    begin(&bench, true);
    const struct digest digest = digest_in_hello(&bench);
    const struct digest right = digest_of((struct slice){TEXT, sizeof TEXT - 1});
    struct digest wrong = digest;
    cr_assert(digest_equal(&digest, &right));
    wrong.byte[0] ^= 1;
    ask(&bench, wrong);
    cr_expect_eq(dictionaries_sent(&bench), 0, "another text is not here");
    ask(&bench, digest);
    cr_expect_eq(dictionaries_sent(&bench), 1);
    cr_expect_eq(bench.sent_payload.size, sizeof TEXT - 1);
    cr_expect_eq(memcmp(bench.sent_payload.data, TEXT, sizeof TEXT - 1), 0);
    for (int i = 0; i < 10; i++) {
        ask(&bench, digest);
    }
    cr_expect_eq(dictionaries_sent(&bench), 1, "once a second");
    bench.now_ms += 1000;
    ask(&bench, digest);
    cr_expect_eq(dictionaries_sent(&bench), 2);
    timed_free(&bench);
}

/* Planted: an agent that answered at any time would tell when its computation ends. */
Test(participant_shown, nothing_is_heard_while_something_is_computed)
{
    struct timed bench;
    begin(&bench, true);
    bench.work_takes_ms = 50;
    timed_join(&bench);
    cr_assert_eq(bench.works, 1);
    bench.sent_count = 0;
    ask(&bench, digest_of((struct slice){TEXT, sizeof TEXT - 1}));
    cr_expect_eq(dictionaries_sent(&bench), 0);
    timed_free(&bench);
}
