/* Every allocation of ours fails once, at every position: the answer is STATUS_NO_MEMORY, nothing
 * is leaked (run under ASan) and nothing half made is handed over. */

#include "config/config.h"
#include "job/job.h"
#include "support/job_text.h"
#include "tests/support/failing_memory.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const char answers_text[] =
    "hedgerow: 1\n"
    "job: trial\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features: [{column: age, centre: 74, half_width: 24}]\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0.001}\n"
    "cohort: {minimum: 3, join_deadline_s: 60, deadline_s: 30}\n"
    "stages:\n"
    "  - {task: statistics, lambdas: [0.1], batch: 99, noise: gaussian, experts: {shifts: [0.5]}}\n"
    "  - {task: predict, loss: squared, lambdas: [0.5], share: 0.4, points: [[70], [50]],\n"
    "     kernel: {kind: gaussian, gamma: 1}, experts: {shifts: [0.5]}}\n";

static const char stream_text[] =
    "hedgerow: 1\n"
    "job: trial\n"
    "data: {label: {centre: 1, half_width: 1}, series: {column: entries, lags: [1, 7]}}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: 3, join_deadline_s: 60, deadline_s: 30}\n"
    "stages:\n"
    "  - {task: online, rounds: 3, t0: 20, share: 0.3, grid_bits: 32, map: {kind: nystrom,\n"
    "     kernel: gaussian, gamma: 2, landmarks: [[1, 1], [0.5, 0]]}}\n"
    "  - {task: fit, loss: squared, lambdas: [0.1], share: 0.2, map: {kind: fourier,\n"
    "     kernel: laplacian, gamma: 2, features: 4, seed: 1}}\n"
    "  - {task: predict, loss: squared, lambdas: [0.1], share: 0.1, points: [[1, 1]],\n"
    "     kernel: {gamma: 1}, map: {kind: nystrom, kernel: gaussian, gamma: 2,\n"
    "     landmarks: [[1, 1], [0.5, 0]]}}\n"
    "  - {task: losses, loss: absolute, rounds: 2, batch: 9, share: 0.4,\n"
    "     forecasters: [{name: a, features: [lag_1]}, {name: b, features: [lag_1, lag_7]}]}\n";

Test(job_memory, failing_anywhere_gives_no_job)
{
    static const char *const text[] = {job_text, answers_text, stream_text};
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        long position = 0;
        bool survived = false;
        for (; !survived && position < 10000; position++) {
            struct job job;
            struct why why = {{0}};
            countdown = position;
            enum status status =
                job_parse(&job, (struct slice){text[i], strlen(text[i])}, "job.yml", &why);
            survived = countdown >= 0;
            countdown = -1;
            cr_assert_eq(status, survived ? STATUS_OK : STATUS_NO_MEMORY, "at %ld: %s", position,
                         why.text);
            cr_assert_eq(job.stage != NULL, survived);
            job_free(&job);
        }
        cr_assert(survived && position > 20, "only %ld allocations were seen", position);
    }
}

Test(job_memory, failing_anywhere_gives_no_override)
{
    long position = 0;
    bool survived = false;
    for (; !survived && position < 10000; position++) {
        char *out = NULL;
        size_t size = 0;
        countdown = position;
        enum status status =
            config_override(&out, &size, (struct slice){job_text, strlen(job_text)}, "job.yml",
                            "stages.0.lambdas=[1, 2]", NULL);
        survived = countdown >= 0;
        countdown = -1;
        cr_assert_eq(status, survived ? STATUS_OK : STATUS_NO_MEMORY, "at %ld", position);
        cr_assert_eq(out != NULL, survived);
        free(out);
    }
    cr_assert(survived && position > 20, "only %ld allocations were seen", position);
}
