/* bench_memory - how much memory the coordinator needs for a large model and many agents.
 *
 *     bench_memory [AGENTS [CATEGORY-COLUMNS]]      # 32 agents, 31250 columns of 32: d = 1,000,001
 *
 * One process is the whole coordinator as it is: machine, driver, endpoint with CURVE, SQLite journal.
 * Each agent is a process of its own that speaks the protocol through the real endpoint and answers
 * with made-up vectors; the job is one fit round. Every answer is pulled, the average committed,
 * released and fetched by every agent. Prints the coordinator's peak above what it had before the
 * first agent came, in accumulators (one vector of d 64-bit words), and fails when it is 4 or more,
 * or when anybody got a wrong model. */

#include "tests/bench/federation/fake_agent.h"

#include "coordinator/round.h"
#include "crypto/random.h"
#include "io/clock.h"
#include "io/driver.h"
#include "io/journal.h"
#include "io/roster.h"
#include "protocol/message.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AGENTS_MAX = PEERS_MAX, PATH_BYTES = 128, GRID_BITS = 20, SECONDS_MAX = 120 };

#define ACCUMULATORS_MAX 4.0

static const char JOB_TEXT[] = "the text of this job is of no importance here";

struct bench {
    size_t agent_count;
    size_t feature_count;
    struct job job;
    struct stage stage;
    double lambda;
    struct random random;
    struct log log;
    struct coordinator *coordinator;
    char folder[PATH_BYTES];
    long idle_kib;
    int64_t opened_ms;
    int64_t closed_ms;
    bool failed;
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

static void listen_to_log(void *self, const struct log_entry *entry)
{
    struct bench *bench = self;
    if (strcmp(entry->event, "round-opened") == 0) {
        bench->opened_ms = clock_now_ms();
    } else if (strcmp(entry->event, "round-closed") == 0) {
        bench->closed_ms = clock_now_ms();
    }
    if (entry->level >= LOG_WARN || getenv("BENCH_VERBOSE") != NULL) {
        (void)fprintf(stderr, "%lld %s %s: %s\n", (long long)clock_now_ms(), entry->event,
                      entry->peer == NULL ? "" : entry->peer, entry->text);
    }
}

/* A schema that nobody reads, of the wanted number of features. */
static bool make_job(struct bench *bench, size_t columns)
{
    bench->lambda = 1;
    bench->stage = (struct stage){.task = TASK_FIT,
                                  .strategy = STRATEGY_AVERAGE,
                                  .epsilon_micro = EPSILON_MICRO_ONE,
                                  .grid_bits = GRID_BITS,
                                  .rounds = 1,
                                  .batches = 1,
                                  .charge = {.epsilon_micro = EPSILON_MICRO_ONE},
                                  .lambda = &bench->lambda};
    bench->job = (struct job){.name = "bench",
                              .epsilon_micro = EPSILON_MICRO_ONE,
                              .filter = filter_new((struct price){EPSILON_MICRO_ONE, 0}),
                              .cohort_min = (uint32_t)bench->agent_count,
                              .deadline_ms = SECONDS_MAX * 1000,
                              .join_deadline_ms = SECONDS_MAX * 1000,
                              .stage = &bench->stage,
                              .stage_count = 1};
    bench->job.schema.column = calloc(columns, sizeof *bench->job.schema.column);
    bench->job.schema.column_count = columns;
    for (size_t i = 0; i < columns && bench->job.schema.column != NULL; i++) {
        bench->job.schema.column[i].kind = COLUMN_CATEGORY;
        bench->job.schema.column[i].category_count = SCHEMA_CATEGORIES_MAX;
    }
    bench->stage.schema = block_schema(&bench->job.schema, 0);
    bench->stage.block = block_at(&bench->job.schema, 0);
    bench->feature_count = schema_feature_count(&bench->job.schema);
    return bench->job.schema.column != NULL;
}

static enum status make(void *self, struct machine *machine, struct journal *journal,
                        struct why *why)
{
    struct bench *bench = self;
    char folder[PATH_BYTES + 8];
    (void)snprintf(folder, sizeof folder, "%s/state", bench->folder);
    struct journal_sqlite_options options = {.folder = folder, .kind = "coordinator"};
    struct coordinator_options machine_options = {.job = &bench->job,
                                                  .text = {JOB_TEXT, sizeof JOB_TEXT - 1},
                                                  .random = &bench->random,
                                                  .log = &bench->log,
                                                  .answer_bytes_max = UINT64_MAX,
                                                  .linger_ms = SECONDS_MAX * 1000};

