/* What each process reads. Data dictionaries are drafts of `hedgerow-agent describe` from all records. In a
 * simulation nobody corrects them, and nothing has to be hidden. */

#include "base/text.h"
#include "cli/simulation.h"

#include "base/file.h"
#include "crypto/key.h"
#include "describe/describe.h"
#include "dictionary/dictionary.h"
#include "job/work.h"
#include "learn/speed.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TEXT_BYTES = 8192, ADDRESS_BYTES = 40, SLOT_MS = 100, BUDGET_FACTOR = 2 };

/* What all agents' settings have in common. */
struct common {
    char address[ADDRESS_BYTES]; /* where the coordinator listens: "tcp://host:port" */
    struct digest coordinator;   /* its public key */
    uint64_t slot_ms;
};

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

/* A port that is free now, and that the coordinator will take later. So it is at a loopback address of this
 * process alone: nobody dials out from there, and no other simulation looks for a port there. If the loopback
 * has no other address, it is 127.0.0.1. */
static enum status free_address(char address_text[static ADDRESS_BYTES], struct why *why)
{
    uint32_t host = UINT32_C(0x7f400000) + ((uint32_t)getpid() & 0x3fffff); /* 127.64.0.0/10 */
    struct sockaddr_in address;
    int descriptor = socket_on(&address, host);
    if (descriptor < 0) {
        host = INADDR_LOOPBACK;
        descriptor = socket_on(&address, host);
    }
    if (descriptor < 0) {
        why_set(why, "no port of this machine's loopback is free");
        return STATUS_IO;
    }
    (void)close(descriptor);
    (void)snprintf(address_text, ADDRESS_BYTES, "tcp://%u.%u.%u.%u:%u", host >> 24,
                   host >> 16 & 255, host >> 8 & 255, host & 255,
                   (unsigned)ntohs(address.sin_port));
    return STATUS_OK;
}

