#include "report/result_fields.h"

#include "base/check.h"
#include "base/decimal.h"

#include <math.h>
#include <stdio.h>
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

enum status result_reserve(struct result *result, const char *list, size_t count)
{
    static const struct field *const tables[] = {result_fields, result_privacy_fields};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        for (const struct field *field = tables[i]; field->key != NULL; field++) {
            if (strcmp(field->key, list) == 0) {
                return result_make_room(result, field, count);
            }
        }
    }
    return STATUS_INVALID;
}

size_t result_length(const struct result *result, const struct field *field, const void *base)
{
    return field->kind == FIELD_LOSSES     ? result->expert_count
           : field->kind == FIELD_FEATURES ? result->feature_count
                                           : ((const struct result_forecast *)base)->day_count;
}

void result_show(char *text, size_t size, const struct field *field, const void *base)
{
    double value = NAN;
    CHECK(field->kind == FIELD_REAL);
    if (base != NULL) {
        memcpy(&value, (const char *)base + field->offset, sizeof value);
    }
    if (base == NULL) {
        (void)snprintf(text, size, "%s", field->terminal.label);
    } else if (!isfinite(value)) {
        (void)snprintf(text, size, "-");
    } else if (field->terminal.format == FORMAT_SIGNIFICANT) {
        (void)snprintf(text, size, "%s", decimal_short(value, field->terminal.digits).text);
    } else if (field->terminal.format == FORMAT_PERCENT) {
        (void)snprintf(text, size, "%.*f%%", field->terminal.digits, 100 * value);
    } else {
        (void)snprintf(text, size, "%.*f", field->terminal.digits, value);
    }
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

bool result_what_is_expected(const char *what)
{
    static const char *const begins[] = {": half of ", ": the same of ", ": the log-rank test ",
                                         ": the chi-squared test "};
    bool is = false;
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        is = is || strstr(what, begins[i]) != NULL;
    }
    return is;
}

bool result_release_is_bar(const struct result_release *release)
{
    return !isfinite(release->noise) && isfinite(release->bar) &&
           strcmp(release->task, "losses") != 0;
}

const struct result_release *result_stage_of(const struct result *result, uint32_t round)
{
    const struct result_release *found = NULL;
    uint32_t number = 0;
    for (size_t i = 0; i < result->round_count && number == 0; i++) {
        number = result->round[i].round == round ? result->round[i].stage_number : 0;
    }
    for (size_t i = 0; i < result->release_count && number > 0 && found == NULL; i++) {
        found = result->release[i].stage == number - 1 ? &result->release[i] : NULL;
    }
    return found;
}

/* How far figures on held-out records may be from those on all records alike: binomial for a share,
 * Hanley and McNeil (1982) for an AUC, whose scores they take as exponential. */
double result_accuracy_error(const struct result *result)
{
    const double count = (double)result->baseline.records_held;
    return count > 0 ? sqrt(result->accuracy * (1 - result->accuracy) / count) : NAN;
}

/* Q1: two positives both rank above one negative; Q2: one positive above two negatives. */
static double auc_error(double auc, double positives, double negatives)
{
    const double both_above = auc / (2 - auc);
    const double above_both = 2 * auc * auc / (1 + auc);
    const double variance = auc * (1 - auc) + (positives - 1) * (both_above - auc * auc) +
                            (negatives - 1) * (above_both - auc * auc);
    return sqrt(variance / (positives * negatives));
}

double result_auc_error(const struct result *result)
{
    const double count = (double)result->baseline.records_held;
    const double more = round(result->baseline.majority * count);
    const double fewer = count - more;
    return fewer >= 1
               ? fmax(auc_error(result->auc, more, fewer), auc_error(result->auc, fewer, more))
               : NAN;
}
