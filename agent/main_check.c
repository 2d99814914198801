/* `hedgerow-agent check`: what a site does before its agent runs. */

#include "agent/judge.h"
#include "agent/main.h"
#include "agent/main_approve.h"
#include "base/decimal.h"
#include "base/exit_code.h"
#include "base/text.h"
#include "describe/describe.h"
#include "describe/warnings.h"
#include "io/daemon.h"
#include "io/journal.h"
#include "io/journal_files.h"
#include "io/lock.h"
#include "io/probe.h"
#include "job/round.h"
#include "learn/blas.h"
#include "learn/dataset.h"
#include "learn/table.h"
#include "page/page_host.h"
#include "protocol/message.h"

#include <inttypes.h>
#include <stdio.h>

static enum status count_cells(struct dataset *data, const struct site *site, struct why *why)
{
    const char *path = site->settings.data;
    FILE *file = NULL;
    enum status status = table_open(&file, path, why);

    if (status == STATUS_OK) {
        status = describe_cells(data, file, path, &site->dictionary, why);
        (void)fclose(file);
    }
    return status;
}

static const char *name_of(const void *dictionary, size_t column)
{
    return ((const struct dictionary *)dictionary)->column[column].name;
}

static void warn_of_table(const char *text)
{
    daemon_warn("table", "%s", text);
}

static void warn_of_data(const char *text)
{
    daemon_warn("data", "%s", text);
}

/* What the dictionary says beside what the file has. Counts are shown to the site's own operator here,
 * and written to no log; no exit code depends on them. */
static bool check_dictionary(struct site *site, size_t *warned)
{
    struct warnings warnings = {.say = warn_of_table};
    struct why why = {{0}};
    struct dataset data = {0};
    bool good = daemon_report("dictionary", site_read_dictionary(site, &why), &why);

    if (!good) {
        return false;
    }
    const uint64_t admitted = site->dictionary.record_count;
    enum status status = site_check_data(site, &why);
    if (status == STATUS_OK) {
        status = count_cells(&data, site, &why);
    }
    if (status == STATUS_OK) {
        why_set(&why, "%zu rows; the dictionary states %" PRIu64, data.record_count, admitted);
    }
    good = daemon_report("table", status, &why);
    if (good && data.record_count < admitted / 2) {
        (*warned)++;
        daemon_warn(
            "table",
            "the dictionary states %" PRIu64
            " rows and the table has %zu: the agent adds rows of missing values, which are then "
            "more than half. Every result would be about them. Lower `records`",
            admitted, data.record_count);
    } else if (good && data.record_count < admitted) {
        daemon_note(
            "table",
            "the dictionary states more rows than the table has: the agent adds rows of missing "
            "values; lower `records`");
    }
    if (good && data.record_count > admitted) {
        daemon_note("table", "the last %" PRIu64 " rows are not used",
                    data.record_count - admitted);
    }
    if (good) {
        cells_show(stdout, "table        note    ", &data, name_of, &site->dictionary);
        warnings_of_dictionary(&warnings, &data, &site->dictionary);
    }
    *warned += warnings.count;
    dataset_free(&data);
    return good;
}

static enum status warn_of_label(struct warnings *warnings, const struct site *site,
                                 const struct label *label, struct why *why)
{
    const struct dataset_options options = {.separator = site->dictionary.separator,
                                            .line_bytes = site->dictionary.line_bytes,
                                            .row_count = (size_t)site->dictionary.record_count};
    const char *path = site->settings.data;
    FILE *file = NULL;
    enum status status = table_open(&file, path, why);
    if (status == STATUS_OK) {
        status = warnings_of_label(warnings, file, path, label, &options, why);
        (void)fclose(file);
    }
    return status;
}

/* Counts are shown to the site's own operator here, and written to no log; no exit code depends on
 * them. warned: how many cells or columns a person should look at before a job. */
static enum status check_records(struct site *site, const struct job *job, size_t *warned,
                                 struct why *why)
{
    struct warnings warnings = {.say = warn_of_data};
    struct dataset data = {0};
    struct source source = site_source(site);
    const uint64_t admitted = dictionary_records(&site->dictionary, &job->schema);
    enum status status = judge_memory(site_memory(site), job, admitted, why);

