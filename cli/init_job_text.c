/* The text of `hedgerow init job`. Bounds and categories are those of the data dictionary, which are public. */

#include "cli/init_job.h"

#include "base/bytes.h"
#include "base/text.h"
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

enum { NUMBER_BYTES = 32 };

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
    return init_job_unusable(column);
}

static enum status check_named(const struct init_job *asked, struct why *why)
{
    const struct dictionary_column *column;
    for (size_t i = 0; i < asked->without.count; i++) {
        if (init_job_need(&column, asked, "--without", asked->without.value[i], why) != STATUS_OK) {
            return STATUS_INVALID;
        }
    }
    for (size_t i = 0; i < asked->feature.count; i++) {
        const char *name = asked->feature.value[i];
        if (init_job_need(&column, asked, "--feature", name, why) != STATUS_OK) {
            return STATUS_INVALID;
        }
        if (strcmp(name, asked->label) == 0) {
            return why_refuse(why, "--feature %s: it is the label", name);
        }
        if (init_job_unusable(column) != NULL) {
            return why_refuse(why, "%s: --feature %s: column \"%s\" %s", asked->path, name, name,
                              init_job_unusable(column));
        }
    }
    return STATUS_OK;
}

static void put_label(FILE *out, const struct init_target *target)
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
        if (strcmp(name, job_trust_name(i)) == 0) {
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
        (void)fprintf(out,
                      "  dishonest: %-6" PRIu64
                      "              # at most this many sites may help the coordinator\n",
                      asked->dishonest > 0 ? asked->dishonest
                                           : job_change_dishonest(asked->minimum));
    }
    (void)fprintf(
        out,
        "  records: %-10" PRIu64 "            # every site needs at least this many rows\n"
        "  join_deadline_s: 60            # how long the first round waits for the sites\n"
        "  deadline_s: 30                 # how long every round waits for their answers\n"
        "\nstages:\n"
        "  - {task: learn}              # needs no settings\n",
        records);
}

static enum status put_job(char **text, struct init_said *said, const struct init_job *asked,
                           const struct init_target *target)
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
    return text_close(text, out);
}

/* As the agent of the dictionary's site will read it. */
static enum status judge(const char *text, const struct init_job *asked,
                         const struct init_target *target, struct why *why)
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

enum status init_job_write(char **text, struct init_said *said, const struct init_job *asked,
                           struct why *why)
{
    struct init_target target = {.column = NULL};
    *text = NULL;
    *said = (struct init_said){.features = 0};
    enum status status = init_job_aim(&target, asked, why);
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
    init_job_tell_label(&said->label, asked, &target);
    return STATUS_OK;
}
