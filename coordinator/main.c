/* hedgerow-coordinator: runs a job with the agents on its allow-list. Which command, with what. */

#include "coordinator/main.h"

#include "base/text.h"
#include "io/daemon.h"

enum { VALID_HOURS_MAX = 24 * 365 };

extern const struct embedded coordinator_texts[];

/* The files to begin with. */
static int main_init(const struct arguments *arguments)
{
    struct daemon_file file[] = {{"coordinator.yml", coordinator_settings_template()}};
    return daemon_init(PROGRAM, arguments->folder != NULL ? arguments->folder : ".", file, 1,
                       text_embedded(coordinator_texts, "next"));
}

static struct arguments asked = {.valid_hours = 48};

/* clang-format off */
#define CONFIG {.name = "--config", .text = &asked.config, .required = true, .what = "FILE"}
#define JSON {.name = "--json", .flag = &asked.json}
#define SEED {.name = DAEMON_SEED, .number = &asked.seed, .max = UINT64_MAX, .given = &asked.seeded, .what = "N"}
#define NAME {.text = &asked.name, .required = true, .what = "NAME"}
#define KEY {.name = "--key", .text = &asked.key, .what = "HEX"}
#define TOKEN {.name = "--token", .text = &asked.token, .what = "FILE"}
#define ADDRESS {.name = "--address", .text = &asked.address, .what = "tcp://HOST:PORT"}
#define VALID_HOURS {.name = "--valid-hours", .number = &asked.valid_hours, .min = 1, .max = VALID_HOURS_MAX, .what = "N"}
#define NUMBER {.text = &asked.job, .required = true, .what = "NUMBER"}

static const struct daemon_command COMMANDS[] = {
    {"init", NULL, main_init, {{.text = &asked.folder, .what = "FOLDER"}}},
    {"run", NULL, main_run, {CONFIG, SEED}},
    {"check", NULL, main_check, {CONFIG}},
    {"enrol", NULL, main_enrol, {CONFIG}},
    {"columns", NULL, main_columns, {CONFIG, JSON}},
    {"submit", NULL, main_submit, {{.text = &asked.job, .required = true, .what = "JOB.yml"}, CONFIG, JSON,
        {.name = "--id", .text = &asked.id, .what = "ID"}, {.name = "--wait", .flag = &asked.wait}, {.name = "--stream", .flag = &asked.stream}}},
    {"jobs", NULL, main_jobs, {CONFIG, JSON}},
    {"status", NULL, main_status, {NUMBER, CONFIG, JSON}},
    {"watch", NULL, main_watch, {NUMBER, CONFIG, JSON}},
    {"desk", NULL, main_desk, {CONFIG}},
    {"result", NULL, main_result, {NUMBER, CONFIG, JSON, {.name = "--out", .text = &asked.out, .required = true, .what = "DIR"}}},
    {"cancel", NULL, main_cancel, {NUMBER, CONFIG, JSON}},
    {"agents", "list", main_agents_list, {CONFIG, JSON}},
    {"agents", "add", main_agents_add, {NAME, CONFIG, KEY, TOKEN, ADDRESS, VALID_HOURS}},
    {"agents", "revoke", main_agents_revoke, {NAME, CONFIG, KEY}},
    {"operators", "list", main_operators_list, {CONFIG, JSON}},
    {"operators", "add", main_operators_add, {NAME, CONFIG, KEY, TOKEN, ADDRESS, VALID_HOURS}},
    {"operators", "revoke", main_operators_revoke, {NAME, CONFIG, KEY}},
};
/* clang-format on */

int main(int count, char **argument)
{
    const struct daemon_program program = {
        PROGRAM, text_embedded(coordinator_texts, "help"),
        "the first words are a command: init, run, check, enrol, columns, submit, jobs, "
        "status, watch, result, cancel, desk, agents list, agents add NAME, agents revoke NAME, "
        "operators list, operators add NAME or operators revoke NAME",
        COMMANDS, sizeof COMMANDS / sizeof COMMANDS[0]};
    return daemon_main(&program, &asked, count, argument);
}
