/* kill -9 at any moment: what was acknowledged is there, and at most one record more. */

#include "io/journal.h"

#include "scratch.h"
#include "tests/support/quiet_fork.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { KILLS = 40, BLOB_BYTES = 300000, KEPT = 4 };

/* The blobs that the journal still has, by sequence; of the latest reading. */
static bool has_blob[1 << 20];

static enum status check_record(void *self, uint64_t sequence, struct slice body, struct slice blob)
{
    unsigned *found = self;
    uint64_t number = 0;
    cr_assert_eq(body.size, sizeof number);
    memcpy(&number, body.data, sizeof number);
    cr_expect_eq(number, sequence);
    cr_expect(blob.size == 0 || (sequence % 2 == 0 && blob.size == BLOB_BYTES));
    cr_assert_lt(sequence, sizeof has_blob);
    has_blob[sequence] = blob.size > 0;
    ++*found;
    return STATUS_OK;
}

/* The victim: appends for ever and says so, each acknowledgement in one write. */
static void append_until_killed(const char *folder, int report)
{
    static uint8_t blob[BLOB_BYTES];
    struct journal journal;
    struct journal_sqlite_options options = {.folder = folder, .kind = "agent"};
    unsigned have = 0;
    if (journal_sqlite_open(&journal, &options, NULL) != STATUS_OK ||
        journal.each(journal.self, check_record, &have, NULL) != STATUS_OK) {
        _exit(1);
    }
    for (unsigned i = 1; i + KEPT <= have; i++) { /* what the last kill left undone */
        if (has_blob[i] && journal.forget(journal.self, i) != STATUS_OK) {
            _exit(1);
        }
    }
    for (;;) {
        uint64_t sequence = have + 1;
        uint64_t got = 0;
        if (journal.append(journal.self, &got, (struct slice){&sequence, sizeof sequence},
                           (struct slice){blob, sequence % 2 == 0 ? sizeof blob : 0}) !=
                STATUS_OK ||
            got != sequence ||
            (sequence > KEPT && journal.forget(journal.self, sequence - KEPT) != STATUS_OK) ||
            write(report, &got, sizeof got) != (ssize_t)sizeof got) {
            _exit(1);
        }
        have++;
    }
}

Test(journal_kill, nothing_acknowledged_is_lost)
{
    struct scratch scratch;
    unsigned acknowledged = 0;
    unsigned one_more = 0;

    scratch_make(&scratch);
    for (int i = 0; i < KILLS; i++) {
        int ends[2];
        uint64_t sequence = 0;
        int result = 0;
        cr_assert_eq(pipe(ends), 0);
        pid_t victim = quiet_fork();
        if (victim == 0) {
            close(ends[0]);
            append_until_killed(scratch.folder, ends[1]);
        }
        close(ends[1]);
        /* At least one, so that every life makes progress; then somewhere in the next milliseconds.
         */
        cr_assert_eq(read(ends[0], &sequence, sizeof sequence), (ssize_t)sizeof sequence);
        struct timespec pause = {.tv_nsec = (i * 977 % 12000) * 1000L};
        nanosleep(&pause, NULL);
        kill(victim, SIGKILL);
        cr_assert_eq(waitpid(victim, &result, 0), victim);
        cr_assert(WIFSIGNALED(result), "the victim must be killed, not fail");
        acknowledged = (unsigned)sequence;
        while (read(ends[0], &sequence, sizeof sequence) == (ssize_t)sizeof sequence) {
            acknowledged = (unsigned)sequence;
        }
        close(ends[0]);

        struct journal journal;
        struct why why = {""};
        struct journal_sqlite_options options = {.folder = scratch.folder, .kind = "agent"};
        unsigned found = 0;
        cr_assert_eq(journal_sqlite_open(&journal, &options, &why), STATUS_OK, "%s", why.text);
        cr_assert_eq(journal.each(journal.self, check_record, &found, &why), STATUS_OK, "%s",
                     why.text);
        journal_close(&journal);
        cr_expect(found == acknowledged || found == acknowledged + 1, "%u against %u", found,
                  acknowledged);
        /* What was to be dropped is gone, except the last of it. All else is there. */
        for (unsigned i = 2; i <= found; i += 2) {
            bool must_stay = i + KEPT > found;
            bool must_go = i + KEPT + 1 < found;
            cr_expect(has_blob[i] ? !must_go : !must_stay, "record %u of %u", i, found);
        }
        one_more += found == acknowledged + 1 ? 1 : 0;
    }
    /* An unknown outcome must occur: a record beyond the last acknowledgement is seen often. */
    cr_log_info("%u of %d kills left one record more than acknowledged", one_more, (int)KILLS);
    scratch_remove(&scratch);
}
