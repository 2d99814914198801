/* The page of a study, in the report's own frame: nothing is loaded from anywhere, and only the
 * style and scripts whose digests the policy names are admitted. */

#include "report/assets.h"
#include "report/html_parts.h"
#include "report/study.h"

#include <inttypes.h>
#include <stdlib.h>

static void asset(FILE *page, const char *element, const struct asset *asset)
{
    (void)fprintf(page, "<%s>", element);
    (void)fwrite(asset->bytes, 1, asset->size, page);
    (void)fprintf(page, "</%s>\n", element);
}

static void head(FILE *page, const struct study *study)
{
    size_t held = 0;
    (void)fprintf(page,
                  "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "style-src '%s'; script-src '%s' '%s'; base-uri 'none'; form-action 'none'\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta name=\"referrer\" content=\"no-referrer\">\n<title>NOT PRIVATE \xc2\xb7 ",
                  asset_style.hash, asset_charts.hash, asset_study.hash);
    html_text(page, study->title);
    (void)fputs(" \xc2\xb7 hedgerow study</title>\n", page);
    asset(page, "style", &asset_style);
    (void)fprintf(
        page,
        "</head>\n<body>\n<div class=\"alarm\" role=\"alert\"><strong>NOT PRIVATE</strong> A "
        "study on public or invented records, with noise from the known seed %" PRIu64
        ": anyone can draw it again.</div>\n<header>\n<div class=\"brand\"><b>hedgerow</b> "
        "study \xc2\xb7 ",
        study->seed);
    html_text(page, study->name);
    (void)fputs("</div>\n<h1>", page);
    html_text(page, study->title);
    (void)fputs("</h1>\n<p class=\"lede\">", page);
    html_text(page, study->lede);
    (void)fputs("</p>\n</header>\n<main>\n", page);
    for (size_t i = 0; i < study->claim_count; i++) {
        held += study->claim[i].holds;
    }
    (void)fprintf(page, "<section>\n<h2>%zu of %zu claims hold</h2>\n", held, study->claim_count);
}

static void claims(FILE *page, const struct study *study)
{
    (void)fputs("<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\" class=\"text\">claim"
                "</th><th scope=\"col\">measured</th><th scope=\"col\"></th><th scope=\"col\">bound"
                "</th><th scope=\"col\">holds</th></tr></thead>\n<tbody>\n",
                page);
    for (size_t i = 0; i < study->claim_count; i++) {
        const struct study_claim *claim = &study->claim[i];
        (void)fprintf(page, "<tr%s><td class=\"text\">", claim->holds ? "" : " class=\"pooled\"");
        html_text(page, claim->sentence);
        (void)fprintf(page, "</td><td>%.5g</td><td>%s</td><td>%.5g</td><td>%s</td></tr>\n",
                      claim->measured,
                      claim->relation == STUDY_AT_MOST ? "at&nbsp;most" : "at&nbsp;least",
                      claim->bound, claim->holds ? "yes" : "<strong>NO</strong>");
    }
    (void)fputs("</tbody></table></div>\n</section>\n", page);
}

static void charts(FILE *page, const struct study *study)
{
    if (study->chart_count == 0) {
        return;
    }
    (void)fputs("<section>\n<h2>The pictures</h2>\n<p>Drawn through: measured. Dashed: what theory "
                "says, or what it is compared with.</p>\n<div class=\"cards\">\n",
                page);
    for (size_t i = 0; i < study->chart_count; i++) {
        const struct study_chart *chart = &study->chart[i];
        (void)fprintf(page, "<figure class=\"card%s\"><figcaption><h3>",
                      i + 1 == study->chart_count && i % 2 == 0 ? " wide" : "");
        html_text(page, chart->title);
        (void)fputs("</h3><p>", page);
        html_text(page, chart->text);
        (void)fprintf(page,
                      "</p></figcaption>\n<div class=\"plot dots\"><canvas id=\"chart-%zu\" "
                      "role=\"img\" aria-label=\"",
                      i);
        html_text(page, chart->title);
        (void)fputs(". The figures are in the table below.\"></canvas></div></figure>\n", page);
    }
    (void)fputs("</div>\n</section>\n", page);
}

/* Words stand at the left, figures at the right: a column without one number is of words. */
static bool is_text(const struct study *study, size_t column)
{
    bool text = true;
    for (size_t row = 0; row < study->row_count; row++) {
        char *end = NULL;
        (void)strtod(study->cell[row][column], &end);
        text = text && end == study->cell[row][column];
    }
    return text;
}

static void table(FILE *page, const struct study *study)
{
    bool text[STUDY_COLUMNS_MAX];
    if (study->row_count == 0) {
        return;
    }
    (void)fputs("<section>\n<h2>The figures</h2>\n<details><summary>All that was measured</summary>"
                "<div class=\"scroll\"><table>\n<thead><tr>",
                page);
    for (size_t i = 0; i < study->column_count; i++) {
        text[i] = is_text(study, i);
        (void)fprintf(page, "<th scope=\"col\"%s>", text[i] ? " class=\"text\"" : "");
        html_text(page, study->column[i]);
        (void)fputs("</th>", page);
    }
    (void)fputs("</tr></thead>\n<tbody>\n", page);
    for (size_t row = 0; row < study->row_count; row++) {
        (void)fputs("<tr>", page);
        for (size_t i = 0; i < study->column_count; i++) {
            (void)fputs(text[i] ? "<td class=\"text\">" : "<td>", page);
            html_text(page, study->cell[row][i]);
            (void)fputs("</td>", page);
        }
        (void)fputs("</tr>\n", page);
    }
    (void)fputs("</tbody></table></div></details>\n</section>\n", page);
}

static void foot(FILE *page)
{
    (void)fputs(
        "</main>\n<footer>\n<p>Written by hedgerow " HEDGEROW_VERSION
        ". This page holds all it shows and loads nothing.</p>\n<details><summary>Licence of "
        "the embedded Chart.js</summary><p>",
        page);
    for (size_t i = 0; i < asset_charts_licence.size; i++) {
        const char one[2] = {(char)asset_charts_licence.bytes[i], '\0'};
        html_text(page, one[0] == '\n' ? " " : one);
    }
    (void)fputs("</p></details>\n</footer>\n", page);
}

enum status study_report(char **html, const struct study *study)
{
    size_t size = 0;
    char *json = NULL;
    FILE *page = NULL;
    *html = NULL;
    enum status status = study_to_json(&json, study);
    if (status == STATUS_OK) {
        page = open_memstream(html, &size);
        status = page == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    }
    if (status == STATUS_OK) {
        head(page, study);
        claims(page, study);
        charts(page, study);
        table(page, study);
        foot(page);
        (void)fputs("<script type=\"application/json\" id=\"data\">", page);
        html_json(page, json);
        (void)fputs("</script>\n", page);
        asset(page, "script", &asset_charts);
        asset(page, "script", &asset_study);
        (void)fputs("</body>\n</html>\n", page);
        if (fclose(page) != 0) {
            free(*html);
            *html = NULL;
            status = STATUS_NO_MEMORY;
        }
    }
    free(json);
    return status;
}
