/* hedgerow-coordinator: runs a job with the agents on its allow-list. Which command, with what. */

#include "coordinator/main.h"

#include "base/exit_code.h"
#include "config/options.h"
#include "io/daemon.h"

#include <string.h>

#define PROGRAM "hedgerow-coordinator"

enum { VALID_HOURS_MAX = 24 * 365 };

static const char HELP[] =
    "Usage: " PROGRAM " COMMAND --config FILE [options]\n"
    "\n"
    "Runs one job with the agents on its allow-list: invites, adds up their noisy answers, picks a\n"
    "model privately, and writes result.json and model.json.\n"
    "\n"
    "Commands:\n"
    "  init [FOLDER]       write settings to begin with, never over a file\n"
    "  run                 carry out the job, or go on with it after a stop\n"
    "  check               are settings, key, allow-list and job in order?\n"
    "  enrol               let sites enrol, without a job, until every one-time token is spent or has\n"
    "                      expired; tells who enrolled\n"
    "  columns             what the data dictionaries say that sites show, and where they differ\n"
    "                      [--json]\n"
    "  agents list         who is admitted [--json]\n"
    "  agents add NAME     admit an agent: --key HEX (its public key), or --token FILE to write a\n"
    "                      one-time token for its enrolment [--address tcp://HOST:PORT as the site\n"
    "                      dials it] [--valid-hours N, default 48]\n"
    "  agents revoke NAME  admit it no more; a live connection ends within a second [--key HEX:\n"
    "                      only this key of it]\n"
    "The allow-list may change while the coordinator runs; nobody else's key changes.\n"
    "\n"
    "Options:\n"
    "  --config FILE   the settings (YAML; docs/REFERENCE.md tells every key)\n"
    "  --help, --version\n"
    "\n"
    "Example:\n"
    "  hedgerow keygen --out /etc/hedgerow/coordinator\n"
    "  " PROGRAM " agents add hospital-1 --token hospital-1.token \\\n"
    "      --address tcp://hedgerow.example.org:7310 --config /etc/hedgerow/coordinator.yml\n"
    "  " PROGRAM " run --config /etc/hedgerow/coordinator.yml\n"
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
    };
    return options_read(option, sizeof option / sizeof option[0], count, word, why);
}

static enum status read_list(struct arguments *arguments, int count, char **word, struct why *why)
{
    const struct option option[] = {
        {.name = "--config", .text = &arguments->config, .required = true, .what = "FILE"},
        {.name = "--json", .flag = &arguments->json},
    };
    return options_read(option, sizeof option / sizeof option[0], count, word, why);
}

static enum status read_add(struct arguments *arguments, int count, char **word, struct why *why)
{
    const struct option option[] = {
        {.text = &arguments->name, .required = true, .what = "NAME"},
        {.name = "--config", .text = &arguments->config, .required = true, .what = "FILE"},
        {.name = "--key", .text = &arguments->key, .what = "HEX"},
        {.name = "--token", .text = &arguments->token, .what = "FILE"},
        {.name = "--address", .text = &arguments->address, .what = "tcp://HOST:PORT"},
        {.name = "--valid-hours",
         .number = &arguments->valid_hours,
         .min = 1,
         .max = VALID_HOURS_MAX,
         .what = "N"},
    };
    return options_read(option, sizeof option / sizeof option[0], count, word, why);
}

static enum status read_revoke(struct arguments *arguments, int count, char **word, struct why *why)
{
    const struct option option[] = {
        {.text = &arguments->name, .required = true, .what = "NAME"},
        {.name = "--config", .text = &arguments->config, .required = true, .what = "FILE"},
        {.name = "--key", .text = &arguments->key, .what = "HEX"},
    };
    return options_read(option, sizeof option / sizeof option[0], count, word, why);
}

static const struct command {
    const char *name;
    const char *action; /* the second word of `agents`; NULL elsewhere */
    enum status (*read)(struct arguments *arguments, int count, char **word, struct why *why);
    int (*run)(const struct arguments *arguments);
} COMMANDS[] = {
    {"init", NULL, read_init, main_init},
    {"run", NULL, read_run, main_run},
    {"check", NULL, read_check, main_check},
    {"enrol", NULL, read_check, main_enrol},
    {"columns", NULL, read_list, main_columns},
    {"agents", "list", read_list, main_agents_list},
    {"agents", "add", read_add, main_agents_add},
    {"agents", "revoke", read_revoke, main_agents_revoke},
};

static bool is_meant(const struct command *command, int count, char **argument)
{
    return count > 1 && strcmp(argument[1], command->name) == 0 &&
           (command->action == NULL || (count > 2 && strcmp(argument[2], command->action) == 0));
}

int main(int count, char **argument)
{
    struct arguments arguments = {.valid_hours = 48};
    struct why why = {""};

    if (daemon_helps(PROGRAM, HELP, count, argument)) {
        return EXIT_CODE_OK;
    }
    for (size_t i = 0; i < sizeof COMMANDS / sizeof COMMANDS[0]; i++) {
        if (is_meant(&COMMANDS[i], count, argument)) {
            int words = COMMANDS[i].action == NULL ? 2 : 3;
            return COMMANDS[i].read(&arguments, count - words, argument + words, &why) == STATUS_OK
                       ? COMMANDS[i].run(&arguments)
                       : daemon_usage(PROGRAM, why.text);
        }
    }
    return daemon_usage(
        PROGRAM, "the first words are a command: init, run, check, enrol, columns, agents list, "
                 "agents add NAME or agents revoke NAME");
}
