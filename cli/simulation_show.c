/* What was asked and released, in the terminal: the same figures as the report, in the same order. */

#include "base/decimal.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/simulation.h"
#include "report/result_fields.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { QUESTION_WIDTH = 28, UNIT_WIDTH = 8 };

/* Whether all answers are about equally many records: then that is said once. */
static bool asks_alike(const struct result *result)
{
    bool alike = result->answer_count > 0;
    for (size_t i = 0; i < result->answer_count && alike; i++) {
        alike = result->answer[i].records == result->answer[0].records;
    }
    return alike && isfinite(result->answer[0].records);
}

/* For questions that have an interval. An end that is not known lies beyond what was asked. */
static void show_interval(FILE *out, const struct result_answer *answer, int indent)
{
    if (isfinite(answer->total_low) && isfinite(answer->total_high)) {
        (void)fprintf(out, "%*s95 %% interval, sampling and noise: %.5g to %.5g\n", indent, "",
                      answer->total_low, answer->total_high);
    } else if (isfinite(answer->total_low)) {
        (void)fprintf(out, "%*s95 %% interval, sampling and noise: %.5g or more\n", indent, "",
                      answer->total_low);
    }
}

/* Whether an answer of the same question that stands before it says the same. */
static bool is_said(const struct result *result, size_t index, size_t question_bytes)
{
    const struct result_answer *answer = &result->answer[index];
    for (size_t i = index; i > 0 && question_bytes > 0; i--) {
        const struct result_answer *before = &result->answer[i - 1];
        if (strncmp(before->name, answer->name, question_bytes) != 0) {
            return false;
        }
        if (strcmp(before->note, answer->note) == 0) {
            return true;
        }
    }
    return false;
}

static void show_answer(FILE *out, const struct result_answer *answer, const char *name, int indent)
{
    char bar[64] = "-";
    char value[32] = "-";
    char exact[32] = "-";
    if (isfinite(answer->low) && isfinite(answer->high)) {
        (void)snprintf(bar, sizeof bar, "%.5g to %.5g", answer->low, answer->high);
    }
    if (isfinite(answer->value)) {
        (void)snprintf(value, sizeof value, "%.5g", answer->value);
    }
    if (isfinite(answer->exact)) {
        (void)snprintf(exact, sizeof exact, "%.5g", answer->exact);
    }
    const int width = QUESTION_WIDTH + 2 - indent;
    if (strlen(name) > (size_t)width) {
        (void)fprintf(out, "%*s", indent, "");
        text_wrap(out, indent, indent, "%s", name);
        name = "";
    }
    (void)fprintf(out, "%*s%-*s %9s  %-19s %9s", indent, "", width, name, value, bar, exact);
    (void)fprintf(out, strlen(answer->unit) > UNIT_WIDTH ? "\n    in %s\n" : "  %s\n",
                  answer->unit);
    show_interval(out, answer, indent + 2);
}

static void show_notes(FILE *out, const struct result *result)
{
    bool first = true;
    for (size_t i = 0; i < result->round_count; i++) {
        if (result->round[i].note != NULL) {
            (void)fprintf(out, "%s  %s: %s\n", first ? "\n" : "", result->round[i].stage,
                          result->round[i].note);
            first = false;
        }
    }
}

