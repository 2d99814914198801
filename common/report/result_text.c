#include "report/result_text.h"

#include "base/check.h"
#include "report/result_fields.h"
#include "report/result_text_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMATS = RESULT_LATEX + 1 };

static void put_markdown(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        const char c = *text;
        if (c == '<' || c == '>' || c == '&') {
            (void)fputs(c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;", out);
        } else {
            if (strchr("\\|*_`[]", c) != NULL) {
                (void)fputc('\\', out);
            }
            (void)fputc(c == '\n' || c == '\r' ? ' ' : c, out);
        }
    }
}

static void put_csv(FILE *out, const char *text)
{
    (void)fputc('"', out);
    if (text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL) {
        (void)fputc('\'', out); /* else a spreadsheet would compute it */
    }
    for (; *text != '\0'; text++) {
        (void)fputs(*text == '"' ? "\"" : "", out);
        (void)fputc(*text == '\n' || *text == '\r' ? ' ' : *text, out);
    }
    (void)fputc('"', out);
}

static void put_latex(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        const char c = *text;
        if (c == '\\' || c == '~' || c == '^' || c == '<' || c == '>' || c == '|') {
            (void)fputs(c == '\\'  ? "\\textbackslash{}"
                        : c == '~' ? "\\textasciitilde{}"
                        : c == '^' ? "\\textasciicircum{}"
                        : c == '<' ? "\\textless{}"
                        : c == '>' ? "\\textgreater{}"
                                   : "\\textbar{}",
                        out);
        } else {
            if (strchr("#$%&_{}", c) != NULL) {
                (void)fputc('\\', out);
            }
            (void)fputc(c == '\n' || c == '\r' ? ' ' : c, out);
        }
    }
}

static const struct layout layouts[FORMATS] = {
    [RESULT_MARKDOWN] = {"md", "| ", " | ", " |\n", 6, put_markdown, false, true, "", "", "", "\n"},
    [RESULT_CSV] = {"csv", "", ",", "\n", 17, put_csv, true, false, "", "", "", "\n"},
    [RESULT_LATEX] = {"tex", "", " & ", " \\\\\n", 6, put_latex, false, false, "\\begin{tabular}{",
                      "}\n", "\\hline\n", "\\end{tabular}\n\n"},
};

bool result_format_of(enum result_format *out, const char *name)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (strcmp(layouts[i].name, name) == 0) {
            *out = (enum result_format)i;
            return true;
        }
    }
    return false;
}

/* A list of the result. */
struct list {
    const struct field *field;
    const char *item;
    size_t count;
    bool has_tables; /* its items are answers, of which tables take some out */
};

static bool is_listed(const struct list *list, size_t i)
{
    const struct result_answer *answer =
        (const struct result_answer *)(const void *)(list->item + i * list->field->item_size);
    return !list->has_tables || answer->table[0] == '\0';
}

static bool is_text(const struct field *field)
{
    return field->kind == FIELD_TEXT || field->kind == FIELD_NOTE;
}

static double number_of(const struct field *field, const char *item)
{
    double value = NAN;
    uint32_t count = 0;
    if (field->kind == FIELD_REAL) {
        memcpy(&value, item + field->offset, sizeof value);
    } else if (field->kind == FIELD_COUNT && field->size == sizeof count) {
        memcpy(&count, item + field->offset, sizeof count);
        value = count;
    }
    return value;
}

/* Some row knows it. */
static bool is_column(const struct list *list, const struct field *field)
{
    bool known = false;
    for (size_t i = 0; i < list->count && !known; i++) {
        const char *item = list->item + i * list->field->item_size;
        known = !is_listed(list, i) ? false
                : is_text(field)    ? item[field->offset] != '\0'
                                    : isfinite(number_of(field, item));
    }
    return known;
}

static void put_cell(FILE *out, const struct layout *layout, const struct field *field,
                     const char *item)
{
    if (is_text(field)) {
        layout->put(out, item + field->offset);
    } else if (isfinite(number_of(field, item))) {
        (void)fprintf(out, "%.*g", layout->digits, number_of(field, item));
    }
}

