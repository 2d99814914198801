#include "io/worker.h"

#include "base/check.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct worker {
    pthread_t thread;
    void (*work)(void *self);
    void *work_self;
    int stirs; /* eventfd: 1 when the work is over, or asks */
    bool busy; /* known to the owner's thread alone */
    pthread_mutex_t lock;
    pthread_cond_t served;
    /* Behind the lock. */
    bool over;
    bool refuses;
    void (*asked)(void *self); /* NULL: for nothing */
    void *asked_self;
};

/* Whose work the present thread runs; NULL: nobody's. */
static _Thread_local struct worker *own;

enum status worker_new(struct worker **out)
{
    *out = NULL;
    struct worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL) {
        return STATUS_NO_MEMORY;
    }
    worker->stirs = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (worker->stirs < 0) {
        free(worker);
        return STATUS_IO;
    }
    (void)pthread_mutex_init(&worker->lock, NULL);
    (void)pthread_cond_init(&worker->served, NULL);
    *out = worker;
    return STATUS_OK;
}

/* Behind the lock, as quieten: so the descriptor is readable where there is something to be done, and not otherwise. */
static void stir(const struct worker *worker)
{
    const uint64_t one = 1;
    const ssize_t put = write(worker->stirs, &one, sizeof one);
    CHECK(put == (ssize_t)sizeof one);
}

static void quieten(const struct worker *worker)
{
    uint64_t count = 0;
    (void)!read(worker->stirs, &count, sizeof count);
}

static void *run(void *argument)
{
    struct worker *worker = argument;
    own = worker;
    worker->work(worker->work_self);
    (void)pthread_mutex_lock(&worker->lock);
    worker->over = true;
    stir(worker);
    (void)pthread_mutex_unlock(&worker->lock);
    return NULL;
}

bool worker_on_owner(void (*what)(void *self), void *self)
{
    struct worker *worker = own;
    if (worker == NULL) {
        what(self);
        return true;
    }
    (void)pthread_mutex_lock(&worker->lock);
    const bool refused = worker->refuses;
    if (!refused) {
        worker->asked = what;
        worker->asked_self = self;
        stir(worker);
    }
    while (worker->asked != NULL && !worker->refuses) {
        (void)pthread_cond_wait(&worker->served, &worker->lock);
    }
    const bool done = !refused && worker->asked == NULL;
    worker->asked = NULL;
    (void)pthread_mutex_unlock(&worker->lock);
    return done;
}

/* The thread waits meanwhile, so nobody else touches what it asks for. */
void worker_serve(struct worker *worker)
{
    (void)pthread_mutex_lock(&worker->lock);
    void (*what)(void *self) = worker->asked;
    void *self = worker->asked_self;
    if (what != NULL) {
        quieten(worker);
    }
    (void)pthread_mutex_unlock(&worker->lock);
    if (what == NULL) {
        return;
    }
    what(self);
    (void)pthread_mutex_lock(&worker->lock);
    worker->asked = NULL;
    (void)pthread_cond_signal(&worker->served);
    (void)pthread_mutex_unlock(&worker->lock);
}

void worker_refuse(struct worker *worker)
{
    (void)pthread_mutex_lock(&worker->lock);
    if (worker->asked != NULL) {
        quieten(worker);
    }
    worker->refuses = true;
    (void)pthread_cond_signal(&worker->served);
    (void)pthread_mutex_unlock(&worker->lock);
}

enum status worker_start(struct worker *worker, void (*work)(void *self), void *self)
{
    CHECK(!worker->busy);
    worker->work = work;
    worker->work_self = self;
    worker->over = worker->refuses = false;
    if (pthread_create(&worker->thread, NULL, run, worker) != 0) {
        return STATUS_NO_MEMORY;
    }
    worker->busy = true;
    return STATUS_OK;
}

int worker_descriptor(const struct worker *worker)
{
    return worker->stirs;
}

bool worker_collect(struct worker *worker)
{
    if (!worker->busy) {
        return false;
    }
    (void)pthread_mutex_lock(&worker->lock);
    const bool over = worker->over;
    if (over) {
        quieten(worker);
    }
    (void)pthread_mutex_unlock(&worker->lock);
    if (over) {
        (void)pthread_join(worker->thread, NULL); /* at its last instructions: no waiting */
        worker->busy = false;
    }
    return over;
}

bool worker_is_busy(const struct worker *worker)
{
    return worker->busy;
}

void worker_free(struct worker *worker)
{
    if (worker == NULL) {
        return;
    }
    if (worker->busy) {
        worker_refuse(worker);
        (void)pthread_join(worker->thread, NULL);
    }
    (void)pthread_cond_destroy(&worker->served);
    (void)pthread_mutex_destroy(&worker->lock);
    (void)close(worker->stirs);
    free(worker);
}
