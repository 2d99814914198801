/* main_collect.h - a job that several coordinators serve: what the program of each does besides running its machine. */

#ifndef COORDINATOR_MAIN_COLLECT_H
#define COORDINATOR_MAIN_COLLECT_H

#include "coordinator/main.h"
#include "coordinator/round.h"
#include "database/collection.h"
#include "io/driver.h"

struct collect {
    const struct office *office;
    const struct log *log;
    struct collection *collection;
    bool taken;   /* by a collector's journal, which closes it */
    bool retires; /* collect_detach found that the job is over */
    bool refused; /* the one that leads does not know this collector */
    struct coordinator *coordinator;
    int64_t term;                     /* under which this one leads */
    struct peer name[COLLECTORS_MAX]; /* (name_count) of the collectors, or this one's own */
    size_t name_count;
    struct standing_of told;
    int64_t told_ms;
    struct standing_of stand[COLLECTORS_MAX + 1];
    size_t stand_count;
    int64_t stirred_ms; /* when something was heard, or told that is new */
    void (*heard)(
        void *self,
        struct slice body); /* of a record that the one that leads has added; may be NULL */
    void *heard_self;
    /** Whether somebody leads its job, of a queue, as far as is known; NULL: of none. */
    bool (*led)(void *self);
    void *led_self;
    int64_t unled_ms; /* since when nobody does; 0: somebody does */
    struct driver_source source;
};

/** Returns whether these settings are a collector's; whether they are of a job with collectors. */
bool collect_is_collector(const struct office *office);
bool collect_is_shared(const struct office *office);

/** Holds the settings' names to what they may be. Fails with STATUS_INVALID. */
MUST_USE enum status collect_judge_names(const struct office *office, struct why *why);

/** Holds the settings, and the job that was read, to what a job with collectors may be. Fails with STATUS_INVALID. */
MUST_USE enum status collect_judge(const struct office *office, struct why *why);

/** Begins with settings that were judged. office: kept; of a queue, with a job of it. */
void collect_begin(struct collect *collect, const struct office *office, const struct log *log);

/** A collector: waits until there is a job to collect for; returns between tries while wait says so. Fails as collection_open
 * does, but for STATUS_AGAIN. */
MUST_USE enum status collect_await(struct collect *collect,
                                   void (*wait)(void *self, int64_t wait_ms), void *wait_self,
                                   struct why *why);

/** Opens the journal of a collector's machine. Fails as collection_open does. */
MUST_USE enum status collect_open_journal(struct collect *collect, struct journal *journal,
                                          struct why *why);

/** Adds what a machine of this job needs to know. */
void collect_tell_options(const struct collect *collect, struct coordinator_options *options);

/** Connects to the others' database where this one leads, with this journal. Fails as collection_open does. */
MUST_USE enum status collect_open(struct collect *collect, const struct journal *journal,
                                  struct why *why);
/** A machine is made, on a journal for which all is open. */
void collect_join(struct collect *collect, struct coordinator *coordinator);

/** The machine goes, or none came: what looks at it ends. collect_part does the rest, which waits for the database: before a
 * journal that it opened is closed. */
void collect_detach(struct collect *collect);
void collect_part(struct collect *collect);
/** Does both. */
void collect_leave(struct collect *collect);

#endif
