#include "tests/bench/federation/made_up.h"

#include "base/exit_code.h"
#include "crypto/random.h"
#include "io/clock.h"
#include "io/driver.h"
#include "io/journal.h"
#include "io/process.h"
#include "io/roster.h"
#include "job/round.h"
#include "protocol/message.h"

#include <dirent.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRID_BITS = 20, BATCH = 1000 };

static const char JOB_TEXT[] = "the text of this job is of no importance here";

static void listen_to_log(void *self, const struct log_entry *entry)
{
    struct made_up *made_up = self;
    if (made_up->logged != NULL) {
        made_up->logged(made_up->self, entry);
    }
    if (entry->level >= LOG_WARN || getenv("BENCH_VERBOSE") != NULL) {
        (void)fprintf(stderr, "%lld %s %s: %s\n", (long long)clock_now_ms(), entry->event,
                      entry->peer == NULL ? "" : entry->peer, entry->text);
    }
}

static void make_stage(struct made_up *made_up)
{
    struct stage *stage = &made_up->stage;
    const bool updates = made_up->rounds > 0;
    made_up->lambda = 1;
    *stage = (struct stage){.task = updates ? TASK_UPDATE : TASK_FIT,
                            .strategy = STRATEGY_AVERAGE,
                            .epsilon_micro = EPSILON_MICRO_ONE,
                            .grid_bits = GRID_BITS,
                            .rounds = updates ? made_up->rounds : 1,
                            .batches = 1,
                            .charge = {.epsilon_micro = EPSILON_MICRO_ONE},
                            .lambda = &made_up->lambda};
    stage->schema = block_schema(&made_up->job.schema, 0);
    stage->block = block_at(&made_up->job.schema, 0);
    if (updates) {
        stage->batch = BATCH;
        stage->state_is_short = getenv("BENCH_STATE_64") == NULL;
        stage->own = &made_up->update;
        made_up->update = (struct update_stage){
            .gradient = {.loss = {.kind = LOSS_LOGISTIC},
                         .output_count = 1,
                         .feature_count = made_up->feature_count,
                         .grid_bits = GRID_BITS,
                         .norm = GRADIENT_L1,
                         .clip = FAKE_VALUE_MAX / BATCH},
            .optimiser = {.width = made_up->feature_count, .rounds = made_up->rounds, .rate = 1}};
    }
}

/* A schema that nobody reads, of the wanted number of features. */
bool made_up_make_job(struct made_up *made_up)
{
    made_up->job = (struct job){.name = "bench",
                                .epsilon_micro = EPSILON_MICRO_ONE,
                                .filter = filter_new((struct price){EPSILON_MICRO_ONE, 0}),
                                .cohort_min = (uint32_t)made_up->agent_count,
                                .deadline_ms = MADE_UP_SECONDS_MAX * 1000,
                                .join_deadline_ms = MADE_UP_SECONDS_MAX * 1000,
                                .stage = &made_up->stage,
                                .stage_count = 1};
    struct schema *schema = &made_up->job.schema;
    schema->column = calloc(made_up->columns, sizeof *schema->column);
    if (schema->column == NULL) {
        return false;
    }
    schema->column_count = made_up->columns;
    for (size_t i = 0; i < made_up->columns; i++) {
        schema->column[i].kind = COLUMN_CATEGORY;
        schema->column[i].category_count = SCHEMA_CATEGORIES_MAX;
    }
    made_up->feature_count = schema_feature_count(schema);
    make_stage(made_up);
    return true;
}

