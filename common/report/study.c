#include "report/study.h"

#include "base/check.h"
#include "report/html.h"
#include "json/json_text.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(char *out, size_t size, const char *text)
{
    const size_t length = strlen(text);
    CHECK(length < size);
    memcpy(out, text, length + 1);
}

void study_claim(struct study *study, enum study_relation relation, double measured, double bound,
                 const char *sentence, ...)
{
    CHECK(study->claim_count < STUDY_CLAIMS_MAX);
    struct study_claim *claim = &study->claim[study->claim_count++];
    va_list arguments;
    va_start(arguments, sentence);
    const int length = vsnprintf(claim->sentence, sizeof claim->sentence, sentence, arguments);
    va_end(arguments);
    CHECK(length >= 0 && (size_t)length < sizeof claim->sentence);
    claim->relation = relation;
    claim->measured = measured;
    claim->bound = bound;
    claim->holds = relation == STUDY_AT_MOST ? measured <= bound : measured >= bound;
}

struct study_chart *study_chart(struct study *study, const struct study_chart *words)
{
    CHECK(study->chart_count < STUDY_CHARTS_MAX && words->series_count == 0);
    struct study_chart *chart = &study->chart[study->chart_count++];
    *chart = *words;
    return chart;
}

struct study_series *study_series(struct study_chart *chart, enum study_line line, unsigned hue,
                                  const char *name)
{
    CHECK(chart->series_count < STUDY_SERIES_MAX);
    struct study_series *series = &chart->series[chart->series_count++];
    say(series->name, sizeof series->name, name);
    series->line = line;
    series->hue = hue;
    return series;
}

void study_point(struct study_series *series, double x, double y)
{
    CHECK(series->count < STUDY_POINTS_MAX);
    series->x[series->count] = x;
    series->y[series->count] = y;
    series->count++;
}

void study_columns(struct study_table *table, size_t count, const char *const *text)
{
    CHECK(count <= STUDY_COLUMNS_MAX && table->row_count == 0);
    for (size_t i = 0; i < count; i++) {
        say(table->column[i], sizeof table->column[i], text[i]);
    }
    table->column_count = count;
}

void study_row(struct study_table *table, size_t count, const char *const *text)
{
    CHECK(table->row_count < STUDY_ROWS_MAX && count == table->column_count);
    for (size_t i = 0; i < count; i++) {
        say(table->cell[table->row_count][i], STUDY_CELL_BYTES, text[i]);
    }
    table->row_count++;
}

bool study_holds(const struct study *study)
{
    bool holds = study->claim_count > 0;
    for (size_t i = 0; i < study->claim_count; i++) {
        holds = holds && study->claim[i].holds;
    }
    return holds;
}

static json_t *claims(const struct study *study)
{
    json_t *list = json_array();
    for (size_t i = 0; i < study->claim_count; i++) {
        const struct study_claim *claim = &study->claim[i];
        json_add(&list,
                 json_pack("{s:s, s:s, s:o, s:o, s:b}", "sentence", claim->sentence, "relation",
                           claim->relation == STUDY_AT_MOST ? "at most" : "at least", "measured",
                           json_number(claim->measured), "bound", json_number(claim->bound),
                           "holds", claim->holds));
    }
    return list;
}

static json_t *points(const struct study_series *series)
{
    json_t *list = json_array();
    for (size_t i = 0; i < series->count; i++) {
        json_add(&list, json_pack("[o, o]", json_number(series->x[i]), json_number(series->y[i])));
    }
    return list;
}

static json_t *chart_json(const struct study_chart *chart)
{
    json_t *lines = json_array();
    for (size_t i = 0; i < chart->series_count; i++) {
        const struct study_series *series = &chart->series[i];
        json_add(&lines, json_pack("{s:s, s:s, s:i, s:o}", "name", series->name, "line",
                                   series->line == STUDY_MEASURED ? "measured" : "bound", "hue",
                                   (int)series->hue, "points", points(series)));
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:o}", "title", chart->title, "text",
                     chart->text, "x", chart->x_title, "y", chart->y_title, "x_log", chart->x_log,
                     "y_log", chart->y_log, "series", lines);
}

static json_t *table_json(const struct study_table *table)
{
    json_t *columns = json_array();
    json_t *rows = json_array();
    for (size_t i = 0; i < table->column_count; i++) {
        json_add(&columns, json_string(table->column[i]));
    }
    for (size_t row = 0; row < table->row_count; row++) {
        json_t *cells = json_array();
        for (size_t i = 0; i < table->column_count; i++) {
            json_add(&cells, json_string(table->cell[row][i]));
        }
        json_add(&rows, cells);
    }
    return json_pack("{s:o, s:o}", "columns", columns, "rows", rows);
}

enum status study_to_json(char **json, const struct study *study)
{
    json_t *charts = json_array();
    enum status status = STATUS_OK;
    *json = NULL;
    for (size_t i = 0; i < study->chart_count; i++) {
        json_add(&charts, chart_json(&study->chart[i]));
    }
    json_t *root = json_pack(
        "{s:s, s:s, s:s, s:b, s:s, s:I, s:b, s:o, s:o, s:o, s:o}", "study", study->name, "title",
        study->title, "lede", study->lede, "private", 0, "version", HEDGEROW_VERSION, "seed",
        (json_int_t)study->seed, "holds", study_holds(study), "claims", claims(study), "charts",
        charts, "summary", table_json(&study->summary), "table", table_json(&study->table));
    if (root == NULL) {
        status = STATUS_INVALID; /* a text that is not UTF-8 */
    } else {
        *json = json_text(root, 1, 17);
        status = *json == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    }
    json_decref(root);
    return status;
}

enum status study_report(char **html, const struct study *study)
{
    char *json = NULL;
    *html = NULL;
    enum status status = study_to_json(&json, study);
    if (status == STATUS_OK) {
        status = html_put(html, &html_template_study, json);
    }
    free(json);
    return status;
}
