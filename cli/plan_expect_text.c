/* What is expected of a stage, in words and as JSON. */

#include "cli/plan_job.h"

#include "base/text.h"
#include "json/json_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELL_BYTES = 48, PERCENT = 100, FIGURE_WIDTH = 21, NAME_WIDTH = 11 };

const char *job_expected_measure(const struct job_expected *expected)
{
    return expected->kind != LABEL_NUMBER ? "accuracy"
           : expected->is_pinball         ? "pinball"
                                          : "root_mean_square";
}

/* width: 0 at a line's end. */
static void print_figure(const struct rehearsal_figure *figure, int width)
{
    char text[CELL_BYTES];
    (void)snprintf(text, sizeof text, "%.1f (%.1f to %.1f)", PERCENT * figure->mean,
                   PERCENT * figure->low, PERCENT * figure->high);
    (void)printf("  %-*s", width, text);
}

/* The row of the same trust and the next smaller epsilon, or NULL. */
static const struct job_expected_row *row_before(const struct job_expected *expected, size_t row)
{
    for (size_t i = row; i-- > 0;) {
        if (strcmp(expected->row[i].trust, expected->row[row].trust) == 0) {
            return &expected->row[i];
        }
    }
    return NULL;
}

/* All rows are played on the same tables with the same draws, so a row that loses more than one of less epsilon has another
 * plan: fewer or more steps, or another look. */
static void print_turns(const struct job_expected *expected)
{
    const struct job_expected_row *worst = NULL;
    const struct job_expected_row *other = NULL;
    double most = JOB_ENOUGH;
    for (size_t i = 0; i < expected->count; i++) {
        const struct job_expected_row *before = row_before(expected, i);
        const double more =
            before == NULL ? 0 : expected->row[i].answer.lost.mean - before->answer.lost.mean;
        if (more > most) {
            most = more;
            worst = &expected->row[i];
            other = before;
        }
    }
    if (worst != NULL) {
        text_wrap(
            stdout, 0, 0,
            "Under trust %s these tables lose more at epsilon %.6g than at %.6g. The noise is "
            "smaller, but the stage plans its look and its steps by epsilon, and they suit "
            "these tables less.",
            worst->trust, (double)worst->epsilon_micro / 1e6, (double)other->epsilon_micro / 1e6);
    }
}

/* How far the figure of this job depends on which tables were made up. */
static void print_error(const struct job_expected *expected)
{
    for (size_t i = 0; i < expected->count; i++) {
        const struct rehearsal_answer *answer = &expected->row[i].answer;
        if (expected->row[i].is_own && isfinite(answer->lost.error)) {
            text_wrap(stdout, 0, 0,
                      "This job's %.1f points lost are a mean over %zu tables: other tables would "
                      "move it by %.1f (one standard error).",
                      PERCENT * answer->lost.mean, answer->tables, PERCENT * answer->lost.error);
        }
    }
}

/* What rows are silent about: the made-up labels are of linear models. */
static void print_products(const struct job_expected *expected)
{
    bool any = false;
    for (size_t i = 0; i < expected->count; i++) {
        any = any || expected->row[i].tries_products;
    }
    if (any) {
        text_wrap(
            stdout, 0, 0,
            "* This plan also tries products of columns, and keeps those that tell "
            "something. The made-up labels follow linear models, so its row is what to expect "
            "where none tells anything. A label that bends, or that two columns decide "
            "together, gains more than this row and than 'without privacy'.");
    }
}

/* "with roughly 20000 records of each agent", or that there is none. */
static void say_enough(char text[static PLAN_ADVICE_BYTES], const struct job_enough_of *enough,
                       const char *what)
{
    (void)snprintf(text, PLAN_ADVICE_BYTES, "%s %" PRIu64 " %s",
                   enough->least > 0 ? "with roughly" : "not even with",
                   enough->least > 0 ? enough->least : enough->most, what);
}

static void print_enough(const struct job_expected *expected)
{
    const struct job_enough *enough = &expected->enough;
    char records[PLAN_ADVICE_BYTES];
    char agents[PLAN_ADVICE_BYTES];
    if (!enough->known) {
        return;
    }
    (void)putchar('\n');
    if (enough->records.least > 0 && enough->records.least == expected->size.records) {
        text_wrap(
            stdout, 0, 0,
            "As it is, this job loses at most half a point to privacy on half of the tables.");
        return;
    }
    if (enough->records.least == 0 && enough->agents.least == 0 && enough->has_floor &&
        enough->floor > JOB_ENOUGH) {
        text_wrap(
            stdout, 0, 0,
            "This learner itself loses about %.1f points on half of the tables, with hardly any noise and %" PRIu64
            " records of each agent: more records, agents or epsilon "
            "do not bring it to half a point.",
            PERCENT * enough->floor, enough->records.most);
        return;
    }
    say_enough(records, &enough->records, "records of each agent");
    say_enough(agents, &enough->agents, "agents");
    text_wrap(stdout, 0, 0,
              "Losing at most half a point on half of the tables, all else as it is: %s (set "
              "cohort.records to the same number); %s (set cohort.minimum to the same number).",
              records, agents);
}

