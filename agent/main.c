/* hedgerow-agent: runs beside the data. Which command, with what. */

#include "agent/main.h"

#include "base/exit_code.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "hedgerow-agent"

static const char HELP[] =
    "Usage: " PROGRAM " COMMAND --config FILE [options]\n"
    "\n"
    "The agent of one institution: holds its records, answers the coordinator's rounds with noisy\n"
    "vectors, and keeps the ledger of what that has cost.\n"
    "\n"
    "Commands:\n"
    "  run      answer rounds until SIGTERM   [--once: end with the first job]\n"
    "  check    are keys, policy, data and the way to the coordinator in order?\n"
    "           [--job FILE: hold the data against this job] [--timeout SECONDS]\n"
    "  ledger   every charge, and what is left [--json]\n"
    "  enrol    send this site's public key, once, under --token FILE [--timeout SECONDS]\n"
    "\n"
    "Options:\n"
    "  --config FILE   the settings (YAML; docs/OPERATIONS tells every key)\n"
    "  --help, --version\n"
    "\n"
    "Example:\n"
    "  hedgerow keygen --out /etc/hedgerow/site\n"
    "  " PROGRAM " enrol --config /etc/hedgerow/agent.yml --token hospital-1.token\n"
    "  " PROGRAM " check --config /etc/hedgerow/agent.yml\n"
    "  " PROGRAM " run --config /etc/hedgerow/agent.yml\n"
    "\n"
    "Exit codes:\n" EXIT_CODE_HELP;

static const struct command {
    const char *name;
    int (*run)(const struct arguments *arguments);
} COMMANDS[] = {
    {"run", main_run}, {"check", main_check}, {"ledger", main_ledger}, {"enrol", main_enrol}};

enum { OPTION_SEED = 256 };

static const struct option OPTIONS[] = {{"config", required_argument, NULL, 'c'},
                                        {"job", required_argument, NULL, 'J'},
                                        {"token", required_argument, NULL, 't'},
                                        {"timeout", required_argument, NULL, 'T'},
                                        {"json", no_argument, NULL, 'j'},
                                        {"once", no_argument, NULL, 'o'},
                                        {"help", no_argument, NULL, 'h'},
                                        {"version", no_argument, NULL, 'v'},
#ifdef HEDGEROW_SEEDED
                                        {"simulate-seed", required_argument, NULL, OPTION_SEED},
#endif
                                        {NULL, 0, NULL, 0}};

static int usage(const char *sentence, const char *what)
{
    (void)fprintf(stderr, PROGRAM ": %s%s; try `" PROGRAM " --help`\n", sentence, what);
    return EXIT_CODE_USAGE;
}

static bool whole_number(uint64_t *out, const char *text)
{
    char *end = NULL;
    errno = 0;
    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    *out = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

/* Returns -1 to go on, or an exit code. */
static int take_option(struct arguments *arguments, int option)
{
    uint64_t number;
    switch (option) {
    case 'c':
        arguments->config = optarg;
        return -1;
    case 'J':
        arguments->job = optarg;
        return -1;
    case 't':
        arguments->token = optarg;
        return -1;
    case 'T':
        if (!whole_number(&number, optarg) || number < 1 || number > 3600) {
            return usage("--timeout takes 1 to 3600 seconds, not ", optarg);
        }
        arguments->timeout_s = (int)number;
        return -1;
    case 'j':
        arguments->json = true;
        return -1;
    case 'o':
        arguments->once = true;
        return -1;
    case OPTION_SEED:
        if (!whole_number(&arguments->seed, optarg)) {
            return usage("--simulate-seed takes a whole number, not ", optarg);
        }
        arguments->seeded = true;
        return -1;
    case 'h':
        (void)fputs(HELP, stdout);
        return EXIT_CODE_OK;
    case 'v':
        (void)puts(PROGRAM " " HEDGEROW_VERSION);
        return EXIT_CODE_OK;
    default:
        return usage("this is no option, or lacks its value", "");
    }
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.timeout_s = 10};
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1) {
        int done = take_option(&arguments, option);
        if (done >= 0) {
            return done;
        }
    }
    if (optind >= argc) {
        return usage("which command?", "");
    }
    if (optind + 1 < argc) {
        return usage("one command at a time, and no more arguments: ", argv[optind + 1]);
    }
    for (size_t i = 0; i < sizeof COMMANDS / sizeof COMMANDS[0]; i++) {
        if (strcmp(argv[optind], COMMANDS[i].name) == 0) {
            if (arguments.config == NULL) {
                return usage("--config FILE is missing", "");
            }
            return COMMANDS[i].run(&arguments);
        }
    }
    return usage("no such command: ", argv[optind]);
}
