/* The keys of both daemons' settings files, and what one daemon's alone are held to. */

#include "config/settings_private.h"

#include "config/keys.h"

#include <stdio.h>
#include <string.h>

enum { KEY_HEX_DIGITS = 2 * DIGEST_BYTES };

/* memory_mb_max and message_mb_max are megabytes of 10^6 bytes. */
#define MEGABYTE UINT64_C(1000000)

static const char *level_choice(unsigned index)
{
    return index <= LOG_ERROR ? log_level_name((enum log_level)index) : NULL;
}

static const char *format_choice(unsigned index)
{
    static const char *const name[] = {"auto", "text", "json", NULL};
    return name[index];
}

/* clang-format off */
#define KEY_OF struct log_settings
static const struct config_key log_keys[] = {
    KEY_CHOICE("level", level, level_choice, DEFAULT("info", "info")),
    KEY_CHOICE("format", format, format_choice, DEFAULT("auto", "auto")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct http_settings
static const struct config_key http_keys[] = {
    KEY_TEXT("listen", listen, REQUIRED("127.0.0.1:7390")),
    KEY_TEXT("certificate", certificate, OPTIONAL("http.crt")),
    KEY_TEXT("key", key, OPTIONAL("http.key")),
    KEY_TEXT("token", token, OPTIONAL("http.token")),
    KEY_TEXT("names", names, OPTIONAL("coordinator.example")),
    KEY_END,
};
static const struct config_key agent_http_keys[] = {
    KEY_TEXT("listen", listen, REQUIRED("127.0.0.1:7391")),
    KEY_FLAG("approve", approve, DEFAULT("false", "false")),
    KEY_TEXT("certificate", certificate, OPTIONAL("http.crt")),
    KEY_TEXT("key", key, OPTIONAL("http.key")),
    KEY_TEXT("token", token, OPTIONAL("http.token")),
    KEY_TEXT("names", names, OPTIONAL("coordinator.example")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct operators_settings
static const struct config_key operators_keys[] = {
    KEY_TEXT("listen", listen, REQUIRED("tcp://0.0.0.0:7311")),
    KEY_TEXT("list", list, REQUIRED("operators")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct coordinator_settings
static const struct config_key coordinator_keys[] = {
    KEY_TEXT("listen", listen, REQUIRED("tcp://0.0.0.0:7310"),
        DOC("Where agents connect; 0.0.0.0 is every interface of this machine.")),
    KEY_TEXT("lines", lines, OPTIONAL("tcp://0.0.0.0:7312"),
        DOC("A second port, for large messages: they take less of the processor there. Without it, or "
            "where a firewall closes it, they go to listen.")),
    KEY_TEXT("key", key, REQUIRED("key"),
        DOC("The secret key that `hedgerow keygen` made. Relative paths are relative to this file.")),
    KEY_TEXT("agents", agents, REQUIRED("agents"),
        DOC("The allow-list: `hedgerow-coordinator agents add` writes it.")),
    KEY_TEXT("state", state, REQUIRED_UNLESS("jobs", "state"),
        DOC("The folder of the journal: one for each job, made when missing. Or postgresql://HOST/DATABASE.")),
    KEY_TEXT("job", job, REQUIRED_UNLESS("jobs", "job.yml"), DOC("The job that is run.")),
    KEY_TEXT("out", out, REQUIRED_UNLESS("jobs", "out"),
        DOC("The folder for result.json and model.json, made when missing.")),
    KEY_TEXT("jobs", jobs, OPTIONAL("jobs"),
        DOC("In place of state, job and out: the folder of the queue, for a coordinator that stays. Or "
            "postgresql://HOST/DATABASE, which several coordinators share.")),
    KEY_WHOLE("jobs_at_once", jobs_at_once, 1, SETTINGS_JOBS_MAX, DEFAULT("8", "8"),
        DOC("Beside jobs: how many may run at the same time, where they ask different agents.")),
    KEY_TABLE("operators", operators, operators_keys,
        OPTIONAL("{listen: \"tcp://0.0.0.0:7311\", list: operators}"),
        DOC("Beside jobs: where operators connect from other machines, and their allow-list, which "
            "`hedgerow-coordinator operators add` writes.")),
    KEY_TEXT("collectors", collectors, OPTIONAL("\"east west\""),
        DOC("Beside a database as state or jobs: names of coordinators that hold agents of their own and add these "
            "agents' answers up.")),
    KEY_TEXT("collector", collector, OPTIONAL("east"),
        DOC("Beside a database as state or jobs: this one is the collector of that name, and leads no job.")),
    KEY_EXACT("linger_s", linger_ms, 3, 0, 86400000, DEFAULT("30", "30"),
        DOC("Seconds that absent agents are waited for after the end.")),
    KEY_EXACT("memory_mb_max", memory_bytes_max, 6, 64 * MEGABYTE, 1000000 * MEGABYTE, OPTIONAL("1024"),
        DOC("The memory of the process in megabytes, 320 or more; no limit without it.")),
    KEY_EXACT("message_mb_max", message_bytes_max, 6, 1000, 4000 * MEGABYTE, DEFAULT("64", "64"),
        DOC("The largest answer or set of experts in megabytes.")),
    KEY_FLAG("simulated", simulated, OPTIONAL("false")),
    KEY_TABLE("log", log, log_keys, OPTIONAL("{level: info, format: auto}"),
        DOC("What is logged: level debug, info, warning or error; format auto, text or json.")),
    KEY_TABLE("http", http, http_keys, OPTIONAL("{listen: \"127.0.0.1:7390\"}"),
        DOC("A page, /metrics and /api/status for this machine; none without it.")),
    KEY_END,
};
#undef KEY_OF
/* clang-format on */

/* What an agent's file says of the coordinator, before it is known to be a key or a file. */
struct peer_text {
    char address[SETTINGS_ADDRESS_BYTES];
    char public_key[SETTINGS_PATH_BYTES];
};

struct agent_text {
    struct agent_settings settings;
    struct peer_text coordinator;
};

/* clang-format off */
#define KEY_OF struct peer_text
static const struct config_key peer_keys[] = {
    KEY_TEXT("address", address, REQUIRED("tcp://coordinator.example:7310")),
    KEY_TEXT("public_key", public_key, REQUIRED("coordinator.pub")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct agent_text
static const struct config_key agent_keys[] = {
    KEY_TABLE("coordinator", coordinator, peer_keys,
        REQUIRED("{address: \"tcp://coordinator.example:7310\", public_key: coordinator.pub}"),
        DOC("The coordinator's address (or several, with a blank between), and its public key: its .pub file or 64 digits.")),
    KEY_TEXT("key", settings.key, REQUIRED("key"),
        DOC("The secret key that `hedgerow keygen` made. Relative paths are relative to this file.")),
    KEY_TEXT("state", settings.state, REQUIRED("state"),
        DOC("The folder of the journal, which is these records' ledger: keep it, and never have two.")),
    KEY_TEXT("data", settings.data, REQUIRED("data.csv"), DOC("The records, a CSV table with a header line.")),
    KEY_TEXT("dictionary", settings.dictionary, REQUIRED("data.yml"),
        DOC("What this site says of its records: `hedgerow-agent describe data.csv > data.yml` drafts it.")),
    KEY_TEXT("policy", settings.policy, REQUIRED("policy.yml"),
        DOC("What this site allows, whatever a job asks for.")),
    KEY_TEXT("job", settings.job, OPTIONAL("job.yml"),
        DOC("Join only a job of exactly these bytes, without asking a person.")),
    KEY_FLAG("once", settings.once, OPTIONAL("false"), DOC("End with the first job.")),
    KEY_EXACT("heartbeat_s", settings.heartbeat_ms, 3, 50, 3600000, DEFAULT("2", "2"),
        DOC("Seconds between two signs of life.")),
    KEY_EXACT("silence_s", settings.silence_ms, 3, 100, 7200000, DEFAULT("10", "10"),
        DOC("Seconds without a word after which the agent connects anew; at least twice heartbeat_s.")),
    KEY_EXACT("memory_mb_max", settings.memory_bytes_max, 6, 64 * MEGABYTE, 1000000 * MEGABYTE, OPTIONAL("1024"),
        DOC("The memory of the process in megabytes, 320 or more; no limit without it.")),
    KEY_FLAG("simulated", settings.simulated, OPTIONAL("false")),
    KEY_TABLE("log", settings.log, log_keys, OPTIONAL("{level: info, format: auto}"),
        DOC("What is logged: level debug, info, warning or error; format auto, text or json.")),
    KEY_TABLE("http", settings.http, agent_http_keys, OPTIONAL("{listen: \"127.0.0.1:7391\"}"),
        DOC("A page and /metrics for this machine alone; approve: true, and jobs are decided on there.")),
    KEY_END,
};
#undef KEY_OF
/* clang-format on */

/* The desk's work is the queue. A list for both roles would give every agent an operator's rights. */
static enum status check_operators(const struct config *config,
                                   const struct coordinator_settings *settings, struct why *why)
{
    const struct operators_settings *operators = &settings->operators;
    if (operators->listen[0] == '\0') {
        return STATUS_OK;
    }
    if (settings->jobs[0] == '\0') {
        return config_refuse(config, why, "operators",
                             "needs a queue: write `jobs: jobs` in place of `job`, `state` and "
                             "`out`");
    }
    if (strcmp(operators->list, settings->agents) == 0) {
        return config_refuse(config, why, "operators.list",
                             "is the agents' list: operators need a list of their own");
    }
    if (strcmp(operators->listen, settings->listen) == 0) {
        return config_refuse(config, why, "operators.listen",
                             "is where agents connect: operators need a port of their own");
    }
    return settings_check_address(config, operators->listen, "operators.listen", why);
}

static enum status check_lines(const struct config *config,
                               const struct coordinator_settings *settings, struct why *why)
{
    if (settings->lines[0] == '\0') {
        return STATUS_OK;
    }
    if (strcmp(settings->lines, settings->listen) == 0 ||
        strcmp(settings->lines, settings->operators.listen) == 0) {
        return config_refuse(config, why, "lines",
                             "is where others connect: large messages need a port of their own");
    }
    return settings_check_address(config, settings->lines, "lines", why);
}

/* A URL of another kind would be taken for a folder, and made. */
static enum status check_place(const struct config *config, const char *key, const char *place,
                               struct why *why)
{
    return !settings_is_url(place) || strncmp(place, "postgresql://", 13) == 0 ||
                   strncmp(place, "postgres://", 11) == 0
               ? STATUS_OK
               : config_refuse(config, why, key,
                               "is neither a folder nor postgresql://HOST/DATABASE");
}

/* What collectors and the coordinator that leads tell each other stands in the database. */
static enum status check_collectors(const struct config *config,
                                    const struct coordinator_settings *settings, struct why *why)
{
    const char *key = settings->collector[0] != '\0' ? "collector" : "collectors";
    if (settings->collector[0] == '\0' && settings->collectors[0] == '\0') {
        return STATUS_OK;
    }
    if (settings->collector[0] != '\0' && settings->collectors[0] != '\0') {
        return config_refuse(config, why, key, "stands beside `collectors`: remove one");
    }
    return settings_is_url(settings->state) || settings_is_url(settings->jobs)
               ? STATUS_OK
               : config_refuse(config, why, key,
                               "needs postgresql://HOST/DATABASE as `state` or as `jobs`");
}

enum status coordinator_settings_parse(struct coordinator_settings *settings, struct slice text,
                                       const char *path, struct why *why)
{
    struct config *config = NULL;
    *settings = (struct coordinator_settings){0};
    enum status status = config_open(&config, text, path, why);
    if (status == STATUS_OK) {
        status = config_read(config, settings, coordinator_keys, why);
    }
    if (status == STATUS_OK) {
        status = settings_check_address(config, settings->listen, "listen", why);
    }
    if (status == STATUS_OK) {
        status = check_place(config, "state", settings->state, why);
    }
    if (status == STATUS_OK) {
        status = check_place(config, "jobs", settings->jobs, why);
    }
    if (status == STATUS_OK) {
        status = settings_check_http(config, &settings->http, why);
    }
    if (status == STATUS_OK) {
        status = check_operators(config, settings, why);
    }
    if (status == STATUS_OK) {
        status = check_lines(config, settings, why);
    }
    if (status == STATUS_OK) {
        status = check_collectors(config, settings, why);
    }
    if (status == STATUS_OK) {
        const struct settings_path_key item[] = {
            {settings->operators.list, "operators.list"},
            {settings->http.certificate, "http.certificate"},
            {settings->http.key, "http.key"},
            {settings->http.token, "http.token"},
            {settings->key, "key"},
            {settings->agents, "agents"},
            {settings_is_url(settings->state) ? NULL : settings->state, "state"},
            {settings->job, "job"},
            {settings->out, "out"},
            {settings_is_url(settings->jobs) ? NULL : settings->jobs, "jobs"},
        };
        status = settings_resolve(config, item, sizeof item / sizeof item[0], path, why);
    }
    if (status != STATUS_OK) {
        *settings = (struct coordinator_settings){0};
    }
    config_free(config);
    return status;
}

/* Takes the coordinator's public key as digits or as a file's name. */
static enum status finish_agent(struct agent_text *agent, const struct config *config,
                                const char *path, struct why *why)
{
    struct agent_settings *settings = &agent->settings;
    const char *key = agent->coordinator.public_key;
    enum status status =
        settings_check_addresses(config, agent->coordinator.address, "coordinator.address", why);
    if (status == STATUS_OK) {
        status = settings_check_http(config, &settings->http, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (settings_is_url(settings->state)) {
        return config_refuse(config, why, "state",
                             "is no folder: a site's ledger stays on its own machine");
    }
    if (settings->silence_ms < 2 * settings->heartbeat_ms) {
        return config_refuse(config, why, "silence_s",
                             "must be at least twice heartbeat_s: each heartbeat is answered once");
    }
    memcpy(settings->address, agent->coordinator.address, sizeof settings->address);
    if (strlen(key) != KEY_HEX_DIGITS ||
        hex_decode(settings->public_key.byte, DIGEST_BYTES, key) != STATUS_OK) {
        settings->public_key = (struct digest){{0}};
        (void)snprintf(settings->public_key_file, sizeof settings->public_key_file, "%s", key);
    } else if (digest_is_none(&settings->public_key)) {
        return config_refuse(config, why, "coordinator.public_key",
                             "is no key: all its digits are 0");
    }
    const struct settings_path_key item[] = {
        {settings->public_key_file, "coordinator.public_key"},
        {settings->http.certificate, "http.certificate"},
        {settings->http.key, "http.key"},
        {settings->http.token, "http.token"},
        {settings->key, "key"},
        {settings->state, "state"},
        {settings->data, "data"},
        {settings->dictionary, "dictionary"},
        {settings->policy, "policy"},
        {settings->job, "job"},
    };
    return settings_resolve(config, item, sizeof item / sizeof item[0], path, why);
}

enum status agent_settings_parse(struct agent_settings *settings, struct slice text,
                                 const char *path, struct why *why)
{
    struct config *config = NULL;
    struct agent_text agent = {.settings.once = false};
    *settings = (struct agent_settings){0};
    enum status status = config_open(&config, text, path, why);
    if (status == STATUS_OK) {
        status = config_read(config, &agent, agent_keys, why);
    }
    if (status == STATUS_OK) {
        status = finish_agent(&agent, config, path, why);
    }
    if (status == STATUS_OK) {
        *settings = agent.settings;
    }
    config_free(config);
    return status;
}

char *coordinator_settings_template(void)
{
    return config_template(
        coordinator_keys, "The settings of hedgerow-coordinator. docs/REFERENCE.md explains them.\n"
                          "Written by `hedgerow-coordinator init`.\n");
}

char *agent_settings_template(void)
{
    return config_template(agent_keys,
                           "The settings of hedgerow-agent. docs/REFERENCE.md explains them.\n"
                           "Written by `hedgerow-agent init`.\n");
}
