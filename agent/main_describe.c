/* `hedgerow-agent describe`: drafts the data dictionary. Its words go to two places: the draft to the
 * standard output, and what only the site's person may know, such as the number of rows, to the other. */

#include "agent/main.h"
#include "base/exit_code.h"
#include "base/near.h"
#include "describe/describe.h"
#include "io/daemon.h"
#include "learn/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_separator(char *separator, const char *name, char hint[static NEAR_HINT_BYTES])
{
    struct near near = near_to((struct slice){name, name == NULL ? 0 : strlen(name)});
    for (unsigned i = 0; name != NULL && dictionary_separator_name(i) != NULL; i++) {
        near_offer(&near, dictionary_separator_name(i));
        if (strcmp(name, dictionary_separator_name(i)) == 0) {
            *separator = dictionary_separator(i);
            return true;
        }
    }
    (void)near_hint(hint, &near);
    return name == NULL;
}

int main_describe(const struct arguments *arguments)
{
    struct describe_options options = {.record_count = arguments->records};
    struct why why = {{0}};
    char *text = NULL;
    struct describe_counts counts = {0};
    FILE *file = NULL;

    char hint[NEAR_HINT_BYTES];
    if (!read_separator(&options.separator, arguments->separator, hint)) {
        why_set(&why, "--separator %s: write comma, semicolon or tab%s", arguments->separator,
                hint);
        return daemon_usage(PROGRAM, why.text);
    }
    enum status status = table_open_once(&file, arguments->table, &why);

    if (status == STATUS_OK) {
        status = describe_table(&text, &counts, file, arguments->table, &options, &why);
        (void)fclose(file);
    }
    if (status == STATUS_OK && (fputs(text, stdout) == EOF || fflush(stdout) != 0)) {
        why_set(&why, "the draft cannot be written: %s", strerror(errno));
        status = STATUS_IO;
    }
    free(text);
    if (status != STATUS_OK) {
        return daemon_complain(PROGRAM, status, &why);
    }
    (void)fprintf(stderr,
                  PROGRAM ": %s has %" PRIu64 " records. The draft comes from them: correct it "
                          "before you use it.\n",
                  arguments->table, counts.rows);
    if (counts.left > 0) {
        (void)fprintf(stderr,
                      PROGRAM ": column %zu was left out: %s; columns left out in all: %zu\n",
                      counts.left_first, counts.left_reason, counts.left);
    }
    if (counts.cut > 0) {
        (void)fprintf(stderr,
                      PROGRAM
                      ": %" PRIu64
                      " lines are longer than line_bytes, and the rest of them is not used: raise "
                      "line_bytes\n",
                      counts.cut);
    }
    if (counts.commas > 0) {
        (void)fprintf(stderr,
                      PROGRAM ": %" PRIu64 " cells have a decimal comma, and agents read points "
                              "alone: write 1.5 in place of 1,5\n",
                      counts.commas);
    }
    return EXIT_CODE_OK;
}
