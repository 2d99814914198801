#include "cli/plan.h"

#include "base/decimal.h"

#include <math.h>
#include <stdlib.h>

enum status plan_number(double *number, const char *option, const char *text, struct why *why)
{
    if (text == NULL) {
        return STATUS_OK;
    }
    enum status status = decimal_double(number, text);
    if (status != STATUS_OK) {
        why_set(why, "%s wants a number after it, like 0.5 or 1e-6", option);
    }
    return status;
}

json_t *plan_real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

bool plan_set(json_t *object, const char *key, json_t *value)
{
    return value != NULL && json_object_set_new(object, key, value) == 0;
}

bool plan_account(json_t *object, const char *key, const struct account *account)
{
    json_t *bounds = json_object();
    bool good = bounds != NULL;
    for (unsigned i = 0; i < ACCOUNTANT_COUNT; i++) {
        good = good &&
               plan_set(bounds, accountant_name((enum accountant)i), plan_real(account->bound[i]));
    }
    good = plan_set(object, key, bounds) && good;
    good = good && plan_set(object, "best",
                            isfinite(account->high) ? json_string(accountant_name(account->best))
                                                    : json_null());
    return good && plan_set(object, "low", plan_real(account->low)) &&
           plan_set(object, "high", plan_real(account->high));
}

enum exit_code plan_fail(const struct command *command, enum status status, const struct why *why)
{
    return command_fail(command, exit_code_of(status), "%s",
                        why->text[0] != '\0' ? why->text : status_text(status));
}

static const struct command *const parts[] = {&command_plan_job,       &command_plan_compose,
                                              &command_plan_calibrate, &command_plan_hedge,
                                              &command_plan_erm,       &command_plan_select,
                                              &command_plan_online,    &command_plan_pac,
                                              &command_plan_sq,        NULL};

const struct command command_plan = {
    .name = "plan",
    .summary = "what a plan costs in privacy, before anything is done",
    .help =
        "usage: hedgerow plan PART [ARGUMENT]...\n\n"
        "Works out, before any record is touched, what releases cost in privacy, how much noise a\n"
        "budget asks for, and what accuracy is left. It reads no records: events, budgets and\n"
        "sizes alone. Each number is printed with the range in which its theorem holds; a request\n"
        "outside is refused.\n\n"
        "example:\n"
        "  hedgerow plan job compose/hospitals/job.yml --agents 5\n"
        "  hedgerow plan compose --events events.json --delta 1e-6\n"
        "  hedgerow plan calibrate --events events.json --epsilon 1 --delta 1e-6\n",
    .part = parts,
};
