/* main_stay_private.h - what main_stay.c, which chooses jobs to lead, and main_stay_collect.c, which chooses jobs to serve, share.
 * Nothing else includes it. */

#ifndef COORDINATOR_MAIN_STAY_PRIVATE_H
#define COORDINATOR_MAIN_STAY_PRIVATE_H

#include "coordinator/main_stay.h"

/** Returns whether a job runs here; whether it was set aside here. */
bool stay_runs(const struct stay *stay, uint32_t number);
bool stay_is_aside(const struct stay *stay, uint32_t number);

/** Returns whether no job that runs here asks an agent of this one. */
bool stay_is_free(const struct stay *stay, const struct job *job);

/** Gives a job that queue_take has read into own a place, which is there. own: is the place's from then on. */
void stay_place(struct stay *stay, uint32_t number, const struct office *own);
void stay_give_up(struct stay_job *job);

/** Tells why a job is passed over: once, however often it is looked at. */
void stay_pass_over(struct stay *stay, uint32_t number, const char *because);

#endif
