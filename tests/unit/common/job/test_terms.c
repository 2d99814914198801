/* Terms by hand: each figure is computed here from the mechanisms' formulas and the job's numbers, so
 * that a forgotten root, a noise counted for one agent of many, or an average not taken is seen. */

#include "estimate/between.h"
#include "job/terms.h"
#include "task/losses/stage.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEAD                                                                                       \
    "hedgerow: 1\njob: toy\ndata:\n"                                                               \
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"                                     \
    "  features:\n"                                                                                \
    "    - {column: u, centre: 50, half_width: 10}\n"                                              \
    "    - {column: v, centre: 0, half_width: 1}\n"
#define PRIVACY(trust_, delta_)                                                                    \
    "privacy: {unit: record, neighbours: replace_one, trust: " trust_                              \
    ", epsilon: 1, delta: " delta_ "}\n"
#define COHORT "cohort: {minimum: 4, records: 1000, join_deadline_s: 1, deadline_s: 1}\nstages:\n"

#define FIT                                                                                        \
    "  - {task: fit, loss: logistic, lambdas: [0.01, 0.1], share: 0.5, tolerance: 0.000001, grid_bits: 20}\n"
#define LOSSES                                                                                     \
    "  - {task: losses, loss: zero_one, rounds: 5, batch: 100, share: 0.5, grid_bits: 16}\n"
#define QUERY                                                                                      \
    "  - {task: query, queries: [\"count: u >= 60\", \"mean: u\", \"mean: u where v >= 0\", "      \
    "\"histogram: u by 10\", \"quantile: 0.5 of u in 5 rounds\"], batch: 200, share: 0.5, "        \
    "grid_bits: 10}\n"
#define SELECT                                                                                     \
    "  - {task: select, candidates: {stumps: [u], thresholds: 9, predicates: [\"v >= 0\"]}, "      \
    "batch: 200, share: 0.5}\n"
#define UPDATE                                                                                     \
    "  - {task: update, loss: logistic, rounds: 8, batch: 500, clip: 0.5, rate: 1, noise: "        \
    "gaussian, grid_bits: 16}\n"

static struct job job;

static void read_job(const char *text)
{
    struct why why = {""};
    cr_assert(job_parse(&job, (struct slice){text, strlen(text)}, "toy", &why) == STATUS_OK, "%s",
              why.text);
}

static struct terms tell(size_t index, size_t agents)
{
    struct terms terms;
    struct why why = {""};
    cr_assert(terms_of_stage(&terms, &job, index, (struct terms_size){agents, 0}, &why) ==
                  STATUS_OK,
              "%s", why.text);
    return terms;
}

static void close_to(double value, double wanted, double relative, const char *what)
{
    cr_assert(fabs(value - wanted) <= relative * fabs(wanted), "%s: %.10g, not %.10g", what, value,
              wanted);
}

/* sqrt(2) Delta_1/epsilon each; the grid and the tolerance make it a little larger. */
static double weight_noise(double lambda, double epsilon)
{
    const double delta_2 = 2 / (lambda * 2 * 1000);
    return sqrt(2) * sqrt(3) * delta_2 / epsilon;
}

Test(terms, of_a_fit_are_the_average_s_noise)
{
    read_job(HEAD PRIVACY("local", "0") COHORT FIT);
    struct terms terms = tell(0, 9);
    cr_assert_eq(terms.line_count, 2);
    cr_assert_eq(terms.passes, 2);
    cr_assert_eq(terms.charge.epsilon_micro, 250000);
    cr_assert_eq(terms.price.epsilon_micro, 500000);
    cr_assert_eq(terms.price.delta_atto, 0);
    cr_assert_str_eq(terms.mechanism, "discrete Laplace");
    close_to(terms.line[0].noise, weight_noise(0.01, 0.25) / 3, 0.01, "nine agents");
    close_to(terms.line[1].noise, weight_noise(0.1, 0.25) / 3, 0.01, "the larger lambda");
    cr_assert(terms.line[0].noise >= weight_noise(0.01, 0.25) / 3, "never understated");
    terms_free(&terms);
    job_free(&job);

    read_job(HEAD PRIVACY("central", "0") COHORT FIT);
    struct terms once = tell(0, 9);
    close_to(once.line[0].noise, weight_noise(0.01, 0.25) / 9, 0.01, "one noise for all");
    terms_free(&once);
    job_free(&job);
}

