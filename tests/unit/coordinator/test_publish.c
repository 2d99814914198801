/* The published results of a history: a name for each expert, the price, nothing that needs exact
 * records; and the chosen model, exactly. */

#include "coordinator/publish.h"
#include "job/terms.h"
#include "job/trust.h"
#include "task/losses/stage.h"
#include "task/update/stage.h"
#include "tests/unit/coordinator/history.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The same lambda twice: two experts would have one name. */
static const char TEXT[] = HISTORY_LOCAL
    "  - {task: fit, loss: hinge, lambdas: [0.1], share: 0.3,\n"
    "     experts: {own: false, shifts: [0.5]}, tolerance: 0.000001, grid_bits: 16}\n"
    "  - {task: losses, strategy: rwm, loss: zero_one, rounds: 1, batch: 10, share: 0.4,\n"
    "     grid_bits: 4}\n"
    "  - {task: fit, loss: hinge, lambdas: [0.1], share: 0.3,\n"
    "     experts: {own: false, shifts: [0.5]}, tolerance: 0.000001, grid_bits: 16}\n";

static struct job job;
static struct outcome outcome;
static struct peer agents[2] = {{"hospital-2"}, {"hospital-1"}};

static void add_round(uint32_t round, uint32_t chosen, const int64_t *sum, struct slice blob)
{
    struct record record = history_round(round, agents, round == 0 ? 2 : 1);
    int64_t copy[2] = {0};
    if (sum != NULL) {
        memcpy(copy, sum, sizeof copy);
        record.as.round.sum = copy;
        record.as.round.sum_count = 2;
    }
    record.as.round.chosen = chosen;
    record.as.round.duration_ms = 250;
    cr_assert_eq(outcome_add(&outcome, &job, &record, blob), STATUS_OK);
}

static void setup(void)
{
    static const double first[4] = {1, 2, 3, 4};
    static const double second[4] = {5, 6, 7, 8.125};
    static const int64_t sum[2] = {80, 40};
    history_begin(&job, &outcome, TEXT);
    add_round(0, 0, NULL, (struct slice){first, sizeof first});
    add_round(1, 1, sum, (struct slice){0});
    add_round(2, 3, NULL, (struct slice){second, sizeof second});
}

static void teardown(void)
{
    outcome_free(&outcome);
    job_free(&job);
}

Test(publish, tells_the_history, .init = setup, .fini = teardown)
{
    struct result result;
    struct result back;
    struct why why = {""};
    char *text = NULL;
    const struct publish_options options = {.job = &job, .seconds = 2.5};
    cr_assert(publish_result(&result, &outcome, &options) == STATUS_OK);
    cr_assert(result.private && !result.simulated && result.finished && !result.has_seed);
    cr_assert_str_eq(result.privacy.sent, trust_at(TRUST_LOCAL)->sent);
    cr_assert_str_eq(result.privacy.noise, trust_at(TRUST_LOCAL)->noise);
    cr_assert(result.expert_count == 4 && result.round_count == 3 && result.feature_count == 2);
    cr_assert(result.chosen == 3 && result.expert[3].model[1] == 8.125);
    cr_assert(isnan(result.accuracy) && isnan(result.auc) && isnan(result.baseline.majority));
    cr_assert(result.round[0].loss == NULL && result.round[0].chosen == 0);
    cr_assert(result.round[0].stage_number == 1 && result.round[2].stage_number == 3);
    cr_assert(result.round[1].chosen == 1 && result.round[1].seconds == 0.25);
    /* 80 sixteenths over one agent's 10 records; the later experts were not judged. */
    cr_assert_float_eq(result.round[1].loss[0], 0.5, 1e-12);
    cr_assert(isnan(result.round[1].loss[2]) && isnan(result.round[1].weight[3]));
    cr_assert_float_eq(result.round[1].weight[0] + result.round[1].weight[1], 1, 1e-12);
    /* eta is sqrt(8 ln 2) in a play of one round; the noise is what the stage's releases say. */
    const double eta = sqrt(8 * log(2));
    double noise = NAN;
    for (size_t i = 0; i < result.release_count; i++) {
        noise = strcmp(result.release[i].unit, "loss") == 0 ? result.release[i].noise : noise;
    }
    cr_assert_float_eq(result.round[1].weight_noise, eta * noise, 1e-6 * noise);
    cr_assert(isnan(result.round[0].weight_noise) && isnan(result.round[2].weight_noise));
    const double at = log(result.round[1].weight[0] / result.round[1].weight[1]);
    const double reach = 2 * eta * noise * sqrt(2);
    cr_assert_float_eq(result.expert[0].weight_low, 1 / (1 + exp(reach - at)), 1e-6);
    cr_assert_float_eq(result.expert[1].weight_high, 1 / (1 + exp(at - reach)), 1e-6);
    cr_assert(isnan(result.expert[2].weight_low), "a later one was not judged");
    cr_assert(result.agent_count == 2);
    cr_assert_str_eq(result.agent[0].name, "hospital-1");
    cr_assert_float_eq(result.agent[0].epsilon_spent, 0.3, 1e-12);
    cr_assert_float_eq(result.agent[0].epsilon_left, 0.7, 1e-12);
    cr_assert_float_eq(result.agent[1].epsilon_spent, 1, 1e-12);
    cr_assert(result.agent[1].epsilon_left == 0);
    cr_assert(result.regret.bound > 0 && result.regret.textbook > result.regret.bound);

    cr_assert(result_to_json(&text, &result) == STATUS_OK);
    cr_assert(result_from_json(&back, (struct slice){text, strlen(text)}, "r", &why) == STATUS_OK,
              "%s", why.text);
    cr_assert(back.chosen == 3, "a name points at one expert, even of two alike");
    free(text);
    result_free(&result);
    result_free(&back);
}

