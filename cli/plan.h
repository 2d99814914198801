/* plan.h - the parts of `hedgerow plan`, and what they share: sums before anything is done. */

#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include "base/status.h"
#include "base/why.h"
#include "cli/command.h"
#include "lab/composition/account.h"

#include <jansson.h>
#include <stdbool.h>

extern const struct command command_plan_compose;
extern const struct command command_plan_calibrate;
extern const struct command command_plan_erm;
extern const struct command command_plan_hedge;
extern const struct command command_plan_job;
extern const struct command command_plan_select;
extern const struct command command_plan_online;
extern const struct command command_plan_pac;
extern const struct command command_plan_sq;

/**
 * Reads the number after an option.
 *
 * text  in   NULL when the option was not given: number stays
 *
 * Fails with STATUS_INVALID: not a number as people write it, or not finite. why names the option.
 */
MUST_USE enum status plan_number(double *number, const char *option, const char *text,
                                 struct why *why);

/** Returns a JSON real, null where x is NAN or infinite; the caller owns it. NULL without memory. */
json_t *plan_real(double x);

/** Adds value, which it takes, under key; false when value is NULL or memory is lacking. */
bool plan_set(json_t *object, const char *key, json_t *value);

/** Adds {"basic": ..., ...}: every accountant's bound, null where there is none; then who is best,
 * low and high. False without memory. */
bool plan_account(json_t *object, const char *key, const struct account *account);

/** Ends a part: the sentence, or the status's own text when there is none. */
enum exit_code plan_fail(const struct command *command, enum status status, const struct why *why);

#endif
