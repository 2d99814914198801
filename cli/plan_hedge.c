#include "cli/plan.h"
#include "experts/hedge.h"
#include "experts/regret.h"
#include "experts/rwm.h"
#include "lab/composition/calibrate.h"
#include "json/json_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct request {
    struct hedge_problem problem;
    double experts, rounds, participations, agents;
    double beta; /* NAN: not given */
    bool doubling;
    bool wanted[HEDGE_STRATEGIES];
    bool all; /* no strategy was named */
};

/* What is printed of one strategy. */
struct row {
    const char *name;
    struct hedge_plan plan;
    double eta;      /* NAN where there is none */
    double added;    /* by the high-probability form, NAN where there is none */
    double doubling; /* regret bound when the horizon is unknown, NAN where it is not asked */
    const char *holds;
};

enum { ROWS_MAX = HEDGE_STRATEGIES + 1 };

/* Losses that arrive with noise: what is drawn from them costs nothing more. */
struct noisy {
    double sigma;
    struct regret_bound bound;
};

static const char *const holds[HEDGE_STRATEGIES] = {
    [HEDGE_THEOREM] = "theorem 11.2, epsilon <= 1; losses may answer to what was played",
    [HEDGE_RWM] = "any epsilon; losses may answer to what was played",
    [HEDGE_DARTBOARD] = "oblivious losses: fixed before the first play",
    [HEDGE_EPOCHS] = "rounds drawn independently from one law; delta is not spent"};

static enum status read_strategies(struct request *request, const struct option_many *named,
                                   struct why *why)
{
    request->all = named->count == 0;
    for (unsigned s = 0; s < HEDGE_STRATEGIES; s++) {
        request->wanted[s] = request->all;
    }
    for (size_t i = 0; i < named->count; i++) {
        unsigned s = 0;
        while (s < HEDGE_STRATEGIES &&
               strcmp(named->value[i], hedge_strategy_name((enum hedge_strategy)s)) != 0) {
            s++;
        }
        if (s == HEDGE_STRATEGIES) {
            return why_refuse(why, "--strategy must be theorem, rwm, dartboard or epochs");
        }
        request->wanted[s] = true;
    }
    return STATUS_OK;
}

static enum status read_request(struct request *request, const struct option_many *named,
                                struct why *why)
{
    struct hedge_problem *problem = &request->problem;
    problem->experts = (size_t)request->experts;
    problem->rounds = (uint64_t)request->rounds;
    if (request->participations > UINT32_MAX) {
        return why_refuse(why, "--participations must be at most %u", UINT32_MAX);
    }
    problem->participations = (uint32_t)request->participations;
    if (!isnan(request->beta) && !(request->beta > 0 && request->beta < 1)) {
        return why_refuse(why, "--beta must lie above 0 and below 1");
    }
    return read_strategies(request, named, why);
}

/* One strategy; why names it, and how to go on without it. */
static enum status plan_row(struct row *row, enum hedge_strategy strategy,
                            const struct request *request, struct why *why)
{
    struct why reason = {""};
    double textbook = 0;
    *row = (struct row){.name = hedge_strategy_name(strategy),
                        .added = NAN,
                        .doubling = NAN,
                        .holds = holds[strategy]};
    enum status status = hedge_plan(&row->plan, strategy, &request->problem, &reason);
    row->eta = strategy == HEDGE_EPOCHS ? NAN : row->plan.eta;
    const bool repeats = strategy == HEDGE_DARTBOARD || strategy == HEDGE_EPOCHS;
    if (status == STATUS_OK && !isnan(request->beta) && !(repeats && request->all)) {
        status = hedge_high_probability(&row->added, &textbook, strategy, &request->problem,
                                        request->beta, &reason);
    }
    if (status == STATUS_OK && request->doubling) {
        struct hedge_plan whole;
        status = hedge_doubling(&whole, NULL, strategy, &request->problem, &reason);
        row->doubling = whole.regret_bound;
    }
    if (status != STATUS_OK) {
        /* Theorem 11.2 alone is that narrow: the others may still be planned. */
        const bool narrow = strategy == HEDGE_THEOREM && request->all &&
                            (request->problem.epsilon > 1 || request->problem.delta == 0);
        why_set(why, "%s%s", reason.text,
                narrow ? ": --strategy rwm, --strategy dartboard or --strategy epochs" : "");
    }
    return status;
}

