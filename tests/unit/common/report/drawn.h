/* drawn.h - a result's report as it is written and as a reader sees it, for tests. */

#ifndef TESTS_DRAWN_H
#define TESTS_DRAWN_H

#include "report/html.h"

#include "example_result.h"
#include "rendered.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/** Returns the report as it is written; the caller frees it, here and below. */
static inline char *made(const struct result *result)
{
    char *html = NULL;
    cr_assert(html_report(&html, result) == STATUS_OK);
    return html;
}

/** Returns the report as its reader sees it. */
static inline char *drawn(const struct result *result)
{
    return rendered(made(result));
}

/** Returns how often a text stands in another. */
static inline size_t occurrences(const char *text, const char *what)
{
    size_t count = 0;
    const size_t bytes = strlen(text);
    for (size_t at = 0; at < bytes; at++) {
        count += strncmp(text + at, what, strlen(what)) == 0 ? 1 : 0;
    }
    return count;
}

#endif
