/* How many records or agents would do: numbers four times as large, time after time, are rehearsed together, each as a plan
 * of its own. What they lose on half of the tables is made to fall, and between two of them is taken to be a straight line
 * in the number's logarithm. One more plan has the most records and hardly any noise: what it loses is the learner's own. */

#include "cli/plan_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRIAL_TABLES = 16, TRIALS = 5 };

#define FACTOR       4.0
#define RECORDS_MOST 1e9                    /* that a job's text may ask for */
#define NO_NOISE     "privacy.epsilon=1000" /* hardly any: the largest that a job's text may ask for */

/* The numbers of one kind, their plans kept while they are played: a rehearsal borrows from its job. */
struct series {
    size_t count;
    double number[TRIALS];
    struct job_plan plan[TRIALS + 1];           /* the last: without noise */
    struct rehearsal rehearsal[TRIALS + 1];     /* (count), then that one */
    struct rehearsal_answer answer[TRIALS + 1]; /* likewise */
    bool has_quiet;
    bool is_played;
};

/* Plans the job with another number. Returns whether there is such a job. */
static bool plan_with(struct job_plan *changed, const struct job_source *source,
                      const struct job_plan *plan, bool of_agents, double number, bool quiet)
{
    struct job_changes *changes = calloc(1, sizeof *changes);
    bool exists = changes != NULL;
    if (exists && of_agents) {
        job_change_agents(changes, number);
    } else if (exists) {
        changes->size.records = (uint64_t)number;
        job_change_records(changes, &plan->job, number);
    }
    if (exists && quiet) {
        exists = changes->count < PLAN_CHANGES_MAX;
        if (exists) {
            (void)snprintf(changes->set[changes->count++], PLAN_SET_BYTES, "%s", NO_NOISE);
        }
    }
    exists = exists && job_plan_make(changed, source, changes, NULL) == STATUS_OK;
    free(changes);
    return exists;
}

static void add_trials(struct series *series, const struct job_source *source,
                       const struct job_plan *plan, size_t stage, bool of_agents)
{
    const double most = of_agents ? JOB_AGENTS_SURE : RECORDS_MOST;
    double number = of_agents ? (double)plan->size.agents : (double)plan->size.records;
    while (series->count < TRIALS && number < most) {
        struct job_plan *changed = &series->plan[series->count];
        number = fmin(number * FACTOR, most);
        if (!plan_with(changed, source, plan, of_agents, number, false)) {
            return;
        }
        if (terms_rehearse(&series->rehearsal[series->count], &changed->job, stage, changed->size,
                           NULL) != STATUS_OK) {
            job_plan_free(changed);
            return;
        }
        series->number[series->count++] = number;
    }
}

static void add_quiet(struct series *series, const struct job_source *source,
                      const struct job_plan *plan, size_t stage)
{
    struct job_plan *changed = &series->plan[TRIALS];
    series->has_quiet =
        series->count > 0 &&
        plan_with(changed, source, plan, false, series->number[series->count - 1], true) &&
        terms_rehearse(&series->rehearsal[series->count], &changed->job, stage, changed->size,
                       NULL) == STATUS_OK;
}

/* x falls or stays from each to the next: what rises by the chance of few tables becomes its mean (pool adjacent violators). */
static void make_falling(double *x, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        double sum = x[i];
        size_t first = i;
        while (first > 0 && x[first - 1] < sum / (double)(i - first + 1)) {
            first--;
            sum += x[first];
        }
        for (size_t j = first; j <= i; j++) {
            x[j] = sum / (double)(i - first + 1);
        }
    }
}

/* number, lost: (count) the job's own first. */
static struct job_enough_of choose(const double *number, double *lost, size_t count)
{
    struct job_enough_of found = {.most = (uint64_t)number[count - 1]};
    if (lost[0] <= JOB_ENOUGH) {
        return (struct job_enough_of){(uint64_t)number[0], (uint64_t)number[0]};
    }
    make_falling(lost, count);
    for (size_t i = 0; i < count; i++) {
        if (lost[i] <= JOB_ENOUGH) {
            const double part = i == 0 ? 1 : (lost[i - 1] - JOB_ENOUGH) / (lost[i - 1] - lost[i]);
            const double before = number[i == 0 ? 0 : i - 1];
            const double wanted = job_change_rounded(before * pow(number[i] / before, part));
            const uint64_t least = (uint64_t)ceil(wanted);
            found.least = least < found.most ? least : found.most;
            break;
        }
    }
    return found;
}

static enum status find(struct job_enough_of *out, struct series *series,
                        const struct job_expected *expected, double own, uint64_t seed)
{
    double number[TRIALS + 1] = {own};
    double lost[TRIALS + 1] = {INFINITY};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < expected->count; i++) {
        lost[0] = expected->row[i].is_own ? expected->row[i].answer.lost.median : lost[0];
    }
    if (series->count > 0 && lost[0] > JOB_ENOUGH) {
        status = rehearsal_play(series->answer, series->rehearsal,
                                series->count + (series->has_quiet ? 1 : 0), TRIAL_TABLES, seed);
        series->is_played = true;
    }
    for (size_t i = 0; i < series->count; i++) {
        number[i + 1] = series->number[i];
        lost[i + 1] = series->answer[i].lost.median;
    }
    if (status == STATUS_OK) {
        *out = choose(number, lost, series->count + 1);
    }
    return status;
}

enum status job_find_enough(struct job_expected *out, const struct job_source *source,
                            const struct job_plan *plan, uint64_t seed)
{
    struct series *series = calloc(2, sizeof *series); /* of records, of agents */
    if (series == NULL) {
        return STATUS_NO_MEMORY;
    }
    add_trials(&series[0], source, plan, out->stage, false);
    add_quiet(&series[0], source, plan, out->stage);
    add_trials(&series[1], source, plan, out->stage, true);
    enum status status =
        find(&out->enough.records, &series[0], out, (double)plan->size.records, seed);
    if (status == STATUS_OK) {
        status = find(&out->enough.agents, &series[1], out, (double)plan->size.agents, seed);
    }
    out->enough.known = status == STATUS_OK;
    out->enough.has_floor = status == STATUS_OK && series[0].is_played && series[0].has_quiet;
    if (out->enough.has_floor) {
        out->enough.floor = series[0].answer[series[0].count].lost.median;
    }
    for (size_t i = 0; i <= TRIALS; i++) {
        job_plan_free(&series[0].plan[i]);
        job_plan_free(&series[1].plan[i]);
    }
    free(series);
    return status;
}
