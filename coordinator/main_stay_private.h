/* main_stay_private.h - what main_stay.c, which chooses jobs to lead, main_stay_collect.c, which chooses jobs to serve, and
 * main_stay_end.c, which ends them, share.
 * Nothing else includes it. */

#ifndef COORDINATOR_MAIN_STAY_PRIVATE_H
#define COORDINATOR_MAIN_STAY_PRIVATE_H

#include "coordinator/main_stay.h"

/** Returns whether a job runs here; whether it was set aside here. */
bool stay_runs(const struct stay *stay, uint32_t number);
bool stay_is_aside(const struct stay *stay, uint32_t number);

/** Returns whether no job that runs here asks an agent of this one. */
bool stay_is_free(const struct stay *stay, const struct job *job);

/** Gives a job that queue_take has read into own a place, which is there. own: is the place's from then on. Fails with STATUS_NO_MEMORY: it is not. */
MUST_USE enum status stay_place(struct stay *stay, uint32_t number, struct office *own,
                                struct why *why);
void stay_give_up(struct stay_job *job);

/** Files a job, and tells so. office: what this thread asks with: one that ran is filed with its own, for jobs may be chosen with
 * the queue's at the same time. Fails as queue_file. */
MUST_USE enum status stay_file_job(const struct stay *stay, const struct office *office,
                                   const struct queue_job *job, struct why *why);

/** Notes that a job is set aside, on any thread. Fails with STATUS_NO_MEMORY, or with STATUS_BUSY: the driver stops. */
MUST_USE enum status stay_note_aside(struct stay *stay, const struct stay_aside *aside);

/** Keeps with their jobs why they are set aside, where that could not be kept before. */
void stay_tell_aside(struct stay *stay);

/** Has the stay keep a list, which is empty then. Fails with STATUS_BUSY: the driver stops. */
MUST_USE enum status stay_keep_list(struct stay *stay, struct queue_list *list);

/** Tells why a job is passed over: once, however often it is looked at. */
void stay_pass_over(struct stay *stay, uint32_t number, const char *because);

#endif
