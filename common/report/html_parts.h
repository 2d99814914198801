/* html_parts.h - the report's sections, and how text gets into a page. Within this folder. Writing
 * goes to a stream in memory, whose errors are met once, when it is closed. */

#ifndef REPORT_HTML_PARTS_H
#define REPORT_HTML_PARTS_H

#include "report/result.h"

#include <stdio.h>

/** Writes a text so that it is text in an element and in a quoted attribute: &, <, >, " and '
 * become references, control characters a replacement character. */
void html_text(FILE *page, const char *text);

/** Writes JSON so that it cannot end its script element: <, > and & become \u003c and the like. */
void html_json(FILE *page, const char *json);

/** Writes a number with so many decimals, or a dash when it is not known. */
void html_number(FILE *page, double value, int decimals);

/** Writes a share as a percentage with one decimal, or a dash. */
void html_percent(FILE *page, double share);

/** Writes a small count as a word, with a capital when it starts a sentence; a large one in digits.
 */
void html_count(FILE *page, size_t count, bool capital);

/** Writes a count with a comma between thousands. */
void html_grouped(FILE *page, size_t count);

/** The questions' answers with their bars, and what was selected or learned of them; nothing where there are none. */
void html_answers(FILE *page, const struct result *result);

/** What every stage released, at which noise and price; nothing in files before there was such. */
void html_releases(FILE *page, const struct result *result);

/** A paragraph that says what the choice was worth; nothing where there was none to make. */
void html_worth(FILE *page, const struct result *result);

/** What is said above the chart of weights: also why they stayed close together, if they did. */
void html_weights_said(char *text, size_t size, const struct result *result);

/** Returns the standard deviation of the noise on a released loss, NAN where it is not told. */
double html_loss_noise(const struct result *result);

/** Writes an expert's mean released loss, NAN without one, and returns of how many rounds it is. */
size_t html_mean_loss(double *mean, const struct result *result, size_t expert);

/** The headline, the four figures and the plain words. */
void html_summary(FILE *page, const struct result *result);

/** The forecasts of a few streams beside the truth, where there are any. */
void html_forecasts(FILE *page, const struct result *result);

/** The tables behind the charts, and what the words mean. */
void html_tables(FILE *page, const struct result *result);

#endif