static enum status plan_rows(struct row *row, size_t *count, const struct request *request,
                             struct why *why)
{
    *count = 0;
    for (unsigned s = 0; s < HEDGE_STRATEGIES; s++) {
        if (request->wanted[s]) {
            const enum status status =
                plan_row(&row[(*count)++], (enum hedge_strategy)s, request, why);
            if (status != STATUS_OK) {
                return status;
            }
        }
    }
    struct row *last = &row[(*count)++];
    *last = (struct row){.name = "not_private",
                         .added = NAN,
                         .doubling = NAN,
                         .holds = "for comparison: nothing is protected"};
    const enum status status = hedge_plan_not_private(&last->plan, &request->problem, why);
    last->eta = last->plan.eta;
    last->plan.privacy_is_free = false;
    return status;
}

/* Where the losses are made private at their source, once for each round that a unit takes part in. Each
 * of them moves k losses by 1/n; the budget of one round is what the accountants leave it. */
static enum status plan_noisy(struct noisy *noisy, const struct request *request, struct why *why)
{
    const struct hedge_problem *problem = &request->problem;
    struct calibration calibration;
    const uint64_t participations = problem->participations == 0 ? 1 : problem->participations;
    struct privacy_event event = {.mechanism = MECHANISM_PURE,
                                  .neighbours = NEIGHBOURS_REPLACE_ONE,
                                  .parameter = 1,
                                  .sensitivity = 1,
                                  .count = participations < problem->rounds ? participations
                                                                            : problem->rounds,
                                  .sampling = 1};
    *noisy = (struct noisy){0};
    if (problem->experts == 1) {
        return STATUS_OK;
    }
    const enum status status =
        calibrate(&calibration, &event, 1, problem->epsilon, problem->delta, why);
    if (status == STATUS_OK) {
        const double records = problem->records > 0 ? problem->records : 1;
        noisy->sigma = sqrt(2 * request->agents) * request->experts / (records * event.parameter);
        noisy->bound = regret_bound(problem->experts, 1 / request->experts, problem->rounds,
                                    rwm_eta_free(problem->experts, problem->rounds), noisy->sigma);
    }
    return status;
}

/* What a strategy has none of is left out. */
static json_t *row_json(const struct row *row)
{
    const struct hedge_plan *plan = &row->plan;
    const bool lazy = plan->refresh_probability > 0;
    const struct {
        const char *key;
        double value;
        bool shown;
    } figure[] = {{"rho", plan->rho, plan->rho > 0},
                  {"eta", plan->eta, true},
                  {"regret_bound", plan->regret_bound, true},
                  {"regret_bound_textbook", plan->regret_bound_textbook, true},
                  {"refresh_probability", plan->refresh_probability, lazy},
                  {"refreshes_max", (double)plan->refreshes_max, lazy},
                  {"cap_probability", plan->cap_probability, lazy},
                  {"high_probability", row->added, !isnan(row->added)},
                  {"regret_bound_doubling", row->doubling, !isnan(row->doubling)}};
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof figure / sizeof *figure; i++) {
        if (figure[i].shown) {
            json_put(&object, figure[i].key, json_number(figure[i].value));
        }
    }
    json_put(&object, "privacy_is_free", json_boolean(plan->privacy_is_free));
    return object;
}

static enum status print_json(const struct row *row, size_t count, const struct noisy *noisy)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++) {
        json_put(&object, row[i].name, row_json(&row[i]));
    }
    json_t *losses = json_pack("{s:o, s:o, s:o}", "sigma", json_number(noisy->sigma),
                               "regret_bound", json_number(noisy->bound.tight),
                               "regret_bound_textbook", json_number(noisy->bound.textbook));
    json_put(&object, "noisy_losses", losses);
    return command_print_json(object);
}

static void print_row(const struct row *row)
{
    char eta[32] = "-"; /* epochs has none */
    if (!isnan(row->eta)) {
        (void)snprintf(eta, sizeof eta, "%.5g", row->eta);
    }
    (void)printf("  %-12s  %-10s  %-10.5g  %-10.5g  %s\n", row->name, eta, row->plan.regret_bound,
                 row->plan.regret_bound_textbook, row->holds);
    if (row->plan.refresh_probability > 0) {
        (void)printf(
            "  %-12s  refreshes with probability %.3g a round, at most %.0f times; that limit is "
            "met with probability %.2g\n",
            "", row->plan.refresh_probability, (double)row->plan.refreshes_max,
            row->plan.cap_probability);
    }
    if (!isnan(row->added)) {
        (void)printf("  %-12s  add %.5g for a bound that fails with probability beta (independent "
                     "draws only)\n",
                     "", row->added);
    }
    if (!isnan(row->doubling)) {
        (void)printf("  %-12s  %.5g when the number of rounds is not known beforehand (doubling)\n",
                     "", row->doubling);
    }
    if (row->plan.privacy_is_free) {
        (void)printf("  %-12s  Privacy is free here: eta is the one without it.\n", "");
    }
}

