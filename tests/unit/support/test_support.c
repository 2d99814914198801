/* The tests' own tools: a fault in them could make other tests pass. */

#include "tests/support/chi_square.h"
#include "tests/support/every_choice.h"
#include "tests/support/quiet_fork.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>

Test(chi_square, has_the_tabled_quantiles)
{
    static const struct {
        size_t freedom;
        double statistic;
        double p;
    } row[] = {{1, 3.841458820694124, 0.05},
               {2, 5.991464547107979, 0.05},
               {3, 7.814727903251179, 0.05},
               {15, 24.99579013972863, 0.05},
               {16, 26.29622760486423, 0.05},
               {16, 0, 1},
               {1, 0, 1},
               {2, 0, 1},
               {24, 42.97982013935165, 0.01}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        cr_expect_float_eq(chi_square_tail(row[i].statistic, row[i].freedom), row[i].p, 1e-9);
    }
    cr_expect_float_eq(chi_square_p((uint64_t[]){60, 40}, (double[]){50, 50}, 2), erfc(sqrt(2)),
                       1e-12);
}

Test(every_choice, visits_every_sequence_once)
{
    struct every_choice every = {0};
    int visits[2][3] = {{0}};
    int short_runs = 0;
    do {
        uint32_t first = every_choice_of(&every, 3);
        if (first == 2) { /* this run asks once only */
            short_runs++;
            continue;
        }
        visits[first][every_choice_of(&every, 3)]++;
    } while (every_choice_next(&every));
    cr_assert_eq(short_runs, 1);
    for (int i = 0; i < 6; i++) {
        cr_assert_eq(visits[i / 3][i % 3], 1);
    }
}

Test(seeded_random, depends_on_the_seed_and_not_on_how_it_is_cut)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    uint8_t whole[100];
    uint8_t pieces[100];
    seeded_random_init(&seeded, 1);
    cr_assert_eq(random_fill(&random, whole, 100), STATUS_OK);
    seeded_random_init(&seeded, 1);
    for (size_t at = 0, size = 1; at < 100; at += size, size = size % 9 + 1) {
        size = 100 - at < size ? 100 - at : size;
        cr_assert_eq(random_fill(&random, pieces + at, size), STATUS_OK);
    }
    cr_assert_arr_eq(whole, pieces, 100);
    seeded_random_init(&seeded, 2);
    cr_assert_eq(random_fill(&random, pieces, 100), STATUS_OK);
    cr_assert(memcmp(whole, pieces, 100) != 0);
}

Test(seeded_random, fails_when_told_to)
{
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    uint8_t bytes[8];
    seeded_random_init(&seeded, 1);
    seeded.failing_after = 12;
    cr_assert_eq(random_fill(&random, bytes, 8), STATUS_OK);
    cr_assert_eq(random_fill(&random, bytes, 8), STATUS_NO_RANDOM);
}

/* A thread that runs until it is told to sleep, and sleeps until it is told to end. */
struct restless {
    atomic_bool runs;
    atomic_bool sleeps;
    int until[2]; /* a pipe that is closed */
};

static void *be_restless(void *self)
{
    struct restless *restless = self;
    char byte;
    atomic_store(&restless->runs, true);
    while (!atomic_load(&restless->sleeps)) {
    }
    ssize_t nothing = read(restless->until[0], &byte, 1);
    (void)nothing;
    return NULL;
}

Test(quiet_fork, waits_for_threads_that_run_and_takes_the_child_along)
{
    struct restless restless = {.sleeps = false};
    pthread_t thread;
    int said = 0;
    cr_assert_eq(pipe(restless.until), 0);
    cr_assert_eq(pthread_create(&thread, NULL, be_restless, &restless), 0);
    while (!atomic_load(&restless.runs)) {
    }
    for (int i = 0; i < 100; i++) {
        cr_expect(!quiet_fork_others_sleep());
    }
    atomic_store(&restless.sleeps, true);
    pid_t child = quiet_fork();
    if (child == 0) {
        int signal_number = 0;
        (void)prctl(PR_GET_PDEATHSIG, &signal_number);
        _exit(signal_number);
    }
    cr_assert_eq(waitpid(child, &said, 0), child);
    cr_expect(WIFEXITED(said) && WEXITSTATUS(said) == SIGKILL);
    (void)close(restless.until[1]);
    cr_assert_eq(pthread_join(thread, NULL), 0);
}
