/* bench_memory - how much memory the coordinator needs for a large model and many agents.
 *
 *     bench_memory [AGENTS [CATEGORY-COLUMNS [ROUNDS]]]  # 32 agents, 31250 columns of 32: d = 1,000,001
 *
 * The federation is a made-up one (made_up.h) with one round of fit. If ROUNDS is given, it has this many rounds of update, whose
 * answers have 2 bytes a number. Every answer is pulled, the average committed, released and fetched by every agent. Prints the
 * coordinator's peak above what it had before the first agent came, in accumulators (one vector of d 64-bit words), and fails
 * when it is 3.5 or more, or when anybody got a wrong model. */

#include "tests/bench/federation/made_up.h"

#include "io/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ACCUMULATORS_MAX 3.5

struct bench {
    struct made_up made_up;
    long idle_kib;
    int64_t opened_ms;
    int64_t closed_ms;
};

/* A line of /proc/self/status, in KiB. */
static long status_kib(const char *key)
{
    char line[256];
    long kib = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            kib = strtol(line + strlen(key), NULL, 10);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return kib;
}

/* From here on VmHWM is the peak of what follows. */
static void forget_peak(void)
{
    int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, "5", 1) != 1) {
        (void)fputs("the kernel does not reset VmHWM: the peak may include the preparation\n",
                    stderr);
    }
    if (file >= 0) {
        (void)close(file);
    }
}

static void note_idle(void *self)
{
    struct bench *bench = self;
    bench->idle_kib = status_kib("VmRSS:");
    forget_peak();
}

static void note_times(void *self, const struct log_entry *entry)
{
    struct bench *bench = self;
    if (strcmp(entry->event, "round-opened") == 0) {
        bench->opened_ms = clock_now_ms();
    } else if (strcmp(entry->event, "round-closed") == 0) {
        bench->closed_ms = clock_now_ms();
    }
}

static bool tell(const struct bench *bench, int64_t end_ms)
{
    const struct made_up *made_up = &bench->made_up;
    double accumulator = 8.0 * (double)made_up->feature_count;
    double above = 1024.0 * (double)(status_kib("VmHWM:") - bench->idle_kib) / accumulator;
    double answers_s = (double)(bench->closed_ms - bench->opened_ms) / 1000;
    double release_s = (double)(end_ms - bench->closed_ms) / 1000;

    (void)printf("d = %zu, %zu agents: peak %.2f accumulators of %.1f MB above idle (%.1f MB); "
                 "limit %.1f\n",
                 made_up->feature_count, made_up->agent_count, above, accumulator / 1e6,
                 (double)bench->idle_kib * 1024 / 1e6, ACCUMULATORS_MAX);
    (void)printf("%.2f s to pull and commit, %.2f s to the end of the program; %zu agents got the "
                 "right model\n",
                 answers_s, release_s, made_up->right);
    return above < ACCUMULATORS_MAX && made_up->right == made_up->agent_count;
}

int main(int argc, char **argv)
{
    struct bench bench = {
        .made_up = {.agent_count = argc > 1 ? strtoul(argv[1], NULL, 10) : 32,
                    .columns = argc > 2 ? strtoul(argv[2], NULL, 10) : 31250,
                    .rounds = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0,
                    .parent = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp",
                    .made = note_idle,
                    .logged = note_times,
                    .self = &bench}};

    if (bench.made_up.agent_count < 1 || bench.made_up.agent_count > PEERS_MAX ||
        bench.made_up.columns < 1) {
        (void)fputs("usage: bench_memory [AGENTS [CATEGORY-COLUMNS [ROUNDS]]]\n", stderr);
        return 2;
    }
    const bool ended = made_up_run(&bench.made_up);
    return ended && tell(&bench, clock_now_ms()) ? 0 : 1;
}
