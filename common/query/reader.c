#include "query/reader.h"

#include "base/near.h"

#include "base/decimal.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN_BYTES = 40, LIST_BYTES = 200 };

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_special(char c)
{
    return c == '\0' || is_space(c) || strchr("<>=!(),:[]\"'", c) != NULL;
}

static const char *bytes_of(const struct reader *reader)
{
    return reader->text.data;
}

static void take_quoted(struct reader *reader, size_t at)
{
    const char *text = bytes_of(reader);
    size_t end = at + 1;
    while (end < reader->text.size && text[end] != text[at]) {
        end++;
    }
    if (end == reader->text.size) {
        reader->token.kind = TOKEN_BROKEN;
        reader->token.text = (struct slice){text + at, end - at};
        reader->next = end;
        return;
    }
    reader->token.kind = TOKEN_WORD;
    reader->token.quoted = true;
    reader->token.text = (struct slice){text + at + 1, end - at - 1};
    reader->next = end + 1;
}

static void take_sign(struct reader *reader, size_t at)
{
    const char *text = bytes_of(reader);
    const bool has_equal = at + 1 < reader->text.size && text[at + 1] == '=';
    const bool may_have_equal = strchr("<>=!", text[at]) != NULL;
    const bool needs_equal = text[at] == '=' || text[at] == '!';
    const size_t size = has_equal && may_have_equal ? 2 : 1;
    reader->token.kind =
        text[at] == '\0' || (needs_equal && !has_equal) ? TOKEN_BROKEN : TOKEN_SIGN;
    reader->token.text = (struct slice){text + at, size};
    reader->next = at + size;
}

void reader_advance(struct reader *reader)
{
    const char *text = bytes_of(reader);
    size_t at = reader->next;
    while (at < reader->text.size && is_space(text[at])) {
        at++;
    }
    reader->token = (struct token){.kind = TOKEN_END, .at = at + 1};
    reader->next = at;
    if (reader->text.size > READER_TEXT_BYTES) {
        reader->token.kind = TOKEN_LONG;
        return;
    }
    if (at == reader->text.size) {
        return;
    }
    if (text[at] == '"' || text[at] == '\'') {
        take_quoted(reader, at);
    } else if (is_special(text[at])) {
        take_sign(reader, at);
    } else {
        size_t end = at;
        while (end < reader->text.size && !is_special(text[end])) {
            end++;
        }
        reader->token.kind = TOKEN_WORD;
        reader->token.text = (struct slice){text + at, end - at};
        reader->next = end;
    }
}

void reader_init(struct reader *reader, struct slice text, const struct schema *schema,
                 struct why *why)
{
    *reader = (struct reader){.text = text, .schema = schema, .why = why};
    reader_advance(reader);
}

bool reader_is(const struct reader *reader, const char *text)
{
    const struct token *token = &reader->token;
    return (token->kind == TOKEN_WORD || token->kind == TOKEN_SIGN) && !token->quoted &&
           slice_is(token->text, text);
}

bool reader_accept(struct reader *reader, const char *text)
{
    const bool is = reader_is(reader, text);
    if (is) {
        reader_advance(reader);
    }
    return is;
}

/* The token as one may print it. */
static void show(char shown[static SHOWN_BYTES + 1], struct slice text)
{
    const char *byte = text.data;
    size_t size = text.size < SHOWN_BYTES ? text.size : SHOWN_BYTES;
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)byte[i];
        shown[i] = c < 0x20 || c >= 0x7f ? '?' : byte[i];
    }
    shown[size] = '\0';
}

enum status reader_refuse(const struct reader *reader, const char *remedy)
{
    const struct token *token = &reader->token;
    char shown[SHOWN_BYTES + 1] = "";
    if (token->kind == TOKEN_LONG) {
        why_set(reader->why, "it is longer than %d characters: split it", READER_TEXT_BYTES);
    } else if (token->kind == TOKEN_END) {
        why_set(reader->why, "character %zu: the text ends here: %s", token->at, remedy);
    } else {
        show(shown, token->text);
        why_set(reader->why, "character %zu, \"%s\": %s", token->at, shown,
                token->kind != TOKEN_BROKEN           ? remedy
                : shown[0] == '"' || shown[0] == '\'' ? "the quote is not closed: add its other end"
                : shown[0] == '='                     ? "equality is written =="
                : shown[0] == '!'                     ? "write != for unequal, not for a negation"
                                                      : "remove this character");
    }
    return STATUS_INVALID;
}

static enum status refuse_column(const struct reader *reader)
{
    const struct schema *schema = reader->schema;
    char list[LIST_BYTES] = "";
    char remedy[LIST_BYTES + SCHEMA_NAME_BYTES + 64];
    size_t used = 0;
    char hint[NEAR_HINT_BYTES];
    struct near near = near_to(reader->token.text);
    const char *text = reader->token.text.data;
    for (size_t i = 1; i + 1 < reader->token.text.size; i++) {
        if (text[i] == '+' || text[i] == '~') {
            return reader_refuse(reader,
                                 "no column of that name: write a space before and behind + and ~");
        }
    }
    for (size_t i = 0; i < schema->column_count; i++) {
        near_offer(&near, schema->column[i].name);
    }
    near_offer(&near, schema->label.name);
    if (near_name(&near) != NULL) {
        (void)snprintf(remedy, sizeof remedy, "no column of that name%s", near_hint(hint, &near));
        return reader_refuse(reader, remedy);
    }
    for (size_t i = 0; i < schema->column_count; i++) {
        const size_t size = strlen(schema->column[i].name);
        if (used + size + sizeof ", ..." > sizeof list) {
            (void)snprintf(list + used, sizeof list - used, "..., ");
            break;
        }
        (void)snprintf(list + used, sizeof list - used, "%s, ", schema->column[i].name);
        used += size + 2;
    }
    (void)snprintf(remedy, sizeof remedy, "no column of that name; there are %sand the label %s",
                   list, schema->label.name);
    return reader_refuse(reader, remedy);
}

enum status reader_column(struct reader *reader, size_t *column)
{
    const struct schema *schema = reader->schema;
    if (reader->token.kind != TOKEN_WORD) {
        return reader_refuse(reader, "the name of a column is expected here");
    }
    size_t found = 0;
    while (found < schema->column_count &&
           !slice_is(reader->token.text, schema->column[found].name)) {
        found++;
    }
    if (found == schema->column_count && !slice_is(reader->token.text, schema->label.name)) {
        return refuse_column(reader);
    }
    *column = found;
    reader_advance(reader);
    return STATUS_OK;
}

enum status reader_number(struct reader *reader, double *number, const char *remedy)
{
    if (reader->token.kind != TOKEN_WORD || decimal_cell(number, reader->token.text) != STATUS_OK) {
        return reader_refuse(reader, remedy);
    }
    reader_advance(reader);
    return STATUS_OK;
}
