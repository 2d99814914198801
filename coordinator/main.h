/* main.h - the coordinator's program: its commands, and what they share. Only main*.c see files,
 * sockets and clocks; the rest of this folder is pure. */

#ifndef COORDINATOR_MAIN_H
#define COORDINATOR_MAIN_H

#include "base/log.h"
#include "config/settings.h"
#include "crypto/key.h"
#include "job/job.h"
#include "protocol/machine.h"
#include "protocol/message.h"
#include "protocol/record.h"

#include <stdbool.h>
#include <stdint.h>

#define PROGRAM "hedgerow-coordinator" /* in messages and commands */

struct arguments {
    const char *config;
    const char *folder;  /* init */
    const char *name;    /* agents|operators add|revoke */
    const char *key;     /* agents|operators add|revoke --key HEX */
    const char *token;   /* agents|operators add --token FILE */
    const char *address; /* agents|operators add --address: where the other side will dial */
    const char *job;     /* submit: its file; status|watch|result|cancel: its number */
    const char *out;     /* result --out: a folder */
    const char *id;      /* submit --id: what the caller calls this submission */
    bool wait;           /* submit: until the job is over */
    bool stream;         /* submit: the same, with a line a round */
    uint64_t valid_hours;
    bool json;
    bool seeded;
    uint64_t seed;
};

struct jobs;
struct journal;

struct office {
    struct coordinator_settings settings;
    struct key_pair key;
    struct jobs *jobs; /* a queue's in a database, kept: queue_open makes it; or NULL */
    bool leads;        /* a queue in a folder: its lock is taken */
    int lock;          /* where it leads */
    uint32_t number;   /* of the queue's job that was read; 0: it is the settings' one */
    char *text;        /* the job's, owned */
    size_t text_size;
    struct job job;
};

/** Returns how many jobs may compute at once under memory_mb_max; 0: any number. */
size_t office_at_once(const struct office *office);

/** Reads the settings file. */
MUST_USE enum status office_read_settings(struct office *office, const char *path, struct why *why);
/** Answers whether the settings have a desk for operators. Fails with STATUS_INVALID: they have none. */
MUST_USE enum status office_has_operators(const struct office *office, struct why *why);
/** Reads the coordinator's key. */
MUST_USE enum status office_read_key(struct office *office, struct why *why);
/** Returns one with the same settings and queue, and no job. */
struct office office_like(const struct office *office);
MUST_USE enum status office_read_job(struct office *office, struct why *why);
/** Parses the job whose text it has. */
MUST_USE enum status office_parse_job(struct office *office, struct why *why);
/** Reads the job once more, as programs of protocol version 5 or before did, where one of these has begun the journal's and that
 * makes another job of it: else *out has no stages. job_free. Fails as job_parse_older. */
MUST_USE enum status office_read_older(struct job *out, const struct office *office,
                                       const struct journal *journal, struct why *why);
void office_free(struct office *office);

/** Makes the folder for the results: before a job begins, for what it spends cannot be had back.
 * Fails with STATUS_IO or STATUS_EXISTS where it cannot be made, or written into. */
MUST_USE enum status office_make_out(const struct office *office, struct why *why);

/* The state of a job, by its journal. */
struct job_end {
    bool begun;
    bool finished;
    bool failed;
    bool cancelled;     /* one way to fail */
    uint32_t rounds;    /* that were closed and released */
    int64_t first_ms;   /* Unix time of its first record, */
    int64_t last_ms;    /* and of its latest */
    struct price spent; /* by a site that answered each of them, and the one that failed */
    char because[RECORD_CAUSE_BYTES]; /* it failed; "" */
};

/** Reads a job's journal, also beside a running coordinator; a job without one has not begun. show: told each round as it was
 * closed and released, in order; may be NULL. Fails as reading it does. */
MUST_USE enum status office_look(const struct office *office, struct job_end *end,
                                 void (*show)(void *self, const struct record *round), void *self,
                                 struct why *why);

/* Where results go; put replaces a file of that name. */
struct office_shelf {
    enum status (*put)(void *self, const char *name, struct slice bytes, struct why *why);
    void *self;
};

/** Writes result.json and model.json from the journal into the folder the settings name, or onto a shelf, where it is not
 * NULL; the model only of a job that did not fail. end: out. Fails with STATUS_AGAIN while the job is not over. */
MUST_USE enum status office_publish(const struct office *office, const struct office_shelf *shelf,
                                    bool seeded, uint64_t seed, struct job_end *end,
                                    struct why *why);

/** Holds the job that was read to the settings' limits. Fails with STATUS_INVALID. */
MUST_USE enum status office_judge(const struct office *office, struct why *why);

/* Where the data dictionaries are kept that sites show. */
struct shelf {
    const struct office *office;
    const struct log *log;
};

/** A struct dictionary_sink's functions. */
bool shelf_has(void *self, const struct peer *agent, const struct digest *digest);
bool shelf_put(void *self, const struct peer *agent, struct slice text);

/* The commands; each returns the program's exit code. */
int main_run(const struct arguments *arguments);
int main_check(const struct arguments *arguments);
int main_columns(const struct arguments *arguments);
int main_enrol(const struct arguments *arguments);
int main_submit(const struct arguments *arguments);
int main_jobs(const struct arguments *arguments);
int main_status(const struct arguments *arguments);
int main_watch(const struct arguments *arguments);
int main_result(const struct arguments *arguments);
int main_cancel(const struct arguments *arguments);
int main_agents_list(const struct arguments *arguments);
int main_agents_add(const struct arguments *arguments);
int main_agents_revoke(const struct arguments *arguments);
int main_operators_list(const struct arguments *arguments);
int main_operators_add(const struct arguments *arguments);
int main_operators_revoke(const struct arguments *arguments);
int main_desk(const struct arguments *arguments);

#endif