    enum status status = journal_sqlite_open(journal, &options, why);
    if (status == STATUS_OK) {
        status = coordinator_new(&bench->coordinator, &machine_options);
    }
    if (status == STATUS_OK) {
        *machine = coordinator_machine(bench->coordinator);
        bench->idle_kib = status_kib("VmRSS:");
        forget_peak();
    }
    return status;
}

static void unmake(void *self, struct machine *machine, struct journal *journal)
{
    struct bench *bench = self;
    coordinator_free(bench->coordinator);
    bench->coordinator = NULL;
    memset(machine, 0, sizeof *machine);
    journal_close(journal);
}

/* The agents are forked before this process has a thread; each waits until it is told where to. */
static bool start_agents(struct bench *bench, struct fake_agent *agent, const char *roster_path,
                         struct why *why)
{
    for (size_t i = 0; i < bench->agent_count; i++) {
        char name[AGENT_NAME_MAX + 1];
        (void)snprintf(name, sizeof name, "agent-%zu", i);
        if (pipe(agent[i].address_pipe) != 0 || pipe(agent[i].verdict_pipe) != 0 ||
            key_pair_generate(&agent[i].key) != STATUS_OK ||
            roster_add(roster_path, name, &agent[i].key.public_key, why) != STATUS_OK) {
            return false;
        }
        agent[i].number = i;
        agent[i].agent_count = bench->agent_count;
        agent[i].feature_count = bench->feature_count;
        agent[i].grid_bits = GRID_BITS;
        agent[i].process = fork();
        if (agent[i].process == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            fake_agent_run(&agent[i]); /* does not return */
        }
        if (agent[i].process < 0) {
            return false;
        }
        (void)close(agent[i].address_pipe[0]);
        (void)close(agent[i].verdict_pipe[1]);
    }
    return true;
}

static bool tell_agents(const struct bench *bench, const struct fake_agent *agent,
                        const char *address, const struct digest *coordinator_key)
{
    struct fake_agent_address told = {.coordinator_key = *coordinator_key};
    (void)snprintf(told.address, sizeof told.address, "%s", address);
    for (size_t i = 0; i < bench->agent_count; i++) {
        if (write(agent[i].address_pipe[1], &told, sizeof told) != (ssize_t)sizeof told) {
            return false;
        }
    }
    return true;
}

static size_t collect_agents(const struct bench *bench, struct fake_agent *agent)
{
    size_t right = 0;
    for (size_t i = 0; i < bench->agent_count; i++) {
        char verdict = 0;
        if (agent[i].process > 0) {
            (void)kill(agent[i].process, SIGTERM);
            (void)waitpid(agent[i].process, NULL, 0);
            right += read(agent[i].verdict_pipe[0], &verdict, 1) == 1 && verdict == 'y';
        }
    }
    return right;
}

static enum status drive(struct bench *bench, struct fake_agent *agent, struct why *why)
{
    struct key_pair key;
    char roster_path[PATH_BYTES + 8];
    int exit_code = 0;
    struct endpoint_options endpoint = {.address = "tcp://127.0.0.1:0",
                                        .key = &key,
                                        .log = &bench->log,
                                        .payload_bytes_max = CHUNK_BYTES_MAX};
    struct driver_factory factory = {.self = bench, .make = make, .unmake = unmake};
    struct driver_options driver = {.log = &bench->log, .roster_path = roster_path};

