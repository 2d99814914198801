#include "database/lease_keeper.h"

#include "database/lease.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct lease_keeper {
    lease_turn *turn;
    void *self;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool ends; /* guarded by mutex */
};

/* Returns whether the lease is to be kept on. */
static bool sleep_until_due(struct lease_keeper *keeper)
{
    struct timespec due;
    (void)clock_gettime(CLOCK_MONOTONIC, &due);
    due.tv_sec += LEASE_RENEWAL_MS / 1000;
    due.tv_nsec += (LEASE_RENEWAL_MS % 1000) * 1000000L;
    if (due.tv_nsec >= 1000000000L) {
        due.tv_sec++;
        due.tv_nsec -= 1000000000L;
    }
    (void)pthread_mutex_lock(&keeper->mutex);
    while (!keeper->ends && pthread_cond_timedwait(&keeper->wake, &keeper->mutex, &due) == 0) {
    }
    const bool goes_on = !keeper->ends;
    (void)pthread_mutex_unlock(&keeper->mutex);
    return goes_on;
}

static void *keep(void *self)
{
    struct lease_keeper *keeper = self;
    bool goes_on = true;
    while (goes_on) {
        goes_on = sleep_until_due(keeper);
        keeper->turn(keeper->self, goes_on);
    }
    return NULL;
}

static void destroy(struct lease_keeper *keeper)
{
    (void)pthread_cond_destroy(&keeper->wake);
    (void)pthread_mutex_destroy(&keeper->mutex);
    free(keeper);
}

enum status lease_keeper_new(struct lease_keeper **out, lease_turn *turn, void *self)
{
    pthread_condattr_t monotonic;
    struct lease_keeper *keeper = calloc(1, sizeof *keeper);
    if (keeper == NULL) {
        return STATUS_NO_MEMORY;
    }
    keeper->turn = turn;
    keeper->self = self;
    (void)pthread_mutex_init(&keeper->mutex, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&keeper->wake, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    if (pthread_create(&keeper->thread, NULL, keep, keeper) != 0) {
        destroy(keeper);
        return STATUS_NO_MEMORY;
    }
    *out = keeper;
    return STATUS_OK;
}

void lease_keeper_free(struct lease_keeper *keeper)
{
    if (keeper == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&keeper->mutex);
    keeper->ends = true;
    (void)pthread_cond_signal(&keeper->wake);
    (void)pthread_mutex_unlock(&keeper->mutex);
    (void)pthread_join(keeper->thread, NULL);
    destroy(keeper);
}
