/* `hedgerow-agent run`: the participant under the driver. */

#include "agent/main.h"
#include "agent/main_face.h"
#include "agent/participant.h"
#include "base/check.h"
#include "base/exit_code.h"
#include "base/file.h"
#include "config/config.h"
#include "io/clock.h"
#include "io/daemon.h"
#include "io/driver.h"
#include "io/endpoint.h"
#include "io/journal.h"
#include "io/variant.h"
#include "job/round.h"
#include "learn/blas.h"
#include "learn/model.h"
#include "protocol/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct run {
    struct site site;
    struct masks_self masks; /* all NULL: this site masks nothing */
    struct daemon daemon;
    struct participant *participant;
    struct journal first; /* opened before anything listens or dials, until a machine has it */
    struct face face;
    const char *config; /* the settings file */
    char key_text[KEY_HEX_BYTES];
    uint64_t memory_bytes; /* measured once: later, what the records took would be in it */
    double speed;          /* measured before anything of the site is read */
    bool once;
};

/* The site's own copy of the released model. */
static bool keep_model(void *self, const struct job *job, const double *weights, size_t count,
                       bool final)
{
    const struct run *run = self;
    struct model model = {.private = true};
    struct why why = {{0}};
    char path[SETTINGS_PATH_BYTES + 16];
    char *text = NULL;
    enum status status;

    if (!final) {
        return true;
    }
    model.loss = job_loss(job);
    (void)snprintf(model.job, sizeof model.job, "%s", job->name);
    (void)snprintf(model.expert, sizeof model.expert, "the coordinator's choice");
    (void)snprintf(model.statement, sizeof model.statement,
                   "Released by the coordinator; what this site paid is in its ledger.");
    model.private = !run->site.settings.simulated;
    model.epsilon_micro = job->epsilon_micro;
    model.delta_atto = job->delta_atto;
    CHECK(count == round_width(job));
    status = model_take(&model, &job->schema, weights);
    if (status == STATUS_OK) {
        status = model_to_json(&text, &model);
    }
    if (status == STATUS_OK) {
        (void)snprintf(path, sizeof path, "%s/model.json", run->site.settings.state);
        status = file_write(path, (struct slice){text, strlen(text)}, 0600, &why);
    }
    if (status == STATUS_OK) {
        log_event(&run->daemon.log, LOG_INFO, "model-kept", NULL, "the job's model is in %s", path);
    } else {
        log_event(&run->daemon.log, LOG_ERROR, "model-not-kept", NULL, "the model was not kept: %s",
                  why.text[0] != '\0' ? why.text : status_text(status));
    }
    free(text);
    model_free(&model);
    return status == STATUS_OK;
}

/* A job's text waits for a person, who reads it with `approve`. */
static bool keep_waiting(void *self, const struct digest *digest, struct slice text)
{
    const struct run *run = self;
    struct why why = {{0}};
    const bool kept = site_keep_waiting(&run->site, digest, text, &why);
    if (!kept) {
        log_event(&run->daemon.log, LOG_ERROR, "job-not-kept", NULL,
                  "the waiting job's text was not kept for `approve`: %s", why.text);
    }
    return kept;
}

static void looks_path(const struct run *run, char path[static SETTINGS_PATH_BYTES + 32])
{
    (void)snprintf(path, SETTINGS_PATH_BYTES + 32, "%s/looks", run->site.settings.state);
}

static bool keep_look(void *self, const struct look *look)
{
    const struct run *run = self;
    char path[SETTINGS_PATH_BYTES + 32];
    char text[LOOK_TEXT_BYTES];
    struct why why = {{0}};
    looks_path(run, path);
    look_format(text, look);
    if (file_write(path, (struct slice){text, strlen(text)}, 0600, &why) == STATUS_OK) {
        return true;
    }
    log_event(&run->daemon.log, LOG_ERROR, "job-not-counted", NULL,
              "the offered job is ignored, because it cannot be counted: %s", why.text);
    return false;
}

/* For the commands about jobs, and the page. */
static bool keep_offer(void *self, const struct job_name *job)
{
    const struct run *run = self;
    struct why why = {{0}};
    const bool kept = site_keep_offer(&run->site, job, &why);
    if (!kept) {
        log_event(&run->daemon.log, LOG_WARN, "offer-not-kept", NULL,
                  "`jobs` may show a job as waiting or running that is over: %s", why.text);
    }
    return kept;
}

