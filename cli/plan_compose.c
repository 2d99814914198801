#include "cli/plan.h"

#include "cli/json_print.h"
#include "cli/plan_events.h"
#include "config/options.h"

#include <math.h>
#include <stdio.h>

static const char *const rests_on[ACCOUNTANT_COUNT] = {
    [ACCOUNTANT_BASIC] = "the epsilons add up",
    [ACCOUNTANT_ADVANCED] = "Dwork and Roth, theorem 3.20, on pure epsilons",
    [ACCOUNTANT_OPTIMAL] = "the best that pure epsilons allow (Kairouz, Oh, Viswanath)",
    [ACCOUNTANT_ZCDP] = "concentrated privacy: rho adds up",
    [ACCOUNTANT_RENYI] = "Renyi curves add up at the best order",
    [ACCOUNTANT_PLD] = "each mechanism's own distribution of losses, convolved"};

/* What is asked: epsilon at this delta, or delta at this epsilon. */
struct question {
    const char *asked; /* "epsilon" or "delta" */
    const char *given; /* the other one */
    double at;
    bool wants_epsilon;
};

static enum status answer(struct account *out, const struct plan_events *events,
                          const struct question *question, const char *name, struct why *why)
{
    struct why reason = {""};
    enum status status =
        question->wants_epsilon
            ? account_epsilon(out, events->event, events->count, question->at, &reason)
            : account_delta(out, events->event, events->count, question->at, &reason);
    if (status != STATUS_OK && reason.text[0] != '\0') {
        why_set(why, "%s: %s", name, reason.text);
    }
    return status;
}

static enum status print_json(const struct account *account, const struct question *question)
{
    json_t *object = json_object();
    if (object != NULL && (!plan_set(object, question->given, plan_real(question->at)) ||
                           !plan_account(object, question->asked, account))) {
        json_decref(object);
        object = NULL;
    }
    return json_print(object);
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

static void print_text(const struct account *account, const struct question *question,
                       const struct plan_events *events)
{
    enum neighbours neighbours = events->event[0].neighbours;
    double epsilon = question->wants_epsilon ? account->high : question->at;
    double delta = question->wants_epsilon ? question->at : account->high;
    double runs = 0;
    for (size_t i = 0; i < events->count; i++) {
        runs += (double)events->event[i].count;
    }
    (void)printf("%s at %s %.9g, neighbours %s, events: %zu, runs of them: %.0f\n\n",
                 question->asked, question->given, question->at, event_neighbours_name(neighbours),
                 events->count, runs);
    (void)printf("  %-9s %14s  rests on\n", "accountant", question->asked);
    for (unsigned i = 0; i < ACCOUNTANT_COUNT; i++) {
        print_bound(account, (enum accountant)i);
    }
    if (!isfinite(account->high)) {
        (void)printf("\nNo %s is enough at this %s: give a larger --%s, or change the events.\n",
                     question->asked, question->given, question->given);
        return;
    }
    (void)printf("\ncertified: the truth lies between %.9g and %.9g\n", account->low,
                 account->high);
    print_meaning(epsilon, delta, neighbours);
}

/* Exactly one of --delta and --epsilon. */
static enum status read_question(struct question *question, const char *delta, const char *epsilon,
                                 struct why *why)
{
    if ((delta == NULL) == (epsilon == NULL)) {
        why_set(why, delta == NULL ? "give --delta D, to learn epsilon, or --epsilon E, to learn "
                                     "delta"
                                   : "--delta and --epsilon are both given: leave out the one to "
                                     "learn");
        return STATUS_INVALID;
    }
    *question = delta != NULL ? (struct question){"epsilon", "delta", 0, true}
                              : (struct question){"delta", "epsilon", 0, false};
    enum status status = delta != NULL ? plan_number(&question->at, "--delta", delta, why)
                                       : plan_number(&question->at, "--epsilon", epsilon, why);
    if (status != STATUS_OK) {
        return status;
    }
    if (question->wants_epsilon ? !(question->at >= 0 && question->at < 1) : question->at < 0) {
        why_set(why, question->wants_epsilon ? "--delta must be at least 0 and below 1"
                                             : "--epsilon must be at least 0");
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

static enum exit_code run(const struct command *command, int count, char **argument)
{
    const char *path = NULL;
    const char *delta = NULL;
    const char *epsilon = NULL;
    bool json = false;
    struct plan_events events = {NULL, 0};
    struct question question = {0};
    struct account account;
    struct why why = {""};
    const struct option option[] = {
        {.name = "--events", .text = &path, .required = true, .what = "FILE"},
        {.name = "--delta", .text = &delta, .what = "D"},
        {.name = "--epsilon", .text = &epsilon, .what = "E"},
        {.name = "--json", .flag = &json}};

    if (options_read(option, sizeof option / sizeof option[0], count, argument, &why) !=
            STATUS_OK ||
        read_question(&question, delta, epsilon, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    enum status status = plan_events_read(&events, path, &why);
    if (status == STATUS_OK) {
        status = answer(&account, &events, &question, plan_events_name(path), &why);
    }
    if (status == STATUS_OK && json) {
        status = print_json(&account, &question);
    } else if (status == STATUS_OK) {
        print_text(&account, &question, &events);
    }
    plan_events_free(&events);
    return status == STATUS_OK ? EXIT_CODE_OK : plan_fail(command, status, &why);
}

const struct command command_plan_compose = {
    .name = "plan compose",
    .summary = "what a list of events costs together: epsilon or delta",
    .help =
        "usage: hedgerow plan compose --events FILE (--delta D | --epsilon E) [--json]\n\n"
        "Asks every accountant what the events cost together, and keeps the least certified bound.\n"
        "Events may be chosen one after another, each after seeing what the ones before gave out, "
        "as\n"
        "long as the list itself was fixed beforehand.\n\n"
        "  --events FILE   the events; - reads standard input\n"
        "  --delta D       answers epsilon at this delta, 0 <= D < 1\n"
        "  --epsilon E     answers delta at this epsilon, E >= 0\n"
        "  --json          every bound with 17 digits; null where an accountant has none\n\n"
        "FILE is JSON, {\"events\": [EVENT, ...]}, and an EVENT\n"
        "  \"mechanism\"    laplace            one real number, Laplace noise of \"scale\"\n"
        "                 discrete_laplace   one integer, discrete Laplace noise of \"scale\"\n"
        "                 gaussian           a vector, Gaussian noise of \"sigma\"\n"
        "                 discrete_gaussian  one integer, discrete Gaussian noise of \"sigma\"\n"
        "                 exponential        a draw of bounded range \"epsilon\"\n"
        "                 pure               anything \"epsilon\"-private: permute-and-flip, a "
        "Laplace vector\n"
        "  \"sensitivity\"  in the units of scale and sigma; 1 when left out\n"
        "  \"count\"        how often it happens; 1 when left out\n"
        "  \"sampling\"     the chance of each record to take part, on its own; 1 when left out\n"
        "  \"delta\"        the chance that it fails altogether; 0 when left out\n"
        "  \"neighbours\"   replace-one (when left out) or add-remove; the same in all events.\n"
        "                 Replacing one record moves a clipped sum by twice the clip.\n\n"
        "example:\n"
        "  echo '{\"events\": [{\"mechanism\": \"laplace\", \"scale\": 20, \"count\": 100},\n"
        "                    {\"mechanism\": \"exponential\", \"epsilon\": 0.1}]}' |\n"
        "    hedgerow plan compose --events - --delta 1e-6\n"
        "  hedgerow plan compose --events events.json --epsilon 2 --json\n",
    .run = run,
};
