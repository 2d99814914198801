/* Lines of widths to expect: half of an interval, and how many records it needs. */

#include "base/text.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void query_say_needed(struct terms_line *line, const char *who, double needed, double has,
                      bool is_given)
{
    char *text = line->what;
    if (!isfinite(needed)) {
        text_add(text, sizeof line->what, "; no number of records would be enough: raise epsilon");
    } else if (!is_given && has > 0 && has < needed) {
        text_add(text, sizeof line->what,
                 "; too few records: %s needs about %.0f records and has about %.0f", who,
                 ceil(needed), has);
    } else {
        text_add(text, sizeof line->what, "; %s needs about %.0f records", who, ceil(needed));
    }
}

void query_place(struct terms_line *line, const struct query *query, const char *row,
                 enum terms_of of, double has, double needs)
{
    line->place =
        (struct terms_place){.question = strlen(query->text), .of = of, .has = has, .needs = needs};
    (void)snprintf(line->place.row, sizeof line->place.row, "%s", row);
}

struct terms_line *query_add_cell(const struct query_asking *asking, const char *taken,
                                  const char *format, ...)
{
    struct terms_line *line = terms_add_line(asking->terms);
    va_list arguments;
    if (line == NULL) {
        return NULL;
    }
    text_add(line->what, sizeof line->what, "%s: ", asking->query->text);
    va_start(arguments, format);
    text_add_list(line->what, sizeof line->what, format, arguments);
    va_end(arguments);
    (void)snprintf(line->unit, sizeof line->unit, "records");
    line->noise = asking->deviation;
    line->bar = asking->step * query_noise_bar(asking->noise, 0, TERMS_BAR_MISSES);
    query_place(line, asking->query, "", TERMS_OF_NONE, 0, 0);
    line->place.taken = taken;
    return line;
}

__attribute__((format(printf, 4, 0))) static struct terms_line *
add(const struct query_asking *asking, const struct query_width *width, const char *before,
    const char *format, va_list arguments)
{
    struct terms_line *line = terms_add_line(asking->terms);
    if (line == NULL) {
        return NULL;
    }
    line->is_expected = true;
    text_add(line->what, sizeof line->what, "%s: %s", asking->query->text, before);
    text_add_list(line->what, sizeof line->what, format, arguments);
    if (width->who != NULL) {
        query_say_needed(line, width->who, width->needs, width->has, width->is_given);
    }
    (void)snprintf(line->unit, sizeof line->unit, "%s", width->unit);
    query_place(line, asking->query, width->row, width->column, width->has, width->needs);
    return line;
}

struct terms_line *query_add_width(const struct query_asking *asking,
                                   const struct query_width *width, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct terms_line *line = add(asking, width, "", format, arguments);
    va_end(arguments);
    return line;
}

enum status query_add_half(const struct query_asking *asking, const struct query_half *half,
                           const struct query_group *group, const char *format, ...)
{
    const struct query_width width = {.row = half->row,
                                      .column = group->column,
                                      .unit = half->unit,
                                      .who = group->who,
                                      .needs = half->needs,
                                      .has = group->has,
                                      .is_given = !isnan(half->width)};
    va_list arguments;
    va_start(arguments, format);
    struct terms_line *line =
        add(asking, &width, "half of the 95 % interval of the ", format, arguments);
    va_end(arguments);
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    line->bar = half->width;
    line->noise_to_signal = half->is_beside || group->is_beside ? 0
                            : isnan(half->width)                ? 2
                                                                : half->width / half->most;
    line->measure = half->measure;
    return STATUS_OK;
}

enum status query_add_count(const struct query_asking *asking, const struct query_counted *counted,
                            const char *format, ...)
{
    /* A count says something where it cannot be none. */
    const bool is_given = !(2 * counted->half > asking->records);
    const struct query_width width = {.row = counted->row,
                                      .column = counted->column,
                                      .unit = "records",
                                      .who = is_given ? counted->who : "that",
                                      .needs = is_given ? counted->half : 2 * counted->half,
                                      .has = is_given ? 0 : asking->records,
                                      .is_given = is_given};
    va_list arguments;
    va_start(arguments, format);
    struct terms_line *line =
        add(asking, &width, "half of the 95 % interval of ", format, arguments);
    va_end(arguments);
    if (line == NULL) {
        return STATUS_NO_MEMORY;
    }
    line->bar = is_given ? counted->half : NAN;
    line->noise_to_signal = 0;
    line->measure = "the noise alone; another figure is the question's main one";
    return STATUS_OK;
}
