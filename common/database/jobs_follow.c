/* What the leader has to hear of, read on a thread of its own over a connection of its own: a server that does not answer holds
 * up no round. The loop takes what was read last. */

#define _GNU_SOURCE /* pthread_timedjoin_np */

#include "database/jobs_private.h"

#include "io/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { END_MS = 2000, REST_MOST_MS = 30000 };

struct jobs_follower {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t woken;
    struct jobs *jobs; /* the thread's own */

    /* Behind the lock. */
    bool ends;
    bool there; /* something was read, and not yet taken */
    char *text; /* owned; NULL where reading failed */
    int64_t began_ms;
    enum status status;
    struct why why;
    struct jobs_told told; /* who declines jobs here */
};

static enum status read_changes(struct jobs *jobs, char **text, struct why *why)
{
    static const char all[] =
        "SELECT count(*) || ' up to ' || coalesce(max(number), 0) || chr(10)"
        " || coalesce(string_agg(number || ' ' || cancel || chr(10), '')"
        " FILTER (WHERE ending IS NULL AND cancel IS NOT NULL), '') FROM hedgerow_job";
    static const char led[] =
        "SELECT 'led' || coalesce(string_agg(' ' || number, '' ORDER BY number), '') || chr(10)"
        " FROM " JOBS_LED;
    struct pg_result *answer = NULL;
    *text = NULL;
    enum status status = jobs_ask(jobs, &answer, jobs->collects ? led : all, NULL, 0, why);
    if (status == STATUS_OK) {
        const struct slice read = database_bytes(answer, 0, 0);
        *text = strndup(read.data != NULL ? read.data : "", read.size);
        status = *text != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    }
    database_answer_free(answer);
    return status;
}

/* Nothing depends on it. So it is written after the reading, and a failure to write it is not reported. */
static void write_declined(struct jobs_follower *follower)
{
    struct jobs_told copy;
    size_t place = 0;
    bool written = true;
    while (written && place < JOBS_TOLD_MAX) {
        struct why ignored = {""};
        (void)pthread_mutex_lock(&follower->lock);
        copy = follower->told;
        place = follower->ends ? JOBS_TOLD_MAX : jobs_told_due(&copy, clock_now_ms());
        (void)pthread_mutex_unlock(&follower->lock);
        if (place < JOBS_TOLD_MAX) {
            written = jobs_told_write(follower->jobs, &copy, place, &ignored) == STATUS_OK;
            (void)pthread_mutex_lock(&follower->lock);
            jobs_told_note(&follower->told, &copy, place, written, clock_now_ms());
            (void)pthread_mutex_unlock(&follower->lock);
        }
    }
}

/* A server that is slow is asked less often. Returns whether the thread goes on. */
static bool rest(struct jobs_follower *follower, int64_t rest_ms)
{
    struct timespec until;
    int waited = 0;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += rest_ms / 1000;
    until.tv_nsec += rest_ms % 1000 * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_mutex_lock(&follower->lock);
    while (!follower->ends && waited == 0) {
        waited = pthread_cond_timedwait(&follower->woken, &follower->lock, &until);
    }
    const bool goes_on = !follower->ends;
    (void)pthread_mutex_unlock(&follower->lock);
    return goes_on;
}

static void *read_on(void *self)
{
    struct jobs_follower *follower = self;
    int64_t rest_ms = 0;
    do {
        struct why why = {""};
        char *text = NULL;
        const int64_t began_ms = clock_now_ms();
        const enum status status = read_changes(follower->jobs, &text, &why);
        const int64_t took_ms = clock_now_ms() - began_ms;
        (void)pthread_mutex_lock(&follower->lock);
        free(follower->text);
        follower->text = text;
        follower->began_ms = began_ms;
        follower->status = status;
        follower->why = why;
        follower->there = true;
        (void)pthread_mutex_unlock(&follower->lock);
        write_declined(follower);
        rest_ms = took_ms > REST_MOST_MS     ? REST_MOST_MS
                  : took_ms > JOBS_FOLLOW_MS ? took_ms
                                             : JOBS_FOLLOW_MS;
    } while (rest(follower, rest_ms));
    return NULL;
}

