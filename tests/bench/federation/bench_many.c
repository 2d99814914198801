/* bench_many - one coordinator and as many agents as it serves.
 *
 *     bench_many [AGENTS [ROUNDS [FOLDER]]]      # 600 agents, 8 rounds, journal in /tmp
 *     bench_many AGENTS ROUNDS FOLDER FLOOD      # a hostile agent beside them: hellos, bytes or beyond (flood.h)
 *
 * Rounds of `update` with 993 numbers, which need every agent. The coordinator - machine, driver, endpoint with CURVE,
 * SQLite journal flushed at each commit - is the real one, in a process of its own; the agents are light ones
 * (light_agents.h), some hundred in a process. In the middle the coordinator is killed (SIGKILL) and started again.
 * Prints how long it took until all were ready, a round's time, the coordinator's peak of memory, and how long after the
 * restart all were back and a round closed. With a flood nobody is killed: half of the rounds are without it, and half with
 * it. Fails by a wrong sum, by a round without all agents, and in none of
 * SECONDS_MAX. */

#include "tests/bench/federation/flood.h"
#include "tests/bench/federation/light_agents.h"
#include "tests/bench/federation/made_up.h"
#include "tests/bench/federation/programs.h"
#include "tests/support/bench_clock.h"

#include "crypto/random.h"
#include "io/driver.h"
#include "job/round.h"
#include "protocol/message.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    AGENTS_A_PROCESS = 500,
    COLUMNS = 31,
    SECONDS_MAX = 600,
    TIMED_MAX = 100,
    BATCH = 1000,
    GRID_BITS = 20
};

static const char HOSTILE[] = "hostile";

enum told { TOLD_ALL_PRESENT = 'p', TOLD_CLOSED = 'c', TOLD_WRONG = 'w', TOLD_FAILED = 'f' };

struct bench {
    struct made_up made_up;
    struct key_pair key;
    struct key_pair *agent_key;
    char address[PROGRAMS_ADDRESS_BYTES];
    char roster_path[MADE_UP_PATH_BYTES + 8];
    struct flood flood;
    pid_t hostile;
    pid_t *process; /* of agents */
    size_t process_count;
    pid_t coordinator;
    int told; /* what the coordinator tells comes out here */
    int tell;
    size_t present; /* at the coordinator */
    size_t closed;  /* at the coordinator: rounds of all */
    double started_ns;
    double closed_ns[TIMED_MAX];
    double busy_ns[TIMED_MAX]; /* the coordinator's */
};

static void tell(const struct bench *bench, enum told what)
{
    const char byte = (char)what;
    if (write(bench->tell, &byte, 1) != 1) {
        _exit(1);
    }
}

/* After all rounds the average is half of the first and the last vector, as vectors are linear in the
 * agent's number. */
static bool state_is_right(const struct bench *bench, const struct outcome *outcome)
{
    const struct made_up *made_up = &bench->made_up;
    const double scale = -1.0 / (1 << GRID_BITS) * made_up->rounds / BATCH;
    bool right = outcome->expert_count == 1;
    for (size_t i = 0; i < made_up->feature_count && right; i++) {
        const double average = 0.5 * (double)(light_agents_value(0, i) +
                                              light_agents_value(made_up->agent_count - 1, i));
        right = fabs(outcome->weights[i] - scale * average) < 1e-9;
    }
    return right;
}

static double field_of(const struct log_entry *entry, const char *name)
{
    for (size_t i = 0; i < entry->field_count; i++) {
        if (strcmp(entry->field[i].name, name) == 0) {
            return entry->field[i].number;
        }
    }
    return -1;
}

