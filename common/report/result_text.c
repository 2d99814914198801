#include "report/result_text.h"

#include "base/check.h"
#include "base/text.h"
#include "report/result_fields.h"
#include "report/result_text_private.h"

#include <math.h>
#include <stdio.h>
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
    bool has_tables; /* its items are answers; tables take some of them out */
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

static uint32_t round_of(const struct field *list, const char *item)
{
    const struct field *field = list->row;
    while (strcmp(field->key, "round") != 0) {
        field++;
    }
    return (uint32_t)number_of(field, item);
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
        result_put_price_head(out);
    } else if (layout->is_raw) {
        result_put_price_cells(out, result, round_of(list->field, item));
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

void result_put_price_head(FILE *out)
{
    (void)fputs(",\"epsilon\",\"delta\",\"job_epsilon\",\"job_delta\",\"private\"", out);
}

void result_put_price_cells(FILE *out, const struct result *result, uint32_t round)
{
    const struct result_release *stage = result_stage_of(result, round);
    if (stage != NULL) {
        (void)fprintf(out, ",%.17g,%.17g", stage->epsilon, stage->delta);
    } else {
        (void)fputs(",,", out);
    }
    (void)fprintf(out, ",%.17g,%.17g,%s", result->privacy.epsilon, result->privacy.delta,
                  result->private ? "true" : "false");
}

void result_put_price(FILE *out, const struct layout *layout, const struct result *result,
                      uint32_t round)
{
    const struct result_release *stage = result_stage_of(result, round);
    char own[128] = "";
    char text[2 * RESULT_NAME_BYTES + 256];
    if (stage != NULL) {
        (void)snprintf(own, sizeof own, "epsilon %.6g, delta %.6g for all answers of this stage; ",
                       stage->epsilon, stage->delta);
    }
    (void)snprintf(
        text, sizeof text,
        "%s%sepsilon %.6g, delta %.6g for the whole job. Each is the price of one %s; trust %s.",
        result->private ? "" : "NOT PRIVATE, the noise is known: ", own, result->privacy.epsilon,
        result->privacy.delta, result->privacy.unit, result->privacy.trust);
    if (!layout->is_raw) {
        layout->put(out, text);
        (void)fputs("\n\n", out);
    }
}

static void put_list(FILE *out, const struct layout *layout, const struct result *result,
                     const struct list *list)
{
    result_put_price(out, layout, result, round_of(list->field, list->item));
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

static bool is_any_listed(const struct list *list)
{
    bool is = false;
    for (size_t i = 0; i < list->count && !is; i++) {
        is = is_listed(list, i);
    }
    return is;
}

/* A table for each stage, which has one price. A program reads the price in every row, of one table. */
static void put_by_stage(FILE *out, const struct layout *layout, const struct result *result,
                         const struct list *list)
{
    const struct result_release *stage = NULL;
    const struct result_release *next = NULL;
    uint32_t round = 0;
    size_t from = 0;
    for (size_t i = 0; i <= list->count; i++) {
        if (i < list->count) {
            const uint32_t of = round_of(list->field, list->item + i * list->field->item_size);
            next = i > 0 && of == round ? next : result_stage_of(result, of);
            round = of;
            stage = i == 0 ? next : stage;
        }
        if (i == list->count || (next != stage && !layout->is_raw)) {
            struct list part = *list;
            part.item += from * list->field->item_size;
            part.count = i - from;
            if (is_any_listed(&part)) {
                put_list(out, layout, result, &part);
            }
            from = i;
            stage = next;
        }
    }
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
        const bool is_by_site =
            field->row == result_effect_fields || field->row == result_site_fields;
        if (is_by_site && !layouts[format].is_raw) {
            if (field->row == result_effect_fields) {
                result_put_effects(out, &layouts[format], result);
            }
        } else {
            put_by_stage(out, &layouts[format], result, &list);
        }
        if (list.has_tables) {
            result_put_tables(out, &layouts[format], result);
        }
    }
    return text_close(text, out);
}
