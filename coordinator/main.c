/* hedgerow-coordinator: runs a job with the agents on its allow-list. Which command, with what. */

#include "coordinator/main.h"

#include "base/exit_code.h"
#include "io/daemon.h"

#define PROGRAM "hedgerow-coordinator"

enum { VALID_HOURS_MAX = 24 * 365 };

static const char HELP[] =
    "Usage: " PROGRAM " COMMAND --config FILE [options]\n"
    "\n"
    "Runs jobs with the agents on its allow-list: invites, adds up their noisy answers, picks a\n"
    "model privately, and writes result.json and model.json. The settings name one job, and the\n"
    "program ends with it; or a queue (`jobs`), and the program stays.\n"
    "\n"
    "Commands:\n"
    "  init [FOLDER]       write settings to begin with, never over a file\n"
    "  run                 carry out the job, or go on with it after a stop; with a queue: its jobs,\n"
    "                      at the same time where they ask different agents, until SIGTERM\n"
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
    "  operators list      who may use the queue from other machines [--json]\n"
    "  operators add NAME  admit an operator: --key HEX, or --token FILE to write a one-time token for\n"
    "                      `hedgerow enrol` [--address tcp://HOST:PORT as the operator dials it]\n"
    "                      [--valid-hours N, default 48]\n"
    "  operators revoke NAME\n"
    "                      admit it no more; a live connection ends within a second [--key HEX:\n"
    "                      only this key of it]\n"
    "  desk                serve those operators; `run` does so too where the settings say `operators`\n"
    "  submit JOB.yml      put a copy of this job into the queue; tells its number [--json] [--wait:\n"
    "                      until it is over; exit code 4 if it failed or was cancelled] [--stream:\n"
    "                      the same, with a line a round]\n"
    "  jobs                the queue: number, state, rounds, epsilon paid, name [--json]\n"
    "  status NUMBER       one job: also who submitted it, how long it may still take, and why it\n"
    "                      failed [--json]\n"
    "  watch NUMBER        the same job until it is over, a line a round [--json: an object a line]\n"
    "  result NUMBER       copy the result of a job that is over: --out DIR, a new or empty folder\n"
    "                      [--json]\n"
    "  cancel NUMBER       end a job; what sites have paid for it stays paid [--json]\n"
    "The lists and the queue may change while the coordinator runs; nobody else's key changes.\n"
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
    "  " PROGRAM " submit job.yml --wait --config /etc/hedgerow/coordinator.yml\n"
    "  " PROGRAM " result 1 --out result-1 --config /etc/hedgerow/coordinator.yml\n"
    "  " PROGRAM " cancel 2 --config /etc/hedgerow/coordinator.yml\n"
    "\n"
    "Exit codes:\n" EXIT_CODE_HELP;

/* `init`: the files to begin with. */
static const char NEXT[] =
    "\nNext, in this folder:\n"
    "  1. hedgerow keygen --out key\n"
    "  2. write job.yml (docs/JOBS.md), and read what it costs: hedgerow plan job job.yml\n"
    "  3. hedgerow-coordinator agents add NAME --token NAME.token --address tcp://HOST:PORT --config coordinator.yml\n"
    "  4. give each site its token, and key.pub as coordinator.pub\n"
    "  5. hedgerow-coordinator check --config coordinator.yml, and then run\n";

static int main_init(const struct arguments *arguments)
{
    struct daemon_file file[] = {{"coordinator.yml", coordinator_settings_template()}};
    return daemon_init(PROGRAM, arguments->folder != NULL ? arguments->folder : ".", file, 1, NEXT);
}

static struct arguments asked = {.valid_hours = 48};

#define CONFIG                                                                                     \
    {                                                                                              \
        .name = "--config", .text = &asked.config, .required = true, .what = "FILE"                \
    }
#define JSON                                                                                       \
    {                                                                                              \
        .name = "--json", .flag = &asked.json                                                      \
    }
#define NAME                                                                                       \
    {                                                                                              \
        .text = &asked.name, .required = true, .what = "NAME"                                      \
    }
#define KEY                                                                                        \
    {                                                                                              \
        .name = "--key", .text = &asked.key, .what = "HEX"                                         \
    }

#define TOKEN                                                                                      \
    {                                                                                              \
        .name = "--token", .text = &asked.token, .what = "FILE"                                    \
    }
#define ADDRESS                                                                                    \
    {                                                                                              \
        .name = "--address", .text = &asked.address, .what = "tcp://HOST:PORT"                     \
    }
#define VALID_HOURS                                                                                \
    {                                                                                              \
        .name = "--valid-hours", .number = &asked.valid_hours, .min = 1, .max = VALID_HOURS_MAX,   \
        .what = "N"                                                                                \
    }
#define NUMBER                                                                                     \
    {                                                                                              \
        .text = &asked.job, .required = true, .what = "NUMBER"                                     \
    }

static const struct daemon_command COMMANDS[] = {
    {"init", NULL, main_init, {{.text = &asked.folder, .what = "FOLDER"}}},
    {"run",
     NULL,
     main_run,
     {
         CONFIG,
#ifdef HEDGEROW_SEEDED
         {.name = "--simulate-seed",
          .number = &asked.seed,
          .max = UINT64_MAX,
          .given = &asked.seeded,
          .what = "N"},
#endif
     }},
    {"check", NULL, main_check, {CONFIG}},
    {"enrol", NULL, main_enrol, {CONFIG}},
    {"columns", NULL, main_columns, {CONFIG, JSON}},
    {"submit",
     NULL,
     main_submit,
     {{.text = &asked.job, .required = true, .what = "JOB.yml"},
      CONFIG,
      JSON,
      {.name = "--wait", .flag = &asked.wait},
      {.name = "--stream", .flag = &asked.stream}}},
    {"jobs", NULL, main_jobs, {CONFIG, JSON}},
    {"status", NULL, main_status, {NUMBER, CONFIG, JSON}},
    {"watch", NULL, main_watch, {NUMBER, CONFIG, JSON}},
    {"desk", NULL, main_desk, {CONFIG}},
    {"result",
     NULL,
     main_result,
     {NUMBER,
      CONFIG,
      JSON,
      {.name = "--out", .text = &asked.out, .required = true, .what = "DIR"}}},
    {"cancel", NULL, main_cancel, {NUMBER, CONFIG, JSON}},
    {"agents", "list", main_agents_list, {CONFIG, JSON}},
    {"agents", "add", main_agents_add, {NAME, CONFIG, KEY, TOKEN, ADDRESS, VALID_HOURS}},
    {"agents", "revoke", main_agents_revoke, {NAME, CONFIG, KEY}},
    {"operators", "list", main_operators_list, {CONFIG, JSON}},
    {"operators", "add", main_operators_add, {NAME, CONFIG, KEY, TOKEN, ADDRESS, VALID_HOURS}},
    {"operators", "revoke", main_operators_revoke, {NAME, CONFIG, KEY}},
};

int main(int count, char **argument)
{
    const struct daemon_program program = {
        PROGRAM, HELP,
        "the first words are a command: init, run, check, enrol, columns, submit, jobs, "
        "status, watch, result, cancel, desk, agents list, agents add NAME, agents revoke NAME, "
        "operators list, operators add NAME or operators revoke NAME",
        COMMANDS, sizeof COMMANDS / sizeof COMMANDS[0]};
    return daemon_main(&program, &asked, count, argument);
}
