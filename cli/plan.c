#include "cli/plan.h"

#include "base/check.h"
#include "base/decimal.h"
#include "json/json_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What the options are read into, before numbers are made of it. */
struct raw {
    const char *text;
    uint64_t number;
    bool given;
};

static struct option option_of(const struct plan_field *field, struct raw *raw)
{
    struct option option = {.name = field->name, .required = field->required, .what = field->what};
    if (field->whole != NULL) {
        option.number = &raw->number;
        option.min = 1;
        option.max = UINT64_C(1) << 53;
        option.given = &raw->given;
    } else if (field->real != NULL) {
        option.text = &raw->text;
    } else {
        option.text = field->word;
        option.flag = field->flag;
        option.many = field->many;
    }
    return option;
}

enum status plan_fields_read(const struct plan_field *field, bool *json, int count, char **argument,
                             struct why *why)
{
    struct option option[PLAN_FIELDS_MAX + 1];
    struct raw raw[PLAN_FIELDS_MAX] = {{NULL, 0, false}};
    size_t fields = 0;
    for (; field[fields].name != NULL; fields++) {
        CHECK(fields < PLAN_FIELDS_MAX);
        option[fields] = option_of(&field[fields], &raw[fields]);
    }
    option[fields] = (struct option){.name = "--json", .flag = json};
    enum status status = options_read(option, fields + 1, count, argument, why);
    for (size_t i = 0; i < fields && status == STATUS_OK; i++) {
        if (raw[i].given) {
            *field[i].whole = (double)raw[i].number;
        } else if (raw[i].text != NULL) {
            status = decimal_double(field[i].real, raw[i].text);
            if (status != STATUS_OK) {
                why_set(why, "%s wants a number after it, like 0.5 or 1e-6", field[i].name);
            }
        }
    }
    return status;
}

static void print_table(const struct plan_line *line)
{
    size_t key = 0;
    size_t unit = 0;
    for (size_t i = 0; line[i].key != NULL; i++) {
        if (!isnan(line[i].value)) {
            key = strlen(line[i].key) > key ? strlen(line[i].key) : key;
            unit = strlen(line[i].unit) > unit ? strlen(line[i].unit) : unit;
        }
    }
    for (size_t i = 0; line[i].key != NULL; i++) {
        if (!isnan(line[i].value)) {
            (void)printf("  %-*s  %-12.6g  %-*s  %s\n", (int)key, line[i].key, line[i].value,
                         (int)unit, line[i].unit, line[i].holds);
        }
    }
}

enum exit_code plan_answer(const struct command *command, bool json, const char *title,
                           const struct plan_line *line, const char *after)
{
    enum status status = STATUS_OK;
    if (json) {
        json_t *object = json_object();
        for (size_t i = 0; line[i].key != NULL; i++) {
            json_put(&object, line[i].key, json_number(line[i].value));
        }
        status = command_print_json(object);
    } else {
        (void)printf("%s\n\n", title);
        print_table(line);
        (void)fputs(after, stdout);
    }
    return command_end(command, status, &(struct why){""});
}

static const struct command *const parts[] = {&command_plan_job,
                                              &command_plan_compose,
                                              &command_plan_calibrate,
                                              &command_plan_hedge,
                                              &command_plan_erm,
                                              &command_plan_select,
                                              &command_plan_online,
                                              &command_plan_pac,
                                              &command_plan_sq,
                                              &command_plan_masks,
                                              NULL};

const struct command command_plan = {
    .name = "plan",
    .summary = "what a plan costs in privacy, before anything is done",
    .part = parts,
};