enum status made_up_make(void *self, struct machine *machine, struct journal *journal,
                         struct why *why)
{
    struct made_up *made_up = self;
    char folder[MADE_UP_PATH_BYTES + 8];
    (void)snprintf(folder, sizeof folder, "%s/state", made_up->folder);
    struct journal_sqlite_options options = {.folder = folder, .kind = "coordinator"};
    struct coordinator_options machine_options = {.job = &made_up->job,
                                                  .text = {JOB_TEXT, sizeof JOB_TEXT - 1},
                                                  .random = &made_up->random,
                                                  .log = &made_up->log,
                                                  .answer_bytes_max = UINT64_MAX,
                                                  .whole_bytes_max = WHOLE_BYTES_MAX,
                                                  .linger_ms = MADE_UP_SECONDS_MAX * 1000};

    enum status status = journal_sqlite_open(journal, &options, why);
    if (status == STATUS_OK) {
        status = coordinator_new(&made_up->coordinator, &machine_options);
    }
    if (status == STATUS_OK) {
        *machine = coordinator_machine(made_up->coordinator);
        if (made_up->made != NULL) {
            made_up->made(made_up->self);
        }
    }
    return status;
}

void made_up_unmake(void *self, struct machine *machine, struct journal *journal)
{
    struct made_up *made_up = self;
    coordinator_free(made_up->coordinator);
    made_up->coordinator = NULL;
    memset(machine, 0, sizeof *machine);
    journal_close(journal);
}

/* The agents are forked before this process has a thread; each waits until it is told where to. */
static bool start_agents(struct made_up *made_up, const char *roster_path, struct why *why)
{
    const double steps = 1.0 / (1 << GRID_BITS);
    for (size_t i = 0; i < made_up->agent_count; i++) {
        struct fake_agent *agent = &made_up->agent[i];
        char name[AGENT_NAME_MAX + 1];
        (void)snprintf(name, sizeof name, "agent-%zu", i);
        agent->number = i;
        agent->agent_count = made_up->agent_count;
        agent->stall_ms = i == 0 ? made_up->stall_ms : 0;
        agent->feature_count = made_up->feature_count;
        agent->form = round_form(&made_up->job, &made_up->stage, 0, 0, 1);
        agent->scale = made_up->rounds == 0 ? steps : -steps * made_up->rounds / BATCH;
        (void)snprintf(agent->folder, sizeof agent->folder, "%s/%s", made_up->folder, name);
        if (pipe(agent->address_pipe) != 0 || pipe(agent->verdict_pipe) != 0 ||
            key_pair_generate(&agent->key) != STATUS_OK ||
            roster_add(roster_path, name, &agent->key.public_key, why) != STATUS_OK) {
            return false;
        }
        agent->process = fork();
        if (agent->process == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            /* An agent does not return its memory: what the C library sets itself, once vectors were freed. */
            (void)mallopt(M_MMAP_THRESHOLD, 32 * 1024 * 1024);
            (void)mallopt(M_TRIM_THRESHOLD, 64 * 1024 * 1024);
            fake_agent_run(agent); /* does not return */
        }
        if (agent->process < 0) {
            return false;
        }
        (void)close(agent->address_pipe[0]);
        (void)close(agent->verdict_pipe[1]);
    }
    return true;
}

static bool tell_agents(const struct made_up *made_up, const char *address,
                        const struct digest *coordinator_key)
{
    struct fake_agent_address told = {.coordinator_key = *coordinator_key};
    (void)snprintf(told.address, sizeof told.address, "%s", address);
    for (size_t i = 0; i < made_up->agent_count; i++) {
        if (write(made_up->agent[i].address_pipe[1], &told, sizeof told) != (ssize_t)sizeof told) {
            return false;
        }
    }
    return true;
}

static void collect_agents(struct made_up *made_up)
{
    made_up->right = 0;
    made_up->agents_busy_ms = 0;
    for (size_t i = 0; i < made_up->agent_count; i++) {
        struct fake_agent *agent = &made_up->agent[i];
        struct rusage usage = {0};
        char verdict = 0;
        if (agent->process > 0) {
            (void)kill(agent->process, SIGTERM);
            (void)wait4(agent->process, NULL, 0, &usage);
            made_up->right += read(agent->verdict_pipe[0], &verdict, 1) == 1 && verdict == 'y';
            (void)close(agent->address_pipe[1]);
            (void)close(agent->verdict_pipe[0]);
        }
        made_up->agents_busy_ms += 1e3 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                                   1e-3 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    }
}