static void note(void *self, const struct log_entry *entry)
{
    struct bench *bench = self;
    const struct made_up *made_up = &bench->made_up;
    const bool hostile = entry->peer != NULL && strcmp(entry->peer, HOSTILE) == 0;
    if (strcmp(entry->event, "agent-present") == 0 && !hostile &&
        ++bench->present == made_up->agent_count) {
        tell(bench, TOLD_ALL_PRESENT);
    } else if (strcmp(entry->event, "round-closed") == 0) {
        const struct outcome *outcome = coordinator_look_outcome(made_up->coordinator);
        const bool right =
            field_of(entry, "agents") == (double)made_up->agent_count &&
            (outcome->rounds_closed < made_up->rounds || state_is_right(bench, outcome));
        tell(bench, right ? TOLD_CLOSED : TOLD_WRONG);
    } else if (entry->level >= LOG_WARN || getenv("BENCH_VERBOSE") != NULL) {
        (void)fprintf(stderr, "%s %s: %s\n", entry->event, entry->peer == NULL ? "" : entry->peer,
                      entry->text);
    }
}

static _Noreturn void be_coordinator(struct bench *bench)
{
    struct endpoint_options endpoint = {.address = bench->address,
                                        .key = &bench->key,
                                        .log = &bench->made_up.log,
                                        .payload_bytes_max = CHUNK_BYTES_MAX};
    struct driver_factory factory = {
        .self = &bench->made_up, .make = made_up_make, .unmake = made_up_unmake};
    struct driver_options driver = {.log = &bench->made_up.log, .roster_path = bench->roster_path};
    struct random_source *source = random_source_new();
    struct why why = {""};
    int exit_code = 0;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    bench->made_up.random = random_source_interface(source);
    bench->made_up.log = (struct log){.write = note, .self = bench, .level = LOG_INFO};
    if (source == NULL || endpoint_listen(&driver.endpoint, &endpoint, &why) != STATUS_OK ||
        driver_run(&driver, &factory, &exit_code, &why) != STATUS_OK || exit_code != 0) {
        (void)fprintf(stderr, "the coordinator: %s\n", why.text);
        tell(bench, TOLD_FAILED);
    }
    _exit(0);
}

static bool start_coordinator(struct bench *bench)
{
    bench->started_ns = now_ns();
    bench->coordinator = fork();
    if (bench->coordinator == 0) {
        be_coordinator(bench);
    }
    return bench->coordinator > 0;
}

static bool start_agents(struct bench *bench)
{
    const struct made_up *made_up = &bench->made_up;
    for (size_t first = 0; first < made_up->agent_count; first += AGENTS_A_PROCESS) {
        const size_t left = made_up->agent_count - first;
        const struct light_agents agents = {
            .key = bench->agent_key + first,
            .first = first,
            .count = left < AGENTS_A_PROCESS ? left : AGENTS_A_PROCESS,
            .number_count = made_up->feature_count,
            .word_bytes = round_form(&made_up->job, &made_up->stage, 0, 0, 1).word_bytes,
            .address = bench->address,
            .public_key = bench->key.public_key};
        const pid_t process = fork();
        if (process == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            light_agents_run(&agents);
        }
        if (process < 0) {
            return false;
        }
        bench->process[bench->process_count++] = process;
    }
    return true;
}

static bool write_roster(struct bench *bench)
{
    char hex[KEY_HEX_BYTES];
    (void)snprintf(bench->roster_path, sizeof bench->roster_path, "%s/agents",
                   bench->made_up.folder);
    FILE *file = fopen(bench->roster_path, "w");
    if (file == NULL || fchmod(fileno(file), 0600) != 0) {
        return false;
    }
    for (size_t i = 0; i < bench->made_up.agent_count; i++) {
        if (key_pair_generate(&bench->agent_key[i]) != STATUS_OK) {
            return false;
        }
        hex_encode(hex, bench->agent_key[i].public_key.byte, KEY_BYTES);
        (void)fprintf(file, "agent-%zu %s\n", i, hex);
    }
    if (bench->flood.kind != FLOOD_NONE) {
        if (key_pair_generate(&bench->flood.key) != STATUS_OK) {
            return false;
        }
        hex_encode(hex, bench->flood.key.public_key.byte, KEY_BYTES);
        (void)fprintf(file, "%s %s\n", HOSTILE, hex);
    }
    return fclose(file) == 0;
}

