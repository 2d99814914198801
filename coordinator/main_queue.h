/* main_queue.h - the queue of settings key `jobs`: a folder, or a PostgreSQL database that several coordinators share.
 * main_queue_store.h has what either does; here is what is the same for both. In a folder each job has a folder of its own, by number:
 *
 *   jobs/7/job.yml     its text, as it was submitted: what runs is this
 *   jobs/7/submitted   who submitted it, and when: a line; of an operator's submission its id: another
 *   jobs/7/cancel      who cancelled it, and when: a line; no such file while nobody has
 *   jobs/7/declined    which sites decline it, while it runs: their names in a line; no such file while none does
 *   jobs/7/aside       why the coordinator that leads has set it aside: a line, until one takes the lead anew
 *   jobs/7/state/      its journal
 *   jobs/7/out/        result.json, and model.json if there is one
 *   jobs/7/end         how it ended, written when its results are
 *   jobs/.begun.7      it has begun: it never begins again, and nor does its number, whatever becomes of the folder
 *
 * A job's folder appears whole, by one rename. The journal decides what a job has come to; `end` says that nothing is left
 * to be done for it, and saves reading the journal. Whoever may write into the folder is an operator. In a database the same
 * stands in tables (database/jobs.h), and one coordinator leads the queue.
 *
 * What reads or changes a queue in a database fails with STATUS_AGAIN too where that does not answer; and what the leader alone
 * may do, with STATUS_BUSY where another one leads by now. */

#ifndef COORDINATOR_MAIN_QUEUE_H
#define COORDINATOR_MAIN_QUEUE_H

#include "coordinator/main.h"

enum { QUEUE_PATH_BYTES = SETTINGS_PATH_BYTES + 64, QUEUE_BY_BYTES = 128, QUEUE_NAME_BYTES = 128 };
enum { QUEUE_ASIDE_BYTES = RECORD_CAUSE_BYTES };

/* For a job that is over: above QUEUE_RUNNING. Aside: it has begun, and cannot go on unless a person mends it. */
enum queue_state {
    QUEUE_WAITING,
    QUEUE_ASIDE,
    QUEUE_RUNNING,
    QUEUE_DONE,
    QUEUE_FAILED,
    QUEUE_CANCELLED
};

const char *queue_state_name(enum queue_state state);

struct queue_job {
    uint32_t number;
    enum queue_state state;
    bool begun;   /* its journal has it; of a filed one: it had begun */
    bool filed;   /* it has an end */
    bool stuck;   /* it can neither begin nor go on: because tells why */
    bool damaged; /* and stuck: a look at its journal found it so; its machine may recover it */
    char name[QUEUE_NAME_BYTES]; /* as its text says; "" where that cannot be read */
    char submitted[QUEUE_BY_BYTES];
    char cancel[QUEUE_BY_BYTES]; /* who asked for it, and when; "" */
    char ended[QUEUE_BY_BYTES];  /* when; "" */
    char held
        [QUEUE_BY_BYTES]; /* the process that has its journal open and does not lead the queue; "" */
    uint32_t rounds;      /* that were closed and released */
    uint32_t planned;
    bool unknown;                     /* its journal cannot be read: rounds and spent say nothing */
    struct price spent;               /* at most, by a site that answered every round */
    struct price price;               /* of the whole job */
    double seconds_left;              /* at the pace so far; below 0: not known */
    char because[RECORD_CAUSE_BYTES]; /* of a failed or a stuck job; "" */
};

/* A job in a list. */
struct queue_entry {
    uint32_t number;
    bool begun; /* it has begun, whatever has become of its journal */
    bool over;  /* and filed: it has an end */
};

/* The queue as it is: what a look at it found. */
struct queue_list {
    struct queue_entry *entry; /* (count) by number, owned */
    size_t count;
    char *names; /* (names_size) what changes with the list, as the driver is told it; owned */
    size_t names_size;
};

/* What is kept of a job beside its text. */
struct queue_kept {
    bool begun;
    bool over;
    bool journal;                   /* it has one */
    char submitted[QUEUE_BY_BYTES]; /* who and when; "" where that cannot be read */
    char cancel[QUEUE_BY_BYTES];    /* likewise; "": nobody has */
    char aside
        [QUEUE_ASIDE_BYTES]; /* why the coordinator that leads has set it aside; "": nobody has */
};

