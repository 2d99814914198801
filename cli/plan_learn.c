/* `hedgerow plan erm`, `plan select` and `plan online`: what privacy costs one institution's learner. */

#include "base/text.h"
#include "cli/plan.h"
#include "learn/online.h"
#include "learn/rules.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct erm_request {
    const char *loss;
    double tau;       /* NAN: not given, like the two below */
    double threshold; /* of Huber */
    double width;     /* of the insensitive loss */
    double epsilon;
    struct rule_fit fit;
};

/* The names of the papers beside those of job files. */
static const char *house_name(const char *name)
{
    if (strcmp(name, "least_squares") == 0) {
        return loss_name(LOSS_SQUARED);
    }
    return strcmp(name, "epsilon_insensitive") == 0 ? loss_name(LOSS_INSENSITIVE) : name;
}

/* Each option belongs to one loss. An option of another loss is refused, as it would have no
 * effect. */
static enum status read_parameter(struct erm_request *request, struct why *why)
{
    const struct {
        enum loss_kind kind;
        const char *name;
        double value;
    } options[] = {{LOSS_PINBALL, "--tau", request->tau},
                   {LOSS_HUBER, "--threshold", request->threshold},
                   {LOSS_INSENSITIVE, "--width", request->width}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const bool given = !isnan(options[i].value);
        const bool mine = options[i].kind == request->fit.loss.kind;
        if (given != mine) {
            return why_refuse(
                why, mine ? "the loss %s needs %s" : "the loss %s has no %s: leave that option out",
                request->loss, options[i].name);
        }
        if (mine) {
            request->fit.loss.parameter = options[i].value;
        }
    }
    return STATUS_OK;
}

static enum status read_loss(struct erm_request *request, struct why *why)
{
    struct loss *loss = &request->fit.loss;
    if (loss_from_name(&loss->kind, house_name(request->loss)) != STATUS_OK ||
        !loss_is_learnable(*loss)) {
        return why_refuse(
            why, "--loss must be hinge, logistic, least_squares, pinball, absolute, huber or "
                 "epsilon_insensitive");
    }
    if (!(request->epsilon > 0)) {
        return why_refuse(why, "--epsilon must be above 0");
    }
    return read_parameter(request, why);
}

/* The newcomer's most common mistake is noise beyond the answers themselves. */
static void advise(char text[static PLAN_TEXT_BYTES], const struct erm_request *request,
                   double noise_scale)
{
    const struct rule_fit *fit = &request->fit;
    const double share = noise_scale / fit->bound;
    const double needed = share / 0.1;
    text[0] = '\0';
    if (share <= 0.5) {
        return;
    }
    (void)snprintf(
        text, PLAN_TEXT_BYTES,
        "\nThe noise drowns the answers, which lie between -%g and %g. Its mean size would be a "
        "tenth of that with\n  --records %.0f   or   --epsilon %.3g   or   --lambda %.3g\n"
        "or fit explicit features and average over institutions: the fit's noise does not grow "
        "with the points asked.\n",
        fit->bound, fit->bound, ceil(fit->records * needed), request->epsilon * needed,
        fit->loss.kind == LOSS_SQUARED ? fmin(fit->lambda * pow(needed, 2. / 3), 1)
                                       : fit->lambda * needed);
}

enum exit_code run_plan_erm(const struct command *command, int count, char **argument)
{
    struct erm_request request = {.tau = NAN, .threshold = NAN, .width = NAN};
    struct rule_fit *fit = &request.fit;
    struct rule_sensitivity is;
    struct why why = {""};
    char title[PLAN_TEXT_BYTES];
    char after[PLAN_TEXT_BYTES];
    bool json = false;
    const struct option option[] = {
        {.name = "--loss", .what = "LOSS", .required = true, .text = &request.loss},
        {.name = "--records", .what = "M", .required = true, .whole = &fit->records},
        {.name = "--bound", .what = "B", .required = true, .real = &fit->bound},
        {.name = "--kappa", .what = "K", .required = true, .real = &fit->kappa},
        {.name = "--epsilon", .what = "E", .required = true, .real = &request.epsilon},
        {.name = "--lambda", .what = "L", .required = true, .real = &fit->lambda},
        {.name = "--tau", .what = "T", .real = &request.tau},
        {.name = "--threshold", .what = "H", .real = &request.threshold},
        {.name = "--width", .what = "W", .real = &request.width},
        {.name = "--json", .flag = &json}};

