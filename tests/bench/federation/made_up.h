/* made_up.h - a federation for benches: the coordinator as it is - machine, driver, endpoint with CURVE, SQLite journal -
 * in this process, and fake agents (fake_agent.h) in processes of their own. */

#ifndef BENCH_MADE_UP_H
#define BENCH_MADE_UP_H

#include "base/log.h"
#include "base/random.h"
#include "base/why.h"
#include "coordinator/round.h"
#include "io/journal.h"
#include "job/job.h"
#include "task/update/stage.h"
#include "tests/bench/federation/fake_agent.h"

enum { MADE_UP_PATH_BYTES = 192, MADE_UP_SECONDS_MAX = 120 };

struct made_up {
    /* set by the bench */
    size_t agent_count;
    size_t columns;           /* of 32 categories each: vectors have 32 columns + 1 numbers */
    uint32_t rounds;          /* 0: one round of fit; else as many of update */
    long long stall_ms;       /* how long the first agent is silent when it is first pulled from */
    const char *parent;       /* folder in which the journals are made */
    void (*made)(void *self); /* the coordinator is there, and no agent has come; may be NULL */
    void (*logged)(void *self, const struct log_entry *entry); /* may be NULL */
    void *self;

    /* made */
    size_t feature_count;
    struct job job;
    struct stage stage;
    struct update_stage update;
    double lambda;
    struct random random;
    struct log log;
    struct coordinator *coordinator;
    struct fake_agent *agent; /* (agent_count) */
    char folder[MADE_UP_PATH_BYTES];
    size_t right;          /* agents that got the right model */
    double agents_busy_ms; /* the processor's time of all agents together */
};

/** Runs the job to its end; all processes and files are gone afterwards. Returns whether it ended well; where it did
 * not, a sentence is on standard error. */
bool made_up_run(struct made_up *made_up);

/* Its parts, for a bench that starts its own agents. The job needs all of them in each round. */
bool made_up_make_job(struct made_up *made_up); /* its schema.column is the caller's */
enum status made_up_make(void *self, struct machine *machine, struct journal *journal,
                         struct why *why);
void made_up_unmake(void *self, struct machine *machine, struct journal *journal);
/** Removes a folder without folders in it. */
void made_up_remove_folder(const char *folder);

#endif
