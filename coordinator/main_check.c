/* `hedgerow-coordinator check`: what an operator does before a job. */

#include "base/exit_code.h"
#include "base/text.h"
#include "coordinator/main.h"
#include "coordinator/main_collect.h"
#include "coordinator/main_queue_store.h"
#include "database/journal_place.h"
#include "io/daemon.h"
#include "io/endpoint.h"
#include "io/journal_files.h"
#include "io/lock.h"
#include "io/roster.h"
#include "job/again.h"
#include "job/work.h"
#include "learn/blas.h"
#include "page/page_host.h"
#include "protocol/message.h"
#include "protocol/transfer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct work_fleet fleet_of(size_t asked, size_t connected)
{
    return (struct work_fleet){.agents = asked,
                               .connected = connected,
                               .window_bytes = TRANSFER_WINDOW_BYTES,
                               .waiting_bytes = TRANSFER_WAITING_BYTES};
}

/* At its memory limit the process ends. Warns if the agents, which may all fetch at once, could bring it
 * there. */
static void note_memory(const struct office *office, const char *what, double bytes)
{
    const double most = (double)office->settings.memory_bytes_max;
    bytes += (double)office_at_once(office) * BLAS_BUFFER_BYTES;
    if (most > 0 && bytes > most) {
        daemon_note("memory",
                    "with all agents there %s up to %.0f MB, and memory_mb_max is %.0f: "
                    "the coordinator may end when they fetch a model; remedy: a higher "
                    "memory_mb_max, or fewer agents",
                    what, bytes / 1e6, most / 1e6);
    }
}

static size_t count_asked(const struct office *office, const struct peer *peer, size_t count)
{
    size_t asked = 0;
    for (size_t i = 0; i < count; i++) {
        asked += job_asks(&office->job, peer[i].name) ? 1 : 0;
    }
    return asked;
}

/* Jobs of a queue run side by side: the memory of each adds up. They share connections and the room for waiting bytes. A
 * queue may get any job, so without one the largest is assumed. */
static void note_queue_memory(struct office *office, const struct queue_list *list,
                              const struct roster *roster)
{
    double own[SETTINGS_JOBS_MAX] = {0}; /* the largest jobs' own, the largest first */
    const size_t at_once = office->settings.jobs_at_once;
    struct peer *peer = NULL;
    size_t count = 0;
    size_t left = 0;
    double fetching = 0;
    if (roster_peers(&peer, &count, roster) != STATUS_OK) {
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        struct why why = {{0}};
        if (list->entry[i].over || queue_take(office, list->entry[i].number, &why) != STATUS_OK) {
            continue;
        }
        const struct work_fleet fleet = fleet_of(count_asked(office, peer, count), count);
        const double waiting = work_of_fetching(&office->job, fleet);
        double vectors =
            work_of_coordinator(&office->job, fleet) - waiting - work_of_connections(count);
        left++;
        fetching += waiting;
        for (size_t j = 0; j < at_once; j++) {
            const double smaller = fmin(own[j], vectors);
            own[j] = fmax(own[j], vectors);
            vectors = smaller;
        }
    }
    double bytes = work_of_connections(count);
    for (size_t j = 0; j < at_once; j++) {
        bytes += own[j];
    }
    const double most =
        fmin((double)TRANSFER_WAITING_BYTES, (double)TRANSFER_WINDOW_BYTES * (double)count);
    bytes += left > 0 ? fmin(fetching, most) : most;
    note_memory(office, left > 0 ? "the queue's jobs take" : "and any job the coordinator takes",
                bytes);
    free(peer);
}

