/* predicate.c - from text to postfix order with one explicit stack of operators (Dijkstra's
 * shunting yard, 1961), and a run over it whose stack of truths is the bits of one word. */

#include "query/predicate.h"

#include "base/check.h"
#include "base/even.h"
#include "learn/even_math.h"
#include "query/reader.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { CATEGORIES_BYTES = 200 };

_Static_assert(PREDICATE_DEPTH_MAX < 63, "the truths on the stack are the bits of a word");

/* What waits on the stack of operators, by how closely it binds; a parenthesis binds least. */
enum waiting { WAITING_PARENTHESIS, WAITING_OR, WAITING_AND, WAITING_NOT };

struct yard {
    struct reader *reader;
    struct predicate *predicate;
    enum waiting waiting[PREDICATE_DEPTH_MAX];
    size_t waiting_count;
};

double predicate_cell(const struct column *column, double value)
{
    return column->transform == TRANSFORM_LOG1P ? even_log1p(value) : value;
}

double predicate_value(const struct column *column, double cell)
{
    return column->transform == TRANSFORM_LOG1P ? expm1(cell) : cell;
}

static enum status put_step(struct yard *yard, struct predicate_step step)
{
    struct predicate *predicate = yard->predicate;
    if (predicate->step_count == PREDICATE_STEPS_MAX) {
        char remedy[96];
        (void)snprintf(remedy, sizeof remedy,
                       "too long: at most %d comparisons and operators; split it",
                       PREDICATE_STEPS_MAX);
        return reader_refuse(yard->reader, remedy);
    }
    predicate->step[predicate->step_count++] = step;
    return STATUS_OK;
}

static enum status push(struct yard *yard, enum waiting waiting)
{
    if (yard->waiting_count == PREDICATE_DEPTH_MAX) {
        return reader_refuse(yard->reader, "nested too deeply: remove parentheses or split it");
    }
    yard->waiting[yard->waiting_count++] = waiting;
    reader_advance(yard->reader);
    return STATUS_OK;
}

/* Moves to the program what binds at least as closely, down to a parenthesis. */
static enum status settle(struct yard *yard, enum waiting least)
{
    static const enum predicate_verb verb[] = {
        [WAITING_OR] = PREDICATE_OR, [WAITING_AND] = PREDICATE_AND, [WAITING_NOT] = PREDICATE_NOT};
    enum status status = STATUS_OK;
    while (status == STATUS_OK && yard->waiting_count > 0 &&
           yard->waiting[yard->waiting_count - 1] >= least) {
        yard->waiting_count--;
        status = put_step(
            yard, (struct predicate_step){.verb = verb[yard->waiting[yard->waiting_count]]});
    }
    return status;
}

static enum status read_verb(struct reader *reader, enum predicate_verb *verb)
{
    static const char *const sign[] = {"<", "<=", ">", ">=", "==", "!="};
    for (size_t i = 0; i < sizeof sign / sizeof sign[0]; i++) {
        if (reader_accept(reader, sign[i])) {
            *verb = (enum predicate_verb)i;
            return STATUS_OK;
        }
    }
    return reader_refuse(reader, "one of < <= > >= == != is expected here");
}

static bool is_text(const struct reader *reader, const char *text)
{
    return reader->token.kind == TOKEN_WORD && reader->token.text.size == strlen(text) &&
           memcmp(reader->token.text.data, text, reader->token.text.size) == 0;
}

static enum status read_class(struct reader *reader, double *constant)
{
    const struct label *label = &reader->schema->label;
    const bool has_classes = label->kind == LABEL_CLASSES;
    for (size_t i = 0; has_classes && i < label->class_count; i++) {
        if (is_text(reader, label->class_name[i])) {
            *constant = (double)i;
            reader_advance(reader);
            return STATUS_OK;
        }
    }
    if (!has_classes && (is_text(reader, label->positive) || is_text(reader, label->negative))) {
        *constant = is_text(reader, label->positive) ? 1 : -1;
        reader_advance(reader);
        return STATUS_OK;
    }
    return reader_refuse(reader, "none of the label's classes; name one as the schema does");
}

