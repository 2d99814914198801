/* bench_collect - a job whose agents are at several coordinators.
 *
 *     tests/support/postgres bench_collect [AGENTS [COLLECTORS [ROUNDS]]]      # 600 agents, 2 collectors, 8 rounds
 *
 * As bench_many: rounds of `update` with 993 numbers, which need every agent; light agents (light_agents.h), some hundred in
 * a process. But the coordinator that leads has no agents: each collector has a share of them, and hands in one sum a round
 * by PostgreSQL. In the middle one collector is killed (SIGKILL) and started again. Prints a round's time, the processor's
 * time of each program and of all agents together, the programs' peaks of memory, and how long after the restart a round of
 * all closed. With 0 collectors the coordinator that leads has all agents: the same database, to compare with. Fails by a
 * round without all agents, and in none of SECONDS_MAX. */

#include "tests/bench/federation/light_agents.h"
#include "tests/bench/federation/made_up.h"
#include "tests/bench/federation/programs.h"
#include "tests/support/bench_clock.h"

#include "coordinator/main_collect.h"
#include "crypto/random.h"
#include "database/journal_place.h"
#include "io/driver.h"
#include "job/round.h"
#include "protocol/message.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    AGENTS_A_PROCESS = 500,
    COLUMNS = 31,
    SECONDS_MAX = 600,
    COLLECTORS_MOST = 8,
    MEMBERS_MOST = COLLECTORS_MOST + 1,
    PROCESSES_MOST = 64,
    ROUNDS_MOST = 100
};

/* One of the coordinators: 0 leads. */
struct member {
    struct key_pair key;
    char address[PROGRAMS_ADDRESS_BYTES];
    char roster_path[MADE_UP_PATH_BYTES + 16];
    size_t first; /* its agents */
    size_t count;
    pid_t process;
    double busy_ns; /* when the rounds that are timed began */
};

static struct {
    struct made_up made_up;
    struct office office;
    struct collect collect;
    struct key_pair *agent_key;
    struct member member[MEMBERS_MOST];
    size_t member_count;
    pid_t agents[PROCESSES_MOST];
    size_t agents_count;
    double agents_busy_ns; /* when the rounds that are timed began */
    int told;
    int tell;
    double closed_ns[ROUNDS_MOST];
    size_t closed;
} bench;

static void note(void *self, const struct log_entry *entry)
{
    const struct member *member = self;
    if (member == &bench.member[0] && strcmp(entry->event, "round-closed") == 0) {
        double agents = 0;
        for (size_t i = 0; i < entry->field_count; i++) {
            agents = strcmp(entry->field[i].name, "agents") == 0 ? entry->field[i].number : agents;
        }
        const char what = agents == (double)bench.made_up.agent_count ? 'c' : 'w';
        if (write(bench.tell, &what, 1) != 1) {
            _exit(1);
        }
    } else if (entry->level >= LOG_WARN || getenv("BENCH_VERBOSE") != NULL) {
        (void)fprintf(stderr, "%zu %s %s: %s\n", (size_t)(member - bench.member), entry->event,
                      entry->peer == NULL ? "" : entry->peer, entry->text);
    }
}

static enum status make(UNUSED void *self, struct machine *machine, struct journal *journal,
                        struct why *why)
{
    static const char text[] = "the text of this job is of no importance here";
    const struct journal_options options = {.place = bench.office.settings.state,
                                            .kind = "coordinator"};
    struct coordinator_options coordinator = {.job = &bench.made_up.job,
                                              .text = {text, sizeof text - 1},
                                              .random = &bench.made_up.random,
                                              .log = &bench.made_up.log,
                                              .answer_bytes_max = 1 << 24,
                                              .whole_bytes_max = WHOLE_BYTES_MAX,
                                              .settle_ms = SECONDS_MAX * 1000};
    enum status status = collect_is_collector(&bench.office)
                             ? collect_open_journal(&bench.collect, journal, why)
                             : journal_open(journal, &options, why);
    if (status == STATUS_OK) {
        collect_tell_options(&bench.collect, &coordinator);
        status = coordinator_new(&bench.made_up.coordinator, &coordinator);
    }
    if (status == STATUS_OK) {
        *machine = coordinator_machine(bench.made_up.coordinator);
        status = collect_open(&bench.collect, journal, why);
    }
    if (status == STATUS_OK) {
        collect_join(&bench.collect, bench.made_up.coordinator);
    }
    return status;
}

static void unmake(UNUSED void *self, struct machine *machine, struct journal *journal)
{
    collect_leave(&bench.collect);
    coordinator_free(bench.made_up.coordinator);
    memset(machine, 0, sizeof *machine);
    journal_close(journal);
}

static void pause_ms(UNUSED void *self, int64_t wait_ms)
{
    (void)poll(NULL, 0, (int)wait_ms);
}