static bool check_roster(const struct office *office, struct roster *roster)
{
    struct peer *peer = NULL;
    size_t admitted = 0;
    struct why why = {{0}};
    enum status status = roster_read(roster, office->settings.agents, &why);
    if (status == STATUS_OK) {
        status = roster_peers(&peer, &admitted, roster);
    }
    if (status == STATUS_OK) {
        const size_t count = count_asked(office, peer, admitted);
        why_set(&why, "%zu agent%s", count, text_plural_s(count));
        if (count < office->job.cohort_min) {
            status = why_refuse(&why, "%zu agent%s%s %s admitted, the job needs %u: `agents add`",
                                count, text_plural_s(count),
                                office->job.agent_count > 0 ? " of cohort.agents" : "",
                                text_plural_are(count), (unsigned)office->job.cohort_min);
        }
        if (office->job.stage_count > 0) {
            note_memory(office, "this job takes",
                        work_of_coordinator(&office->job, fleet_of(count, admitted)));
        }
    } else if (status == STATUS_NOT_FOUND) {
        why_set(&why, "%s is not there: nobody is admitted yet: `agents add`",
                office->settings.agents);
    }
    free(peer);
    return daemon_report("agents", status, &why);
}

/* Listens for a moment, which tells whether the host is this machine's and the port free. Nobody is admitted. */
static enum status try_address(const struct office *office, const char *address, const char *lines,
                               struct why *why)
{
    struct endpoint *endpoint = NULL;
    struct endpoint_options options = {.address = address,
                                       .lines = lines[0] == '\0' ? NULL : lines,
                                       .key = &office->key,
                                       .payload_bytes_max = CHUNK_BYTES_MAX};
    enum status status = endpoint_listen(&endpoint, &options, why);
    endpoint_free(endpoint);
    return status;
}

/* The process that runs by these settings, as far as a lock says: "process 123", or "". */
static void find_running(char by[static QUEUE_BY_BYTES], const struct office *office)
{
    char path[JOURNAL_PATH_BYTES];
    char holder[LOCK_HOLDER_BYTES];
    struct why ignored = {{0}};
    by[0] = '\0';
    if (office->settings.jobs[0] != '\0') {
        queue_of(office)->leader(by, office);
    } else if (!journal_is_shared(office->settings.state) &&
               journal_path(path, office->settings.state, "lock", &ignored) == STATUS_OK &&
               lock_holder(holder, path)) {
        (void)snprintf(by, QUEUE_BY_BYTES, "process %s", holder);
    }
}

/* The ports for agents, operators and browsers. A coordinator that runs has these ports, and a check must not disturb it. */
static bool check_addresses(const struct office *office, bool key)
{
    const struct coordinator_settings *settings = &office->settings;
    char by[QUEUE_BY_BYTES];
    struct why why = {{0}};
    find_running(by, office);
    if (key && by[0] != '\0') {
        daemon_note("address", "not tried, for this coordinator runs (%s)", by);
        return true;
    }
    enum status status = key ? try_address(office, settings->listen, settings->lines, &why)
                             : endpoint_check_address(settings->listen, &why);
    bool good = daemon_report("address", status, &why);
    if (key && settings->operators.listen[0] != '\0') {
        status = try_address(office, settings->operators.listen, "", &why);
        good = daemon_report("desk", status, &why) && good;
    }
    if (settings->http.listen[0] != '\0') {
        status = page_host_try(&settings->http, &why);
        good = daemon_report("page", status, &why) && good;
    }
    return good;
}

/* Makes the folder of the results as `run` does, and takes it away again. */
static enum status try_out(const struct office *office, struct why *why)
{
    struct stat about;
    const bool made = stat(office->settings.out, &about) != 0;
    const enum status status = office_make_out(office, why);
    if (made && status == STATUS_OK) {
        (void)rmdir(office->settings.out);
    }
    return status;
}

static bool check_collectors(const struct office *office,
                             enum status (*judge)(const struct office *office, struct why *why))
{
    struct why why = {{0}};
    if (!collect_is_shared(office)) {
        return true;
    }
    why_set(&why, "%s",
            collect_is_collector(office) ? office->settings.collector
                                         : office->settings.collectors);
    return daemon_report("collectors", judge(office, &why), &why);
}

