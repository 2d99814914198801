/* What was asked and answered, and what every stage let out at which noise and price. The pictures
 * are lines of a drawing inside the page: they need no script, and print. */

#include "report/html_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_MAX = 1000, BAR_WIDTH = 180, BAR_HEIGHT = 18, DIGITS = 5 };

/* The range that answers of one unit are drawn on. */
struct range {
    double low;
    double high;
};

static void take(struct range *range, double value)
{
    if (isfinite(value)) {
        range->low = fmin(range->low, value);
        range->high = fmax(range->high, value);
    }
}

/* A histogram's cells are drawn as columns from 0. */
static bool is_column(const struct result_answer *answer)
{
    return strncmp(answer->name, "histogram", strlen("histogram")) == 0;
}

static struct range range_of(const struct result *result, const char *unit)
{
    struct range range = {INFINITY, -INFINITY};
    for (size_t i = 0; i < result->answer_count && i < ROWS_MAX; i++) {
        const struct result_answer *answer = &result->answer[i];
        if (strcmp(answer->unit, unit) == 0) {
            take(&range, is_column(answer) ? 0 : NAN);
            take(&range, answer->value);
            take(&range, answer->low);
            take(&range, answer->high);
            take(&range, answer->exact);
        }
    }
    return range;
}

static double place(const struct range *range, double value)
{
    const double width = range->high - range->low;
    const double share = width > 0 && isfinite(width) ? (value - range->low) / width : 0.5;
    return 6 + share * (BAR_WIDTH - 12);
}

static void picture(FILE *page, const struct result *result, const struct result_answer *answer)
{
    const struct range range = range_of(result, answer->unit);
    (void)fprintf(page,
                  "<td class=\"picture\"><svg width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
                  "aria-hidden=\"true\">",
                  BAR_WIDTH, BAR_HEIGHT, BAR_WIDTH, BAR_HEIGHT);
    if (isfinite(answer->value) && is_column(answer)) {
        const double from = place(&range, 0);
        (void)fprintf(
            page, "<rect class=\"column\" x=\"%.1f\" width=\"%.1f\" y=\"3\" height=\"12\"/>",
            fmin(from, place(&range, answer->value)), fabs(place(&range, answer->value) - from));
    } else if (isfinite(answer->value)) {
        (void)fprintf(page, "<circle class=\"told\" cx=\"%.1f\" cy=\"9\" r=\"4\"/>",
                      place(&range, answer->value));
    }
    /* In front of the dot or column, with an end at either side: it is seen however short it is. */
    if (isfinite(answer->low) && isfinite(answer->high)) {
        const double low = place(&range, answer->low);
        const double high = place(&range, answer->high);
        (void)fprintf(page, "<path class=\"bar\" d=\"M%.1f 5V13M%.1f 9H%.1fM%.1f 5V13\"/>", low,
                      low, high, high);
    }
    if (isfinite(answer->exact)) {
        (void)fprintf(page, "<line class=\"exact\" x1=\"%.1f\" x2=\"%.1f\" y1=\"1\" y2=\"17\"/>",
                      place(&range, answer->exact), place(&range, answer->exact));
    }
    (void)fputs("</svg></td>", page);
}

static void significant(FILE *page, double value)
{
    if (isfinite(value)) {
        (void)fprintf(page, "%.*g", DIGITS, value);
    } else {
        (void)fputs("\xe2\x80\x93", page);
    }
}

static void number_cell(FILE *page, double value)
{
    (void)fputs("<td>", page);
    significant(page, value);
    (void)fputs("</td>", page);
}

static bool knows_exact(const struct result *result)
{
    for (size_t i = 0; i < result->answer_count; i++) {
        if (isfinite(result->answer[i].exact)) {
            return true;
        }
    }
    return false;
}

static void answer_row(FILE *page, const struct result *result, size_t index, bool exact)
{
    const struct result_answer *answer = &result->answer[index];
    (void)fputs("<tr><th scope=\"row\">", page);
    html_text(page, answer->name);
    if (answer->note[0] != '\0') {
        (void)fputs("<br><small>", page);
        html_text(page, answer->note);
        (void)fputs("</small>", page);
    }
    (void)fputs("</th>", page);
    picture(page, result, answer);
    number_cell(page, answer->value);
    (void)fputs("<td class=\"text\">", page);
    html_text(page, answer->unit);
    (void)fputs("</td>", page);
    if (isfinite(answer->records)) {
        (void)fprintf(page, "<td>%.0f</td>", answer->records);
    } else {
        number_cell(page, answer->records);
    }
    (void)fputs("<td>", page);
    significant(page, answer->low);
    (void)fputs(" to ", page);
    significant(page, answer->high);
    (void)fputs("</td>", page);
    if (exact) {
        number_cell(page, answer->exact);
    }
    number_cell(page, answer->error);
    number_cell(page, answer->sampling);
    (void)fputs("</tr>\n", page);
}

