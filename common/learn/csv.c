/* A line is found first, and divided into fields afterwards: so nothing inside a line can move the
 * line's end, and a record cannot change any other. Messages give places, never contents: what stands
 * in a record, or in a header line that a careless export left out, may be a patient's. */

#include "learn/csv.h"

#include "base/check.h"
#include "learn/schema.h"
#include "learn/table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_BYTES = 64 * 1024 };

struct buffer {
    char *byte;
    size_t size;
    size_t room;
};

struct field {
    size_t offset;
    size_t size;
};

struct csv {
    FILE *file;
    const char *name;
    char separator;    /* 0 until the first line has shown it */
    size_t line_bytes; /* where lines are cut */
    char input[INPUT_BYTES];
    size_t input_size;
    size_t input_at;
    bool started;
    size_t line;       /* of the next byte */
    size_t first_line; /* of the line in raw */
    size_t blank_left; /* blank lines before the line in raw, still to be given out */
    bool is_held;      /* the line in raw is still to be given out */
    bool is_blank;     /* the record given out last is a blank line */
    bool is_long;      /* the line in raw is cut */
    bool is_open;      /* a quote of the record never closes */
    size_t record_line;
    struct buffer raw;
    struct buffer text; /* the fields, unquoted, one after the other */
    struct field *field;
    size_t field_count;
};

static_assert(sizeof(struct csv) + 2 * (CSV_RECORD_BYTES_MAX + 1) +
                      CSV_FIELDS_MAX * sizeof(struct field) + TABLE_UNPACK_BYTES <=
                  SCHEMA_READER_BYTES,
              "plans count all that a reader takes");

static void buffer_free(struct buffer *buffer)
{
    bytes_free(buffer->byte, buffer->room);
    *buffer = (struct buffer){0};
}

/* All the room that a line may ever need: a buffer that grew with the lines would make the memory that
 * reading takes, and whether there is enough, depend on the records. */