/* What a coordinator that stays will find. */
static bool check_queue(struct office *office, struct roster *roster)
{
    struct why why = {{0}};
    struct queue_list list = {.count = 0};
    size_t left = 0;
    enum status status = queue_open(office, &why);
    if (status == STATUS_OK && !journal_is_shared(office->settings.jobs)) {
        status = journal_folder_try(office->settings.jobs, &why);
    }
    if (status == STATUS_OK && !collect_is_collector(office)) {
        status = queue_of(office)->may_lead(office, &why);
    }
    if (status == STATUS_OK) {
        status = queue_of(office)->list(&list, office, &why);
    }
    for (size_t i = 0; i < list.count; i++) {
        left += list.entry[i].over ? 0 : 1;
    }
    if (status == STATUS_OK) {
        char place[QUEUE_PATH_BYTES];
        queue_of(office)->describe(place, office);
        why_set(&why, "%s: %zu job%s, of which %zu %s not over", place, list.count,
                text_plural_s(list.count), left, text_plural_are(left));
    }
    const bool jobs = daemon_report("jobs", status, &why);
    const bool good = check_collectors(office, collect_judge_names) && jobs;
    const bool lists = check_roster(office, roster);
    if (jobs) {
        note_queue_memory(office, &list, roster);
    }
    queue_list_free(&list);
    return lists && good;
}

/* The desk's list, beside the agents': no key may be on both. */
static bool check_operators(const struct office *office, const struct roster *agents)
{
    struct why why = {{0}};
    const char *path = office->settings.operators.list;
    size_t count = 0;
    struct roster *operators = calloc(1, sizeof *operators);
    if (office->settings.operators.listen[0] == '\0') {
        free(operators);
        return true;
    }
    enum status status = operators == NULL ? STATUS_NO_MEMORY : roster_read(operators, path, &why);
    for (size_t i = 0; status == STATUS_OK && i < operators->count; i++) {
        const struct roster_entry *entry = &operators->entry[i];
        const struct roster_entry *other = roster_find(agents, &entry->key);
        count += entry->token_until_s == 0 ? 1 : 0;
        if (other != NULL) {
            status = why_refuse(&why,
                                "the key of the operator %s is the agent %s's too, and is not "
                                "admitted; remedy: another key",
                                entry->name, other->name);
        }
    }
    if (status == STATUS_OK) {
        why_set(&why, "%zu key%s", count, text_plural_s(count));
    } else if (status == STATUS_NOT_FOUND) {
        why_set(&why, "%s is not there: no operator is admitted yet: `operators add`", path);
        status = STATUS_OK;
    }
    free(operators);
    return daemon_report("operators", status, &why);
}

static void note_again(UNUSED void *self, const char *text)
{
    daemon_note("job", "%s", text);
}

/* Without memory nothing is said. */
static void note_questions(const struct job *job)
{
    struct job_agains agains;
    if (job_asks_again(&agains, job) == STATUS_OK) {
        job_again_tell(&agains, job, note_again, NULL);
    }
}

static bool check_job(struct office *office, struct roster *roster)
{
    struct why why = {{0}};
    bool good = daemon_report("state", journal_try(office->settings.state, &why), &why);
    good = daemon_report("out", try_out(office, &why), &why) && good;
    const bool job = daemon_report("job", office_read_job(office, &why), &why);
    if (job) {
        note_questions(&office->job);
    }
    good = (!job || check_collectors(office, collect_judge)) && good;
    return job && check_roster(office, roster) && good;
}

int main_check(const struct arguments *arguments)
{
    struct office office = {0};
    struct roster *roster = calloc(1, sizeof *roster);
    struct why why = {{0}};
    bool good =
        roster != NULL &&
        daemon_report("settings", office_read_settings(&office, arguments->config, &why), &why);

    if (good) {
        blas_reserve(office_at_once(&office)); /* as `run` does */
        good = daemon_check_memory(office.settings.memory_bytes_max);
        const bool key = daemon_report("key", office_read_key(&office, &why), &why);
        good = check_addresses(&office, key) && key && good;
        good = (office.settings.jobs[0] != '\0' ? check_queue(&office, roster)
                                                : check_job(&office, roster)) &&
               good;
        good = check_operators(&office, roster) && good;
    }
    (void)puts(good ? "PASSED" : "NOT READY");
    free(roster);
    queue_of(&office)->close(&office);
    office_free(&office);
    return good ? EXIT_CODE_OK : EXIT_CODE_INPUT;
}
