/* Lists are changed at random and compared with a plain reference, which looks through the whole list for each token. */

#include "io/enrolment.h"

#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { TOLD_MAX = 4096 };

static struct {
    char name[AGENT_NAME_MAX + 1];
    bool enrolled;
} told[TOLD_MAX];
static size_t told_count;
static struct roster roster;
static struct enrolment_wait wait;

static void note(UNUSED void *self, const char *name, bool enrolled)
{
    cr_assert_lt(told_count, (size_t)TOLD_MAX);
    (void)snprintf(told[told_count].name, sizeof told->name, "%s", name);
    told[told_count++].enrolled = enrolled;
}

static void add(const char *name, uint64_t key, int64_t until_s)
{
    struct roster_entry *entry = &roster.entry[roster.count++];
    memset(entry, 0, sizeof *entry);
    (void)snprintf(entry->name, sizeof entry->name, "%s", name);
    memcpy(entry->key.byte, &key, sizeof key);
    entry->token_until_s = until_s;
}

static void account(int64_t now_s)
{
    told_count = 0;
    enrolment_wait_account(&wait, &roster, now_s, note, NULL);
}

static bool was_told(const char *name, bool enrolled)
{
    for (size_t i = 0; i < told_count; i++) {
        if (strcmp(told[i].name, name) == 0 && told[i].enrolled == enrolled) {
            return true;
        }
    }
    return false;
}

static void begin(void)
{
    add("spent", 1, 200);
    add("kept", 2, 300);
    add("late", 3, 100);
    add("gone", 4, 200);
    add("own", 5, 0);
    add("own", 6, 100);
    account(50);
    cr_assert_eq(told_count, 0);
    cr_assert_eq(wait.told.count, 5);
}

Test(token_wait, tells_each_token_once_that_is_spent_expired_or_revoked, .init = begin)
{
    roster.count = 0;
    add("spent", 7, 0);
    add("kept", 2, 300);
    add("late", 3, 100);
    add("own", 5, 0);
    add("own", 6, 100);
    account(100);
    cr_expect_eq(told_count, 4);
    cr_expect(was_told("spent", true));
    cr_expect(was_told("late", false));
    cr_expect(was_told("gone", false));
    cr_expect(was_told("own", true), "it has had a key of its own all the time");
    cr_expect_eq(wait.told.count, 1);
    account(100);
    cr_expect_eq(told_count, 0);
}

Test(token_wait, a_token_in_the_place_of_another_is_another, .init = begin)
{
    roster.count = 0;
    add("kept", 8, 300);
    account(50);
    cr_expect_eq(told_count, 5);
    cr_expect(was_told("kept", false));
    cr_expect_eq(wait.told.count, 1);
}

Test(token_wait, is_due_when_the_first_token_expires, .init = begin)
{
    cr_expect_not(enrolment_wait_is_due(&wait, 99));
    cr_expect(enrolment_wait_is_due(&wait, 100));
    account(100);
    cr_expect_not(enrolment_wait_is_due(&wait, 199));
    cr_expect(enrolment_wait_is_due(&wait, 200));
    account(300);
    cr_expect_eq(wait.told.count, 0);
    cr_expect_not(enrolment_wait_is_due(&wait, INT64_MAX - 1), "nothing is waited for");
}

static bool reference_waits(const struct roster_entry *token, int64_t now_s)
{
    for (size_t i = 0; i < roster.count; i++) {
        const struct roster_entry *entry = &roster.entry[i];
        if (entry->token_until_s > now_s && strcmp(entry->name, token->name) == 0 &&
            digest_equal(&entry->key, &token->key)) {
            return true;
        }
    }
    return false;
}

static bool reference_lists(const char *name)
{
    for (size_t i = 0; i < roster.count; i++) {
        if (roster.entry[i].token_until_s == 0 && strcmp(roster.entry[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Some tokens are spent, some revoked, some replaced, some added. */
static void change_list(struct seeded_random *seeded, uint64_t *next_key)
{
    size_t kept = 0;
    for (size_t i = 0; i < roster.count; i++) {
        struct roster_entry entry = roster.entry[i];
        const uint64_t what = seeded_random_word(seeded) % 16;
        if (what == 0) {
            continue;
        }
        if (what <= 2) {
            const uint64_t key = (*next_key)++;
            memcpy(entry.key.byte, &key, sizeof key);
            entry.token_until_s = what == 1 ? 0 : entry.token_until_s;
        }
        roster.entry[kept++] = entry;
    }
    roster.count = kept;
    while (roster.count < 200) {
        char name[16];
        (void)snprintf(name, sizeof name, "s%u", (unsigned)(seeded_random_word(seeded) % 150));
        add(name, (*next_key)++, (int64_t)(seeded_random_word(seeded) % 40));
    }
}

Test(token_wait, tells_what_a_look_through_the_whole_list_tells)
{
    static struct roster before;
    struct seeded_random seeded;
    uint64_t next_key = 1;
    size_t total = 0;
    seeded_random_init(&seeded, 8);
    for (int64_t now_s = 0; now_s < 60; now_s++) {
        change_list(&seeded, &next_key);
        before = wait.told;
        account(now_s);
        size_t expected = 0;
        for (size_t i = 0; i < before.count; i++) {
            if (!reference_waits(&before.entry[i], now_s)) {
                cr_assert_lt(expected, told_count);
                cr_expect_str_eq(told[expected].name, before.entry[i].name);
                cr_expect_eq(told[expected].enrolled, reference_lists(before.entry[i].name));
                expected++;
            }
        }
        cr_expect_eq(told_count, expected);
        total += expected;
        size_t waiting = 0;
        for (size_t i = 0; i < roster.count; i++) {
            waiting += roster.entry[i].token_until_s > now_s;
        }
        cr_expect_eq(wait.told.count, waiting);
    }
    cr_expect_gt(total, 100u);
}
