/* How `hedgerow init job` reads the label, and which columns it takes: by the data dictionary alone. */

#include "cli/init_job_target.h"

#include <string.h>

enum { CLASSES = 2 };

const char *init_job_unusable(const struct dictionary_column *column)
{
    if (column->kind == DICTIONARY_NUMBER) {
        const bool ranged =
            column->low > -DICTIONARY_BOUND_MAX && column->high < DICTIONARY_BOUND_MAX;
        return ranged ? NULL : "is a number without a public range: give it low and high";
    }
    if (column->category_count == 0) {
        return "has no public list of categories: give it categories";
    }
    if (column->category_count == 1) {
        return "has one category, which tells nothing";
    }
    return column->category_count <= SCHEMA_CATEGORIES_MAX
               ? NULL
               : "has more than 32 categories: list those that matter";
}

enum status init_job_need(const struct dictionary_column **column, const struct init_job *asked,
                          const char *option, const char *name, struct why *why)
{
    struct why inner = {""};
    return dictionary_need(column, asked->data, name, &inner) == STATUS_OK
               ? STATUS_OK
               : why_refuse(why, "%s: %s %s: %s", asked->path, option, name, inner.text);
}

static bool is_zero_or_one(const struct dictionary_column *column)
{
    return column->kind == DICTIONARY_NUMBER && column->low == 0 && column->high == 1 &&
           column->unit[0] == '\0';
}

/* The person said which text is positive. */
static enum status aim_at(struct init_target *target, const struct init_job *asked, struct why *why)
{
    const struct dictionary_column *column = target->column;
    const char *other = NULL;
    bool found = column->category_count == 0;
    target->kind = LABEL_SIGN;
    target->positive = asked->positive;
    for (size_t i = 0; i < column->category_count; i++) {
        if (strcmp(column->category[i], asked->positive) == 0) {
            found = true;
        } else {
            other = column->category[i];
        }
    }
    if (!found) {
        return why_refuse(why, "%s: --positive %s is none of the categories of column \"%s\": %s%s",
                          asked->path, asked->positive, column->name, column->category[0],
                          column->category_count > 1 ? ", ..." : "");
    }
    if (is_zero_or_one(column) && strlen(asked->positive) == 1 &&
        strchr("01", asked->positive[0]) != NULL) {
        other = asked->positive[0] == '1' ? "0" : "1";
    }
    target->negative = column->category_count == CLASSES || is_zero_or_one(column) ? other : NULL;
    return STATUS_OK;
}

enum status init_job_aim(struct init_target *target, const struct init_job *asked, struct why *why)
{
    const enum status status = init_job_need(&target->column, asked, "--label", asked->label, why);
    const struct dictionary_column *column = target->column;
    if (status != STATUS_OK) {
        return status;
    }
    if (asked->positive != NULL) {
        return aim_at(target, asked, why);
    }
    if (is_zero_or_one(column)) {
        *target = (struct init_target){column, LABEL_SIGN, "1", "0"};
        return STATUS_OK;
    }
    if (init_job_unusable(column) != NULL) {
        return why_refuse(why,
                          "%s: the label \"%s\" %s; or, where it has two classes, say which value "
                          "is the positive one: --positive VALUE",
                          asked->path, column->name, init_job_unusable(column));
    }
    if (column->kind == DICTIONARY_NUMBER) {
        target->kind = LABEL_NUMBER;
    } else if (column->category_count == CLASSES) {
        *target =
            (struct init_target){column, LABEL_SIGN, column->category[1], column->category[0]};
    } else {
        target->kind = LABEL_CLASSES;
    }
    return STATUS_OK;
}

void init_job_tell_label(struct why *why, const struct init_job *asked,
                         const struct init_target *target)
{
    const char *mark = target->negative != NULL ? "\"" : "";
    if (target->kind == LABEL_NUMBER) {
        why_set(why, "\"%s\" is learned as a number", asked->label);
    } else if (target->kind == LABEL_CLASSES) {
        why_set(why, "\"%s\" is learned as %zu classes", asked->label,
                target->column->category_count);
    } else {
        why_set(why, "\"%s\" has two classes: \"%s\" is positive, %s%s%s is negative%s",
                asked->label, target->positive, mark,
                target->negative != NULL ? target->negative : "every other text", mark,
                asked->positive == NULL ? " (--positive VALUE says otherwise)" : "");
    }
}