    (void)snprintf(roster_path, sizeof roster_path, "%s/agents", bench->folder);
    enum status status = key_pair_generate(&key);
    if (status == STATUS_OK && !start_agents(bench, agent, roster_path, why)) {
        status = STATUS_IO;
    }
    if (status == STATUS_OK) {
        status = endpoint_listen(&driver.endpoint, &endpoint, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (!tell_agents(bench, agent, endpoint_address(driver.endpoint), &key.public_key)) {
        status = STATUS_IO;
    }
    if (status == STATUS_OK) {
        status = driver_run(&driver, &factory, &exit_code, why);
    }
    endpoint_free(driver.endpoint);
    return status == STATUS_OK && exit_code != 0 ? STATUS_INVALID : status;
}

static bool tell(const struct bench *bench, size_t right, int64_t end_ms)
{
    double accumulator = 8.0 * (double)bench->feature_count;
    double above = 1024.0 * (double)(status_kib("VmHWM:") - bench->idle_kib) / accumulator;
    double answers_s = (double)(bench->closed_ms - bench->opened_ms) / 1000;
    double release_s = (double)(end_ms - bench->closed_ms) / 1000;

    (void)printf("d = %zu, %zu agents: peak %.2f accumulators of %.1f MB above idle (%.1f MB); "
                 "limit %.0f\n",
                 bench->feature_count, bench->agent_count, above, accumulator / 1e6,
                 (double)bench->idle_kib * 1024 / 1e6, ACCUMULATORS_MAX);
    (void)printf("%.2f s to pull and commit, %.2f s to release to all: %.2f rounds/s; %zu agents "
                 "got the right model\n",
                 answers_s, release_s, 1 / (answers_s + release_s), right);
    return above < ACCUMULATORS_MAX && right == bench->agent_count;
}

static void remove_folder(const struct bench *bench)
{
    static const char *const file[] = {"state/journal.db",     "state/journal.db-wal",
                                       "state/journal.db-shm", "state/lock",
                                       "state/mark",           "agents",
                                       "agents.lock"};
    char path[PATH_BYTES + 32];
    for (size_t i = 0; i < sizeof file / sizeof file[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", bench->folder, file[i]);
        (void)unlink(path);
    }
    (void)snprintf(path, sizeof path, "%s/state", bench->folder);
    (void)rmdir(path);
    if (rmdir(bench->folder) != 0) {
        (void)fprintf(stderr, "%s: not empty, stays\n", bench->folder);
    }
}

int main(int argc, char **argv)
{
    struct bench *bench = calloc(1, sizeof *bench);
    struct fake_agent *agent = calloc(AGENTS_MAX, sizeof *agent);
    struct random_source *source = NULL;
    struct why why = {""};
    bool good = false;
    size_t columns = argc > 2 ? strtoul(argv[2], NULL, 10) : 31250;

    if (bench == NULL || agent == NULL) {
        return 1;
    }
    bench->agent_count = argc > 1 ? strtoul(argv[1], NULL, 10) : 32;
    if (bench->agent_count < 1 || bench->agent_count > AGENTS_MAX || columns < 1) {
        (void)fputs("usage: bench_memory [AGENTS [CATEGORY-COLUMNS]]\n", stderr);
        return 2;
    }
    (void)snprintf(bench->folder, sizeof bench->folder, "%s/hedgerow-bench-XXXXXX",
                   getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
    if (!make_job(bench, columns) || mkdtemp(bench->folder) == NULL) {
        return 1;
    }
    source = random_source_new();
    bench->random = random_source_interface(source);
    bench->log = (struct log){.write = listen_to_log, .self = bench, .level = LOG_DEBUG};
    enum status status = drive(bench, agent, &why);
    int64_t end_ms = clock_now_ms();
    size_t right = collect_agents(bench, agent);
    if (status == STATUS_OK) {
        good = tell(bench, right, end_ms);
    } else {
        (void)fprintf(stderr, "bench_memory: %s\n",
                      why.text[0] != '\0' ? why.text : status_text(status));
    }
    remove_folder(bench);
    random_source_free(source);
    free(bench->job.schema.column);
    free(agent);
    free(bench);
    return good ? 0 : 1;
}
