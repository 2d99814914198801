/* job_text.h - a valid job and variants of it, for tests. */

#ifndef TESTS_JOB_TEXT_H
#define TESTS_JOB_TEXT_H

static const char job_text[] =
    "hedgerow: 1\n"
    "job: trial\n"
    "data:\n"
    "  label: {column: death, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: age, centre: 74, half_width: 24}\n"
    "    - {column: sex, categories: [F, M, X], missing: X}\n"
    "    - {column: kappa, transform: log1p, centre: 1.05, half_width: 0.9, missing: 0.5}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: 3, join_deadline_s: 60, deadline_s: 30}\n"
    "stages:\n"
    "  - task: fit\n"
    "    loss: hinge\n"
    "    lambdas: [0.003, 0.01, 0.1]\n"
    "    share: 0.8\n"
    "    experts: {own: true, shifts: [-0.5, 0.5]}\n"
    "    tolerance: 0.0001\n"
    "    grid_bits: 16\n"
    "  - task: losses\n"
    "    strategy: rwm\n"
    "    loss: zero_one\n"
    "    rounds: 12\n"
    "    batch: 100\n"
    "    share: 0.2\n";

#endif
