/* noise_of_central JOB COORDINATOR-STATE AGENT-STATE DATA.. - judges the noise of a central run.
 *
 * For a finished job of one gradient round, trust central, each DATA one agent's records: the step that
 * the coordinator committed tells the released sum; minus the agents' exact sums, computed here from the
 * same records at weights of zero, it is the noise. It must be one draw, discrete Laplace or discrete
 * Gaussian, of the scale that an agent's own journal says was charged. One draw for each agent would be
 * wrong.
 *
 * The noise is truly random, so a right program fails now and then: with a probability below 1e-8. The same
 * comparison must reject what wrong programs would have released: half, twice, sqrt(2) times (a draw of
 * each of two agents), 20 % more or less. With 10^4 values the statistic of the smallest of these, Laplace
 * noise judged by a scale 20 % too large, has a mean of 282 and a standard deviation of 30.4, the limit is
 * 75.7: beyond it in all but 1e-11 of the runs. */

#include "config/config.h"
#include "io/journal.h"
#include "job/job.h"
#include "job/round.h"
#include "learn/dataset.h"
#include "learn/gradient.h"
#include "protocol/wire.h"
#include "task/update/stage.h"
#include "tests/support/chi_square.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REJECT_BELOW 1e-8

enum { EDGES = 19, MIDDLE = EDGES / 2, VALUES_MIN = 10000, FIRST_DATA = 4 };

struct run {
    struct job job;
    struct charge charge; /* as the agent's journal has it */
    double *step;         /* (width) the committed weights after the round, owned */
    int64_t *noise;       /* (width) owned */
    size_t width;
    double agents; /* in the sum */
};

static enum status visit(void *self, UNUSED uint64_t sequence, struct slice body, struct slice blob)
{
    struct run *run = self;
    struct record record;
    enum status status = wire_decode_record(&record, body);

    if (status != STATUS_OK) {
        return status;
    }
    if (record.kind == RECORD_ANSWER) {
        run->charge = record.as.answer.charge;
    } else if (record.kind == RECORD_ROUND && blob.size == run->width * sizeof *run->step) {
        memcpy(run->step, blob.data, blob.size);
        run->agents = record.as.round.agent_count;
    }
    record_free(&record);
    return status;
}

static enum status read_job(struct run *run, const char *path, struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    enum status status = config_load(&text, &size, path, why);

    if (status == STATUS_OK) {
        status = job_parse(&run->job, (struct slice){text, size}, path, why);
    }
    free(text);
    if (status == STATUS_OK) {
        run->width = round_width(&run->job);
        run->step = calloc(run->width, sizeof *run->step);
        run->noise = calloc(run->width, sizeof *run->noise);
        status = run->step == NULL || run->noise == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    }
    return status;
}

/* Takes an agent's exact sum from what is in run->noise. */
static enum status subtract(struct run *run, const char *path, struct why *why)
{
    struct dataset data = {0};
    int64_t *exact = calloc(run->width + 1, sizeof *exact);
    double *zero = calloc(run->width + 1, sizeof *zero);
    FILE *file = fopen(path, "rb");
    enum status status = STATUS_NO_MEMORY;

