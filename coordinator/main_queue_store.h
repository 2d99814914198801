/* main_queue_store.h - what keeps a queue: a folder, or a database. main_queue.c chooses one by the settings, and alone asks
 * it; each function does what the function of main_queue.h says that has its name. */

#ifndef COORDINATOR_MAIN_QUEUE_STORE_H
#define COORDINATOR_MAIN_QUEUE_STORE_H

#include "coordinator/main_queue_place.h"

/* A submission on its way in. */
struct queue_submission {
    const struct queue_actor *actor;
    const char *by;   /* who, as a later submission of the same names itself */
    const char *line; /* who and when, for people: a line without its end */
    struct slice text;
};

struct queue_store {
    bool shared;
    enum status (*open)(struct office *office, struct why *why);
    void (*close)(struct office *office);
    void (*describe)(char text[static QUEUE_PATH_BYTES], const struct office *office);
    enum status (*may_lead)(const struct office *office, struct why *why); /* NULL: yes */
    enum status (*lead)(struct office *office, struct why *why);
    bool (*is_lost)(const struct office *office);
    void (*leader)(char by[static QUEUE_BY_BYTES], const struct office *office); /* NULL: unknown */
    /** Gives an office of one job what it asks with, for a thread of its own: NULL: nothing is asked. part_beside ends that, and
     * rest lets it go until the next question. */
    enum status (*beside)(struct office *office, struct why *why);
    void (*part_beside)(struct office *office);
    void (*rest)(const struct office *office);
    struct journal_part (*part)(const struct office *office);
    void (*collect)(const struct office *office); /* NULL, as the next two: it has no collectors */
    bool (*is_led)(const struct office *office, uint32_t number);
    enum status (*set_led)(const struct office *office, uint32_t number, bool led, struct why *why);

    enum status (*list)(struct queue_list *list, const struct office *office, struct why *why);
    enum status (*peek)(struct queue_kept *kept, const struct office *office, uint32_t number,
                        struct why *why);
    enum status (*text)(char **text, size_t *size, const struct office *office, uint32_t number,
                        struct why *why);
    enum status (*add)(uint32_t *number, const struct office *office,
                       const struct queue_submission *submission, struct why *why);
    enum status (*find)(uint32_t *number, size_t *open, const struct office *office,
                        const struct queue_actor *actor, const char *by, struct why *why);
    /** Sets where the journal and the results of a job are, and what messages call its text. */
    void (*place)(struct office *office, uint32_t number);
    enum status (*mark_begun)(const struct office *office, uint32_t number, struct why *why);
    enum status (*cancel)(const struct office *office, uint32_t number, const char *line,
                          struct why *why);
    enum status (*cancelled)(char **text, size_t *size, const struct office *office,
                             uint32_t number, struct why *why);
    enum status (*put_aside)(const struct office *office, uint32_t number, const char *because,
                             struct why *why);
    /** The text that says how a job ended; name: out, for messages. */
    enum status (*read_end)(char **text, size_t *size, char name[static QUEUE_PATH_BYTES],
                            const struct office *office, uint32_t number, struct why *why);
    enum status (*put_end)(const struct office *office, uint32_t number, struct slice text,
                           struct why *why);
    /** NULL: there is no such thing. */
    void (*held)(char by[static QUEUE_BY_BYTES], const struct office *office, uint32_t number);
    enum status (*put_declined)(const struct office *office, uint32_t number, const char *names,
                                struct why *why);
    void (*declined)(char names[static QUEUE_BY_BYTES], const struct office *office,
                     uint32_t number);
    void (*follow)(struct queue_followed *followed, const struct office *office, uint32_t number);
    enum status (*stamp)(struct queue_stamp *stamp, const struct office *office, uint32_t number,
                         struct why *why);

    void (*results)(char path[static QUEUE_PATH_BYTES], const struct office *office,
                    uint32_t number);
    /** NULL: results go to the folder of `place`. */
    enum status (*put_result)(const struct office *office, uint32_t number, const char *name,
                              struct slice bytes, struct why *why);
    enum status (*result_size)(int64_t *size, const struct office *office, uint32_t number,
                               const char *name, struct why *why);
    enum status (*result_read)(void *to, size_t *got, size_t room, const struct office *office,
                               uint32_t number, const char *name, uint64_t offset, struct why *why);
    enum status (*result_open)(int *file, uint64_t *size, const struct office *office,
                               uint32_t number, const char *name, struct why *why);
};

/** Returns what keeps the queue of these settings. */
const struct queue_store *queue_store_of(const struct office *office);

extern const struct queue_store queue_in_folder;
extern const struct queue_store queue_in_database;

#endif