static enum status read_category(struct reader *reader, const struct column *column,
                                 double *constant)
{
    for (size_t i = 0; i < column->category_count; i++) {
        if (is_text(reader, column->category[i])) {
            *constant = (double)i;
            reader_advance(reader);
            return STATUS_OK;
        }
    }
    char list[CATEGORIES_BYTES] = "none of the column's categories: ";
    for (size_t i = 0; i < column->category_count; i++) {
        const size_t used = strlen(list);
        if (used + strlen(column->category[i]) + sizeof ", , ..." > sizeof list) {
            (void)snprintf(list + used, sizeof list - used, "%s...", i > 0 ? ", " : "");
            break;
        }
        (void)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
                       column->category[i]);
    }
    return reader_refuse(reader, list);
}

/* Few cells are expected beyond the public range, so a constant there is told. */
static enum status read_constant(struct yard *yard, const struct column *column, double *constant)
{
    const struct label *label = &yard->reader->schema->label;
    const size_t at = yard->reader->token.at;
    const enum status status =
        reader_number(yard->reader, constant, "a number is expected here, such as 65 or -0.5");
    if (status != STATUS_OK) {
        return status;
    }
    bool outside = false;
    if (column != NULL) {
        outside =
            fabs((predicate_cell(column, *constant) - column->centre) / column->half_width) > 1;
    } else {
        outside = fabs((*constant - label->centre) / label->half_width) > 1;
    }
    if (outside && yard->predicate->outside_at == 0) {
        yard->predicate->outside_at = at;
    }
    return STATUS_OK;
}

static enum status read_comparison(struct yard *yard)
{
    struct reader *reader = yard->reader;
    const struct schema *schema = reader->schema;
    struct predicate_step step = {0};
    enum status status = reader_column(reader, &step.column);
    if (status != STATUS_OK) {
        return status;
    }
    const struct column *column =
        step.column < schema->column_count ? &schema->column[step.column] : NULL;
    const bool has_order =
        column != NULL ? column->kind == COLUMN_NUMBER : schema->label.kind == LABEL_NUMBER;
    if (!has_order && !reader_is(reader, "==") && !reader_is(reader, "!=")) {
        return reader_refuse(reader, "categories and classes are compared by == or !=");
    }
    status = read_verb(reader, &step.verb);
    if (status == STATUS_OK) {
        status = has_order        ? read_constant(yard, column, &step.constant)
                 : column == NULL ? read_class(reader, &step.constant)
                                  : read_category(reader, column, &step.constant);
    }
    return status == STATUS_OK ? put_step(yard, step) : status;
}

static enum status read_closing(struct yard *yard, bool *is_open)
{
    const enum status status = settle(yard, WAITING_OR);
    *is_open = yard->waiting_count > 0;
    if (status == STATUS_OK && *is_open) {
        yard->waiting_count--;
        reader_advance(yard->reader);
    }
    return status;
}

/* What can follow a comparison; *more becomes whether another comparison must come. */
static enum status read_operator(struct yard *yard, bool *more, bool *done)
{
    struct reader *reader = yard->reader;
    enum status status = STATUS_OK;
    *more = reader_is(reader, "and") || reader_is(reader, "or");
    if (*more) {
        const enum waiting waiting = reader_is(reader, "and") ? WAITING_AND : WAITING_OR;
        status = settle(yard, waiting);
        return status == STATUS_OK ? push(yard, waiting) : status;
    }
    bool is_open = false;
    if (reader_is(reader, ")")) {
        status = read_closing(yard, &is_open);
    }
    *done = !is_open;
    return status;
}

