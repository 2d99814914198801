#define _GNU_SOURCE /* pthread_timedjoin_np */

#include "coordinator/main_face_queue.h"

#include "base/check.h"
#include "coordinator/main_face.h"
#include "coordinator/main_queue_store.h"
#include "http/http.h"
#include "io/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    PAUSE_MS = 1000,
    PAUSE_MOST_MS = 60000,
    PAUSE_FACTOR = 4, /* a server that is slow is asked less often */
    UNASKED_MS = 10000,
    UNTAKEN_MS =
        2000, /* how long a file is kept for the client that asked for it, which asks at every turn of the
               * port */
    END_MS = 2000
};

/* A file of a finished job, for a download. */
struct wanted {
    enum { WANTED_NONE, WANTED_ASKED, WANTED_READ } state;
    uint32_t number;
    const char *name; /* one of face_results */
    int file;         /* read: owned; -1: there is none */
    uint64_t size;
    int64_t read_ms;
};

/* Both threads use the members between the lock and `shown`, and the lock guards them. `shown` is the loop's, the
 * rest the reader's thread's. */
struct face_reader {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t woken;
    bool ends;
    int64_t asked_ms; /* 0: nobody has */
    uint32_t running[FACE_RUNNING_MOST];
    size_t running_count;
    struct face_seen *ready; /* read, and not yet taken */
    struct wanted wanted;

    struct face_seen *shown;

    struct office office; /* the settings, with a connection of its own */
    struct face_job kept[FACE_JOBS];
};

static void seen_free(struct face_seen *seen)
{
    if (seen != NULL) {
        queue_list_free(&seen->list);
        free(seen);
    }
}

static void lock(struct face_reader *reader)
{
    CHECK(pthread_mutex_lock(&reader->lock) == 0);
}

static void unlock(struct face_reader *reader)
{
    CHECK(pthread_mutex_unlock(&reader->lock) == 0);
}

/* Asked before each question to the server. */
static bool goes_on(struct face_reader *reader)
{
    lock(reader);
    const bool goes_on = !reader->ends;
    unlock(reader);
    return goes_on;
}

enum status face_look_for_files(struct face_job *kept, const struct office *office)
{
    struct why ignored = {{0}};
    enum status status = STATUS_OK;
    for (size_t i = 0; face_results[i] != NULL; i++) {
        int64_t size = -1;
        if (kept->job.filed && status == STATUS_OK) {
            status = queue_of(office)->result_size(&size, office, kept->job.number, face_results[i],
                                                   &ignored);
        }
        kept->file[i] = status == STATUS_OK && size >= 0;
    }
    return status;
}

static bool runs(struct face_reader *reader, uint32_t number)
{
    bool found = false;
    lock(reader);
    for (size_t i = 0; i < reader->running_count; i++) {
        found = found || reader->running[i] == number;
    }
    unlock(reader);
    return found;
}

/* A job that is filed changes no more, once all is known of it. What is not known is asked again at the next reading. */
static void look_at_job(struct face_reader *reader, const struct queue_entry *entry)
{
    struct why ignored = {{0}};
    struct face_job *kept = &reader->kept[entry->number % FACE_JOBS];
    if (!entry->over && runs(reader, entry->number)) {
        kept->job.number = 0; /* what was read before it ran */
        return;
    }
    if ((kept->job.number == entry->number && kept->job.filed) || !goes_on(reader)) {
        return;
    }
    enum status status = queue_show(&kept->job, &reader->office, entry->number, &ignored);
    if (status == STATUS_OK) {
        status = face_look_for_files(kept, &reader->office);
    }
    if (status != STATUS_OK) {
        kept->job.number = 0;
    }
}

static void put(struct face_reader *reader, struct face_seen *seen)
{
    lock(reader);
    seen_free(reader->ready);
    reader->ready = seen;
    unlock(reader);
}

