#include "query/candidates.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/even.h"
#include "base/near.h"
#include "query/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct column *column_of(const struct candidates *candidates, size_t i)
{
    return &candidates->schema.column[candidates->column[i]];
}

/* Whether the value is one category, or at or above one threshold; with two categories the one is
 * nearly the other's negation. */
static size_t questions_of(const struct candidates *candidates, const struct column *column)
{
    if (column->kind == COLUMN_NUMBER) {
        return candidates->threshold_count;
    }
    return column->category_count == 2 ? 1 : column->category_count;
}

/* The cells of a column are its categories that are asked about and one for all others, or the
 * stretches between thresholds. */
static size_t cells_of(const struct candidates *candidates, const struct column *column)
{
    return questions_of(candidates, column) + 1;
}

/* Unit: the cell's; inside the public range. */
static double threshold_of(const struct candidates *candidates, const struct column *column,
                           size_t question)
{
    const double position =
        (double)(question + 1) / (double)(candidates->threshold_count + 1); /* in (0, 1) */
    return column->centre + column->half_width * (2 * position - 1);
}

/* Adds what one record counts to its cell: a missing number is at or above no threshold, an unlisted
 * category in the last cell. */
static void add_to_cell(int64_t *sum, const struct candidates *candidates, size_t i, double value,
                        uint64_t counts)
{
    const struct column *column = column_of(candidates, i);
    const size_t last = cells_of(candidates, column) - 1;
    uint64_t left = UINT64_MAX;
    if (column->kind == COLUMN_CATEGORY) {
        for (size_t cell = 0; cell < last; cell++) {
            const uint64_t is_here = mask_of(value == (double)cell);
            sum[cell] += (int64_t)(counts & is_here);
            left &= ~is_here;
        }
    } else {
        const int64_t at = even_key(predicate_cell(column, value));
        const int64_t *key = candidates->threshold_key + i * candidates->threshold_count;
        const uint64_t there = ~even_is_nan(value);
        for (size_t cell = 0; cell < last; cell++) {
            const uint64_t next = left & there & mask_of(at >= key[cell]);
            sum[cell] += (int64_t)(counts & left & ~next);
            left = next;
        }
    }
    sum[last] += (int64_t)(counts & left);
}

static void fill_keys(struct candidates *out)
{
    for (size_t i = 0; i < out->column_count; i++) {
        const struct column *column = column_of(out, i);
        for (size_t j = 0; column->kind == COLUMN_NUMBER && j < out->threshold_count; j++) {
            out->threshold_key[i * out->threshold_count + j] =
                even_key(threshold_of(out, column, j));
        }
    }
}

static enum status refuse(struct why *why, const char *name, const char *remedy)
{
    return why_refuse(why, "%.*s: %s", letters_within(name, 100), name, remedy);
}

static enum status refuse_column(const struct candidates *candidates, const char *name,
                                 struct why *why)
{
    char hint[NEAR_HINT_BYTES];
    char remedy[NEAR_HINT_BYTES + 64];
    struct near near = near_to((struct slice){name, strlen(name)});
    for (size_t i = 0; i < candidates->schema.column_count; i++) {
        near_offer(&near, candidates->schema.column[i].name);
    }
    (void)snprintf(remedy, sizeof remedy, "data.features has no such column%s",
                   near_name(&near) == NULL ? ": write the name of one" : near_hint(hint, &near));
    return refuse(why, name, remedy);
}

static enum status take_columns(struct candidates *out, const struct candidates_request *request,
                                struct why *why)
{
    for (size_t i = 0; i < request->column_count; i++) {
        const char *name = request->column[i];
        size_t found = 0;
        while (found < out->schema.column_count &&
               strcmp(out->schema.column[found].name, name) != 0) {
            found++;
        }
        if (found == out->schema.column_count) {
            return refuse_column(out, name, why);
        }
        for (size_t j = 0; j < i; j++) {
            if (out->column[j] == found) {
                return refuse(why, name, "the column is there twice: remove one");
            }
        }
        if (out->schema.column[found].kind == COLUMN_NUMBER && request->threshold_count == 0) {
            return refuse(why, name, "a column of numbers needs thresholds, such as 20");
        }
        out->column[i] = found;
    }
    return STATUS_OK;
}

