/* One state machine over the bytes: a malformed quote is seen where it stands, and a record that
 * never ends is given up at CSV_RECORD_BYTES_MAX. Messages give places, never contents: what stands
 * in a record, or in a header line that a careless export left out, may be a patient's. */

#include "learn/csv.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_BYTES = 64 * 1024, BUFFER_BYTES_MIN = 4096 };

enum place {
    AT_FIELD_START,
    IN_PLAIN,
    IN_QUOTED,
    AFTER_QUOTE,  /* a quote inside a quoted field: its end, or the first half of a doubled one */
    AFTER_RETURN, /* a carriage return: only a line feed may follow */
    AT_RECORD_END
};

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
    char input[INPUT_BYTES];
    size_t input_size;
    size_t input_at;
    bool started;
    size_t line;       /* of the next byte */
    size_t first_line; /* of the record */
    size_t blank_line; /* a blank line not yet known to be at the end; 0 for none */
    struct buffer raw;
    struct buffer text; /* the fields, unquoted, one after the other */
    struct field *field;
    size_t field_count;
    size_t field_room;
    size_t field_offset; /* where the field being read starts in text */
};

static void buffer_free(struct buffer *buffer)
{
    if (buffer->byte != NULL) {
        bytes_wipe(buffer->byte, buffer->room);
    }
    free(buffer->byte);
    *buffer = (struct buffer){0};
}

static enum status buffer_add(struct buffer *buffer, char byte)
{
    if (buffer->size == buffer->room) {
        const size_t room = buffer->room == 0 ? BUFFER_BYTES_MIN : 2 * buffer->room;
        char *grown = malloc(room);
        if (grown == NULL) {
            return STATUS_NO_MEMORY;
        }
        if (buffer->size > 0) {
            memcpy(grown, buffer->byte, buffer->size);
            bytes_wipe(buffer->byte, buffer->size);
        }
        free(buffer->byte);
        buffer->byte = grown;
        buffer->room = room;
    }
    buffer->byte[buffer->size] = byte;
    buffer->size++;
    return STATUS_OK;
}

enum status csv_new(struct csv **csv, FILE *file, const char *name)
{
    *csv = calloc(1, sizeof **csv);
    if (*csv == NULL) {
        return STATUS_NO_MEMORY;
    }
    (*csv)->file = file;
    (*csv)->name = name;
    (*csv)->line = 1;
    return STATUS_OK;
}

void csv_free(struct csv *csv)
{
    if (csv == NULL) {
        return;
    }
    buffer_free(&csv->raw);
    buffer_free(&csv->text);
    free(csv->field);
    bytes_wipe(csv, sizeof *csv);
    free(csv);
}