static const struct row *best_of(const struct row *row, size_t count)
{
    const struct row *best = &row[0];
    for (size_t i = 1; i + 1 < count; i++) {
        best = row[i].plan.regret_bound < best->plan.regret_bound ? &row[i] : best;
    }
    return best;
}

static void print_text(const struct request *request, const struct row *row, size_t count,
                       const struct noisy *noisy)
{
    const struct hedge_problem *problem = &request->problem;
    (void)printf("%.0f experts, %.0f rounds, epsilon %g, delta %g for one replaced %s\n",
                 request->experts, request->rounds, problem->epsilon, problem->delta,
                 problem->records > 0 ? "record" : "round's losses");
    (void)printf(
        "regret: mean loss a round beyond the best expert's, losses in [0, 1], in the mean over "
        "draws\n\n");
    (void)printf("trust central: exact losses, only the expert played is shown\n");
    (void)printf("  %-12s  %-10s  %-10s  %-10s  %s\n", "strategy", "eta", "regret <=", "textbook",
                 "holds for");
    for (size_t i = 0; i < count; i++) {
        print_row(&row[i]);
    }
    if (problem->experts == 1) {
        return;
    }
    (void)printf("\ntrust local, distributed: noise on the losses, eta of not_private\n");
    (void)printf(
        "  noise on a round's mean loss, standard deviation %.5g; regret <= %.5g, textbook "
        "%.5g\n\n",
        noisy->sigma, noisy->bound.tight, noisy->bound.textbook);
    const struct row *best = best_of(row, count);
    const bool at_home = noisy->bound.tight < best->plan.regret_bound;
    const double least = at_home ? noisy->bound.tight : best->plan.regret_bound;
    (void)printf("the least bound: %s, regret <= %.5g\n",
                 at_home ? "noise on the losses" : best->name, least);
    if (least >= 0.5) {
        (void)printf(
            "A bound near 1 or above says nothing, as losses lie in [0, 1]. What helps: more "
            "rounds, a larger\nepsilon, fewer experts%s.\n",
            problem->records > 0 ? ", more records a round"
                                 : ", or one record as the unit: --records N");
    }
}

enum exit_code run_plan_hedge(const struct command *command, int count, char **argument)
{
    struct request request = {.beta = NAN, .agents = 1};
    struct hedge_problem *problem = &request.problem;
    struct option_many named = {.count = 0};
    struct row row[ROWS_MAX];
    struct noisy noisy;
    size_t rows = 0;
    struct why why = {""};
    bool json = false;
    const struct option option[] = {
        {.name = "--experts", .what = "K", .required = true, .whole = &request.experts},
        {.name = "--rounds", .what = "T", .required = true, .whole = &request.rounds},
        {.name = "--epsilon", .what = "E", .required = true, .real = &problem->epsilon},
        {.name = "--delta", .what = "D", .required = true, .real = &problem->delta},
        {.name = "--records", .what = "N", .whole = &problem->records},
        {.name = "--participations", .what = "C", .whole = &request.participations},
        {.name = "--agents", .what = "A", .whole = &request.agents},
        {.name = "--beta", .what = "B", .real = &request.beta},
        {.name = "--doubling", .flag = &request.doubling},
        {.name = "--strategy", .what = "STRATEGY", .many = &named},
        {.name = "--json", .flag = &json}};

    if (options_read(OPTIONS(option), count, argument, &why) != STATUS_OK ||
        read_request(&request, &named, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    enum status status = plan_rows(row, &rows, &request, &why);
    if (status == STATUS_OK) {
        status = plan_noisy(&noisy, &request, &why);
    }
    if (status == STATUS_INVALID) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    if (status == STATUS_OK && json) {
        status = print_json(row, rows, &noisy);
    } else if (status == STATUS_OK) {
        print_text(&request, row, rows, &noisy);
    }
    return command_end(command, status, &why);
}
