#include "base/check.h"
#include "learn/csv.h"

/* A blank line stays a record also where it comes to stand last: a separator makes it two cells. */
static enum status write_record(FILE *file, const struct csv *csv, struct why *why)
{
    const char separator = csv_separator(csv);
    const struct slice raw = csv_raw(csv).size > 0 ? csv_raw(csv) : (struct slice){&separator, 1};
    if (fwrite(raw.data, 1, raw.size, file) != raw.size || fputc('\n', file) == EOF) {
        why_set(why, "writing a share failed: is the disk full?");
        return STATUS_IO;
    }
    return STATUS_OK;
}

enum status csv_split(FILE *file, const char *name, char separator, FILE *const *share,
                      size_t share_count, const size_t *share_of, size_t record_count,
                      struct why *why)
{
    struct csv *csv = NULL;
    bool done = false;
    size_t record = 0;
    enum status status = csv_new(&csv, file, name, separator);
    if (status == STATUS_OK) {
        status = csv_next(csv, &done, why);
    }
    for (size_t i = 0; status == STATUS_OK && !done && i < share_count; i++) {
        status = write_record(share[i], csv, why);
    }
    while (status == STATUS_OK && !done) {
        status = csv_next(csv, &done, why);
        if (status == STATUS_OK && !done) {
            if (record == record_count) {
                break;
            }
            CHECK(share_of[record] < share_count);
            status = write_record(share[share_of[record]], csv, why);
            record++;
        }
    }
    if (status == STATUS_OK && (!done || record != record_count)) {
        why_set(why, "%s: it does not hold the %zu records it held before: it has been changed",
                name, record_count);
        status = STATUS_INVALID;
    }
    csv_free(csv);
    return status;
}