/* As `status` says it. Planted: the result of a job that failed as nobody joined it told the price of its first round. */
Test(publish, tells_no_price_of_a_round_that_nobody_answered, .fini = teardown)
{
    static const double paid[] = {0, 0.3};
    for (size_t answers = 0; answers < 2; answers++) {
        struct result result;
        const struct publish_options options = {.job = &job, .seconds = 1};
        history_begin(&job, &outcome, TEXT);
        struct record record = history_round(0, agents, answers);
        record.as.round.failed = true;
        cr_assert_eq(outcome_add(&outcome, &job, &record, (struct slice){0}), STATUS_OK);
        cr_assert_eq(publish_result(&result, &outcome, &options), STATUS_OK);
        cr_assert(result.round_count == 1 && result.round[0].failed);
        cr_expect_float_eq(result.round[0].epsilon, paid[answers], 1e-12);
        result_free(&result);
        if (answers == 0) {
            teardown();
        }
    }
}

Test(publish, makes_the_chosen_model, .init = setup, .fini = teardown)
{
    struct model model;
    struct model back;
    struct why why = {""};
    char *text = NULL;
    const struct publish_options options = {.job = &job};
    cr_assert(publish_model(&model, &outcome, &options) == STATUS_OK);
    cr_assert(model.weight_count == 2 && model.weight[0] == 7 && model.weight[1] == 8.125);
    cr_assert(model.loss.kind == LOSS_HINGE && model.lambda == 0.1 && model.private);
    cr_assert(model.epsilon_micro == 1000000);
    cr_assert(model_to_json(&text, &model) == STATUS_OK);
    cr_assert(model_from_json(&back, (struct slice){text, strlen(text)}, "m", &why) == STATUS_OK,
              "%s", why.text);
    cr_assert(memcmp(back.weight, model.weight, 2 * sizeof *back.weight) == 0);
    free(text);
    model_free(&model);
    model_free(&back);
}

Test(publish, of_a_seeded_job_is_never_called_private, .init = setup, .fini = teardown)
{
    struct result result;
    struct model model;
    const struct publish_options options = {.job = &job, .seeded = true, .seed = 9};
    cr_assert(publish_result(&result, &outcome, &options) == STATUS_OK);
    cr_assert(publish_model(&model, &outcome, &options) == STATUS_OK);
    cr_assert(!result.private && result.has_seed && result.seed == 9);
    cr_assert(!model.private && strstr(model.statement, "NOT PRIVATE") != NULL);
    result_free(&result);
    model_free(&model);
}