enum status predicate_read(struct predicate *predicate, struct reader *reader)
{
    struct yard yard = {.reader = reader, .predicate = predicate};
    enum status status = STATUS_OK;
    bool more = true;
    bool done = false;
    *predicate = (struct predicate){.column_count = reader->schema->column_count};
    while (status == STATUS_OK && !done) {
        if (!more) {
            status = read_operator(&yard, &more, &done);
        } else if (reader_is(reader, "not")) {
            status = push(&yard, WAITING_NOT);
        } else if (reader_is(reader, "(")) {
            status = push(&yard, WAITING_PARENTHESIS);
        } else {
            status = read_comparison(&yard);
            more = false;
        }
    }
    if (status == STATUS_OK) {
        status = settle(&yard, WAITING_OR);
    }
    if (status == STATUS_OK && yard.waiting_count > 0) {
        status = reader_refuse(reader, "and, or, or the ) of an open parenthesis is expected here");
    }
    return status;
}

enum status predicate_parse(struct predicate *predicate, struct slice text,
                            const struct schema *schema, struct why *why)
{
    struct reader reader;
    reader_init(&reader, text, schema, why);
    const enum status status = predicate_read(predicate, &reader);
    return status == STATUS_OK && reader.token.kind != TOKEN_END
               ? reader_refuse(&reader, "and, or, or the end is expected here")
               : status;
}

/* 1 or 0. By keys, so that no cell is special to the processor; one that is not a number has none. */
static uint64_t compare(enum predicate_verb verb, double cell, double constant)
{
    const int64_t at = even_key(cell);
    const int64_t limit = even_key(constant);
    const uint64_t there = ~even_is_nan(cell) & 1;
    switch (verb) {
    case PREDICATE_LESS:
        return mask_of(at < limit) & there;
    case PREDICATE_LESS_EQUAL:
        return mask_of(at <= limit) & there;
    case PREDICATE_GREATER:
        return mask_of(at > limit) & there;
    case PREDICATE_GREATER_EQUAL:
        return mask_of(at >= limit) & there;
    case PREDICATE_EQUAL:
        return mask_of(at == limit) & there;
    case PREDICATE_UNEQUAL:
        return mask_of(at != limit) & there;
    case PREDICATE_NOT:
    case PREDICATE_AND:
    case PREDICATE_OR:
        break;
    }
    CHECK(false);
    return 0;
}

bool predicate_holds(const struct predicate *predicate, const struct row *row)
{
    uint64_t truths = 0; /* the top of the stack is the lowest bit */
    CHECK(row->column_count == predicate->column_count);
    if (predicate->step_count == 0) {
        return true;
    }
    for (size_t i = 0; i < predicate->step_count; i++) {
        const struct predicate_step *step = &predicate->step[i];
        const uint64_t top = truths & 1;
        if (step->verb == PREDICATE_NOT) {
            truths ^= 1;
        } else if (step->verb == PREDICATE_AND) {
            truths = truths >> 1 & (~UINT64_C(1) | top);
        } else if (step->verb == PREDICATE_OR) {
            truths = truths >> 1 | top;
        } else {
            CHECK(step->column <= row->column_count);
            const double cell =
                step->column < row->column_count ? row->cell[step->column] : row->label;
            truths = truths << 1 | compare(step->verb, cell, step->constant);
        }
    }
    return (truths & 1) != 0;
}

bool predicate_compares(const struct predicate *predicate, size_t column)
{
    for (size_t i = 0; i < predicate->step_count; i++) {
        if (predicate->step[i].verb < PREDICATE_NOT && predicate->step[i].column == column) {
            return true;
        }
    }
    return false;
}

bool predicate_picks(const struct predicate *predicate, size_t column)
{
    for (size_t i = 0; i < predicate->step_count; i++) {
        if (predicate->step[i].verb == PREDICATE_EQUAL && predicate->step[i].column == column) {
            return true;
        }
    }
    return false;
}
