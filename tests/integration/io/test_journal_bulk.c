/* Large blobs have files of their own: durable before their record, sealed under a key that goes with the blob, whole or
 * refused. */

#include "bulk_bench.h"

#include "crypto/digest.h"

/* Whether a file of the journal has these bytes. */
static bool file_has(const char *name, const uint8_t *bytes, size_t size)
{
    static uint8_t content[1 << 22];
    FILE *file = fopen(scratch_path(&scratch, name), "rb");
    if (file == NULL) {
        return false;
    }
    const size_t used = fread(content, 1, sizeof content, file);
    cr_assert_lt(used, sizeof content);
    (void)fclose(file);
    for (size_t at = 0; at + size <= used; at++) {
        if (memcmp(content + at, bytes, size) == 0) {
            return true;
        }
    }
    return false;
}

/* The key of the first large blob, as SQLite has it. */
static void read_key(uint8_t key[32])
{
    char command[256];
    char hex[65] = "";
    (void)snprintf(command, sizeof command, "sqlite3 %s 'SELECT hex(bytes) FROM piece LIMIT 1'",
                   scratch_path(&scratch, "journal.db"));
    FILE *pipe = popen(command, "r");
    cr_assert_not_null(pipe);
    cr_assert_eq(fread(hex, 1, 64, pipe), 64);
    (void)pclose(pipe);
    for (size_t i = 0; i < 32; i++) {
        unsigned byte = 0;
        cr_assert_eq(sscanf(hex + 2 * i, "%2x", &byte), 1);
        key[i] = (uint8_t)byte;
    }
}

Test(journal_bulk, a_large_blob_has_a_file_that_is_sealed_and_durable_before_its_record,
     .init = setup, .fini = teardown)
{
    unsigned records = 0;
    struct stat about;
    cr_assert_eq(put("one", 0), STATUS_OK);
    plan.records = UINT_MAX - 1;
    cr_assert_eq(put("two", LARGE), STATUS_OK);
    cr_expect_eq(plan.records, 1, "the folder is synced, and the record is not there yet");
    cr_assert_eq(stat(scratch_path(&scratch, "bulk-2"), &about), 0);
    cr_expect_eq(about.st_size, LARGE);
    cr_expect_eq(about.st_mode & 0777, 0600);
    cr_expect_gt(journal_size(scratch.folder), LARGE);
    for (size_t at = 0; at + 16 <= LARGE; at += 50000) {
        cr_expect_not(file_has("bulk-2", large + at, 16));
        cr_expect_not(file_has("journal.db", large + at, 16));
        cr_expect_not(file_has("journal.db-wal", large + at, 16));
    }
    cr_assert_eq(open_journal(), STATUS_OK);
    cr_assert_eq(journal.append(journal.self, &(uint64_t){0}, (struct slice){"x", 1},
                                (struct slice){large, LARGE}),
                 STATUS_OK);
    journal_close(&journal);
    cr_assert_eq(truncate(scratch_path(&scratch, "bulk-2"), 64), 0);
    FILE *file = fopen(scratch_path(&scratch, "bulk-2"), "rb");
    uint8_t first[64];
    cr_assert_eq(fread(first, 1, sizeof first, file), sizeof first);
    (void)fclose(file);
    cr_expect_not(file_has("bulk-3", first, sizeof first), "the same blob under the same key");
    cr_assert_eq(open_journal(), STATUS_OK);
    cr_expect_eq(read_all(&records), STATUS_CORRUPT);
}

/* The record takes it as it is: a wrong one makes it damaged. */
Test(journal_bulk, a_digest_that_the_caller_has_is_the_record_s)
{
    static const struct {
        size_t size;
        bool wrong;
    } cases[] = {{SMALL, false}, {LARGE, false}, {SMALL, true}, {LARGE, true}};
    for (size_t i = 0; i < 4; i++) {
        struct digest digest = {{1, 2, 3}};
        uint64_t sequence = 0;
        unsigned records = 0;
        setup();
        if (!cases[i].wrong) {
            digest_sha256(&digest, &(struct slice){large, cases[i].size}, 1);
        }
        cr_assert_eq(put("one", cases[i].size), STATUS_OK);
        cr_assert_eq(journal.append_known(journal.self, &sequence, (struct slice){"known", 5},
                                          (struct slice){large, cases[i].size}, &digest),
                     STATUS_OK);
        cr_assert_eq(open_journal(), STATUS_OK, "%s", why.text);
        cr_expect_eq(read_all(&records), cases[i].wrong ? STATUS_CORRUPT : STATUS_OK, "case %zu",
                     i);
        cr_expect_eq(records, cases[i].wrong ? 1 : 2, "case %zu", i);
        teardown();
    }
}

/* A reader computes the digest and the chain of digests anew. */
Test(journal_bulk, the_digest_is_right_with_a_thread_for_it_and_without, .init = setup,
     .fini = teardown)
{
    unsigned records = 0;
    for (int i = 0; i < 2; i++) {
        no_threads = i == 0;
        threads = 0;
        cr_expect_eq(put("state", LARGE), STATUS_OK, "%s", why.text);
        cr_expect_eq(threads, 1);
        journal_close(&journal);
        cr_assert_eq(open_journal(), STATUS_OK, "%s", why.text);
        cr_expect_eq(read_all(&records), STATUS_OK, "%s", why.text);
        cr_expect_eq(records, (unsigned)i + 1);
    }
}