static void keep_refusal(void *self, const struct refusal *refusal)
{
    const struct run *run = self;
    struct why why = {{0}};
    if (!site_keep_refusal(&run->site, refusal, clock_wall_ms(), &why)) {
        log_event(&run->daemon.log, LOG_WARN, "refusal-not-kept", NULL,
                  "`jobs` and the page do not show whether the job is refused: %s", why.text);
    }
}

/* No file is a first start. */
static enum status read_look(const struct run *run, struct look *look, struct why *why)
{
    char path[SETTINGS_PATH_BYTES + 32];
    char *text = NULL;
    size_t size = 0;
    *look = (struct look){.day = 0};
    looks_path(run, path);
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        return STATUS_OK;
    }
    enum status status = config_load_owned(&text, &size, path, why);
    if (status == STATUS_OK && look_parse(look, (struct slice){text, size}) != STATUS_OK) {
        status =
            why_refuse(why, "%s: is not what this program wrote into it; remedy: delete it", path);
    }
    free(text);
    return status;
}

/* What masked rounds need, where the policy allows them. */
static enum status read_masks(struct run *run, struct why *why)
{
    run->masks = (struct masks_self){.peers = NULL};
    if (!policy_allows_masks(&run->site.policy)) {
        return STATUS_OK;
    }
    enum status status = site_read_peers(&run->site, why);
    if (status == STATUS_OK) {
        status = site_read_signing_key(&run->site, why);
    }
    if (status == STATUS_OK) {
        run->masks = (struct masks_self){.peers = &run->site.peers,
                                         .signing = &run->site.signing,
                                         .random = &run->daemon.random};
    }
    return status;
}

/* The policy may have been edited since the program began. A broken one leaves that in force which was read last;
 * without a readable list of peers masked rounds are declined. */
static void read_policy_anew(struct run *run)
{
    struct policy before = run->site.policy;
    struct why why = {{0}};
    if (site_read_policy(&run->site, &why) != STATUS_OK) {
        run->site.policy = before;
    }
    if (read_masks(run, &why) != STATUS_OK) {
        log_event(&run->daemon.log, LOG_ERROR, "peers-unreadable", NULL,
                  "masked rounds are declined: %s", why.text);
    }
}

static enum status open_journal(struct journal *journal, const struct run *run, struct why *why)
{
    const struct journal_sqlite_options options = {.folder = run->site.settings.state,
                                                   .kind = "agent"};
    return journal_sqlite_open(journal, &options, why);
}

static enum status make(void *self, struct machine *machine, struct journal *journal,
                        struct why *why)
{
    struct run *run = self;
    read_policy_anew(run);
    struct participant_options options = {
        .policy = &run->site.policy,
        .dictionary = &run->site.dictionary,
        .dictionary_text = {run->site.dictionary_text, run->site.dictionary_size},
        .source = site_source(&run->site),
        .random = &run->daemon.random,
        .masks = run->masks.peers != NULL ? &run->masks : NULL,
        .log = &run->daemon.log,
        .model = {keep_model, run},
        .waiting = {keep_waiting, run},
        .looks = {keep_look, run},
        .offers = {keep_offer, run},
        .refusals = {keep_refusal, run},
        .approved_text = {run->site.job_text, run->site.job_size},
        .memory_bytes = run->memory_bytes,
        .speed = run->speed,
        .approvals_followed = true,
        .key_text = run->key_text,
        .whole_bytes_max = WHOLE_BYTES_MAX,
        .heartbeat_ms = run->site.settings.heartbeat_ms,
        .silence_ms = run->site.settings.silence_ms,
        .once = run->once || run->site.settings.once};
    enum status status = STATUS_OK;

