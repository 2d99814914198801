#include "report/result_fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sets every figure to what is not known. */
static void forget(const struct field *field, void *base)
{
    for (; field->key != NULL; field++) {
        void *at = (char *)base + field->offset;
        if (field->kind == FIELD_REAL) {
            *(double *)at = NAN;
        } else if (field->kind == FIELD_EXPERT) {
            *(int64_t *)at = RESULT_NONE;
        } else if (field->kind == FIELD_PART) {
            forget(field->row, base);
        }
    }
}

void result_init(struct result *result)
{
    *result = (struct result){.job = ""};
    forget(result_fields, result);
}

enum status result_make_room(struct result *result, const struct field *list, size_t count)
{
    void *at = (char *)result + list->offset;
    if (count > list->max) {
        return STATUS_INVALID;
    }
    char *item = calloc(count + 1, list->item_size);
    if (item == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        forget(list->row, item + i * list->item_size);
    }
    free(*(void **)at);
    *(void **)at = item;
    memcpy((char *)result + list->count_offset, &count, sizeof count);
    return STATUS_OK;
}

static enum status make_room(struct result *result, const char *key, size_t count)
{
    static const struct field *const tables[] = {result_fields, result_privacy_fields};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        for (const struct field *field = tables[i]; field->key != NULL; field++) {
            if (strcmp(field->key, key) == 0) {
                return result_make_room(result, field, count);
            }
        }
    }
    return STATUS_INVALID;
}

enum status result_reserve(struct result *result, size_t round_count, size_t expert_count,
                           size_t agent_count)
{
    enum status status = make_room(result, "rounds", round_count);
    if (status == STATUS_OK) {
        status = make_room(result, "experts", expert_count);
    }
    return status == STATUS_OK ? make_room(result, "per_agent", agent_count) : status;
}

enum status result_reserve_answers(struct result *result, size_t answer_count, size_t release_count)
{
    const enum status status = make_room(result, "answers", answer_count);
    return status == STATUS_OK ? make_room(result, "releases", release_count) : status;
}

enum status result_reserve_forecasts(struct result *result, size_t count)
{
    return make_room(result, "forecasts", count);
}

double *result_numbers(size_t count)
{
    double *number = calloc(count + 1, sizeof *number);
    if (number != NULL) {
        for (size_t i = 0; i < count; i++) {
            number[i] = NAN;
        }
    }
    return number;
}

static void free_owned(struct result *result, const struct field *field, void *base)
{
    for (; field->key != NULL; field++) {
        void *at = (char *)base + field->offset;
        if (field->kind == FIELD_LIST) {
            size_t count;
            memcpy(&count, (char *)result + field->count_offset, sizeof count);
            for (size_t i = 0; i < count; i++) {
                free_owned(result, field->row, *(char **)at + i * field->item_size);
            }
        } else if (field->kind == FIELD_PART) {
            free_owned(result, field->row, base);
        }
        if (field->kind == FIELD_LIST || field->kind == FIELD_OWNED ||
            field->kind == FIELD_LOSSES || field->kind == FIELD_FEATURES ||
            field->kind == FIELD_DAYS) {
            free(*(void **)at);
        }
    }
}

void result_free(struct result *result)
{
    if (result != NULL) {
        free_owned(result, result_fields, result);
        result_init(result);
    }
}

bool result_release_is_bar(const struct result_release *release)
{
    return !isfinite(release->noise) && isfinite(release->bar) &&
           strcmp(release->task, "losses") != 0;
}