static void read_queue(struct face_reader *reader)
{
    struct why ignored = {{0}};
    struct face_seen *seen = calloc(1, sizeof *seen);
    if (seen == NULL || !goes_on(reader)) {
        free(seen);
        return;
    }
    seen->read_ms = clock_now_ms();
    enum status status = queue_open(&reader->office, &ignored);
    if (status == STATUS_OK) {
        status = queue_of(&reader->office)->list(&seen->list, &reader->office, &ignored);
    }
    if (status != STATUS_OK) {
        free(seen);
        return;
    }
    for (size_t i = seen->list.count; i > 0 && seen->list.count - i < FACE_JOBS; i--) {
        look_at_job(reader, &seen->list.entry[i - 1]);
    }
    memcpy(seen->listed, reader->kept, sizeof seen->listed);
    put(reader, seen);
}

static void forget_wanted(struct face_reader *reader)
{
    if (reader->wanted.state == WANTED_READ && reader->wanted.file >= 0) {
        (void)close(reader->wanted.file);
    }
    reader->wanted = (struct wanted){.state = WANTED_NONE};
}

/* Under the lock. Returns whether it is read, and the client that asked for it has left. */
static bool is_untaken(const struct face_reader *reader, int64_t now_ms)
{
    return reader->wanted.state == WANTED_READ && now_ms - reader->wanted.read_ms >= UNTAKEN_MS;
}

/* The job's end says that its results are all there. */
static void read_wanted(struct face_reader *reader)
{
    struct queue_kept kept;
    struct why ignored = {{0}};
    lock(reader);
    struct wanted wanted = reader->wanted;
    unlock(reader);
    wanted.file = -1;
    if (queue_open(&reader->office, &ignored) != STATUS_OK ||
        queue_of(&reader->office)->peek(&kept, &reader->office, wanted.number, &ignored) !=
            STATUS_OK ||
        !kept.over ||
        queue_of(&reader->office)
                ->result_open(&wanted.file, &wanted.size, &reader->office, wanted.number,
                              wanted.name, &ignored) != STATUS_OK) {
        wanted.file = -1;
    }
    wanted.state = WANTED_READ;
    wanted.read_ms = clock_now_ms();
    lock(reader);
    reader->wanted = wanted;
    unlock(reader);
}

/* When the queue is to be read again. A client that comes after a while finds what is not much older than UNASKED_MS. */
static int64_t due_ms(const struct face_reader *reader, int64_t now_ms, int64_t since_ms,
                      int64_t pause_ms)
{
    const bool asked = reader->asked_ms != 0 && now_ms - reader->asked_ms < UNASKED_MS;
    return since_ms + (asked || pause_ms > UNASKED_MS ? pause_ms : UNASKED_MS);
}

/* Waits until pause_ms are over, and while nobody asks until UNASKED_MS are. Returns whether the reader goes on. */
static bool wait_for_question(struct face_reader *reader, int64_t pause_ms)
{
    const int64_t since_ms = clock_now_ms();
    lock(reader);
    for (int64_t now_ms = since_ms;
         !reader->ends && now_ms < due_ms(reader, now_ms, since_ms, pause_ms);
         now_ms = clock_now_ms()) {
        if (is_untaken(reader, now_ms)) {
            forget_wanted(reader); /* else a whole model stays in memory until the next one */
        }
        if (reader->wanted.state == WANTED_ASKED) {
            unlock(reader);
            read_wanted(reader);
            lock(reader);
            continue;
        }
        const int64_t left_ms = due_ms(reader, now_ms, since_ms, pause_ms) - now_ms;
        struct timespec until;
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += left_ms / 1000;
        until.tv_nsec += left_ms % 1000 * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&reader->woken, &reader->lock, &until);
    }
    const bool goes_on = !reader->ends;
    unlock(reader);
    return goes_on;
}

static void *read_on(void *self)
{
    struct face_reader *reader = self;
    int64_t pause_ms = 0;
    do {
        const int64_t began_ms = clock_now_ms();
        read_queue(reader);
        const int64_t wanted_ms = PAUSE_FACTOR * (clock_now_ms() - began_ms);
        pause_ms = wanted_ms > PAUSE_MOST_MS ? PAUSE_MOST_MS
                   : wanted_ms < PAUSE_MS    ? PAUSE_MS
                                             : wanted_ms;
    } while (wait_for_question(reader, pause_ms));
    queue_of(&reader->office)->close(&reader->office);
    return NULL;
}

