#include "config/settings.h"

#include "config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_HEX_DIGITS = 2 * DIGEST_BYTES, PORT_MAX = 65535 };

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

static const struct config_key log_keys[] = {
    {.name = "level",
     .type = CONFIG_CHOICE,
     CONFIG_IN(struct log_settings, level),
     .choice = level_choice,
     .fallback = "info",
     .example = "info"},
    {.name = "format",
     .type = CONFIG_CHOICE,
     CONFIG_IN(struct log_settings, format),
     .choice = format_choice,
     .fallback = "auto",
     .example = "auto"},
    {.name = NULL},
};

static const struct config_key coordinator_keys[] = {
    {.name = "listen",
     .doc = "Where agents connect; 0.0.0.0 is every interface of this machine.",
     .type = CONFIG_TEXT,
     .required = true,
     CONFIG_IN(struct coordinator_settings, listen),
     .example = "tcp://0.0.0.0:7310"},
    {.name = "key",
     .doc = "The secret key that `hedgerow keygen` made. Relative paths are relative to this file.",
     .type = CONFIG_TEXT,
     .required = true,
     CONFIG_IN(struct coordinator_settings, key),
     .example = "key"},
    {.name = "agents",
     .doc = "The allow-list: `hedgerow-coordinator agents add` writes it.",
     .type = CONFIG_TEXT,
     .required = true,
     CONFIG_IN(struct coordinator_settings, agents),
     .example = "agents"},
    {.name = "state",
     .doc = "The folder of the journal: one for each job, made when missing.",
     .type = CONFIG_TEXT,
     .required = true,
     CONFIG_IN(struct coordinator_settings, state),
     .example = "state"},
    {.name = "job",
     .doc = "The job that is run.",
     .type = CONFIG_TEXT,
     .required = true,
     CONFIG_IN(struct coordinator_settings, job),
     .example = "job.yml"},
    {.name = "out",
     .doc = "The folder for result.json and model.json, made when missing.",
     .type = CONFIG_TEXT,
     .required = true,
     CONFIG_IN(struct coordinator_settings, out),
     .example = "out"},
    {.name = "linger_s",
     .doc = "Seconds that absent agents are waited for after the end.",
     .type = CONFIG_FIXED,
     .places = 3,
     .exact = true,
     CONFIG_IN(struct coordinator_settings, linger_ms),
     .max = 86400000,
     .fallback = "30",
     .example = "30"},
    {.name = "memory_mb_max",
     .doc = "The memory of the process in megabytes, 64 or more; no limit without it.",
     .type = CONFIG_FIXED,
     .places = 6,
     .exact = true,
     CONFIG_IN(struct coordinator_settings, memory_bytes_max),
     .min = 64 * MEGABYTE,
     .max = 1000000 * MEGABYTE,
     .example = "1024"},
    {.name = "message_mb_max",
     .doc = "The largest answer or set of experts in megabytes.",
     .type = CONFIG_FIXED,
     .places = 6,
     .exact = true,
     CONFIG_IN(struct coordinator_settings, message_bytes_max),
     .min = 1000,
     .max = 4000 * MEGABYTE,
     .fallback = "64",
     .example = "64"},
    {.name = "simulated",
     .type = CONFIG_FLAG,
     CONFIG_IN(struct coordinator_settings, simulated),
     .example = "false"},
    {.name = "log",
     .doc = "What is logged: level debug, info, warning or error; format auto, text or json.",
     .type = CONFIG_TABLE,
     CONFIG_IN(struct coordinator_settings, log),
     .keys = log_keys,
     .example = "{level: info, format: auto}"},
    {.name = NULL},
};

/* What an agent's file says of the coordinator, before it is known to be a key or a file. */
struct peer_text {
    char address[SETTINGS_ADDRESS_BYTES];
    char public_key[SETTINGS_PATH_BYTES];
};

struct agent_text {
    struct agent_settings settings;
    struct peer_text coordinator;
};

static const struct config_key peer_keys[] = {
    {.name = "address",
     .type = CONFIG_TEXT,
     .required = true,
     CONFIG_IN(struct peer_text, address),
     .example = "tcp://coordinator.example:7310"},
    {.name = "public_key",
     .type = CONFIG_TEXT,
     .required = true,
     CONFIG_IN(struct peer_text, public_key),
     .example = "coordinator.pub"},
    {.name = NULL},
};

