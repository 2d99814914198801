/* main_queue_store.h - what keeps a queue: a folder, or a database, by the settings. Who leads it, what is kept of each job, what
 * the driver follows of it, and the results that it keeps. Fails as main_queue.h says. */

#ifndef COORDINATOR_MAIN_QUEUE_STORE_H
#define COORDINATOR_MAIN_QUEUE_STORE_H

#include "coordinator/main_queue.h"
#include "database/journal_place.h"

/* A submission on its way in. */
struct queue_submission {
    const struct queue_actor *actor;
    const char *by;   /* who, as a later submission of the same names itself */
    const char *line; /* who and when, for people: a line without its end */
    struct slice text;
};

/* What the driver follows: of number 0 the list's names, else who has cancelled that job. */
struct queue_followed {
    char path[QUEUE_PATH_BYTES]; /* of a file or folder, or a name for messages; "": nothing */
    enum status (*read)(void *self, char **text, size_t *size, struct why *why); /* NULL: path */
    const struct office *office;
    uint32_t number;
};

/* What changes whenever a job has come further. */
struct queue_stamp {
    int64_t of[3];
    bool settled; /* a later change changes it: it has not been made too close to the last one */
};

struct queue_store {
    bool shared; /* it lies in a database */

    /** queue_open is the way to it. */
    MUST_USE enum status (*open)(struct office *office, struct why *why);
    /** Ends what queue_open began, and gives the lead back. */
    void (*close)(struct office *office);
    /** Writes where it lies, for messages. */
    void (*describe)(char text[static QUEUE_PATH_BYTES], const struct office *office);

    /** Whether the account may lead it, without doing so. Fails as lead does, but for STATUS_BUSY. */
    MUST_USE enum status (*may_lead)(const struct office *office, struct why *why);
    /** Takes the lead of a queue where nobody has it. That of a folder is kept until close, or the process's end. Fails with
     * STATUS_BUSY (why names who leads), STATUS_AGAIN; of a folder with STATUS_INVALID, STATUS_IO. */
    MUST_USE enum status (*lead)(struct office *office, struct why *why);
    /** Whether another one leads by now, or may. */
    bool (*is_lost)(const struct office *office);
    /** Writes which process leads a queue in a folder, "process 123"; "" where none does, and of one in a database. */
    void (*leader)(char by[static QUEUE_BY_BYTES], const struct office *office);

    /** Gives the office of one job, which is office_like another's, what it asks the queue with from now on: for a thread of
     * its own, while that other one leads. rest lets it go until the next question; part_beside ends it. Fails with
     * STATUS_NO_MEMORY. */
    MUST_USE enum status (*beside)(struct office *office, struct why *why);
    void (*part_beside)(struct office *office);
    void (*rest)(const struct office *office);
    /** Says where the journal of a job lies that queue_take has read: of the leader, to write it. */
    struct journal_part (*part)(const struct office *office);

    /* Of a queue in a database, which alone has collectors (coordinator/main_collect.h); else NULL. */

    /** From now on list and what is followed are a collector's: the jobs that the leader runs, and no others. */
    void (*collect)(const struct office *office);
    /** Whether somebody leads a job, as far as a collector knows. */
    bool (*is_led)(const struct office *office, uint32_t number);
    /** The leader tells collectors that it runs a job, or that it does not any more. */
    MUST_USE enum status (*set_led)(const struct office *office, uint32_t number, bool led,
                                    struct why *why);

