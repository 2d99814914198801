/* simulation.h - a whole federation on one machine: a coordinator and agents as processes of their own, each
 * with its key, its share of the records, its policy and its ledger. The steps of `hedgerow simulate`, in the
 * order they run: each takes what it needs and gives what it makes. All of them say in `why` what failed. */

#ifndef CLI_SIMULATION_H
#define CLI_SIMULATION_H

#include "base/bytes.h"
#include "base/exit_code.h"
#include "base/status.h"
#include "base/why.h"
#include "cli/children.h"
#include "job/job.h"
#include "learn/dataset.h"
#include "report/result.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { SIMULATION_PATH_BYTES = 4096, SIMULATION_AGENTS_MAX = 100, SIMULATION_AGENTS = 5 };

/* What is asked for. */
struct simulation_request {
    const char *job_path;
    const char *data_path;    /* NULL: the one *.csv beside the job */
    const char *streams_path; /* NULL: records are dealt out by rows */
    const char *out;
    size_t agent_count; /* under --streams there are as many as streams */
    bool seeded;
    uint64_t seed;
    const char *const *set; /* (set_count) "key=value" */
    size_t set_count;
    FILE *progress; /* where a person looks */
};

struct simulation_agent {
    char name[CHILD_NAME_BYTES];   /* "hospital-1"; under --streams its column's, in lower case */
    char column[CHILD_NAME_BYTES]; /* under --streams: of the wide table */
    double unit;                   /* > 0: entries of that column are divided by it */
};

/* What is simulated. Made by simulation_load; the steps after it only read it. */
struct simulation_plan {
    struct simulation_request asked;
    char data[SIMULATION_PATH_BYTES];
    char *job_text; /* with the changes of --set; owned */
    size_t job_size;
    struct job job;                 /* owned */
    struct simulation_agent *agent; /* (agent_count), owned */
    size_t agent_count;
    size_t record_count; /* under --streams of each stream */
    size_t held_count;
    size_t held_files; /* that the records held out stand in: one, or one of each stream */
};

/* The tables that were dealt out, as the agents read them. */
struct simulation_records {
    struct dataset *share; /* (agent_count), owned */
    struct dataset *held;  /* (held_files), owned */
};

/** Writes OUT/... into path. OUT is one that simulation_folder_check has accepted. */
void simulation_path(char path[static SIMULATION_PATH_BYTES], const char *out, const char *format,
                     ...) __attribute__((format(printf, 3, 4)));

/** Writes the path of the records held out, number `file` of held_files. */
void simulation_held_path(char path[static SIMULATION_PATH_BYTES],
                          const struct simulation_plan *plan, size_t file);

/** Looks whether the programs to start are there. */
MUST_USE enum status simulation_programs(bool seeded, struct why *why);

/** Looks whether a simulation may write to the folder, and touches nothing. Holds it when a simulation made it:
 * *lock, else -1. Fails with STATUS_EXISTS when the folder is not a simulation's, or when somebody's file lies
 * where a simulation writes, STATUS_BUSY when another simulation is under way in it. */
MUST_USE enum status simulation_folder_check(int *lock, const char *out, struct why *why);

/** Reads job and data, applies --set, checks that the shares suffice. Nothing is written yet. */
MUST_USE enum status simulation_load(struct simulation_plan *plan,
                                     const struct simulation_request *request, struct why *why);
void simulation_plan_free(struct simulation_plan *plan);

/** Makes the output folder, or removes what an earlier simulation listed in it, and holds it. Files beside
 * those stay. Fails as simulation_folder_check. */
MUST_USE enum status simulation_folder_make(int *lock, const struct simulation_plan *plan,
                                            struct why *why);

/** Writes down which files are the simulation's own, so that a later one removes these and no other. `before`:
 * before the processes start, when the folders they write to stand for what they will write. */
MUST_USE enum status simulation_folder_list(int lock, const struct simulation_plan *plan,
                                            bool before, struct why *why);

/** Holds a fifth of the records out, and gives each agent its share. */
MUST_USE enum status simulation_split(const struct simulation_plan *plan, struct why *why);

/** Makes keys, allow-list, settings, policies and data dictionaries. Fails with STATUS_REFUSED where the job
 * asks for what the records do not have. */
MUST_USE enum status simulation_settings(const struct simulation_plan *plan, struct why *why);

/** Shows a line of the coordinator's log if a person wants to see it: a closed round, or something wrong. Reads
 * the fields of an entry, and never what its text says. */
void simulation_show_line(FILE *out, const char *line);

/** Starts the processes and shows the rounds until the coordinator ends; stops what is left. Returns
 * EXIT_CODE_OK, or the reason of the failure. */
enum exit_code simulation_watch(const struct simulation_plan *plan, struct why *why);

/** Reads the coordinator's result and the agents' ledgers. job_id: the job's in every journal; *knows_id: some
 * agent has answered. */
MUST_USE enum status simulation_collect(struct result *result, struct digest *job_id,
                                        bool *knows_id, const struct simulation_plan *plan,
                                        struct why *why);

MUST_USE enum status simulation_records_read(struct simulation_records *records,
                                             const struct simulation_plan *plan, struct why *why);
void simulation_records_free(struct simulation_records *records,
                             const struct simulation_plan *plan);

/** Reads the model that the job ended with. weight: (features of the job's schema, outputs); outputs: classes, or 1. Fails with
 * STATUS_CORRUPT (a model of other features), and as files do. */
MUST_USE enum status simulation_chosen(double *weight, const struct simulation_plan *plan,
                                       size_t outputs, struct why *why);

/** Asks the queries' questions once more, of the same records and without noise, and puts the answers
 * beside the released ones. Exact statistics, like the next. Answers about the job's own model stay alone where a later
 * stage may have changed it. */
MUST_USE enum status simulation_answers(struct result *result, const struct simulation_plan *plan,
                                        const struct simulation_records *records,
                                        const struct digest *job_id, struct why *why);

/** Judges every expert, the chosen model, the majority class and the pooled model on the records
 * held out; under --streams tells the model's forecasts of the first few streams' last days. Exact
 * statistics: this is the one place that may. */
MUST_USE enum status simulation_judge(struct result *result, const struct simulation_plan *plan,
                                      const struct simulation_records *records, struct why *why);

/** Prints the closing tables: the model's quality, the answers, what every stage released at which noise and
 * price, the ledgers. */
void simulation_show(const struct result *result, const struct simulation_request *request);

/** Writes the answers by site of a result, for a terminal. */
void simulation_show_sites(FILE *out, const struct result *result);

/** All steps but the last. result: out, result_free, also on failure. */
enum exit_code simulation_run(struct result *result, const struct simulation_request *request,
                              struct why *why);

#endif
