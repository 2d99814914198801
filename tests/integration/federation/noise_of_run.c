/* noise_of_run JOB DATA COORDINATOR-STATE AGENT-STATE - judges the noise that real programs released.
 *
 * For a finished job with one agent: what the coordinator committed, minus the exact answer computed
 * here from the same records, is the noise that left the agent. By size and sign it must be discrete
 * Laplace of scale sensitivity / epsilon, epsilon being what the agent's own journal says was paid;
 * and the noise of one release must tell nothing about the next one's.
 *
 * The noise is truly random, so a right program fails now and then: each of four comparisons
 * rejects below p = 1e-8, together with a probability below 4e-8. The same comparisons must reject
 * what a wrong program would have released: half, twice, 5 % more or less noise, noise used twice.
 * With 10^5 values the smallest of these lies beyond the limit in all but 10^-7 of the runs: the
 * statistic then has a mean of 240 and a standard deviation of 31.3, the limit is 75.7. */

#include "config/config.h"
#include "dp/encode.h"
#include "io/journal.h"
#include "job/job.h"
#include "learn/dataset.h"
#include "learn/erm.h"
#include "learn/loss.h"
#include "learn/permutation.h"
#include "learn/sensitivity.h"
#include "protocol/wire.h"
#include "tests/support/chi_square.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REJECT_BELOW 1e-8
#define SIGNS_LIMIT  5.8 /* standard deviations; two-sided below 7e-9 */

enum { EDGES = 10, BINS = 2 * EDGES, ROUNDS = 1024, VALUES_MIN = 100000, RELEASES_MIN = 100 };

struct release {
    int64_t *noise; /* (count) owned: released minus exact */
    size_t count;
    double scale; /* in grid units, as charged */
};

struct run {
    struct job job;
    struct dataset data;
    struct digest id;
    size_t *order;   /* (m) owned */
    double *experts; /* (expert_count, d) owned */
    size_t expert_count;
    double epsilon[ROUNDS]; /* charged, by the agent's journal; 0: no answer */
    struct release release[ROUNDS];
    size_t round_count;
};

static enum status complain(struct why *why, const char *sentence)
{
    why_set(why, "%s", sentence);
    return STATUS_INVALID;
}

/* The exact answer of a fit, and its sensitivity. */
static enum status exact_fit(const struct run *run, const struct stage *stage, uint32_t within,
                             int64_t *exact, uint64_t *sensitivity, struct why *why)
{
    size_t d = run->data.feature_count;
    struct erm_problem problem = {.loss = stage->loss,
                                  .lambda = stage->lambda[within],
                                  .tolerance = stage->tolerance,
                                  .record_count = run->data.record_count,
                                  .feature_count = d};
    double *w = calloc(d, sizeof *w);
    enum status status = w == NULL ? STATUS_NO_MEMORY : erm_solve(w, &problem, &run->data, why);

    if (status == STATUS_OK) {
        encode_vector(exact, w, d, stage->grid_bits);
        status = sensitivity_fit_l1(sensitivity, &problem, stage->grid_bits, why);
    }
    free(w);
    return status;
}

/* The exact sums of a losses round, and their sensitivity. */
static enum status exact_losses(const struct run *run, const struct stage *stage, uint32_t within,
                                int64_t *exact, uint64_t *sensitivity, struct why *why)
{
    size_t d = run->data.feature_count;

    for (size_t k = 0; k < run->expert_count; k++) {
        exact[k] = 0;
        for (size_t i = 0; i < stage->batch; i++) {
            size_t row = run->order[within * stage->batch + i];
            double score = 0;
            for (size_t j = 0; j < d; j++) {
                score += run->experts[k * d + j] * run->data.x[row * d + j];
            }
            double loss = loss_clamped(stage->loss, score, run->data.y[row]);
            exact[k] += encode_value(loss, stage->grid_bits);
        }
    }
    return sensitivity_losses_l1(sensitivity, run->expert_count, stage->grid_bits, why);
}

/* A fit with one agent and no further experts releases one row: the agent's vector. It becomes an
 * expert of the losses. */
static enum status take_row(struct run *run, const struct stage *stage, struct slice blob,
                            int64_t *released)
{
    size_t d = run->data.feature_count;
    double *row = realloc(run->experts, (run->expert_count + 1) * d * sizeof *row);

    if (row == NULL) {
        return STATUS_NO_MEMORY;
    }
    run->experts = row;
    row += run->expert_count++ * d;
    memcpy(row, blob.data, d * sizeof *row);
    for (size_t i = 0; i < d; i++) {
        released[i] = (int64_t)ldexp(row[i], (int)stage->grid_bits);
    }
    return STATUS_OK;
}

