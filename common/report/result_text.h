/* result_text.h - a result's answers and curves as tables to copy: Markdown, CSV, LaTeX. */

#ifndef REPORT_RESULT_TEXT_H
#define REPORT_RESULT_TEXT_H

#include "report/result.h"

enum result_format { RESULT_MARKDOWN, RESULT_CSV, RESULT_LATEX };

/** Finds a format by its name: md, csv, tex. Returns false where there is none of that name. */
bool result_format_of(enum result_format *out, const char *name);

/**
 * Writes the tables of answers and of curves, each where there are any. A column is a field of result.json that some row knows.
 * A question that is a table has one of its own: figures down, groups across.
 * Each table is of one stage. It tells the stage's epsilon and delta, which pay for all of the stage's answers, the job's,
 * and whether it is private at all: in a sentence. In CSV tables are of all stages, and these are columns of every row; what
 * the stage cost is empty where a file of an older version does not tell it.
 *
 * text  out  malloc'd; the caller frees it
 *
 * Numbers have 6 significant digits, in CSV 17. What is not known is an empty cell. Texts are escaped: none becomes markup, or a
 * spreadsheet's formula.
 * Fails with STATUS_NO_MEMORY.
 */
MUST_USE enum status result_to_text(char **text, const struct result *result,
                                    enum result_format format);

#endif