static bool prepare(struct bench *bench)
{
    struct made_up *made_up = &bench->made_up;
    int ends[2];
    (void)snprintf(made_up->folder, sizeof made_up->folder, "%s/hedgerow-bench-XXXXXX",
                   made_up->parent);
    bench->agent_key = calloc(made_up->agent_count, sizeof *bench->agent_key);
    bench->process = calloc(made_up->agent_count / AGENTS_A_PROCESS + 1, sizeof *bench->process);
    if (bench->agent_key == NULL || bench->process == NULL || !made_up_make_job(made_up) ||
        mkdtemp(made_up->folder) == NULL || pipe(ends) != 0) {
        return false;
    }
    made_up->job.join_deadline_ms = made_up->job.deadline_ms = SECONDS_MAX * 1000;
    bench->told = ends[0];
    bench->tell = ends[1];
    return key_pair_generate(&bench->key) == STATUS_OK && write_roster(bench) &&
           programs_choose_port(bench->address);
}

/* Waits until the coordinator tells one thing; closed rounds are counted on the way. Returns whether it did. */
static bool await(struct bench *bench, enum told wanted)
{
    for (;;) {
        char what = 0;
        struct pollfd told = {.fd = bench->told, .events = POLLIN};
        if (poll(&told, 1, SECONDS_MAX * 1000) != 1 || read(bench->told, &what, 1) != 1) {
            (void)fputs("nothing came in time\n", stderr);
            return false;
        }
        if (what == TOLD_CLOSED) {
            bench->busy_ns[bench->closed] = programs_busy_ns(bench->coordinator);
            bench->closed_ns[bench->closed++] = now_ns();
        }
        if (what == TOLD_WRONG || what == TOLD_FAILED || what == (char)wanted) {
            return what == (char)wanted;
        }
    }
}

static bool await_closed(struct bench *bench, size_t rounds)
{
    bool good = true;
    while (good && bench->closed < rounds) {
        good = await(bench, TOLD_CLOSED);
    }
    return good;
}

/* Nobody opens the journal of a killed program again, so its folder is removed. */
static void clean_up(struct bench *bench)
{
    char path[MADE_UP_PATH_BYTES + 8];
    programs_end(&bench->coordinator);
    programs_end(&bench->hostile);
    for (size_t i = 0; i < bench->process_count; i++) {
        programs_end(&bench->process[i]);
    }
    (void)snprintf(path, sizeof path, "%s/state", bench->made_up.folder);
    made_up_remove_folder(path);
    made_up_remove_folder(bench->made_up.folder);
}

static void tell_rounds(const struct bench *bench, size_t first, size_t end_round, const char *when)
{
    double took[TIMED_MAX];
    const size_t count = end_round - first - 1;
    for (size_t i = 0; i < count; i++) {
        took[i] = 1e-9 * (bench->closed_ns[first + i + 1] - bench->closed_ns[first + i]);
    }
    qsort(took, count, sizeof took[0], compare_doubles);
    (void)printf("rounds %s: %zu, least %.2f s, median %.2f s; %.2f s of the processor each "
                 "at the coordinator\n",
                 when, count, took[0], took[count / 2],
                 1e-9 * (bench->busy_ns[end_round - 1] - bench->busy_ns[first]) / (double)count);
}

/* It has to be blocked before it may come. */
static bool start_hostile(struct bench *bench)
{
    sigset_t wanted;
    (void)sigemptyset(&wanted);
    (void)sigaddset(&wanted, SIGUSR1);
    (void)sigprocmask(SIG_BLOCK, &wanted, NULL);
    bench->flood.address = bench->address;
    bench->flood.public_key = bench->key.public_key;
    bench->hostile = fork();
    if (bench->hostile == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        flood_run(&bench->flood);
    }
    return bench->hostile > 0;
}