static enum status take_predicates(struct candidates *out, const struct candidates_request *request,
                                   struct why *why)
{
    for (size_t i = 0; i < request->predicate_count; i++) {
        const struct slice text = {request->predicate[i], strlen(request->predicate[i])};
        struct why inner = {{0}};
        if (text.size >= QUERY_TEXT_BYTES) {
            return refuse(why, text.data, "it is too long: shorten it");
        }
        if (predicate_parse(&out->predicate[i], text, &out->schema, &inner) != STATUS_OK) {
            return refuse(why, text.data, inner.text);
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(out->predicate_text[j], request->predicate[i]) == 0) {
                return refuse(why, text.data,
                              "it is there twice, and would be paid twice: remove "
                              "one");
            }
        }
        memcpy(out->predicate_text[i], text.data, text.size);
    }
    return STATUS_OK;
}

enum status candidates_init(struct candidates *out, const struct schema *schema,
                            const struct candidates_request *request, struct why *why)
{
    *out = (struct candidates){.column_count = request->column_count,
                               .threshold_count = request->threshold_count,
                               .predicate_count = request->predicate_count};
    enum status status = STATUS_INVALID;
    if (schema->label.kind != LABEL_SIGN) {
        why_set(why, "predict a label of two classes, and the label is another: write query or "
                     "fit in place of select");
        goto done;
    }
    if (request->column_count + request->predicate_count == 0 ||
        request->column_count > CANDIDATES_COLUMNS_MAX ||
        request->threshold_count > CANDIDATES_THRESHOLDS_MAX ||
        request->predicate_count > CANDIDATES_PREDICATES_MAX) {
        why_set(why,
                "are none, or too many: write 1 to %d stumps or predicates, and at most %d "
                "thresholds",
                CANDIDATES_COLUMNS_MAX, CANDIDATES_THRESHOLDS_MAX);
        goto done;
    }
    out->column = calloc(request->column_count + 1, sizeof *out->column);
    out->threshold_key =
        calloc(request->column_count * request->threshold_count + 1, sizeof *out->threshold_key);
    out->predicate = calloc(request->predicate_count + 1, sizeof *out->predicate);
    out->predicate_text = calloc(request->predicate_count + 1, sizeof *out->predicate_text);
    if (out->column == NULL || out->threshold_key == NULL || out->predicate == NULL ||
        out->predicate_text == NULL || schema_copy(&out->schema, schema) != STATUS_OK) {
        status = why_fail(why, STATUS_NO_MEMORY, "not enough memory for the candidates");
        goto done;
    }
    status = take_columns(out, request, why);
    if (status == STATUS_OK) {
        fill_keys(out);
        status = take_predicates(out, request, why);
    }
done:
    if (status != STATUS_OK) {
        candidates_free(out);
    }
    return status;
}

void candidates_free(struct candidates *candidates)
{
    if (candidates != NULL) {
        schema_free(&candidates->schema);
        free(candidates->column);
        free(candidates->threshold_key);
        free(candidates->predicate);
        free(candidates->predicate_text);
        *candidates = (struct candidates){0};
    }
}

size_t candidates_count(const struct candidates *candidates)
{
    size_t questions = candidates->predicate_count;
    for (size_t i = 0; i < candidates->column_count; i++) {
        questions += questions_of(candidates, column_of(candidates, i));
    }
    return 2 * questions;
}

bool candidates_have_thresholds(const struct candidates *candidates)
{
    bool found = false;
    for (size_t i = 0; i < candidates->column_count; i++) {
        found = found || column_of(candidates, i)->kind == COLUMN_NUMBER;
    }
    return found;
}

size_t candidates_cells(const struct candidates *candidates)
{
    size_t cells = candidates->predicate_count;
    for (size_t i = 0; i < candidates->column_count; i++) {
        cells += cells_of(candidates, column_of(candidates, i));
    }
    return cells;
}

uint64_t candidates_sensitivity_l1(const struct candidates *candidates)
{
    return 2 * (uint64_t)candidates->column_count + candidates->predicate_count;
}

void candidates_add(int64_t *sum, const struct candidates *candidates, const struct row *row)
{
    const uint64_t is_positive = mask_of(row->label > 0);
    CHECK(row->column_count == candidates->schema.column_count);
    for (size_t i = 0; i < candidates->column_count; i++) {
        add_to_cell(sum, candidates, i, row->cell[candidates->column[i]], (is_positive & 2) - 1);
        sum += cells_of(candidates, column_of(candidates, i));
    }
    for (size_t i = 0; i < candidates->predicate_count; i++) {
        const uint64_t holds = mask_of(predicate_holds(&candidates->predicate[i], row));
        sum[i] += (int64_t)((holds ^ is_positive) & 1);
    }
}

