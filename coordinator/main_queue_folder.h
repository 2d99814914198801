/* main_queue_folder.h - what the two halves of a queue in a folder share: main_queue_folder.c has the folder and submissions,
 * main_queue_folder_job.c the files of a job. Nothing else includes it. */

#ifndef COORDINATOR_MAIN_QUEUE_FOLDER_H
#define COORDINATOR_MAIN_QUEUE_FOLDER_H

#include "coordinator/main_queue_store.h"

/** Writes a path in a job's folder. */
void folder_path(char path[static QUEUE_PATH_BYTES], const struct office *office, uint32_t number,
                 const char *name);

/** Answers whether a job's folder holds a file of that name; of "": whether there is such a job. */
bool folder_holds(const struct office *office, uint32_t number, const char *name);

/** Answers whether a job of that number has ever begun. */
bool folder_was_begun(const struct office *office, uint32_t number);

/* As struct queue_store has them. */
MUST_USE enum status folder_mark_begun(const struct office *office, uint32_t number,
                                       struct why *why);
MUST_USE enum status folder_open(struct office *office, struct why *why);
MUST_USE enum status folder_list(struct queue_list *list, const struct office *office,
                                 struct why *why);
MUST_USE enum status folder_add(uint32_t *number, const struct office *office,
                                const struct queue_submission *submission, struct why *why);
MUST_USE enum status folder_find(uint32_t *number, size_t *open_count, const struct office *office,
                                 const struct queue_actor *actor, const char *by, struct why *why);

#endif
