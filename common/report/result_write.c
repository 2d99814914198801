/* result.json's writer, and that of the data in the report's page. */

#include "base/check.h"
#include "report/result_fields.h"
#include "json/json_text.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UTF8_BYTES_MAX = 4 };

struct writer {
    const struct result *result;
    bool is_page;
};

static size_t count_of(const struct result *result, const struct field *list)
{
    size_t count;
    memcpy(&count, (const char *)result + list->count_offset, sizeof count);
    return count;
}

static uint64_t whole_at(const struct field *field, const void *at)
{
    return field->size == sizeof(uint32_t) ? *(const uint32_t *)at : *(const uint64_t *)at;
}

static json_t *reals(const double *value, size_t count)
{
    if (value == NULL) {
        return json_null();
    }
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        json_add(&array, json_number(value[i]));
    }
    return array;
}

/* Six digits: what is computed from a file's figures, of 15 digits, then makes the same page. */
static json_t *computed(double value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%.6g", value);
    return json_number(strtod(text, NULL));
}

/* Experts are named, not numbered: their names are unique and mean something to a reader. */
static json_t *expert_name(const struct result *result, int64_t expert)
{
    if (expert == RESULT_NONE) {
        return json_null();
    }
    CHECK(expert >= 0 && (size_t)expert < result->expert_count);
    return json_string(result->expert[expert].name);
}

static json_t *object_of(const struct writer *writer, const struct field *field, const void *base);

static json_t *list_of(const struct writer *writer, const struct field *list, const char *item)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count_of(writer->result, list); i++) {
        json_add(&array, object_of(writer, list->row, item + i * list->item_size));
    }
    return array;
}

/* Notes are cut where they are too long, which may be within a letter: the rest of it goes too. NULL: no UTF-8 before that. */
static json_t *note_of(const char *text)
{
    struct slice kept = {text, strlen(text)};
    for (int cut = 0; cut < UTF8_BYTES_MAX - 1 && kept.size > 0 && !slice_is_utf8(kept); cut++) {
        kept.size--;
    }
    return json_stringn(text, kept.size);
}

static json_t *value_of(const struct writer *writer, const struct field *field, const void *base)
{
    const struct result *result = writer->result;
    const void *at = (const char *)base + field->offset;
    switch (field->kind) {
    case FIELD_TEXT:
        return json_string(at);
    case FIELD_NOTE:
        return note_of(at);
    case FIELD_OWNED:
        return json_string(*(char *const *)at);
    case FIELD_REAL:
        return json_number(*(const double *)at);
    case FIELD_BOOL:
        return json_boolean(*(const bool *)at);
    case FIELD_COUNT:
    case FIELD_DERIVED:
        return json_integer((json_int_t)whole_at(field, at));
    case FIELD_COMPUTED:
        return computed(field->compute(result));
    case FIELD_SEED:
        return result->has_seed ? json_integer((json_int_t)result->seed) : json_null();
    case FIELD_EXPERT:
        return expert_name(result, *(const int64_t *)at);
    case FIELD_LOSSES:
    case FIELD_FEATURES:
    case FIELD_DAYS:
        return reals(*(double *const *)at, result_length(result, field, base));
    case FIELD_PART:
        return field->is_known == NULL || field->is_known(result)
                   ? object_of(writer, field->row, result)
                   : json_null();
    case FIELD_LIST:
        return list_of(writer, field, *(char *const *)at);
    }
    return NULL;
}

static json_t *object_of(const struct writer *writer, const struct field *field, const void *base)
{
    json_t *object = json_object();
    for (; field->key != NULL; field++) {
        const char *at = (const char *)base + field->offset;
        if ((field->kind == FIELD_NOTE && *at == '\0') ||
            (field->kind == FIELD_OWNED && *(char *const *)(const void *)at == NULL) ||
            (field->kind == FIELD_FEATURES && writer->is_page) ||
            (field->kind == FIELD_COMPUTED && !writer->is_page)) {
            continue;
        }
        json_put(&object, field->key, value_of(writer, field, base));
    }
    return object;
}

/* The columns of every list and the lines of every part that the page shows. */
static void put_columns(json_t **columns, const struct field *field)
{
    static const char *const format[] = {"text", "count", "fixed", "percent", "significant"};
    for (; field->key != NULL; field++) {
        if (field->row == NULL) {
            continue;
        }
        json_t *shown = json_array();
        for (const struct field *row = field->row; row->key != NULL; row++) {
            if (row->page.label != NULL) {
                json_add(&shown, json_pack("{s:s, s:s, s:s, s:i}", "key", row->key, "label",
                                           row->page.label, "format", format[row->page.format],
                                           "digits", row->page.digits));
            }
        }
        json_put(columns, field->key, shown);
        put_columns(columns, field->row);
    }
}

/* Takes root, NULL where a text is not UTF-8. */
static enum status text_of(char **text, json_t *root)
{
    /* 15 digits: 0.003 stays 0.003. model.json holds the chosen model exactly. */
    *text = root == NULL ? NULL : json_text(root, 1, 15);
    const enum status status = root == NULL    ? STATUS_INVALID
                               : *text == NULL ? STATUS_NO_MEMORY
                                               : STATUS_OK;
    json_decref(root);
    return status;
}

enum status result_to_json(char **text, const struct result *result)
{
    const struct writer writer = {.result = result};
    return text_of(text, object_of(&writer, result_fields, result));
}

enum status result_to_page(char **text, const struct result *result)
{
    const struct writer writer = {.result = result, .is_page = true};
    json_t *root = json_object();
    json_t *columns = json_object();
    put_columns(&columns, result_fields);
    json_put(&root, "result", object_of(&writer, result_fields, result));
    json_put(&root, "columns", columns);
    return text_of(text, root);
}
