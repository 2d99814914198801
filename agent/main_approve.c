/* `hedgerow-agent approve`: a person reads the jobs that wait and says yes or no. The decision goes to the file
 * `approvals` in the state folder, which the running agent follows. */

#include "agent/main_approve.h"

#include "base/exit_code.h"
#include "base/file.h"
#include "config/config.h"
#include "crypto/digest.h"
#include "io/daemon.h"
#include "io/journal.h"
#include "protocol/wire.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM "hedgerow-agent"

struct desk {
    struct site site;
    struct approvals approvals;
    char approvals_path[DESK_PATH_BYTES];
    struct waiting_job waiting[WAITING_MAX];
    size_t count;
    size_t unread_count; /* texts that were named and passed over */
    bool decided;
};

void site_approvals_path(const struct site *site, char path[static DESK_PATH_BYTES])
{
    (void)snprintf(path, DESK_PATH_BYTES, "%s/approvals", site->settings.state);
}

static void waiting_path(const struct site *site, char path[static DESK_PATH_BYTES],
                         const char *hex)
{
    (void)snprintf(path, DESK_PATH_BYTES, "%s/waiting%s%s%s", site->settings.state,
                   hex[0] != '\0' ? "/" : "", hex, hex[0] != '\0' ? ".yml" : "");
}

static size_t count_waiting(const char *folder)
{
    DIR *list = opendir(folder);
    size_t count = 0;
    for (const struct dirent *entry = NULL; list != NULL && (entry = readdir(list)) != NULL;) {
        const size_t length = strlen(entry->d_name); /* a death while writing leaves another name */
        count += length > 4 && strcmp(entry->d_name + length - 4, ".yml") == 0 ? 1 : 0;
    }
    if (list != NULL) {
        (void)closedir(list);
    }
    return count;
}

bool site_keep_waiting(const struct site *site, const struct digest *digest, struct slice text,
                       struct why *why)
{
    char path[DESK_PATH_BYTES];
    char hex[2 * DIGEST_BYTES + 1];

    waiting_path(site, path, "");
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        why_file(why, path, "made", errno);
        return false;
    }
    const size_t count = count_waiting(path);
    hex_encode(hex, digest->byte, DIGEST_BYTES);
    waiting_path(site, path, hex);
    if (access(path, F_OK) == 0) {
        return true;
    }
    if (count >= WAITING_MAX) {
        why_set(why, "%d jobs wait already: decide on them first", (int)WAITING_MAX);
        return false;
    }
    return file_write(path, text, 0600, why) == STATUS_OK;
}

struct run_count {
    struct waiting_job *waiting;
    size_t count;
};

static enum status count_run(void *self, UNUSED uint64_t sequence, struct slice body,
                             UNUSED struct slice blob)
{
    struct run_count *runs = self;
    struct record record;
    enum status status = wire_decode_record(&record, body);
    if (status != STATUS_OK) {
        return status;
    }
    for (size_t i = 0; record.kind == RECORD_JOB && i < runs->count; i++) {
        runs->waiting[i].runs_before +=
            digest_equal(&record.as.job.job.text_digest, &runs->waiting[i].digest) ? 1 : 0;
    }
    record_free(&record);
    return STATUS_OK;
}

static enum status read_approvals(struct desk *desk, struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    site_approvals_path(&desk->site, desk->approvals_path);
    if (access(desk->approvals_path, F_OK) != 0) {
        return STATUS_OK;
    }
    enum status status = config_load_owned(&text, &size, desk->approvals_path, why);
    if (status == STATUS_OK) {
        status = approvals_parse(&desk->approvals, (struct slice){text, size}, desk->approvals_path,
                                 why);
    }
    free(text);
    return status;
}

/* Fails with STATUS_NOT_FOUND where a file of that name is no waiting job's. */
static enum status read_waiting(const struct site *site, struct waiting_job *out, const char *name,
                                struct why *why)
{
    char path[DESK_PATH_BYTES];
    const size_t digits = 2 * (size_t)DIGEST_BYTES;
    if (strlen(name) != digits + 4 || strcmp(name + digits, ".yml") != 0) {
        return STATUS_NOT_FOUND;
    }
    memcpy(out->hex, name, digits);
    out->hex[digits] = '\0';
    if (hex_decode(out->digest.byte, DIGEST_BYTES, out->hex) != STATUS_OK) {
        return STATUS_NOT_FOUND;
    }
    waiting_path(site, path, out->hex);
    enum status status = config_load_owned(&out->text, &out->size, path, why);
    if (status == STATUS_OK) {
        struct digest digest;
        digest_sha256(&digest, &(struct slice){out->text, out->size}, 1);
        if (!digest_equal(&digest, &out->digest)) {
            status =
                why_refuse(why, "%s: its text is not the one that its name is the digest of", path);
        }
    }
    return status == STATUS_OK
               ? job_parse(&out->job, (struct slice){out->text, out->size}, path, why)
               : status;
}

