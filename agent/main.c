/* hedgerow-agent: runs beside the data. Which command, with what. */

#include "agent/main.h"

#include "base/exit_code.h"
#include "config/options.h"
#include "io/daemon.h"

#include <string.h>

#define PROGRAM "hedgerow-agent"

enum { TIMEOUT_S_MAX = 3600 };

static const char HELP[] =
    "Usage: " PROGRAM " COMMAND --config FILE [options]\n"
    "\n"
    "The agent of one institution: holds its records, answers the coordinator's rounds with noisy\n"
    "vectors, and keeps the ledger of what that has cost.\n"
    "\n"
    "Commands:\n"
    "  init     write settings and a policy to begin with into FOLDER [FOLDER], never over files\n"
    "  run      answer rounds until SIGTERM   [--once: end with the first job]\n"
    "  check    are keys, policy, data and the way to the coordinator in order?\n"
    "           [--job FILE: hold the data against this job] [--timeout SECONDS]\n"
    "  describe draft the data dictionary of a table: describe DATA.csv > data.yml [--records N:\n"
    "           the number that it admits to, in place of what is there, rounded down]\n"
    "           [--separator comma|semicolon|tab: in place of what the first line shows]\n"
    "  ledger   every charge, and what is left [--json]\n"
    "  approve  show the jobs that wait for a person, and say yes or no\n"
    "           [DIGEST] [--runs N] [--yes] [--refuse DIGEST] [--json]\n"
    "  enrol    send this site's public key, once, under --token FILE [--timeout SECONDS]\n"
    "\n"
    "Options:\n"
    "  --config FILE   the settings (YAML; docs/REFERENCE.md tells every key)\n"
    "  --help, --version\n"
    "\n"
    "Example:\n"
    "  hedgerow keygen --out /etc/hedgerow/site\n"
    "  " PROGRAM " describe records.csv > /etc/hedgerow/data.yml   # then correct it\n"
    "  " PROGRAM " enrol --config /etc/hedgerow/agent.yml --token hospital-1.token\n"
    "  " PROGRAM " check --config /etc/hedgerow/agent.yml\n"
    "  " PROGRAM " run --config /etc/hedgerow/agent.yml\n"
    "\n"
    "Exit codes:\n" EXIT_CODE_HELP;

/* Each command takes its own options and refuses the others'. */
static enum status read_init(struct arguments *arguments, int count, char **word, struct why *why)
{
    const struct option option[] = {{.text = &arguments->folder, .what = "FOLDER"}};
    return options_read(option, sizeof option / sizeof option[0], count, word, why);
}

static enum status read_run(struct arguments *arguments, int count, char **word, struct why *why)
{
    const struct option option[] = {
        {.name = "--config", .text = &arguments->config, .required = true, .what = "FILE"},
        {.name = "--once", .flag = &arguments->once},
#ifdef HEDGEROW_SEEDED
        {.name = "--simulate-seed",
         .number = &arguments->seed,
         .max = UINT64_MAX,
         .given = &arguments->seeded,
         .what = "N"},
#endif
    };
    return options_read(option, sizeof option / sizeof option[0], count, word, why);
}

static enum status read_check(struct arguments *arguments, int count, char **word, struct why *why)
{
    const struct option option[] = {
        {.name = "--config", .text = &arguments->config, .required = true, .what = "FILE"},
        {.name = "--job", .text = &arguments->job, .what = "FILE"},
        {.name = "--timeout",
         .number = &arguments->timeout_s,
         .min = 1,
         .max = TIMEOUT_S_MAX,
         .what = "SECONDS"},
    };
    return options_read(option, sizeof option / sizeof option[0], count, word, why);
}

static enum status read_separator(char *separator, const char *word, struct why *why)
{
    for (unsigned i = 0; dictionary_separator_name(i) != NULL; i++) {
        if (strcmp(word, dictionary_separator_name(i)) == 0) {
            *separator = dictionary_separator(i);
            return STATUS_OK;
        }
    }
    why_set(why, "--separator %s: write comma, semicolon or tab", word);
    return STATUS_INVALID;
}

static enum status read_describe(struct arguments *arguments, int count, char **word,
                                 struct why *why)
{
    const char *separator = NULL;
    const struct option option[] = {
        {.text = &arguments->table, .required = true, .what = "DATA.csv"},
        {.name = "--records",
         .number = &arguments->records,
         .min = DICTIONARY_RECORDS_MIN,
         .max = DICTIONARY_RECORDS_MAX,
         .what = "N"},
        {.name = "--separator", .text = &separator, .what = "WORD"},
    };
    enum status status = options_read(option, sizeof option / sizeof option[0], count, word, why);
    return status == STATUS_OK && separator != NULL
               ? read_separator(&arguments->separator, separator, why)
               : status;
}

static enum status read_ledger(struct arguments *arguments, int count, char **word, struct why *why)
{
    const struct option option[] = {
        {.name = "--config", .text = &arguments->config, .required = true, .what = "FILE"},
        {.name = "--json", .flag = &arguments->json},
    };
    return options_read(option, sizeof option / sizeof option[0], count, word, why);
}

static enum status read_enrol(struct arguments *arguments, int count, char **word, struct why *why)
{
    const struct option option[] = {
        {.name = "--config", .text = &arguments->config, .required = true, .what = "FILE"},
        {.name = "--token", .text = &arguments->token, .required = true, .what = "FILE"},
        {.name = "--timeout",
         .number = &arguments->timeout_s,
         .min = 1,
         .max = TIMEOUT_S_MAX,
         .what = "SECONDS"},
    };
    return options_read(option, sizeof option / sizeof option[0], count, word, why);
}

static enum status read_approve(struct arguments *arguments, int count, char **word,
                                struct why *why)
{
    const struct option option[] = {
        {.name = "--config", .text = &arguments->config, .required = true, .what = "FILE"},
        {.text = &arguments->digest, .what = "DIGEST"},
        {.name = "--refuse", .text = &arguments->refuse, .what = "DIGEST"},
        {.name = "--runs", .number = &arguments->runs, .min = 1, .max = 1000, .what = "N"},
        {.name = "--yes", .flag = &arguments->yes},
        {.name = "--json", .flag = &arguments->json},
    };
    return options_read(option, sizeof option / sizeof option[0], count, word, why);
}

static const struct command {
    const char *name;
    enum status (*read)(struct arguments *arguments, int count, char **word, struct why *why);
    int (*run)(const struct arguments *arguments);
} COMMANDS[] = {
    {"init", read_init, main_init},          {"run", read_run, main_run},
    {"check", read_check, main_check},       {"describe", read_describe, main_describe},
    {"ledger", read_ledger, main_ledger},    {"enrol", read_enrol, main_enrol},
    {"approve", read_approve, main_approve},
};

int main(int count, char **argument)
{
    struct arguments arguments = {.timeout_s = 10, .runs = 1};
    struct why why = {""};

    if (daemon_helps(PROGRAM, HELP, count, argument)) {
        return EXIT_CODE_OK;
    }
    for (size_t i = 0; count > 1 && i < sizeof COMMANDS / sizeof COMMANDS[0]; i++) {
        if (strcmp(argument[1], COMMANDS[i].name) == 0) {
            return COMMANDS[i].read(&arguments, count - 2, argument + 2, &why) == STATUS_OK
                       ? COMMANDS[i].run(&arguments)
                       : daemon_usage(PROGRAM, why.text);
        }
    }
    return daemon_usage(
        PROGRAM,
        "the first word is a command: init, run, check, describe, ledger, approve or enrol");
}
