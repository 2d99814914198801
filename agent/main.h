/* main.h - the agent's program: its commands, and what they share. Only main*.c see files, sockets
 * and clocks; the rest of this folder is pure. */

#ifndef AGENT_MAIN_H
#define AGENT_MAIN_H

#include "agent/participant.h"
#include "agent/policy.h"
#include "config/settings.h"
#include "crypto/key.h"
#include "dictionary/dictionary.h"
#include "dp/ledger.h"
#include "masks/peers.h"
#include "protocol/message.h"

#include <stdbool.h>
#include <stdint.h>

#define PROGRAM "hedgerow-agent" /* in messages and commands */

struct arguments {
    const char *config;
    const char *table;     /* describe: the records */
    uint64_t records;      /* describe: how many the draft states; 0: rounded down */
    const char *separator; /* describe: its name; NULL: what the first line shows */
    const char *folder;    /* init */
    const char *job;       /* check: a job to hold the data against */
    const char *token;     /* enrol */
    const char *name;      /* peers add|remove */
    const char *key;       /* peers add: a signing key, or the file of a public key */
    const char *digest;    /* show|approve|reject: how it begins */
    const char *why;       /* reject: a person's words */
    uint64_t runs;         /* approve: of one text */
    bool yes;
    bool json;
    bool once;
    bool seeded;
    uint64_t seed;
    uint64_t timeout_s;
};

/* What the settings name, read and checked. */
struct site {
    struct agent_settings settings;
    struct policy policy;
    struct dictionary dictionary;
    char *dictionary_text; /* (dictionary_size) owned */
    size_t dictionary_size;
    struct key_pair key;
    struct key_pair signing;              /* zero: not read */
    char peers_path[SETTINGS_PATH_BYTES]; /* as the policy names it; "" */
    struct masks_peers peers;
    struct digest coordinator_key;
    char *job_text; /* the approved job; NULL when the settings name none; owned */
    size_t job_size;
};

/** Reads the settings file alone. Like the readers below it refuses a file that others may write or replace. Fails
 * with STATUS_INVALID, STATUS_IO. */
MUST_USE enum status site_read_settings(struct site *site, const char *path, struct why *why);
MUST_USE enum status site_read_policy(struct site *site, struct why *why);
MUST_USE enum status site_read_dictionary(struct site *site, struct why *why);
/** Answers for the records' file, whatever a job asks for: it can be read, and its header line names
 * every column of the dictionary once. Fails with STATUS_IO, STATUS_INVALID, STATUS_NO_MEMORY. */
MUST_USE enum status site_check_data(const struct site *site, struct why *why);
/** Reads this site's key alone. */
MUST_USE enum status site_read_own_key(struct site *site, struct why *why);
/** Reads the signing half of this site's key. Fails with STATUS_UNSUPPORTED where it has none. */
MUST_USE enum status site_read_signing_key(struct site *site, struct why *why);
/** Reads the list of peers that the policy names. Fails with STATUS_NOT_FOUND, STATUS_INVALID, STATUS_IO,
 * STATUS_NO_MEMORY. */
MUST_USE enum status site_read_peers(struct site *site, struct why *why);
/** Reads this site's key, and the coordinator's. */
MUST_USE enum status site_read_keys(struct site *site, struct why *why);
/** Reads the approved job, when there is one. */
MUST_USE enum status site_read_job(struct site *site, const char *path, struct why *why);
/** Replays the journal into a ledger of the policy's allowances, as of now; also while the agent
 * runs. ledger: out, caller frees. Fails with STATUS_NOT_FOUND where there is no journal yet (the
 * ledger is empty), STATUS_IO, STATUS_CORRUPT, STATUS_NO_MEMORY (the ledger may be NULL). */
MUST_USE enum status site_ledger(const struct site *site, struct ledger **ledger, struct why *why);
/** Wipes and frees. */
void site_free(struct site *site);

/** Returns the records' file as a source; site is kept. */
struct source site_source(struct site *site);

/** Returns the bytes that records and computations may take: the settings' memory_mb_max, or the
 * machine's memory where that is not set, less what the program takes already; at least 32 MiB. */
uint64_t site_memory(const struct site *site);

/** Measures how many operations a second this machine carries out: see speed_measure. */
double site_speed(void);

/** Returns what is left of the policy's total: the pure sum of epsilons. After Gaussian noise, which has no such sum,
 * by how much the charges' epsilon at the limit's delta may still grow. */
uint64_t site_epsilon_left(const struct balance *balance);

/** Returns what is used up of it, which may be more. */
uint64_t site_epsilon_used(const struct balance *balance);

/** Returns site_epsilon_left, and what the charges' own delta leaves. */
struct price site_left(const struct balance *balance);

/** Answers whether an allowance has room for all that so many runs of a job ask for. An allowance that the policy does not
 * have has room. */
bool site_affords(const struct ledger *ledger, enum allowance allowance, const struct job *job,
                  uint32_t runs);

/** Decides whether the ledger can pay for `runs` runs of a job that the policy allows and that has not begun here: all of
 * them from the total, the first from what the window of days leaves. Fails with STATUS_REFUSED; why says what it costs, what
 * is left, and what to do. Privacy: reads charges alone. */
MUST_USE enum status site_check_budget(const struct ledger *ledger, const struct policy *policy,
                                       const struct job *job, uint32_t runs, struct why *why);

/** Writes where the decisions on jobs are. */
void site_approvals_path(const struct site *site, char path[static SETTINGS_PATH_BYTES + 96]);

/** Keeps the text of a job that waits for a person, for `approve` to show. Returns whether it is kept: at most this many may
 * wait. */
bool site_keep_waiting(const struct site *site, const struct digest *digest, struct slice text,
                       struct why *why);

struct refusal;

/** Keeps why a job was refused, or that it is refused no more: the latest ones. Returns whether that is kept. */
bool site_keep_refusal(const struct site *site, const struct refusal *refusal, int64_t wall_ms,
                       struct why *why);

/** Keeps which job the coordinator offers; NULL: none. Returns whether it is kept. */
bool site_keep_offer(const struct site *site, const struct job_name *job, struct why *why);

/* The commands; each returns the program's exit code. */
int main_run(const struct arguments *arguments);
int main_check(const struct arguments *arguments);
int main_describe(const struct arguments *arguments);
int main_ledger(const struct arguments *arguments);
int main_enrol(const struct arguments *arguments);
int main_approve(const struct arguments *arguments);
int main_jobs(const struct arguments *arguments);
int main_page(const struct arguments *arguments);
int main_show(const struct arguments *arguments);
int main_reject(const struct arguments *arguments);
int main_peers_add(const struct arguments *arguments);
int main_peers_remove(const struct arguments *arguments);
int main_peers_list(const struct arguments *arguments);
int main_peers_digest(const struct arguments *arguments);

#endif
