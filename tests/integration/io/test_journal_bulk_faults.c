/* Large blobs have files of their own: each call that writes one fails once, and the program is killed at each. */

#include "bulk_bench.h"

#include <sys/wait.h>

/* After a fault the journal refuses everything; what it acknowledged is there, and after the next start no file is left
 * over. */
static void go_on(unsigned least, unsigned most, int position)
{
    unsigned records = 0;
    plan.fate = FATE_NONE;
    cr_assert_eq(open_journal(), STATUS_OK, "%s", why.text);
    cr_assert_eq(read_all(&records), STATUS_OK, "at %d: %s", position, why.text);
    cr_expect(records >= least && records <= most, "at %d: %u", position, records);
    cr_assert_eq(put("next", LARGE), STATUS_OK);
    unsigned files = 0;
    for (unsigned i = 1; i < 10; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "bulk-%u", i);
        files += is_there(name);
    }
    cr_expect_eq(files, records + 1, "at %d", position);
    cr_assert_eq(read_all(&records), STATUS_OK, "at %d: %s", position, why.text);
}

static bool goes_past_the_cache(const char *folder)
{
    const int file = open(folder, O_TMPFILE | O_WRONLY | O_DIRECT | O_CLOEXEC, 0600);
    if (file >= 0) {
        (void)close(file);
    }
    return file >= 0;
}

/* A file system that has O_DIRECT for larger blocks only, or says so and has it not: the blob is whole all the same. */
Test(journal_bulk_faults, a_disk_that_takes_nothing_past_the_cache_gets_all_by_it, .init = setup,
     .fini = teardown)
{
    static const int why_not[] = {EINVAL, EOPNOTSUPP};
    const bool goes_past = goes_past_the_cache(scratch.folder);
    unsigned records = 0;
    for (size_t i = 0; i < sizeof why_not / sizeof why_not[0]; i++) {
        for (plan.odd_from = 0; plan.odd_from <= 2; plan.odd_from++) {
            plan.odd = 0;
            plan.odd_blocks = why_not[i];
            cr_expect_eq(put("one", LARGE), STATUS_OK);
            cr_expect_eq(plan.odd, goes_past ? plan.odd_from + 1 : 0);
            plan.odd_blocks = 0;
            records++;
        }
    }
    go_on(records, records, 0);
}

Test(journal_bulk_faults, each_write_and_sync_fails_once)
{
    for (enum fate fate = FATE_FAIL; fate <= FATE_SHORT; fate++) {
        int position = 0;
        do {
            unsigned acknowledged = 0;
            enum status status = STATUS_OK;
            setup();
            plan.fate = fate;
            plan.countdown = position;
            plan.met = false;
            for (int i = 0; i < 2 && status == STATUS_OK; i++) {
                status = put("body", LARGE);
                acknowledged += status == STATUS_OK;
            }
            cr_expect_eq(status == STATUS_OK, fate == FATE_SHORT || !plan.met, "%d", position);
            if (status != STATUS_OK) {
                cr_expect_eq(status, STATUS_IO);
                cr_expect_not_null(strstr(journal.trouble(journal.self), "bulk-"));
                cr_expect_eq(put("more", 0), STATUS_UNKNOWN_OUTCOME);
            }
            go_on(acknowledged, acknowledged, position);
            teardown();
        } while (plan.met && ++position < LIVES_MAX);
        cr_expect_geq(position, 12, "two blobs are four writes and two syncs each");
    }
}

Test(journal_bulk_faults, killed_at_each_write_and_sync)
{
    for (enum fate fate = FATE_KILL_BEFORE; fate <= FATE_KILL_AFTER; fate++) {
        bool killed = true;
        int position = 0;
        for (; killed && position < LIVES_MAX; position++) {
            int ends[2];
            int result = 0;
            char done = 0;
            unsigned acknowledged = 0;
            setup();
            journal_close(&journal);
            cr_assert_eq(pipe(ends), 0);
            const pid_t victim = quiet_fork();
            if (victim == 0) {
                plan.fate = fate;
                plan.countdown = position;
                for (int i = 0; i < 2; i++) {
                    if ((i == 0 && open_journal() != STATUS_OK) ||
                        put("body", LARGE) != STATUS_OK || __real_write(ends[1], "+", 1) != 1) {
                        _exit(1);
                    }
                }
                _exit(0);
            }
            close(ends[1]);
            cr_assert_eq(waitpid(victim, &result, 0), victim);
            cr_assert(WIFSIGNALED(result) || WEXITSTATUS(result) == 0);
            killed = WIFSIGNALED(result);
            while (read(ends[0], &done, 1) == 1) {
                acknowledged++;
            }
            close(ends[0]);
            go_on(acknowledged, acknowledged, position);
            teardown();
        }
        cr_expect_geq(position, 12);
    }
}