/* What a point is, and what is told of a number in its own unit. */
static void print_measure(const struct job_expected *expected)
{
    const struct rehearsal_answer *first = &expected->row[0].answer;
    char points[PLAN_ADVICE_BYTES];
    const char *name = expected->label[0] != '\0' ? expected->label : "the label";
    if (expected->kind == LABEL_NUMBER) {
        (void)snprintf(points, sizeof points,
                       "in per cent of the width of the range of %s, which is %.6g: a point is "
                       "%.3g. The error is the %s. Points lost are what it is above that of the "
                       "model without privacy.",
                       name, expected->range, expected->range / PERCENT,
                       expected->is_pinball ? "mean pinball loss" : "root of the mean square");
    } else {
        (void)snprintf(points, sizeof points,
                       "in per cent. Points lost are those that the model without privacy has "
                       "more.");
    }
    text_wrap(stdout, 0, 0,
              "What to expect of stage %zu, from a rehearsal on %zu made-up tables of this job's "
              "columns and records: the mean, and what %.0f %% lie between of what a held-out "
              "fifth of the records would show, %s",
              expected->stage + 1, first->tables, PERCENT * first->inside, points);
}

/* How much of a number the model explains. Medians, because one table that it explains nothing of would
 * dominate a mean. */
static void print_explained(const struct job_expected *expected)
{
    for (size_t i = 0; i < expected->count; i++) {
        const struct rehearsal_answer *answer = &expected->row[i].answer;
        if (expected->row[i].is_own && expected->kind == LABEL_NUMBER &&
            isfinite(answer->explained.median)) {
            text_wrap(stdout, 0, 0,
                      "On half of the tables this job's model explains %.0f %% of the label's "
                      "variance or more (90 %%: %.0f to %.0f), and without privacy %.0f %%.",
                      PERCENT * answer->explained.median, PERCENT * answer->explained.low,
                      PERCENT * answer->explained.high, PERCENT * answer->free_explained.median);
        }
    }
}

void job_expected_print(const struct job_expected *expected)
{
    if (expected->no_answer != NULL) {
        (void)putchar('\n');
        text_wrap(stdout, 0, 0, "What to expect of stage %zu is not told: %s.", expected->stage + 1,
                  expected->no_answer);
    }
    if (expected->count == 0) {
        return;
    }
    const struct rehearsal_answer *first = &expected->row[0].answer;
    const char *reached = expected->kind == LABEL_NUMBER ? "error" : "accuracy";
    (void)putchar('\n');
    print_measure(expected);
    (void)printf("\n  %-8s  %-*s  %-*s  %s\n", "epsilon", NAME_WIDTH, "trust", FIGURE_WIDTH,
                 "points lost", reached);
    for (size_t i = 0; i < expected->count; i++) {
        const struct job_expected_row *row = &expected->row[i];
        (void)printf("  %-8.6g  %-*s", (double)row->epsilon_micro / 1e6, NAME_WIDTH, row->trust);
        print_figure(&row->answer.lost, FIGURE_WIDTH);
        print_figure(&row->answer.reached, row->is_own || row->tries_products ? FIGURE_WIDTH : 0);
        (void)printf("%s%s\n", row->tries_products ? "*" : "",
                     !row->is_own          ? ""
                     : row->tries_products ? " <- this job"
                                           : "<- this job");
    }
    (void)printf("  %-*s  %-*s", 8 + 2 + NAME_WIDTH, "without privacy", FIGURE_WIDTH, "");
    print_figure(&first->free, 0);
    (void)putchar('\n');
    text_wrap(stdout, 0, 0, "%s depends mostly on your data. Compare the column 'points lost'.",
              expected->kind == LABEL_NUMBER ? "The error" : "Accuracy");
    print_explained(expected);
    print_products(expected);
    print_error(expected);
    print_turns(expected);
    print_enough(expected);
}

static json_t *figure_json(const struct rehearsal_figure *figure)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:o}", "mean", figure->mean, "low", figure->low, "high",
                     figure->high, "median", figure->median, "error", json_number(figure->error));
}

static json_t *enough_json(const struct job_enough_of *enough)
{
    return json_pack("{s:o, s:I}", "least",
                     enough->least > 0 ? json_integer((json_int_t)enough->least) : json_null(),
                     "most", (json_int_t)enough->most);
}

static json_t *row_json(const struct job_expected *expected, const struct job_expected_row *row)
{
    json_t *object = json_pack(
        "{s:f, s:s, s:b, s:o, s:o}", "epsilon", (double)row->epsilon_micro / 1e6, "trust",
        row->trust, "tries_products", (int)row->tries_products, job_expected_measure(expected),
        figure_json(&row->answer.reached), "lost", figure_json(&row->answer.lost));
    if (isfinite(row->answer.explained.mean) && expected->kind == LABEL_NUMBER) {
        json_put(&object, "explained", figure_json(&row->answer.explained));
    }
    return object;
}

json_t *job_expected_json(const struct job_expected *expected)
{
    if (expected->count == 0) {
        return json_null();
    }
    const struct rehearsal_answer *first = &expected->row[0].answer;
    json_t *rows = json_array();
    for (size_t i = 0; i < expected->count; i++) {
        json_add(&rows, row_json(expected, &expected->row[i]));
    }
    const struct job_enough *enough = &expected->enough;
    json_t *object = json_pack("{s:I, s:f, s:s, s:o, s:o}", "tables", (json_int_t)first->tables,
                               "inside", first->inside, "measure", job_expected_measure(expected),
                               "without_privacy", figure_json(&first->free), "plans", rows);
    if (expected->kind == LABEL_NUMBER) {
        json_put(&object, "label", json_string(expected->label));
        json_put(&object, "range", json_real(expected->range));
    }
    json_put(&object, "half_a_point",
             enough->known ? json_pack("{s:o, s:o, s:o}", "records", enough_json(&enough->records),
                                       "agents", enough_json(&enough->agents), "without_noise",
                                       enough->has_floor ? json_real(enough->floor) : json_null())
                           : json_null());
    return object;
}