static void set_settings(size_t number)
{
    struct coordinator_settings *settings = &bench.office.settings;
    (void)snprintf(settings->state, sizeof settings->state, "%s", getenv("DATABASE_URL"));
    if (number > 0) {
        (void)snprintf(settings->collector, sizeof settings->collector, "c%zu", number);
        return;
    }
    for (size_t i = 1; i < bench.member_count; i++) {
        const size_t used = strlen(settings->collectors);
        (void)snprintf(settings->collectors + used, sizeof settings->collectors - used, " c%zu", i);
    }
}

static _Noreturn void be(size_t number)
{
    struct member *member = &bench.member[number];
    struct endpoint_options endpoint = {.address = member->address,
                                        .key = &member->key,
                                        .log = &bench.made_up.log,
                                        .payload_bytes_max = CHUNK_BYTES_MAX};
    struct driver_factory factory = {.make = make, .unmake = unmake};
    struct driver_options driver = {.log = &bench.made_up.log, .roster_path = member->roster_path};
    struct random_source *source = random_source_new();
    struct why why = {""};
    int exit_code = 0;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    bench.made_up.random = random_source_interface(source);
    bench.made_up.log = (struct log){.write = note, .self = member, .level = LOG_INFO};
    set_settings(number);
    collect_begin(&bench.collect, &bench.office, &bench.made_up.log);
    const struct driver_source *followed = &bench.collect.source;
    driver.source = &followed;
    driver.source_count = collect_is_shared(&bench.office) ? 1 : 0;
    enum status status = endpoint_listen(&driver.endpoint, &endpoint, &why);
    if (status == STATUS_OK && number > 0) {
        status = collect_await(&bench.collect, pause_ms, NULL, &why);
    }
    if (status == STATUS_OK) {
        status = driver_run(&driver, &factory, &exit_code, &why);
    }
    if (status != STATUS_OK || exit_code != 0) {
        (void)fprintf(stderr, "coordinator %zu: %s\n", number, why.text);
    }
    _exit(0);
}

static bool start(size_t number)
{
    const pid_t process = fork();
    if (process == 0) {
        be(number);
    }
    bench.member[number].process = process;
    return process > 0;
}

static bool start_agents(const struct member *member)
{
    for (size_t at = 0; at < member->count; at += AGENTS_A_PROCESS) {
        const size_t left = member->count - at;
        const struct light_agents agents = {
            .key = bench.agent_key + member->first + at,
            .first = member->first + at,
            .count = left < AGENTS_A_PROCESS ? left : AGENTS_A_PROCESS,
            .number_count = bench.made_up.feature_count,
            .word_bytes = round_form(&bench.made_up.job, &bench.made_up.stage, 0, 0, 1).word_bytes,
            .address = member->address,
            .public_key = member->key.public_key};
        const pid_t process = fork();
        if (process == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            light_agents_run(&agents);
        }
        if (process < 0 || bench.agents_count == PROCESSES_MOST) {
            return false;
        }
        bench.agents[bench.agents_count++] = process;
    }
    return true;
}

static bool prepare(void)
{
    struct made_up *made_up = &bench.made_up;
    const size_t shares = bench.member_count > 1 ? bench.member_count - 1 : 1;
    int ends[2];
    (void)snprintf(made_up->folder, sizeof made_up->folder, "/tmp/hedgerow-bench-XXXXXX");
    bench.agent_key = calloc(made_up->agent_count, sizeof *bench.agent_key);
    if (bench.agent_key == NULL || !made_up_make_job(made_up) || mkdtemp(made_up->folder) == NULL ||
        pipe(ends) != 0) {
        return false;
    }
    made_up->job.join_deadline_ms = made_up->job.deadline_ms = SECONDS_MAX * 1000;
    bench.told = ends[0];
    bench.tell = ends[1];
    bool good = true;
    for (size_t i = 0; i < bench.member_count && good; i++) {
        struct member *member = &bench.member[i];
        const size_t share = i > 0 ? i - 1 : bench.member_count > 1 ? shares : 0;
        member->first = share < shares ? share * made_up->agent_count / shares : 0;
        member->count =
            share < shares ? (share + 1) * made_up->agent_count / shares - member->first : 0;
        (void)snprintf(member->roster_path, sizeof member->roster_path, "%s/agents-%zu",
                       made_up->folder, i);
        good = key_pair_generate(&member->key) == STATUS_OK &&
               programs_choose_port(member->address) &&
               programs_write_roster(member->roster_path, bench.agent_key + member->first,
                                     member->first, member->count);
    }
    return good;
}

