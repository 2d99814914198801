/* Opening the SQLite journal: whose it is, of which version, where it ends, and that its commits are durable. */

#include "io/journal_private.h"

#include "base/owned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char schema[] =
    "CREATE TABLE about (kind TEXT NOT NULL) STRICT;"
    "CREATE TABLE record (sequence INTEGER PRIMARY KEY, body BLOB NOT NULL,"
    " blob_bytes INTEGER NOT NULL, blob_digest BLOB NOT NULL, chain BLOB NOT NULL) STRICT;"
    "CREATE TABLE piece (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;"
    "CREATE TRIGGER record_stays BEFORE DELETE ON record"
    " BEGIN SELECT RAISE(ABORT, 'a journal is append-only'); END;"
    "CREATE TRIGGER record_unchanged BEFORE UPDATE ON record"
    " BEGIN SELECT RAISE(ABORT, 'a journal is append-only'); END;"
    "CREATE TRIGGER piece_unchanged BEFORE UPDATE ON piece"
    " BEGIN SELECT RAISE(ABORT, 'a journal is append-only'); END;";

static const char *const statement_text[STATEMENT_COUNT] = {
    [STATEMENT_BEGIN] = "BEGIN IMMEDIATE",
    [STATEMENT_COMMIT] = "COMMIT",
    [STATEMENT_ROLLBACK] = "ROLLBACK",
    [STATEMENT_ADD] = "INSERT INTO record VALUES (?1, ?2, ?3, ?4, ?5)",
    [STATEMENT_ADD_PIECE] = "INSERT INTO piece VALUES (?1, ?2)",
    [STATEMENT_DROP_PIECES] = "DELETE FROM piece WHERE id >= ?1 AND id < ?2",
    [STATEMENT_ALL] = "SELECT sequence, body, blob_bytes, blob_digest, chain FROM record"
                      " ORDER BY sequence",
    [STATEMENT_BLOB_SIZE] = "SELECT coalesce(sum(length(bytes)), 0), coalesce(max(id), 0)"
                            " FROM piece WHERE id >= ?1 AND id < ?2",
    [STATEMENT_PIECES] = "SELECT bytes FROM piece WHERE id >= ?1 AND id < ?2 ORDER BY id",
};