Test(terms, of_more_records_have_less_noise)
{
    struct terms terms;
    read_job(HEAD PRIVACY("local", "0") COHORT FIT);
    cr_assert(terms_of_stage(&terms, &job, 0, (struct terms_size){9, 4000}, NULL) == STATUS_OK);
    close_to(terms.line[0].noise, weight_noise(0.01, 0.25) / 12, 0.01, "four times the records");
    terms_free(&terms);
    cr_assert(terms_of_stage(&terms, &job, 0, (struct terms_size){9, 10}, NULL) == STATUS_OK);
    close_to(terms.line[0].noise, weight_noise(0.01, 0.25) / 3, 0.01, "the job's own least");
    terms_free(&terms);
    job_free(&job);
}

Test(terms, of_losses_are_the_mean_s_noise_and_a_bound)
{
    read_job(HEAD PRIVACY("local", "0") COHORT FIT LOSSES);
    struct terms terms = tell(1, 4);
    cr_assert_eq(terms.line_count, 1);
    cr_assert_eq(terms.passes, 1);
    /* two experts; a scale of 2/0.5 on each agent's sum; the mean of 4 times 100 records */
    close_to(terms.line[0].noise, sqrt(2) * (2 / 0.5) / 100 / 2, 1e-9, "losses");
    close_to(terms.regret_free, sqrt(log(2) / 10), 1e-9, "the bound without privacy");
    cr_assert(terms.regret > terms.regret_free && terms.regret <= 1);
    close_to(terms.line[0].noise_to_signal, terms.line[0].noise / sqrt(5) / 0.1, 1e-9,
             "noise_to_signal");
    terms_free(&terms);
    job_free(&job);
}

/* One round, two, two of four: the play forgets twice, and its last segment is cut short. */
Test(terms, of_an_unknown_horizon_add_the_segments_up)
{
    read_job(HEAD PRIVACY("local", "0") COHORT FIT
             "  - {task: losses, loss: zero_one, rounds: 5, horizon: doubling, batch: 100, "
             "share: 0.5, grid_bits: 16}\n");
    struct terms terms = tell(1, 4);
    const double two = sqrt(log(2) / 4);
    const double eta = sqrt(8 * log(2) / 4);
    const double part = fmin(1, eta / 8 + log(2) / (eta * 2));
    const double all = (fmin(1, sqrt(log(2) / 2)) + 2 * two + 2 * part) / 5;
    close_to(terms.regret_free, all, 1e-9, "the sum of three");
    cr_assert(terms.regret_free > 1.5 * sqrt(log(2) / 10), "not the known horizon's");
    cr_assert(terms.regret > terms.regret_free && terms.regret <= 1);
    terms_free(&terms);
    job_free(&job);
}

/* Beside the same without privacy, not beside what a known horizon would promise. */
Test(terms, of_a_play_with_an_unknown_horizon_are_those_of_its_segments)
{
    read_job(HEAD PRIVACY("central", "0") COHORT FIT
             "  - {task: losses, loss: zero_one, rounds: 5, horizon: doubling, batch: 100, "
             "share: 0.5, grid_bits: 16}\n");
    struct terms terms = tell(1, 4);
    const double two = sqrt(log(2) / 4);
    const double eta = sqrt(8 * log(2) / 4);
    const double part = fmin(1, eta / 8 + log(2) / (eta * 2));
    cr_assert_eq(losses_stage(&job.stage[1])->plays.game_count, 3);
    cr_assert_float_eq(terms.regret, fmin(1, losses_stage(&job.stage[1])->plays.plan.regret_bound),
                       1e-12);
    close_to(terms.regret_free, (fmin(1, sqrt(log(2) / 2)) + 2 * two + 2 * part) / 5, 1e-9,
             "the sum of three");
    cr_assert(terms.regret >= terms.regret_free * (1 - 1e-12));
    cr_assert_not_null(strstr(terms.line[0].what, "anew after 1, 2, 4"));
    terms_free(&terms);
    job_free(&job);
}

