/* result.json's writer and reader. A file may come from anywhere: every type, range and count is checked. */

#include "base/check.h"
#include "report/result_fields.h"
#include "json/json_text.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* json_object_set_new and json_array_append_new take the value even when they fail, and fail when
 * it is NULL (no memory, not UTF-8): a flag collects that. */
struct writer {
    const struct result *result;
    bool failed;
};

static size_t count_of(const struct result *result, const struct field *list)
{
    size_t count;
    memcpy(&count, (const char *)result + list->count_offset, sizeof count);
    return count;
}

/* How many numbers stand in an array of numbers that is not NULL. */
static size_t length_of(const struct result *result, const struct field *field, const void *base)
{
    return field->kind == FIELD_LOSSES     ? result->expert_count
           : field->kind == FIELD_FEATURES ? result->feature_count
                                           : ((const struct result_forecast *)base)->day_count;
}

static uint64_t whole_at(const struct field *field, const void *at)
{
    return field->size == sizeof(uint32_t) ? *(const uint32_t *)at : *(const uint64_t *)at;
}

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *reals(struct writer *writer, const double *value, size_t count)
{
    if (value == NULL) {
        return json_null();
    }
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        writer->failed |= json_array_append_new(array, real(value[i])) != 0;
    }
    return array;
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

static json_t *object_of(struct writer *writer, const struct field *field, const void *base);

static json_t *list_of(struct writer *writer, const struct field *list, const char *item)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count_of(writer->result, list); i++) {
        json_t *object = object_of(writer, list->row, item + i * list->item_size);
        writer->failed |= json_array_append_new(array, object) != 0;
    }
    return array;
}

static json_t *value_of(struct writer *writer, const struct field *field, const void *base)
{
    const struct result *result = writer->result;
    const void *at = (const char *)base + field->offset;
    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_NOTE:
        return json_string(at);
    case FIELD_OWNED:
        return json_string(*(char *const *)at);
    case FIELD_REAL:
        return real(*(const double *)at);
    case FIELD_BOOL:
        return json_boolean(*(const bool *)at);
    case FIELD_COUNT:
    case FIELD_DERIVED:
        return json_integer((json_int_t)whole_at(field, at));
    case FIELD_SEED:
        return result->has_seed ? json_integer((json_int_t)result->seed) : json_null();
    case FIELD_EXPERT:
        return expert_name(result, *(const int64_t *)at);
    case FIELD_LOSSES:
    case FIELD_FEATURES:
    case FIELD_DAYS:
        return reals(writer, *(double *const *)at, length_of(result, field, base));
    case FIELD_PART:
        return field->is_known == NULL || field->is_known(result)
                   ? object_of(writer, field->row, result)
                   : json_null();
    case FIELD_LIST:
        return list_of(writer, field, *(char *const *)at);
    }
    return NULL;
}

static json_t *object_of(struct writer *writer, const struct field *field, const void *base)
{
    json_t *object = json_object();
    for (; field->key != NULL; field++) {
        const char *at = (const char *)base + field->offset;
        if ((field->kind == FIELD_NOTE && *at == '\0') ||
            (field->kind == FIELD_OWNED && *(char *const *)(const void *)at == NULL)) {
            continue;
        }
        json_t *value = value_of(writer, field, base);
        writer->failed |= json_object_set_new(object, field->key, value) != 0;
    }
    return object;
}