    *journal = run->first;
    run->first = (struct journal){.self = NULL};
    if (journal->self == NULL) {
        status = open_journal(journal, run, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    status = read_look(run, &options.looked, why);
    if (status == STATUS_OK) {
        status = participant_new(&run->participant, &options);
    }
    if (status != STATUS_OK) {
        journal_close(journal);
        return status;
    }
    *machine = participant_machine(run->participant);
    site_face_begin(&run->face, run->participant, journal);
    return STATUS_OK;
}

static void unmake(void *self, struct machine *machine, struct journal *journal)
{
    struct run *run = self;
    site_face_pause(&run->face);
    participant_free(run->participant);
    run->participant = NULL;
    memset(machine, 0, sizeof *machine);
    journal_close(journal);
}

/* With a mistyped or unmounted state folder the agent would begin an empty ledger. */
static void tell_of_new_ledger(const struct run *run)
{
    struct ledger *ledger = NULL;
    struct why why = {{0}};
    if (site_ledger(&run->site, &ledger, &why) == STATUS_NOT_FOUND) {
        log_event(&run->daemon.log, LOG_WARN, "ledger-begun", NULL,
                  "%s holds no journal: a new ledger begins, with nothing spent; if these records "
                  "have answered before, stop and bring their journal back",
                  run->site.settings.state);
    }
    ledger_free(ledger);
}

static enum status serve(struct run *run, int *exit_code, struct why *why)
{
    struct endpoint_options options = {.address = run->site.settings.address,
                                       .lines = "", /* it takes one where there is one */
                                       .written_in = run->config,
                                       .key = &run->site.key,
                                       .log = &run->daemon.log,
                                       .payload_bytes_max = CHUNK_BYTES_MAX,
                                       .coordinator_key = run->site.coordinator_key};
    struct driver_factory factory = {.self = run, .make = make, .unmake = unmake};
    hex_encode(run->key_text, run->site.key.public_key.byte, KEY_BYTES);
    char approvals[SETTINGS_PATH_BYTES + 96];
    const struct driver_file file[] = {
        {.path = run->site.settings.policy, .which = FOLLOWED_POLICY},
        {.path = approvals, .which = FOLLOWED_APPROVALS, .optional = true}};
    struct driver_options driver = {
        .log = &run->daemon.log, .file = file, .file_count = sizeof file / sizeof file[0]};
    site_approvals_path(&run->site, approvals);
    enum status status = endpoint_dial(&driver.endpoint, &options, why);

    if (status != STATUS_OK) {
        return status;
    }
    driver.observe = program_variant.observe;
    log_event(&run->daemon.log, LOG_INFO, "agent-started", NULL, "dialing %s",
              run->site.settings.address);
    run->memory_bytes = site_memory(&run->site);
    status = site_face_open(&run->face, &run->site, &run->daemon.log, &driver, why);
    if (status == STATUS_OK) {
        status = driver_run(&driver, &factory, exit_code, why);
    }
    site_face_close(&run->face);
    endpoint_free(driver.endpoint);
    return status;
}

/* A second agent on one state folder must not even dial: the coordinator would take it for a thief of the key. */
static enum status drive(struct run *run, int *exit_code, struct why *why)
{
    tell_of_new_ledger(run);
    enum status status = open_journal(&run->first, run, why);
    if (status == STATUS_OK) {
        status = serve(run, exit_code, why);
        journal_close(&run->first);
    }
    return status;
}

int main_run(const struct arguments *arguments)
{
    static struct run only;
    struct run *run = &only;
    struct why why = {{0}};
    int exit_code = EXIT_CODE_INTERNAL;
    enum status status = STATUS_OK;

    run->once = arguments->once;
    run->config = arguments->config;
    run->speed = site_speed();
    if (!(run->speed > 0)) {
        why_set(&why, "the machine's speed cannot be measured: free some memory and start again");
        status = STATUS_NO_MEMORY;
    }
    if (status == STATUS_OK) {
        status = site_read_settings(&run->site, arguments->config, &why);
    }
    if (status == STATUS_OK) {
        blas_reserve(blas_threads(run->site.settings.memory_bytes_max, 1));
        status = daemon_start(&run->daemon, &run->site.settings.log,
                              run->site.settings.memory_bytes_max, &why);
    }
    if (status == STATUS_OK) {
        status = site_read_policy(&run->site, &why);
    }
    if (status == STATUS_OK) {
        status = site_read_dictionary(&run->site, &why);
    }
    if (status == STATUS_OK) {
        status = site_check_data(&run->site, &why);
    }
    if (status == STATUS_OK) {
        status = site_read_keys(&run->site, &why);
    }
    if (status == STATUS_OK) {
        status = read_masks(run, &why);
    }
    if (status == STATUS_OK) {
        status = site_read_job(&run->site, NULL, &why);
    }
    if (status == STATUS_OK && arguments->seeded) {
        status = daemon_seed(&run->daemon, run->site.settings.simulated, "the noise comes",
                             arguments->seed, &why);
    }
    if (status == STATUS_OK) {
        status = drive(run, &exit_code, &why);
    }
    exit_code = daemon_end(&run->daemon, PROGRAM, exit_code, status, &why);
    site_free(&run->site);
    return exit_code;
}
