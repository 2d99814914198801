#include "agent/policy.h"

#include "support/job_text.h"
#include "task/task.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char policy_text[] = "hedgerow: 1\n"
                                  "epsilon: 10.0000009\n"
                                  "delta: 1e-6\n"
                                  "job_epsilon: 2\n"
                                  "cohort_minimum: 3\n"
                                  "tasks: [fit, losses]\n"
                                  "trust: [local]\n"
                                  "message_mb_max: 64\n"
                                  "answer_slot_ms: 1000\n";

/* Writes the policy with one part replaced. */
static struct slice with(char text[static 1024], const char *from, const char *to)
{
    const char *at = strstr(policy_text, from);
    cr_assert_not_null(at, "%s", from);
    int length = snprintf(text, 1024, "%.*s%s%s", (int)(at - policy_text), policy_text, to,
                          at + strlen(from));
    return (struct slice){text, (size_t)length};
}

Test(policy, is_read_with_limits_rounded_down)
{
    struct policy policy;
    struct why why = {{0}};
    cr_assert_eq(
        policy_parse(&policy, (struct slice){policy_text, strlen(policy_text)}, "policy.yml", &why),
        STATUS_OK, "%s", why.text);
    cr_assert_eq(policy.epsilon_micro, 10000000);
    cr_assert_eq(policy.delta_atto, UINT64_C(1000000000000));
    cr_assert_eq(policy.job_epsilon_micro, 2000000);
    cr_assert_eq(policy.cohort_min, 3);
    cr_assert(policy.task_allowed[TASK_FIT] && policy.task_allowed[TASK_LOSSES]);
    cr_assert_not(policy.task_allowed[TASK_UPDATE]);
    cr_assert(policy.trust_allowed[TRUST_LOCAL]);
    cr_assert_eq(policy.message_bytes_max, 64000000);
    cr_assert_eq(policy.answer_slot_ms, 1000);
}

Test(policy, masked_sums_are_joined_with_enough_that_count_as_dishonest)
{
    char text[1024];
    struct policy policy;
    struct why why = {{0}};
    struct job job = {.trust = TRUST_DISTRIBUTED, .cohort_min = 5, .dishonest = 2};
    cr_assert_eq(policy_parse(&policy,
                              with(text, "trust: [local]",
                                   "trust: [distributed]\npeers: peers\n"
                                   "dishonest_minimum: 3"),
                              "policy.yml", &why),
                 STATUS_OK, "%s", why.text);
    cr_assert(policy_allows_masks(&policy));
    cr_expect_str_eq(policy.peers, "peers");
    cr_expect_eq(policy_check_job(&policy, &job, &why), STATUS_REFUSED);
    cr_expect_not_null(strstr(why.text, "the policy wants at least 3 (dishonest_minimum)"), "%s",
                       why.text);
    policy.peers[0] = '\0';
    cr_expect_eq(policy_check_job(&policy, &job, &why), STATUS_REFUSED);
    cr_expect_not_null(strstr(why.text, "names no list of institutions"), "%s", why.text);
    policy.trust_allowed[TRUST_DISTRIBUTED] = false;
    cr_expect(!policy_allows_masks(&policy));
    cr_expect_eq(policy_check_job(&policy, &job, &why), STATUS_REFUSED);
    cr_expect_not_null(strstr(why.text, "its trust is distributed"), "%s", why.text);
}

Test(policy, without_a_limit_per_job_has_the_total_alone)
{
    struct policy policy;
    struct why why = {{0}};
    char text[1024];
    cr_assert_eq(policy_parse(&policy, with(text, "job_epsilon: 2\n", ""), "policy.yml", &why),
                 STATUS_OK, "%s", why.text);
    cr_assert_eq(policy.job_epsilon_micro, 0);
}

Test(policy, has_an_allowance_per_job_and_per_window_of_days)
{
    struct policy policy;
    struct why why = {{0}};
    char text[1024];
    cr_assert_eq(policy_parse(&policy,
                              with(text, "job_epsilon: 2\n",
                                   "job_epsilon: 2\nallowance_days: 365\nallowance_epsilon: 3\n"
                                   "allowance_delta: 1e-7\n"),
                              "policy.yml", &why),
                 STATUS_OK, "%s", why.text);
    struct allowances allowances = policy_allowances(&policy);
    cr_assert_eq(allowances.total.epsilon_micro, 10000000);
    cr_assert_eq(allowances.job.epsilon_micro, 2000000);
    cr_assert_eq(allowances.job.delta_atto, allowances.total.delta_atto, "that of the total");
    cr_assert_eq(allowances.window_days, 365);
    cr_assert_eq(allowances.window.epsilon_micro, 3000000);
    cr_assert_eq(allowances.window.delta_atto, UINT64_C(100000000000));
}

