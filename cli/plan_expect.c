/* What accuracy to expect of a stage that can be rehearsed, at the job's epsilon and a few others, under both trusts. Each
 * row is a plan of its own, of the job's text with changes. The seed is the text's digest. */

#include "cli/plan_job.h"

#include "base/decimal.h"
#include "base/text.h"
#include "crypto/digest.h"
#include "dp/charge.h"
#include "job/trust.h"
#include "json/json_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_BYTES = 48, PERCENT = 100, FIGURE_WIDTH = 22 };

/* Epsilons of the curve: 10^-6. */
static const uint64_t curve[] = {100000, 300000, 1000000, 3000000, 10000000};

enum { CURVE_COUNT = sizeof curve / sizeof curve[0] };

/* The job's own epsilon among those of the curve. Returns how many there are. */
static size_t epsilons(uint64_t micro[static CURVE_COUNT + 1], uint64_t own)
{
    size_t count = 0;
    bool placed = false;
    for (size_t i = 0; i < CURVE_COUNT; i++) {
        if (!placed && own < curve[i]) {
            micro[count++] = own;
            placed = true;
        }
        placed = placed || own == curve[i];
        micro[count++] = curve[i];
    }
    if (!placed) {
        micro[count++] = own;
    }
    return count;
}

/* Plans the job at another epsilon, and under the other trust. There may be no such job. */
static enum status plan_at(struct job_plan *changed, const struct job_source *source,
                           const struct job_plan *plan, uint64_t micro, bool other)
{
    struct job_changes *changes = calloc(1, sizeof *changes);
    char words[PLAN_ADVICE_BYTES] = "";
    char epsilon[CELL_BYTES];
    if (changes == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (other) {
        job_change_trust(changes, words, plan, trust_of(&plan->job)->rival);
    }
    decimal_format(epsilon, sizeof epsilon, micro, EPSILON_DECIMALS);
    if (changes->count < PLAN_CHANGES_MAX) {
        (void)snprintf(changes->set[changes->count++], PLAN_SET_BYTES, "privacy.epsilon=%s",
                       epsilon);
    }
    const enum status status = job_plan_make(changed, source, changes, NULL);
    free(changes);
    return status;
}

static uint64_t seed_of(const struct job_source *source)
{
    struct digest digest;
    digest_sha256(&digest, &source->text, 1);
    return load_u64(digest.byte);
}

/* The plans of all rows, kept while they are played: a rehearsal borrows from its job. */
struct staging {
    struct job_plan plan[JOB_EXPECTED_MAX];
    struct rehearsal rehearsal[JOB_EXPECTED_MAX];
    struct rehearsal_answer answer[JOB_EXPECTED_MAX];
};

static void add_row(struct job_expected *out, struct staging *staging,
                    const struct job_source *source, const struct job_plan *plan, uint64_t micro,
                    bool other)
{
    struct job_plan *changed = &staging->plan[out->count];
    struct job_expected_row *row = &out->row[out->count];
    if (plan_at(changed, source, plan, micro, other) != STATUS_OK) {
        return; /* there is no such job */
    }
    if (!terms_can_rehearse(&changed->job, out->stage) ||
        terms_rehearse(&staging->rehearsal[out->count], &changed->job, out->stage, changed->size,
                       NULL) != STATUS_OK) {
        job_plan_free(changed);
        return;
    }
    *row = (struct job_expected_row){.epsilon_micro = micro,
                                     .trust = job_plan_trust(changed),
                                     .is_own = !other && micro == plan->job.epsilon_micro};
    out->count++;
}

/* Too many columns: the curve is left away first. */
static void keep_short(struct job_expected *out, struct staging *staging, uint64_t own)
{
    size_t kept = 0;
    if (rehearsal_is_short(staging->rehearsal, out->count)) {
        return;
    }
    for (size_t i = 0; i < out->count; i++) {
        if (out->row[i].epsilon_micro == own) {
            staging->rehearsal[kept] = staging->rehearsal[i];
            out->row[kept++] = out->row[i];
        }
    }
    out->count = kept > 0 && rehearsal_is_short(staging->rehearsal, kept) ? kept : 0;
    out->no_answer = out->count == 0 ? "it has too many columns to be rehearsed here" : NULL;
}

static void free_plans(struct staging *staging)
{
    for (size_t i = 0; i < JOB_EXPECTED_MAX; i++) {
        job_plan_free(&staging->plan[i]);
    }
    free(staging);
}

enum status job_expect(struct job_expected *out, const struct job_source *source,
                       const struct job_plan *plan, size_t stage)
{
    uint64_t micro[CURVE_COUNT + 1];
    *out = (struct job_expected){.stage = stage, .size = plan->size};
    if (!terms_can_rehearse(&plan->job, stage)) {
        return STATUS_OK;
    }
    struct staging *staging = calloc(1, sizeof *staging);
    if (staging == NULL) {
        return STATUS_NO_MEMORY;
    }
    const size_t count = epsilons(micro, plan->job.epsilon_micro);
    for (size_t i = 0; i < count; i++) {
        add_row(out, staging, source, plan, micro[i], false);
        add_row(out, staging, source, plan, micro[i], true);
    }
    enum status status = STATUS_OK;
    out->no_answer = out->count == 0 ? "only stages of two classes are rehearsed" : NULL;
    const size_t all = out->count;
    if (out->count > 0) {
        keep_short(out, staging, plan->job.epsilon_micro);
    }
    if (out->count > 0) {
        status = rehearsal_play(staging->answer, staging->rehearsal, out->count,
                                REHEARSAL_TABLES_MAX, seed_of(source));
    }
    for (size_t i = 0; i < out->count; i++) {
        out->row[i].answer = staging->answer[i];
        out->row[i].tries_products = staging->rehearsal[i].tries_products;
    }
    if (status == STATUS_OK && out->count > 0 && out->count == all) {
        status = job_find_enough(out, source, plan, seed_of(source));
    }
    free_plans(staging);
    return status;
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
    (void)putchar('\n');
    text_wrap(
        stdout, 0, 0,
        "What to expect of stage %zu, from a rehearsal on %zu made-up tables of this job's "
        "columns and records, in per cent: the mean, and what 90 %% lie between of what a held-out "
        "fifth of the records would show. Points lost are those that the model without privacy "
        "has more.",
        expected->stage + 1, first->tables);
    (void)printf("\n  %-8s  %-8s  %-*s  %s\n", "epsilon", "trust", FIGURE_WIDTH, "points lost",
                 "accuracy");
    for (size_t i = 0; i < expected->count; i++) {
        const struct job_expected_row *row = &expected->row[i];
        (void)printf("  %-8.6g  %-8s", (double)row->epsilon_micro / 1e6, row->trust);
        print_figure(&row->answer.lost, FIGURE_WIDTH);
        print_figure(&row->answer.reached, row->is_own || row->tries_products ? FIGURE_WIDTH : 0);
        (void)printf("%s%s\n", row->tries_products ? "*" : "",
                     !row->is_own          ? ""
                     : row->tries_products ? " <- this job"
                                           : "<- this job");
    }
    (void)printf("  %-18s  %-*s", "without privacy", FIGURE_WIDTH, "");
    print_figure(&first->free, 0);
    (void)putchar('\n');
    text_wrap(stdout, 0, 0,
              "Accuracy depends mostly on your data. Compare the column 'points lost'.");
    print_products(expected);
    print_error(expected);
    print_turns(expected);
    print_enough(expected);
}

static json_t *figure_json(const struct rehearsal_figure *figure)
{
    return json_pack("{s:f, s:f, s:f, s:o}", "mean", figure->mean, "low", figure->low, "high",
                     figure->high, "error", json_number(figure->error));
}

static json_t *enough_json(const struct job_enough_of *enough)
{
    return json_pack("{s:o, s:I}", "least",
                     enough->least > 0 ? json_integer((json_int_t)enough->least) : json_null(),
                     "most", (json_int_t)enough->most);
}

json_t *job_expected_json(const struct job_expected *expected)
{
    if (expected->count == 0) {
        return json_null();
    }
    const struct rehearsal_answer *first = &expected->row[0].answer;
    json_t *rows = json_array();
    for (size_t i = 0; i < expected->count; i++) {
        const struct job_expected_row *row = &expected->row[i];
        json_add(&rows,
                 json_pack("{s:f, s:s, s:b, s:o, s:o}", "epsilon", (double)row->epsilon_micro / 1e6,
                           "trust", row->trust, "tries_products", (int)row->tries_products,
                           "accuracy", figure_json(&row->answer.reached), "lost",
                           figure_json(&row->answer.lost)));
    }
    const struct job_enough *enough = &expected->enough;
    json_t *object = json_pack("{s:I, s:o, s:o}", "tables", (json_int_t)first->tables,
                               "without_privacy", figure_json(&first->free), "plans", rows);
    json_put(&object, "half_a_point",
             enough->known ? json_pack("{s:o, s:o, s:o}", "records", enough_json(&enough->records),
                                       "agents", enough_json(&enough->agents), "without_noise",
                                       enough->has_floor ? json_real(enough->floor) : json_null())
                           : json_null());
    return object;
}
