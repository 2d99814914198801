/* The formulas of Nie and Wang, corrected, each behind a check of its range.
 *
 * The error of least squares. Let f be the minimiser, b Laplace noise of scale s = 2 M kappa^2
 * (kappa+1)/(lambda^(3/2) m epsilon), drawn afresh for each point. An answer at one point is
 * epsilon-DP, so swapping a record for a fresh one changes its mean loss by a factor of at most
 * e^epsilon <= 1 + 2 epsilon: E(f+b) <= (1 + 2 epsilon) (E_z(f) + 2 s^2) in the mean. E_z(f) +
 * lambda ||f||^2 <= E_z(f_lambda) + lambda ||f_lambda||^2, whose mean is E(f_rho) + D(lambda),
 * D(lambda) <= lambda^min(2r,1) A. Hence
 *     E(f+b) - (1 + 2 epsilon) E(f_rho) <= 8 (1 + 2 epsilon) M^2 kappa^4 (kappa+1)^2/(lambda^3 m^2
 *     epsilon^2) + (1 + 2 epsilon) A lambda^min(2r,1),
 * and the rules' lambda makes both terms the rate. For the balanced rule add 2 epsilon E(f_rho) <=
 * 2 epsilon M^2. */

#include "learn/rules.h"

#include "base/check.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double up = 1 + 16 * DBL_EPSILON;
static const double epsilon_doubled_max = 1.25; /* e^1.25 - 1 = 2.4903.. <= 2.5 */
static const double records_max = 9007199254740992.0;
static const double exponent_max = 16;

static const char *const names[] = {[RULE_LEAST_SQUARES_FIXED] = "least_squares_fixed",
                                    [RULE_LEAST_SQUARES_BALANCED] = "least_squares_balanced",
                                    [RULE_LIPSCHITZ] = "lipschitz"};

enum status rule_from_name(enum rule *rule, const char *name)
{
    for (unsigned i = 0; i < RULES; i++) {
        if (strcmp(names[i], name) == 0) {
            *rule = (enum rule)i;
            return STATUS_OK;
        }
    }
    return STATUS_NOT_FOUND;
}

static bool is_size(double x)
{
    return x > 0 && x <= records_max;
}

static double q_of(double r)
{
    return fmin(4, 3 + 2 * r);
}

static enum status check_choice(enum rule rule, double records, double exponent, double epsilon,
                                struct why *why)
{
    if (!(records >= 1 && records <= records_max)) {
        return why_refuse(why, "the number of records must lie between 1 and 2^53");
    }
    if (rule == RULE_LIPSCHITZ && !(exponent > 0 && exponent <= 1)) {
        return why_refuse(
            why, "the exponent beta of the approximation error c lambda^beta must lie above "
                 "0 and be at most 1: outside, the rule's theorem says nothing");
    }
    if (!(exponent > 0 && exponent <= exponent_max)) {
        return why_refuse(
            why, "the exponent r of the source condition must lie above 0 and be at most 16");
    }
    if (rule != RULE_LEAST_SQUARES_FIXED) {
        return epsilon == 0
                   ? STATUS_OK
                   : why_refuse(why, "this rule chooses epsilon itself: leave epsilon out, or take "
                                     "the rule least_squares_fixed");
    }
    if (!(epsilon > 0 && epsilon <= epsilon_doubled_max)) {
        return why_refuse(
            why, "epsilon must lie above 0 and be at most 1.25: the rate rests on e^epsilon - "
                 "1 <= 2 epsilon, which ends there; take a smaller epsilon");
    }
    return STATUS_OK;
}

enum status rule_choose(struct rule_choice *choice, enum rule rule, double records, double exponent,
                        double epsilon, struct why *why)
{
    *choice = (struct rule_choice){0};
    const enum status status = check_choice(rule, records, exponent, epsilon, why);
    if (status != STATUS_OK) {
        return status;
    }
    const double q = q_of(exponent);
    switch (rule) {
    case RULE_LEAST_SQUARES_FIXED:
        choice->lambda = pow(records, -2 / q);
        choice->epsilon = epsilon;
        choice->rate.value = pow(records, -fmin(0.5, 4 * exponent / (3 + 2 * exponent)));
        choice->rate.range =
            "epsilon <= 1.25, lambda <= 1; the error beyond (1 + 2 epsilon) times the "
            "least there is; one draw per point answered";
        break;
    case RULE_LEAST_SQUARES_BALANCED:
        choice->epsilon = pow(records, -fmin(1. / 3, 4 * exponent / (3 + 6 * exponent)));
        choice->lambda = pow(records * choice->epsilon, -2 / q);
        choice->rate.value = choice->epsilon;
        choice->rate.range = "lambda <= 1; the error beyond the least there is; one draw per point "
                             "answered";
        break;
    case RULE_LIPSCHITZ:
        choice->lambda = pow(records, -1 / (2 * exponent + 1));
        choice->epsilon = 1 / sqrt(choice->lambda * records);
        choice->rate.value = pow(records, -exponent / (2 * exponent + 1));
        choice->rate.range =
            "beta <= 1, a loss with a constant Lipschitz bound; one draw per point "
            "answered";
        break;
    }
    return STATUS_OK;
}

double rule_balanced_exponent(double r, double e)
{
    CHECK(r > 0 && e >= 0 && e <= 1);
    const double q = q_of(r);
    const double noise = (1 - e) * (2 - 6 / q);
    const double approximation = 2 * (1 - e) * fmin(2 * r, 1) / q;
    return fmin(e, fmin(noise, approximation));
}