static const struct config_key agent_keys[] = {
    {.name = "coordinator",
     .doc = "The coordinator's address, and its public key: its .pub file or 64 digits.",
     .type = CONFIG_TABLE,
     .required = true,
     CONFIG_IN(struct agent_text, coordinator),
     .keys = peer_keys,
     .example = "{address: \"tcp://coordinator.example:7310\", public_key: coordinator.pub}"},
    {.name = "key",
     .doc = "The secret key that `hedgerow keygen` made. Relative paths are relative to this file.",
     .type = CONFIG_TEXT,
     .required = true,
     CONFIG_IN(struct agent_text, settings.key),
     .example = "key"},
    {.name = "state",
     .doc =
         "The folder of the journal, which is these records' ledger: keep it, and never have two.",
     .type = CONFIG_TEXT,
     .required = true,
     CONFIG_IN(struct agent_text, settings.state),
     .example = "state"},
    {.name = "data",
     .doc = "The records, a CSV table with a header line.",
     .type = CONFIG_TEXT,
     .required = true,
     CONFIG_IN(struct agent_text, settings.data),
     .example = "data.csv"},
    {.name = "dictionary",
     .doc =
         "What this site says of its records: `hedgerow-agent describe data.csv > data.yml` drafts it.",
     .type = CONFIG_TEXT,
     .required = true,
     CONFIG_IN(struct agent_text, settings.dictionary),
     .example = "data.yml"},
    {.name = "policy",
     .doc = "What this site allows, whatever a job asks for.",
     .type = CONFIG_TEXT,
     .required = true,
     CONFIG_IN(struct agent_text, settings.policy),
     .example = "policy.yml"},
    {.name = "job",
     .doc = "Join only a job of exactly these bytes, without asking a person.",
     .type = CONFIG_TEXT,
     CONFIG_IN(struct agent_text, settings.job),
     .example = "job.yml"},
    {.name = "once",
     .doc = "End with the first job.",
     .type = CONFIG_FLAG,
     CONFIG_IN(struct agent_text, settings.once),
     .example = "false"},
    {.name = "heartbeat_s",
     .doc = "Seconds between two signs of life.",
     .type = CONFIG_FIXED,
     .places = 3,
     .exact = true,
     CONFIG_IN(struct agent_text, settings.heartbeat_ms),
     .min = 50,
     .max = 3600000,
     .fallback = "2",
     .example = "2"},
    {.name = "silence_s",
     .doc =
         "Seconds without a word after which the agent connects anew; at least twice heartbeat_s.",
     .type = CONFIG_FIXED,
     .places = 3,
     .exact = true,
     CONFIG_IN(struct agent_text, settings.silence_ms),
     .min = 100,
     .max = 7200000,
     .fallback = "10",
     .example = "10"},
    {.name = "memory_mb_max",
     .doc = "The memory of the process in megabytes, 64 or more; no limit without it.",
     .type = CONFIG_FIXED,
     .places = 6,
     .exact = true,
     CONFIG_IN(struct agent_text, settings.memory_bytes_max),
     .min = 64 * MEGABYTE,
     .max = 1000000 * MEGABYTE,
     .example = "1024"},
    {.name = "simulated",
     .type = CONFIG_FLAG,
     CONFIG_IN(struct agent_text, settings.simulated),
     .example = "false"},
    {.name = "log",
     .doc = "What is logged: level debug, info, warning or error; format auto, text or json.",
     .type = CONFIG_TABLE,
     CONFIG_IN(struct agent_text, settings.log),
     .keys = log_keys,
     .example = "{level: info, format: auto}"},
    {.name = NULL},
};

/* Puts the settings file's folder before a relative path. */
static enum status resolve(const struct config *config, char path[static SETTINGS_PATH_BYTES],
                           const char *key, const char *settings_path, struct why *why)
{
    char relative[SETTINGS_PATH_BYTES];
    const char *slash = strrchr(settings_path, '/');
    if (path[0] == '\0' || path[0] == '/' || slash == NULL) {
        return STATUS_OK;
    }
    (void)snprintf(relative, sizeof relative, "%s", path);
    size_t folder = (size_t)(slash - settings_path) + 1;
    if (folder + strlen(relative) >= SETTINGS_PATH_BYTES) {
        return config_refuse(config, why, key,
                             "is too long a path from the settings file's folder");
    }
    memcpy(path, settings_path, folder);
    (void)snprintf(path + folder, SETTINGS_PATH_BYTES - folder, "%s", relative);
    return STATUS_OK;
}

struct path_key {
    char *path;
    const char *key;
};

static enum status resolve_all(const struct config *config, const struct path_key *item,
                               size_t count, const char *settings_path, struct why *why)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = resolve(config, item[i].path, item[i].key, settings_path, why);
    }
    return status;
}

/* A wrong address is found here, with its line, and not when a socket meets it. */
static enum status check_address(const struct config *config, const char *address, const char *key,
                                 struct why *why)
{
    const char *host = address + strlen("tcp://");
    bool good = strncmp(address, "tcp://", strlen("tcp://")) == 0;
    const char *colon = good ? strrchr(host, ':') : NULL;
    if (colon == NULL || colon == host || strpbrk(host, " /?#@") != NULL) {
        return config_refuse(config, why, key, "is no address: write it like tcp://host:7310");
    }
    size_t digits = strspn(colon + 1, "0123456789");
    if (digits == 0 || digits > 5 || colon[1 + digits] != '\0' ||
        strtol(colon + 1, NULL, 10) > PORT_MAX) {
        return config_refuse(config, why, key,
                             "has no port up to 65535: write it like tcp://host:7310");
    }
    return STATUS_OK;
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
        status = check_address(config, settings->listen, "listen", why);
    }
    if (status == STATUS_OK) {
        const struct path_key item[] = {
            {settings->key, "key"}, {settings->agents, "agents"}, {settings->state, "state"},
            {settings->job, "job"}, {settings->out, "out"},
        };
        status = resolve_all(config, item, sizeof item / sizeof item[0], path, why);
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
        check_address(config, agent->coordinator.address, "coordinator.address", why);
    if (status != STATUS_OK) {
        return status;
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
    const struct path_key item[] = {
        {settings->public_key_file, "coordinator.public_key"},
        {settings->key, "key"},
        {settings->state, "state"},
        {settings->data, "data"},
        {settings->dictionary, "dictionary"},
        {settings->policy, "policy"},
        {settings->job, "job"},
    };
    return resolve_all(config, item, sizeof item / sizeof item[0], path, why);
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
        coordinator_keys,
        "The settings of hedgerow-coordinator. docs/OPERATIONS.md explains them.\n"
        "Written by `hedgerow-coordinator init`.\n");
}

char *agent_settings_template(void)
{
    return config_template(agent_keys,
                           "The settings of hedgerow-agent. docs/OPERATIONS.md explains them.\n"
                           "Written by `hedgerow-agent init`.\n");
}