    if (status == STATUS_OK) {
        status = source.load(source.self, &data, &job->schema, why);
    }
    if (status == STATUS_OK) {
        cells_show(stdout, "data         note    ", &data, schema_name_of, &job->schema);
        warnings_of_columns(&warnings, &data, &job->schema);
        for (size_t i = 0; i < job->schema.column_count && status == STATUS_OK; i++) {
            status = round_takes_smoothly(job, i)
                         ? warnings_of_heap(&warnings, &data, &job->schema, i)
                         : STATUS_OK;
        }
    }
    if (status == STATUS_OK) {
        status = warn_of_label(&warnings, site, &job->schema.label, why);
    }
    if (status == STATUS_OK) {
        why_set(why,
                "%zu records; the agent joins %llu ms after it began to read them, as long as that "
                "may take by public numbers",
                data.record_count,
                (unsigned long long)source.longest_ms(source.self, &job->schema));
    }
    dataset_free(&data);
    *warned += warnings.count;
    return status;
}

/* What is left may be less than a job costs: the agent would join, and decline when it runs out. A
 * job that has begun is partly paid, so this is told and not judged. */
static bool check_budget(const struct site *site, const struct job *job)
{
    struct why why = {{0}};
    struct ledger *ledger = NULL;
    static const char *const limit_of[ALLOWANCE_COUNT] = {
        [ALLOWANCE_TOTAL] = "epsilon and delta of the policy",
        [ALLOWANCE_JOB] = "its job_epsilon and job_delta",
        [ALLOWANCE_WINDOW] = "its allowance_epsilon and allowance_delta"};
    char text[DECIMAL_TEXT_BYTES];
    enum status status = site_ledger(site, &ledger, &why);
    bool fresh = status == STATUS_NOT_FOUND;

    if (status == STATUS_OK || fresh) {
        const struct balance total = ledger_balance(ledger, ALLOWANCE_TOTAL);
        decimal_format(text, sizeof text, site_epsilon_left(&total), EPSILON_DECIMALS);
        why_set(&why, "epsilon %s is left%s", text, fresh ? ": no journal yet" : "");
        status = STATUS_OK;
    }
    bool good = daemon_report("budget", status, &why);
    for (unsigned i = 0; good && i < ALLOWANCE_COUNT; i++) {
        if (!site_affords(ledger, (enum allowance)i, job, 1)) {
            decimal_format(text, sizeof text, job->epsilon_micro, EPSILON_DECIMALS);
            daemon_note("budget",
                        "the job costs up to %s: unless it has begun here, its rounds are "
                        "declined when the budget runs out (%s)",
                        text, limit_of[i]);
        }
    }
    ledger_free(ledger);
    return good;
}

/* Whether the job's solvers fit into the policy's slot on this machine. */
static bool check_slot(const struct site *site, const struct job *job, double speed)
{
    struct why why = {{0}};
    const enum status status =
        judge_slot(speed, site->policy.answer_slot_ms, job,
                   dictionary_records(&site->dictionary, &job->schema), &why);
    return daemon_report("slot", status, &why);
}

/* What the job asks of columns beyond the dictionary, in its questions beyond a column's range, and twice: nothing is
 * declined for it. */
static void tell_of_columns(const struct site *site, const struct job *job)
{
    struct why note = {{0}};
    for (size_t i = 0; i <= job->schema.column_count; i++) {
        if (dictionary_has_note(&site->dictionary, &job->schema, i, &note)) {
            daemon_note("dictionary/job", "%s", note.text);
        }
    }
    approve_check_questions(job);
}

static bool check_data(struct site *site, const struct job *job, size_t *warned)
{
    struct why why = {{0}};
    size_t own = 0;
    const enum status status = check_records(site, job, &own, &why);
    *warned += own;
    if (status == STATUS_OK && own > 0) {
        daemon_note("data", "%s", why.text);
        return true;
    }
    return daemon_report("data", status, &why);
}

/* forbidden out: whether the job would be declined: the policy does not allow it, or it does not fit. */
static bool check_job_and_data(struct site *site, const char *job_path, double speed,
                               bool *forbidden, size_t *warned)
{
    struct why why = {{0}};
    struct job job = {0};
    enum status status = site_read_job(site, job_path, &why);
    bool good;

    if (status == STATUS_OK && site->job_text == NULL) {
        daemon_note(
            "job",
            "no job to compare the data with: set `job` in the settings, or give --job FILE");
        return true;
    }
    if (status == STATUS_OK) {
        status = job_parse(&job, (struct slice){site->job_text, site->job_size},
                           job_path != NULL ? job_path : site->settings.job, &why);
    }
    good = daemon_report("job", status, &why);
    if (good) {
        *forbidden =
            !daemon_report("policy/job", policy_check_job(&site->policy, &job, &why), &why);
        good = check_budget(site, &job);
        if (daemon_report("dictionary/job", judge_data(&site->dictionary, &job, &why), &why)) {
            tell_of_columns(site, &job);
            *forbidden = !check_slot(site, &job, speed) || *forbidden;
            good = check_data(site, &job, warned) && good;
        } else {
            *forbidden = true;
        }
    }
    job_free(&job);
    return good;
}

