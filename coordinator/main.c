/* hedgerow-coordinator: runs a job with the agents on its allow-list. Which command, with what. */

#include "coordinator/main.h"

#include "base/exit_code.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "hedgerow-coordinator"

static const char HELP[] =
    "Usage: " PROGRAM " COMMAND --config FILE [options]\n"
    "\n"
    "Runs one job with the agents on its allow-list: invites, adds up their noisy answers, picks a\n"
    "model privately, and writes result.json and model.json.\n"
    "\n"
    "Commands:\n"
    "  run                 carry out the job, or go on with it after a stop\n"
    "  check               are settings, key, allow-list and job in order?\n"
    "  agents list         who is admitted [--json]\n"
    "  agents add NAME     admit an agent: --key HEX (its public key), or --token FILE to write a\n"
    "                      one-time token for its enrolment [--address tcp://HOST:PORT as the site\n"
    "                      dials it] [--valid-hours N, default 48]\n"
    "  agents revoke NAME  admit it no more; a live connection ends within a second [--key HEX:\n"
    "                      only this key of it]\n"
    "The allow-list may change while the coordinator runs; nobody else's key changes.\n"
    "\n"
    "Options:\n"
    "  --config FILE   the settings (YAML; docs/OPERATIONS tells every key)\n"
    "  --help, --version\n"
    "\n"
    "Example:\n"
    "  hedgerow keygen --out /etc/hedgerow/coordinator\n"
    "  " PROGRAM " agents add hospital-1 --token hospital-1.token \\\n"
    "      --address tcp://hedgerow.example.org:7310 --config /etc/hedgerow/coordinator.yml\n"
    "  " PROGRAM " run --config /etc/hedgerow/coordinator.yml\n"
    "\n"
    "Exit codes:\n" EXIT_CODE_HELP;

enum { OPTION_SEED = 256, VALID_HOURS_MAX = 24 * 365 };

static const struct option OPTIONS[] = {{"config", required_argument, NULL, 'c'},
                                        {"key", required_argument, NULL, 'k'},
                                        {"token", required_argument, NULL, 't'},
                                        {"address", required_argument, NULL, 'a'},
                                        {"valid-hours", required_argument, NULL, 'V'},
                                        {"json", no_argument, NULL, 'j'},
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
    switch (option) {
    case 'c':
        arguments->config = optarg;
        return -1;
    case 'k':
        arguments->key = optarg;
        return -1;
    case 't':
        arguments->token = optarg;
        return -1;
    case 'a':
        arguments->address = optarg;
        return -1;
    case 'V':
        if (!whole_number(&arguments->valid_hours, optarg) || arguments->valid_hours < 1 ||
            arguments->valid_hours > VALID_HOURS_MAX) {
            return usage("--valid-hours takes 1 to 8760, not ", optarg);
        }
        return -1;
    case 'j':
        arguments->json = true;
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

/* `agents ACTION [NAME]` is the only command with words after it. */
static int run_agents(struct arguments *arguments, int count, char **word)
{
    bool list = count > 0 && strcmp(word[0], "list") == 0;
    if (count < 1 || (!list && strcmp(word[0], "add") != 0 && strcmp(word[0], "revoke") != 0)) {
        return usage("agents takes add NAME, revoke NAME or list", "");
    }
    if (count != (list ? 1 : 2)) {
        return usage(list ? "agents list takes no name" : "which agent? ", list ? "" : word[0]);
    }
    arguments->action = word[0];
    arguments->name = list ? NULL : word[1];
    return main_agents(arguments);
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.valid_hours = 48};
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
    if (arguments.config == NULL) {
        return usage("--config FILE is missing", "");
    }
    if (strcmp(argv[optind], "agents") == 0) {
        return run_agents(&arguments, argc - optind - 1, argv + optind + 1);
    }
    if (optind + 1 < argc) {
        return usage("one command at a time, and no more arguments: ", argv[optind + 1]);
    }
    if (strcmp(argv[optind], "run") == 0) {
        return main_run(&arguments);
    }
    if (strcmp(argv[optind], "check") == 0) {
        return main_check(&arguments);
    }
    return usage("no such command: ", argv[optind]);
}