Test(terms, of_many_experts_promise_no_regret_above_one)
{
    read_job(
        HEAD PRIVACY("local", "0") COHORT
        "  - {task: statistics, lambdas: [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08], share: "
        "0.5, batch: 100}\n"
        "  - {task: losses, loss: zero_one, rounds: 1, batch: 1, share: 0.5, grid_bits: 16}\n");
    struct terms terms = tell(1, 4);
    cr_assert_eq(terms.regret_free, 1);
    cr_assert_eq(terms.regret, 1);
    terms_free(&terms);
    job_free(&job);
}

/* Small noise looks even smaller when it is averaged over many rounds. But a single step must not
 * be all noise. */
Test(terms, of_an_update_look_at_one_step_too)
{
    read_job(
        HEAD PRIVACY("local", "0") COHORT
        "  - {task: update, loss: logistic, rounds: 1, batch: 500, clip: 0.5, rate: 1, share: 1, "
        "grid_bits: 16}\n");
    struct terms once = tell(0, 4);
    const double noise = sqrt(2) * 2 * 0.5 / 500 / 2;
    close_to(once.line[0].noise, noise, 1e-3, "a round");
    close_to(once.line[0].noise_to_signal, noise * sqrt(3) / 0.25, 1e-3, "half the clip");
    terms_free(&once);
    job_free(&job);
    read_job(
        HEAD PRIVACY("local", "0") COHORT
        "  - {task: update, loss: logistic, rounds: 400, batch: 500, clip: 0.5, rate: 1, share: 1, "
        "grid_bits: 16}\n");
    struct terms many = tell(0, 4);
    close_to(many.line[0].noise, 400 * noise, 1e-3, "a four hundredth of the budget");
    close_to(many.line[0].noise_to_signal, 400 * noise * sqrt(3) / 0.5, 1e-3, "the clip");
    cr_assert(many.line[0].noise_to_signal > 1, "too many rounds");
    terms_free(&many);
    job_free(&job);
}

Test(terms, of_a_play_are_its_plan)
{
    read_job(HEAD PRIVACY("central", "0.000001") COHORT FIT LOSSES);
    struct terms terms = tell(1, 4);
    const struct hedge_plan *plan = &losses_stage(&job.stage[1])->plays.plan;
    cr_assert_str_eq(terms.mechanism, "exponential mechanism");
    cr_assert(isnan(terms.line[0].noise), "a draw adds no number");
    close_to(terms.regret, plan->regret_bound + plan->cap_probability, 1e-12, "the plan's bound");
    close_to(terms.regret_free, sqrt(log(2) / 12), 1e-9, "one play more than rounds");
    terms_free(&terms);
    job_free(&job);
}

