#include "cli/plan.h"

#include "json/json_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
