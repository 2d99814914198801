/* simulation.h - a whole federation on one machine: a coordinator and agents as processes of their
 * own, each with its key, its share of the records, its policy and its ledger. The parts of
 * `hedgerow simulate`, in the order they run. */

#ifndef CLI_SIMULATION_H
#define CLI_SIMULATION_H

#include "base/bytes.h"
#include "base/exit_code.h"
#include "base/status.h"
#include "base/why.h"
#include "cli/children.h"
#include "job/job.h"
#include "report/result.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { SIMULATION_PATH_BYTES = 4096, SIMULATION_AGENTS_MAX = 100, SIMULATION_AGENTS = 5 };

/* Under --streams: a column of the wide table, which is one agent's. */
struct simulation_stream {
    char column[CHILD_NAME_BYTES]; /* its name in the table */
    char name[CHILD_NAME_BYTES];   /* the agent's: the same in lower case */
    double unit;                   /* > 0: entries are divided by it */
};

struct simulation {
    /* what is asked for */
    const char *job_path;
    const char *data_path;    /* NULL: the one *.csv beside the job */
    const char *streams_path; /* NULL: records are dealt out by rows */
    const char *out;
    size_t agent_count; /* under --streams as many as there are streams */
    bool seeded;
    uint64_t seed;
    const char *const *set; /* (set_count) "key=value" */
    size_t set_count;
    FILE *progress; /* where a person looks */

    /* what it works with */
    char data[SIMULATION_PATH_BYTES];
    char *job_text; /* owned */
    size_t job_size;
    struct job job;                   /* owned */
    struct simulation_stream *stream; /* (agent_count) under --streams; owned */
    size_t record_count;              /* under --streams of each stream */
    size_t held_count;
    char address[40]; /* where the coordinator listens: "tcp://host:port" */
    int lock;         /* on the output folder; -1 without one */
    struct children children;
    bool knows_id;        /* some agent has answered */
    struct digest job_id; /* that the coordinator gave the job */

    struct result result; /* owned */
    struct why why;
};

/** Writes DIR/... into path; false when it does not fit. */
bool simulation_path(const struct simulation *simulation, char path[static SIMULATION_PATH_BYTES],
                     const char *format, ...) __attribute__((format(printf, 3, 4)));

/** Writes the name of an agent, from 0, and the path of the records held out: one file for all, or
 * one of each stream's. */
void simulation_agent_name(const struct simulation *simulation, char name[static CHILD_NAME_BYTES],
                           size_t agent);
size_t simulation_held_files(const struct simulation *simulation);
bool simulation_held_path(const struct simulation *simulation,
                          char path[static SIMULATION_PATH_BYTES], size_t file);

/** The parts of loading and dealing out that --streams does its own way. */
MUST_USE enum status simulation_streams_load(struct simulation *simulation);
MUST_USE enum status simulation_streams_split(struct simulation *simulation);

/** Drafts and writes the data dictionary of the agent in that folder of the simulation's, whose records
 * are there. Fails with STATUS_REFUSED where the job asks for what they do not have. */
MUST_USE enum status simulation_dictionary(struct simulation *simulation, const char *folder);

/** Looks whether the programs to start are there, before anything is written. */
MUST_USE enum status simulation_programs(struct simulation *simulation);

/** Reads job and data, applies --set, checks that the shares suffice. Nothing is written yet. */
MUST_USE enum status simulation_load(struct simulation *simulation);

/** Makes the output folder, or removes what an earlier simulation listed in it, and holds it. Files beside
 * those stay. Fails with STATUS_EXISTS, nothing touched, when the folder is not a simulation's, or when
 * somebody's file lies where a simulation writes, STATUS_BUSY when another simulation is
 * under way in it. */
MUST_USE enum status simulation_folder(struct simulation *simulation);

/** Writes down which files are the simulation's own, so that a later one removes these and no other. `before`:
 * before the processes start, when the folders they write to stand for what they will write. */
MUST_USE enum status simulation_list_files(struct simulation *simulation, bool before);

/** Shuffles the records, holds a fifth out, and gives each agent its share. */
MUST_USE enum status simulation_split(struct simulation *simulation);

/** Makes keys, allow-list, settings and policies. */
MUST_USE enum status simulation_settings(struct simulation *simulation);

/** Shows a line of the coordinator's log if a person wants to see it: a closed round, or something wrong. Reads
 * the fields of an entry, and never what its text says. */
void simulation_show_line(FILE *out, const char *line);

/** Starts the processes and shows the rounds until the coordinator ends; stops what is left.
 * Returns what the run came to: EXIT_CODE_OK, or why it did not. */
enum exit_code simulation_watch(struct simulation *simulation);

/** Reads the coordinator's result and the agents' ledgers. */
MUST_USE enum status simulation_collect(struct simulation *simulation);

/** Asks the queries' questions once more, of the same records and without noise, and puts the answers
 * beside the released ones. Exact statistics, like the next. */
MUST_USE enum status simulation_answers(struct simulation *simulation);

struct dataset;

/** Reads a table that the simulator wrote, by the job's schema, into data: dataset_free, also on
 * failure. Fails as dataset_read, and with STATUS_IO where it cannot be opened. */
MUST_USE enum status simulation_read(struct simulation *simulation, struct dataset *data,
                                     const char *path);

/** Tells the model's forecasts of the first few streams' last days (held: one data set a stream);
 * none without --streams. */
MUST_USE enum status simulation_forecast(struct simulation *simulation, const struct dataset *held,
                                         const double *weight);

/** Judges every expert, the chosen model, the majority class and the pooled model on the records
 * held out. Exact statistics: this is the one place that may. */
MUST_USE enum status simulation_judge(struct simulation *simulation);

/** Prints the answers, and what every stage released at which noise and price. */
void simulation_show_terms(FILE *out, const struct result *result);

/** Prints the closing tables. */
void simulation_show(const struct simulation *simulation);

/** All of the above. The simulation's `why` tells a failure, and result holds the outcome. */
enum exit_code simulation_run(struct simulation *simulation);

void simulation_free(struct simulation *simulation);

#endif
