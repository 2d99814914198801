/* The text of `hedgerow init job`. Bounds and categories are those of the data dictionary, which are public. */

#include "cli/init_job.h"

#include "base/bytes.h"
#include "cli/plan_job.h"
#include "config/config.h"
#include "job/job.h"
#include "job/trust.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 32, CLASSES = 2 };

/* How the label is learned. */
struct target {
    const struct dictionary_column *column;
    enum label_kind kind;
    const char *positive;
    const char *negative; /* NULL: every other text */
};

/* Returns why a column cannot be a feature and what would make it one; NULL where it can. */
static const char *unusable(const struct dictionary_column *column)
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

/* The shortest text that is the number, but for the rounding of a column's ends. */
static void put_number(FILE *out, double number, double range)
{
    char text[NUMBER_BYTES];
    int digits = 1;
    do {
        (void)snprintf(text, sizeof text, "%.*g",
                       fabs(number) < 1e15 && digits < 15 && number == floor(number) ? 15 : digits,
                       number);
    } while (fabs(strtod(text, NULL) - number) > 1e-12 * range && ++digits <= 17);
    (void)fputs(text, out);
}

static void put_range(FILE *out, const struct dictionary_column *column)
{
    const double range = column->high - column->low;
    (void)fputs(", centre: ", out);
    put_number(out, column->low + range / 2, range);
    (void)fputs(", half_width: ", out);
    put_number(out, range / 2, range);
}

static void put_texts(FILE *out, const char *key, const struct dictionary_column *column)
{
    (void)fprintf(out, ", %s: [", key);
    for (size_t i = 0; i < column->category_count; i++) {
        (void)fputs(i == 0 ? "" : ", ", out);
        config_put_text(out, column->category[i]);
    }
    (void)fputc(']', out);
}

static bool has(const struct option_many *many, const char *name)
{
    bool found = false;
    for (size_t i = 0; !found && i < many->count; i++) {
        found = strcmp(many->value[i], name) == 0;
    }
    return found;
}

/* Why the column is no feature; NULL where it is one. */
static const char *left_out(const struct init_job *asked, const struct dictionary_column *column)
{
    if (has(&asked->without, column->name)) {
        return "was left out by --without";
    }
    if (asked->feature.count > 0 && !has(&asked->feature, column->name)) {
        return "was not named by --feature";
    }
    return unusable(column);
}

static enum status need(const struct dictionary_column **column, const struct init_job *asked,
                        const char *option, const char *name, struct why *why)
{
    struct why inner = {""};
    return dictionary_need(column, asked->data, name, &inner) == STATUS_OK
               ? STATUS_OK
               : why_refuse(why, "%s: %s %s: %s", asked->path, option, name, inner.text);
}

static enum status check_named(const struct init_job *asked, struct why *why)
{
    const struct dictionary_column *column;
    for (size_t i = 0; i < asked->without.count; i++) {
        if (need(&column, asked, "--without", asked->without.value[i], why) != STATUS_OK) {
            return STATUS_INVALID;
        }
    }
    for (size_t i = 0; i < asked->feature.count; i++) {
        const char *name = asked->feature.value[i];
        if (need(&column, asked, "--feature", name, why) != STATUS_OK) {
            return STATUS_INVALID;
        }
        if (strcmp(name, asked->label) == 0) {
            return why_refuse(why, "--feature %s: it is the label", name);
        }
        if (unusable(column) != NULL) {
            return why_refuse(why, "%s: --feature %s: column \"%s\" %s", asked->path, name, name,
                              unusable(column));
        }
    }
    return STATUS_OK;
}

static bool is_zero_or_one(const struct dictionary_column *column)
{
    return column->kind == DICTIONARY_NUMBER && column->low == 0 && column->high == 1 &&
           column->unit[0] == '\0';
}

/* The person said which text is positive. */
static enum status aim_at(struct target *target, const struct init_job *asked, struct why *why)
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