    /** Looks at the queue; what is no job is passed over. queue_list_free frees the list. Fails with STATUS_IO,
     * STATUS_NO_MEMORY. */
    MUST_USE enum status (*list)(struct queue_list *list, const struct office *office,
                                 struct why *why);
    /** Reads what is kept of a job. Fails with STATUS_NOT_FOUND. */
    MUST_USE enum status (*peek)(struct queue_kept *kept, const struct office *office,
                                 uint32_t number, struct why *why);
    /** Reads a job's text as it was submitted. text: out, malloc'd. Fails with STATUS_NOT_FOUND, STATUS_IO,
     * STATUS_NO_MEMORY. */
    MUST_USE enum status (*text)(char **text, size_t *size, const struct office *office,
                                 uint32_t number, struct why *why);
    /** queue_add and queue_find are the way to these. */
    MUST_USE enum status (*add)(uint32_t *number, const struct office *office,
                                const struct queue_submission *submission, struct why *why);
    MUST_USE enum status (*find)(uint32_t *number, size_t *open, const struct office *office,
                                 const struct queue_actor *actor, const char *by, struct why *why);
    /** Sets where the journal and the results of a job are, and what messages call its text. */
    void (*place)(struct office *office, uint32_t number);
    /** Keeps for ever that a job has begun: durable when it returns. Fails with STATUS_IO. */
    MUST_USE enum status (*mark_begun)(const struct office *office, uint32_t number,
                                       struct why *why);
    /** queue_cancel is the way to it. */
    MUST_USE enum status (*cancel)(const struct office *office, uint32_t number, const char *line,
                                   struct why *why);
    /** Reads who has cancelled a job, as the driver tells it the machine. text: out, malloc'd; empty while nobody has. Fails with
     * STATUS_IO, STATUS_NO_MEMORY. */
    MUST_USE enum status (*cancelled)(char **text, size_t *size, const struct office *office,
                                      uint32_t number, struct why *why);
    /** queue_put_aside is the way to it. */
    MUST_USE enum status (*put_aside)(const struct office *office, uint32_t number,
                                      const char *because, struct why *why);
    /** The text that says how a job ended; name: out, for messages. queue_look and queue_file read and write it. */
    MUST_USE enum status (*read_end)(char **text, size_t *size, char name[static QUEUE_PATH_BYTES],
                                     const struct office *office, uint32_t number, struct why *why);
    MUST_USE enum status (*put_end)(const struct office *office, uint32_t number, struct slice text,
                                    struct why *why);
    /** Writes which process has a job's journal open that is not the one that leads the queue: "process 123"; "" where none has,
     * and of a database. Does not wait. */
    void (*held)(char by[static QUEUE_BY_BYTES], const struct office *office, uint32_t number);
    /** Keeps the names of the sites that decline a job that runs here, with ", " between; "": none does. A database has the
     * names of all coordinators that serve the job, and is written to without waiting. Fails with STATUS_IO. */
    MUST_USE enum status (*put_declined)(const struct office *office, uint32_t number,
                                         const char *names, struct why *why);
    /** Reads them; "" where nothing is kept. */
    void (*declined)(char names[static QUEUE_BY_BYTES], const struct office *office,
                     uint32_t number);
    /** Says what is followed; its address is the `self` of read. */
    void (*follow)(struct queue_followed *followed, const struct office *office, uint32_t number);
    /** Fails with STATUS_NOT_FOUND where the store can tell. */
    MUST_USE enum status (*stamp)(struct queue_stamp *stamp, const struct office *office,
                                  uint32_t number, struct why *why);

    /** Writes the folder of a job's results; "" where they are in a database. */
    void (*results)(char path[static QUEUE_PATH_BYTES], const struct office *office,
                    uint32_t number);
    /** queue_put is the way to it. NULL: results go to the folder of `place`. */
    MUST_USE enum status (*put_result)(const struct office *office, uint32_t number,
                                       const char *name, struct slice bytes, struct why *why);
    /** Tells how long a file of a job's results is; -1: there is none. Fails with STATUS_IO. */
    MUST_USE enum status (*result_size)(int64_t *size, const struct office *office, uint32_t number,
                                        const char *name, struct why *why);
    /** Reads a piece of one from an offset on, `room` bytes or fewer; none after its end. Fails with STATUS_NOT_FOUND,
     * STATUS_IO. */
    MUST_USE enum status (*result_read)(void *to, size_t *got, size_t room,
                                        const struct office *office, uint32_t number,
                                        const char *name, uint64_t offset, struct why *why);
    /** Opens one to read it whole: file, -1 after a failure, which the caller closes. Fails likewise. */
    MUST_USE enum status (*result_open)(int *file, uint64_t *size, const struct office *office,
                                        uint32_t number, const char *name, struct why *why);
};

/** Returns what keeps the queue of these settings. */
const struct queue_store *queue_of(const struct office *office);

/** Answers for the queue's place: a folder, which is made when missing, or a database, whose tables are. The store's close ends
 * it. Fails with STATUS_INVALID (the settings name none; others may change it; it is another's), STATUS_IO, STATUS_AGAIN (the
 * database does not answer; each later question tries it again). */
MUST_USE enum status queue_open(struct office *office, struct why *why);

extern const struct queue_store queue_in_folder;
extern const struct queue_store queue_in_database;

#endif
