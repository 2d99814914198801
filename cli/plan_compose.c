/* `hedgerow plan compose` and `plan calibrate`: what a list of events costs, and the least noise with which it
 * keeps a budget. */

#include "cli/plan.h"

#include "cli/plan_events.h"
#include "lab/composition/calibrate.h"
#include "json/json_text.h"

#include <math.h>
#include <stdio.h>

/* Every accountant's bound, null where there is none; then the best accountant, low and high. Takes `object`. */
static json_t *add_account(json_t *object, const char *key, const struct account *account)
{
    json_t *bounds = json_object();
    for (unsigned i = 0; i < ACCOUNTANT_COUNT; i++) {
        json_put(&bounds, accountant_name((enum accountant)i), json_number(account->bound[i]));
    }
    json_put(&object, key, bounds);
    json_put(&object, "best",
             isfinite(account->high) ? json_string(accountant_name(account->best)) : json_null());
    json_put(&object, "low", json_number(account->low));
    json_put(&object, "high", json_number(account->high));
    return object;
}

/* The events of the file, and what an accountant finds wrong with them. */
static enum status in_file(enum status status, const char *path, const struct why *reason,
                           struct why *why)
{
    if (status != STATUS_OK && reason->text[0] != '\0') {
        why_set(why, "%s: %s", plan_events_name(path), reason->text);
    }
    return status;
}

static enum status check_delta(double delta, struct why *why)
{
    if (!(delta >= 0 && delta < 1)) {
        return why_refuse(why, "--delta must be at least 0 and below 1");
    }
    return STATUS_OK;
}

static const char *const rests_on[ACCOUNTANT_COUNT] = {
    [ACCOUNTANT_BASIC] = "the epsilons add up",
    [ACCOUNTANT_ADVANCED] = "Dwork and Roth, theorem 3.20, on pure epsilons",
    [ACCOUNTANT_OPTIMAL] = "the best that pure epsilons allow (Kairouz, Oh, Viswanath)",
    [ACCOUNTANT_ZCDP] = "concentrated privacy: rho adds up",
    [ACCOUNTANT_RENYI] = "Renyi curves add up at the best order",
    [ACCOUNTANT_PLD] = "each mechanism's own distribution of losses, convolved"};

/* What is asked, and the other one. */
static const char *name_of(bool is_epsilon)
{
    return is_epsilon ? "epsilon" : "delta";
}

static void print_bound(const struct account *account, enum accountant accountant)
{
    double bound = account->bound[accountant];
    char number[32] = "no bound";
    if (isfinite(bound)) {
        (void)snprintf(number, sizeof number, "%.9g", bound);
    } else if (isnan(bound)) {
        (void)snprintf(number, sizeof number, "not for these");
    }
    bool best = isfinite(account->high) && accountant == account->best;
    (void)printf("%c %-9s %14s  %s\n", best ? '*' : ' ', accountant_name(accountant), number,
                 rests_on[accountant]);
}

/* The sentence that a board can read. Which words the neighbours need, all events share. */
static void print_meaning(double epsilon, double delta, enum neighbours neighbours)
{
    (void)printf("\nWhatever is concluded from everything released here is at most e^%.6g = %.6g "
                 "times as likely",
                 epsilon, exp(epsilon));
    if (delta > 0) {
        (void)printf(", plus %.6g,", delta);
    }
    (void)printf("\nas it would be if one record %s.\n",
                 neighbours == NEIGHBOURS_REPLACE_ONE ? "had been another one"
                                                      : "were left out, or another were added");
}

static void print_account(const struct account *account,
                          const struct composition_question *question,
                          const struct plan_events *events)
{
    enum neighbours neighbours = events->event[0].neighbours;
    double epsilon = question->wants_epsilon ? account->high : question->at;
    double delta = question->wants_epsilon ? question->at : account->high;
    const char *asked = name_of(question->wants_epsilon);
    const char *given = name_of(!question->wants_epsilon);
    double runs = 0;
    for (size_t i = 0; i < events->count; i++) {
        runs += (double)events->event[i].count;
    }
    (void)printf("%s at %s %.9g, neighbours %s, events: %zu, runs of them: %.0f\n\n", asked, given,
                 question->at, event_neighbours_name(neighbours), events->count, runs);
    (void)printf("  %-9s %14s  rests on\n", "accountant", asked);
    for (unsigned i = 0; i < ACCOUNTANT_COUNT; i++) {
        print_bound(account, (enum accountant)i);
    }
    if (!isfinite(account->high)) {
        (void)printf("\nNo %s is enough at this %s: give a larger --%s, or change the events.\n",
                     asked, given, given);
        return;
    }
    (void)printf("\ncertified: the truth lies between %.9g and %.9g\n", account->low,
                 account->high);
    print_meaning(epsilon, delta, neighbours);
}

/* Exactly one of --delta and --epsilon; what is not given is NAN. */
static enum status read_question(struct composition_question *question, double delta,
                                 double epsilon, struct why *why)
{
    if (isnan(delta) == isnan(epsilon)) {
        return why_refuse(why, isnan(delta)
                                   ? "give --delta D, to learn epsilon, or --epsilon E, to learn "
                                     "delta"
                                   : "--delta and --epsilon are both given: leave out the one to "
                                     "learn");
    }
    *question = (struct composition_question){.wants_epsilon = isnan(epsilon),
                                              .at = isnan(epsilon) ? delta : epsilon};
    if (question->wants_epsilon) {
        return check_delta(delta, why);
    }
    if (epsilon < 0) {
        return why_refuse(why, "--epsilon must be at least 0");
    }
    return STATUS_OK;
}

