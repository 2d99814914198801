/* html.h - the report: one self-contained page that a board can read, drawn from a result alone. */

#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include "base/status.h"
#include "report/result.h"

/**
 * Draws the report. It loads nothing from anywhere: a content security policy admits only its own
 * style and scripts, by their digests. Every text of the result is escaped. A result that is not
 * private carries a banner that says so.
 *
 * html  out  malloc'd UTF-8 text; the caller frees it
 *
 * Fails with STATUS_NO_MEMORY, STATUS_INVALID as result_to_json.
 */
MUST_USE enum status html_report(char **html, const struct result *result);

#endif
