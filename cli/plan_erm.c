#include "cli/plan.h"
#include "cli/plan_fields.h"
#include "cli/plan_lines.h"
#include "learn/rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct request {
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

/* Each option belongs to one loss; one that belongs to another would be ignored in silence. */
static enum status read_parameter(struct request *request, struct why *why)
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
            why_set(why,
                    mine ? "the loss %s needs %s" : "the loss %s has no %s: leave that option out",
                    request->loss, options[i].name);
            return STATUS_INVALID;
        }
        if (mine) {
            request->fit.loss.parameter = options[i].value;
        }
    }
    return STATUS_OK;
}

static enum status read_loss(struct request *request, struct why *why)
{
    struct loss *loss = &request->fit.loss;
    if (loss_from_name(&loss->kind, house_name(request->loss)) != STATUS_OK ||
        !loss_is_learnable(*loss)) {
        why_set(why, "--loss must be hinge, logistic, least_squares, pinball, absolute, huber or "
                     "epsilon_insensitive");
        return STATUS_INVALID;
    }
    if (!(request->epsilon > 0)) {
        why_set(why, "--epsilon must be above 0");
        return STATUS_INVALID;
    }
    return read_parameter(request, why);
}

/* The newcomer's most common mistake is noise beyond the answers themselves. */
static void print_advice(const struct request *request, double noise_scale)
{
    const double share = noise_scale / request->fit.bound;
    if (share <= 0.5) {
        return;
    }
    const double needed = share / 0.1;
    (void)printf(
        "\nThe noise drowns the answers, which lie between -%g and %g. Its mean size would be a "
        "tenth of that with\n  --records %.0f   or   --epsilon %.3g   or   --lambda %.3g\n",
        request->fit.bound, request->fit.bound, ceil(request->fit.records * needed),
        request->epsilon * needed,
        request->fit.loss.kind == LOSS_SQUARED ? fmin(request->fit.lambda * pow(needed, 2. / 3), 1)
                                               : request->fit.lambda * needed);
    (void)printf(
        "or fit explicit features and average over institutions: the fit's noise does not grow "
        "with the points asked.\n");
}

static enum exit_code run(const struct command *command, int count, char **argument)
{
    struct request request = {.tau = NAN, .threshold = NAN, .width = NAN};
    struct rule_sensitivity is;
    struct why why = {""};
    bool json = false;
    const struct plan_field field[] = {
        {.name = "--loss", .what = "LOSS", .required = true, .word = &request.loss},
        {.name = "--records", .what = "M", .required = true, .whole = &request.fit.records},
        {.name = "--bound", .what = "B", .required = true, .real = &request.fit.bound},
        {.name = "--kappa", .what = "K", .required = true, .real = &request.fit.kappa},
        {.name = "--epsilon", .what = "E", .required = true, .real = &request.epsilon},
        {.name = "--lambda", .what = "L", .required = true, .real = &request.fit.lambda},
        {.name = "--tau", .what = "T", .real = &request.tau},
        {.name = "--threshold", .what = "H", .real = &request.threshold},
        {.name = "--width", .what = "W", .real = &request.width}};

    if (plan_fields_read(field, sizeof field / sizeof *field, &json, count, argument, &why) !=
            STATUS_OK ||
        read_loss(&request, &why) != STATUS_OK ||
        rule_sensitivity(&is, &request.fit, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    const bool by_slope = is.by_slope.value <= is.by_value.value;
    const struct stated least = by_slope ? is.by_slope : is.by_value;
    const double noise_scale = least.value / request.epsilon;
    const struct plan_line line[] = {
        {"lipschitz", is.lipschitz.value, "loss per answer", is.lipschitz.range},
        {"sensitivity", least.value, "answer", least.range},
        {"noise_scale", noise_scale, "answer", "the mean size of the noise on ONE point's answer"},
        {"sensitivity_by_slope", is.by_slope.value, "answer", is.by_slope.range},
        {"sensitivity_by_value", is.by_value.value, "answer", is.by_value.range},
        {"sensitivity_weights", least.value / request.fit.kappa, "weights, L2",
         "explicit features, without the solver's tolerance"}};
    enum { LINES = sizeof line / sizeof *line };
    enum status status = STATUS_OK;
    if (json) {
        status = plan_lines_json(line, LINES);
    } else {
        (void)printf("%s over %.17g records, lambda %g, |y| <= %g, kappa %g, epsilon %g\n\n",
                     request.loss, request.fit.records, request.fit.lambda, request.fit.bound,
                     request.fit.kappa, request.epsilon);
        plan_lines_table(line, LINES);
        print_advice(&request, noise_scale);
    }
    return status == STATUS_OK ? EXIT_CODE_OK : plan_fail(command, status, &why);
}

const struct command command_plan_erm = {
    .name = "plan erm",
    .summary = "the noise on a regularised model's answers",
    .help =
        "usage: hedgerow plan erm --loss LOSS --records M --bound B --kappa K --epsilon E\n"
        "                         --lambda L [--tau T | --threshold H | --width W] [--json]\n\n"
        "How far one replaced record can move the answer of the minimiser of mean loss + L ||f||^2,\n"
        "and the Laplace noise that hides it at a cost of E per answered point. Two bounds are known;\n"
        "the smaller one counts. Weights of explicit features are released as a whole instead: their\n"
        "bound is the last line.\n\n"
        "  --loss LOSS    hinge, logistic, least_squares, pinball (--tau), absolute, huber\n"
        "                 (--threshold), epsilon_insensitive (--width)\n"
        "  --records M    of this institution\n"
        "  --bound B      |y| is at most this; answers are cut there\n"
        "  --kappa K      the features' largest norm; 1 for Gaussian and Laplacian kernels\n"
        "  --epsilon E    per answered point\n"
        "  --lambda L     regularisation; at most 1 for least_squares\n"
        "  --json         the table's numbers with 17 digits\n\n"
        "example:\n"
        "  hedgerow plan erm --loss hinge --records 1000 --bound 1 --kappa 1 --epsilon 1 --lambda 0.01\n"
        "  hedgerow plan erm --loss pinball --tau 0.9 --records 800 --bound 2 --kappa 1.5 --epsilon 1 \\\n"
        "    --lambda 0.05 --json\n",
    .run = run,
};
