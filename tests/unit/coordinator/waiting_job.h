/* waiting_job.h - the text of a job for tests of queues. */

#ifndef TESTS_UNIT_COORDINATOR_WAITING_JOB_H
#define TESTS_UNIT_COORDINATOR_WAITING_JOB_H

static const char WAITING_JOB[] =
    "hedgerow: 1\n"
    "job: waiting\n"
    "data:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: 2, deadline_s: 30}\n"
    "stages:\n"
    "  - {task: fit, loss: logistic, lambdas: [0.1, 0.2], share: 0.6,"
    " tolerance: 0.01, grid_bits: 10}\n";

#endif