static enum status aim(struct target *target, const struct init_job *asked, struct why *why)
{
    const enum status status = need(&target->column, asked, "--label", asked->label, why);
    const struct dictionary_column *column = target->column;
    if (status != STATUS_OK) {
        return status;
    }
    if (asked->positive != NULL) {
        return aim_at(target, asked, why);
    }
    if (is_zero_or_one(column)) {
        *target = (struct target){column, LABEL_SIGN, "1", "0"};
        return STATUS_OK;
    }
    if (unusable(column) != NULL) {
        return why_refuse(why,
                          "%s: the label \"%s\" %s; or, where it has two classes, say which value "
                          "is the positive one: --positive VALUE",
                          asked->path, column->name, unusable(column));
    }
    if (column->kind == DICTIONARY_NUMBER) {
        target->kind = LABEL_NUMBER;
    } else if (column->category_count == CLASSES) {
        *target = (struct target){column, LABEL_SIGN, column->category[1], column->category[0]};
    } else {
        target->kind = LABEL_CLASSES;
    }
    return STATUS_OK;
}

static void put_label(FILE *out, const struct target *target)
{
    const struct dictionary_column *column = target->column;
    (void)fputs(target->kind == LABEL_SIGN ? "  # The model gives the probability of `positive`.\n"
                : target->kind == LABEL_CLASSES
                    ? "  # One of these classes is predicted.\n"
                    : "  # A number, clamped to centre +- half_width.\n",
                out);
    (void)fputs("  label: {column: ", out);
    config_put_text(out, column->name);
    if (target->kind == LABEL_SIGN) {
        (void)fputs(", positive: ", out);
        config_put_text(out, target->positive);
        if (target->negative != NULL) {
            (void)fputs(", negative: ", out);
            config_put_text(out, target->negative);
        }
    } else if (target->kind == LABEL_CLASSES) {
        put_texts(out, "classes", column);
    } else {
        put_range(out, column);
    }
    (void)fputs("}\n\n", out);
}

static void put_features(FILE *out, struct init_said *said, const struct init_job *asked)
{
    (void)fputs(
        "  # Remove a column that is known only because the label is. A number is clamped to\n"
        "  # centre +- half_width: bounds that fit most records closely let it tell more.\n"
        "  features:\n",
        out);
    for (size_t i = 0; i < asked->data->column_count; i++) {
        const struct dictionary_column *column = &asked->data->column[i];
        if (strcmp(column->name, asked->label) == 0) {
            continue;
        }
        const char *reason = left_out(asked, column);
        if (reason != NULL) {
            (void)fprintf(out, "    # left out: \"%s\" %s\n", column->name, reason);
            said->left++;
            continue;
        }
        (void)fputs("    - {column: ", out);
        config_put_text(out, column->name);
        if (column->kind == DICTIONARY_NUMBER) {
            put_range(out, column);
        } else {
            put_texts(out, "categories", column);
        }
        (void)fputs("}\n", out);
        said->features++;
    }
}

/* A name may hold letters, digits and a few marks: what else the label has becomes '-'. */
static void put_name(FILE *out, const struct init_job *asked)
{
    char name[JOB_NAME_BYTES];
    if (asked->name != NULL) {
        config_put_text(out, asked->name);
        return;
    }
    (void)snprintf(name, sizeof name, "learn-%s", asked->label);
    for (char *c = name; *c != '\0'; c++) {
        *c = (unsigned char)*c < 0x80 && (isalnum((unsigned char)*c) || *c == '_') ? *c : '-';
    }
    (void)fputs(name, out);
}

static bool trust_is_masked(const char *name)
{
    for (unsigned i = 0; i < TRUST_COUNT; i++) {
        if (strcmp(name, job_trust_name((enum job_trust)i)) == 0) {
            return trust_at((enum job_trust)i)->masked;
        }
    }
    return false;
}

