/* main_face_queue.h - what the page shows of a queue in a database, read on a thread and a connection of its own: a server that
 * takes seconds for an answer delays no round and no request. A queue in a folder is read by the loop. */

#ifndef COORDINATOR_MAIN_FACE_QUEUE_H
#define COORDINATOR_MAIN_FACE_QUEUE_H

#include "coordinator/main.h"
#include "coordinator/main_queue.h"
#include "database/jobs.h"

enum {
    FACE_JOBS = 16,
    FACE_FILES = 3,
    FACE_RUNNING_MOST = 17
}; /* jobs that the page lists, the latest ones; files of each; that run here */

/* What was found of a job of the queue, and when. */
struct face_job {
    struct queue_job job;
    bool file[FACE_FILES]; /* of its results that are there, as face_results names them */
    int64_t looked_ms;
    bool ran; /* a machine told it, before its results were there */
};

/* The queue as it was at one time. */
struct face_seen {
    int64_t read_ms;                   /* when the reading began, on the monotonic clock */
    struct queue_list list;            /* owned */
    struct face_job listed[FACE_JOBS]; /* of number i at i modulo FACE_JOBS */
};

struct face_reader;

/** Begins to read the queue of these settings, which is in a database: at once, then every ten seconds, and every second while
 * somebody asks. A server that is slow is read less often. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status face_reader_new(struct face_reader **out, const struct office *office);

/** Ends it, within two seconds: a thread that waits for the server for longer goes on by itself, with its own
 * memory. */
void face_reader_free(struct face_reader *reader);

/** Returns what was read last, or NULL: nothing yet; borrowed until the next call. The reader looks again soon. running: (count)
 * numbers whose journals the machines know, and which are not read. */
const struct face_seen *face_reader_ask(struct face_reader *reader, const uint32_t *running,
                                        size_t count);

/** Tells which jobs run from now on, as face_reader_ask does, where nobody asks. */
void face_reader_turn(struct face_reader *reader, const uint32_t *running, size_t count);

/** Reads a file of a job that is over, for a download. name: one of face_results, kept. Returns its descriptor, which the caller
 * closes; -1 where there is none, or the server does not answer; HTTP_OPEN_LATER: it is being read, or another one is, and is to
 * be asked for again soon. */
int face_reader_open(struct face_reader *reader, uint64_t *size, uint32_t number, const char *name);

/** Looks which of a job's results are there. Fails as result_size of struct queue_store does. */
MUST_USE enum status face_look_for_files(struct face_job *kept, const struct office *office);

#endif
