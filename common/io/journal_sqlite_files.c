/* The files of the SQLite journal when it is opened: whose they are, and whether the mark tells of a journal that is gone. */

#include "io/journal_private.h"

#include "base/owned.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long a lock is waited for. A reader waits for a program that recovers or closes the journal, on a busy disk. */
enum { BUSY_MS = 2000, READER_BUSY_MS = 10000 };

/* SQLite opens its log and its index by name: what lies there before has to be our own. Nobody else can put
 * anything there afterwards, as the folder is ours. */
static enum status check_companions(struct journal_sqlite *journal)
{
    static const char *const name[] = {"journal.db-wal", "journal.db-shm", "journal.db-journal"};
    enum status status = STATUS_OK;

    for (size_t i = 0; status == STATUS_OK && i < sizeof name / sizeof name[0]; i++) {
        char path[JOURNAL_PATH_BYTES];
        int file = -1;
        status = journal_path(path, journal->folder, name[i], &journal->trouble);
        if (status == STATUS_OK) {
            status = owned_open(&file, path, O_RDONLY, &journal->trouble);
        }
        if (file >= 0) {
            (void)close(file);
        }
        status = status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    return status;
}

/* Makes journal.db, so that it is the owner's alone from its first moment, whatever the umask; or, to read, sees
 * that it is there. */
static enum status prepare_file(struct journal_sqlite *journal, const char *path)
{
    int file = -1;
    enum status status = owned_open(&file, path, journal->read_only ? O_RDONLY : O_RDWR | O_CREAT,
                                    &journal->trouble);

    if (status == STATUS_NOT_FOUND) {
        why_set(&journal->trouble, "there is no journal at %s: %s", path, strerror(ENOENT));
    } else if (status == STATUS_OK && !journal->read_only && fchmod(file, 0600) != 0) {
        status = why_fail(&journal->trouble, STATUS_IO, "%s cannot be opened: %s", path,
                          strerror(errno));
    }
    if (file >= 0) {
        (void)close(file); /* before SQLite takes its own locks on it */
    }
    return status == STATUS_OK ? check_companions(journal) : status;
}

enum status journal_sqlite_open_database(struct journal_sqlite *journal)
{
    char path[JOURNAL_PATH_BYTES];
    int flags = journal->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;

    enum status status = journal_path(path, journal->folder, "journal.db", &journal->trouble);
    if (status == STATUS_OK) {
        status = prepare_file(journal, path);
    }
    if (status != STATUS_OK) {
        return status;
    }
    /* SQLite takes no link anywhere in the name it is given; folders above ours may be links. */
    char *whole = realpath(path, NULL);
    if (whole == NULL) {
        return why_fail(&journal->trouble, STATUS_IO, "%s cannot be opened: %s", path,
                        strerror(errno));
    }
    int result = sqlite3_open_v2(whole, &journal->database,
                                 flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, NULL);
    free(whole);
    if (result != SQLITE_OK) {
        return journal_sqlite_failure(journal, "opened");
    }
    (void)sqlite3_extended_result_codes(journal->database, 1);
    (void)sqlite3_busy_timeout(journal->database, journal->read_only ? READER_BUSY_MS : BUSY_MS);
    return STATUS_OK;
}

enum status journal_sqlite_check_unbegun(struct journal_sqlite *journal,
                                         const struct journal_mark *mark)
{
    if (mark->sequence != 0) {
        return why_fail(
            &journal->trouble, STATUS_CORRUPT,
            "there is no journal at %s/journal.db, but one has been at record %llu. What was "
            "spent would be forgotten; remedy: put the latest journal.db back, and its "
            "journal.db-wal if it had one",
            journal->folder, (unsigned long long)mark->sequence);
    }
    if (journal->read_only) { /* as a full disk leaves it */
        return why_fail(&journal->trouble, STATUS_NOT_FOUND,
                        "there is no journal at %s/journal.db yet: it is empty", journal->folder);
    }
    return STATUS_OK;
}

static bool is_fresh(const char *path)
{
    struct stat about;
    return stat(path, &about) != 0 || about.st_size == 0;
}

enum status journal_sqlite_open_mark(struct journal_sqlite *journal, struct journal_mark *mark)
{
    char path[JOURNAL_PATH_BYTES];

    enum status status = journal_path(path, journal->folder, "journal.db", &journal->trouble);
    if (status != STATUS_OK) {
        return status;
    }
    status = journal_mark_open(&journal->mark_file, mark, journal->folder,
                               journal->read_only ? MARK_READ
                               : is_fresh(path)   ? MARK_MAKE
                                                  : MARK_WRITE,
                               &journal->trouble);
    if (status == STATUS_NOT_FOUND && journal->read_only) {
        return STATUS_OK; /* a copy of a journal.db alone may be looked at */
    }
    if (status == STATUS_NOT_FOUND) {
        return why_fail(
            &journal->trouble, STATUS_CORRUPT,
            "%s/mark is missing. It guards against an older journal.db being taken for the "
            "latest; once sure that nothing was spent since this copy was made: touch %s/mark",
            journal->folder, journal->folder);
    }
    return status == STATUS_OK && mark->sequence != 0 && is_fresh(path)
               ? journal_sqlite_check_unbegun(journal, mark)
               : status;
}