static void destroy(struct jobs_follower *follower)
{
    (void)pthread_cond_destroy(&follower->woken);
    (void)pthread_mutex_destroy(&follower->lock);
    jobs_free(follower->jobs);
    free(follower->text);
    free(follower);
}

static enum status begin(struct jobs *jobs, struct why *why)
{
    pthread_condattr_t monotonic;
    struct jobs_follower *follower = calloc(1, sizeof *follower);
    if (follower == NULL) {
        return STATUS_NO_MEMORY;
    }
    enum status status = jobs_new(&follower->jobs, jobs->url, why);
    if (status != STATUS_OK) {
        free(follower);
        return status;
    }
    status = jobs_draw(&follower->told.holder, why);
    if (status != STATUS_OK) {
        jobs_free(follower->jobs);
        free(follower);
        return status;
    }
    follower->jobs->collects = jobs->collects;
    (void)pthread_mutex_init(&follower->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&follower->woken, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    if (pthread_create(&follower->thread, NULL, read_on, follower) != 0) {
        why_set(why, "no thread to follow the queue");
        destroy(follower);
        return STATUS_NO_MEMORY;
    }
    jobs->follower = follower;
    return STATUS_OK;
}

/* One that waits for the server is left alone with its connection: only the end of the program gets here. */
void jobs_unfollow(struct jobs *jobs)
{
    struct jobs_follower *follower = jobs->follower;
    struct timespec until;
    free(jobs->followed);
    jobs->followed = NULL;
    jobs->follower = NULL;
    if (follower == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&follower->lock);
    follower->ends = true;
    (void)pthread_cond_signal(&follower->woken);
    (void)pthread_mutex_unlock(&follower->lock);
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += END_MS / 1000;
    if (pthread_timedjoin_np(follower->thread, NULL, &until) != 0) {
        (void)pthread_detach(follower->thread);
        return;
    }
    destroy(follower);
}

enum status jobs_follow_listed(struct jobs *jobs, const struct jobs_row *rows, size_t count)
{
    char line[JOBS_SUMMARY_BYTES];
    const char *rest_of = jobs->followed != NULL ? strchr(jobs->followed, '\n') : NULL;
    rest_of = rest_of != NULL ? rest_of + 1 : "";
    jobs_summary(line, jobs, rows, count);
    const size_t size = strlen(line) + strlen(rest_of) + 1;
    char *text = malloc(size);
    if (text == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)snprintf(text, size, "%s%s", line, rest_of);
    free(jobs->followed);
    jobs->followed = text;
    jobs->listed_ms = clock_now_ms();
    jobs->follow = STATUS_OK; /* what failed before is no news of this list */
    return STATUS_OK;
}

void jobs_tell_declined(struct jobs *jobs, uint32_t number, const char *names)
{
    struct why ignored = {""};
    if (jobs->follower != NULL || begin(jobs, &ignored) == STATUS_OK) {
        (void)pthread_mutex_lock(&jobs->follower->lock);
        jobs_told_take(&jobs->follower->told, number, names);
        (void)pthread_mutex_unlock(&jobs->follower->lock);
    }
}

enum status jobs_follow(struct jobs *jobs, const char **text, struct why *why)
{
    enum status status = jobs->follower == NULL ? begin(jobs, why) : STATUS_OK;
    if (status != STATUS_OK) {
        return status;
    }
    struct jobs_follower *follower = jobs->follower;
    (void)pthread_mutex_lock(&follower->lock);
    /* What was asked for before the latest list may be older than that. */
    if (follower->there && (follower->text == NULL || follower->began_ms > jobs->listed_ms)) {
        if (follower->text != NULL) {
            free(jobs->followed);
            jobs->followed = follower->text;
            follower->text = NULL;
        }
        jobs->follow = follower->status;
        jobs->because = follower->why;
        follower->there = false;
    }
    (void)pthread_mutex_unlock(&follower->lock);
    *text = jobs->followed;
    if (jobs->follow != STATUS_OK) {
        *why = jobs->because;
    } else if (jobs->followed == NULL) {
        return why_fail(why, STATUS_AGAIN, "%s: the queue has not been read yet", jobs->place);
    }
    return jobs->follow;
}
