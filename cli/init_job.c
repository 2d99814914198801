/* `hedgerow init job`: a job to begin with, from a data dictionary. */

#include "cli/init_job.h"

#include "base/decimal.h"
#include "base/file.h"
#include "base/near.h"
#include "base/wrap.h"
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
        near_offer(&near, job_trust_name((enum job_trust)i));
        if (strcmp(name, job_trust_name((enum job_trust)i)) == 0) {
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
    wrap_print(out, 0, 2, "  %s.", said->label.text);
    wrap_print(out, 0, 2, "  Of %s, features: %zu columns; left out: %zu%s.", asked->path,
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
        {.name = "--minimum",
         .number = &asked.minimum,
         .min = 1,
         .max = JOB_AGENTS_MAX,
         .what = "N"},
        {.name = "--dishonest",
         .number = &asked.dishonest,
         .min = 1,
         .max = JOB_AGENTS_MAX,
         .what = "C"},
        {.name = "--records",
         .number = &asked.records,
         .min = DICTIONARY_RECORDS_MIN,
         .max = DICTIONARY_RECORDS_MAX,
         .what = "N"}};

    enum status status =
        options_read(option, sizeof option / sizeof option[0], count, argument, &why);
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
