/* hedgerow-agent: runs beside the data. Which command, with what. */

#include "agent/main.h"

#include "base/text.h"
#include "io/daemon.h"

extern const struct embedded agent_texts[];

/* The files to begin with. */
static int main_init(const struct arguments *arguments)
{
    struct daemon_file file[] = {{"agent.yml", agent_settings_template()},
                                 {"policy.yml", policy_template()}};
    return daemon_init(PROGRAM, arguments->folder != NULL ? arguments->folder : ".", file,
                       sizeof file / sizeof file[0], text_embedded(agent_texts, "next"));
}

static struct arguments asked = {.timeout_s = 10, .runs = 1};

/* clang-format off */
#define CONFIG {.name = "--config", .text = &asked.config, .required = true, .what = "FILE"}
#define JSON {.name = "--json", .flag = &asked.json}
#define TIMEOUT {.name = "--timeout", .number = &asked.timeout_s, .min = 1, .max = 3600, .what = "SECONDS"}
#define RECORDS {.name = "--records", .number = &asked.records, .min = DICTIONARY_RECORDS_MIN, .max = DICTIONARY_RECORDS_MAX, .what = "N"}
#define SEED {.name = DAEMON_SEED, .number = &asked.seed, .max = UINT64_MAX, .given = &asked.seeded, .what = "N"}
#define NAME {.text = &asked.name, .required = true, .what = "NAME"}
#define DIGEST {.text = &asked.digest, .required = true, .what = "DIGEST"}

static const struct daemon_command COMMANDS[] = {
    {"init", NULL, main_init, {{.text = &asked.folder, .what = "FOLDER"}}},
    {"run", NULL, main_run, {CONFIG, {.name = "--once", .flag = &asked.once}, SEED}},
    {"check", NULL, main_check, {CONFIG, {.name = "--job", .text = &asked.job, .what = "FILE"}, TIMEOUT}},
    {"describe", NULL, main_describe, {{.text = &asked.table, .required = true, .what = "DATA.csv"}, RECORDS,
        {.name = "--separator", .text = &asked.separator, .what = "WORD"}}},
    {"ledger", NULL, main_ledger, {CONFIG, JSON}},
    {"enrol", NULL, main_enrol, {CONFIG, {.name = "--token", .text = &asked.token, .required = true, .what = "FILE"}, TIMEOUT}},
    {"peers", "add", main_peers_add, {NAME, CONFIG, {.name = "--key", .text = &asked.key, .required = true, .what = "FILE.pub"}}},
    {"peers", "remove", main_peers_remove, {NAME, CONFIG}},
    {"peers", "list", main_peers_list, {CONFIG}},
    {"peers", "digest", main_peers_digest, {CONFIG}},
    {"jobs", NULL, main_jobs, {CONFIG, JSON}},
    {"show", NULL, main_show, {CONFIG, DIGEST, JSON}},
    {"page", NULL, main_page, {CONFIG}},
    {"reject", NULL, main_reject, {CONFIG, DIGEST, {.name = "--why", .text = &asked.why, .required = true, .what = "TEXT"}}},
    {"approve", NULL, main_approve, {CONFIG, {.text = &asked.digest, .what = "DIGEST"},
        {.name = "--runs", .number = &asked.runs, .min = 1, .max = 1000, .what = "N"},
        {.name = "--yes", .flag = &asked.yes}, JSON}},
};
/* clang-format on */

int main(int count, char **argument)
{
    const struct daemon_program program = {
        PROGRAM, text_embedded(agent_texts, "help"),
        "the first word is a command: init, run, check, describe, ledger, jobs, show, "
        "approve, reject, page, enrol or peers",
        COMMANDS, sizeof COMMANDS / sizeof COMMANDS[0]};
    return daemon_main(&program, &asked, count, argument);
}
