/* rendered.h - what a page of common/report shows once its scripts ran, for tests. Needs nodejs (scripts/install test). */

#ifndef TESTS_RENDERED_H
#define TESTS_RENDERED_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Returns the page as its reader sees it, HTML again; takes html, the caller frees the text. */
static inline char *rendered(char *html)
{
    char path[] = "/tmp/hedgerow-page-XXXXXX";
    char command[4096];
    char *text = NULL;
    size_t size = 0;
    const int file = mkstemp(path);
    cr_assert(file >= 0 && write(file, html, strlen(html)) == (ssize_t)strlen(html));
    cr_assert(close(file) == 0);
    (void)snprintf(command, sizeof command,
                   "node '" TEST_VECTORS "/../unit/common/report/render.js' %s", path);
    FILE *out = popen(/* NOLINT(cert-env33-c): the test's own command */
                      command, "r");
    FILE *copy = open_memstream(&text, &size);
    cr_assert(out != NULL && copy != NULL);
    for (int c = fgetc(out); c != EOF; c = fgetc(out)) {
        (void)fputc(c, copy);
    }
    const int end = pclose(out);
    cr_assert(fclose(copy) == 0 && unlink(path) == 0);
    cr_assert(end == 0, "render.js fails; is nodejs installed?");
    free(html);
    return text;
}

#endif