enum status rule_error(struct stated *error, enum rule rule, const struct rule_terms *terms,
                       struct why *why)
{
    struct rule_choice choice;
    *error = (struct stated){0};
    if (rule == RULE_LIPSCHITZ) {
        return why_refuse(
            why, "for Lipschitz losses the rate alone is known: its constant depends on the "
                 "approximation error's");
    }
    const enum status status =
        rule_choose(&choice, rule, terms->records, terms->exponent, terms->epsilon, why);
    if (status != STATUS_OK) {
        return status;
    }
    if (choice.epsilon > 1) {
        return why_refuse(why,
                          "the error bound's constant 24 holds up to epsilon = 1: take a smaller "
                          "epsilon");
    }
    if (!is_size(terms->kappa) || !is_size(terms->bound) ||
        !(terms->source_norm >= 0 && terms->source_norm <= records_max)) {
        return why_refuse(why,
                          "kappa and the bound on |y| must lie above 0, the source norm must be at "
                          "least 0, none above 2^53");
    }
    const double k = terms->kappa;
    const double m_square = terms->bound * terms->bound;
    const double noise = 24 * m_square * pow(k, 4) * (k + 1) * (k + 1);
    const double approximation =
        (pow(k, 4 * terms->exponent - 2) + pow(k, 4 * terms->exponent - 4) + 2) *
        terms->source_norm * terms->source_norm * (1 + 2 * choice.epsilon);
    const double constant = rule == RULE_LEAST_SQUARES_FIXED
                                ? noise / (choice.epsilon * choice.epsilon) + approximation
                                : 2 * m_square + noise + approximation;
    error->value = constant * choice.rate.value * up;
    error->range =
        rule == RULE_LEAST_SQUARES_FIXED
            ? "epsilon <= 1, independent records, the source condition; the mean square error "
              "beyond (1 + 2 epsilon) times the least there is"
            : "independent records, the source condition; the mean square error beyond the "
              "least there is";
    return STATUS_OK;
}

enum status rule_concentration(struct stated *gap, double mean_loss, double epsilon,
                               struct why *why)
{
    *gap = (struct stated){0};
    if (!(mean_loss >= 0 && mean_loss <= records_max)) {
        return why_refuse(why, "the mean loss must be at least 0 and at most 2^53");
    }
    if (!(epsilon > 0 && epsilon <= epsilon_doubled_max)) {
        return why_refuse(why,
                          "epsilon must lie above 0 and be at most 1.25, where e^epsilon - 1 <= 2 "
                          "epsilon ends");
    }
    gap->value = 2 * mean_loss * epsilon * up;
    gap->range = "epsilon <= 1.25, independent records, a loss >= 0";
    return STATUS_OK;
}

static enum status check_fit(const struct rule_fit *fit, struct why *why)
{
    if (!loss_is_learnable(fit->loss)) {
        return why_refuse(why, "zero_one is for judging a model: no fit minimises it");
    }
    enum status status = loss_check(fit->loss, why);
    if (status != STATUS_OK) {
        return status;
    }
    if (!(fit->records >= 1 && fit->records <= records_max)) {
        return why_refuse(why, "the number of records must lie between 1 and 2^53");
    }
    if (!is_size(fit->bound) || !is_size(fit->kappa)) {
        return why_refuse(why, "the bound on |y| and kappa must lie above 0 and be at most 2^53");
    }
    if (!(fit->lambda >= 1 / records_max && fit->lambda <= records_max)) {
        return why_refuse(why, "lambda must lie between 2^-53 and 2^53");
    }
    if (fit->loss.kind == LOSS_SQUARED && fit->lambda > 1) {
        return why_refuse(
            why, "lambda must be at most 1 for least squares: the Lipschitz bound 2 M (kappa + "
                 "1)/sqrt(lambda) holds up to there");
    }
    return STATUS_OK;
}

/* The largest loss at a minimiser, whatever the records, at any point of the public domain. */
static double largest_loss(const struct rule_fit *fit)
{
    const double reach =
        fit->kappa * loss_ball(fit->loss, fit->bound, fit->kappa, fit->lambda) * up;
    const double y = loss_is_classification(fit->loss) ? 1 : fit->bound;
    return fmax(loss_value(fit->loss, reach, -y), loss_value(fit->loss, -reach, y)) * up;
}

enum status rule_sensitivity(struct rule_sensitivity *sensitivity, const struct rule_fit *fit,
                             struct why *why)
{
    *sensitivity = (struct rule_sensitivity){0};
    const enum status status = check_fit(fit, why);
    if (status != STATUS_OK) {
        return status;
    }
    const double gamma = 2;
    const double kappa = fit->kappa;
    const double convexity = fit->lambda * gamma * fit->records;
    const bool squared = fit->loss.kind == LOSS_SQUARED;
    const double lipschitz = squared ? 2 * fit->bound * (kappa + 1) / sqrt(fit->lambda) * up
                                     : loss_lipschitz(fit->loss, fit->bound, kappa, fit->lambda);
    sensitivity->lipschitz.value = lipschitz;
    sensitivity->lipschitz.range =
        squared ? "on the ball ||f|| <= bound/sqrt(lambda), lambda <= 1" : "every prediction";
    sensitivity->by_slope.value = 2 * kappa * kappa * lipschitz / convexity * up;
    sensitivity->by_slope.range = "no unpenalised intercept";
    sensitivity->by_value.value = kappa * sqrt(2 * largest_loss(fit) / convexity) * up;
    sensitivity->by_value.range = "|y| <= bound, no unpenalised intercept";
    return STATUS_OK;
}
