/* bench_rounds - how long a round takes, compared with a simple program that uses pyzmq.
 *
 *     bench_rounds [FOLDER [AGENTS NUMBERS [ROUNDS]]]  # journals in FOLDER, /tmp; all sizes of the table
 *     bench_rounds --stalls [FOLDER]              # does it notice an agent that stalls?
 *     BENCH_ALONE=1 bench_rounds ...              # without the rival, for a profile
 *
 * A round of `update` end to end: every agent fetches the state, commits its answer and offers it; the coordinator
 * pulls, adds, makes the step and commits. Coordinator, driver, endpoint with CURVE and journals (flushed at each commit)
 * are the real ones, the agents' machines stand-ins that draw no noise (made_up.h). The rival (rival.py) moves float32,
 * keeps nothing and runs before and after it. Times are from one closed round to the next, processor
 * times those of all processes together. Fails when an agent gets a wrong model, or when an answer stalls: then a round
 * waits for seconds, which a median does not show. */

#include "tests/bench/federation/made_up.h"
#include "tests/support/bench_clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { ROUNDS_TIMED_MAX = 256 };

struct timed {
    double least_ms;
    double median_ms;
    double busy_ms; /* a round, of all processes */
};

struct bench {
    struct made_up made_up;
    double closed_ns[ROUNDS_TIMED_MAX];
    double busy_ns[ROUNDS_TIMED_MAX]; /* the coordinator's */
    size_t closed;
    size_t stalled; /* answers that the coordinator gave up for a while */
};

static void note_closed(void *self, const struct log_entry *entry)
{
    struct bench *bench = self;
    bench->stalled += strcmp(entry->event, "answer-stalled") == 0;
    if (strcmp(entry->event, "round-closed") == 0 && bench->closed < ROUNDS_TIMED_MAX) {
        bench->closed_ns[bench->closed] = now_ns();
        bench->busy_ns[bench->closed++] = busy_ns();
    }
}

/* Returns whether the bench's figures count. */
static bool is_good(const struct bench *bench)
{
    return bench->made_up.right == bench->made_up.agent_count &&
           bench->closed == bench->made_up.rounds && bench->closed > 2 && bench->stalled == 0;
}

static bool run_ours(struct timed *out, double *coordinator_ms, const char *parent, size_t agents,
                     size_t columns, uint32_t rounds)
{
    struct bench *bench = calloc(1, sizeof *bench);
    double took[ROUNDS_TIMED_MAX];
    bool good = false;
    if (bench == NULL) {
        return false;
    }
    bench->made_up = (struct made_up){.agent_count = agents,
                                      .columns = columns,
                                      .rounds = rounds,
                                      .parent = parent,
                                      .logged = note_closed,
                                      .self = bench};
    good = made_up_run(&bench->made_up) && is_good(bench);
    if (good) {
        const size_t count = bench->closed - 1;
        for (size_t i = 0; i < count; i++) {
            took[i] = 1e-6 * (bench->closed_ns[i + 1] - bench->closed_ns[i]);
        }
        qsort(took, count, sizeof took[0], compare_doubles);
        *coordinator_ms = 1e-6 * (bench->busy_ns[count] - bench->busy_ns[0]) / (double)count;
        *out = (struct timed){.least_ms = took[0],
                              .median_ms = took[count / 2],
                              .busy_ms = *coordinator_ms + bench->made_up.agents_busy_ms / rounds};
    }
    if (bench->stalled > 0) {
        (void)printf("%6zu  %7zu  %zu answers stalled\n", agents, bench->made_up.feature_count,
                     bench->stalled);
    }
    free(bench);
    return good;
}

/* One agent is silent for longer than the coordinator asks again. All get the right model in the end, and still the
 * bench has to fail. */
static bool notices_a_stall(const char *parent)
{
    struct bench bench = {.made_up = {.agent_count = 8,
                                      .columns = 3125,
                                      .rounds = 3,
                                      .stall_ms = 12000,
                                      .parent = parent,
                                      .logged = note_closed,
                                      .self = &bench}};
    const bool ended = made_up_run(&bench.made_up);
    const bool failed = !is_good(&bench);
    (void)printf("%zu answers stalled, of an agent that was silent for 12 s\n", bench.stalled);
    bench.stalled = 0;
    return ended && failed && is_good(&bench);
}

/* Returns whether the rival can run here. */
static bool run_rival(struct timed *best, size_t agents, size_t numbers, uint32_t rounds)
{
    struct timed now;
    char command[512];
    if (getenv("BENCH_ALONE") != NULL) {
        return false;
    }
    (void)snprintf(command, sizeof command, "/usr/bin/python3 %s %zu %zu %u", RIVAL, agents,
                   numbers, rounds);
    FILE *rival = popen(command, "r");
    if (rival == NULL) {
        return false;
    }
    const int read = fscanf(rival, "%lf %lf %lf", &now.least_ms, &now.median_ms, &now.busy_ms);
    if (pclose(rival) != 0 || read != 3) {
        return false;
    }
    if (best->least_ms == 0 || now.least_ms < best->least_ms) {
        *best = now;
    }
    return true;
}

static bool compare(const char *parent, size_t agents, size_t columns, uint32_t rounds)
{
    const size_t numbers = 32 * columns + 1;
    struct timed ours;
    struct timed rival = {0};
    double coordinator_ms = 0;

    bool there = run_rival(&rival, agents, numbers, rounds);
    if (!run_ours(&ours, &coordinator_ms, parent, agents, columns, rounds)) {
        (void)printf("%6zu  %7zu  failed\n", agents, numbers);
        return false;
    }
    there = there && run_rival(&rival, agents, numbers, rounds);
    (void)printf("%6zu  %7zu  %8.1f  %8.1f  %8.1f  %8.1f", agents, numbers, ours.least_ms,
                 ours.median_ms, ours.busy_ms, coordinator_ms);
    if (there) {
        (void)printf("  %8.1f  %8.1f  %8.1f  %5.2f  %5.2f\n", rival.least_ms, rival.median_ms,
                     rival.busy_ms, ours.least_ms / rival.least_ms, ours.busy_ms / rival.busy_ms);
    } else {
        (void)printf(
            "  no rival: it was not wanted, or python3-zmq or python3-numpy is not installed\n");
    }
    (void)fflush(stdout);
    return true;
}

int main(int argc, char **argv)
{
    static const struct {
        size_t agents;
        size_t columns;
        uint32_t rounds;
    } size[] = {{8, 31, 200},   {32, 31, 100},  {8, 3125, 50},
                {32, 3125, 20}, {8, 31250, 10}, {32, 31250, 5}};
    if (argc > 1 && strcmp(argv[1], "--stalls") == 0) {
        return notices_a_stall(argc > 2 ? argv[2] : "/tmp") ? 0 : 1;
    }
    const char *parent = argc > 1 ? argv[1] : "/tmp";
    bool good = true;

    (void)printf("                ours, ms                                rival, ms"
                 "                     ours / rival\n"
                 "agents  numbers     least    median processor  coordin.     least    median "
                 "processor  least  processor\n");
    if (argc > 3) {
        const size_t columns = strtoul(argv[3], NULL, 10) / 32;
        const uint32_t rounds = argc > 4          ? (uint32_t)strtoul(argv[4], NULL, 10)
                                : columns > 10000 ? 10
                                : columns > 1000  ? 50
                                                  : 200;
        return compare(parent, strtoul(argv[2], NULL, 10), columns, rounds) ? 0 : 1;
    }
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        good = compare(parent, size[i].agents, size[i].columns, size[i].rounds) && good;
    }
    return good ? 0 : 1;
}
