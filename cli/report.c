#include "base/file.h"
#include "cli/command.h"
#include "config/options.h"
#include "report/html.h"
#include "report/result.h"

#include <stdlib.h>
#include <string.h>

static enum status draw(const char *path, const char *out, struct why *why)
{
    char *text = NULL;
    char *html = NULL;
    size_t size = 0;
    struct result result;
    enum status status;

    result_init(&result);
    status = file_read(&text, &size, path, RESULT_FILE_BYTES_MAX, why);
    if (status == STATUS_OK) {
        status = result_from_json(&result, (struct slice){text, size}, path, why);
    }
    if (status == STATUS_OK) {
        status = html_report(&html, &result);
    }
    if (status == STATUS_OK) {
        status = file_write(out, (struct slice){html, strlen(html)}, 0644, why);
    }
    free(html);
    free(text);
    result_free(&result);
    return status;
}

static enum exit_code run(const struct command *command, int count, char **argument)
{
    const char *path = NULL;
    const char *out = NULL;
    struct why why = {""};
    const struct option option[] = {
        {.text = &path, .required = true, .what = "RESULT.json"},
        {.name = "--out", .text = &out, .required = true, .what = "report.html"}};

    if (options_read(option, sizeof option / sizeof option[0], count, argument, &why) !=
        STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    return command_end(command, draw(path, out, &why), &why);
}

const struct command command_report = {
    .name = "report",
    .summary = "draw result.json as a page that a board can read",
    .help =
        "usage: hedgerow report RESULT.json --out report.html\n\n"
        "Draws the result as one self-contained page: it loads nothing, and needs no network.\n\n"
        "example:\n"
        "  hedgerow report demo-out/result.json --out report.html\n",
    .run = run,
};