enum status result_to_json(char **text, const struct result *result)
{
    struct writer writer = {.result = result};
    json_t *root = object_of(&writer, result_fields, result);
    *text = NULL;
    if (!writer.failed) {
        /* 15 digits: 0.003 stays 0.003. model.json holds the chosen model exactly. */
        *text = json_text(root, 1, 15);
    }
    json_decref(root);
    if (writer.failed) {
        return STATUS_INVALID;
    }
    return *text == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

/* Where the reader is, for its message; the first failure stays. */
struct reader {
    const char *name;
    struct why *why;
    struct result *result;
    size_t numbers;
    enum status status;
};

static void refuse(struct reader *reader, const char *key, const char *problem)
{
    if (reader->status == STATUS_OK) {
        why_set(reader->why, "%s: \"%s\" %s: not a result.json of this program", reader->name, key,
                problem);
        reader->status = STATUS_INVALID;
    }
}

static const char *text_in(struct reader *reader, const char *key, const json_t *value, size_t size)
{
    const char *text = json_string_value(value);
    if (text == NULL || json_string_length(value) >= size ||
        strlen(text) != json_string_length(value)) {
        refuse(reader, key, "is not a text, or too long");
        return NULL;
    }
    return text;
}

static void read_owned(struct reader *reader, const char *key, const json_t *value, char **out)
{
    const char *text = text_in(reader, key, value, RESULT_SAID_BYTES_MAX);
    if (text != NULL) {
        *out = strdup(text);
        reader->status = *out == NULL ? STATUS_NO_MEMORY : reader->status;
    }
}

static void read_count(struct reader *reader, const struct field *field, const json_t *value,
                       void *out)
{
    const uint64_t fits = field->size == sizeof(uint32_t) ? UINT32_MAX : INT64_MAX;
    const json_int_t count = json_integer_value(value);
    if (!json_is_integer(value) || count < 0 ||
        (uint64_t)count > (field->max > 0 ? field->max : fits)) {
        refuse(reader, field->key, "is not a whole number in its range");
    } else if (field->size == sizeof(uint32_t)) {
        *(uint32_t *)out = (uint32_t)count;
    } else {
        *(uint64_t *)out = (uint64_t)count;
    }
}

/* An array of exactly count numbers, or null. */
static void read_reals(struct reader *reader, const char *key, const json_t *array, size_t count,
                       double **out)
{
    if (json_is_null(array)) {
        return;
    }
    reader->numbers += count;
    if (!json_is_array(array) || json_array_size(array) != count ||
        reader->numbers > RESULT_NUMBERS_MAX) {
        refuse(reader, key, "does not have a number for each expert, feature or day");
        return;
    }
    *out = result_numbers(count);
    if (*out == NULL) {
        reader->status = STATUS_NO_MEMORY;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(array, i);
        if (json_is_number(value)) {
            (*out)[i] = json_number_value(value);
        } else if (!json_is_null(value)) {
            refuse(reader, key, "holds something that is not a number");
        }
    }
}

static void read_expert(struct reader *reader, const char *key, const json_t *value, int64_t *out)
{
    const struct result *result = reader->result;
    if (json_is_null(value)) {
        return;
    }
    for (size_t i = 0; json_is_string(value) && i < result->expert_count; i++) {
        if (strcmp(result->expert[i].name, json_string_value(value)) == 0) {
            *out = (int64_t)i;
            return;
        }
    }
    refuse(reader, key, "names none of the experts");
}

static void read_object(struct reader *reader, const struct field *field, const json_t *object,
                        void *base);

static void read_list(struct reader *reader, const struct field *list, const json_t *array,
                      char *item)
{
    for (size_t i = 0; i < json_array_size(array) && reader->status == STATUS_OK; i++) {
        void *at = item + i * list->item_size;
        const json_t *object = json_array_get(array, i);
        struct result_forecast *forecast = list->row == result_forecast_fields ? at : NULL;
        if (forecast != NULL) {
            forecast->day_count = json_array_size(json_object_get(object, "truth"));
        }
        read_object(reader, list->row, object, at);
        if (forecast != NULL && (forecast->truth == NULL || forecast->told == NULL)) {
            forecast->day_count = 0;
        }
    }
}

static void read_part(struct reader *reader, const struct field *part, const json_t *value)
{
    if (json_is_object(value)) {
        read_object(reader, part->row, value, reader->result);
    } else if (part->is_known == NULL || !json_is_null(value)) {
        refuse(reader, part->key,
               part->is_known == NULL ? "is not an object" : "is neither an object nor null");
    }
}

static void read_value(struct reader *reader, const struct field *field, const json_t *value,
                       void *base)
{
    void *at = (char *)base + field->offset;
    const char *text;
    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_NOTE:
        text = text_in(reader, field->key, value, field->size);
        (void)snprintf(at, field->size, "%s", text == NULL ? "" : text);
        break;
    case FIELD_OWNED:
        read_owned(reader, field->key, value, at);
        break;
    case FIELD_REAL:
        if (json_is_number(value)) {
            *(double *)at = json_number_value(value);
        } else if (!json_is_null(value)) {
            refuse(reader, field->key, "is neither a number nor null");
        }
        break;
    case FIELD_BOOL:
        *(bool *)at = json_is_true(value);
        if (!json_is_boolean(value)) {
            refuse(reader, field->key, "is neither true nor false");
        }
        break;
    case FIELD_SEED:
        reader->result->has_seed = !json_is_null(value);
        if (reader->result->has_seed) {
            read_count(reader, field, value, at);
        }
        break;
    case FIELD_COUNT:
        read_count(reader, field, value, at);
        break;
    case FIELD_EXPERT:
        read_expert(reader, field->key, value, at);
        break;
    case FIELD_LOSSES:
    case FIELD_FEATURES:
    case FIELD_DAYS:
        read_reals(reader, field->key, value, length_of(reader->result, field, base), at);
        break;
    case FIELD_PART:
        read_part(reader, field, value);
        break;
    case FIELD_LIST:
        read_list(reader, field, value, *(char **)at);
        break;
    case FIELD_DERIVED:
        break;
    }
}