static enum status put(const struct simulation_plan *plan, const char *folder, const char *name,
                       struct why *why, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static enum status put(const struct simulation_plan *plan, const char *folder, const char *name,
                       struct why *why, const char *format, ...)
{
    char path[SIMULATION_PATH_BYTES];
    char text[TEXT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= TEXT_BYTES) {
        return STATUS_NO_MEMORY;
    }
    simulation_path(path, plan->asked.out, "%s/%s", folder, name);
    return file_write(path, (struct slice){text, (size_t)length}, 0600, why);
}

/* What each process has: its key and the job. */
static enum status make_process(const struct simulation_plan *plan, const char *folder,
                                struct digest *public_key, struct digest *signing_key,
                                struct why *why)
{
    char secret_path[SIMULATION_PATH_BYTES];
    char path[SIMULATION_PATH_BYTES];
    struct key_pair pair;
    struct key_pair signing = {0};

    simulation_path(secret_path, plan->asked.out, "%s/key", folder);
    simulation_path(path, plan->asked.out, "%s/key.pub", folder);
    enum status status = key_pair_generate(&pair);
    if (status == STATUS_OK) {
        status = key_signing_generate(&signing);
    }
    if (status == STATUS_OK) {
        status = key_pair_write(&pair, &signing, secret_path, path, why);
    }
    *public_key = pair.public_key;
    *signing_key = signing.public_key;
    key_pair_wipe(&pair);
    key_pair_wipe(&signing);
    if (status == STATUS_OK) {
        simulation_path(path, plan->asked.out, "%s/job.yml", folder);
        status = file_write(path, (struct slice){plan->job_text, plan->job_size}, 0600, why);
    }
    return status;
}

static enum status judge_dictionary(const struct simulation_plan *plan, const char *text,
                                    const char *path, struct why *why)
{
    struct dictionary dictionary;
    struct why reason = {""};
    enum status status =
        dictionary_parse(&dictionary, (struct slice){text, strlen(text)}, path, why);
    if (status != STATUS_OK) {
        return status;
    }
    status = dictionary_judge(&dictionary, &plan->job, &reason);
    if (status != STATUS_OK) {
        why_set(why, "%s, drafted from the records, does not suit the job: %.300s", path,
                reason.text);
    }
    dictionary_free(&dictionary);
    return status;
}

static enum status make_dictionary(const struct simulation_plan *plan, const char *folder,
                                   struct why *why)
{
    const struct describe_options options = {
        .exact = true, .name = plan->job.data_set, .only = &plan->job.schema};
    char data[SIMULATION_PATH_BYTES];
    char path[SIMULATION_PATH_BYTES];
    char *text = NULL;
    struct describe_counts counts;

    simulation_path(data, plan->asked.out, "%s/data.csv", folder);
    simulation_path(path, plan->asked.out, "%s/data.yml", folder);
    FILE *file = fopen(data, "rbe");
    if (file == NULL) {
        why_set(why, "%s: %s", data, strerror(errno));
        return STATUS_IO;
    }
    enum status status = describe_table(&text, &counts, file, data, &options, why);
    (void)fclose(file);
    if (status == STATUS_OK) {
        status = judge_dictionary(plan, text, path, why);
    }
    if (status == STATUS_OK) {
        status = file_write(path, (struct slice){text, strlen(text)}, 0600, why);
    }
    free(text);
    return status;
}

/* "fit, losses": what the job's stages do, each once. */
static void list_tasks(char *text, size_t size, const struct job *job)
{
    bool listed[TASK_COUNT] = {false};
    text[0] = '\0';
    for (size_t i = 0; i < job->stage_count; i++) {
        if (!listed[job->stage[i].task]) {
            listed[job->stage[i].task] = true;
            text_add(text, size, "%s%s", text[0] != '\0' ? ", " : "",
                     task_name(job->stage[i].task));
        }
    }
}

/* The slot that the job needs on this machine, and as much again: each agent measures the speed for itself, while
 * the others start. */
static uint64_t slot_of(const struct simulation_plan *plan)
{
    const size_t dealt = plan->asked.streams_path != NULL
                             ? plan->record_count
                             : plan->record_count / plan->agent_count + 1;
    const struct work_size size = {.records = dealt, .agents = plan->agent_count};
    double flops = 0;
    size_t stage = 0;
    const double speed = speed_measure(speed_thread_ns);
    if (!(speed > 0) || work_to_hide(&flops, &stage, &plan->job, size, NULL) != STATUS_OK) {
        return SLOT_MS;
    }
    const uint64_t slot_ms = 2 * work_slot_ms(flops, speed);
    if (slot_ms <= SLOT_MS) {
        return SLOT_MS;
    }
    (void)fprintf(plan->asked.progress,
                  "stage %zu, %s, may take so long that the agents answer at slots of %llu ms\n",
                  stage + 1, task_name(plan->job.stage[stage].task), (unsigned long long)slot_ms);
    return slot_ms;
}

/* In the making: the coordinator's allow-list, and the institutions that mask their answers together. */
struct lists {
    FILE *roster;
    FILE *peers;
};

/* Twice what the job costs in all, and for this job no more than it says, so that the report shows a budget
 * with something left; the smallest cohort the job asks for; everything else the job's own terms. */
static enum status make_agent(const struct simulation_plan *plan, const char *name,
                              const struct common *common, const struct lists *lists,
                              struct why *why)
{
    char folder[CHILD_NAME_BYTES + 8];
    char hex[2 * DIGEST_BYTES + 1];
    char tasks[256];
    struct digest key;
    struct digest signing_key;
    const struct job *job = &plan->job;
    const uint64_t budget = job->epsilon_micro * BUDGET_FACTOR;

    list_tasks(tasks, sizeof tasks, job);
    (void)snprintf(folder, sizeof folder, "agents/%s", name);
    enum status status = make_process(plan, folder, &key, &signing_key, why);
    if (status == STATUS_OK) {
        hex_encode(hex, &key, sizeof key);
        (void)fprintf(lists->roster, "%s %s\n", name, hex);
        hex_encode(hex, &signing_key, sizeof signing_key);
        (void)fprintf(lists->peers, "%s %s\n", name, hex);
        status = put(plan, folder, "policy.yml", why,
                     "# What this site allows, whatever a job asks for.\nhedgerow: 1\n"
                     "epsilon: %llu.%06llu\ndelta: %.18f\n"
                     "job_epsilon: %llu.%06llu\njob_delta: %.18f\ncohort_minimum: %u\n"
                     "tasks: [%s]\ntrust: [%s]\nmessage_mb_max: 64\n"
                     "answer_slot_ms: %llu\napproval: policy\njobs_per_day: 1000\n"
                     "peers: ../../peers\n",
                     (unsigned long long)(budget / 1000000), (unsigned long long)(budget % 1000000),
                     (double)job->delta_atto * BUDGET_FACTOR * 1e-18,
                     (unsigned long long)(job->epsilon_micro / 1000000),
                     (unsigned long long)(job->epsilon_micro % 1000000),
                     (double)job->delta_atto * 1e-18, job->cohort_min, tasks,
                     job_trust_name(job->trust), (unsigned long long)common->slot_ms);
    }
    if (status == STATUS_OK) {
        status = make_dictionary(plan, folder, why);
    }
    if (status == STATUS_OK) {
        hex_encode(hex, &common->coordinator, sizeof common->coordinator);
        status = put(plan, folder, "agent.yml", why,
                     "# An agent of this simulation. Written by hedgerow simulate.\n"
                     "hedgerow: 1\n"
                     "coordinator: {address: \"%s\", public_key: \"%s\"}\n"
                     "key: key\nstate: state\ndata: data.csv\ndictionary: data.yml\n"
                     "policy: policy.yml\njob: job.yml\n"
                     "once: true\nheartbeat_s: 0.5\n%slog: {level: info, format: json}\n",
                     common->address, hex, plan->asked.seeded ? "simulated: true\n" : "");
    }
    return status;
}

static enum status make_agents(const struct simulation_plan *plan, const struct common *common,
                               struct why *why)
{
    char path[SIMULATION_PATH_BYTES];
    char *text[2] = {NULL, NULL};
    size_t size[2] = {0, 0};
    enum status status = STATUS_OK;
    struct lists lists = {.roster = open_memstream(&text[0], &size[0])};
    lists.peers = open_memstream(&text[1], &size[1]);
    if (lists.roster == NULL || lists.peers == NULL) {
        status = STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < plan->agent_count && status == STATUS_OK; i++) {
        status = make_agent(plan, plan->agent[i].name, common, &lists, why);
    }
    if ((lists.roster != NULL && fclose(lists.roster) != 0 && status == STATUS_OK) ||
        (lists.peers != NULL && fclose(lists.peers) != 0 && status == STATUS_OK)) {
        status = STATUS_NO_MEMORY;
    }
    if (status == STATUS_OK) {
        simulation_path(path, plan->asked.out, "coordinator/agents");
        status = file_write(path, (struct slice){text[0], size[0]}, 0600, why);
    }
    if (status == STATUS_OK) {
        simulation_path(path, plan->asked.out, "peers");
        status = file_write(path, (struct slice){text[1], size[1]}, 0600, why);
    }
    free(text[0]);
    free(text[1]);
    return status;
}

enum status simulation_settings(const struct simulation_plan *plan, struct why *why)
{
    struct common common = {.slot_ms = 0};
    struct digest unused;
    enum status status = free_address(common.address, why);

    if (status == STATUS_OK) {
        status = make_process(plan, "coordinator", &common.coordinator, &unused, why);
    }
    if (status == STATUS_OK) {
        status = put(plan, "coordinator", "coordinator.yml", why,
                     "# The coordinator of this simulation. Written by hedgerow simulate.\n"
                     "hedgerow: 1\n"
                     "listen: \"%s\"\n"
                     "key: key\nagents: agents\nstate: state\njob: job.yml\nout: out\n"
                     "linger_s: 5\n%slog: {level: info, format: json}\n",
                     common.address, plan->asked.seeded ? "simulated: true\n" : "");
    }
    if (status != STATUS_OK) {
        return status;
    }
    common.slot_ms = slot_of(plan);
    return make_agents(plan, &common, why);
}
