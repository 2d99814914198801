/* What may happen to a queue while a thread chooses its jobs: the list that it read may be old. It runs over a folder, or,
 * where DATABASE_URL names one (tests/support/postgres), over a database. */

#include "coordinator/main_stay_private.h"
#include "queue_bench.h"
#include "tests/unit/coordinator/waiting_job.h"

#include <stdio.h>
#include <string.h>

static struct stay stay;
static unsigned taken;
static uint32_t ends_meanwhile; /* once another job is taken; 0: none */

static struct stay_job *place_of(uint32_t number)
{
    size_t i = 0;
    while (i < STAY_JOBS_MAX && stay.job[i].number != number) {
        i++;
    }
    return i < STAY_JOBS_MAX ? &stay.job[i] : NULL;
}

/* As the thread of that job's lane does. */
static void end_meanwhile(void)
{
    struct stay_job *place = place_of(ends_meanwhile);
    struct queue_job over = bench_seen(ends_meanwhile);
    cr_assert_not_null(place);
    over.state = QUEUE_DONE;
    cr_assert_eq(queue_file(&place->office, &over, &why), STATUS_OK, "%s", why.text);
    stay_give_up(place);
    ends_meanwhile = 0;
}

static void listen(UNUSED void *self, const struct log_entry *entry)
{
    if (strcmp(entry->event, "job-taken") != 0) {
        return;
    }
    taken++;
    if (ends_meanwhile != 0) {
        end_meanwhile();
    }
}

static const struct log heard = {.write = listen, .level = LOG_INFO};

static void add_asking(const char *agent)
{
    char text[1024];
    const char *at = strstr(WAITING_JOB, "minimum: 2,");
    (void)snprintf(text, sizeof text, "%.*sminimum: 1, agents: [%s],%s", (int)(at - WAITING_JOB),
                   WAITING_JOB, agent, at + strlen("minimum: 2,"));
    (void)bench_add_text(text);
}

/* Planted: a job that was filed and gave up its place after the list was read began again. */
Test(queue_choice, takes_no_job_that_has_ended_since_the_list_was_read, .init = bench_begin,
     .fini = bench_end)
{
    stay = (struct stay){.office = &office, .log = &heard};
    add_asking("north");
    add_asking("south");
    cr_assert_eq(stay_choose(&stay, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(taken, 2);
    stay_give_up(place_of(1));
    ends_meanwhile = 2;
    cr_assert_eq(stay_choose(&stay, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(taken, 3, "%u", taken);
    cr_expect_null(place_of(2));
    cr_expect(bench_is_over(2));
    cr_expect_eq(stay_count(&stay), 1);
    stay_free(&stay);
}

/* Planted: it was filed with what jobs are chosen with, which another lane's thread may be asking at the same time: of a database,
 * one connection that two threads used. Here that office does not lead, and could file nothing. */
Test(queue_choice, files_a_job_with_what_its_own_lane_asks_with, .init = bench_begin_shared,
     .fini = bench_end)
{
    struct office other = {.settings = office.settings};
    stay = (struct stay){.office = &office, .log = &heard};
    add_asking("north");
    cr_assert_eq(stay_choose(&stay, &why), STATUS_OK, "%s", why.text);
    struct stay_job *place = place_of(1);
    cr_assert_not_null(place);
    place->results = (struct stay_results){.there = true, .end = {.begun = true, .failed = true}};
    cr_assert_eq(queue_open(&other, &why), STATUS_OK, "%s", why.text);
    stay.office = &other;
    cr_expect_eq(stay_file(&stay, place, &why), STATUS_OK, "%s", why.text);
    cr_expect_null(place_of(1));
    cr_expect(bench_is_over(1));
    stay_free(&stay);
    queue_of(&other)->close(&other);
}