/* The figures told before the job are those of its outcome. */
Test(publish, terms_are_what_came_of_them, .init = setup, .fini = teardown)
{
    struct terms terms;
    struct result result;
    const struct publish_options options = {.job = &job, .seconds = 1};
    cr_assert(terms_of_stage(&terms, &job, 1, (struct terms_size){1, 0}, NULL) == STATUS_OK);
    cr_assert_float_eq(terms.regret, fmin(1, outcome_regret_bound(&outcome).tight), 1e-12);
    cr_assert(publish_result(&result, &outcome, &options) == STATUS_OK);
    cr_assert_eq(result.release_count, 3, "one line for each stage");
    cr_assert_str_eq(result.release[1].task, "losses");
    cr_assert_str_eq(result.release[1].mechanism, "discrete Laplace");
    cr_assert_float_eq(result.release[1].noise, terms.line[0].noise, 1e-12);
    cr_assert_float_eq(result.release[1].epsilon, 0.4, 1e-12);
    cr_assert(result.release[1].delta == 0 && result.release[1].passes == 1);
    terms_free(&terms);
    result_free(&result);
}

static void add_sum(uint32_t round, const int64_t *sum, size_t count)
{
    int64_t copy[8] = {0};
    struct record record = history_round(round, agents, 2);
    memcpy(copy, sum, count * sizeof *sum);
    record.as.round.sum = copy;
    record.as.round.sum_count = count;
    cr_assert_eq(outcome_add(&outcome, &job, &record, (struct slice){0}), STATUS_OK);
}

#define QUESTIONS                                                                                  \
    HISTORY_LOCAL                                                                                  \
    "  - {task: query, queries: [\"count: u >= 0\"], batch: 10, share: 0.5, grid_bits: 4}\n"       \
    "  - {task: select, candidates: {stumps: [u], thresholds: 1}, batch: 10, share: 0.5}\n"

Test(publish, tells_answers_and_selections_of_a_job_without_a_model, .fini = teardown)
{
    static const int64_t count[1] = {7 * 16 + 8};
    static const int64_t picked[1] = {0};
    struct result result;
    struct result back;
    struct model model;
    struct why why = {""};
    char *text = NULL;
    const struct publish_options options = {.job = &job, .seconds = 1};
    history_begin(&job, &outcome, QUESTIONS);
    add_sum(0, count, 1);
    add_sum(1, picked, 1);
    cr_assert(outcome.finished);
    cr_assert(publish_result(&result, &outcome, &options) == STATUS_OK);
    cr_assert(publish_model(&model, &outcome, &options) == STATUS_NOT_FOUND);
    cr_assert(result.chosen == RESULT_NONE && result.expert_count == 0);
    cr_assert(result.round[0].chosen == RESULT_NONE && result.round[1].chosen == RESULT_NONE);
    cr_assert_eq(result.answer_count, 1);
    cr_assert_str_eq(result.answer[0].name, "count: u >= 0");
    cr_assert_float_eq(result.answer[0].value, 7.5, 1e-12);
    cr_assert(result.answer[0].low <= 7.5 && result.answer[0].high >= 7.5);
    cr_assert(isnan(result.answer[0].exact), "no coordinator knows it");
    cr_assert(result.round[1].note != NULL && strstr(result.round[1].note, "u >= ") != NULL);
    cr_assert_eq(result.release_count, 2);
    cr_assert_float_eq(result.release[0].noise, sqrt(2) * 2 * sqrt(2), 1e-9, "two agents' noise");
    cr_assert(result_to_json(&text, &result) == STATUS_OK);
    cr_assert(result_from_json(&back, (struct slice){text, strlen(text)}, "r", &why) == STATUS_OK,
              "%s", why.text);
    free(text);
    result_free(&back);
    result_free(&result);
}

#define GRADIENTS                                                                                  \
    HISTORY_JOB("unit: record, neighbours: replace_one, trust: central, epsilon: 1, delta: 0.001", \
                "minimum: 1")                                                                      \
    "  - {task: update, loss: hinge, rounds: 1, batch: 10, clip: 1, rate: 1, noise: gaussian}\n"