static enum status take_round(struct run *run, const struct record *record, struct slice blob)
{
    struct why why = {""};
    uint32_t round = record->as.round.round;
    uint32_t within;
    const struct stage *stage = job_stage_of(&run->job, round, &within);
    bool fits = stage->task == TASK_FIT;
    size_t count = fits ? run->data.feature_count : run->expert_count;
    struct release *release = &run->release[round];
    int64_t *exact = calloc(count, sizeof *exact);
    uint64_t sensitivity = 0;
    enum status status = STATUS_OK;

    release->noise = calloc(count, sizeof *release->noise);
    release->count = count;
    if (exact == NULL || release->noise == NULL) {
        status = STATUS_NO_MEMORY;
    } else if (run->epsilon[round] <= 0 ||
               (fits ? blob.size : 8 * record->as.round.sum_count) != 8 * count) {
        (void)fprintf(stderr, "round %u: no charge for it, or another shape\n", (unsigned)round);
        status = STATUS_INVALID;
    } else if (fits) {
        status = exact_fit(run, stage, within, exact, &sensitivity, &why);
        if (status == STATUS_OK) {
            status = take_row(run, stage, blob, release->noise);
        }
    } else {
        memcpy(release->noise, record->as.round.sum, count * sizeof *release->noise);
        status = exact_losses(run, stage, within, exact, &sensitivity, &why);
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        release->noise[i] -= exact[i];
    }
    release->scale = (double)sensitivity / run->epsilon[round];
    run->round_count = round + 1;
    free(exact);
    return status;
}

static enum status visit(void *self, UNUSED uint64_t sequence, struct slice body, struct slice blob)
{
    struct run *run = self;
    struct record record;
    enum status status = wire_decode_record(&record, body);

    if (status != STATUS_OK) {
        return status;
    }
    if (record.kind == RECORD_JOB) {
        run->id = record.as.job.job.id;
        permutation_draw(run->order, run->data.record_count, &run->id);
    } else if (record.kind == RECORD_ANSWER && record.as.answer.round < ROUNDS) {
        run->epsilon[record.as.answer.round] = (double)record.as.answer.charge.epsilon_micro * 1e-6;
    } else if (record.kind == RECORD_ROUND && record.as.round.round < ROUNDS) {
        status = take_round(run, &record, blob);
    }
    record_free(&record);
    return status;
}