static void show_answers(FILE *out, const struct result *result)
{
    const bool alike = asks_alike(result);
    struct command_question question = {0};
    bool is_below_zero = false;
    if (result->answer_count > 0 && alike) {
        (void)fprintf(out, "\n  answers: %.0f records were asked\n", result->answer[0].records);
    }
    if (result->answer_count > 0) {
        (void)fprintf(out, "%s  %-*s %9s  %-19s %9s\n", alike ? "" : "\n", QUESTION_WIDTH,
                      alike ? "" : "answers", "released", "95 % bar (noise)", "exact*");
    }
    for (size_t i = 0; i < result->answer_count; i++) {
        const struct result_answer *answer = &result->answer[i];
        const char *next = i + 1 < result->answer_count ? answer[1].name : NULL;
        const char *name = command_part(out, 2, &question, answer->name, next);
        const int indent = question.bytes > 0 ? 4 : 2;
        is_below_zero = is_below_zero || (answer->value < 0 && answer->exact >= 0);
        show_answer(out, answer, name, indent);
        if (!alike && isfinite(answer->records)) {
            (void)fprintf(out, "%*sof %.0f records\n", indent + 2, "", answer->records);
        }
        if (answer->note[0] != '\0' &&
            !(isfinite(answer->value) && is_said(result, i, question.bytes))) {
            (void)fprintf(out, "%*s", indent + 2, "");
            text_wrap(out, indent + 2, indent + 2, "%s", answer->note);
        }
    }
    if (result->answer_count > 0) {
        (void)fputs(
            "  * simulator only: the same question without noise, in the same steps, on\n    the same records\n",
            out);
    }
    if (is_below_zero) {
        (void)fputs(
            "  a released number can lie below 0: where the exact one is near 0, noise moves "
            "it either way\n",
            out);
    }
    show_notes(out, result);
}

/* In a single round the best expert cannot be known, so its regret tells nothing. */
static bool has_play(const struct result *result)
{
    size_t judged = 0;
    for (size_t i = 0; i < result->round_count; i++) {
        judged += result->round[i].loss != NULL ? 1 : 0;
    }
    return judged != 1;
}

/* "0.4 at delta 1e-05" */
static void show_epsilon(FILE *out, double epsilon, double delta)
{
    (void)fprintf(out, "epsilon %.4g", epsilon);
    if (delta > 0) {
        (void)fprintf(out, " at delta %.3g", delta);
    }
}

static void show_releases(FILE *out, const struct result *result)
{
    struct command_question question = {0};
    if (result->release_count > 0) {
        (void)fputs("\n  what each stage released, and the noise on it (one standard deviation)\n",
                    out);
    }
    for (size_t i = 0; i < result->release_count; i++) {
        const struct result_release *release = &result->release[i];
        const bool first = i == 0 || release[-1].stage != release->stage;
        if (first) {
            (void)fprintf(out, "  %s, %s: %s, ", release->task, release->strategy,
                          release->mechanism);
            show_epsilon(out, release->epsilon, release->delta);
            (void)fputs("\n", out);
        }
        char noise[RESULT_NAME_BYTES + 64];
        if (isfinite(release->noise)) {
            (void)snprintf(noise, sizeof noise, "+- %s %s", decimal_short(release->noise, 3).text,
                           release->unit);
        } else if (isnan(release->bar)) {
            (void)snprintf(noise, sizeof noise, "no answer");
        } else {
            (void)snprintf(noise, sizeof noise, "%s %s %s%s",
                           !(release->bar > 0)                      ? "none,"
                           : result_what_is_expected(release->what) ? "about"
                                                                    : "at most",
                           decimal_short(release->bar, 3).text, release->unit,
                           result_release_is_bar(release) ? " (95 %)" : "");
        }
        const bool last = i + 1 == result->release_count || release[1].stage != release->stage;
        question = first ? (struct command_question){0} : question;
        const char *what =
            command_part(out, 4, &question, release->what, last ? NULL : release[1].what);
        command_beside(out, question.bytes > 0 ? 6 : 4, what, noise);
    }
}

/* A line of the figures that the table of fields sends to the terminal; without base what stands above them. */
static void show_fields(FILE *out, int width, const char *name, const struct field *field,
                        const void *base)
{
    (void)fprintf(out, "  %-*s", width, name);
    for (; field->key != NULL; field++) {
        char text[64];
        if (field->terminal.label != NULL) {
            result_show(text, sizeof text, field, base);
            (void)fprintf(out, " %*s", field->terminal.width, text);
        }
    }
    (void)fputs("\n", out);
}