static void answers(FILE *page, const struct result *result)
{
    const bool exact = knows_exact(result);
    if (result->answer_count == 0) {
        return;
    }
    (void)fputs(
        "<section>\n<h2>What was asked, and the answers</h2>\n<p>Every answer carries noise. Each bar "
        "holds the exact answer of the records that took part with a chance of at least 95 %. How well "
        "these records stand for other people is another question: the sampling error answers it.",
        page);
    (void)fputs(
        exact
            ? "<span class=\"drawn\"> In the drawing the dot or the column is the released answer, the line "
              "with two ends the noise, and the coloured upright line the exact answer.</span></p>\n"
            : "<span class=\"drawn\"> In the drawing the dot or the column is the released answer, and the "
              "line with two ends the noise.</span></p>\n",
        page);
    (void)fprintf(
        page,
        "<div class=\"scroll\"><table class=\"long\"><thead><tr><th scope=\"col\">question</th><th "
        "scope=\"col\" class=\"picture\"></th><th scope=\"col\">released answer</th><th scope=\"col\" class=\"text\">unit</th><th "
        "scope=\"col\">of records asked</th><th "
        "scope=\"col\">95 %% bar of the noise</th>%s<th "
        "scope=\"col\">standard error of the noise</th><th scope=\"col\">of sampling, about</th>"
        "</tr></thead><tbody>\n",
        exact ? "<th scope=\"col\">exact <span class=\"tag\">simulator only</span></th>" : "");
    for (size_t i = 0; i < result->answer_count && i < ROWS_MAX; i++) {
        answer_row(page, result, i, exact);
    }
    (void)fputs("</tbody></table></div>\n", page);
    if (result->answer_count > ROWS_MAX) {
        (void)fprintf(page, "<p>The first %d of %zu; result.json has all.</p>\n", (int)ROWS_MAX,
                      result->answer_count);
    }
    (void)fputs("</section>\n", page);
}

static void found(FILE *page, const struct result *result)
{
    bool opened = false;
    for (size_t i = 0; i < result->round_count; i++) {
        if (result->round[i].said == NULL) {
            continue;
        }
        (void)fputs(opened ? ""
                           : "<section>\n<h2>What was found</h2>\n<p>Among what the job lists, by "
                             "everybody\xe2\x80\x99s records, behind noise.</p>\n",
                    page);
        opened = true;
        (void)fputs("<p class=\"said\">", page);
        html_text(page, result->round[i].stage);
        (void)fprintf(page, ", round %u: <strong>", result->round[i].round + 1);
        html_text(page, result->round[i].said);
        (void)fputs("</strong></p>\n", page);
    }
    (void)fputs(opened ? "</section>\n" : "", page);
}

/* And the delta beside it where there is one. */
static void epsilon_cell(FILE *page, double epsilon, double delta)
{
    html_number(page, epsilon, 4);
    if (delta > 0) {
        (void)fprintf(page, ", \xce\xb4 = %.3g", delta);
    }
}

static void stage_cells(FILE *page, const struct result_release *release, bool first)
{
    if (!first) {
        (void)fputs("<td></td><td></td>", page);
        return;
    }
    (void)fputs("<td class=\"text\">", page);
    html_text(page, release->mechanism);
    if (isfinite(release->sigma) && strstr(release->mechanism, "aussian") != NULL) {
        (void)fprintf(page, ", \xcf\x83 %.4g times the sensitivity", release->sigma);
    }
    if (release->sampling < 1) {
        (void)fprintf(page, ", on %.3g of the records at a time", release->sampling);
    }
    (void)fputs("</td><td>", page);
    epsilon_cell(page, release->epsilon, release->delta);
    if (release->passes > 1) {
        (void)fprintf(page, " in %u charges", release->passes);
    }
    (void)fputs("</td>", page);
}

static void release_row(FILE *page, const struct result_release *release, bool first)
{
    (void)fputs("<tr><th scope=\"row\">", page);
    if (first) {
        (void)fprintf(page, "%u ", release->stage + 1);
        html_text(page, release->task);
    }
    (void)fputs("</th><td class=\"text\">", page);
    html_text(page, release->what);
    (void)fputs("</td><td>", page);
    if (isfinite(release->noise)) {
        (void)fprintf(page, "\xc2\xb1 %.3g ", release->noise);
    } else if (isfinite(release->bar)) {
        (void)fprintf(page, release->bar > 0 ? "at most %.3g " : "none, %.3g ", release->bar);
    }
    html_text(page, release->unit);
    if (result_release_is_bar(release)) {
        (void)fputs(" (95 %)", page);
    }
    (void)fputs("</td>", page);
    stage_cells(page, release, first);
    (void)fputs("</tr>\n", page);
}

void html_releases(FILE *page, const struct result *result)
{
    if (result->release_count == 0) {
        return;
    }
    (void)fputs(
        "<section>\n<h2>What was released</h2>\n<p>Stage by stage: the numbers that were "
        "released, the standard deviation of the noise on each, in the number\xe2\x80\x99s own "
        "unit, and what the stage costs by itself. All of it was known before the job began."
        "</p>\n<div class=\"scroll\"><table class=\"long\"><thead><tr><th scope=\"col\">stage</th><th "
        "scope=\"col\" class=\"text\">released</th><th scope=\"col\">noise on it</th><th "
        "scope=\"col\" class=\"text\">mechanism</th><th scope=\"col\">\xce\xb5 of the stage</th>"
        "</tr></thead><tbody>\n",
        page);
    for (size_t i = 0; i < result->release_count && i < ROWS_MAX; i++) {
        const struct result_release *release = &result->release[i];
        release_row(page, release, i == 0 || release[-1].stage != release->stage);
    }
    (void)fputs("</tbody></table></div>\n", page);
    if (result->release_count > ROWS_MAX) {
        (void)fprintf(page, "<p>The first %d of %zu; result.json has all.</p>\n", (int)ROWS_MAX,
                      result->release_count);
    }
    (void)fputs("</section>\n", page);
}

void html_answers(FILE *page, const struct result *result)
{
    answers(page, result);
    found(page, result);
}