static enum status read_run(struct run *run, char **argument, struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(argument[2], "rb");
    enum status status = file == NULL ? complain(why, "the records cannot be opened")
                                      : config_load(&text, &size, argument[1], why);

    if (status == STATUS_OK) {
        status = job_parse(&run->job, (struct slice){text, size}, argument[1], why);
    }
    if (status == STATUS_OK) {
        status = dataset_read(&run->data, file, argument[2], &run->job.schema,
                              &(struct dataset_options){.use = DATASET_LEARN}, why);
    }
    if (status == STATUS_OK) {
        run->order = calloc(run->data.record_count, sizeof *run->order);
        status = run->order == NULL ? STATUS_NO_MEMORY
                                    : journal_sqlite_read(argument[4], "agent", visit, run, why);
    }
    if (status == STATUS_OK) {
        status = journal_sqlite_read(argument[3], "coordinator", visit, run, why);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    free(text);
    return status;
}

/* P(Z >= k), k >= 1. */
static double tail(double s, double k)
{
    return exp(-k / s) / (1 + exp(-1 / s));
}

/* The p-value of the releases of one task by size and sign, were their scales factor times theirs. */
static double fit_by_size(const struct run *run, enum task task, double factor)
{
    uint64_t seen[BINS] = {0};
    double expected[BINS] = {0};

    for (size_t r = 0; r < run->round_count; r++) {
        const struct release *release = &run->release[r];
        double s = release->scale * factor;
        double edge[EDGES + 1] = {0};
        uint32_t within;
        if (job_stage_of(&run->job, (uint32_t)r, &within)->task != task) {
            continue;
        }
        /* Edges from the scale as charged: where a bin ends is no part of the claim. */
        for (size_t i = 1; i < EDGES; i++) {
            edge[i] = ceil(-release->scale * log(1 - (double)i / EDGES));
        }
        edge[EDGES] = INFINITY;
        for (size_t i = 0; i < EDGES; i++) {
            double above = i == 0 ? 0.5 * (1 + tanh(0.5 / s)) : tail(s, edge[i]); /* P(Z >= edge) */
            double below = i == 0 ? tail(s, 1) : tail(s, edge[i]);                /* P(-Z >= ...) */
            double next = i + 1 == EDGES ? 0 : tail(s, edge[i + 1]);
            expected[EDGES + i] += (double)release->count * (above - next);
            expected[EDGES - 1 - i] += (double)release->count * (below - next);
        }
        for (size_t v = 0; v < release->count; v++) {
            double size = fabs((double)release->noise[v]);
            size_t bin = 0;
            while (size >= edge[bin + 1]) {
                bin++;
            }
            seen[release->noise[v] < 0 ? EDGES - 1 - bin : EDGES + bin]++;
        }
    }
    return chi_square_p(seen, expected, BINS);
}

/* How many standard deviations the agreeing signs of neighbouring releases of a task are away from
 * as many as the others; same: each release is compared with itself, as if its noise were used
 * again. */
static double signs_that_agree(const struct run *run, enum task task, bool same)
{
    double sum = 0;
    double count = 0;

    for (size_t r = 1; r < run->round_count; r++) {
        const struct release *one = &run->release[r];
        const struct release *other = same ? one : &run->release[r - 1];
        uint32_t within;
        if (job_stage_of(&run->job, (uint32_t)r, &within)->task != task || within == 0) {
            continue;
        }
        for (size_t v = 0; v < one->count; v++) {
            if (one->noise[v] != 0 && other->noise[v] != 0) {
                sum += (one->noise[v] < 0) == (other->noise[v] < 0) ? 1 : -1;
                count++;
            }
        }
    }
    return fabs(sum) / sqrt(count);
}

static bool judge(const char *what, bool good, double figure)
{
    (void)printf("%-6s %-58s %.3g\n", good ? "ok" : "FAILED", what, figure);
    return good;
}

static bool judge_task(const struct run *run, enum task task)
{
    static const double wrong[] = {0.5, 2, 0.95, 1.05};
    char what[96];
    double p = fit_by_size(run, task, 1);
    double signs = signs_that_agree(run, task, false);
    bool good = true;

    (void)snprintf(what, sizeof what, "%s: p of the charged scale", task_name(task));
    good = judge(what, p >= REJECT_BELOW, p) && good;
    (void)snprintf(what, sizeof what, "%s: agreeing signs, standard deviations", task_name(task));
    good = judge(what, signs <= SIGNS_LIMIT, signs) && good;
    /* The losses are too few values to see 5 %. */
    for (size_t i = 0; i < (task == TASK_FIT ? 4 : 2); i++) {
        p = fit_by_size(run, task, 1 / wrong[i]);
        (void)snprintf(what, sizeof what, "%s: planted, %g times the noise: p", task_name(task),
                       wrong[i]);
        good = judge(what, p < REJECT_BELOW, p) && good;
    }
    signs = signs_that_agree(run, task, true);
    (void)snprintf(what, sizeof what, "%s: planted, noise used twice: agreeing signs",
                   task_name(task));
    return judge(what, signs > SIGNS_LIMIT, signs) && good;
}

int main(int argc, char **argv)
{
    struct run *run = calloc(1, sizeof *run);
    struct why why = {""};
    size_t values = 0;
    bool good = false;

    if (argc != 5 || run == NULL) {
        (void)fputs("usage: noise_of_run JOB DATA COORDINATOR-STATE AGENT-STATE\n", stderr);
        free(run);
        return 2;
    }
    if (read_run(run, argv, &why) != STATUS_OK) {
        (void)fprintf(stderr, "noise_of_run: %s\n", why.text);
    } else {
        for (size_t r = 0; r < run->round_count; r++) {
            values += run->release[r].count;
        }
        (void)printf("%zu values in %zu releases\n", values, run->round_count);
        good = values >= VALUES_MIN && run->round_count >= RELEASES_MIN &&
               run->round_count == job_round_count(&run->job);
        good = judge_task(run, TASK_FIT) && good;
        good = judge_task(run, TASK_LOSSES) && good;
    }
    for (size_t r = 0; r < run->round_count; r++) {
        free(run->release[r].noise);
    }
    job_free(&run->job);
    dataset_free(&run->data);
    free(run->order);
    free(run->experts);
    free(run);
    return good ? 0 : 1;
}
