#include "io/roster.h"

#include "scratch.h"
#include "tests/support/failing_memory.h"
#include "tests/support/quiet_fork.h"

#include <criterion/criterion.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define KEY_A "aa000000000000000000000000000000000000000000000000000000000000aa"
#define KEY_B "bb000000000000000000000000000000000000000000000000000000000000bb"
#define KEY_C "cc000000000000000000000000000000000000000000000000000000000000cc"

static struct roster roster;
static struct why why;
static struct scratch scratch;

static struct digest key_of(const char *hex)
{
    struct digest key;
    cr_assert_eq(hex_decode(key.byte, KEY_BYTES, hex), STATUS_OK);
    return key;
}

static enum status parse(const char *text)
{
    return roster_parse(&roster, (struct slice){text, strlen(text)}, "agents", &why);
}

static void setup(void)
{
    scratch_make(&scratch);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

Test(roster, comments_keys_and_tokens_are_read)
{
    cr_assert_eq(parse("# heading\n\n  a " KEY_A "\nb\t" KEY_B " token-until=1700000000\r\n"),
                 STATUS_OK);
    cr_assert_eq(roster.count, 2);
    cr_expect_str_eq(roster.entry[0].name, "a");
    cr_expect_eq(roster.entry[0].token_until_s, 0);
    cr_expect_eq(roster.entry[1].token_until_s, 1700000000);
    struct digest key = key_of(KEY_B);
    cr_expect_eq(roster_find(&roster, &key), &roster.entry[1]);
    key = key_of(KEY_C);
    cr_expect_null(roster_find(&roster, &key));
}

Test(roster, what_is_not_exactly_an_entry_is_refused_by_line)
{
    static const struct {
        const char *text;
        const char *why;
    } wrong[] = {
        {"a " KEY_A "\nb\n", "agents:2: after the name"},
        {"a " KEY_A "00\n", "agents:1: after the name"},
        {"a " KEY_A " token-until=0\n", "agents:1: after the key"},
        {"a " KEY_A " token-until=12x\n", "agents:1: after the key"},
        {"a " KEY_A " token-until=9999999999999999\n", "agents:1: after the key"},
        {"a " KEY_A " forever\n", "agents:1: after the key"},
        {"a " KEY_A " token-until=5 more\n", "agents:1: there is text after"},
        {"A " KEY_A "\n", "agents:1: an agent's name"},
        {"-a " KEY_A "\n", "agents:1: an agent's name"},
        {"token:a " KEY_A "\n", "agents:1: an agent's name"},
        {"abcdefghijklmnopqrstuvwxyz-0123456789 " KEY_A "\n", "agents:1: an agent's name"},
        {"a " KEY_A "\nb " KEY_A "\n", "agents:2: the key is listed above"},
        {"a 0000000000000000000000000000000000000000000000000000000000000000\n", "agents:1: after"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_expect_eq(parse(wrong[i].text), STATUS_INVALID, "%s", wrong[i].text);
        cr_expect_eq(strncmp(why.text, wrong[i].why, strlen(wrong[i].why)), 0, "%s", why.text);
        cr_expect_eq(roster.count, 0);
    }
    cr_expect_eq(roster_parse(&roster, (struct slice){"a\0b", 3}, "agents", &why), STATUS_INVALID);
}

Test(roster, peers_are_names_with_a_key_of_their_own_sorted_and_once)
{
    struct peer *peer = NULL;
    size_t count = 0;
    cr_assert_eq(parse("zoe " KEY_A "\nann " KEY_B "\nzoe " KEY_C
                       "\nbob dd000000000000000000000000000000000000000000000000000000000000dd "
                       "token-until=5\n"),
                 STATUS_OK);
    cr_assert_eq(roster_peers(&peer, &count, &roster), STATUS_OK);
    cr_assert_eq(count, 2);
    cr_expect_str_eq(peer[0].name, "ann");
    cr_expect_str_eq(peer[1].name, "zoe");
    free(peer);
}

Test(roster_edit, adding_rotating_and_revoking, .init = setup, .fini = teardown)
{
    const char *path = scratch_path(&scratch, "agents");
    struct digest a = key_of(KEY_A);
    struct digest b = key_of(KEY_B);
    cr_assert_eq(roster_add(path, "ann", &a, &why), STATUS_OK);
    cr_expect_eq(roster_add(path, "bob", &a, &why), STATUS_EXISTS);
    cr_expect_eq(roster_add(path, "Bob", &b, &why), STATUS_INVALID);
    cr_assert_eq(roster_add(path, "ann", &b, &why), STATUS_OK); /* the new key beside the old one */
    cr_assert_eq(roster_read(&roster, path, &why), STATUS_OK);
    cr_expect_eq(roster.count, 2);
    cr_assert_eq(roster_revoke(path, "ann", &a, &why), STATUS_OK);
    cr_expect_eq(roster_revoke(path, "ann", &a, &why), STATUS_NOT_FOUND);
    cr_assert_eq(roster_read(&roster, path, &why), STATUS_OK);
    cr_assert_eq(roster.count, 1);
    cr_expect(digest_equal(&roster.entry[0].key, &b));
    cr_assert_eq(roster_revoke(path, "ann", NULL, &why), STATUS_OK);
    cr_assert_eq(roster_read(&roster, path, &why), STATUS_OK);
    cr_expect_eq(roster.count, 0);
}

Test(roster_edit, a_token_is_spent_once_and_in_time, .init = setup, .fini = teardown)
{
    const char *path = scratch_path(&scratch, "agents");
    struct digest token = key_of(KEY_A);
    struct digest own = key_of(KEY_B);
    const struct digest none = {{0}};
    cr_assert_eq(roster_add_token(path, "ann", &token, 1000, &why), STATUS_OK);
    cr_expect_eq(roster_enrol(path, &token, &own, &none, 1000, &why),
                 STATUS_NOT_FOUND); /* expired */
    cr_expect_eq(roster_enrol(path, &own, &own, &none, 1, &why), STATUS_NOT_FOUND);
    cr_assert_eq(roster_enrol(path, &token, &own, &none, 999, &why), STATUS_OK);
    cr_expect_eq(roster_enrol(path, &token, &own, &none, 999, &why), STATUS_NOT_FOUND);
    cr_assert_eq(roster_read(&roster, path, &why), STATUS_OK);
    cr_assert_eq(roster.count, 1);
    cr_expect_str_eq(roster.entry[0].name, "ann");
    cr_expect(digest_equal(&roster.entry[0].key, &own));
    cr_expect_eq(roster.entry[0].token_until_s, 0);
}

Test(roster_edit, enrolment_lists_the_signing_half_and_edits_keep_it, .init = setup,
     .fini = teardown)
{
    const char *path = scratch_path(&scratch, "agents");
    const struct digest token = key_of(KEY_A);
    const struct digest own = key_of(KEY_B);
    const struct digest signing = key_of(KEY_C);
    cr_assert_eq(roster_add_token(path, "ann", &token, 1000, &why), STATUS_OK);
    cr_assert_eq(roster_enrol(path, &token, &own, &signing, 999, &why), STATUS_OK);
    cr_assert_eq(roster_add(path, "bob", &token, &why), STATUS_OK);
    cr_assert_eq(roster_read(&roster, path, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(roster.count, 2);
    cr_expect(digest_equal(&roster.entry[0].signing_key, &signing));
    cr_expect(digest_is_none(&roster.entry[1].signing_key));
}

Test(roster_edit, a_token_cannot_take_anothers_key, .init = setup, .fini = teardown)
{
    const char *path = scratch_path(&scratch, "agents");
    struct digest token = key_of(KEY_A);
    struct digest bobs = key_of(KEY_B);
    const struct digest none = {{0}};
    cr_assert_eq(roster_add(path, "bob", &bobs, &why), STATUS_OK);
    cr_assert_eq(roster_add_token(path, "ann", &token, 1000, &why), STATUS_OK);
    cr_expect_eq(roster_enrol(path, &token, &bobs, &none, 1, &why), STATUS_EXISTS);
    cr_expect_eq(roster_enrol(path, &token, &token, &none, 1, &why), STATUS_OK,
                 "its own key again is only a foolish choice");
}

Test(roster_edit, a_key_of_the_other_list_is_refused, .init = setup, .fini = teardown)
{
    const char *path = scratch_path(&scratch, "agents");
    struct digest own = key_of(KEY_A);
    struct digest token = key_of(KEY_B);
    struct digest free_key = key_of(KEY_C);
    cr_expect_eq(roster_refuse_other("", &own, &why), STATUS_OK, "there is no other list");
    cr_expect_eq(roster_refuse_other(path, &own, &why), STATUS_OK, "it has nobody yet");
    cr_assert_eq(roster_add(path, "ann", &own, &why), STATUS_OK);
    cr_assert_eq(roster_add_token(path, "bob", &token, 1000, &why), STATUS_OK);
    cr_expect_eq(roster_refuse_other(path, &own, &why), STATUS_EXISTS);
    cr_expect_not_null(strstr(why.text, "ann"));
    cr_expect_eq(roster_refuse_other(path, &token, &why), STATUS_EXISTS);
    cr_expect_eq(roster_refuse_other(path, &free_key, &why), STATUS_OK);
    scratch_write(path, "no list\n");
    cr_expect_eq(roster_refuse_other(path, &free_key, &why), STATUS_INVALID, "better nobody");
}

Test(roster_edit, a_new_token_replaces_the_old_one, .init = setup, .fini = teardown)
{
    const char *path = scratch_path(&scratch, "agents");
    struct digest first = key_of(KEY_A);
    struct digest second = key_of(KEY_B);
    cr_assert_eq(roster_add_token(path, "ann", &first, 1000, &why), STATUS_OK);
    cr_assert_eq(roster_add_token(path, "ann", &second, 1000, &why), STATUS_OK);
    cr_assert_eq(roster_read(&roster, path, &why), STATUS_OK);
    cr_assert_eq(roster.count, 1);
    cr_expect(digest_equal(&roster.entry[0].key, &second));
}

Test(roster_edit, many_at_once_lose_nothing, .init = setup, .fini = teardown)
{
    enum { WRITERS = 4, EACH = 10 };
    const char *path = scratch_path(&scratch, "agents");
    for (int writer = 0; writer < WRITERS; writer++) {
        if (quiet_fork() == 0) {
            for (int i = 0; i < EACH; i++) {
                char name[16];
                struct digest key = {{1, (uint8_t)writer, (uint8_t)i}};
                snprintf(name, sizeof name, "a%d-%d", writer, i);
                if (roster_add(path, name, &key, NULL) != STATUS_OK) {
                    _exit(1);
                }
            }
            _exit(0);
        }
    }
    for (int writer = 0; writer < WRITERS; writer++) {
        int result = 1;
        cr_assert_gt(wait(&result), 0);
        cr_expect_eq(result, 0);
    }
    cr_assert_eq(roster_read(&roster, path, &why), STATUS_OK);
    cr_expect_eq(roster.count, WRITERS * EACH);
}

Test(roster_edit, the_file_is_the_owners_and_a_broken_one_is_not_overwritten, .init = setup,
     .fini = teardown)
{
    const char *path = scratch_path(&scratch, "agents");
    struct digest a = key_of(KEY_A);
    struct stat about;
    cr_assert_eq(roster_add(path, "ann", &a, &why), STATUS_OK);
    cr_assert_eq(stat(path, &about), 0);
    cr_expect_eq(about.st_mode & 0777, 0600);
    scratch_write(path, "not a list\n");
    cr_expect_eq(roster_add(path, "ann", &a, &why), STATUS_INVALID);
    cr_expect_eq(roster_revoke(path, "ann", NULL, &why), STATUS_INVALID);
}

Test(roster_edit, links_under_its_names_are_refused_and_their_files_unharmed, .init = setup,
     .fini = teardown)
{
    static const char *const name[] = {"agents.lock", "agents"};
    struct digest a = key_of(KEY_A);
    char path[128];
    char victim[128];
    struct stat about;

    snprintf(path, sizeof path, "%s/agents", scratch.folder);
    snprintf(victim, sizeof victim, "%s/victim", scratch.folder);
    scratch_write(victim, "");
    for (size_t i = 0; i < 2; i++) {
        cr_assert_eq(symlink(victim, scratch_path(&scratch, name[i])), 0);
        cr_expect_eq(roster_add(path, "ann", &a, &why), STATUS_INVALID, "%s", name[i]);
        cr_expect_not_null(strstr(why.text, "symbolic link"), "%s", why.text);
        cr_assert_eq(lstat(scratch.path, &about), 0);
        cr_expect(S_ISLNK(about.st_mode), "what is refused is left as it is");
        cr_assert_eq(unlink(scratch.path), 0);
    }
    cr_assert_eq(stat(victim, &about), 0);
    cr_expect_eq(about.st_size, 0);
    cr_expect_eq(roster_add(path, "ann", &a, &why), STATUS_OK, "%s", why.text);
}

Test(roster_watch, two_changes_within_a_second_are_two_changes, .init = setup, .fini = teardown)
{
    struct roster_watch watch = {.path = scratch_path(&scratch, "agents")};
    bool changed = false;
    cr_expect_eq(roster_watch_look(&watch, &roster, &changed, &why), STATUS_NOT_FOUND);
    cr_expect_eq(roster_watch_look(&watch, &roster, &changed, &why), STATUS_OK,
                 "what is missing is told once");
    for (int i = 0; i < 20; i++) { /* the same size, most likely the same second */
        scratch_write(watch.path, i % 2 == 0 ? "a " KEY_A "\n" : "a " KEY_B "\n");
        cr_assert_eq(roster_watch_look(&watch, &roster, &changed, &why), STATUS_OK);
        cr_expect(changed);
        struct digest key = key_of(i % 2 == 0 ? KEY_A : KEY_B);
        cr_expect(digest_equal(&roster.entry[0].key, &key));
        cr_assert_eq(roster_watch_look(&watch, &roster, &changed, &why), STATUS_OK);
        cr_expect(!changed);
    }
}

Test(roster_watch, a_broken_or_missing_file_keeps_the_list, .init = setup, .fini = teardown)
{
    struct roster_watch watch = {.path = scratch_path(&scratch, "agents")};
    bool changed = false;
    scratch_write(watch.path, "a " KEY_A "\n");
    cr_assert_eq(roster_watch_look(&watch, &roster, &changed, &why), STATUS_OK);
    scratch_write(watch.path, "a " KEY_A "\nhalf a li");
    cr_expect_eq(roster_watch_look(&watch, &roster, &changed, &why), STATUS_INVALID);
    cr_expect(!changed);
    cr_expect_eq(roster.count, 1);
    cr_expect_eq(roster_watch_look(&watch, &roster, &changed, &why), STATUS_OK, "told once");
    cr_expect(!changed);
    cr_assert_eq(unlink(watch.path), 0);
    cr_expect_eq(roster_watch_look(&watch, &roster, &changed, &why), STATUS_NOT_FOUND);
    cr_expect_eq(roster.count, 1);
    scratch_write(watch.path, "a " KEY_A "\n");
    cr_assert_eq(roster_watch_look(&watch, &roster, &changed, &why), STATUS_OK);
    cr_expect(changed);
}

/* A key that is missing may have been revoked. */
Test(roster_watch, without_memory_a_change_is_not_lost, .init = setup, .fini = teardown)
{
    struct roster_watch watch = {.path = scratch_path(&scratch, "agents")};
    long refused = 0;
    for (bool was_refused = true; was_refused; refused++) {
        bool changed = false;
        scratch_write(watch.path, "a " KEY_A "\nb " KEY_B "\n");
        cr_assert_eq(roster_watch_look(&watch, &roster, &changed, &why), STATUS_OK);
        scratch_write(watch.path, "b " KEY_B "\n");
        countdown = refused;
        const enum status status = roster_watch_look(&watch, &roster, &changed, &why);
        was_refused = countdown < 0;
        countdown = -1;
        if (was_refused) {
            cr_expect_eq(status, STATUS_NO_MEMORY, "allocation %ld", refused);
            cr_expect(!changed && roster.count == 2);
            cr_assert_eq(roster_watch_look(&watch, &roster, &changed, &why), STATUS_OK);
        }
        cr_assert(changed && roster.count == 1, "allocation %ld", refused);
        roster_watch_again(&watch);
        cr_assert_eq(roster_watch_look(&watch, &roster, &changed, &why), STATUS_OK);
        cr_assert(changed, "asked to");
    }
    cr_expect_gt(refused, 2);
}
