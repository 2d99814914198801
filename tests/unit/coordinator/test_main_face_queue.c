/* What is read of a queue in a database beside the loop, where the server does not answer. What it does with one that answers
 * slowly is tested in tests/integration/federation/test_queue_slow.py. */

#include "coordinator/main_face.h"
#include "coordinator/main_face_queue.h"
#include "http/http.h"
#include "io/clock.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <time.h>

static struct office office;

static void sleep_ms(long ms)
{
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    (void)nanosleep(&pause, NULL);
}

static int ask(struct face_reader *reader, size_t which)
{
    uint64_t size = 7;
    const int file = face_reader_open(reader, &size, 7, face_results[which]);
    cr_expect_eq(size, 0);
    return file;
}

/* As the port asks. Returns what it is told in the end. */
static int wait_for(struct face_reader *reader, size_t which)
{
    const int64_t until_ms = clock_now_ms() + 20000;
    int file = HTTP_OPEN_LATER;
    while (file == HTTP_OPEN_LATER && clock_now_ms() < until_ms) {
        file = ask(reader, which);
        sleep_ms(5);
    }
    return file;
}

/* Planted: a client left before it was known that the server does not answer. The next client that asked for that file,
 * however much later, was told at once that there is none. */
Test(main_face_queue, an_answer_that_nobody_took_is_not_given_to_others_later)
{
    struct face_reader *reader = NULL;
    /* nobody listens there: each question fails at once */
    (void)snprintf(office.settings.jobs, SETTINGS_PATH_BYTES, "postgresql://nobody@127.0.0.1:1/x");
    cr_assert_eq(face_reader_new(&reader, &office), STATUS_OK);
    cr_expect_eq(wait_for(reader, 0), -1);
    cr_expect_eq(ask(reader, 0), HTTP_OPEN_LATER, "it is asked anew");
    sleep_ms(500);
    cr_expect_eq(ask(reader, 1), HTTP_OPEN_LATER, "the answer is for another file");
    sleep_ms(2500);
    cr_expect_eq(ask(reader, 0), HTTP_OPEN_LATER, "an answer of long ago");
    cr_expect_eq(wait_for(reader, 0), -1);
    cr_expect_eq(wait_for(reader, 1), -1);
    face_reader_free(reader);
}
