#include "lab/composition/calibrate.h"

#include "cli/json_print.h"
#include "cli/plan.h"
#include "cli/plan_events.h"
#include "config/options.h"

#include <stdio.h>

struct budget {
    double epsilon;
    double delta;
};

/* The event as an event file has it, so that the answer can be composed again. */
static json_t *event_json(const struct privacy_event *event)
{
    json_t *object = json_object();
    bool good =
        object != NULL &&
        plan_set(object, "mechanism", json_string(event_mechanism_name(event->mechanism))) &&
        plan_set(object, event_parameter_name(event->mechanism), plan_real(event->parameter)) &&
        plan_set(object, "sensitivity", plan_real(event->sensitivity)) &&
        plan_set(object, "count", json_integer((json_int_t)event->count)) &&
        plan_set(object, "sampling", plan_real(event->sampling)) &&
        plan_set(object, "delta", plan_real(event->delta)) &&
        plan_set(object, "neighbours", json_string(event_neighbours_name(event->neighbours)));
    if (!good) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static enum status print_json(const struct calibration *calibration,
                              const struct plan_events *events, struct budget budget)
{
    json_t *object = json_object();
    json_t *list = json_array();
    bool good = list != NULL;
    for (size_t i = 0; i < events->count && good; i++) {
        json_t *event = event_json(&events->event[i]);
        good = event != NULL && json_array_append_new(list, event) == 0;
    }
    json_t *account = json_object();
    good = good && account != NULL && plan_account(account, "epsilon", &calibration->account);
    good = good && object != NULL && plan_set(object, "epsilon", plan_real(budget.epsilon)) &&
           plan_set(object, "delta", plan_real(budget.delta)) &&
           plan_set(object, "factor", plan_real(calibration->factor));
    /* Both are taken by the object from here on. */
    if (!good || !plan_set(object, "events", json_incref(list)) ||
        !plan_set(object, "account", json_incref(account))) {
        json_decref(object);
        object = NULL;
    }
    json_decref(list);
    json_decref(account);
    return json_print(object);
}

static void print_text(const struct calibration *calibration, const struct plan_events *events,
                       struct budget budget)
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

static enum status read_budget(struct budget *budget, const char *epsilon, const char *delta,
                               struct why *why)
{
    enum status status = plan_number(&budget->epsilon, "--epsilon", epsilon, why);
    if (status == STATUS_OK) {
        status = plan_number(&budget->delta, "--delta", delta, why);
    }
    if (status == STATUS_OK && !(budget->epsilon > 0)) {
        why_set(why, "--epsilon must be above 0");
        status = STATUS_INVALID;
    }
    if (status == STATUS_OK && !(budget->delta >= 0 && budget->delta < 1)) {
        why_set(why, "--delta must be at least 0 and below 1");
        status = STATUS_INVALID;
    }
    return status;
}

static enum exit_code run(const struct command *command, int count, char **argument)
{
    const char *path = NULL;
    const char *delta = NULL;
    const char *epsilon = NULL;
    bool json = false;
    struct plan_events events = {NULL, 0};
    struct budget budget = {0, 0};
    struct calibration calibration;
    struct why why = {""};
    struct why reason = {""};
    const struct option option[] = {
        {.name = "--events", .text = &path, .required = true, .what = "FILE"},
        {.name = "--epsilon", .text = &epsilon, .required = true, .what = "E"},
        {.name = "--delta", .text = &delta, .required = true, .what = "D"},
        {.name = "--json", .flag = &json}};

    if (options_read(option, sizeof option / sizeof option[0], count, argument, &why) !=
            STATUS_OK ||
        read_budget(&budget, epsilon, delta, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    enum status status = plan_events_read(&events, path, &why);
    if (status == STATUS_OK) {
        status = calibrate(&calibration, events.event, events.count, budget.epsilon, budget.delta,
                           &reason);
        if (status != STATUS_OK && reason.text[0] != '\0') {
            why_set(&why, "%s: %s", plan_events_name(path), reason.text);
        }
    }
    if (status == STATUS_OK && json) {
        status = print_json(&calibration, &events, budget);
    } else if (status == STATUS_OK) {
        print_text(&calibration, &events, budget);
    }
    plan_events_free(&events);
    return status == STATUS_OK ? EXIT_CODE_OK : plan_fail(command, status, &why);
}

const struct command command_plan_calibrate = {
    .name = "plan calibrate",
    .summary = "the least noise with which a list of events keeps a budget",
    .help =
        "usage: hedgerow plan calibrate --events FILE --epsilon E --delta D [--json]\n\n"
        "Finds the least common factor on all noise at which the events together cost at most\n"
        "(E, D), and verifies it: scales and sigmas are multiplied by it, epsilons divided. What\n"
        "FILE says in \"scale\", \"sigma\" and \"epsilon\" are relative weights; of one event alone\n"
        "they do not matter.\n\n"
        "  --events FILE   as for `hedgerow plan compose`, whose help explains it; - reads standard\n"
        "                  input\n"
        "  --epsilon E     the budget, above 0\n"
        "  --delta D       the budget, 0 <= D < 1\n"
        "  --json          the factor, the events and the account, with 17 digits\n\n"
        "example:\n"
        "  hedgerow plan calibrate --events events.json --epsilon 1 --delta 1e-6\n"
        "  echo '{\"events\": [{\"mechanism\": \"gaussian\", \"sigma\": 1, \"count\": 50}]}' |\n"
        "    hedgerow plan calibrate --events - --epsilon 1 --delta 1e-6 --json\n",
    .run = run,
};