struct policy_case {
    const char *from;
    const char *to;
    const char *message;
};

Test(policy, refuses_with_place_and_remedy)
{
    static const struct policy_case list[] = {
        {"epsilon: 10.0000009\n", "",
         "policy.yml:1:1: has no \"epsilon\": add it, for example `epsilon: 2`"},
        {"delta: 1e-6\n", "", "policy.yml:1:1: has no \"delta\": add it, for example `delta: 0`"},
        {"cohort_minimum: 3\n", "",
         "policy.yml:1:1: has no \"cohort_minimum\": add it, for example `cohort_minimum: 3`"},
        {"tasks: [fit, losses]\n", "",
         "policy.yml:1:1: has no \"tasks\": add it, for example `tasks: [fit, losses]`"},
        {"trust: [local]\n", "",
         "policy.yml:1:1: has no \"trust\": add it, for example `trust: [local]`"},
        {"message_mb_max: 64\n", "",
         "policy.yml:1:1: has no \"message_mb_max\": add it, for example `message_mb_max: 64`"},
        {"answer_slot_ms: 1000\n", "",
         "policy.yml:1:1: has no \"answer_slot_ms\": add it, for example `answer_slot_ms: 1000`"},
        {"[fit, losses]", "[fit, loses]",
         "policy.yml:6:14: tasks[1]: \"loses\" is not a choice; did you mean \"losses\"?"},
        {"[fit, losses]", "all",
         "policy.yml:6:8: tasks: is a single value, not a list: write it like [fit, losses]"},
        {"[local]", "[]", "policy.yml:7:8: trust: is an empty list: write it like [local]"},
        {"[local]", "[local, distributed]",
         "policy.yml:7:8: trust: allows distributed, which needs a list of institutions: add "
         "`peers: peers`, and fill it with `hedgerow-agent peers add`"},
        {"job_epsilon: 2", "job_epsilon: 2\ndishonest_minimum: 255",
         "policy.yml:5:20: dishonest_minimum: \"255\" is out of range: write a number from 1 to "
         "254"},
        {"job_epsilon: 2", "job_epsilon: 11",
         "policy.yml:4:14: job_epsilon: is more than epsilon, the total: lower it, or leave it "
         "out"},
        {"job_epsilon: 2", "job_epsilon: 0",
         "policy.yml:4:14: job_epsilon: \"0\" is out of range: write a number from 0.000001 to "
         "1000000"},
        {"job_epsilon: 2", "job_delta: 0",
         "policy.yml:4:12: job_delta: says nothing without job_epsilon: add it, or leave both out"},
        {"job_epsilon: 2", "job_epsilon: 2\njob_delta: 1e-5",
         "policy.yml:5:12: job_delta: is more than delta, the total: lower it, or leave it out"},
        {"job_epsilon: 2", "allowance_days: 365",
         "policy.yml:4:17: allowance_days: says nothing without allowance_epsilon: add it, or leave "
         "both out"},
        {"job_epsilon: 2", "allowance_epsilon: 3",
         "policy.yml:4:20: allowance_epsilon: says nothing without allowance_days: add it, or leave "
         "both out"},
        {"job_epsilon: 2", "allowance_days: 365\nallowance_epsilon: 11",
         "policy.yml:5:20: allowance_epsilon: is more than epsilon, the total: lower it, or leave "
         "it out"},
        {"job_epsilon: 2", "allowance_days: 3661\nallowance_epsilon: 1",
         "policy.yml:4:17: allowance_days: \"3661\" is out of range: write a number from 1 to 3660"},
        {"answer_slot_ms: 1000", "answer_slot_ms: 0",
         "policy.yml:9:17: answer_slot_ms: \"0\" is out of range: write a number from 1 to "
         "604800000"},
        {"epsilon: 10.0000009", "epsilon: -1",
         "policy.yml:2:10: epsilon: \"-1\" is out of range: write a number from 0.000001 to "
         "1000000"},
        {"epsilon: 10.0000009", "epsilom: 10",
         "policy.yml:2:1: epsilom: \"epsilom\" is not a key here; did you mean \"epsilon\"?"},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        struct policy policy;
        struct why why = {{0}};
        char text[1024];
        struct slice slice = with(text, list[i].from, list[i].to);
        cr_expect_eq(policy_parse(&policy, slice, "policy.yml", &why), STATUS_INVALID, "%s", text);
        cr_expect_str_eq(why.text, list[i].message, "gave: %s", why.text);
        cr_expect(policy.epsilon_micro == 0 && !policy.task_allowed[TASK_FIT],
                  "a refused policy allows nothing");
    }
}