enum exit_code run_plan_compose(const struct command *command, int count, char **argument)
{
    const char *path = NULL;
    double delta = NAN;
    double epsilon = NAN;
    bool json = false;
    struct plan_events events = {NULL, 0};
    struct composition_question question = {0};
    struct account account;
    struct why why = {""};
    struct why reason = {""};
    const struct option option[] = {
        {.name = "--events", .text = &path, .required = true, .what = "FILE"},
        {.name = "--delta", .real = &delta, .what = "D"},
        {.name = "--epsilon", .real = &epsilon, .what = "E"},
        {.name = "--json", .flag = &json}};

    if (options_read(OPTIONS(option), count, argument, &why) != STATUS_OK ||
        read_question(&question, delta, epsilon, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    enum status status = plan_events_read(&events, path, &why);
    if (status == STATUS_OK) {
        status = account_ask(&account, events.event, events.count, question, &reason);
        status = in_file(status, path, &reason, &why);
    }
    if (status == STATUS_OK && json) {
        status = command_print_json(add_account(
            json_pack("{s:o}", name_of(!question.wants_epsilon), json_number(question.at)),
            name_of(question.wants_epsilon), &account));
    } else if (status == STATUS_OK) {
        print_account(&account, &question, &events);
    }
    plan_events_free(&events);
    return command_end(command, status, &why);
}

struct budget {
    double epsilon;
    double delta;
};

/* The events as an event file has them, so that the answer can be composed again. */
static json_t *events_json(const struct plan_events *events)
{
    json_t *list = json_array();
    for (size_t i = 0; i < events->count; i++) {
        const struct privacy_event *event = &events->event[i];
        json_t *object = json_pack(
            "{s:s, s:o, s:o, s:I, s:o, s:o, s:s}", "mechanism",
            event_mechanism_name(event->mechanism), event_parameter_name(event->mechanism),
            json_number(event->parameter), "sensitivity", json_number(event->sensitivity), "count",
            (json_int_t)event->count, "sampling", json_number(event->sampling), "delta",
            json_number(event->delta), "neighbours", event_neighbours_name(event->neighbours));
        json_add(&list, object);
    }
    return list;
}

static enum status print_calibration_json(const struct calibration *calibration,
                                          const struct plan_events *events, struct budget budget)
{
    return command_print_json(
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "epsilon", json_number(budget.epsilon), "delta",
                  json_number(budget.delta), "factor", json_number(calibration->factor), "events",
                  events_json(events), "account",
                  add_account(json_object(), "epsilon", &calibration->account)));
}

static void print_calibration(const struct calibration *calibration,
                              const struct plan_events *events, struct budget budget)
{
    (void)printf("epsilon %.9g at delta %.9g, neighbours %s\n\n", budget.epsilon, budget.delta,
                 event_neighbours_name(events->event[0].neighbours));
    (void)printf("  event  mechanism          parameter\n");
    for (size_t i = 0; i < events->count; i++) {
        const struct privacy_event *event = &events->event[i];
        (void)printf("  %5zu  %-17s  %s %.17g\n", i + 1, event_mechanism_name(event->mechanism),
                     event_parameter_name(event->mechanism), event->parameter);
    }
    (void)printf("\nnoise %.9g times the weights in the file (epsilons divided by it)\n",
                 calibration->factor);
    (void)printf("verified: together they cost at most epsilon %.9g, by the accountant %s\n",
                 calibration->account.high, accountant_name(calibration->account.best));
}

static enum status check_budget(struct budget budget, struct why *why)
{
    if (!(budget.epsilon > 0)) {
        return why_refuse(why, "--epsilon must be above 0");
    }
    return check_delta(budget.delta, why);
}

enum exit_code run_plan_calibrate(const struct command *command, int count, char **argument)
{
    const char *path = NULL;
    bool json = false;
    struct plan_events events = {NULL, 0};
    struct budget budget = {0, 0};
    struct calibration calibration;
    struct why why = {""};
    struct why reason = {""};
    const struct option option[] = {
        {.name = "--events", .text = &path, .required = true, .what = "FILE"},
        {.name = "--epsilon", .real = &budget.epsilon, .required = true, .what = "E"},
        {.name = "--delta", .real = &budget.delta, .required = true, .what = "D"},
        {.name = "--json", .flag = &json}};

    if (options_read(OPTIONS(option), count, argument, &why) != STATUS_OK ||
        check_budget(budget, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    enum status status = plan_events_read(&events, path, &why);
    if (status == STATUS_OK) {
        status = calibrate(&calibration, events.event, events.count, budget.epsilon, budget.delta,
                           &reason);
        status = in_file(status, path, &reason, &why);
    }
    if (status == STATUS_OK && json) {
        status = print_calibration_json(&calibration, &events, budget);
    } else if (status == STATUS_OK) {
        print_calibration(&calibration, &events, budget);
    }
    plan_events_free(&events);
    return command_end(command, status, &why);
}