    if (file != NULL && exact != NULL && zero != NULL) {
        status = dataset_read(&data, file, path, &run->job.schema,
                              &(struct dataset_options){.use = DATASET_LEARN}, why);
    }
    if (status == STATUS_OK) {
        const struct gradient_rows rows = {
            .x = data.x, .y = data.y, .row_count = data.record_count};
        status = gradient_sum(exact, &update_stage(&run->job.stage[0])->gradient, zero, &rows);
    }
    for (size_t i = 0; i < run->width && status == STATUS_OK; i++) {
        run->noise[i] -= exact[i];
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    dataset_free(&data);
    free(exact);
    free(zero);
    return status;
}

static enum status read_run(struct run *run, int count, char **argument, struct why *why)
{
    enum status status = read_job(run, argument[1], why);
    if (status == STATUS_OK) {
        status = journal_sqlite_read(argument[2], "coordinator", visit, run, why);
    }
    if (status == STATUS_OK) {
        status = journal_sqlite_read(argument[3], "agent", visit, run, why);
    }
    const struct stage *stage = &run->job.stage[0];
    for (size_t i = 0; i < run->width && status == STATUS_OK; i++) {
        double mean = -run->step[i] / update_stage(stage)->optimiser.rate;
        run->noise[i] =
            llround(ldexp(mean * run->agents * (double)stage->batch, (int)stage->grid_bits));
    }
    for (int i = FIRST_DATA; i < count && status == STATUS_OK; i++) {
        status = subtract(run, argument[i], why);
    }
    return status;
}

/* P(noise <= x): with scales of 10^4 steps and more the discrete ones are as the continuous ones. */
static double probability(bool gaussian, double scale, double x)
{
    if (gaussian) {
        return 0.5 * erfc(-x / (scale * sqrt(2)));
    }
    return x < 0 ? 0.5 * exp(x / scale) : 1 - 0.5 * exp(-x / scale);
}

/* The p-value of the noise, were its scale factor times the charged one. */
static double fit(const struct run *run, double scale, double factor)
{
    const bool gaussian = run->charge.mechanism == MECHANISM_DISCRETE_GAUSSIAN;
    uint64_t seen[EDGES + 1] = {0};
    double expected[EDGES + 1] = {0};
    double edge[EDGES];
    double before = 0;

    for (int i = 0; i < EDGES; i++) {
        edge[i] = floor((i - MIDDLE) * scale / 4) + 0.5;
        double below = probability(gaussian, scale * factor, edge[i]);
        expected[i] = (double)run->width * (below - before);
        before = below;
    }
    expected[EDGES] = (double)run->width * (1 - before);
    for (size_t v = 0; v < run->width; v++) {
        size_t bin = 0;
        while (bin < EDGES && (double)run->noise[v] > edge[bin]) {
            bin++;
        }
        seen[bin]++;
    }
    return chi_square_p(seen, expected, EDGES + 1);
}

static bool judge(const char *what, double factor, bool good, double p)
{
    (void)printf("%-6s %s, %g times the charged scale: p %.3g\n", good ? "ok" : "FAILED", what,
                 factor, p);
    return good;
}

static bool judge_run(const struct run *run)
{
    static const double wrong[] = {0.5, 2, 0.7071, 1.4142, 1.2, 0.8};
    const bool gaussian = run->charge.mechanism == MECHANISM_DISCRETE_GAUSSIAN;
    const double sensitivity =
        (double)gradient_sensitivity(&update_stage(&run->job.stage[0])->gradient);
    const double scale = gaussian ? sensitivity * (double)run->charge.sigma_micro * 1e-6
                                  : sensitivity / ((double)run->charge.epsilon_micro * 1e-6);
    const char *name = gaussian ? "gaussian" : "laplace";
    double p = fit(run, scale, 1);
    bool good = judge(name, 1, p >= REJECT_BELOW, p) && scale > 10000;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        p = fit(run, scale, wrong[i]);
        good = judge("planted", wrong[i], p < REJECT_BELOW, p) && good;
    }
    return good && run->width >= VALUES_MIN;
}

int main(int argc, char **argv)
{
    struct run *run = calloc(1, sizeof *run);
    struct why why = {""};
    bool good = false;

    if (argc <= FIRST_DATA || run == NULL) {
        (void)fputs("usage: noise_of_central JOB COORDINATOR-STATE AGENT-STATE DATA..\n", stderr);
        free(run);
        return 2;
    }
    if (read_run(run, argc, argv, &why) != STATUS_OK) {
        (void)fprintf(stderr, "noise_of_central: %s\n", why.text);
    } else if (run->agents != (double)(argc - FIRST_DATA)) {
        (void)fputs("noise_of_central: the journal's round is not of so many agents\n", stderr);
    } else {
        good = judge_run(run);
    }
    job_free(&run->job);
    free(run->step);
    free(run->noise);
    free(run);
    return good ? 0 : 1;
}
