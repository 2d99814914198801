#include "cli/plan.h"
#include "cli/plan_fields.h"
#include "cli/plan_lines.h"
#include "learn/rules.h"

#include <math.h>
#include <stdio.h>

struct request {
    const char *name;
    enum rule rule;
    struct rule_terms terms; /* kappa, bound and source_norm NAN: not given */
};

static enum status choose(struct rule_choice *choice, struct stated *error,
                          const struct request *request, struct why *why)
{
    const struct rule_terms *terms = &request->terms;
    enum status status =
        rule_choose(choice, request->rule, terms->records, terms->exponent, terms->epsilon, why);
    const bool none = isnan(terms->kappa) && isnan(terms->bound) && isnan(terms->source_norm);
    const bool all = !isnan(terms->kappa) && !isnan(terms->bound) && !isnan(terms->source_norm);
    if (status == STATUS_OK && all) {
        status = rule_error(error, request->rule, terms, why);
    } else if (status == STATUS_OK && !none) {
        why_set(why, "the error bound needs --kappa, --bound and --source-norm, all three");
        status = STATUS_INVALID;
    }
    return status;
}

static enum status read_rule(struct request *request, struct why *why)
{
    const struct rule_terms *terms = &request->terms;
    if (rule_from_name(&request->rule, request->name) != STATUS_OK) {
        why_set(why, "--rule must be least_squares_fixed, least_squares_balanced or lipschitz");
        return STATUS_INVALID;
    }
    if (request->rule == RULE_LEAST_SQUARES_FIXED && isnan(terms->epsilon)) {
        why_set(why, "the rule least_squares_fixed needs --epsilon E");
        return STATUS_INVALID;
    }
    if (isnan(terms->epsilon)) {
        request->terms.epsilon = 0;
    } else if (!(terms->epsilon > 0)) {
        why_set(why, "--epsilon must be above 0");
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

static enum exit_code run(const struct command *command, int count, char **argument)
{
    struct request request = {
        .terms = {.epsilon = NAN, .kappa = NAN, .bound = NAN, .source_norm = NAN}};
    struct rule_terms *terms = &request.terms;
    struct rule_choice choice;
    struct stated error = {NAN, ""};
    struct stated gap = {NAN, ""};
    struct why why = {""};
    bool json = false;
    const struct plan_field field[] = {
        {.name = "--rule", .what = "RULE", .required = true, .word = &request.name},
        {.name = "--records", .what = "M", .required = true, .whole = &terms->records},
        {.name = "--exponent", .what = "R", .required = true, .real = &terms->exponent},
        {.name = "--epsilon", .what = "E", .real = &terms->epsilon},
        {.name = "--kappa", .what = "K", .real = &terms->kappa},
        {.name = "--bound", .what = "B", .real = &terms->bound},
        {.name = "--source-norm", .what = "S", .real = &terms->source_norm}};

    if (plan_fields_read(field, sizeof field / sizeof *field, &json, count, argument, &why) !=
            STATUS_OK ||
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
        {"overfitting", gap.value, "times the mean loss", gap.range}};
    enum { LINES = sizeof line / sizeof *line };
    enum status status = STATUS_OK;
    if (json) {
        status = plan_lines_json(line, LINES);
    } else {
        (void)printf("%s for %.17g records of ONE institution, exponent %g\n\n", request.name,
                     terms->records, terms->exponent);
        plan_lines_table(line, LINES);
        (void)printf(
            "\nMore records lower all of it. The exponent cannot be known from the data: the "
            "rate is only as good as the guess.\n");
    }
    return status == STATUS_OK ? EXIT_CODE_OK : plan_fail(command, status, &why);
}

const struct command command_plan_select = {
    .name = "plan select",
    .summary = "lambda and epsilon from the number of records",
    .help =
        "usage: hedgerow plan select --rule RULE --records M --exponent R [--epsilon E]\n"
        "                            [--kappa K --bound B --source-norm S] [--json]\n\n"
        "Chooses the regularisation, and where the rule does so the epsilon per answered point, from\n"
        "the number of records, so that the error shrinks at the rate printed.\n\n"
        "  --rule RULE      least_squares_fixed (needs --epsilon), least_squares_balanced, lipschitz\n"
        "  --records M      of one institution: its own, not the federation's\n"
        "  --exponent R     least squares: r above 0, the regression function lies in the range of\n"
        "                   L_K^r; lipschitz: beta in (0, 1], the approximation error's power of lambda\n"
        "  --epsilon E      per answered point, at most 1.25; 1 for an error bound\n"
        "  --kappa K --bound B --source-norm S\n"
        "                   the features' largest norm, |y|'s bound, and the norm of L_K^-r f: with all\n"
        "                   three the error bound's constant is printed, too\n"
        "  --json           the table's numbers with 17 digits, null where there is none\n\n"
        "example:\n"
        "  hedgerow plan select --rule least_squares_balanced --records 10000 --exponent 0.25\n"
        "  hedgerow plan select --rule least_squares_fixed --records 1000 --exponent 0.5 --epsilon 1 \\\n"
        "    --kappa 1 --bound 1 --source-norm 2 --json\n",
    .run = run,
};
