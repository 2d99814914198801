/* settings.h - the settings files of the two daemons. A relative path in one is relative to the
 * folder that the settings file is in. Nothing in them is secret; they name the files that are. */

#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include "base/bytes.h"
#include "base/log.h"
#include "base/status.h"
#include "base/why.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    SETTINGS_PATH_BYTES = 1024,
    SETTINGS_ADDRESS_BYTES = 256,
    SETTINGS_NAME_BYTES = 40,
    SETTINGS_JOBS_MAX = 16 /* of a queue that run at the same time; the driver has a lane more */
};

struct log_settings {
    enum log_level level; /* info */
    enum log_format format;
};

/* The port for people and programs on this machine, or, with the four keys below, on others; see common/http. */
struct http_settings {
    char listen[SETTINGS_ADDRESS_BYTES]; /* "127.0.0.1:7390"; "": nothing listens */
    char certificate
        [SETTINGS_PATH_BYTES];     /* PEM; "" where only this machine may look, and then all four */
    char key[SETTINGS_PATH_BYTES]; /* the certificate's */
    char token[SETTINGS_PATH_BYTES]; /* the file with what has to be said */
    char names
        [SETTINGS_ADDRESS_BYTES]; /* that browsers ask for: "coordinator.example", or several */
    bool approve;                 /* an agent's: a person decides on jobs at the page; false */
};

/* The desk: where operators come in who work from other machines. */
struct operators_settings {
    char listen[SETTINGS_ADDRESS_BYTES]; /* "tcp://0.0.0.0:7311"; "": there is no desk */
    char list[SETTINGS_PATH_BYTES];      /* the operators' allow-list's file */
};

struct coordinator_settings {
    char listen[SETTINGS_ADDRESS_BYTES]; /* "tcp://0.0.0.0:7310" */
    char
        lines[SETTINGS_ADDRESS_BYTES]; /* "tcp://0.0.0.0:7312"; "": large messages come there too */
    char key[SETTINGS_PATH_BYTES];     /* the secret key's file */
    char agents[SETTINGS_PATH_BYTES];  /* the allow-list's file */
    char state[SETTINGS_PATH_BYTES];   /* the journal's folder, or a database */
    char job[SETTINGS_PATH_BYTES];
    char out[SETTINGS_PATH_BYTES]; /* the results' folder */
    char jobs
        [SETTINGS_PATH_BYTES]; /* the queue's folder, and then state, job and out are ""; or "" */
    uint32_t jobs_at_once;     /* beside jobs: that run at the same time, at most; 8 */
    struct operators_settings operators; /* only beside jobs */
    char collectors
        [SETTINGS_ADDRESS_BYTES];        /* names, with a blank between: who collects for it; "" */
    char collector[SETTINGS_NAME_BYTES]; /* it collects, under this name, for another one; "" */
    uint32_t linger_ms;                  /* after the job's end, for absent agents; 30 s */
    uint64_t memory_bytes_max;           /* of the process; 0: no limit */
    uint64_t message_bytes_max;          /* the largest answer or artifact; 64 MB */
    bool simulated; /* written by `hedgerow simulate` alone: a seed is accepted */
    struct log_settings log;
    struct http_settings http;
};

struct agent_settings {
    char address[SETTINGS_ADDRESS_BYTES]; /* coordinator.address: "tcp://host:7310", or several */
    struct digest public_key; /* coordinator.public_key, when written as 64 hex digits */
    char public_key_file[SETTINGS_PATH_BYTES]; /* otherwise its file; "" when public_key is set */
    char key[SETTINGS_PATH_BYTES];             /* the secret key's file */
    char state[SETTINGS_PATH_BYTES];           /* the journal's folder */
    char data[SETTINGS_PATH_BYTES];            /* the records, CSV */
    char dictionary[SETTINGS_PATH_BYTES];      /* what the site says of them: data.yml */
    char policy[SETTINGS_PATH_BYTES];
    char job[SETTINGS_PATH_BYTES]; /* only this text is joined; "": any job the policy allows */
    bool once;                     /* end with the first job; false */
    uint32_t heartbeat_ms;         /* 2 s */
    uint32_t silence_ms;           /* after this time without a valid frame: connect again; 10 s */
    uint64_t memory_bytes_max;     /* of the process; 0: no limit */
    bool simulated;                /* written by `hedgerow simulate` alone: a seed is accepted */
    struct log_settings log;
    struct http_settings http;
};

/**
 * Reads a settings file's text.
 *
 * text  in  config_load gives it
 * path  in  the file's: for messages, and to resolve the paths inside
 *
 * Fails with STATUS_INVALID, STATUS_UNSUPPORTED, STATUS_NO_MEMORY; settings are then zeroed.
 */
MUST_USE enum status coordinator_settings_parse(struct coordinator_settings *settings,
                                                struct slice text, const char *path,
                                                struct why *why);
MUST_USE enum status agent_settings_parse(struct agent_settings *settings, struct slice text,
                                          const char *path, struct why *why);

/** Return settings to begin with, each key marked as required or optional: malloc'd, the caller frees them; NULL without
 * memory. */
char *coordinator_settings_template(void);
char *agent_settings_template(void);

#endif
