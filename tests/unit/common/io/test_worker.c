#include "io/worker.h"

#include <criterion/criterion.h>
#include <poll.h>

static void square(void *self)
{
    int *number = self;
    *number *= *number;
}

Test(worker, work_is_done_elsewhere_and_announced)
{
    struct worker *worker = NULL;
    int number = 3;
    cr_assert_eq(worker_new(&worker), STATUS_OK);
    cr_expect(!worker_is_busy(worker));
    cr_expect(!worker_collect(worker));
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(worker_start(worker, square, &number), STATUS_OK);
        cr_expect(worker_is_busy(worker));
        struct pollfd done = {.fd = worker_descriptor(worker), .events = POLLIN};
        cr_assert_eq(poll(&done, 1, 60000), 1);
        cr_expect(worker_collect(worker));
        cr_expect(!worker_collect(worker));
    }
    cr_expect_eq(number, 6561);
    worker_free(worker);
    worker_free(NULL);
}