static void put_pair(int64_t *score, uint64_t twice_errors, uint64_t record_count)
{
    score[0] = (int64_t)twice_errors;
    score[1] = (int64_t)(2 * record_count - twice_errors);
}

/* A column's stumps in one pass: from one threshold to the next one cell changes sides. */
static void score_thresholds(int64_t *score, const int64_t *sum, size_t cells,
                             uint64_t record_count)
{
    uint64_t agreement = 0; /* sum of prediction * cell, all predicted +1 */
    for (size_t cell = 0; cell < cells; cell++) {
        agreement += (uint64_t)sum[cell];
    }
    for (size_t question = 0; question + 1 < cells; question++) {
        agreement -= 2 * (uint64_t)sum[question];
        put_pair(score + 2 * question, record_count - agreement, record_count);
    }
}

static void score_categories(int64_t *score, const int64_t *sum, size_t cells, size_t questions,
                             uint64_t record_count)
{
    uint64_t all = 0;
    for (size_t cell = 0; cell < cells; cell++) {
        all += (uint64_t)sum[cell];
    }
    for (size_t question = 0; question < questions; question++) {
        const uint64_t agreement = 2 * (uint64_t)sum[question] - all;
        put_pair(score + 2 * question, record_count - agreement, record_count);
    }
}

void candidates_scores(int64_t *score, const struct candidates *candidates, const int64_t *sum,
                       uint64_t record_count)
{
    for (size_t i = 0; i < candidates->column_count; i++) {
        const struct column *column = column_of(candidates, i);
        const size_t cells = cells_of(candidates, column);
        const size_t questions = questions_of(candidates, column);
        if (column->kind == COLUMN_CATEGORY) {
            score_categories(score, sum, cells, questions, record_count);
        } else {
            score_thresholds(score, sum, cells, record_count);
        }
        score += 2 * questions;
        sum += cells;
    }
    for (size_t i = 0; i < candidates->predicate_count; i++) {
        put_pair(score + 2 * i, 2 * (uint64_t)sum[i], record_count);
    }
}

size_t candidates_best(const int64_t *score, size_t count)
{
    size_t best = 0;
    CHECK(count > 0);
    for (size_t i = 1; i < count; i++) {
        best = score[i] < score[best] ? i : best;
    }
    return best;
}

/* Where a question is: a column and its question there, or column_count and a predicate. */
struct place {
    size_t column;
    size_t question;
};

static struct place find(const struct candidates *candidates, size_t candidate)
{
    struct place place = {.question = candidate / 2};
    while (place.column < candidates->column_count) {
        const size_t count = questions_of(candidates, column_of(candidates, place.column));
        if (place.question < count) {
            return place;
        }
        place.question -= count;
        place.column++;
    }
    CHECK(place.question < candidates->predicate_count);
    return place;
}

double candidates_error_deviation(const struct candidates *candidates, size_t candidate,
                                  const struct query_noise *noise)
{
    const struct place place = find(candidates, candidate);
    const double of_cell = query_noise_deviation(noise);
    return place.column == candidates->column_count
               ? of_cell
               : of_cell / 2 *
                     sqrt((double)cells_of(candidates, column_of(candidates, place.column)));
}

void candidates_name(char *text, size_t text_bytes, const struct candidates *candidates,
                     size_t candidate)
{
    const struct place place = find(candidates, candidate);
    const bool is_negated = candidate % 2 != 0;
    if (place.column == candidates->column_count) {
        (void)snprintf(text, text_bytes, "%s%s%s", is_negated ? "not (" : "",
                       candidates->predicate_text[place.question], is_negated ? ")" : "");
        return;
    }
    const struct column *column = column_of(candidates, place.column);
    if (column->kind == COLUMN_CATEGORY) {
        (void)snprintf(text, text_bytes, "%s %s %s", column->name,
                       is_negated ? "!=" : "==", column->category[place.question]);
    } else {
        const double threshold = threshold_of(candidates, column, place.question);
        (void)snprintf(text, text_bytes, "%s %s %.6g", column->name,
                       is_negated ? "<" : ">=", predicate_value(column, threshold));
    }
}
