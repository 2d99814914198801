#include "cli/simulation.h"

#include "crypto/key.h"
#include "job/work.h"
#include "learn/speed.h"
#include "report/file.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_BYTES = 8192, SLOT_MS = 100, BUDGET_FACTOR = 2 };

/* A socket on some free port of this host; -1 where there is none. */
static int socket_on(struct sockaddr_in *address, uint32_t host)
{
    socklen_t length = sizeof *address;
    void *any = address; /* struct sockaddr, as the interface wants it */
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(host)}};
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    if (descriptor >= 0 &&
        (bind(descriptor, any, length) != 0 || getsockname(descriptor, any, &length) != 0)) {
        (void)close(descriptor);
        descriptor = -1;
    }
    return descriptor;
}

/* A port that is free now, and the coordinator takes it only later: so it is one of a loopback address of this
 * process alone, from which nobody dials out and where no other simulation looks for a port. A machine whose
 * loopback has no other addresses has 127.0.0.1. */
static enum status free_address(struct simulation *simulation)
{
    uint32_t host = UINT32_C(0x7f400000) + ((uint32_t)getpid() & 0x3fffff); /* 127.64.0.0/10 */
    struct sockaddr_in address;
    int descriptor = socket_on(&address, host);
    if (descriptor < 0) {
        host = INADDR_LOOPBACK;
        descriptor = socket_on(&address, host);
    }
    if (descriptor < 0) {
        why_set(&simulation->why, "no port of this machine's loopback is free");
        return STATUS_IO;
    }
    (void)close(descriptor);
    (void)snprintf(simulation->address, sizeof simulation->address, "tcp://%u.%u.%u.%u:%u",
                   host >> 24, host >> 16 & 255, host >> 8 & 255, host & 255,
                   (unsigned)ntohs(address.sin_port));
    return STATUS_OK;
}

static enum status put(struct simulation *simulation, const char *folder, const char *name,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));

static enum status put(struct simulation *simulation, const char *folder, const char *name,
                       const char *format, ...)
{
    char path[SIMULATION_PATH_BYTES];
    char text[TEXT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= TEXT_BYTES ||
        !simulation_path(simulation, path, "%s/%s", folder, name)) {
        return STATUS_NO_MEMORY;
    }
    return file_write(path, (struct slice){text, (size_t)length}, 0600, &simulation->why);
}

static enum status put_job(struct simulation *simulation, const char *folder)
{
    char path[SIMULATION_PATH_BYTES];
    if (!simulation_path(simulation, path, "%s/job.yml", folder)) {
        return STATUS_NO_MEMORY;
    }
    return file_write(path, (struct slice){simulation->job_text, simulation->job_size}, 0600,
                      &simulation->why);
}

static enum status make_key(struct simulation *simulation, const char *folder,
                            struct digest *public_key)
{
    char secret_path[SIMULATION_PATH_BYTES];
    char public_path[SIMULATION_PATH_BYTES];
    struct key_pair pair;

    if (!simulation_path(simulation, secret_path, "%s/key", folder) ||
        !simulation_path(simulation, public_path, "%s/key.pub", folder)) {
        return STATUS_NO_MEMORY;
    }
    enum status status = key_pair_generate(&pair);
    if (status == STATUS_OK) {
        status = key_pair_write(&pair, secret_path, public_path, &simulation->why);
    }
    *public_key = pair.public_key;
    key_pair_wipe(&pair);
    return status;
}

static enum status make_coordinator(struct simulation *simulation, struct digest *public_key)
{
    enum status status = make_key(simulation, "coordinator", public_key);
    if (status == STATUS_OK) {
        status = put_job(simulation, "coordinator");
    }
    if (status == STATUS_OK) {
        status = put(simulation, "coordinator", "coordinator.yml",
                     "# The coordinator of this simulation. Written by hedgerow simulate.\n"
                     "hedgerow: 1\n"
                     "listen: \"%s\"\n"
                     "key: key\nagents: agents\nstate: state\njob: job.yml\nout: out\n"
                     "linger_s: 5\n%slog: {level: info, format: json}\n",
                     simulation->address, simulation->seeded ? "simulated: true\n" : "");
    }
    return status;
}

/* "fit, losses": what the job's stages do, each once. */
static void list_tasks(char *text, size_t size, const struct job *job)
{
    bool listed[TASK_COUNT] = {false};
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < job->stage_count && used < size; i++) {
        if (!listed[job->stage[i].task]) {
            listed[job->stage[i].task] = true;
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     task_name(job->stage[i].task));
        }
    }
}

static int64_t thread_ns(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0
               ? (int64_t)now.tv_sec * 1000000000 + now.tv_nsec
               : 0;
}

/* The slot that the job needs on this machine, and as much again: each agent measures the speed for itself, while
 * the others start. */
