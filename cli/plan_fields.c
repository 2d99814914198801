#include "cli/plan_fields.h"

#include "base/check.h"
#include "cli/plan.h"

#include <stdint.h>

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

enum status plan_fields_read(const struct plan_field *field, size_t field_count, bool *json,
                             int count, char **argument, struct why *why)
{
    struct option option[PLAN_FIELDS_MAX + 1];
    struct raw raw[PLAN_FIELDS_MAX] = {{NULL, 0, false}};
    CHECK(field_count <= PLAN_FIELDS_MAX);
    for (size_t i = 0; i < field_count; i++) {
        option[i] = option_of(&field[i], &raw[i]);
    }
    option[field_count] = (struct option){.name = "--json", .flag = json};
    enum status status = options_read(option, field_count + 1, count, argument, why);
    for (size_t i = 0; i < field_count && status == STATUS_OK; i++) {
        if (field[i].real != NULL) {
            status = plan_number(field[i].real, field[i].name, raw[i].text, why);
        } else if (raw[i].given) {
            *field[i].whole = (double)raw[i].number;
        }
    }
    return status;
}