Test(terms, of_questions_are_records_and_the_column_s_unit)
{
    /* L1: count 1, mean 1, mean with where 3/2, histogram 2, quantile 1: 13/2; five rounds */
    const double scale = 6.5 / (0.5 / 5);
    read_job(HEAD PRIVACY("local", "0") COHORT QUERY);
    struct terms terms = tell(0, 4);
    cr_assert_eq(terms.line_count, 6);
    cr_assert_eq(terms.passes, 5);
    close_to(terms.line[0].noise, sqrt(2) * scale * 2, 1e-9, "count");
    cr_assert_str_eq(terms.line[0].unit, "records");
    close_to(terms.line[1].noise, 20 * sqrt(2) * scale * 2 / 800, 1e-9, "mean");
    cr_assert_str_eq(terms.line[1].unit, "u");
    close_to(terms.line[2].noise, 20 * sqrt(2) * scale * 2 * sqrt(1.25) / 400, 1e-9, "half match");
    close_to(terms.line[3].noise, sqrt(2) * scale * 2, 1e-9, "a cell");
    close_to(terms.line[4].noise, sqrt(2) * scale * 2, 1e-9, "a quantile's count");
    for (size_t i = 0; i < 5; i++) {
        cr_assert(terms.line[i].bar > 1.5 * terms.line[i].noise, "a bar is beyond one deviation");
        cr_assert(terms.line[i].bar < 4 * terms.line[i].noise);
    }
    cr_assert(terms.line[4].bar > terms.line[0].bar, "five rounds share what a quantile may miss");
    close_to(terms.line[0].noise_to_signal, terms.line[0].bar / 80, 1e-9, "a tenth of 800 records");
    const double least[5] = {terms.line[0].bar, 800 * terms.line[1].bar / 2,
                             400 * terms.line[2].bar / 2, terms.line[3].bar,
                             10 * terms.line[4].bar};
    for (size_t i = 0; i < 5; i++) {
        char wanted[64];
        (void)snprintf(wanted, sizeof wanted, "; a group needs about %.0f records", ceil(least[i]));
        cr_assert(strstr(terms.line[i].what, wanted) != NULL, "%s: no%s", terms.line[i].what,
                  wanted);
    }
    /* Half of 800 records are not above the bar of a round: the quantile may be anywhere in the range. */
    cr_assert(terms.line[5].is_expected && !terms.line[4].is_expected);
    close_to(terms.line[5].bar, 10, 1e-9, "a quantile's interval");
    cr_assert_str_eq(terms.line[5].unit, "u");
    terms_free(&terms);
    job_free(&job);

    read_job(HEAD PRIVACY("central", "0") COHORT QUERY);
    struct terms once = tell(0, 4);
    close_to(once.line[0].noise, sqrt(2) * scale, 1e-9, "one noise for all");
    terms_free(&once);
    job_free(&job);
}

Test(terms, of_a_selection_are_errors)
{
    read_job(HEAD PRIVACY("central", "0") COHORT SELECT);
    struct terms terms = tell(0, 4);
    cr_assert_eq(terms.line_count, 1);
    cr_assert_str_eq(terms.mechanism, "permute-and-flip");
    close_to(terms.line[0].bar, 2 * log(20 / 0.05) / 0.5, 1e-9, "2 ln(|C|/beta)/epsilon errors");
    terms_free(&terms);
    job_free(&job);

    read_job(HEAD PRIVACY("local", "0") COHORT SELECT);
    struct terms noisy = tell(0, 4);
    /* cells of a column and a predicate: L1 3; half a cell's deviation, root of ten cells */
    close_to(noisy.line[0].noise, sqrt(2) * (3 / 0.5) * 2 / 2 * sqrt(10), 1e-9, "noisy errors");
    terms_free(&noisy);
    job_free(&job);
}

Test(terms, of_gaussian_gradients_have_a_sigma_and_a_delta)
{
    read_job(HEAD PRIVACY("central", "0.00001") COHORT UPDATE);
    struct terms terms = tell(0, 4);
    const double sigma = (double)job.stage[0].charge.sigma_micro * 1e-6;
    cr_assert_str_eq(terms.mechanism, "discrete Gaussian");
    cr_assert_eq(terms.passes, 8);
    cr_assert_eq(terms.charge.epsilon_micro, 0);
    close_to(terms.sigma, sigma, 1e-12, "sigma");
    close_to(terms.line[0].noise, sigma * 2 * 0.5 / 2000, 1e-3, "the mean gradient");
    cr_assert(terms.price.epsilon_micro <= 1000000 && terms.price.epsilon_micro > 900000);
    cr_assert_eq(terms.price.delta_atto, job.delta_atto, "no epsilon without its delta");
    terms_free(&terms);
    job_free(&job);
}

#define NUMBER                                                                                     \
    "hedgerow: 1\njob: toy\ndata:\n  label: {column: y, centre: 0, half_width: 7}\n"               \
    "  features: [{column: u, centre: 50, half_width: 10}]\n"
#define STATISTICS "  - {task: statistics, lambdas: [0.1], share: 1, batch: 500, grid_bits: 20}\n"
#define PREDICT                                                                                          \
    "  - {task: predict, loss: absolute, kernel: {kind: gaussian, gamma: 1}, lambdas: [0.1], share: 1, " \
    "points: [[40], [60]], grid_bits: 20}\n"
