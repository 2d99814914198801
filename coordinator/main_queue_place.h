/* main_queue_place.h - where the queue lies: who answers for it, who leads it, what the driver follows of it, and the results
 * that it keeps. Fails as main_queue.h says. */

#ifndef COORDINATOR_MAIN_QUEUE_PLACE_H
#define COORDINATOR_MAIN_QUEUE_PLACE_H

#include "coordinator/main_queue.h"
#include "database/journal_place.h"

/** Answers for the queue's place: a folder, which is made when missing, or a database, whose tables are. queue_close ends it,
 * and gives the lead back. Fails with STATUS_INVALID (the settings name none; others may change it; it is another's),
 * STATUS_IO, STATUS_AGAIN (the database does not answer; each later question tries it again). */
MUST_USE enum status queue_open(struct office *office, struct why *why);
void queue_close(struct office *office);

/** Whether it lies in a database. */
bool queue_is_shared(const struct office *office);

/** Writes where it lies, for messages. */
void queue_describe(char text[static QUEUE_PATH_BYTES], const struct office *office);

/** Whether the account may lead it, without doing so. Fails as queue_lead does, but for STATUS_BUSY. */
MUST_USE enum status queue_may_lead(const struct office *office, struct why *why);

/** Takes the lead of a queue where nobody has it. That of a folder is kept until queue_close, or the process's end. Fails with
 * STATUS_BUSY (why names who leads), STATUS_AGAIN; of a folder with STATUS_INVALID, STATUS_IO. */
MUST_USE enum status queue_lead(struct office *office, struct why *why);
/** Writes which process leads a queue in a folder, "process 123"; "" where none does, and of one in a database. */
void queue_leader(char by[static QUEUE_BY_BYTES], const struct office *office);

/** Gives the office of one job, which is office_like another's, what it asks the queue with from now on: for a thread of its own,
 * while that other one leads. queue_rest lets it go until the next question; queue_part_beside ends it. Fails with
 * STATUS_NO_MEMORY. */
MUST_USE enum status queue_beside(struct office *office, struct why *why);
void queue_rest(const struct office *office);
void queue_part_beside(struct office *office);

/** Whether another one leads by now, or may. */
bool queue_is_lost(const struct office *office);

/* For a queue in a database, which alone has collectors (coordinator/main_collect.h). */

/** From now on queue_list and what is followed are a collector's: the jobs that the leader runs, and no others. */
void queue_collect(const struct office *office);
/** Whether somebody leads a job, as far as a collector knows. */
bool queue_is_led(const struct office *office, uint32_t number);
/** The leader tells collectors that it runs a job, or that it does not any more. */
MUST_USE enum status queue_set_led(const struct office *office, uint32_t number, bool led,
                                   struct why *why);

/** Says where the journal of a job lies that queue_take has read: of the leader, to write it. */
struct journal_part queue_part(const struct office *office);

/* What the driver follows: of number 0 the list's names, else who has cancelled that job. */
struct queue_followed {
    char path[QUEUE_PATH_BYTES]; /* of a file or folder, or a name for messages; "": nothing */
    enum status (*read)(void *self, char **text, size_t *size, struct why *why); /* NULL: path */
    const struct office *office;
    uint32_t number;
};

/** Says what is followed; its address is the `self` of read. */
void queue_follow(struct queue_followed *followed, const struct office *office, uint32_t number);

/* What changes whenever a job has come further. */
struct queue_stamp {
    int64_t of[3];
    bool settled; /* a later change changes it: it has not been made too close to the last one */
};

/** Fails with STATUS_NOT_FOUND where the store can tell. */
MUST_USE enum status queue_stamp(struct queue_stamp *stamp, const struct office *office,
                                 uint32_t number, struct why *why);

/** Writes the folder of a job's results; "" where they are in a database. */
void queue_results(char path[static QUEUE_PATH_BYTES], const struct office *office,
                   uint32_t number);

/** Tells how long a file of a job's results is; -1: there is none. Fails with STATUS_IO. */
MUST_USE enum status queue_result_size(int64_t *size, const struct office *office, uint32_t number,
                                       const char *name, struct why *why);

/** Reads a piece of one from an offset on, `room` bytes or fewer; none after its end. Fails with STATUS_NOT_FOUND, STATUS_IO. */
MUST_USE enum status queue_result_read(void *to, size_t *got, size_t room,
                                       const struct office *office, uint32_t number,
                                       const char *name, uint64_t offset, struct why *why);

/** Opens one to read it whole: file, -1 after a failure, which the caller closes. Fails likewise. */
MUST_USE enum status queue_result_open(int *file, uint64_t *size, const struct office *office,
                                       uint32_t number, const char *name, struct why *why);

#endif