/* Judges the trial job (epsilon 1, cohort 3, deadline 30 s, both tasks) by a changed policy. */
static enum status judge(const char *from, const char *to, struct why *why)
{
    struct policy policy;
    struct job job;
    char text[1024];
    cr_assert_eq(policy_parse(&policy, with(text, from, to), "policy.yml", why), STATUS_OK, "%s",
                 why->text);
    cr_assert_eq(job_parse(&job, (struct slice){job_text, strlen(job_text)}, "job.yml", why),
                 STATUS_OK, "%s", why->text);
    enum status status = policy_check_job(&policy, &job, why);
    job_free(&job);
    return status;
}

Test(policy, allows_what_it_covers_to_the_last_unit)
{
    static const char *const list[][2] = {
        {"hedgerow: 1\n", "hedgerow: 1\n"},
        {"job_epsilon: 2", "job_epsilon: 1"},
        {"epsilon: 10.0000009\ndelta: 1e-6\njob_epsilon: 2", "epsilon: 1\ndelta: 0"},
        {"answer_slot_ms: 1000", "answer_slot_ms: 29999"},
        /* 3 fits * (1 + 2 shifts + 3 own) experts * 6 features * 8 bytes are the most to arrive; a
         * limit below 1 kB cannot be written. */
        {"message_mb_max: 64", "message_mb_max: 0.001"},
        {"cohort_minimum: 3", "cohort_minimum: 1"},
        {"delta: 1e-6\njob_epsilon: 2", "delta: 0\nleast_epsilon: 0.016666"},
        {"job_epsilon: 2", "least_epsilon: 0"},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        struct why why = {{0}};
        cr_expect_eq(judge(list[i][0], list[i][1], &why), STATUS_OK, "%s: %s", list[i][1],
                     why.text);
    }
}

Test(policy, refuses_a_job_with_the_reason)
{
    static const struct policy_case list[] = {
        {"job_epsilon: 2", "job_epsilon: 0.999999",
         "it may cost epsilon 1, and the policy allows a job (job_epsilon) 0.999999"},
        {"epsilon: 10.0000009\ndelta: 1e-6\njob_epsilon: 2", "epsilon: 0.9999999\ndelta: 0",
         "it may cost epsilon 1, and the policy's total (epsilon) is 0.999999"},
        {"job_epsilon: 2", "allowance_days: 30\nallowance_epsilon: 0.999999",
         "it may cost epsilon 1, and the policy allows any allowance_days (allowance_epsilon) "
         "0.999999"},
        {"cohort_minimum: 3", "cohort_minimum: 4",
         "its rounds count with 3 agents, and the policy wants at least 4 (cohort_minimum)"},
        {"[fit, losses]", "[fit]",
         "its stage 2 is the task losses, which the policy does not allow (tasks)"},
        {"[fit, losses]", "[losses]",
         "its stage 1 is the task fit, which the policy does not allow (tasks)"},
        {"delta: 1e-6\njob_epsilon: 2", "delta: 0\nleast_epsilon: 0.016667",
         "its stage 2, losses, uses 0.2 of the policy's epsilon for a pass of 12 answers, and the "
         "policy wants at least 0.016667 for each (least_epsilon): the journal keeps every charge "
         "for ever"},
        {"answer_slot_ms: 1000", "answer_slot_ms: 30000",
         "its deadline of 30000 ms ends before the first answer slot of 30000 ms: every answer "
         "would be late (answer_slot_ms)"},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        struct why why = {{0}};
        cr_expect_eq(judge(list[i].from, list[i].to, &why), STATUS_REFUSED, "%s", list[i].to);
        cr_expect_str_eq(why.text, list[i].message, "gave: %s", why.text);
    }
}

