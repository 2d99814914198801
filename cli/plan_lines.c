#include "cli/plan_lines.h"

#include "cli/json_print.h"
#include "cli/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int widest(const struct plan_line *line, size_t count, bool unit)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(unit ? line[i].unit : line[i].key);
        most = length > most && !isnan(line[i].value) ? length : most;
    }
    return (int)most;
}

void plan_lines_table(const struct plan_line *line, size_t count)
{
    const int key = widest(line, count, false);
    const int unit = widest(line, count, true);
    for (size_t i = 0; i < count; i++) {
        if (!isnan(line[i].value)) {
            (void)printf("  %-*s  %-12.6g  %-*s  %s\n", key, line[i].key, line[i].value, unit,
                         line[i].unit, line[i].holds);
        }
    }
}

bool plan_lines_set(json_t *object, const struct plan_line *line, size_t count)
{
    bool good = object != NULL;
    for (size_t i = 0; i < count && good; i++) {
        good = plan_set(object, line[i].key, plan_real(line[i].value));
    }
    return good;
}

enum status plan_lines_json(const struct plan_line *line, size_t count)
{
    json_t *object = json_object();
    if (!plan_lines_set(object, line, count)) {
        json_decref(object);
        object = NULL;
    }
    return json_print(object);
}
