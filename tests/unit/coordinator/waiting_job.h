/* waiting_job.h - the text of a job for tests of queues, and of rounds that wait. */

#ifndef TESTS_UNIT_COORDINATOR_WAITING_JOB_H
#define TESTS_UNIT_COORDINATOR_WAITING_JOB_H

/* Its cohort and its lambdas are given. */
#define WAITING_TEXT(cohort, lambdas)                                                              \
    "hedgerow: 1\n"                                                                                \
    "job: waiting\n"                                                                               \
    "data:\n"                                                                                      \
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"                                     \
    "  features:\n"                                                                                \
    "    - {column: a, centre: 0, half_width: 1}\n"                                                \
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n"       \
    "cohort: {" cohort "}\n"                                                                       \
    "stages:\n"                                                                                    \
    "  - {task: fit, loss: logistic, lambdas: [" lambdas "], share: 0.6,"                          \
    " tolerance: 0.01, grid_bits: 10}\n"

static const char WAITING_JOB[] = WAITING_TEXT("minimum: 2, deadline_s: 30", "0.1, 0.2");

#endif