/* What a list of names and numbers needs is there before it: room, features, and experts. */
static bool is_read_before(const struct field *field)
{
    return field->row == result_expert_fields || strcmp(field->key, "features") == 0;
}

static void read_object(struct reader *reader, const struct field *field, const json_t *object,
                        void *base)
{
    for (; field->key != NULL && reader->status == STATUS_OK; field++) {
        const json_t *value = json_object_get(object, field->key);
        if (value == NULL && !field->is_later) {
            refuse(reader, field->key, "is missing");
        } else if (value != NULL && !is_read_before(field)) {
            read_value(reader, field, value, base);
        }
    }
}

static void make_rooms(struct reader *reader, const struct field *field, const json_t *object)
{
    for (; field->key != NULL && reader->status == STATUS_OK; field++) {
        const json_t *value = json_object_get(object, field->key);
        if (field->kind == FIELD_PART) {
            make_rooms(reader, field->row, value);
        } else if (field->kind == FIELD_LIST && value != NULL) {
            if (!json_is_array(value) || json_array_size(value) > field->max) {
                refuse(reader, field->key, "is not a list, or too long");
            } else {
                reader->status = result_make_room(reader->result, field, json_array_size(value));
            }
        }
    }
}

static void read_root(struct reader *reader, const json_t *root)
{
    make_rooms(reader, result_fields, root);
    for (int experts = 0; experts < 2; experts++) {
        for (const struct field *field = result_fields; field->key != NULL; field++) {
            const json_t *value = json_object_get(root, field->key);
            if (reader->status == STATUS_OK && value != NULL && is_read_before(field) &&
                (field->kind == FIELD_LIST) == (experts == 1)) {
                read_value(reader, field, value, reader->result);
            }
        }
    }
    if (reader->status == STATUS_OK) {
        read_object(reader, result_fields, root, reader->result);
    }
}

enum status result_from_json(struct result *result, struct slice text, const char *name,
                             struct why *why)
{
    struct reader reader = {.name = name, .why = why, .result = result, .status = STATUS_INVALID};
    json_error_t error;
    json_t *root = NULL;

    result_init(result);
    if (text.size > RESULT_FILE_BYTES_MAX) {
        why_set(why, "%s: larger than a result.json can be", name);
        return STATUS_INVALID;
    }
    root =
        json_loadb(text.data == NULL ? "" : text.data, text.size, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL || !json_is_object(root)) {
        why_set(why,
                "%s: line %d, column %d: not JSON of a result: name the result.json that a job, "
                "or a simulation, wrote",
                name, root == NULL ? error.line : 1, root == NULL ? error.column : 1);
    } else {
        reader.status = STATUS_OK;
        read_root(&reader, root);
    }
    json_decref(root);
    if (reader.status != STATUS_OK) {
        result_free(result);
    }
    return reader.status;
}
