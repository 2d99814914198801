#include "io/log_sink.h"

#include "io/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* log_event cuts a text at 1023 bytes; each may become six in JSON. A field's text is cut at 127. */
enum { LINE_BYTES = 24576, FIELD_BYTES = 128 };

struct line {
    char text[LINE_BYTES];
    size_t used;
};

static void put(struct line *line, char c)
{
    if (line->used < LINE_BYTES - 16) { /* what closes the line always fits */
        line->text[line->used++] = c;
    }
}

static void put_text(struct line *line, const char *text)
{
    for (; *text != '\0'; text++) {
        put(line, *text);
    }
}

/* Returns the length of the well-formed UTF-8 sequence at text, 0 when it is none. */
static size_t utf8_length(const unsigned char *text)
{
    size_t length = text[0] < 0x80                      ? 1
                    : text[0] >= 0xc2 && text[0] < 0xe0 ? 2
                    : (text[0] & 0xf0) == 0xe0          ? 3
                    : text[0] >= 0xf0 && text[0] < 0xf5 ? 4
                                                        : 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
        (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f)) {
        return 0;
    }
    return length;
}

static void put_json(struct line *line, const char *text)
{
    const unsigned char *from = (const unsigned char *)text;
    while (*from != '\0') {
        size_t length = utf8_length(from);
        if (length == 0 || *from < 0x20 || *from == 0x7f) {
            put_text(line, length == 0 ? "\\ufffd" : "?");
            from++;
            continue;
        }
        if (*from == '"' || *from == '\\') {
            put(line, '\\');
        }
        for (size_t i = 0; i < length; i++) {
            put(line, (char)*from++);
        }
    }
}

static void put_member(struct line *line, const char *name, const char *value)
{
    put_text(line, ",\"");
    put_text(line, name);
    put_text(line, "\":\"");
    put_json(line, value);
    put(line, '"');
}

static void put_field(struct line *line, const struct log_field *field)
{
    char value[FIELD_BYTES];

    if (field->text != NULL) {
        (void)snprintf(value, sizeof value, "%s", field->text);
        put_member(line, field->name, value);
        return;
    }
    (void)snprintf(value, sizeof value, "%.12g", field->number);
    put_text(line, ",\"");
    put_text(line, field->name);
    put_text(line, "\":");
    put_text(line, isfinite(field->number) ? value : "null");
}

/* The fields stand before the text, so that a long text cannot cut them. */
static void format_json(struct line *line, const char *time, const struct log_entry *entry)
{
    put_text(line, "{\"time\":\"");
    put_text(line, time);
    put(line, '"');
    put_member(line, "level", log_level_name(entry->level));
    put_member(line, "event", entry->event);
    if (entry->peer != NULL) {
        put_member(line, "peer", entry->peer);
    }
    for (size_t i = 0; i < entry->field_count; i++) {
        put_field(line, &entry->field[i]);
    }
    put_text(line, ",\"text\":\"");
    put_json(line, entry->text);
    memcpy(line->text + line->used, "\"}\n", 3);
    line->used += 3;
}

/* For a terminal: what could move its cursor or forge a line is not shown. */
static void put_plain(struct line *line, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        put(line, c < 0x20 || c == 0x7f ? '?' : *text);
    }
}

static void format_text(struct line *line, const char *time, const struct log_entry *entry)
{
    for (size_t i = 11; i < 19 && strlen(time) > 19; i++) {
        put(line, time[i]);
    }
    put(line, ' ');
    put_text(line, log_level_name(entry->level));
    put(line, ' ');
    if (entry->peer != NULL) {
        put_plain(line, entry->peer);
        put_text(line, ": ");
    }
    put_plain(line, entry->text);
    line->text[line->used++] = '\n';
}

static void sink_write(void *self, const struct log_entry *entry)
{
    const struct log_sink *sink = self;
    char time[CLOCK_TEXT_BYTES];
    struct line line;

    line.used = 0;
    clock_text(time, clock_wall_ms());
    if (sink->json) {
        format_json(&line, time, entry);
    } else {
        format_text(&line, time, entry);
    }
    /* A full disk or a closed pipe must not stop a round; there is nobody left to tell. */
    ssize_t put_bytes = write(sink->descriptor, line.text, line.used);
    (void)put_bytes;
}

struct log log_sink_init(struct log_sink *sink, int descriptor, enum log_format format,
                         enum log_level level)
{
    sink->descriptor = descriptor;
    sink->json =
        format == LOG_FORMAT_JSON || (format == LOG_FORMAT_AUTO && isatty(descriptor) != 1);
    return (struct log){.write = sink_write, .self = sink, .level = level};
}