static enum status drive(struct made_up *made_up, struct why *why)
{
    struct key_pair key;
    char roster_path[MADE_UP_PATH_BYTES + 8];
    int exit_code = 0;
    struct endpoint_options endpoint = {
        .address = "tcp://127.0.0.1:0",
        .key = &key,
        .log = &made_up->log,
        .payload_bytes_max = CHUNK_BYTES_MAX,
        .lines = getenv("BENCH_CURVE") != NULL ? NULL : "tcp://127.0.0.1:0"};
    struct driver_factory factory = {
        .self = made_up, .make = made_up_make, .unmake = made_up_unmake};
    struct driver_options driver = {.log = &made_up->log, .roster_path = roster_path};

    (void)snprintf(roster_path, sizeof roster_path, "%s/agents", made_up->folder);
    enum status status = key_pair_generate(&key);
    if (status == STATUS_OK && !start_agents(made_up, roster_path, why)) {
        status = STATUS_IO;
    }
    if (status == STATUS_OK) {
        status = endpoint_listen(&driver.endpoint, &endpoint, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (!tell_agents(made_up, endpoint_address(driver.endpoint), &key.public_key)) {
        status = STATUS_IO;
    }
    if (status == STATUS_OK) {
        status = driver_run(&driver, &factory, &exit_code, why);
    }
    endpoint_free(driver.endpoint);
    return status == STATUS_OK && exit_code != EXIT_CODE_OK ? STATUS_INVALID : status;
}

void made_up_remove_folder(const char *folder)
{
    char path[MADE_UP_PATH_BYTES + NAME_MAX];
    const struct dirent *entry = NULL;
    DIR *files = opendir(folder);
    while (files != NULL && (entry = readdir(files)) != NULL) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        (void)unlink(path);
    }
    if (files != NULL) {
        (void)closedir(files);
    }
    if (rmdir(folder) != 0) {
        (void)fprintf(stderr, "%s: not empty, stays\n", folder);
    }
}

static void remove_folders(const struct made_up *made_up)
{
    char path[MADE_UP_PATH_BYTES + 8];
    for (size_t i = 0; i < made_up->agent_count; i++) {
        made_up_remove_folder(made_up->agent[i].folder);
    }
    (void)snprintf(path, sizeof path, "%s/state", made_up->folder);
    made_up_remove_folder(path);
    made_up_remove_folder(made_up->folder);
}

bool made_up_run(struct made_up *made_up)
{
    struct why why = {""};
    enum status status = STATUS_NO_MEMORY;
    process_return_memory(); /* as the coordinator does */
    struct random_source *source = random_source_new();

    (void)snprintf(made_up->folder, sizeof made_up->folder, "%s/hedgerow-bench-XXXXXX",
                   made_up->parent);
    made_up->agent = calloc(made_up->agent_count, sizeof *made_up->agent);
    if (source != NULL && made_up->agent != NULL && made_up_make_job(made_up)) {
        status = mkdtemp(made_up->folder) == NULL ? STATUS_IO : STATUS_OK;
        made_up->random = random_source_interface(source);
        made_up->log = (struct log){.write = listen_to_log, .self = made_up, .level = LOG_DEBUG};
    }
    if (status == STATUS_OK) {
        status = drive(made_up, &why);
        collect_agents(made_up);
        remove_folders(made_up);
    }
    if (status != STATUS_OK) {
        (void)fprintf(stderr, "the federation did not end well: %s\n",
                      why.text[0] != '\0' ? why.text : status_text(status));
    }
    random_source_free(source);
    free(made_up->job.schema.column);
    free(made_up->agent);
    made_up->agent = NULL;
    return status == STATUS_OK;
}
