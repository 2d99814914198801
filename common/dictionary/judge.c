/* A job against a dictionary. Both are public; nothing else is looked at. */

#include "base/text.h"
#include "dictionary/dictionary.h"

#include "base/near.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const struct dictionary_column *dictionary_find(const struct dictionary *dictionary,
                                                const char *name)
{
    for (size_t i = 0; i < dictionary->column_count; i++) {
        if (strcmp(dictionary->column[i].name, name) == 0) {
            return &dictionary->column[i];
        }
    }
    return NULL;
}

uint64_t dictionary_records(const struct dictionary *dictionary, const struct schema *schema)
{
    const uint64_t history = schema_history(schema);
    return dictionary->record_count > history ? dictionary->record_count - history : 0;
}

enum status dictionary_need(const struct dictionary_column **column,
                            const struct dictionary *dictionary, const char *name, struct why *why)
{
    *column = dictionary_find(dictionary, name);
    if (*column != NULL) {
        return STATUS_OK;
    }
    char hint[NEAR_HINT_BYTES];
    struct near near = near_to((struct slice){name, strlen(name)});
    for (size_t i = 0; i < dictionary->column_count; i++) {
        near_offer(&near, dictionary->column[i].name);
    }
    return why_fail(why, STATUS_REFUSED, "the dictionary has no column \"%s\"%s", name,
                    near_hint(hint, &near));
}

static enum status need_number(const struct dictionary_column *column, struct why *why)
{
    if (column->kind != DICTIONARY_NUMBER) {
        return why_fail(
            why, STATUS_REFUSED,
            "the job asks for numbers in column \"%s\", which the dictionary calls a %s",
            column->name, dictionary_kind_name(column->kind));
    }
    return STATUS_OK;
}

/* Without a list of categories there is nothing that a text could be missing from. */
static bool has_text(const struct dictionary_column *column, const char *text)
{
    bool found = column->category_count == 0;
    for (size_t i = 0; !found && i < column->category_count; i++) {
        found = strcmp(column->category[i], text) == 0;
    }
    return found;
}

/* text: one of those that the job lists. */
static enum status refuse_texts(const struct dictionary_column *column, const char *text,
                                struct why *why)
{
    char hint[NEAR_HINT_BYTES];
    struct near near = near_to((struct slice){text, strlen(text)});
    for (size_t i = 0; i < column->category_count; i++) {
        near_offer(&near, column->category[i]);
    }
    return why_fail(
        why, STATUS_REFUSED,
        "none of what the job lists for column \"%s\", such as \"%s\", is a category in the "
        "dictionary%s",
        column->name, text, near_hint(hint, &near));
}

/* Texts may be asked about in any column, as every cell is a text. A job for several sites may list
 * some that this site does not have; where the site has none of them, the column is another one. */
static enum status need_texts(const struct dictionary_column *column,
                              const char (*text)[SCHEMA_NAME_BYTES], size_t count, struct why *why)
{
    bool found = false;
    for (size_t i = 0; !found && i < count; i++) {
        found = has_text(column, text[i]);
    }
    return found ? STATUS_OK : refuse_texts(column, count > 0 ? text[0] : "", why);
}

static enum status judge_label(const struct dictionary *dictionary, const struct label *label,
                               struct why *why)
{
    const struct dictionary_column *column;
    enum status status = dictionary_need(&column, dictionary, label->name, why);
    if (status != STATUS_OK) {
        return status;
    }
    switch (label->kind) {
    case LABEL_NUMBER:
        return need_number(column, why);
    case LABEL_CLASSES:
        return need_texts(column, label->class_name, label->class_count, why);
    case LABEL_SIGN:
        break;
    }
    if (!has_text(column, label->positive) && !has_text(column, label->negative)) {
        return refuse_texts(column, label->positive, why);
    }
    return STATUS_OK;
}

static enum status judge_column(const struct dictionary *dictionary, const struct column *asked,
                                struct why *why)
{
    const struct dictionary_column *column;
    enum status status = dictionary_need(&column, dictionary, asked->name, why);
    if (status != STATUS_OK) {
        return status;
    }
    return asked->kind == COLUMN_NUMBER
               ? need_number(column, why)
               : need_texts(column, asked->category, asked->category_count, why);
}