/* Without an AUC, which is for two classes, a dash. */
static void show_judged(FILE *out, const char *name, double accuracy, double auc)
{
    (void)fprintf(out, "  %-56s  %5.1f%%   ", name, 100.0 * accuracy);
    if (isfinite(auc)) {
        (void)fprintf(out, "%.3f\n", auc);
    } else {
        (void)fputs("-\n", out);
    }
}

static void show_quality(FILE *out, const struct result *result)
{
    const char *chosen = result->expert[result->chosen].name;
    char line[RESULT_NAME_BYTES + 32];
    (void)snprintf(line, sizeof line, "chosen: %s", chosen);
    if (isfinite(result->error.root_mean_square)) {
        (void)fputs("\n", out);
        show_fields(out, 49, "on the held-out fifth (simulator only)", result_error_fields, NULL);
        show_fields(out, 49, line, result_error_fields, result);
        (void)fprintf(out, "  %-49s %12.4g\n", "pooled least squares, not private",
                      result->error.pooled);
        (void)fprintf(out, "  %-49s %12.4g\n", "always their mean", result->error.constant);
        if (isfinite(result->error.pinball)) {
            (void)fprintf(out, "  %-49s %12.4g\n", "the chosen one's pinball loss",
                          result->error.pinball);
        }
        return;
    }
    (void)fprintf(out, "\n  %-56s accuracy    AUC\n", "on the held-out fifth (simulator only)");
    show_judged(out, line, result->accuracy, result->auc);
    show_judged(out, "pooled, not private (simulator only)", result->baseline.pooled_accuracy,
                result->baseline.pooled_auc);
    show_judged(out, "majority class", result->baseline.majority,
                isfinite(result->auc) ? 0.5 : NAN);
    (void)snprintf(line, sizeof line, "the chosen one's standard error, of %llu records",
                   (unsigned long long)result->baseline.records_held);
    show_judged(out, line, result_accuracy_error(result), result_auc_error(result));
}

void simulation_show(const struct result *result, const struct simulation_request *request)
{
    FILE *out = request->progress;
    if (result->chosen != RESULT_NONE) {
        show_quality(out, result);
    }
    show_answers(out, result);
    simulation_show_sites(out, result);
    show_releases(out, result);
    (void)fputs("\n", out);
    show_fields(out, 56,
                request->streams_path != NULL ? "epsilon, by each agent's ledger"
                                              : "epsilon, by each hospital's ledger",
                result_agent_fields, NULL);
    for (size_t i = 0; i < result->agent_count; i++) {
        show_fields(out, 56, result->agent[i].name, result_agent_fields, &result->agent[i]);
    }
    if (result->agent_count > 0 && result->agent[0].delta_spent > 0) {
        (void)fprintf(out,
                      "  spent: at delta %.3g; left: of the site's own epsilon, at its own delta\n",
                      result->agent[0].delta_spent);
    } else if (result->agent_count > 0 && isfinite(result->agent[0].epsilon_left)) {
        (void)fprintf(out, "  left: of the epsilon %.6g that each site allows in all\n",
                      result->agent[0].epsilon_spent + result->agent[0].epsilon_left);
    }
    if (isfinite(result->regret.bound) && isfinite(result->regret.average) && has_play(result)) {
        (void)fprintf(
            out,
            "\n  regret: the choice cost %.4f more loss a round than always the best expert,\n"
            "  by the released losses; at most %.4f is expected\n",
            result->regret.average, result->regret.bound);
    }
    if (isfinite(result->regret.bound) && !isfinite(result->regret.average)) {
        (void)fprintf(
            out,
            "\n  regret: the choice is expected to cost at most %.4f more loss a round than\n"
            "  always the best expert; under trust central nobody may know what it cost\n",
            result->regret.bound);
    }
    if (!result->private) {
        (void)fprintf(out,
                      "\n  NOT PRIVATE: made with --seed %" PRIu64
                      ", so anyone can draw the noise again\n",
                      request->seed);
    }
    (void)fprintf(out, "\n  %s/report.html, result.json, %slogs/\n", request->out,
                  result->chosen != RESULT_NONE ? "model.json, " : "");
    (void)fflush(out);
}
