/* Behind the loop nobody reads signals: daemon_start holds them back, so that one of them does not end the program while it
 * writes a result. This thread reads them then. The first one is answered; whoever asks again wants the end at once. */

#include "io/daemon.h"

#include "base/exit_code.h"
#include "io/clock.h"
#include "io/driver.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

struct hurry {
    struct log_sink sink; /* the daemon's own is gone before this thread is */
    struct log log;
};

static void *hear(void *self)
{
    const struct hurry *hurry = self;
    sigset_t asked;
    int64_t since_ms = INT64_MAX;
    (void)sigemptyset(&asked);
    (void)sigaddset(&asked, SIGTERM);
    (void)sigaddset(&asked, SIGINT);
    for (;;) {
        const int number = sigwaitinfo(&asked, NULL);
        const int64_t now_ms = clock_now_ms();
        if (number > 0 && since_ms == INT64_MAX) {
            since_ms = now_ms;
            log_event(&hurry->log, LOG_INFO, "stopping", NULL,
                      "asked to stop; results are being made first: ask again to stop at once");
        } else if (number > 0 && now_ms - since_ms >= STOP_AGAIN_MS) {
            log_event(&hurry->log, LOG_WARN, "stopped", NULL,
                      "asked again, and stopped before results were written: the next start makes "
                      "them from the journal");
            _exit(number == SIGINT ? EXIT_CODE_INTERRUPTED : EXIT_CODE_OK);
        }
    }
    return NULL;
}

void daemon_let_hurry(const struct daemon *daemon)
{
    pthread_t thread;
    pthread_attr_t detached;
    struct hurry *hurry = malloc(sizeof *hurry);
    if (hurry == NULL) {
        return; /* signals stay held back */
    }
    hurry->sink = daemon->sink;
    hurry->log = daemon->unlimited;
    hurry->log.self = &hurry->sink;
    (void)pthread_attr_init(&detached);
    (void)pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &detached, hear, hurry) != 0) {
        free(hurry);
    }
    (void)pthread_attr_destroy(&detached);
}