static void waiting_free(struct waiting_job *waiting)
{
    free(waiting->text);
    job_free(&waiting->job);
    memset(waiting, 0, sizeof *waiting);
}

/* One text that cannot be read or parsed keeps nobody from the others. */
static enum status read_all_waiting(struct desk *desk)
{
    char path[DESK_PATH_BYTES];
    waiting_path(&desk->site, path, "");
    DIR *list = opendir(path);
    const struct dirent *entry = NULL;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && desk->count < WAITING_MAX && list != NULL &&
           (entry = readdir(list)) != NULL) {
        struct waiting_job *next = &desk->waiting[desk->count];
        struct why wrong = {{0}};
        const enum status one = read_waiting(&desk->site, next, entry->d_name, &wrong);
        if (one == STATUS_OK) {
            desk->count++;
            continue;
        }
        waiting_free(next);
        if (one == STATUS_NO_MEMORY) {
            status = one;
        } else if (one != STATUS_NOT_FOUND) {
            (void)fprintf(stderr, PROGRAM ": %s; this text is passed over; remedy: delete %s/%s\n",
                          wrong.text[0] != '\0' ? wrong.text : status_text(one), path,
                          entry->d_name);
            desk->unread_count++;
        }
    }
    if (list != NULL) {
        (void)closedir(list);
    }
    return status;
}

