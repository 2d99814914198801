/* `hedgerow init job`: a job to begin with, from a data dictionary. */

#include "cli/init_job.h"

#include "base/decimal.h"
#include "base/file.h"
#include "base/near.h"
#include "base/text.h"
#include "cli/command.h"
#include "job/job.h"
#include "job/trust.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MINIMUM = 3 }; /* sites, unless the person says otherwise */

static enum status check_trust(const char *name, struct why *why)
{
    char hint[NEAR_HINT_BYTES];
    struct near near = near_to((struct slice){name, strlen(name)});
    for (unsigned i = 0; i < TRUST_COUNT; i++) {
        near_offer(&near, job_trust_name(i));
        if (strcmp(name, job_trust_name(i)) == 0) {
            return STATUS_OK;
        }
    }
    return why_refuse(why, "--trust %s: write local, central or distributed%s", name,
                      near_hint(hint, &near));
}

/* The range is the job's own to check. */
static enum status check_number(const char *option, const char *text, const char *example,
                                struct why *why)
{
    return decimal_is_number(text)
               ? STATUS_OK
               : why_refuse(why, "%s wants a number after it, like %s", option, example);
}

static void tell(FILE *out, const struct init_job *asked, const struct init_said *said,
                 const char *path)
{
    if (path != NULL) {
        (void)fprintf(out, "wrote %s\n", path);
    }
    text_wrap(out, 0, 2, "  %s.", said->label.text);
    text_wrap(out, 0, 2, "  Of %s, features: %zu columns; left out: %zu%s.", asked->path,
              said->features, said->left, said->left > 0 ? ", the job says why" : "");
    if (path != NULL) {
        (void)fprintf(out,
                      "next:\n"
                      "  hedgerow plan job %s\n"
                      "  hedgerow simulate %s --data TABLE.csv --out rehearsal\n",
                      path, path);
    }
}

static enum status write_job(const struct init_job *asked, const char *path, struct why *why)
{
    struct init_said said;
    char *text = NULL;
    enum status status = init_job_write(&text, &said, asked, why);
    if (status == STATUS_OK && path != NULL) {
        status = file_create(path, (struct slice){text, strlen(text)}, FILE_PUBLIC, why);
    }
    if (status == STATUS_OK) {
        if (path == NULL) {
            (void)fputs(text, stdout);
        }
        tell(path == NULL ? stderr : stdout, asked, &said, path);
    }
    free(text);
    return status;
}

enum exit_code run_init_job(const struct command *command, int count, char **argument)
{
    struct init_job asked = {.epsilon = "1", .delta = "0", .trust = "local", .minimum = MINIMUM};
    struct dictionary dictionary = {.column = NULL};
    struct why why = {""};
    const char *out = NULL;
    char *text = NULL;
    size_t size = 0;
    const struct option option[] = {
        {.name = "--dictionary", .text = &asked.path, .required = true, .what = "DATA.yml"},
        {.name = "--label", .text = &asked.label, .required = true, .what = "COLUMN"},
        {.name = "--positive", .text = &asked.positive, .what = "VALUE"},
        {.name = "--feature", .many = &asked.feature, .what = "COLUMN"},
        {.name = "--without", .many = &asked.without, .what = "COLUMN"},
        {.name = "--out", .text = &out, .what = "JOB.yml"},
        {.name = "--job", .text = &asked.name, .what = "NAME"},
        {.name = "--epsilon", .text = &asked.epsilon, .what = "E"},
        {.name = "--delta", .text = &asked.delta, .what = "D"},
        {.name = "--trust", .text = &asked.trust, .what = "TRUST"},
        {COMMAND_NUMBER("--minimum", &asked.minimum, 1, JOB_AGENTS_MAX, "N")},
        {COMMAND_NUMBER("--dishonest", &asked.dishonest, 1, JOB_AGENTS_MAX, "C")},
        {COMMAND_NUMBER("--records", &asked.records, DICTIONARY_RECORDS_MIN, DICTIONARY_RECORDS_MAX,
                        "N")}};

    enum status status = options_read(OPTIONS(option), count, argument, &why);
    if (status == STATUS_OK) {
        status = check_trust(asked.trust, &why);
    }
    if (status == STATUS_OK && asked.dishonest > 0 && strcmp(asked.trust, "distributed") != 0) {
        status = why_refuse(&why,
                            "--dishonest %" PRIu64 ": only trust distributed counts on sites that "
                            "help the coordinator; remedy: --trust distributed, or leave it out",
                            asked.dishonest);
    }
    if (status == STATUS_OK) {
        status = check_number("--epsilon", asked.epsilon, "0.5", &why);
    }
    if (status == STATUS_OK) {
        status = check_number("--delta", asked.delta, "0.00001", &why);
    }
    if (status != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    status = config_load(&text, &size, asked.path, &why);
    if (status == STATUS_OK) {
        status = dictionary_parse(&dictionary, (struct slice){text, size}, asked.path, &why);
    }
    if (status == STATUS_OK) {
        asked.data = &dictionary;
        status = write_job(&asked, out, &why);
    }
    dictionary_free(&dictionary);
    free(text);
    return command_end(command, status, &why);
}

/* How `hedgerow init job` reads the label, and which columns it takes: by the data dictionary alone. */

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