    if (options_read(OPTIONS(option), count, argument, &why) != STATUS_OK ||
        read_loss(&request, &why) != STATUS_OK || rule_sensitivity(&is, fit, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    const struct stated least = is.by_slope.value <= is.by_value.value ? is.by_slope : is.by_value;
    const double noise_scale = least.value / request.epsilon;
    const struct plan_line line[] = {
        {"lipschitz", is.lipschitz.value, "loss per answer", is.lipschitz.range},
        {"sensitivity", least.value, "answer", least.range},
        {"noise_scale", noise_scale, "answer", "the mean size of the noise on ONE point's answer"},
        {"sensitivity_by_slope", is.by_slope.value, "answer", is.by_slope.range},
        {"sensitivity_by_value", is.by_value.value, "answer", is.by_value.range},
        {"sensitivity_weights", least.value / fit->kappa, "weights, L2",
         "explicit features, without the solver's tolerance"},
        {NULL, 0, NULL, NULL}};
    (void)snprintf(
        title, sizeof title, "%s over %.17g records, lambda %g, |y| <= %g, kappa %g, epsilon %g",
        request.loss, fit->records, fit->lambda, fit->bound, fit->kappa, request.epsilon);
    advise(after, &request, noise_scale);
    return plan_answer(command, json, title, line, after);
}

struct select_request {
    const char *name;
    enum rule rule;
    struct rule_terms terms; /* kappa, bound and source_norm NAN: not given */
};

static enum status choose(struct rule_choice *choice, struct stated *error,
                          const struct select_request *request, struct why *why)
{
    const struct rule_terms *terms = &request->terms;
    enum status status =
        rule_choose(choice, request->rule, terms->records, terms->exponent, terms->epsilon, why);
    const bool none = isnan(terms->kappa) && isnan(terms->bound) && isnan(terms->source_norm);
    const bool all = !isnan(terms->kappa) && !isnan(terms->bound) && !isnan(terms->source_norm);
    if (status == STATUS_OK && all) {
        status = rule_error(error, request->rule, terms, why);
    } else if (status == STATUS_OK && !none) {
        status =
            why_refuse(why, "the error bound needs --kappa, --bound and --source-norm, all three");
    }
    return status;
}

static enum status read_rule(struct select_request *request, struct why *why)
{
    const struct rule_terms *terms = &request->terms;
    if (rule_from_name(&request->rule, request->name) != STATUS_OK) {
        return why_refuse(
            why, "--rule must be least_squares_fixed, least_squares_balanced or lipschitz");
    }
    if (request->rule == RULE_LEAST_SQUARES_FIXED && isnan(terms->epsilon)) {
        return why_refuse(why, "the rule least_squares_fixed needs --epsilon E");
    }
    if (isnan(terms->epsilon)) {
        request->terms.epsilon = 0;
    } else if (!(terms->epsilon > 0)) {
        return why_refuse(why, "--epsilon must be above 0");
    }
    return STATUS_OK;
}

enum exit_code run_plan_select(const struct command *command, int count, char **argument)
{
    struct select_request request = {
        .terms = {.epsilon = NAN, .kappa = NAN, .bound = NAN, .source_norm = NAN}};
    struct rule_terms *terms = &request.terms;
    struct rule_choice choice;
    struct stated error = {NAN, ""};
    struct stated gap = {NAN, ""};
    struct why why = {""};
    char title[PLAN_TEXT_BYTES];
    bool json = false;
    const struct option option[] = {
        {.name = "--rule", .what = "RULE", .required = true, .text = &request.name},
        {.name = "--records", .what = "M", .required = true, .whole = &terms->records},
        {.name = "--exponent", .what = "R", .required = true, .real = &terms->exponent},
        {.name = "--epsilon", .what = "E", .real = &terms->epsilon},
        {.name = "--kappa", .what = "K", .real = &terms->kappa},
        {.name = "--bound", .what = "B", .real = &terms->bound},
        {.name = "--source-norm", .what = "S", .real = &terms->source_norm},
        {.name = "--json", .flag = &json}};

    if (options_read(OPTIONS(option), count, argument, &why) != STATUS_OK ||
        read_rule(&request, &why) != STATUS_OK ||
        choose(&choice, &error, &request, &why) != STATUS_OK ||
        rule_concentration(&gap, 1, choice.epsilon, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    const struct plan_line line[] = {
        {"lambda", choice.lambda, "-", "for the rate below"},
        {"epsilon", choice.epsilon, "per answered point",
         request.rule == RULE_LEAST_SQUARES_FIXED ? "as given" : "the least that keeps the rate"},
        {"rate", choice.rate.value, "times a constant", choice.rate.range},
        {"error_bound", error.value, "mean square error", error.range},
        {"overfitting", gap.value, "times the mean loss", gap.range},
        {NULL, 0, NULL, NULL}};
    (void)snprintf(title, sizeof title, "%s for %.17g records of ONE institution, exponent %g",
                   request.name, terms->records, terms->exponent);
    return plan_answer(
        command, json, title, line,
        "\nMore records lower all of it. The exponent cannot be known from the data: "
        "the rate is only as good as the guess.\n");
}

enum { SHOWN_MAX = 8, REAL_BITS = 52 };

struct online_request {
    struct online_problem problem;
    double t0;
    double time;
    double epsilon;
};

static enum status check_online(struct online_request *request, struct why *why)
{
    request->problem.t0 = (uint64_t)request->t0;
    enum status status = online_check(&request->problem, why);
    if (status == STATUS_OK && !(request->time <= ldexp(1, ONLINE_TIME_MAX_LOG2))) {
        status = why_refuse(why, "--time must be at most 2^%d", ONLINE_TIME_MAX_LOG2);
    }
    if (status == STATUS_OK && !(request->epsilon > 0)) {
        status = why_refuse(why, "--epsilon must be above 0");
    }
    return status;
}

/* When the stream is released, and whether the noise leaves anything of the answers. */
static void tell_stream(char text[static PLAN_TEXT_BYTES], const struct online_problem *problem,
                        const uint64_t *times, size_t releases, double noise_scale)
{
    text[0] = '\0';
    for (size_t i = 0; i < releases && i < SHOWN_MAX; i++) {
        text_add(text, PLAN_TEXT_BYTES, "%s%" PRIu64,
                 i == 0 ? "\nreleases after the records " : ", ", times[i]);
    }
    if (releases > 0) {
        text_add(text, PLAN_TEXT_BYTES, "%s\n", releases > SHOWN_MAX ? ", .." : "");
    }
    if (noise_scale > problem->bound / 2) {
        text_add(text, PLAN_TEXT_BYTES,
                 "\nThe noise drowns the answers, which lie between -%g and %g: wait longer, take "
                 "a larger theta or\na larger epsilon.\n",
                 problem->bound, problem->bound);
    }
}

enum exit_code run_plan_online(const struct command *command, int count, char **argument)
{
    struct online_request request = {.problem = {.grid_bits = 0, .feature_count = 1}};
    struct online_problem *problem = &request.problem;
    struct why why = {""};
    char title[PLAN_TEXT_BYTES];
    char after[PLAN_TEXT_BYTES];
    bool json = false;
    const struct option option[] = {
        {.name = "--theta", .what = "T", .required = true, .real = &problem->theta},
        {.name = "--t0", .what = "N", .required = true, .whole = &request.t0},
        {.name = "--kappa", .what = "K", .required = true, .real = &problem->kappa},
        {.name = "--bound", .what = "B", .required = true, .real = &problem->bound},
        {.name = "--time", .what = "N", .required = true, .whole = &request.time},
        {.name = "--epsilon", .what = "E", .required = true, .real = &request.epsilon},
        {.name = "--json", .flag = &json}};

    if (options_read(OPTIONS(option), count, argument, &why) != STATUS_OK ||
        check_online(&request, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    uint64_t times[ONLINE_RELEASES_MAX];
    size_t releases = 0;
    online_release_times(problem, (uint64_t)request.time, times, &releases);
    /* The geometric series, cut short. */
    const double endless = request.epsilon * online_endless_factor(2 - 2 * problem->theta);
    const double so_far = -expm1((2 * problem->theta - 2) * log(2) * (double)releases);
    const double sensitivity = online_sensitivity_point(problem, (uint64_t)request.time);
    const double tight = online_influence_point(problem, (uint64_t)request.time);
    struct online_problem real = *problem;
    real.grid_bits = REAL_BITS;
    const struct plan_line line[] = {
        {"sensitivity", sensitivity, "answer",
         "every record so far, wherever it stands; in the reals, as published"},
        {"noise_scale", sensitivity / request.epsilon, "answer",
         "the mean size of the noise on ONE point of ONE release"},
        {"stream_epsilon", endless, "epsilon",
         "an endless stream, released whenever t - 1 + t0 has doubled; in the reals"},
        {"stream_epsilon_so_far", endless * so_far, "epsilon", "the same, ended at --time"},
        {"sensitivity_tight", tight, "answer", "as hedgerow bounds it, and jobs use it"},
        {"noise_scale_tight", tight / request.epsilon, "answer", "with that"},
        {"stream_epsilon_tight", request.epsilon * online_endless_factor(1 - problem->theta),
         "epsilon", "an endless stream with that: smaller steps fade more slowly against it"},
        {"stream_epsilon_tight_so_far", request.epsilon * online_stream_factor(&real, releases),
         "epsilon", "the same, ended at --time"},
        {"releases", (double)releases, "releases", "on that schedule, up to --time"},
        {NULL, 0, NULL, NULL}};
    (void)snprintf(title, sizeof title,
                   "theta %g, t0 %" PRIu64 ", kappa %g, |y| <= %g, epsilon %g a release and point",
                   problem->theta, problem->t0, problem->kappa, problem->bound, request.epsilon);
    tell_stream(after, problem, times, releases, tight / request.epsilon);
    return plan_answer(command, json, title, line, after);
}