static enum status read_desk(struct desk *desk, const char *config, struct why *why)
{
    enum status status = site_read_settings(&desk->site, config, why);
    if (status == STATUS_OK) {
        status = site_read_policy(&desk->site, why);
    }
    if (status == STATUS_OK) {
        status = site_read_dictionary(&desk->site, why);
    }
    if (status == STATUS_OK) {
        status = read_approvals(desk, why);
    }
    if (status == STATUS_OK) {
        status = read_all_waiting(desk);
    }
    if (status == STATUS_OK) {
        struct run_count runs = {desk->waiting, desk->count};
        status = journal_sqlite_read(desk->site.settings.state, "agent", count_run, &runs, why);
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* Returns the one job that waits whose digest begins so. */
static struct waiting_job *find_waiting(struct desk *desk, const char *prefix, struct why *why)
{
    struct waiting_job *found = NULL;
    for (size_t i = 0; i < desk->count; i++) {
        if (strncmp(desk->waiting[i].hex, prefix, strlen(prefix)) != 0) {
            continue;
        }
        if (found != NULL) {
            why_set(
                why,
                "more than one waiting job has a digest that begins with \"%s\": give more of it",
                prefix);
            return NULL;
        }
        found = &desk->waiting[i];
    }
    if (found == NULL) {
        why_set(why,
                "no waiting job has a digest that begins with \"%s\": `" PROGRAM
                " approve` without one lists them",
                prefix);
    }
    return found;
}

static enum status write_decision(struct desk *desk, const struct digest *digest, uint32_t runs,
                                  struct why *why)
{
    char path[DESK_PATH_BYTES];
    char hex[2 * DIGEST_BYTES + 1];
    enum status status = approvals_set(&desk->approvals, digest, runs);
    if (status != STATUS_OK) {
        why_set(why, "%s is full: remove lines that are no longer of use", desk->approvals_path);
        return status;
    }
    char *text = approvals_format(&desk->approvals);
    status = text == NULL
                 ? STATUS_NO_MEMORY
                 : file_write(desk->approvals_path, (struct slice){text, strlen(text)}, 0600, why);
    free(text);
    if (status == STATUS_OK) {
        hex_encode(hex, digest->byte, DIGEST_BYTES);
        waiting_path(&desk->site, path, hex);
        (void)unlink(path);
        desk->decided = true;
    }
    return status;
}

/* Returns the one text, of those that wait and those decided on, whose digest begins so. One whose run was approved
 * before waits no longer, and can be refused all the same. */
static const struct digest *find_refused(const struct desk *desk, const char *prefix,
                                         struct why *why)
{
    const struct digest *found = NULL;
    for (size_t i = 0; i < desk->count + desk->approvals.count; i++) {
        char hex[2 * DIGEST_BYTES + 1];
        const struct digest *next = i < desk->count ? &desk->waiting[i].digest
                                                    : &desk->approvals.item[i - desk->count].text;
        hex_encode(hex, next->byte, DIGEST_BYTES);
        if (strncmp(hex, prefix, strlen(prefix)) != 0) {
            continue;
        }
        if (found != NULL && !digest_equal(found, next)) {
            why_set(why,
                    "more than one job that waits or was decided on has a digest that begins with "
                    "\"%s\": give more of it",
                    prefix);
            return NULL;
        }
        found = next;
    }
    if (found == NULL) {
        why_set(why,
                "no job that waits or was decided on has a digest that begins with \"%s\": "
                "`" PROGRAM " approve` without one lists those that wait",
                prefix);
    }
    return found;
}

static enum status refuse(struct desk *desk, const char *prefix, struct why *why)
{
    const struct digest *digest = find_refused(desk, prefix, why);
    if (digest == NULL) {
        return STATUS_INVALID;
    }
    const struct digest chosen = *digest;
    enum status status = write_decision(desk, &chosen, 0, why);
    if (status == STATUS_OK) {
        (void)puts("refused: a running agent declines it within a second");
    }
    return status;
}

static bool says_yes(void)
{
    char line[16] = "";
    (void)fputs("\nApprove? [y/N] ", stdout);
    (void)fflush(stdout);
    return fgets(line, sizeof line, stdin) != NULL && (line[0] == 'y' || line[0] == 'Y');
}

static enum status approve(struct desk *desk, const struct waiting_job *waiting,
                           const struct arguments *arguments, struct why *why)
{
    enum status status = policy_check_job(&desk->site.policy, &waiting->job, why);
    if (status != STATUS_OK) {
        return status;
    }
    if (!arguments->yes && isatty(STDIN_FILENO) == 0) {
        return why_refuse(
            why, "nobody is asked without a terminal: give --yes once a person has read the above");
    }
    if (!arguments->yes && !says_yes()) {
        (void)puts("not approved: it goes on waiting; --refuse declines it");
        return STATUS_OK;
    }
    const uint32_t runs = waiting->runs_before + (uint32_t)arguments->runs;
    status = write_decision(desk, &waiting->digest, runs, why);
    if (status == STATUS_OK && !arguments->json) {
        (void)printf("approved for %u run%s: a running agent joins within a second\n",
                     (unsigned)arguments->runs, arguments->runs == 1 ? "" : "s");
    }
    return status;
}

static void list(const struct desk *desk)
{
    for (size_t i = 0; i < desk->count; i++) {
        const struct waiting_job *waiting = &desk->waiting[i];
        (void)printf("%.12s  %s, trust %s, epsilon %g\n", waiting->hex, waiting->job.name,
                     job_trust_name(waiting->job.trust), (double)waiting->job.epsilon_micro * 1e-6);
    }
    const char *none = desk->unread_count == 0 ? "no job waits for a person"
                                               : "no job that can be read waits for a person";
    (void)puts(desk->count == 0 ? none
                                : "\nread and decide: `" PROGRAM " approve --config FILE DIGEST`");
}

static enum status decide(struct desk *desk, const struct arguments *arguments, struct why *why)
{
    enum status status = STATUS_OK;
    struct waiting_job *waiting = NULL;
    if (arguments->refuse != NULL) {
        return refuse(desk, arguments->refuse, why);
    }
    if (arguments->digest != NULL) {
        waiting = find_waiting(desk, arguments->digest, why);
        if (waiting == NULL) {
            return STATUS_INVALID;
        }
    } else if (desk->count == 1) {
        waiting = &desk->waiting[0];
    }
    if (arguments->json) {
        status = waiting != NULL ? approve_json(&desk->site, waiting, 1, why)
                                 : approve_json(&desk->site, desk->waiting, desk->count, why);
    } else if (waiting != NULL) {
        status = approve_show(&desk->site, waiting, why);
    } else {
        list(desk);
    }
    if (status != STATUS_OK || waiting == NULL || (arguments->json && !arguments->yes)) {
        return status;
    }
    return approve(desk, waiting, arguments, why);
}

int main_approve(const struct arguments *arguments)
{
    struct desk *desk = calloc(1, sizeof *desk);
    struct why why = {{0}};
    int good = EXIT_CODE_OK;
    enum status status = desk == NULL ? STATUS_NO_MEMORY : read_desk(desk, arguments->config, &why);
    if (status == STATUS_OK) {
        status = decide(desk, arguments, &why);
        good = desk->unread_count > 0 && !desk->decided ? EXIT_CODE_INPUT : EXIT_CODE_OK;
    }
    if (desk != NULL) {
        for (size_t i = 0; i < WAITING_MAX; i++) {
            waiting_free(&desk->waiting[i]);
        }
        site_free(&desk->site);
        free(desk);
    }
    (void)fflush(stdout);
    return status == STATUS_OK ? good : daemon_complain(PROGRAM, status, &why);
}
