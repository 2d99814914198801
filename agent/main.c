/* hedgerow-agent: runs beside the data. Which command, with what. */

#include "agent/main.h"

#include "base/exit_code.h"
#include "io/daemon.h"

#define PROGRAM "hedgerow-agent"

static const char HELP[] =
    "Usage: " PROGRAM " COMMAND --config FILE [options]\n"
    "\n"
    "The agent of one institution: holds its records, answers the coordinator's rounds with noisy\n"
    "vectors, and keeps the ledger of what that has cost.\n"
    "\n"
    "Commands:\n"
    "  init [FOLDER]   write settings and a policy to begin with, never over files\n"
    "  run             answer rounds until SIGTERM [--once: end with the first job]\n"
    "  check           are keys, policy, data and the way to the coordinator in order?\n"
    "                  [--job FILE: hold the data against this job] [--timeout SECONDS]\n"
    "  describe DATA.csv\n"
    "                  draft the data dictionary of a table, to standard output [--records N: the\n"
    "                  number that it states, in place of what is there, rounded down]\n"
    "                  [--separator comma|semicolon|tab: in place of what the first line shows]\n"
    "  ledger          every charge, and what is left [--json]\n"
    "  jobs            the jobs that this site has seen: waiting, approved, rejected, running or done;\n"
    "                  price, what was paid, what is left [--json]\n"
    "  show DIGEST     one job: its text, and in plain words what it asks, costs and leaves [--json]\n"
    "  approve         the same of the job that waits for a person, who then says yes or no\n"
    "                  [DIGEST] [--runs N] [--yes] [--json]\n"
    "  reject DIGEST   decline this job, also in the middle, and whenever it is offered, until it is\n"
    "                  approved: --why TEXT (stays at this site)\n"
    "  page            print a link to the running agent's page, good once, for a person to decide there\n"
    "  enrol           send this site's public key, once, under --token FILE [--timeout SECONDS]\n"
    "  peers list      the institutions that this site takes for independent ones in masked sums\n"
    "  peers add NAME  one more: --key FILE.pub|HEX\n"
    "  peers remove NAME\n"
    "                  one less\n"
    "  peers digest    a number to compare with other sites over the phone\n"
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
    "  " PROGRAM " jobs --config /etc/hedgerow/agent.yml\n"
    "  " PROGRAM " reject 6f1c --why \"not about our patients\" --config /etc/hedgerow/agent.yml\n"
    "\n"
    "Exit codes:\n" EXIT_CODE_HELP;

/* `init`: the files to begin with. */
static const char NEXT[] =
    "\nNext, in this folder:\n"
    "  1. hedgerow keygen --out key\n"
    "  2. put coordinator.pub here, which the coordinator's operator gives you, and the address into agent.yml\n"
    "  3. put the records into data.csv, or their path into agent.yml\n"
    "  4. hedgerow-agent describe data.csv > data.yml, and correct what it says of the records\n"
    "  5. read policy.yml line by line: it decides what these records may lose\n"
    "  6. hedgerow-agent enrol --config agent.yml --token FILE\n"
    "  7. hedgerow-agent check --config agent.yml, and then run\n";

static int main_init(const struct arguments *arguments)
{
    struct daemon_file file[] = {{"agent.yml", agent_settings_template()},
                                 {"policy.yml", policy_template()}};
    return daemon_init(PROGRAM, arguments->folder != NULL ? arguments->folder : ".", file,
                       sizeof file / sizeof file[0], NEXT);
}

static struct arguments asked = {.timeout_s = 10, .runs = 1};

#define CONFIG                                                                                     \
    {                                                                                              \
        .name = "--config", .text = &asked.config, .required = true, .what = "FILE"                \
    }
#define JSON                                                                                       \
    {                                                                                              \
        .name = "--json", .flag = &asked.json                                                      \
    }
#define TIMEOUT                                                                                    \
    {                                                                                              \
        .name = "--timeout", .number = &asked.timeout_s, .min = 1, .max = 3600, .what = "SECONDS"  \
    }

static const struct daemon_command COMMANDS[] = {
    {"init", NULL, main_init, {{.text = &asked.folder, .what = "FOLDER"}}},
    {"run",
     NULL,
     main_run,
     {
         CONFIG,
         {.name = "--once", .flag = &asked.once},
#ifdef HEDGEROW_SEEDED
         {.name = "--simulate-seed",
          .number = &asked.seed,
          .max = UINT64_MAX,
          .given = &asked.seeded,
          .what = "N"},
#endif
     }},
    {"check",
     NULL,
     main_check,
     {CONFIG, {.name = "--job", .text = &asked.job, .what = "FILE"}, TIMEOUT}},
    {"describe",
     NULL,
     main_describe,
     {{.text = &asked.table, .required = true, .what = "DATA.csv"},
      {.name = "--records",
       .number = &asked.records,
       .min = DICTIONARY_RECORDS_MIN,
       .max = DICTIONARY_RECORDS_MAX,
       .what = "N"},
      {.name = "--separator", .text = &asked.separator, .what = "WORD"}}},
    {"ledger", NULL, main_ledger, {CONFIG, JSON}},
    {"enrol",
     NULL,
     main_enrol,
     {CONFIG,
      {.name = "--token", .text = &asked.token, .required = true, .what = "FILE"},
      TIMEOUT}},
    {"peers",
     "add",
     main_peers_add,
     {{.text = &asked.name, .required = true, .what = "NAME"},
      CONFIG,
      {.name = "--key", .text = &asked.key, .required = true, .what = "FILE.pub"}}},
    {"peers",
     "remove",
     main_peers_remove,
     {{.text = &asked.name, .required = true, .what = "NAME"}, CONFIG}},
    {"peers", "list", main_peers_list, {CONFIG}},
    {"peers", "digest", main_peers_digest, {CONFIG}},
    {"jobs", NULL, main_jobs, {CONFIG, JSON}},
    {"show",
     NULL,
     main_show,
     {CONFIG, {.text = &asked.digest, .required = true, .what = "DIGEST"}, JSON}},
    {"page", NULL, main_page, {CONFIG}},
    {"reject",
     NULL,
     main_reject,
     {CONFIG,
      {.text = &asked.digest, .required = true, .what = "DIGEST"},
      {.name = "--why", .text = &asked.why, .required = true, .what = "TEXT"}}},
    {"approve",
     NULL,
     main_approve,
     {CONFIG,
      {.text = &asked.digest, .what = "DIGEST"},
      {.name = "--runs", .number = &asked.runs, .min = 1, .max = 1000, .what = "N"},
      {.name = "--yes", .flag = &asked.yes},
      JSON}},
};

int main(int count, char **argument)
{
    const struct daemon_program program = {
        PROGRAM, HELP,
        "the first word is a command: init, run, check, describe, ledger, jobs, show, "
        "approve, reject, page, enrol or peers",
        COMMANDS, sizeof COMMANDS / sizeof COMMANDS[0]};
    return daemon_main(&program, &asked, count, argument);
}
