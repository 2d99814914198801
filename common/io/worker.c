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
    int done;  /* eventfd: 1 when the work is over */
    bool busy; /* known to the owner's thread alone */
};

enum status worker_new(struct worker **out)
{
    *out = NULL;
    struct worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL) {
        return STATUS_NO_MEMORY;
    }
    worker->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (worker->done < 0) {
        free(worker);
        return STATUS_IO;
    }
    *out = worker;
    return STATUS_OK;
}

static void *run(void *argument)
{
    struct worker *worker = argument;
    uint64_t one = 1;
    worker->work(worker->work_self);
    ssize_t put = write(worker->done, &one, sizeof one);
    CHECK(put == (ssize_t)sizeof one);
    return NULL;
}

enum status worker_start(struct worker *worker, void (*work)(void *self), void *self)
{
    CHECK(!worker->busy);
    worker->work = work;
    worker->work_self = self;
    if (pthread_create(&worker->thread, NULL, run, worker) != 0) {
        return STATUS_NO_MEMORY;
    }
    worker->busy = true;
    return STATUS_OK;
}

int worker_descriptor(const struct worker *worker)
{
    return worker->done;
}

bool worker_collect(struct worker *worker)
{
    uint64_t count = 0;
    if (!worker->busy || read(worker->done, &count, sizeof count) != (ssize_t)sizeof count) {
        return false;
    }
    (void)pthread_join(worker->thread, NULL); /* at its last instruction: no waiting */
    worker->busy = false;
    return true;
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
        (void)pthread_join(worker->thread, NULL);
    }
    (void)close(worker->done);
    free(worker);
}