/* Reads the one integer or text that a query gives; returns false when there is none. */
static bool ask(struct journal_sqlite *journal, const char *query, int64_t *number, char *text,
                size_t size)
{
    sqlite3_stmt *statement = NULL;
    bool answered = false;
    if (sqlite3_prepare_v2(journal->database, query, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        answered = true;
        if (number != NULL) {
            *number = sqlite3_column_int64(statement, 0);
        }
        if (text != NULL) {
            const unsigned char *found = sqlite3_column_text(statement, 0);
            (void)snprintf(text, size, "%s", found == NULL ? "" : (const char *)found);
        }
    }
    (void)sqlite3_finalize(statement);
    return answered;
}

static bool run(struct journal_sqlite *journal, const char *command)
{
    return sqlite3_exec(journal->database, command, NULL, NULL, NULL) == SQLITE_OK;
}

/* WAL and a sync at every commit are what makes an acknowledgement true: asked for, then checked. Every delete overwrites what
 * it frees: when any record goes, pages may be merged, and copies of secrets beside it are freed with them. */
static enum status set_durable(struct journal_sqlite *journal)
{
    char mode[16] = "";
    int64_t level = 0;

    if (!ask(journal, "PRAGMA journal_mode=WAL", NULL, mode, sizeof mode) ||
        !run(journal, "PRAGMA synchronous=FULL; PRAGMA cache_size=-2048;"
                      "PRAGMA journal_size_limit=16777216; PRAGMA wal_autocheckpoint=256;"
                      "PRAGMA trusted_schema=OFF; PRAGMA secure_delete=ON") ||
        !ask(journal, "PRAGMA synchronous", &level, NULL, 0)) {
        return journal_sqlite_failure(journal, "prepared");
    }
    if (strcmp(mode, "wal") != 0 || level != 2) {
        return why_fail(&journal->trouble, STATUS_IO,
                        "%s/journal.db cannot be made durable here (journal mode %s); "
                        "remedy: a local file system",
                        journal->folder, mode);
    }
    return STATUS_OK;
}

static enum status make_schema(struct journal_sqlite *journal, const char *kind)
{
    char numbers[96];
    sqlite3_stmt *statement = NULL;
    bool made = false;

    (void)snprintf(numbers, sizeof numbers, "PRAGMA application_id=%d; PRAGMA user_version=%d;",
                   (int)JOURNAL_APPLICATION, (int)JOURNAL_VERSION);
    if (run(journal, "BEGIN IMMEDIATE") && run(journal, schema) && run(journal, numbers) &&
        sqlite3_prepare_v2(journal->database, "INSERT INTO about VALUES (?1)", -1, &statement,
                           NULL) == SQLITE_OK &&
        sqlite3_bind_text(statement, 1, kind, -1, SQLITE_STATIC) == SQLITE_OK) {
        made = sqlite3_step(statement) == SQLITE_DONE;
    }
    (void)sqlite3_finalize(statement);
    if (!made || !run(journal, "COMMIT")) {
        return journal_sqlite_failure(journal, "made");
    }
    return STATUS_OK;
}

/* From now on its records may say what the version before did not know. */
static enum status set_version(struct journal_sqlite *journal)
{
    char command[64];
    (void)snprintf(command, sizeof command, "PRAGMA user_version=%d", (int)JOURNAL_VERSION);
    return run(journal, command) ? STATUS_OK : journal_sqlite_failure(journal, "prepared");
}

/* Whose file is it, and of which version? Nothing is changed; an empty one is ours to fill. */
static enum status recognise(struct journal_sqlite *journal, bool *empty, const char *kind)
{
    int64_t application = 0;
    int64_t version = 0;
    int64_t tables = 0;
    char found[32] = "";

    /* All in one transaction: a program that looks while another makes the journal must not see
     * half of it. */
    if (!run(journal, "BEGIN") || !ask(journal, "PRAGMA application_id", &application, NULL, 0) ||
        !ask(journal, "PRAGMA user_version", &version, NULL, 0) ||
        !ask(journal, "SELECT count(*) FROM sqlite_schema", &tables, NULL, 0) ||
        !run(journal, "COMMIT")) {
        const enum status status = journal_sqlite_failure(journal, "read");
        (void)run(journal, "ROLLBACK");
        return status;
    }
    *empty = tables == 0 && application == 0 && version == 0;
    if (*empty) {
        return STATUS_OK;
    }
    if (application != JOURNAL_APPLICATION) {
        return why_refuse(&journal->trouble,
                          "%s/journal.db is not a hedgerow journal; it is left as it is",
                          journal->folder);
    }
    if (version < JOURNAL_VERSION_LEAST || version > JOURNAL_VERSION) {
        return why_fail(&journal->trouble, STATUS_UNSUPPORTED,
                        "%s/journal.db has version %lld, this program knows %d to %d; remedy: "
                        "use the hedgerow that wrote it, or a later one",
                        journal->folder, (long long)version, (int)JOURNAL_VERSION_LEAST,
                        (int)JOURNAL_VERSION);
    }
    journal->is_older = version < JOURNAL_VERSION;
    if (!ask(journal, "SELECT kind FROM about", NULL, found, sizeof found)) {
        return journal_sqlite_failure(journal, "read");
    }
    if (strcmp(found, kind) != 0) {
        return why_refuse(&journal->trouble,
                          "%s/journal.db is the journal of another program (%s); remedy: "
                          "give each program a state folder of its own",
                          journal->folder, found);
    }
    return STATUS_OK;
}

/* Where does the journal end, and is that at least as far as it has been? */
static enum status find_end(struct journal_sqlite *journal, const struct journal_mark *mark)
{
    sqlite3_stmt *statement = NULL;
    struct journal_mark at[2] = {{0}}; /* the last record; the one the mark tells of */
    static const char *const query[2] = {
        "SELECT sequence, chain FROM record ORDER BY sequence DESC LIMIT 1",
        "SELECT sequence, chain FROM record WHERE sequence = ?1"};

    for (int i = 0; i < 2; i++) {
        int result = sqlite3_prepare_v2(journal->database, query[i], -1, &statement, NULL);
        if (result == SQLITE_OK && i == 1) {
            result = sqlite3_bind_int64(statement, 1, (int64_t)mark->sequence);
        }
        if (result == SQLITE_OK) {
            result = sqlite3_step(statement);
        }
        if (result == SQLITE_ROW && sqlite3_column_bytes(statement, 1) == DIGEST_BYTES) {
            at[i].sequence = (uint64_t)sqlite3_column_int64(statement, 0);
            memcpy(at[i].chain.byte, sqlite3_column_blob(statement, 1), DIGEST_BYTES);
        }
        (void)sqlite3_finalize(statement);
        statement = NULL;
        if (result != SQLITE_ROW && result != SQLITE_DONE) {
            return journal_sqlite_failure(journal, "read");
        }
    }
    if (mark->sequence != 0 &&
        (at[1].sequence != mark->sequence || !digest_equal(&at[1].chain, &mark->chain))) {
        return why_fail(
            &journal->trouble, STATUS_CORRUPT,
            "%s/journal.db ends at record %llu but has been at %llu: it is an older copy or "
            "another journal. What was spent since would be forgotten; remedy: put the latest "
            "journal.db back",
            journal->folder, (unsigned long long)at[0].sequence,
            (unsigned long long)mark->sequence);
    }
    journal->last = at[0];
    return STATUS_OK;
}

static enum status prepare_statements(struct journal_sqlite *journal)
{
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        if (sqlite3_prepare_v3(journal->database, statement_text[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &journal->statement[i], NULL) != SQLITE_OK) {
            return journal_sqlite_failure(journal, "read");
        }
    }
    return STATUS_OK;
}

static enum status open_all(struct journal_sqlite *journal,
                            const struct journal_sqlite_options *options)
{
    struct journal_mark mark = {0};
    struct stat about;
    bool empty = false;
    enum status status = STATUS_OK;

    if (!options->read_only) {
        status = journal_folder_prepare(journal->folder, &journal->trouble);
        if (status == STATUS_OK) {
            status = journal_lock(&journal->lock, journal->folder, &journal->trouble);
        }
    } else if (stat(journal->folder, &about) == 0) {
        status = owned_judge(&about, journal->folder, &journal->trouble);
    }
    if (status == STATUS_OK) {
        status = journal_sqlite_open_mark(journal, &mark);
    }
    if (status == STATUS_OK) {
        status = journal_sqlite_open_database(journal);
    }
    if (status == STATUS_OK) {
        status = recognise(journal, &empty, options->kind);
    }
    if (status == STATUS_OK && empty) {
        status = journal_sqlite_check_unbegun(journal, &mark);
    }
    if (status == STATUS_OK && !options->read_only) {
        status = set_durable(journal);
    }
    if (status == STATUS_OK && empty) {
        status = make_schema(journal, options->kind);
    } else if (status == STATUS_OK && !options->read_only && journal->is_older) {
        status = set_version(journal);
    }
    if (status == STATUS_OK) {
        status = find_end(journal, &mark);
    }
    if (status == STATUS_OK) {
        status = prepare_statements(journal);
    }
    return status;
}

enum status journal_sqlite_open(struct journal *out, const struct journal_sqlite_options *options,
                                struct why *why)
{
    memset(out, 0, sizeof *out);
    struct journal_sqlite *journal = calloc(1, sizeof *journal);
    if (journal == NULL) {
        return why_fail(why, STATUS_NO_MEMORY, "no memory for the journal");
    }
    journal->lock = -1;
    journal->mark_file = -1;
    journal->read_only = options->read_only;
    journal->bulk_is_stale = !options->read_only;
    journal->random = options->read_only ? NULL : random_source_new();
    enum status status = STATUS_INVALID;
    if (journal->random == NULL && !options->read_only) {
        status = why_fail(&journal->trouble, STATUS_NO_MEMORY,
                          "no memory, or no randomness, for the journal");
    } else if (strlen(options->folder) >= sizeof journal->folder) {
        why_set(&journal->trouble, "the path of the journal's folder is too long");
    } else {
        memcpy(journal->folder, options->folder, strlen(options->folder));
        status = open_all(journal, options);
    }
    if (status != STATUS_OK) {
        why_set(why, "%s", journal->trouble.text);
        journal_sqlite_end(journal);
        return status;
    }
    *out = journal_sqlite_face(journal);
    return STATUS_OK;
}

enum status journal_sqlite_read(const char *folder, const char *kind, journal_visit *visit,
                                void *visit_self, struct why *why)
{
    const struct journal_sqlite_options options = {
        .folder = folder, .kind = kind, .read_only = true};
    struct journal journal = {0};
    enum status status = journal_sqlite_open(&journal, &options, why);
    if (status == STATUS_OK) {
        status = journal.each(journal.self, visit, visit_self, why);
    }
    journal_close(&journal);
    return status;
}