/* item: NULL for the head. */
static void put_row(FILE *out, const struct layout *layout, const struct list *list,
                    const struct result *result, const char *item)
{
    const char *before = layout->open;
    for (const struct field *field = list->field->row; field->key != NULL; field++) {
        if (is_column(list, field)) {
            (void)fputs(before, out);
            before = layout->between;
            if (item == NULL) {
                layout->put(out, field->key);
            } else {
                put_cell(out, layout, field, item);
            }
        }
    }
    if (layout->is_raw && item == NULL) {
        (void)fputs(",\"epsilon\",\"delta\",\"private\"", out);
    } else if (layout->is_raw) {
        (void)fprintf(out, ",%.17g,%.17g,%s", result->privacy.epsilon, result->privacy.delta,
                      result->private ? "true" : "false");
    }
    (void)fputs(layout->close, out);
}

static void put_rule(FILE *out, const struct layout *layout, const struct list *list)
{
    for (const struct field *field = list->field->row; field->key != NULL; field++) {
        if (is_column(list, field) && layout->is_ruled) {
            (void)fputs(is_text(field) ? "|---" : "|---:", out);
        }
    }
    (void)fputs(layout->is_ruled ? "|\n" : layout->rule, out);
}

void result_put_price(FILE *out, const struct layout *layout, const struct result *result)
{
    char text[2 * RESULT_NAME_BYTES + 128];
    (void)snprintf(
        text, sizeof text, "%sepsilon %.6g, delta %.6g for one %s; trust %s.",
        result->private ? "" : "NOT PRIVATE, the noise is known: ", result->privacy.epsilon,
        result->privacy.delta, result->privacy.unit, result->privacy.trust);
    if (!layout->is_raw) {
        layout->put(out, text);
        (void)fputs("\n\n", out);
    }
}

static void put_list(FILE *out, const struct layout *layout, const struct result *result,
                     const struct list *list)
{
    result_put_price(out, layout, result);
    (void)fputs(layout->begin, out);
    for (const struct field *field = list->field->row;
         layout->begin[0] != '\0' && field->key != NULL; field++) {
        (void)fputs(!is_column(list, field) ? "" : is_text(field) ? "l" : "r", out);
    }
    (void)fputs(layout->ready, out);
    put_row(out, layout, list, result, NULL);
    put_rule(out, layout, list);
    for (size_t i = 0; i < list->count; i++) {
        if (is_listed(list, i)) {
            put_row(out, layout, list, result, list->item + i * list->field->item_size);
        }
    }
    (void)fputs(layout->end, out);
}

enum status result_to_text(char **text, const struct result *result, enum result_format format)
{
    static const char *const keys[] = {"answers", "effects", "sites", "curves"};
    size_t size = 0;
    *text = NULL;
    FILE *out = open_memstream(text, &size);
    if (out == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const struct field *field = result_fields;
        struct list list = {.field = NULL};
        while (field->key != NULL && strcmp(field->key, keys[i]) != 0) {
            field++;
        }
        CHECK(field->kind == FIELD_LIST);
        list.field = field;
        memcpy(&list.item, (const char *)result + field->offset, sizeof list.item);
        memcpy(&list.count, (const char *)result + field->count_offset, sizeof list.count);
        list.has_tables = field->row == result_answer_fields;
        bool is_any = false;
        for (size_t j = 0; j < list.count && !is_any; j++) {
            is_any = is_listed(&list, j);
        }
        const bool is_by_site =
            field->row == result_effect_fields || field->row == result_site_fields;
        if (is_by_site && !layouts[format].is_raw) {
            if (field->row == result_effect_fields) {
                result_put_effects(out, &layouts[format], result);
            }
        } else if (is_any) {
            put_list(out, &layouts[format], result, &list);
        }
        if (list.has_tables) {
            result_put_tables(out, &layouts[format], result);
        }
    }
    const bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        free(*text);
        *text = NULL;
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}
