/* What was asked and released, in the terminal: the same figures as the report, in the same order. */

#include "cli/simulation.h"

#include <math.h>
#include <string.h>

static void show_answers(FILE *out, const struct result *result)
{
    if (result->answer_count > 0) {
        (void)fprintf(out, "\n  %-56s %10s  %-23s %10s\n", "answers", "released",
                      "95 % bar (noise)", "exact*");
    }
    for (size_t i = 0; i < result->answer_count; i++) {
        const struct result_answer *answer = &result->answer[i];
        char bar[64];
        (void)snprintf(bar, sizeof bar, "%.5g to %.5g", answer->low, answer->high);
        (void)fprintf(out, "  %-56s %10.5g  %-23s ", answer->name, answer->value, bar);
        if (isfinite(answer->exact)) {
            (void)fprintf(out, "%10.5g  %s\n", answer->exact, answer->unit);
        } else {
            (void)fprintf(out, "%10s  %s\n", "-", answer->unit);
        }
    }
    if (result->answer_count > 0) {
        (void)fputs("  * simulator only: the same question without noise, on the same records\n",
                    out);
    }
    for (size_t i = 0; i < result->round_count; i++) {
        if (result->round[i].said != NULL) {
            const bool picked = strcmp(result->round[i].stage, task_name(TASK_SELECT)) == 0;
            (void)fprintf(out, "\n  %s: %s\n", picked ? "selected" : "learned",
                          result->round[i].said);
        }
    }
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
    if (result->release_count > 0) {
        (void)fputs("\n  what each stage released, and the noise on it\n", out);
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
        (void)fprintf(out, "    %-76s ", release->what);
        if (isfinite(release->noise)) {
            (void)fprintf(out, "+- %.3g %s\n", release->noise, release->unit);
        } else {
            (void)fprintf(out, "at most %.3g %s\n", release->bar, release->unit);
        }
    }
}

void simulation_show_terms(FILE *out, const struct result *result)
{
    show_answers(out, result);
    show_releases(out, result);
}