#define ONLINE "  - {task: online, rounds: 2, t0: 200, theta: 0.75, share: 1, grid_bits: 30}\n"

static double sensitivity_of(uint32_t within)
{
    struct round_bounds bounds;
    cr_assert(round_bounds(&bounds, &job, &job.stage[0], within, 1000, 0, NULL) == STATUS_OK);
    return ldexp((double)bounds.sensitivity, -(int)job.stage[0].grid_bits);
}

Test(terms, of_moments_are_of_their_mean)
{
    read_job(NUMBER PRIVACY("local", "0") COHORT STATISTICS);
    struct terms terms = tell(0, 4);
    cr_assert_eq(terms.line_count, 1);
    close_to(terms.line[0].noise, sqrt(2) * sensitivity_of(0) * 2 / 2000, 1e-9, "moments");
    terms_free(&terms);
    job_free(&job);
}

Test(terms, of_predictions_are_in_the_label_s_unit)
{
    static const char *const text[] = {NUMBER PRIVACY("local", "0") COHORT PREDICT,
                                       NUMBER PRIVACY("local", "0") COHORT ONLINE};
    for (size_t i = 0; i < 2; i++) {
        read_job(text[i]);
        struct terms terms = tell(0, 4);
        cr_assert_eq(terms.line_count, job.stage[0].rounds);
        for (uint32_t j = 0; j < job.stage[0].rounds; j++) {
            close_to(terms.line[j].noise, 7 * sqrt(2) * sensitivity_of(j) / 2, 1e-9,
                     "a prediction");
            cr_assert_str_eq(terms.line[j].unit, "y");
            close_to(terms.line[j].noise_to_signal, 2 * terms.line[j].noise / 7, 1e-9,
                     "noise_to_signal");
        }
        terms_free(&terms);
        job_free(&job);
    }
}

Test(terms, of_every_stage_fit_the_job)
{
    read_job(HEAD PRIVACY("local", "0") COHORT FIT SELECT);
    const struct cost sums = round_cost(&job, &job.filter, job_round_count(&job));
    const struct price price = terms_price(&job.filter, &sums);
    struct terms first = tell(0, 4);
    struct terms second = tell(1, 4);
    cr_assert_eq(price.epsilon_micro, first.price.epsilon_micro + second.price.epsilon_micro);
    cr_assert_eq(price.delta_atto, 0);
    terms_free(&first);
    terms_free(&second);
    terms_free(&second);
    terms_free(NULL);
    job_free(&job);
}

/* What one site's answer leaves uncertain: epsilon 1 over a count and a mean, of one record each. */
Test(terms, of_answers_by_site_are_of_one_site)
{
    read_job(HEAD PRIVACY("local", "0") COHORT
             "  - {task: query, by_site: true, queries: [\"count: u >= 60\", \"mean: u\"], batch: "
             "200, share: 1, grid_bits: 10}\n");
    struct terms terms = tell(0, 4);
    const double noise = sqrt(2) * 2 / 200;
    const double half = hypot(1.959964 * sqrt(0.25 / 200), 2.1183 * noise);
    /* For four equal sites: Student's t with 3 degrees of freedom, 3.182446. */
    const double joined = half / 1.959964 * 3.182446 / 2;
    cr_assert_eq(terms.line_count, 7);
    close_to(terms.line[2].bar, half, 1e-4, "a share");
    close_to(terms.line[3].bar, joined, 1e-4, "its mean over sites");
    cr_assert_eq(terms.line[4].place.of, TERMS_OF_NEXT);
    close_to(terms.line[4].bar, between_expect_next(half, 4), 1e-4, "another such site's share");
    cr_assert_gt(terms.line[4].bar, half, "another site varies at least as one answer does");
    /* A mean's sampling is a bound, so nothing is told of another site's. */
    close_to(terms.line[5].bar, 20 * half, 1e-4, "a mean");
    close_to(terms.line[6].bar, 20 * joined, 1e-4, "its mean over sites");
    terms_free(&terms);
    job_free(&job);
}