static bool await_closed(size_t rounds)
{
    while (bench.closed < rounds) {
        char what = 0;
        struct pollfd told = {.fd = bench.told, .events = POLLIN};
        if (poll(&told, 1, SECONDS_MAX * 1000) != 1 || read(bench.told, &what, 1) != 1 ||
            what != 'c') {
            (void)fputs(what == 'w' ? "a round closed without all agents\n"
                                    : "nothing came in time\n",
                        stderr);
            return false;
        }
        bench.closed_ns[bench.closed++] = now_ns();
    }
    return true;
}

static double agents_busy_ns(void)
{
    double sum = 0;
    for (size_t i = 0; i < bench.agents_count; i++) {
        sum += programs_busy_ns(bench.agents[i]);
    }
    return sum;
}

static void tell_rounds(size_t first, size_t end)
{
    double took[ROUNDS_MOST];
    const size_t count = end - first - 1;
    for (size_t i = 0; i < count; i++) {
        took[i] = 1e-9 * (bench.closed_ns[first + i + 1] - bench.closed_ns[first + i]);
    }
    qsort(took, count, sizeof took[0], compare_doubles);
    (void)printf("rounds: %zu, least %.2f s, median %.2f s\n", count, took[0], took[count / 2]);
    for (size_t i = 0; i < bench.member_count; i++) {
        const struct member *member = &bench.member[i];
        (void)printf("  %s with %zu agents: %.3f s of the processor a round, peak %.0f MiB\n",
                     i == 0 ? "leads," : "collects,", member->count,
                     1e-9 * (programs_busy_ns(member->process) - member->busy_ns) / (double)count,
                     programs_peak_mib(member->process));
    }
    (void)printf("  all agents: %.3f s of the processor a round\n",
                 1e-9 * (agents_busy_ns() - bench.agents_busy_ns) / (double)count);
}

static bool run(void)
{
    const size_t half = bench.made_up.rounds / 2;
    const double since_ns = now_ns();
    bool good = true;
    for (size_t i = 0; i < bench.member_count && good; i++) {
        good = start(i) && start_agents(&bench.member[i]);
    }
    if (!good || !await_closed(1)) {
        return false;
    }
    (void)printf("first round closed after %.2f s\n", 1e-9 * (bench.closed_ns[0] - since_ns));
    for (size_t i = 0; i < bench.member_count; i++) {
        bench.member[i].busy_ns = programs_busy_ns(bench.member[i].process);
    }
    bench.agents_busy_ns = agents_busy_ns();
    if (!await_closed(half)) {
        return false;
    }
    tell_rounds(0, half);
    if (bench.member_count > 1) {
        programs_end(&bench.member[1].process);
        const double killed_ns = now_ns();
        const size_t closed = bench.closed;
        if (!start(1) || !await_closed(closed + 2)) { /* one answer may have been on its way */
            return false;
        }
        (void)printf("after kill -9 of a collector: rounds of all closed after %.2f and %.2f s\n",
                     1e-9 * (bench.closed_ns[closed] - killed_ns),
                     1e-9 * (bench.closed_ns[closed + 1] - killed_ns));
    }
    return await_closed(bench.made_up.rounds);
}

int main(int argc, char **argv)
{
    const unsigned long agents = argc > 1 ? strtoul(argv[1], NULL, 10) : 600;
    const unsigned long collectors = argc > 2 ? strtoul(argv[2], NULL, 10) : 2;
    const unsigned long rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : 8;
    bool good = false;
    if (agents < 1 || agents > PEERS_MAX || collectors > COLLECTORS_MOST || rounds < 8 ||
        rounds > ROUNDS_MOST) {
        (void)fputs("usage: bench_collect [AGENTS [COLLECTORS [ROUNDS]]], 8 rounds at least\n",
                    stderr);
        return 2;
    }
    if (getenv("DATABASE_URL") == NULL) {
        (void)puts("no DATABASE_URL: run this under tests/support/postgres");
        return 77;
    }
    bench.made_up = (struct made_up){
        .agent_count = agents, .columns = COLUMNS, .rounds = (uint32_t)rounds, .parent = "/tmp"};
    bench.member_count = collectors + 1;
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (prepare()) {
        (void)printf("%lu agents, %lu collectors, %zu numbers of %u bytes an answer\n", agents,
                     collectors, bench.made_up.feature_count,
                     round_form(&bench.made_up.job, &bench.made_up.stage, 0, 0, 1).word_bytes);
        good = run();
    }
    for (size_t i = 0; i < bench.agents_count; i++) {
        programs_end(&bench.agents[i]);
    }
    for (size_t i = 0; i < bench.member_count; i++) {
        programs_end(&bench.member[i].process);
    }
    made_up_remove_folder(bench.made_up.folder);
    free(bench.made_up.job.schema.column);
    free(bench.agent_key);
    return good ? 0 : 1;
}
