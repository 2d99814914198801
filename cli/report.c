#include "base/file.h"
#include "cli/command.h"
#include "config/options.h"
#include "report/html.h"
#include "report/result_text.h"

#include <stdlib.h>
#include <string.h>

struct asked {
    const char *path;
    const char *out;
    const char *format; /* NULL: the page */
    enum result_format as;
};

static enum status draw(const struct asked *asked, struct why *why)
{
    char *text = NULL;
    char *drawn = NULL;
    size_t size = 0;
    struct result result;
    enum status status;

    result_init(&result);
    status = file_read(&text, &size, asked->path, RESULT_FILE_BYTES_MAX, why);
    if (status == STATUS_OK) {
        status = result_from_json(&result, (struct slice){text, size}, asked->path, why);
    }
    if (status == STATUS_OK) {
        status = asked->format == NULL ? html_report(&drawn, &result)
                                       : result_to_text(&drawn, &result, asked->as);
    }
    if (status == STATUS_OK && drawn[0] == '\0') {
        why_set(why,
                "%s: has no answers and no curves to print; remedy: draw the page, with --out "
                "report.html and without --format",
                asked->path);
        status = STATUS_INVALID;
    }
    if (status == STATUS_OK && asked->out != NULL) {
        status = file_write(asked->out, (struct slice){drawn, strlen(drawn)}, 0644, why);
    } else if (status == STATUS_OK) {
        (void)fputs(drawn, stdout);
    }
    free(drawn);
    free(text);
    result_free(&result);
    return status;
}

enum exit_code run_report(const struct command *command, int count, char **argument)
{
    struct asked asked = {.path = NULL};
    struct why why = {""};
    const struct option option[] = {
        {.text = &asked.path, .required = true, .what = "RESULT.json"},
        {.name = "--out", .text = &asked.out, .what = "report.html"},
        {.name = "--format", .text = &asked.format, .what = "md|csv|tex"}};

    if (options_read(OPTIONS(option), count, argument, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    if (asked.format != NULL && !result_format_of(&asked.as, asked.format)) {
        return command_fail(command, EXIT_CODE_USAGE,
                            "--format: there is no \"%s\"; there are md, csv and tex",
                            asked.format);
    }
    if (asked.format == NULL && asked.out == NULL) {
        return command_fail(command, EXIT_CODE_USAGE,
                            "--out is missing: say where the page goes, such as --out report.html");
    }
    return command_end(command, draw(&asked, &why), &why);
}