/* A coordinator wants journal records at almost no price: many rounds with a tiny share, before the stage that has
 * the price. */
Test(policy, refuses_cheap_answers_beside_a_dear_stage)
{
    static const char cheap[] =
        "hedgerow: 1\n"
        "job: cheap\n"
        "data:\n"
        "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
        "  features: [{column: u, centre: 0, half_width: 1}]\n"
        "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n"
        "cohort: {minimum: 3, deadline_s: 30}\n"
        "stages:\n"
        "  - {task: fit, loss: hinge, lambdas: [0.1], share: 0.9, tolerance: 0.001, grid_bits: 16}\n"
        "  - {task: losses, strategy: rwm, loss: zero_one, rounds: %d, batch: 1, share: 0.001}\n";
    for (int rounds = 100; rounds <= 101; rounds++) {
        struct policy policy;
        struct job job;
        struct why why = {{0}};
        char policy_is[1024];
        char text[1024];
        (void)snprintf(text, sizeof text, cheap, rounds);
        cr_assert_eq(
            policy_parse(&policy, with(policy_is, "delta: 1e-6", "delta: 0"), "policy.yml", &why),
            STATUS_OK, "%s", why.text);
        cr_assert_eq(policy.least_epsilon_micro, 10, "unless it says otherwise");
        cr_assert_eq(job_parse(&job, (struct slice){text, strlen(text)}, "job.yml", &why),
                     STATUS_OK, "%s", why.text);
        cr_expect_eq(policy_check_job(&policy, &job, &why),
                     rounds == 100 ? STATUS_OK : STATUS_REFUSED, "%d rounds", rounds);
        job_free(&job);
    }
}

/* For Gaussian noise without a delta no epsilon is enough. The message names the key delta. */
Test(policy, names_the_delta_that_gaussian_noise_lacks)
{
    static const char gaussian[] =
        "hedgerow: 1\n"
        "job: gradients\n"
        "data:\n"
        "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
        "  features: [{column: u, centre: 0, half_width: 1}]\n"
        "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 1e-6}\n"
        "cohort: {minimum: 3, deadline_s: 30}\n"
        "stages: [{task: update, loss: logistic, noise: gaussian, rounds: 2, batch: 100, clip: 1,\n"
        "          rate: 1, grid_bits: 16}]\n";
    static const struct policy_case list[] = {
        {"delta: 1e-6\n", "delta: 0\n",
         "it may cost delta 0.000001, and the policy's total (delta) is 0"},
        {"job_epsilon: 2\n", "job_epsilon: 2\njob_delta: 0\n",
         "it may cost delta 0.000001, and the policy allows a job (job_delta) 0"},
        {"job_epsilon: 2\n", "job_epsilon: 0.5\n",
         "it may cost epsilon 1, and the policy allows a job (job_epsilon) 0.5"},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        struct policy policy;
        struct job job;
        struct why why = {{0}};
        char text[1024];
        cr_assert_eq(
            policy_parse(&policy, with(text, list[i].from, list[i].to), "policy.yml", &why),
            STATUS_OK, "%s", why.text);
        policy.task_allowed[TASK_UPDATE] = true;
        cr_assert_eq(job_parse(&job, (struct slice){gaussian, strlen(gaussian)}, "job.yml", &why),
                     STATUS_OK, "%s", why.text);
        cr_expect_eq(policy_check_job(&policy, &job, &why), STATUS_REFUSED);
        cr_expect_str_eq(why.text, list[i].message, "gave: %s", why.text);
        job_free(&job);
    }
}