static bool run_flood(struct bench *bench, size_t half)
{
    (void)kill(bench->hostile, SIGUSR1);
    const double busy_before = programs_busy_ns(bench->hostile);
    if (!await_closed(bench, bench->made_up.rounds - 1)) {
        return false;
    }
    tell_rounds(bench, half, bench->closed, "beside the flood");
    (void)printf("the hostile agent's processor: %.2f s; coordinator's peak: %.0f MiB\n",
                 1e-9 * (programs_busy_ns(bench->hostile) - busy_before),
                 programs_peak_mib(bench->coordinator));
    return true;
}

static bool run(struct bench *bench)
{
    const size_t half = bench->made_up.rounds / 2;
    bool good = bench->flood.kind == FLOOD_NONE || start_hostile(bench);
    good =
        good && start_agents(bench) && start_coordinator(bench) && await(bench, TOLD_ALL_PRESENT);
    if (!good) {
        return false;
    }
    (void)printf("all present after %.2f s (%.2f s of the coordinator's processor)\n",
                 1e-9 * (now_ns() - bench->started_ns),
                 1e-9 * programs_busy_ns(bench->coordinator));
    (void)fflush(stdout);
    if (!await_closed(bench, half)) {
        return false;
    }
    (void)printf("first round closed after %.2f s\n",
                 1e-9 * (bench->closed_ns[0] - bench->started_ns));
    tell_rounds(bench, 0, half,
                bench->flood.kind == FLOOD_NONE ? "before the kill" : "before the flood");
    if (bench->flood.kind != FLOOD_NONE) {
        return run_flood(bench, half);
    }
    const double peak_before = programs_peak_mib(bench->coordinator);
    programs_end(&bench->coordinator);
    bench->closed = half; /* one more may be in the journal: then it is not told again */
    if (!start_coordinator(bench) || !await(bench, TOLD_ALL_PRESENT)) {
        return false;
    }
    (void)printf("after kill -9 and restart: all back after %.2f s",
                 1e-9 * (now_ns() - bench->started_ns));
    good = await_closed(bench, bench->made_up.rounds - 1);
    (void)printf(", a round of all closed after %.2f s\n",
                 1e-9 * (bench->closed_ns[half] - bench->started_ns));
    if (good) {
        tell_rounds(bench, half, bench->closed, "after the kill");
        (void)printf("coordinator's peak: %.0f MiB before the kill, %.0f MiB after it\n",
                     peak_before, programs_peak_mib(bench->coordinator));
    }
    return good;
}

int main(int argc, char **argv)
{
    struct bench *bench = calloc(1, sizeof *bench);
    if (bench == NULL) {
        return 1;
    }
    bench->made_up = (struct made_up){.agent_count = argc > 1 ? strtoul(argv[1], NULL, 10) : 600,
                                      .columns = COLUMNS,
                                      .rounds = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 8,
                                      .parent = argc > 3 ? argv[3] : "/tmp",
                                      .self = bench};
    struct made_up *made_up = &bench->made_up;
    while (argc > 4 && bench->flood.kind < FLOOD_KINDS &&
           strcmp(argv[4], flood_names[bench->flood.kind]) != 0) {
        bench->flood.kind++;
    }
    if (bench->flood.kind == FLOOD_KINDS || made_up->agent_count < 1 ||
        made_up->agent_count > PEERS_MAX || made_up->rounds < 8 || made_up->rounds > TIMED_MAX) {
        (void)fputs("usage: bench_many [AGENTS [ROUNDS [FOLDER [FLOOD]]]], 8 rounds at least\n",
                    stderr);
        return 2;
    }
    bool good = false;
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (prepare(bench)) {
        (void)printf("%zu agents, %zu numbers of %u bytes an answer\n", made_up->agent_count,
                     made_up->feature_count,
                     round_form(&made_up->job, &made_up->stage, 0, 0, 1).word_bytes);
        good = run(bench);
    }
    clean_up(bench);
    free(made_up->job.schema.column);
    free(bench->agent_key);
    free(bench->process);
    free(bench);
    return good ? 0 : 1;
}