static void put_rest(FILE *out, const struct init_job *asked)
{
    const uint64_t records = asked->records > 0 ? asked->records : asked->data->record_count;
    (void)fprintf(
        out,
        "\nprivacy:\n"
        "  unit: record                   # what is protected: one row of a site's table\n"
        "  neighbours: replace_one        # against: the same table with that row replaced by any other\n"
        "  trust: %-11s             # local: each site adds its own noise; central: the coordinator "
        "does;\n"
        "                                 # distributed: each adds a share of one, and masks its answer\n"
        "  epsilon: %-6s                # the most that one row can be charged by this job, at its site\n"
        "  delta: %s\n"
        "\ncohort:\n"
        "  minimum: %-6" PRIu64
        "                # with fewer sites a round fails, and the job with it\n",
        asked->trust, asked->epsilon, asked->delta, asked->minimum);
    if (trust_is_masked(asked->trust)) {
        (void)fprintf(
            out,
            "  dishonest: %-6" PRIu64 "              # so many sites may help the coordinator\n",
            asked->dishonest > 0 ? asked->dishonest : job_change_dishonest(asked->minimum));
    }
    (void)fprintf(out,
                  "  records: %-10" PRIu64 "            # every site needs so many rows at least\n"
                  "  join_deadline_s: 60            # so long the first round waits for the sites\n"
                  "  deadline_s: 30                 # so long every round waits for their answers\n"
                  "\nstages:\n"
                  "  - {task: learn}              # needs no settings\n",
                  records);
}

static enum status put_job(char **text, struct init_said *said, const struct init_job *asked,
                           const struct target *target)
{
    size_t size = 0;
    FILE *out = open_memstream(text, &size);
    if (out == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)fputs(
        "# A job to begin with. `hedgerow init job` wrote it from a site's public data dictionary\n"
        "# alone. Everything in it is public knowledge. docs/JOBS.md explains every key.\n\n"
        "hedgerow: 1                      # the version of this file's format\njob: ",
        out);
    put_name(out, asked);
    (void)fputs("\n\ndata:\n", out);
    if (asked->data->name[0] != '\0') {
        (void)fputs("  set: ", out);
        config_put_text(out, asked->data->name);
        (void)fputs("\n", out);
    }
    put_label(out, target);
    put_features(out, said, asked);
    put_rest(out, asked);
    const bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        free(*text);
        *text = NULL;
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

/* As the agent of the dictionary's site will read it. */
static enum status judge(const char *text, const struct init_job *asked,
                         const struct target *target, struct why *why)
{
    struct job job = {.stage = NULL};
    struct why inner = {""};
    enum status status = job_parse(&job, (struct slice){text, strlen(text)},
                                   "the job that would be written", &inner);
    if (status == STATUS_INVALID) {
        (void)why_refuse(why, "%s%s", inner.text,
                         target->kind == LABEL_CLASSES && strstr(inner.text, "label") != NULL
                             ? "; or --positive VALUE: that class against all others"
                             : "");
    }
    if (status == STATUS_OK) {
        status = dictionary_judge(asked->data, &job, &inner);
        if (status == STATUS_REFUSED) {
            status = why_refuse(why, "%s: %s", asked->path, inner.text);
        }
    }
    job_free(&job);
    return status;
}

static void tell_label(struct why *why, const struct init_job *asked, const struct target *target)
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

enum status init_job_write(char **text, struct init_said *said, const struct init_job *asked,
                           struct why *why)
{
    struct target target = {.column = NULL};
    *text = NULL;
    *said = (struct init_said){.features = 0};
    enum status status = aim(&target, asked, why);
    if (status == STATUS_OK) {
        status = check_named(asked, why);
    }
    if (status == STATUS_OK) {
        status = put_job(text, said, asked, &target);
    }
    if (status == STATUS_OK && said->features == 0) {
        status = why_refuse(why,
                            "%s: no column is left that can be a feature: numbers need low and "
                            "high, other columns need categories",
                            asked->path);
    }
    if (status == STATUS_OK) {
        status = judge(*text, asked, &target, why);
    }
    if (status != STATUS_OK) {
        free(*text);
        *text = NULL;
        return status;
    }
    tell_label(&said->label, asked, &target);
    return STATUS_OK;
}
