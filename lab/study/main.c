/* `hedgerow study`, which runs this program: command line, report, verdict. */

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "config/options.h"
#include "lab/study/study.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096, WORK_MAX = 1000000, SAMPLES_MAX = 100000000 };

static const struct {
    const char *name;
    enum status (*run)(struct study *study, const struct study_request *request, struct why *why);
} studies[] = {{"regret", study_regret},
               {"excess", study_excess},
               {"concentration", study_concentration},
               {"accuracy", study_accuracy},
               {"corrections", study_corrections},
               {"intervals", study_intervals}};

enum { STUDIES = sizeof studies / sizeof studies[0] };

struct asked {
    const char *name;
    const char *out;
    bool json;
    struct study_request request;
};

static enum status write_one(const struct asked *asked, const char *ending, const char *text,
                             struct why *why)
{
    char path[PATH_BYTES];
    const int length = snprintf(path, sizeof path, "%s/%s.%s", asked->out, asked->name, ending);
    if (length < 0 || (size_t)length >= sizeof path) {
        return why_refuse(why, "--out: the path is too long");
    }
    return file_write(path, (struct slice){text, strlen(text)}, 0644, why);
}

static enum status write_all(const struct study *study, const struct asked *asked, struct why *why)
{
    char *json = NULL;
    char *html = NULL;
    enum status status = study_to_json(&json, study);
    if (status == STATUS_OK) {
        status = study_report(&html, study);
    }
    if (status == STATUS_OK) {
        status = write_one(asked, "json", json, why);
    }
    if (status == STATUS_OK) {
        status = write_one(asked, "html", html, why);
    }
    if (status == STATUS_OK && asked->json) {
        (void)puts(json);
    }
    free(html);
    free(json);
    return status;
}

static void show(const struct study *study, const struct asked *asked)
{
    (void)printf("%s: %s (seed %" PRIu64 ": NOT PRIVATE)\n\n", study->name, study->title,
                 study->seed);
    for (size_t i = 0; i < study->claim_count; i++) {
        const struct study_claim *claim = &study->claim[i];
        const int used =
            printf("  %-5s  %10.5g %s %-10.5g  ", claim->holds ? "holds" : "FAILS", claim->measured,
                   claim->relation == STUDY_AT_MOST ? "at most " : "at least", claim->bound);
        text_wrap(stdout, used, 41, "%s", claim->sentence);
    }
    (void)printf("\n%s/%s.html has the charts, %s.json the figures\n", asked->out, asked->name,
                 asked->name);
}

static size_t find(const char *name)
{
    size_t i = 0;
    while (i < STUDIES && strcmp(studies[i].name, name) != 0) {
        i++;
    }
    return i;
}

/* The folder is made before hours are spent; an earlier study's files in it are replaced. */
static enum status make_folder(const char *path, struct why *why)
{
    struct stat found;
    if (mkdir(path, 0755) != 0 && errno != EEXIST) {
        why_set(why, "%s: cannot be made: %s%s", path, strerror(errno),
                errno == ENOENT ? "; remedy: make the folder above it" : "");
        return STATUS_IO;
    }
    if (stat(path, &found) != 0 || !S_ISDIR(found.st_mode)) {
        why_set(why, "%s is not a folder", path);
        return STATUS_EXISTS;
    }
    return STATUS_OK;
}

int main(int count, char **argument)
{
    const struct command *const command = &(struct command){.name = "study"};
    struct asked asked = {.request = {.seed = 1, .compose = "compose"}};
    struct study_request *request = &asked.request;
    struct why why = {""};
    const struct option option[] = {
        {.text = &asked.name, .required = true, .what = "NAME"},
        {.name = "--out", .text = &asked.out, .required = true, .what = "DIR"},
        {.name = "--seed", .number = &request->seed, .max = 1000000000000000, .what = "N"},
        {.name = "--rounds", .number = &request->rounds, .min = 100, .max = WORK_MAX, .what = "N"},
        {.name = "--runs", .number = &request->runs, .min = 2, .max = SAMPLES_MAX, .what = "N"},
        {.name = "--only", .text = &request->only, .what = "KIND"},
        {.name = "--compose", .text = &request->compose, .what = "DIR"},
        {.name = "--json", .flag = &asked.json}};

    if (options_read(option, sizeof option / sizeof option[0], count - 1, argument + 1, &why) !=
        STATUS_OK) {
        return (int)command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    const size_t which = find(asked.name);
    if (which == STUDIES) {
        return (int)command_fail(
            command, EXIT_CODE_USAGE,
            "there is no study \"%s\"; there are regret, excess, concentration, "
            "accuracy, corrections and intervals",
            asked.name);
    }
    struct study *study = calloc(1, sizeof *study);
    enum status status = study == NULL ? STATUS_NO_MEMORY : make_folder(asked.out, &why);
    bool holds = false;
    if (status == STATUS_OK) {
        (void)snprintf(study->name, sizeof study->name, "%s", asked.name);
        study->seed = request->seed;
        status = studies[which].run(study, request, &why);
    }
    if (status == STATUS_OK) {
        status = write_all(study, &asked, &why);
        holds = study_holds(study);
    }
    if (status == STATUS_OK && !asked.json) {
        show(study, &asked);
    }
    free(study);
    if (status != STATUS_OK) {
        return (int)command_end(command, status, &why);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return (int)command_fail(command, EXIT_CODE_INTERNAL, "standard output cannot be written");
    }
    return holds ? (int)EXIT_CODE_OK
                 : (int)command_fail(command, EXIT_CODE_INTERNAL, "a claim does not hold");
}