void queue_list_free(struct queue_list *list);

/* Who acts: an operator whose key the desk has checked; else the account that runs the command. */
struct queue_actor {
    const char *name;                /* an operator's; NULL: the account */
    const struct digest *submission; /* of queue_add and queue_find; NULL: it has none */
    size_t open_most; /* of queue_add: how many of its jobs may be open with it; 0: any number */
};

/** Takes a job's text into the queue: durable when it returns, with its submission. Fails with STATUS_IO, STATUS_NO_MEMORY;
 * with STATUS_REFUSED where a database says that open_most jobs of the actor are open (a folder has one desk, which asks
 * queue_find);
 * with STATUS_EXISTS where the submission came meanwhile by another way: number is its job's. */
MUST_USE enum status queue_add(uint32_t *number, const struct office *office,
                               const struct queue_actor *actor, struct slice text, struct why *why);

/** Looks for an actor's submission. number: out, 0 when the queue does not have it; open: out, how many jobs of this
 * actor are not over. Fails with STATUS_IO, STATUS_NO_MEMORY. */
MUST_USE enum status queue_find(uint32_t *number, size_t *open, const struct office *office,
                                const struct queue_actor *actor, struct why *why);

/** Reads a job into office, in the place of the one before: text, journal and results. Fails with STATUS_NOT_FOUND (no such
 * number), STATUS_INVALID, STATUS_IO, STATUS_NO_MEMORY; office then has no job. */
MUST_USE enum status queue_take(struct office *office, uint32_t number, struct why *why);

/** Tells what has come of the job that office holds, by its journal. */
void queue_tell(struct queue_job *job, const struct office *office, uint32_t number,
                const struct job_end *end);

/** Tells the state of a job, also beside a running coordinator. Fails with STATUS_NOT_FOUND, STATUS_CORRUPT,
 * STATUS_INVALID, STATUS_IO, STATUS_NO_MEMORY. */
MUST_USE enum status queue_look(struct queue_job *job, const struct office *office, uint32_t number,
                                struct why *why);

/** Does the same for people: a job that is set aside by the coordinator that leads is told as one that stands still, with the
 * reason and the remedy, whatever its journal says of it. */
MUST_USE enum status queue_show(struct queue_job *job, const struct office *office, uint32_t number,
                                struct why *why);

/** Keeps why the coordinator that leads has set a job aside: until one takes the lead anew, which tries it again. Fails with
 * STATUS_IO. */
MUST_USE enum status queue_put_aside(const struct office *office, uint32_t number,
                                     const char *because, struct why *why);

/** Returns how many seconds a job needs for the rounds that are left, at the pace so far: from its first record to its
 * latest. Below 0: not known. */
double queue_seconds_left(uint32_t rounds, uint32_t planned, int64_t first_ms, int64_t last_ms);

/** Asks for a job's end: durable when it returns. Fails with STATUS_IO, and with STATUS_INVALID where a database says that it
 * is over. */
MUST_USE enum status queue_cancel(const struct office *office, uint32_t number,
                                  const struct queue_actor *actor, struct why *why);

enum { QUEUE_RESULTS_MOST = 3 };

/* Results that are made and not yet written. Starts zeroed. */
struct queue_made {
    struct {
        char name[24];
        char *text; /* owned */
        size_t size;
    } file[QUEUE_RESULTS_MOST];
    size_t count;
};

void queue_made_free(struct queue_made *made);

/** Makes the results of the job that office holds from its journal, as office_publish does. They go to their folder at once; of
 * a queue in a database they are kept in `made`, and queue_put writes them. May run on any thread: it uses no connection of
 * the office's. */
MUST_USE enum status queue_publish(const struct office *office, struct queue_made *made,
                                   bool seeded, uint64_t seed, struct job_end *end,
                                   struct why *why);

/** Writes what is kept. Fails with STATUS_IO, STATUS_NO_MEMORY, and where the queue is another coordinator's. */
MUST_USE enum status queue_put(const struct office *office, uint32_t number,
                               const struct queue_made *made, struct why *why);

/** Files a job that is over; CHECKs that it is. Fails with STATUS_IO, STATUS_NO_MEMORY. */
MUST_USE enum status queue_file(const struct office *office, const struct queue_job *job,
                                struct why *why);

#endif
