/* html.h - pages that a board can read: a template that is embedded, and the data that its scripts draw. */

#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include "base/status.h"
#include "report/result.h"

/* A template of this folder with its style and scripts, made by Embed.cmake. A content security policy admits nothing but
 * these, by their digests. The data stand between the two halves. */
struct html_template {
    const unsigned char *before;
    size_t before_size;
    const unsigned char *after;
    size_t after_size;
};

extern const struct html_template html_template_page;
extern const struct html_template html_template_study;

/** Puts JSON into a template, written so that it cannot end its element. html: out, malloc'd UTF-8 text; the caller
 * frees it. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status html_put(char **html, const struct html_template *template, const char *json);

/** Makes the report's page, which loads nothing. html: out, as above. Fails as result_to_json. */
MUST_USE enum status html_report(char **html, const struct result *result);

#endif