Test(publish, tells_no_gaussian_epsilon_without_its_delta, .fini = teardown)
{
    struct result result;
    struct model model;
    struct record record = history_round(0, agents, 2);
    const struct publish_options options = {.job = &job, .seconds = 1};
    history_begin(&job, &outcome, GRADIENTS);
    const size_t count = optimiser_state_count(&update_stage(&job.stage[0])->optimiser);
    double *state = calloc(count, sizeof *state);
    cr_assert(state != NULL);
    state[0] = 0.5;
    record.as.round.blob_bytes = count * sizeof *state;
    cr_assert_eq(outcome_add(&outcome, &job, &record, (struct slice){state, count * 8}), STATUS_OK);
    free(state);
    cr_assert(publish_result(&result, &outcome, &options) == STATUS_OK);
    for (size_t i = 0; i < 2; i++) {
        cr_assert(result.agent[i].epsilon_spent > 0.9 && result.agent[i].epsilon_spent <= 1);
        cr_assert_float_eq(result.agent[i].delta_spent, 0.001, 1e-15);
    }
    cr_assert_float_eq(result.release[0].delta, 0.001, 1e-15);
    cr_assert(result.release[0].sigma > 0);
    cr_assert(result.chosen == 0 && result.round[0].chosen == 0);
    cr_assert(publish_model(&model, &outcome, &options) == STATUS_OK);
    cr_assert(model.loss.kind == LOSS_HINGE, "what the update minimised");
    model_free(&model);
    result_free(&result);
}

#define PLAYS                                                                                      \
    HISTORY_JOB("unit: record, neighbours: replace_one, trust: central, epsilon: 4, delta: 0.001", \
                "minimum: 1, records: 100")                                                        \
    "  - {task: fit, loss: hinge, lambdas: [0.1], share: 0.5, experts: {shifts: [0.5]}}\n"         \
    "  - {task: losses, strategy: rwm, loss: zero_one, rounds: 1, batch: 10, share: 0.5}\n"

Test(publish, tells_what_a_play_was_promised_and_not_what_it_came_to, .fini = teardown)
{
    static const double weights[4] = {1, 2, 3, 4};
    static const int64_t state[3] = {1, 0, 1};
    struct result result;
    const struct publish_options options = {.job = &job, .seconds = 1};
    history_begin(&job, &outcome, PLAYS);
    add_round(0, 0, NULL, (struct slice){weights, sizeof weights});
    add_sum(1, state, 3);
    const struct hedge_plan *plan = &losses_stage(&job.stage[1])->plays.plan;
    cr_assert(publish_result(&result, &outcome, &options) == STATUS_OK);
    cr_assert_str_eq(result.privacy.sent, trust_at(TRUST_CENTRAL)->sent);
    cr_assert_str_eq(result.privacy.noise, trust_at(TRUST_CENTRAL)->noise);
    cr_assert(isnan(result.regret.average) && isnan(result.round[1].regret_average));
    cr_assert(result.round[1].loss == NULL && result.round[1].weight == NULL);
    cr_assert_float_eq(result.regret.bound, fmin(1, plan->regret_bound + plan->cap_probability),
                       1e-12);
    cr_assert(result.regret.textbook >= plan->regret_bound_textbook);
    cr_assert_str_eq(result.release[1].mechanism, "exponential mechanism");
    cr_assert(isnan(result.release[1].noise));
    result_free(&result);
}

Test(publish, has_no_model_before_the_first_fit)
{
    struct model model;
    struct result result;
    struct why why = {""};
    cr_assert_eq(job_parse(&job, (struct slice){TEXT, strlen(TEXT)}, "toy", &why), STATUS_OK);
    outcome_init(&outcome, &job, OUTCOME_KEEPS);
    const struct publish_options options = {.job = &job, .seconds = NAN};
    cr_assert(publish_model(&model, &outcome, &options) == STATUS_NOT_FOUND);
    cr_assert(publish_result(&result, &outcome, &options) == STATUS_OK);
    cr_assert(result.chosen == RESULT_NONE && !result.finished);
    result_free(&result);
    teardown();
}