static uint64_t slot_of(const struct simulation *simulation)
{
    const size_t dealt = simulation->streams_path != NULL
                             ? simulation->record_count
                             : simulation->record_count / simulation->agent_count + 1;
    const struct work_size size = {.records = dealt, .agents = simulation->agent_count};
    double flops = 0;
    size_t stage = 0;
    const double speed = speed_measure(thread_ns);
    if (!(speed > 0) || work_to_hide(&flops, &stage, &simulation->job, size, NULL) != STATUS_OK) {
        return SLOT_MS;
    }
    const uint64_t slot_ms = 2 * work_slot_ms(flops, speed);
    if (slot_ms > SLOT_MS && simulation->progress != NULL) {
        (void)fprintf(
            simulation->progress,
            "stage %zu, %s, may take so long that the agents answer at slots of %llu ms\n",
            stage + 1, task_name(simulation->job.stage[stage].task), (unsigned long long)slot_ms);
    }
    return slot_ms > SLOT_MS ? slot_ms : SLOT_MS;
}

/* Twice what the job costs in all, and for this job no more than it says, so that the report shows a budget with something left; the smallest
 * cohort the job asks for; everything else the job's own terms. */
static enum status make_agent(struct simulation *simulation, size_t number, uint64_t slot_ms,
                              const struct digest *coordinator_key, FILE *roster)
{
    char name[CHILD_NAME_BYTES];
    char folder[CHILD_NAME_BYTES + 8];
    char hex[2 * DIGEST_BYTES + 1];
    struct digest key;
    const struct job *job = &simulation->job;
    uint64_t budget = job->epsilon_micro * BUDGET_FACTOR;
    char tasks[256];

    list_tasks(tasks, sizeof tasks, job);

    simulation_agent_name(simulation, name, number);
    (void)snprintf(folder, sizeof folder, "agents/%s", name);
    enum status status = make_key(simulation, folder, &key);
    if (status == STATUS_OK) {
        hex_encode(hex, &key, sizeof key);
        (void)fprintf(roster, "%s %s\n", name, hex);
        status = put_job(simulation, folder);
    }
    if (status == STATUS_OK) {
        status =
            put(simulation, folder, "policy.yml",
                "# What this site allows, whatever a job asks for.\nhedgerow: 1\n"
                "epsilon: %llu.%06llu\ndelta: %.18f\n"
                "job_epsilon: %llu.%06llu\njob_delta: %.18f\ncohort_minimum: %u\n"
                "tasks: [%s]\ntrust: [%s]\nmessage_mb_max: 64\n"
                "answer_slot_ms: %llu\napproval: policy\njobs_per_day: 1000\nleast_epsilon: 0\n",
                (unsigned long long)(budget / 1000000), (unsigned long long)(budget % 1000000),
                (double)job->delta_atto * BUDGET_FACTOR * 1e-18,
                (unsigned long long)(job->epsilon_micro / 1000000),
                (unsigned long long)(job->epsilon_micro % 1000000), (double)job->delta_atto * 1e-18,
                job->cohort_min, tasks, job_trust_name(job->trust), (unsigned long long)slot_ms);
    }
    if (status == STATUS_OK) {
        status = simulation_dictionary(simulation, folder);
    }
    if (status == STATUS_OK) {
        hex_encode(hex, coordinator_key, sizeof *coordinator_key);
        status = put(simulation, folder, "agent.yml",
                     "# An agent of this simulation. Written by hedgerow simulate.\n"
                     "hedgerow: 1\n"
                     "coordinator: {address: \"%s\", public_key: \"%s\"}\n"
                     "key: key\nstate: state\ndata: data.csv\ndictionary: data.yml\n"
                     "policy: policy.yml\njob: job.yml\n"
                     "once: true\nheartbeat_s: 0.5\n%slog: {level: info, format: json}\n",
                     simulation->address, hex, simulation->seeded ? "simulated: true\n" : "");
    }
    return status;
}

enum status simulation_settings(struct simulation *simulation)
{
    struct digest coordinator_key;
    char path[SIMULATION_PATH_BYTES];
    char *text = NULL;
    size_t size = 0;
    FILE *roster = NULL;
    enum status status = free_address(simulation);

    if (status == STATUS_OK) {
        status = make_coordinator(simulation, &coordinator_key);
    }
    if (status != STATUS_OK) {
        return status;
    }
    roster = open_memstream(&text, &size);
    if (roster == NULL) {
        return STATUS_NO_MEMORY;
    }
    const uint64_t slot_ms = slot_of(simulation);
    for (size_t i = 0; i < simulation->agent_count && status == STATUS_OK; i++) {
        status = make_agent(simulation, i, slot_ms, &coordinator_key, roster);
    }
    if (fclose(roster) != 0 && status == STATUS_OK) {
        status = STATUS_NO_MEMORY;
    }
    if (status == STATUS_OK && !simulation_path(simulation, path, "coordinator/agents")) {
        status = STATUS_NO_MEMORY;
    }
    if (status == STATUS_OK) {
        status = file_write(path, (struct slice){text, size}, 0600, &simulation->why);
    }
    free(text);
    return status;
}