static enum status begin(struct face_reader *reader)
{
    pthread_condattr_t monotonic;
    if (pthread_condattr_init(&monotonic) != 0) {
        return STATUS_NO_MEMORY;
    }
    bool made = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(&reader->woken, &monotonic) == 0;
    (void)pthread_condattr_destroy(&monotonic);
    if (made && pthread_mutex_init(&reader->lock, NULL) != 0) {
        (void)pthread_cond_destroy(&reader->woken);
        made = false;
    }
    if (made && pthread_create(&reader->thread, NULL, read_on, reader) != 0) {
        (void)pthread_mutex_destroy(&reader->lock);
        (void)pthread_cond_destroy(&reader->woken);
        made = false;
    }
    return made ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status face_reader_new(struct face_reader **out, const struct office *office)
{
    struct face_reader *reader = calloc(1, sizeof *reader);
    *out = NULL;
    if (reader == NULL) {
        return STATUS_NO_MEMORY;
    }
    reader->office = office_like(office);
    reader->office.jobs = NULL;
    const enum status status = begin(reader);
    if (status != STATUS_OK) {
        free(reader);
        return status;
    }
    *out = reader;
    return STATUS_OK;
}

void face_reader_free(struct face_reader *reader)
{
    struct timespec until;
    if (reader == NULL) {
        return;
    }
    lock(reader);
    reader->ends = true;
    unlock(reader);
    (void)pthread_cond_signal(&reader->woken);
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += END_MS / 1000;
    if (pthread_timedjoin_np(reader->thread, NULL, &until) != 0) {
        (void)pthread_detach(reader->thread);
        return;
    }
    (void)pthread_mutex_destroy(&reader->lock);
    (void)pthread_cond_destroy(&reader->woken);
    forget_wanted(reader);
    seen_free(reader->ready);
    seen_free(reader->shown);
    free(reader);
}

static void keep_running(struct face_reader *reader, const uint32_t *running, size_t count)
{
    CHECK(count <= FACE_RUNNING_MOST);
    if (count > 0) {
        memcpy(reader->running, running, count * sizeof *running);
    }
    reader->running_count = count;
}

void face_reader_turn(struct face_reader *reader, const uint32_t *running, size_t count)
{
    lock(reader);
    keep_running(reader, running, count);
    unlock(reader);
}

const struct face_seen *face_reader_ask(struct face_reader *reader, const uint32_t *running,
                                        size_t count)
{
    lock(reader);
    reader->asked_ms = clock_now_ms();
    keep_running(reader, running, count);
    struct face_seen *ready = reader->ready;
    reader->ready = NULL;
    unlock(reader);
    (void)pthread_cond_signal(&reader->woken);
    if (ready != NULL) {
        seen_free(reader->shown);
        reader->shown = ready;
    }
    return reader->shown;
}

int face_reader_open(struct face_reader *reader, uint64_t *size, uint32_t number, const char *name)
{
    int file = HTTP_OPEN_LATER;
    *size = 0;
    lock(reader);
    struct wanted *wanted = &reader->wanted;
    const bool same = wanted->number == number && wanted->name == name;
    if (is_untaken(reader, clock_now_ms()) && !(same && wanted->file >= 0)) {
        forget_wanted(reader); /* "none" may be true no more: the server is back, or the job over */
    }
    if (wanted->state == WANTED_READ && same) {
        file = wanted->file;
        *size = wanted->size;
        *wanted = (struct wanted){.state = WANTED_NONE};
    }
    if (file == HTTP_OPEN_LATER && wanted->state == WANTED_NONE) {
        *wanted = (struct wanted){.state = WANTED_ASKED, .number = number, .name = name};
    }
    unlock(reader);
    (void)pthread_cond_signal(&reader->woken);
    return file;
}
