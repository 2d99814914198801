/* Each write and each sync of the disk fails once, at every position: what the journal then says
 * must be true when it is opened again. If it says that nothing was recorded, nothing was. If it
 * says unknown, either is allowed. An acknowledged record is there. */

#include "io/journal.h"

#include "scratch.h"

#include <criterion/criterion.h>
#include <sqlite3.h>

/* A layer over SQLite's own files that fails at one call, and at all later ones if asked to. */
static struct {
    int countdown; /* calls until the fault; below 0: none */
    bool for_good; /* a disk that has gone fails for ever */
    bool failed;
    unsigned syncs;
} plan;

/* SQLite has several sets of methods, with and without locks; each gets a faulty twin. */
enum { SETS_MAX = 4 };
static const sqlite3_io_methods *real[SETS_MAX];
static sqlite3_io_methods faulty[SETS_MAX];

static const sqlite3_io_methods *real_of(sqlite3_file *file)
{
    return real[file->pMethods - faulty];
}

static int due(void)
{
    if (plan.failed && plan.for_good) {
        return 1;
    }
    if (plan.countdown < 0 || plan.countdown-- > 0) {
        return 0;
    }
    plan.failed = true;
    return 1;
}

static int faulty_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
    return due() ? SQLITE_IOERR_WRITE : real_of(file)->xWrite(file, bytes, size, at);
}

static int faulty_sync(sqlite3_file *file, int flags)
{
    plan.syncs++;
    return due() ? SQLITE_IOERR_FSYNC : real_of(file)->xSync(file, flags);
}

static int (*real_open)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);

static int faulty_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    int result = real_open(vfs, name, file, flags, out);
    if (result == SQLITE_OK && file->pMethods != NULL) {
        int set = 0;
        while (real[set] != NULL && real[set] != file->pMethods) {
            set++;
            cr_assert_lt(set, SETS_MAX);
        }
        real[set] = file->pMethods;
        faulty[set] = *real[set];
        faulty[set].xWrite = faulty_write;
        faulty[set].xSync = faulty_sync;
        file->pMethods = &faulty[set];
    }
    return result;
}

static void install(void)
{
    static sqlite3_vfs layer;
    if (real_open == NULL) {
        layer = *sqlite3_vfs_find(NULL);
        real_open = layer.xOpen;
        layer.zName = "faulty";
        layer.xOpen = faulty_open;
        cr_assert_eq(sqlite3_vfs_register(&layer, 1), SQLITE_OK);
    }
    plan.countdown = -1;
    plan.failed = false;
}

static enum status count(void *self, UNUSED uint64_t sequence, UNUSED struct slice body,
                         UNUSED struct slice blob)
{
    ++*(unsigned *)self;
    return STATUS_OK;
}

static unsigned count_again(struct scratch *scratch)
{
    struct journal journal;
    struct journal_sqlite_options options = {.folder = scratch->folder, .kind = "agent"};
    struct why why = {""};
    unsigned found = 0;
    plan.countdown = -1;
    plan.failed = false;
    cr_assert_eq(journal_sqlite_open(&journal, &options, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(journal.each(journal.self, count, &found, &why), STATUS_OK, "%s", why.text);
    journal_close(&journal);
    return found;
}

/* Appends until the fault strikes; returns false when it was not reached. */
static bool strike(int position, bool for_good, unsigned *certain, unsigned *unknown)
{
    enum { APPENDS = 3 };
    static uint8_t blob[70000];
    struct scratch scratch;
    struct journal journal;
    struct why why = {""};
    uint64_t sequence = 0;
    unsigned acknowledged = 0;
    enum status status = STATUS_OK;

    install();
    scratch_make(&scratch);
    struct journal_sqlite_options options = {.folder = scratch.folder, .kind = "agent"};
    cr_assert_eq(journal_sqlite_open(&journal, &options, &why), STATUS_OK, "%s", why.text);
    plan.countdown = position;
    plan.for_good = for_good;
    for (int i = 0; i < APPENDS && status == STATUS_OK; i++) {
        status = journal.append(journal.self, &sequence, (struct slice){"body", 4},
                                (struct slice){blob, i % 2 == 0 ? sizeof blob : 0});
        acknowledged += status == STATUS_OK ? 1 : 0;
    }
    bool reached = plan.failed;
    if (status != STATUS_OK) {
        cr_expect_eq(journal.append(journal.self, &sequence, (struct slice){"body", 4},
                                    (struct slice){NULL, 0}),
                     STATUS_UNKNOWN_OUTCOME, "it must refuse everything after a doubt");
    }
    journal_close(&journal);
    unsigned found = count_again(&scratch);
    if (status == STATUS_OK || status == STATUS_IO) {
        cr_expect_eq(found, acknowledged, "at %d", position);
        *certain += status == STATUS_IO ? 1 : 0;
    } else {
        cr_expect_eq(status, STATUS_UNKNOWN_OUTCOME);
        cr_expect(found == acknowledged || found == acknowledged + 1, "at %d", position);
        *unknown += 1;
    }
    scratch_remove(&scratch);
    return reached;
}

Test(journal_faults, every_failing_write_and_sync_is_told_truly)
{
    unsigned certain = 0;
    unsigned unknown = 0;
    int position = 0;
    while (strike(position, false, &certain, &unknown)) {
        position++;
    }
    cr_expect_gt(position, 20, "the appends must write and sync");
    cr_expect_gt(unknown, 0, "some faults must strike at the commit itself");
}

Test(journal_faults, a_disk_that_has_gone_is_told_truly)
{
    unsigned certain = 0;
    unsigned unknown = 0;
    int position = 0;
    while (strike(position, true, &certain, &unknown)) {
        position += 5;
    }
    cr_expect_gt(position, 20);
}

/* What is forgotten need not be durable at once; every record must be, also the one after it. */
Test(journal_faults, a_forgetting_waits_for_no_disk_and_every_record_does)
{
    struct scratch scratch;
    struct journal journal;
    struct why why = {""};
    uint64_t sequence = 0;

    install();
    scratch_make(&scratch);
    struct journal_sqlite_options options = {.folder = scratch.folder, .kind = "agent"};
    cr_assert_eq(journal_sqlite_open(&journal, &options, &why), STATUS_OK, "%s", why.text);
    for (int i = 0; i < 5; i++) {
        plan.syncs = 0;
        cr_assert_eq(journal.append(journal.self, &sequence, (struct slice){"body", 4},
                                    (struct slice){"answer", 6}),
                     STATUS_OK);
        cr_expect_geq(plan.syncs, 1, "record %d is acknowledged before it is durable", i);
        plan.syncs = 0;
        cr_assert_eq(journal.forget(journal.self, sequence), STATUS_OK);
        cr_expect_eq(plan.syncs, 0);
    }
    journal_close(&journal);
    scratch_remove(&scratch);
}