Test(journal_bulk, what_is_forgotten_goes_after_the_next_record, .init = setup, .fini = teardown)
{
    unsigned records = 0;
    cr_assert_eq(put("one", LARGE), STATUS_OK);
    cr_assert_eq(put("two", LARGE), STATUS_OK);
    cr_assert_eq(read_all(&records), STATUS_OK, "%s", why.text);
    cr_assert_eq(journal.forget(journal.self, 1), STATUS_OK);
    cr_expect(is_there("bulk-1"), "a power failure may bring its key back");
    cr_assert_eq(put("three", 0), STATUS_OK);
    cr_expect_not(is_there("bulk-1"));
    cr_expect(is_there("bulk-2"));
    cr_assert_eq(open_journal(), STATUS_OK);
    cr_assert_eq(put("four", 0), STATUS_OK);
    cr_assert_eq(read_all(&records), STATUS_OK, "%s", why.text);
    cr_expect_eq(records, 4);
}

/* The planted fault: a forgotten key may still be in SQLite's log, which the same search finds. */
Test(journal_bulk, the_key_of_what_is_wiped_is_in_no_file, .init = setup, .fini = teardown)
{
    uint8_t key[32];
    for (int wiped = 0; wiped < 2; wiped++) {
        cr_assert_eq(put("secret", LARGE), STATUS_OK);
        read_key(key);
        cr_assert(file_has("journal.db", key, 32) || file_has("journal.db-wal", key, 32));
        cr_assert_eq((wiped ? journal.wipe : journal.forget)(journal.self, 1 + (uint64_t)wiped),
                     STATUS_OK);
        cr_expect_eq(file_has("journal.db", key, 32) || file_has("journal.db-wal", key, 32),
                     wiped == 0);
    }
}

Test(journal_bulk, what_nobody_knows_is_removed_and_nothing_else, .init = setup, .fini = teardown)
{
    char victim[96];
    (void)snprintf(victim, sizeof victim, "%s/precious", scratch.folder);
    scratch_write(victim, "what belongs to somebody else\n");
    cr_assert_eq(put("one", LARGE), STATUS_OK);
    scratch_write(scratch_path(&scratch, "bulk-7"), "a death left it");
    scratch_write(scratch_path(&scratch, "bulk-x"), "not ours");
    scratch_write(scratch_path(&scratch, "bulk-"), "not ours");
    cr_assert_eq(symlink(victim, scratch_path(&scratch, "bulk-2")), 0);
    cr_assert_eq(link(victim, scratch_path(&scratch, "bulk-3")), 0);
    cr_assert_eq(open_journal(), STATUS_OK);
    cr_expect(is_there("bulk-7"), "nothing is removed before something is durable");
    cr_assert_eq(put("two", LARGE), STATUS_OK);
    cr_expect(is_there("bulk-1") && is_there("bulk-2") && is_there("bulk-x") && is_there("bulk-"));
    cr_expect_not(is_there("bulk-7") || is_there("bulk-3"));
    cr_expect(is_there("precious") && file_has("precious", (const uint8_t *)"what belongs", 12));
    unsigned records = 0;
    cr_expect_eq(read_all(&records), STATUS_OK, "%s", why.text);
}

/* A statement that fails does not tell whether a file is needed. */
Test(journal_bulk, nothing_is_removed_of_which_nothing_is_known, .init = setup, .fini = teardown)
{
    enum { STEPS_MAX = 12 };
    unsigned records = 0;
    cr_assert_eq(put("one", LARGE), STATUS_OK);
    for (int step = 1; step < STEPS_MAX; step++) {
        cr_assert_eq(open_journal(), STATUS_OK, "%s", why.text);
        steps_left = step;
        (void)!put("next", 0);
        steps_left = 0;
        cr_assert(is_there("bulk-1"), "when step %d failed", step);
    }
    cr_assert_eq(open_journal(), STATUS_OK, "%s", why.text);
    cr_expect_eq(read_all(&records), STATUS_OK, "%s", why.text);
}

static void spoil(int how)
{
    const char *path = scratch_path(&scratch, "bulk-2");
    char byte = 0;
    const int file = open(path, O_RDWR);
    cr_assert_geq(file, 0);
    switch (how) {
    case 0:
        cr_assert_eq(pread(file, &byte, 1, LARGE / 2), 1);
        byte ^= 1;
        cr_assert_eq(pwrite(file, &byte, 1, LARGE / 2), 1);
        break;
    case 1:
        cr_assert_eq(ftruncate(file, LARGE - 1), 0);
        break;
    case 2:
        cr_assert_eq(ftruncate(file, LARGE + 1), 0);
        break;
    case 3:
        cr_assert_eq(fchmod(file, 0666), 0);
        break;
    default:
        cr_assert_eq(unlink(path), 0);
    }
    close(file);
}

Test(journal_bulk, a_file_that_is_not_what_was_written_is_refused)
{
    for (int how = 0; how < 5; how++) {
        unsigned records = 0;
        setup();
        cr_assert_eq(put("one", 0), STATUS_OK);
        cr_assert_eq(put("two", LARGE), STATUS_OK);
        spoil(how);
        cr_assert_eq(open_journal(), STATUS_OK);
        cr_expect_eq(read_all(&records), STATUS_CORRUPT, "%d", how);
        cr_expect_not_null(strstr(why.text, how == 0 ? "record 2" : "bulk-2"), "%s", why.text);
        /* A reader may have old rows. If a row's file is gone, it was forgotten meanwhile. */
        records = 0;
        cr_expect_eq(journal_sqlite_read(scratch.folder, "agent", count, &records, &why),
                     how == 4 ? STATUS_OK : STATUS_CORRUPT, "%d: %s", how, why.text);
        teardown();
    }
}