/* Whether a journal could be kept, and is still there. */
static bool check_state(const struct site *site)
{
    struct why why = {{0}};
    struct ledger *ledger = NULL;
    enum status status = journal_folder_try(site->settings.state, &why);

    if (!daemon_report("state", status, &why)) {
        return false;
    }
    status = site_ledger(site, &ledger, &why);
    ledger_free(ledger);
    if (status == STATUS_NOT_FOUND) {
        why_set(&why, "no journal in %s yet: nothing was spent, if `state` names the right folder",
                site->settings.state);
        status = STATUS_OK;
    }
    return daemon_report("ledger", status, &why);
}

/* What a policy that allows masked sums needs. */
static bool check_masks(struct site *site)
{
    struct why why = {{0}};
    if (!policy_allows_masks(&site->policy)) {
        return true;
    }
    enum status status = site_read_peers(site, &why);
    if (status == STATUS_OK) {
        status = site_read_signing_key(site, &why);
    }
    if (status == STATUS_OK && masks_peers_find(&site->peers, &site->signing.public_key) == NULL) {
        status = why_refuse(&why,
                            "%s has no line of this site's own signing key; remedy: "
                            "hedgerow-agent peers add NAME --key %s.pub",
                            site->peers_path, site->settings.key);
    }
    if (status == STATUS_OK) {
        why_set(&why, "%zu line%s; compare `peers digest` with the other sites", site->peers.count,
                text_plural_s(site->peers.count));
    }
    return daemon_report("peers", status, &why);
}

static enum status reach(const struct site *site, const struct arguments *arguments,
                         struct why *why)
{
    struct endpoint_options options = {.address = site->settings.address,
                                       .written_in = arguments->config,
                                       .key = &site->key,
                                       .payload_bytes_max = CHUNK_BYTES_MAX,
                                       .coordinator_key = site->coordinator_key};
    return probe_reach(&options, (int)arguments->timeout_s * 1000, why);
}

/* Whether this site's agent runs; holder: out, its process. */
static bool find_running(char holder[static LOCK_HOLDER_BYTES], const struct site *site)
{
    char lock[JOURNAL_PATH_BYTES];
    struct why ignored = {{0}};
    return journal_path(lock, site->settings.state, "lock", &ignored) == STATUS_OK &&
           lock_holder(holder, lock);
}

/* A second connection under the key would be taken for a thief's: the agent that runs here speaks for the site. */
static bool check_coordinator(const struct site *site, const struct arguments *arguments)
{
    char holder[LOCK_HOLDER_BYTES];
    struct why why = {{0}};
    if (find_running(holder, site)) {
        daemon_note(
            "coordinator",
            "not asked, because this site's agent runs (process %s); its log and its page say "
            "whether it is connected",
            holder);
        return true;
    }
    return daemon_report("coordinator", reach(site, arguments, &why), &why);
}

/* An agent that runs has the port. */
static bool check_page(const struct site *site)
{
    char holder[LOCK_HOLDER_BYTES];
    struct why why = {{0}};
    if (site->settings.http.listen[0] == '\0' || find_running(holder, site)) {
        return true;
    }
    return daemon_report("page", page_host_try(&site->settings.http, &why), &why);
}

int main_check(const struct arguments *arguments)
{
    struct site site = {0};
    struct why why = {{0}};
    bool reached = false;
    bool forbidden = false;
    size_t warned = 0;
    bool keys;
    bool good;

    const double speed = site_speed();
    if (!daemon_report("settings", site_read_settings(&site, arguments->config, &why), &why)) {
        return EXIT_CODE_INPUT;
    }
    blas_reserve(blas_threads(site.settings.memory_bytes_max, 1)); /* as `run` does */
    good = daemon_check_memory(site.settings.memory_bytes_max);
    good = daemon_report("policy", site_read_policy(&site, &why), &why) && good;
    good = good && check_masks(&site);
    good = good && check_state(&site);
    good = good && check_dictionary(&site, &warned);
    good = good && check_job_and_data(&site, arguments->job, speed, &forbidden, &warned);
    good = check_page(&site) && good;
    keys = daemon_report("keys", site_read_keys(&site, &why), &why);
    if (keys) {
        reached = check_coordinator(&site, arguments);
    }
    site_free(&site);
    (void)puts(!good || forbidden || !reached ? "NOT READY"
               : warned > 0                   ? "PASSED, but read the WARNINGs above"
                                              : "PASSED");
    if (!good || !keys) {
        return EXIT_CODE_INPUT;
    }
    if (forbidden) {
        return EXIT_CODE_REFUSED;
    }
    return reached ? EXIT_CODE_OK : EXIT_CODE_UNREACHABLE;
}
