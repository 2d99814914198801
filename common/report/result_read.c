/* result.json's reader. A file may come from anywhere: every type, range and count is checked. */

#include "report/result_fields.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

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
        reader->status = why_fail(reader->why, STATUS_INVALID,
                                  "%s: \"%s\" %s: not a result.json of this program", reader->name,
                                  key, problem);
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
        const bool is_forecast = list->row == result_forecast_fields;
        struct result_forecast *forecast = at;
        if (is_forecast) {
            forecast->day_count = json_array_size(json_object_get(object, "truth"));
        }
        read_object(reader, list->row, object, at);
        if (is_forecast && (forecast->truth == NULL || forecast->told == NULL)) {
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
        read_reals(reader, field->key, value, result_length(reader->result, field, base), at);
        break;
    case FIELD_PART:
        read_part(reader, field, value);
        break;
    case FIELD_LIST:
        read_list(reader, field, value, *(char **)at);
        break;
    case FIELD_DERIVED:
    case FIELD_COMPUTED:
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
        return why_refuse(why, "%s: larger than a result.json can be", name);
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