static enum status refill(struct csv *csv, struct why *why)
{
    csv->input_at = 0;
    csv->input_size = fread(csv->input, 1, sizeof csv->input, csv->file);
    if (csv->input_size == 0 && ferror(csv->file)) {
        if (errno == EISDIR) {
            why_set(why, "%s: is a folder, not a table", csv->name);
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

static enum status end_field(struct csv *csv, struct why *why)
{
    if (csv->field_count == csv->field_room) {
        if (csv->field_count == CSV_FIELDS_MAX) {
            why_set(why,
                    "%s: line %zu has more than %d fields: keep only the columns that are used",
                    csv->name, csv->first_line, CSV_FIELDS_MAX);
            return STATUS_INVALID;
        }
        const size_t room = csv->field_room == 0 ? 64 : 2 * csv->field_room;
        struct field *grown = realloc(csv->field, room * sizeof *grown);
        if (grown == NULL) {
            return STATUS_NO_MEMORY;
        }
        csv->field = grown;
        csv->field_room = room;
    }
    csv->field[csv->field_count] = (struct field){
        .offset = csv->field_offset,
        .size = csv->text.size - csv->field_offset,
    };
    csv->field_count++;
    csv->field_offset = csv->text.size;
    return STATUS_OK;
}

static enum status refuse(const struct csv *csv, struct why *why, const char *what)
{
    why_set(why, "%s: line %zu, field %zu: %s", csv->name, csv->line, csv->field_count + 1, what);
    return STATUS_INVALID;
}

/* A byte that ends an unquoted stretch: a comma, a line's end, or something misplaced. */
static enum status end_stretch(struct csv *csv, enum place *place, char byte, struct why *why)
{
    switch (byte) {
    case ',':
        *place = AT_FIELD_START;
        return end_field(csv, why);
    case '\n':
        *place = AT_RECORD_END;
        return end_field(csv, why);
    case '\r':
        *place = AFTER_RETURN;
        return end_field(csv, why);
    default:
        return refuse(csv, why,
                      "text after a closing quote: put the whole field in quotes, and double the "
                      "quotes inside it");
    }
}

static enum status take_byte(struct csv *csv, enum place *place, char byte, struct why *why)
{
    const bool ends = byte == ',' || byte == '\n' || byte == '\r';
    if (byte == '\0') {
        return refuse(csv, why, "a NUL byte: export the table as plain text (UTF-8)");
    }
    switch (*place) {
    case AT_FIELD_START:
        if (byte == '"') {
            *place = IN_QUOTED;
            return STATUS_OK;
        }
        *place = IN_PLAIN;
        return ends ? end_stretch(csv, place, byte, why) : buffer_add(&csv->text, byte);
    case IN_PLAIN:
        if (byte == '"') {
            return refuse(csv, why,
                          "a quote inside an unquoted field: put the whole field in quotes, and "
                          "double the quotes inside it");
        }
        return ends ? end_stretch(csv, place, byte, why) : buffer_add(&csv->text, byte);
    case IN_QUOTED:
        if (byte == '"') {
            *place = AFTER_QUOTE;
            return STATUS_OK;
        }
        return buffer_add(&csv->text, byte);
    case AFTER_QUOTE:
        if (byte == '"') {
            *place = IN_QUOTED;
            return buffer_add(&csv->text, byte);
        }
        return end_stretch(csv, place, byte, why);
    case AFTER_RETURN:
        if (byte == '\n') {
            *place = AT_RECORD_END;
            return STATUS_OK;
        }
        return refuse(csv, why, "a carriage return without a line feed: end lines in LF or CRLF");
    case AT_RECORD_END:
        break;
    }
    CHECK(false);
}

static enum status end_of_file(struct csv *csv, enum place place, bool *done, struct why *why)
{
    switch (place) {
    case AT_FIELD_START:
        if (csv->raw.size == 0) {
            *done = true;
            return STATUS_OK;
        }
        return end_field(csv, why);
    case IN_PLAIN:
    case AFTER_QUOTE:
        return end_field(csv, why);
    case IN_QUOTED:
        why_set(why, "%s: line %zu: a quote is opened and never closed", csv->name,
                csv->first_line);
        return STATUS_INVALID;
    case AFTER_RETURN:
        return refuse(csv, why, "a carriage return without a line feed: end lines in LF or CRLF");
    case AT_RECORD_END:
        break;
    }
    CHECK(false);
}

/* Reads one record, which may turn out blank (raw.size 0). */
static enum status read_record(struct csv *csv, bool *done, struct why *why)
{
    enum place place = AT_FIELD_START;
    enum status status = STATUS_OK;
    csv->raw.size = 0;
    csv->text.size = 0;
    csv->field_count = 0;
    csv->field_offset = 0;
    csv->first_line = csv->line;
    while (status == STATUS_OK && place != AT_RECORD_END) {
        if (csv->input_at == csv->input_size) {
            status = refill(csv, why);
            if (status != STATUS_OK) {
                return status;
            }
            if (csv->input_at == csv->input_size) {
                return end_of_file(csv, place, done, why);
            }
        }
        const char byte = csv->input[csv->input_at];
        csv->input_at++;
        status = take_byte(csv, &place, byte, why);
        csv->line += byte == '\n' ? 1 : 0;
        if (status == STATUS_OK && place != AT_RECORD_END && place != AFTER_RETURN) {
            if (csv->raw.size == CSV_RECORD_BYTES_MAX) {
                why_set(why,
                        "%s: line %zu is longer than %d bytes: is this a table of comma-separated "
                        "values, with one record per line?",
                        csv->name, csv->first_line, CSV_RECORD_BYTES_MAX);
                return STATUS_INVALID;
            }
            status = buffer_add(&csv->raw, byte);
        }
    }
    return status;
}

enum status csv_next(struct csv *csv, bool *done, struct why *why)
{
    *done = false;
    for (;;) {
        const enum status status = read_record(csv, done, why);
        if (status != STATUS_OK || *done) {
            return status;
        }
        if (csv->raw.size == 0) {
            csv->blank_line = csv->blank_line == 0 ? csv->first_line : csv->blank_line;
        } else if (csv->blank_line != 0) {
            why_set(why, "%s: line %zu is blank: remove it", csv->name, csv->blank_line);
            return STATUS_INVALID;
        } else {
            return STATUS_OK;
        }
    }
}

size_t csv_field_count(const struct csv *csv)
{
    return csv->field_count;
}

struct slice csv_field(const struct csv *csv, size_t field)
{
    CHECK(field < csv->field_count);
    const struct field *at = &csv->field[field];
    return (struct slice){
        .data = at->size == 0 ? "" : csv->text.byte + at->offset,
        .size = at->size,
    };
}

size_t csv_line(const struct csv *csv)
{
    return csv->first_line;
}

struct slice csv_raw(const struct csv *csv)
{
    return (struct slice){.data = csv->raw.byte, .size = csv->raw.size};
}
