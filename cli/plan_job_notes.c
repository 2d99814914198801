/* What a plan says of the questions themselves: those that are asked twice, and those that are seldom meant so. */

#include "base/wrap.h"
#include "cli/plan_job.h"
#include "cli/plan_job_table.h"
#include "job/round.h"
#include "task/task.h"
#include "json/json_text.h"

#include <stdio.h>
#include <string.h>

static void warn(UNUSED void *self, const char *text)
{
    (void)putchar('\n');
    wrap_print(stdout, 0, 2, "WARNING: %s.", text);
}

/* Comparisons with constants where few cells are expected: allowed, and mostly a slip of the pen. */
static void print_of_stage(const struct job *job, size_t stage)
{
    const struct query_set *set = round_queries(&job->stage[stage]);
    struct why by_site = {""};
    struct why before = {""};
    if (stage_has_site_note(job, &job->stage[stage], &by_site)) {
        for (size_t i = 0; i < stage && strcmp(before.text, by_site.text) != 0; i++) {
            (void)stage_has_site_note(job, &job->stage[i], &before);
        }
    }
    if (strcmp(before.text, by_site.text) != 0) { /* once for all stages */
        (void)putchar('\n');
        wrap_print_in(stdout, TABLE_WIDTH, 0, 2, "NOTE: stage %zu%s: %s", stage + 1,
                      stage + 1 < job->stage_count ? ", and others like it" : "", by_site.text);
    }
    for (size_t i = 0; i < set->count; i++) {
        struct why note = {""};
        if (query_has_note(&set->query[i], &note)) {
            (void)putchar('\n');
            wrap_print(stdout, 0, 2, "NOTE: stage %zu: %s", stage + 1, note.text);
        }
    }
}

void job_answer_print_notes(const struct job_answer *answer)
{
    job_again_tell(&answer->agains, &answer->plan.job, warn, NULL);
    for (size_t i = 0; i < answer->plan.job.stage_count; i++) {
        print_of_stage(&answer->plan.job, i);
    }
}

json_t *job_answer_notes(const struct job_answer *answer, const struct job_plan *plan, size_t stage)
{
    const struct job *job = &plan->job;
    const struct query_set *set = round_queries(&job->stage[stage]);
    json_t *array = json_array();
    struct why note = {""};
    if (stage_has_site_note(job, &job->stage[stage], &note)) {
        json_add(&array, json_string(note.text));
    }
    for (size_t i = 0; i < answer->agains.count && i < JOB_AGAIN_MAX; i++) {
        const struct job_again *again = &answer->agains.again[i];
        if (again->later.stage == stage) {
            job_again_say(&note, job, again);
            json_add(&array, json_string(note.text));
        }
    }
    for (size_t i = 0; i < set->count; i++) {
        if (query_has_note(&set->query[i], &note)) {
            json_add(&array, json_string(note.text));
        }
    }
    return array;
}