static enum status judge_records(const struct dictionary *dictionary, const struct job *job,
                                 struct why *why)
{
    const uint64_t admitted = dictionary_records(dictionary, &job->schema);
    uint64_t needed = job_records_min(job);
    needed = needed > DICTIONARY_RECORDS_MIN ? needed : DICTIONARY_RECORDS_MIN;
    if (admitted < needed) {
        return why_fail(why, STATUS_REFUSED,
                        "the job needs %" PRIu64 " records, and the dictionary states %" PRIu64
                        " rows, which make %" PRIu64,
                        needed, dictionary->record_count, admitted);
    }
    return STATUS_OK;
}

enum status dictionary_judge(const struct dictionary *dictionary, const struct job *job,
                             struct why *why)
{
    const struct schema *schema = &job->schema;
    if (job->data_set[0] != '\0' && strcmp(job->data_set, dictionary->name) != 0) {
        return why_fail(why, STATUS_REFUSED,
                        "the job asks for the data set \"%s\", and the dictionary's %s%s%s",
                        job->data_set, dictionary->name[0] != '\0' ? "is \"" : "has no name",
                        dictionary->name, dictionary->name[0] != '\0' ? "\"" : "");
    }
    enum status status = judge_label(dictionary, &schema->label, why);
    for (size_t i = 0; status == STATUS_OK && i < schema->column_count; i++) {
        status = judge_column(dictionary, &schema->column[i], why);
    }
    return status == STATUS_OK ? judge_records(dictionary, job, why) : status;
}

static void note_lacking(struct why *note, const struct dictionary_column *column,
                         const char *texts)
{
    why_set(note, "column \"%s\": the job names %s, which the dictionary does not list",
            column->name, texts);
}

/* Lists those of a job's texts that the dictionary lacks. */
static bool note_texts(const struct dictionary_column *column,
                       const char (*text)[SCHEMA_NAME_BYTES], size_t count, struct why *note)
{
    char list[WHY_BYTES / 2] = "";
    for (size_t i = 0; i < count; i++) {
        if (!has_text(column, text[i])) {
            text_add(list, sizeof list, "%s\"%s\"", list[0] == '\0' ? "" : ", ", text[i]);
        }
    }
    if (list[0] == '\0') {
        return false;
    }
    note_lacking(note, column, list);
    return true;
}

/* centre and half_width are of the transformed column. */
static bool note_numbers(const struct dictionary_column *column, enum column_transform transform,
                         double centre, double half_width, struct why *note)
{
    const bool is_log = transform == TRANSFORM_LOG1P;
    const double low = is_log ? expm1(centre - half_width) : centre - half_width;
    const double high = is_log ? expm1(centre + half_width) : centre + half_width;
    const double slack = 1e-9 * (high - low);
    const bool below = column->low > -DICTIONARY_BOUND_MAX && column->low < low - slack;
    const bool above = column->high < DICTIONARY_BOUND_MAX && column->high > high + slack;
    if (!below && !above) {
        return false;
    }
    char low_text[32] = "";
    char high_text[32] = "";
    if (below) {
        (void)snprintf(low_text, sizeof low_text, " low: %.6g", column->low);
    }
    if (above) {
        (void)snprintf(high_text, sizeof high_text, " high: %.6g", column->high);
    }
    why_set(note, "column \"%s\": the job clamps to %.6g .. %.6g, and the dictionary says%s%s%s",
            column->name, low, high, low_text, below && above ? "," : "", high_text);
    return true;
}

bool dictionary_has_note(const struct dictionary *dictionary, const struct schema *schema,
                         size_t column, struct why *note)
{
    const struct label *label = &schema->label;
    const struct dictionary_column *own =
        dictionary_find(dictionary, schema_name_of(schema, column));
    if (own == NULL) {
        return false;
    }
    if (column < schema->column_count) {
        const struct column *asked = &schema->column[column];
        return asked->kind == COLUMN_NUMBER
                   ? note_numbers(own, asked->transform, asked->centre, asked->half_width, note)
                   : note_texts(own, asked->category, asked->category_count, note);
    }
    switch (label->kind) {
    case LABEL_NUMBER:
        return note_numbers(own, TRANSFORM_NONE, label->centre, label->half_width, note);
    case LABEL_CLASSES:
        return note_texts(own, label->class_name, label->class_count, note);
    case LABEL_SIGN:
        break;
    }
    const bool rest = strcmp(label->negative, SCHEMA_REST) == 0;
    const char *lacking = !has_text(own, label->positive)          ? label->positive
                          : rest || has_text(own, label->negative) ? NULL
                                                                   : label->negative;
    if (lacking != NULL) {
        char quoted[SCHEMA_NAME_BYTES + 2];
        (void)snprintf(quoted, sizeof quoted, "\"%s\"", lacking);
        note_lacking(note, own, quoted);
    }
    return lacking != NULL;
}