Test(policy, refuses_trust_delta_and_size_it_does_not_allow)
{
    struct policy policy;
    struct job job;
    struct why why = {{0}};
    struct slice text = {policy_text, strlen(policy_text)};
    cr_assert_eq(policy_parse(&policy, text, "policy.yml", &why), STATUS_OK);
    cr_assert_eq(job_parse(&job, (struct slice){job_text, strlen(job_text)}, "job.yml", &why),
                 STATUS_OK);
    job.delta_atto = policy.delta_atto + 1;
    cr_assert_eq(policy_check_job(&policy, &job, &why), STATUS_REFUSED);
    cr_assert_str_eq(why.text, "it may cost delta 0.000001000000000001, and the policy's total "
                               "(delta) is 0.000001");
    job.delta_atto = policy.delta_atto;
    cr_assert_eq(policy_check_job(&policy, &job, &why), STATUS_OK);
    /* 3 fits * (1 + 2 shifts + 3 own) experts * 6 features * 8 bytes = 864. */
    policy.message_bytes_max = 863;
    cr_assert_eq(policy_check_job(&policy, &job, &why), STATUS_REFUSED);
    cr_assert_str_eq(why.text, "its answers and models take 864 bytes or more, and the policy "
                               "allows 863 (message_mb_max)");
    policy.message_bytes_max = 864;
    cr_assert_eq(policy_check_job(&policy, &job, &why), STATUS_OK);
    policy.trust_allowed[TRUST_LOCAL] = false;
    cr_assert_eq(policy_check_job(&policy, &job, &why), STATUS_REFUSED);
    cr_assert_str_eq(why.text, "its trust is local, which the policy does not allow (trust)");
    job_free(&job);
}

Test(policy, has_room_for_every_task_and_every_trust)
{
    struct policy policy;
    struct why why = {{0}};
    char text[1024];
    char tasks[256] = "tasks: [";
    cr_assert_eq(sizeof policy.task_allowed / sizeof *policy.task_allowed, TASK_COUNT);
    cr_assert_eq(sizeof policy.trust_allowed / sizeof *policy.trust_allowed, TRUST_COUNT);
    for (unsigned i = 0; i < TASK_COUNT; i++) {
        cr_assert_not_null(task_name((enum task)i));
        cr_assert_not_null(task_text((enum task)i), "%s", task_name((enum task)i));
        cr_assert_not_null(task_bounds((enum task)i), "%s", task_name((enum task)i));
        const size_t used = strlen(tasks);
        (void)snprintf(tasks + used, sizeof tasks - used, "%s%s", i > 0 ? ", " : "",
                       task_name((enum task)i));
    }
    cr_assert_null(task_name(TASK_COUNT));
    cr_assert_null(job_trust_name(TRUST_COUNT));
    cr_assert_eq(
        policy_parse(&policy, with(text, "tasks: [fit, losses", tasks), "policy.yml", &why),
        STATUS_OK, "%s", why.text);
    for (unsigned i = 0; i < TASK_COUNT; i++) {
        cr_assert(policy.task_allowed[i], "%s", task_name((enum task)i));
    }
}

Test(policy, to_begin_with_is_valid_and_asks_a_person)
{
    struct policy policy;
    struct why why = {{0}};
    char *text = policy_template();
    cr_assert_not_null(text);
    cr_assert_eq(policy_parse(&policy, (struct slice){text, strlen(text)}, "policy.yml", &why),
                 STATUS_OK, "%s", why.text);
    cr_expect_eq(policy.approval, APPROVAL_PERSON);
    cr_expect_eq(policy.jobs_per_day, 20);
    cr_expect_eq(policy.job_epsilon_micro, 0, "what is optional is commented out");
    free(text);
}

Test(policy, changes_are_named_with_numbers)
{
    struct policy before;
    struct policy after;
    struct why why = {{0}};
    char text[1024];
    char change[256];
    cr_assert_eq(
        policy_parse(&before, (struct slice){policy_text, strlen(policy_text)}, "policy.yml", &why),
        STATUS_OK);
    cr_expect_not(policy_differs(&before, &before, change, sizeof change));
    cr_assert_eq(
        policy_parse(&after, with(text, "epsilon: 10.0000009", "epsilon: 8"), "policy.yml", &why),
        STATUS_OK);
    cr_expect(policy_differs(&before, &after, change, sizeof change));
    cr_expect_str_eq(change, "epsilon 10 -> 8");
    cr_assert_eq(policy_parse(&after, with(text, "tasks: [fit, losses]", "tasks: [fit]"),
                              "policy.yml", &why),
                 STATUS_OK);
    cr_expect(policy_differs(&before, &after, change, sizeof change));
    cr_expect_str_eq(change, "tasks");
}
