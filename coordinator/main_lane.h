/* main_lane.h - what stands on the lanes of the coordinator's driver: the one job of the settings, or the jobs of the queue. */

#ifndef COORDINATOR_MAIN_LANE_H
#define COORDINATOR_MAIN_LANE_H

#include "coordinator/idle.h"
#include "coordinator/main_collect.h"
#include "coordinator/main_desk.h"
#include "coordinator/main_face.h"
#include "coordinator/main_stay.h"
#include "coordinator/round.h"
#include "io/daemon.h"
#include "io/driver.h"

#include <pthread.h>

struct run;

/* What a lane of the driver has: a job of the queue, the one job of the settings, or, on lane 0 of a queue, a machine
 * that hears the agents that no job asks. */
struct lane {
    struct run *run;
    const struct office *office; /* of its job */
    struct stay_job *job;        /* of the queue; NULL: of the settings, or none */
    struct job older;            /* in place of the office's, if it has stages: office_read_older */
    struct coordinator *coordinator;
    struct log log; /* names the job in what its machine says, where there is a queue */
    char *cancel;   /* what the job's file of that name says, owned; NULL: nothing */
    size_t cancel_size;
    struct collect collect; /* of a job that several coordinators serve */
    struct journal left;    /* of a machine that is gone: closed where what follows it is decided */
};

/* Who declines each job of the queue now, as it was kept last beside the job, by lane: `status` and the desk read journals and
 * files, and a journal has nobody who is not in a round. Starts zeroed. */
struct declined {
    struct run *run;
    struct driver_guest guest;
    int64_t due_ms;
    struct {
        uint32_t number; /* 0: of no job */
        char text[QUEUE_BY_BYTES];
    } kept[DRIVER_LANES_MAX];
};

struct run {
    struct office office;
    struct daemon daemon;
    struct lane lane[DRIVER_LANES_MAX];
    struct idle *idle;
    struct journal led; /* opened before anything listens, until a machine is made for it */
    struct journal own; /* a shared journal while it is open, to ask whether it is lost */
    const struct driver_source *source[DRIVER_LANES_MAX]; /* of the lanes' jobs */
    struct face face;
    struct desk_child desk;
    struct declined declined;
    const char *config; /* the settings' path */
    int signal;         /* that ended the waiting for the lead; 0: none */
    struct shelf shelf;
    bool stays;                     /* the settings name a queue */
    struct queue_followed followed; /* its list */
    struct stay stay;
    struct log log;           /* of what runs on any thread: it writes on the loop's */
    pthread_mutex_t choosing; /* held while jobs are chosen: by one lane at a time */
};

/** Sets all lanes, before a job stands on one. */
void lane_set_all(struct run *run);

/** Chooses which jobs of the queue run now. Fails as reading them does. */
MUST_USE enum status lane_choose(struct run *run, struct why *why);

/** What the driver makes a lane's machine and journal with, and ends them; self: the lane. */
MUST_USE enum status lane_make(void *self, struct machine *machine, struct journal *journal,
                               struct why *why);
void lane_unmake(void *self, struct machine *machine, struct journal *journal);

/** Ends what a machine of the lane has left open. It may wait for a database, and is called before the next machine is made. */
void lane_part(struct lane *lane);

/** Returns whether a shared journal is another coordinator's by now; self: the run. */
bool lane_is_lost(void *self);

/** Fills what the driver is told of the queue: the folder, and each job's file that cancels it. */
void lane_follow_queue(struct run *run, struct driver_factory *factory,
                       struct driver_file file[static DRIVER_LANES_MAX], void **lane);

/** Fills what the driver is told of those who serve the same jobs, where there are any. */
void lane_follow_others(struct run *run, struct driver_options *driver);

/** Begins to collect for the lane's job, or to lead it beside collectors: the settings' one job, or one of the queue that it has
 * now. Where nobody collects it only says so. */
void lane_collect(struct lane *lane);

/** Has collectors serve the lane's job of the queue from now on. Does nothing where nobody collects. Fails as set_led of struct
 * queue_store. */
MUST_USE enum status lane_tell_led(const struct lane *lane, struct why *why);

/** Sets the lane's job aside (stay_set_aside), for collectors too. Fails as both do. */
MUST_USE enum status lane_set_aside(const struct lane *lane, enum status status, struct why *why);

/** A collector: fails with STATUS_BUSY where no leader says that it runs the lane's job. */
MUST_USE enum status lane_check_led(const struct lane *lane, struct why *why);

/** A collector's `next` of struct driver_factory, of a lane that has a job of the queue. */
MUST_USE enum status lane_leave(struct lane *lane, enum status ended, bool *more, struct why *why);

/** Takes the data dictionaries that agents show. */
struct dictionary_sink lane_dictionaries(struct run *run);

/** Makes the machine of lane 0 of a queue, and tells that no job runs where that is so. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status lane_make_idle(struct run *run, struct machine *machine,
                                    struct journal *journal);

/** Puts itself into the driver's options where there is a queue. run: kept. */
void declined_join(struct declined *declined, struct run *run, struct driver_options *driver);

/** Whether a status says that this coordinator leads no longer, and may lead again. */
bool lead_is_lost(enum status status);

/** Tells of questions that compare with what lies outside a column's public range: allowed, and seldom meant. */
void lane_warn_of_questions(const struct lane *lane);

#endif
