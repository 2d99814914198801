/* Forecasts beside the truth are read back from their file, are drawn and marked, and are missing
 * if nobody knows the truth. */

#include "report/html.h"
#include "report/result.h"

#include "tests/unit/common/report/example_result.h"
#include "tests/unit/common/report/rendered.h"

#include <stdlib.h>
#include <string.h>

enum { DAYS = 3 };

static struct result with_forecast(const char *stream)
{
    struct result result = example_result();
    cr_assert_eq(result_reserve(&result, "forecasts", 1), STATUS_OK);
    struct result_forecast *forecast = &result.forecast[0];
    (void)snprintf(forecast->stream, sizeof forecast->stream, "%s", stream);
    forecast->day_count = DAYS;
    forecast->truth = result_numbers(DAYS);
    forecast->told = result_numbers(DAYS);
    for (size_t i = 0; i < DAYS; i++) {
        forecast->truth[i] = 1.5 + (double)i;
        forecast->told[i] = 0.25 * (double)i;
    }
    return result;
}

Test(forecast, survives_its_file)
{
    struct result result = with_forecast("polk");
    struct result back;
    struct why why = {""};
    char *text = NULL;
    cr_assert_eq(result_to_json(&text, &result), STATUS_OK);
    cr_assert_eq(result_from_json(&back, (struct slice){text, strlen(text)}, "r", &why), STATUS_OK,
                 "%s", why.text);
    cr_assert_eq(back.forecast_count, 1);
    cr_assert_eq(back.forecast[0].day_count, DAYS);
    cr_assert_str_eq(back.forecast[0].stream, "polk");
    cr_assert_eq(back.forecast[0].truth[2], 3.5);
    cr_assert_eq(back.forecast[0].told[1], 0.25);
    result_free(&back);
    free(text);
    result_free(&result);
    cr_assert_eq(result.forecast_count, 0);
}

/* Replaces a piece of the file's text and reads it. */
static enum status read_with(const char *piece, const char *by, struct result *back)
{
    struct result result = with_forecast("polk");
    struct why why = {""};
    char *text = NULL;
    cr_assert_eq(result_to_json(&text, &result), STATUS_OK);
    const size_t size = strlen(text) + strlen(by) + 1;
    char *changed = calloc(size, 1);
    const char *at = strstr(text, piece);
    cr_assert_not_null(at, "%s", piece);
    (void)snprintf(changed, size, "%.*s%s%s", (int)(at - text), text, by, at + strlen(piece));
    enum status status =
        result_from_json(back, (struct slice){changed, strlen(changed)}, "r", &why);
    free(changed);
    free(text);
    result_free(&result);
    return status;
}

Test(forecast, files_of_older_programs_have_none_and_wrong_ones_are_refused)
{
    struct result back;
    cr_assert_eq(read_with("\"forecasts\"", "\"other\"", &back), STATUS_OK);
    cr_assert_eq(back.forecast_count, 0);
    result_free(&back);
    cr_assert_eq(read_with("\"truth\": [", "\"truth\": [1.0, ", &back), STATUS_INVALID,
                 "a truth of more days than the forecast");
    cr_assert_eq(read_with("\"stream\": \"polk\"", "\"stream\": 7", &back), STATUS_INVALID);
    cr_assert_eq(read_with("\"truth\"", "\"lies\"", &back), STATUS_INVALID);
    cr_assert_eq(read_with("\"forecasts\": [", "\"forecasts\": [7, ", &back), STATUS_INVALID);
}

Test(forecast, is_drawn_escaped_and_marked)
{
    struct result result = with_forecast("<i>polk</i>");
    char *html = NULL;
    cr_assert_eq(html_report(&html, &result), STATUS_OK);
    html = rendered(html);
    cr_assert_not_null(strstr(html, "id=\"chart-forecast-0\""));
    cr_assert_null(strstr(html, "<i>polk"));
    const char *section = strstr(html, "What did it forecast?");
    cr_assert_not_null(section);
    const char *tag = strstr(section, "simulator only");
    cr_assert(tag != NULL && tag < strstr(section, "</section>"));
    cr_assert_not_null(strstr(section, "<td>3.5000</td><td>0.5000</td>"));
    free(html);
    result_free(&result);
    result = example_result();
    cr_assert_eq(html_report(&html, &result), STATUS_OK);
    html = rendered(html);
    cr_assert_null(strstr(html, "What did it forecast?"));
    free(html);
    result_free(&result);
}
