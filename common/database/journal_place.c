#include "database/journal_place.h"

#include "database/database.h"
#include "database/journal_shared.h"

bool journal_is_shared(const char *place)
{
    return database_is_named(place);
}

enum status journal_open(struct journal *out, const struct journal_options *options,
                         struct why *why)
{
    const struct journal_sqlite_options folder = {
        .folder = options->place, .kind = options->kind, .read_only = options->read_only};
    return journal_is_shared(options->place) ? journal_shared_open(out, options, why)
                                             : journal_sqlite_open(out, &folder, why);
}

enum status journal_read(const char *place, uint32_t job, const char *kind, journal_visit *visit,
                         void *visit_self, struct why *why)
{
    const struct journal_options options = {
        .place = place, .kind = kind, .read_only = true, .part = {.job = job}};
    struct journal journal = {0};
    enum status status = journal_open(&journal, &options, why);
    if (status == STATUS_OK) {
        status = journal.each(journal.self, visit, visit_self, why);
    }
    journal_close(&journal);
    return status;
}

enum status journal_try(const char *place, struct why *why)
{
    struct database *database = NULL;
    if (!journal_is_shared(place)) {
        return journal_folder_try(place, why);
    }
    enum status status = database_open(&database, place, why);
    database_close(database);
    return status;
}