static enum status buffer_new(struct buffer *buffer)
{
    buffer->room = CSV_RECORD_BYTES_MAX + 1;
    buffer->byte = malloc(buffer->room);
    return buffer->byte == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

static void buffer_put(struct buffer *buffer, const char *bytes, size_t count)
{
    CHECK(count <= buffer->room - buffer->size);
    if (count > 0) {
        memcpy(buffer->byte + buffer->size, bytes, count);
        buffer->size += count;
    }
}

enum status csv_new(struct csv **csv, FILE *file, const char *name, char separator)
{
    *csv = calloc(1, sizeof **csv);
    if (*csv == NULL) {
        return STATUS_NO_MEMORY;
    }
    (*csv)->file = file;
    (*csv)->name = name;
    (*csv)->separator = separator;
    (*csv)->line = 1;
    csv_limit_lines(*csv, 0);
    (*csv)->field = malloc(CSV_FIELDS_MAX * sizeof *(*csv)->field);
    enum status status = (*csv)->field == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    if (status == STATUS_OK) {
        status = buffer_new(&(*csv)->raw);
    }
    if (status == STATUS_OK) {
        status = buffer_new(&(*csv)->text);
    }
    if (status != STATUS_OK) {
        csv_free(*csv);
        *csv = NULL;
    }
    return status;
}

void csv_limit_lines(struct csv *csv, size_t line_bytes)
{
    CHECK(line_bytes <= CSV_RECORD_BYTES_MAX);
    csv->line_bytes = line_bytes == 0 ? CSV_RECORD_BYTES_MAX : line_bytes;
}

void csv_free(struct csv *csv)
{
    if (csv == NULL) {
        return;
    }
    buffer_free(&csv->raw);
    buffer_free(&csv->text);
    free(csv->field);
    bytes_free(csv, sizeof *csv);
}

static enum status refill(struct csv *csv, struct why *why)
{
    csv->input_at = 0;
    csv->input_size = fread(csv->input, 1, sizeof csv->input, csv->file);
    if (csv->input_size == 0 && ferror(csv->file)) {
        if (errno == EBADMSG) {
            why_set(why, "%s: the gzip data changed or were damaged while they were read",
                    csv->name);
        } else {
            why_set(why, "%s: reading failed after line %zu: check the disk and the file's rights",
                    csv->name, csv->line);
        }
        return STATUS_IO;
    }
    if (!csv->started) {
        csv->started = true;
        if (csv->input_size >= 3 && memcmp(csv->input, "\xef\xbb\xbf", 3) == 0) {
            csv->input_at = 3;
        }
    }
    return STATUS_OK;
}

/* Moves the input up to the line's end into raw, as far as it fits. Returns whether the line ends there. */
static bool take_stretch(struct csv *csv)
{
    const char *start = csv->input + csv->input_at;
    const size_t there = csv->input_size - csv->input_at;
    const char *end = memchr(start, '\n', there);
    const size_t count = end == NULL ? there : (size_t)(end - start);
    const size_t room = csv->line_bytes - csv->raw.size;
    const size_t kept = count < room ? count : room;
    buffer_put(&csv->raw, start, kept);
    csv->is_long = csv->is_long || kept < count;
    csv->input_at += count + (end == NULL ? 0 : 1);
    csv->line += end == NULL ? 0 : 1;
    return end != NULL;
}

/* Reads one line into raw. */
static enum status read_line(struct csv *csv, bool *done, struct why *why)
{
    enum status status = STATUS_OK;
    bool is_whole = false;
    *done = true;
    csv->raw.size = 0;
    csv->is_long = false;
    csv->first_line = csv->line;
    while (status == STATUS_OK && !is_whole) {
        if (csv->input_at == csv->input_size) {
            status = refill(csv, why);
            if (status != STATUS_OK || csv->input_at == csv->input_size) {
                break;
            }
        }
        *done = false;
        is_whole = take_stretch(csv);
    }
    if (!csv->is_long && csv->raw.size > 0 && csv->raw.byte[csv->raw.size - 1] == '\r') {
        csv->raw.size--;
    }
    return status;
}

static void end_field(struct csv *csv, size_t offset)
{
    if (csv->field_count < CSV_FIELDS_MAX) {
        csv->field[csv->field_count++] = (struct field){offset, csv->text.size - offset};
    }
}

/* Takes the quoted stretch that begins at raw[at], a quote. Returns where it ends. */
static size_t take_quoted(struct csv *csv, size_t at)
{
    const char *raw = csv->raw.byte;
    const size_t size = csv->raw.size;
    const size_t offset = csv->text.size;
    for (size_t next = at + 1; next < size; next++) {
        if (raw[next] == '"') {
            if (next + 1 == size || raw[next + 1] != '"') {
                return next + 1;
            }
            next++;
        }
        buffer_put(&csv->text, raw + next, 1);
    }
    csv->is_open = true;
    csv->text.size = offset;
    buffer_put(&csv->text, raw + at, size - at);
    return size;
}

/* Divides raw into fields. They take at most as many bytes as raw does. */
static void split(struct csv *csv)
{
    const char *raw = csv->raw.byte;
    const size_t size = csv->raw.size;
    size_t at = 0;
    csv->text.size = 0;
    csv->field_count = 0;
    csv->is_open = false;
    for (;;) {
        const size_t offset = csv->text.size;
        at = at < size && raw[at] == '"' ? take_quoted(csv, at) : at;
        const char *end = at < size ? memchr(raw + at, csv->separator, size - at) : NULL;
        const size_t count = end == NULL ? size - at : (size_t)(end - (raw + at));
        buffer_put(&csv->text, raw + at, count);
        if (end == NULL && csv->is_long) {
            break;
        }
        end_field(csv, offset);
        if (end == NULL) {
            break;
        }
        at += count + 1;
    }
}

enum status csv_next(struct csv *csv, bool *done, struct why *why)
{
    enum status status = STATUS_OK;
    *done = false;
    while (!csv->is_held) {
        status = read_line(csv, done, why);
        if (status != STATUS_OK || *done) {
            return status;
        }
        csv->is_held = csv->raw.size > 0;
        csv->blank_left += csv->is_held ? 0 : 1;
    }
    csv->is_blank = csv->blank_left > 0;
    csv->record_line = csv->first_line - csv->blank_left;
    if (csv->is_blank) {
        csv->blank_left--;
        csv->text.size = 0;
        csv->field_count = 0;
        csv->is_open = false;
        end_field(csv, 0);
        return STATUS_OK;
    }
    csv->is_held = false;
    if (csv->separator == '\0') {
        csv->separator = csv_likely_separator(csv_raw(csv));
    }
    split(csv);
    return STATUS_OK;
}

size_t csv_field_count(const struct csv *csv)
{
    return csv->field_count;
}

struct slice csv_field(const struct csv *csv, size_t field)
{
    const struct field at = field < csv->field_count ? csv->field[field] : (struct field){0, 0};
    return (struct slice){.data = at.size == 0 ? "" : csv->text.byte + at.offset, .size = at.size};
}

size_t csv_line(const struct csv *csv)
{
    return csv->record_line;
}

struct slice csv_raw(const struct csv *csv)
{
    return (struct slice){.data = csv->is_blank ? "" : csv->raw.byte,
                          .size = csv->is_blank ? 0 : csv->raw.size};
}

bool csv_is_broken(const struct csv *csv)
{
    return !csv->is_blank && (csv->is_open || csv->is_long);
}

char csv_separator(const struct csv *csv)
{
    return csv->separator;
}

size_t csv_count(struct slice line, char separator)
{
    const char *byte = line.data;
    bool is_quoted = false;
    size_t count = 0;
    for (size_t i = 0; i < line.size; i++) {
        is_quoted = is_quoted != (byte[i] == '"');
        count += !is_quoted && byte[i] == separator ? 1 : 0;
    }
    return count;
}

char csv_likely_separator(struct slice line)
{
    static const char known[] = {',', ';', '\t'};
    char likely = ',';
    for (size_t i = 0; i < sizeof known; i++) {
        likely = csv_count(line, known[i]) > csv_count(line, likely) ? known[i] : likely;
    }
    return likely;
}

const char *csv_separator_name(char separator)
{
    return separator == ';' ? "semicolon" : separator == '\t' ? "tab" : "comma";
}

/* A blank line stays a record also as the last line: a separator makes it two cells. */
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

bool csv_is_missing(struct slice field)
{
    return field.size == 0 || slice_is(field, "NA");
}
