/* Forecasts beside the truth, a chart and a table for each stream that is shown. Exact records: the
 * simulator alone knows the truth, and the page says so. */

#include "report/html_parts.h"

static void chart(FILE *page, const struct result_forecast *forecast, size_t number)
{
    (void)fputs("<figure class=\"card\"><figcaption><h3>", page);
    html_text(page, forecast->stream);
    (void)fprintf(page,
                  " <span class=\"tag\">simulator only</span></h3><p>The last %zu days held out: "
                  "what was, and what the chosen model said the day before.</p></figcaption>\n"
                  "<div class=\"plot\"><canvas id=\"chart-forecast-%zu\" role=\"img\" "
                  "aria-label=\"Line chart of the forecasts and the truth of ",
                  forecast->day_count, number);
    html_text(page, forecast->stream);
    (void)fputs(". The figures are in the table below.\"></canvas></div></figure>\n", page);
}

static void table(FILE *page, const struct result_forecast *forecast)
{
    (void)fputs("<details><summary>Forecasts of ", page);
    html_text(page, forecast->stream);
    (void)fputs("</summary><div class=\"scroll\"><table><caption>Simulator only: exact records."
                "</caption><thead><tr><th scope=\"col\">day</th><th scope=\"col\">truth</th><th "
                "scope=\"col\">forecast</th></tr></thead><tbody>\n",
                page);
    for (size_t i = 0; i < forecast->day_count; i++) {
        (void)fprintf(page, "<tr><th scope=\"row\">%zu</th><td>", i + 1);
        html_number(page, forecast->truth[i], 4);
        (void)fputs("</td><td>", page);
        html_number(page, forecast->told[i], 4);
        (void)fputs("</td></tr>\n", page);
    }
    (void)fputs("</tbody></table></div></details>\n", page);
}

void html_forecasts(FILE *page, const struct result *result)
{
    if (result->forecast_count == 0) {
        return;
    }
    (void)fputs(
        "<section>\n<h2>What did it forecast?</h2>\n<p>Each day from the days before it, by "
        "the model the federation chose. The truth is exact, so a deployment has no such "
        "picture: each site can draw its own.</p>\n<div class=\"cards\">\n",
        page);
    for (size_t i = 0; i < result->forecast_count; i++) {
        chart(page, &result->forecast[i], i);
    }
    (void)fputs("</div>\n", page);
    for (size_t i = 0; i < result->forecast_count; i++) {
        table(page, &result->forecast[i]);
    }
    (void)fputs("</section>\n", page);
}
