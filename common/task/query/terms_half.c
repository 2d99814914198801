/* Lines of widths to expect: half of an interval, and how many records it needs. */

#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct terms_line *query_add_expected(struct terms *terms)
{
    struct terms_line *line = terms_add_line(terms);
    if (line != NULL) {
        line->is_expected = true;
    }
    return line;
}

void query_say_needed(char text[static QUERY_NEEDED_BYTES], const char *who, double needed,
                      double has, bool is_given)
{
    if (!isfinite(needed)) {
        (void)snprintf(text, QUERY_NEEDED_BYTES,
                       "no number of records would be enough: raise epsilon");
    } else if (!is_given && has > 0 && has < needed) {
        (void)snprintf(text, QUERY_NEEDED_BYTES,
                       "too few records: %s needs about %.0f records and has about %.0f", who,
                       ceil(needed), has);
    } else {
        (void)snprintf(text, QUERY_NEEDED_BYTES, "%s needs about %.0f records", who, ceil(needed));
    }
}

void query_place(struct terms_line *line, const struct query *query, const char *row,
                 enum terms_of of, double has, double needs)
{
    line->place =
        (struct terms_place){.question = strlen(query->text), .of = of, .has = has, .needs = needs};
    (void)snprintf(line->place.row, sizeof line->place.row, "%s", row);
}

void query_append_needed(struct terms_line *line, const char *needed)
{
    const size_t used = strlen(line->what);
    (void)snprintf(line->what + used, sizeof line->what - used, "; %s", needed);
}

enum status query_add_half(struct terms *terms, const struct query *query,
                           const struct query_half *half)
{
    struct terms_line *line = query_add_expected(terms);
    char needed[QUERY_NEEDED_BYTES];
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    query_say_needed(needed, half->who != NULL ? half->who : "a group", half->group, half->has,
                     !isnan(half->width));
    (void)snprintf(line->what, sizeof line->what, "%s: half of the 95 %% interval of the %s; %s",
                   query->text, half->of, needed);
    (void)snprintf(line->unit, sizeof line->unit, "%s", half->unit);
    line->bar = half->width;
    line->noise_to_signal = half->is_beside ? 0 : isnan(half->width) ? 2 : half->width / half->most;
    line->measure = half->measure;
    query_place(line, query, half->row, half->column, half->has, half->group);
    return STATUS_OK;
}

enum status query_add_count(struct terms *terms, const struct query *query,
                            const struct query_counted *counted)
{
    struct terms_line *line = query_add_expected(terms);
    char needed[QUERY_NEEDED_BYTES];
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    /* A count says something where it cannot be none. */
    const bool is_given = !(2 * counted->half > counted->records);
    query_say_needed(needed, is_given ? counted->who : "that",
                     is_given ? counted->half : 2 * counted->half, is_given ? 0 : counted->records,
                     is_given);
    (void)snprintf(line->what, sizeof line->what, "%s: half of the 95 %% interval of %s; %s",
                   query->text, counted->of, needed);
    (void)snprintf(line->unit, sizeof line->unit, "records");
    line->bar = is_given ? counted->half : NAN;
    line->noise_to_signal = 0;
    line->measure = "the noise alone; another figure is the question's main one";
    query_place(line, query, counted->row, counted->column, is_given ? 0 : counted->records,
                is_given ? counted->half : 2 * counted->half);
    return STATUS_OK;
}
