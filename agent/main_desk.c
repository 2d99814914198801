/* What the commands about jobs read first, and the files that they and the running agent share: `approvals`, and the texts in
 * `waiting`. */

#include "agent/main_approve.h"
#include "base/file.h"
#include "config/config.h"
#include "crypto/digest.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void site_approvals_path(const struct site *site, char path[static DESK_PATH_BYTES])
{
    (void)snprintf(path, DESK_PATH_BYTES, "%s/approvals", site->settings.state);
}

/* The names of texts: by whether a person has yet to decide, or said no; or has said yes. */
static const char WAITING[] = ".yml";
static const char APPROVED[] = ".approved";

static void waiting_path(const struct site *site, char path[static DESK_PATH_BYTES],
                         const char *hex, const char *suffix)
{
    (void)snprintf(path, DESK_PATH_BYTES, "%s/waiting%s%s%s", site->settings.state,
                   hex[0] != '\0' ? "/" : "", hex, suffix);
}

/* Returns whether a name is one that a waiting text has: a death while writing leaves another. */
static bool digest_of(struct digest *digest, const char *name)
{
    char hex[2 * DIGEST_BYTES + 1];
    const size_t digits = sizeof hex - 1;
    if (strlen(name) != digits + 4 || strcmp(name + digits, ".yml") != 0) {
        return false;
    }
    memcpy(hex, name, digits);
    hex[digits] = '\0';
    return hex_decode(digest->byte, DIGEST_BYTES, hex) == STATUS_OK;
}

static enum status load_approvals(struct approvals *out, const char *path, struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    out->count = 0;
    if (access(path, F_OK) != 0) {
        return STATUS_OK;
    }
    enum status status = config_load_owned(&text, &size, path, why);
    if (status == STATUS_OK) {
        status = approvals_parse(out, (struct slice){text, size}, path, why);
    }
    free(text);
    return status;
}

/* Drops a text where there is no room for another: one that was rejected, or one whose job is over. The new one is offered, so all
 * others are not. */
static bool make_room(const struct site *site, const char *folder)
{
    char path[DESK_PATH_BYTES];
    char hex[2 * DIGEST_BYTES + 1];
    struct why why = {{0}};
    struct digest digest;
    struct digest rejected = {{0}};
    struct digest over = {{0}};
    size_t count = 0;
    struct approvals *approvals = calloc(1, sizeof *approvals);
    DIR *list = opendir(folder);
    site_approvals_path(site, path);
    const bool read = approvals != NULL && load_approvals(approvals, path, &why) == STATUS_OK;
    for (const struct dirent *entry = NULL; list != NULL && (entry = readdir(list)) != NULL;) {
        if (!digest_of(&digest, entry->d_name)) {
            continue;
        }
        count++;
        over = digest;
        const struct approval *decision = read ? approvals_find(approvals, &digest) : NULL;
        rejected = decision != NULL && decision->runs == 0 ? digest : rejected;
    }
    if (list != NULL) {
        (void)closedir(list);
    }
    free(approvals);
    if (count < WAITING_MAX) {
        return true;
    }
    hex_encode(hex, digest_is_none(&rejected) ? over.byte : rejected.byte, DIGEST_BYTES);
    waiting_path(site, path, hex, WAITING);
    return count == WAITING_MAX && unlink(path) == 0;
}

bool site_keep_waiting(const struct site *site, const struct digest *digest, struct slice text,
                       struct why *why)
{
    char path[DESK_PATH_BYTES];
    char folder[DESK_PATH_BYTES];
    char hex[2 * DIGEST_BYTES + 1];

    waiting_path(site, folder, "", "");
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        why_file(why, folder, "made", errno);
        return false;
    }
    hex_encode(hex, digest->byte, DIGEST_BYTES);
    waiting_path(site, path, hex, WAITING);
    if (access(path, F_OK) == 0) {
        return true;
    }
    if (!make_room(site, folder)) {
        why_set(why, "%d jobs wait already: decide on them first", (int)WAITING_MAX);
        return false;
    }
    return file_write(path, text, 0600, why) == STATUS_OK;
}

static enum status load_text(struct waiting_job *out, const char *path, struct why *why)
{
    enum status status = config_load_owned(&out->text, &out->size, path, why);
    if (status == STATUS_OK) {
        struct digest digest;
        digest_sha256(&digest, &(struct slice){out->text, out->size}, 1);
        if (!digest_equal(&digest, &out->digest)) {
            status = why_refuse(why, "%s: its text does not match the digest in its name", path);
        }
    }
    return status == STATUS_OK
               ? job_parse(&out->job, (struct slice){out->text, out->size}, path, why)
               : status;
}

/* Fails with STATUS_NOT_FOUND where a file of that name is no waiting job's. */
static enum status read_waiting(const struct site *site, struct waiting_job *out, const char *name,
                                struct why *why)
{
    char path[DESK_PATH_BYTES];
    if (!digest_of(&out->digest, name)) {
        return STATUS_NOT_FOUND;
    }
    hex_encode(out->hex, out->digest.byte, DIGEST_BYTES);
    waiting_path(site, path, out->hex, WAITING);
    return load_text(out, path, why);
}

void waiting_free(struct waiting_job *waiting)
{
    free(waiting->text);
    json_decref(waiting->plan);
    job_free(&waiting->job);
    memset(waiting, 0, sizeof *waiting);
}

struct waiting_job *desk_text(struct desk *desk, const struct digest *digest)
{
    for (size_t i = 0; i < desk->count; i++) {
        if (digest_equal(&desk->waiting[i].digest, digest)) {
            return &desk->waiting[i];
        }
    }
    return NULL;
}

/* A text that cannot be read or parsed does not hide the others. Fails with STATUS_NO_MEMORY alone. */
static enum status take_waiting(struct desk *desk, const char *folder, const char *name)
{
    struct digest digest;
    struct why wrong = {{0}};
    struct waiting_job *known = digest_of(&digest, name) ? desk_text(desk, &digest) : NULL;
    if (known != NULL) {
        known->there = true;
        return STATUS_OK;
    }
    if (desk->count == WAITING_MAX) {
        return STATUS_OK;
    }
    struct waiting_job *next = &desk->waiting[desk->count];
    const enum status one = read_waiting(desk->site, next, name, &wrong);
    if (one == STATUS_OK) {
        next->there = true;
        desk->count++;
        return STATUS_OK;
    }
    waiting_free(next);
    if (one == STATUS_NO_MEMORY || one == STATUS_NOT_FOUND) {
        return one == STATUS_NOT_FOUND ? STATUS_OK : one;
    }
    if (!desk->in_agent) {
        (void)fprintf(stderr, PROGRAM ": %s; this text is passed over; remedy: delete %s/%s\n",
                      wrong.text[0] != '\0' ? wrong.text : status_text(one), folder, name);
    }
    desk->unread_count++;
    return STATUS_OK;
}

/* Those whose files are gone, as after an approval, leave. */
static void drop_gone(struct desk *desk)
{
    size_t kept = 0;
    for (size_t i = 0; i < desk->count; i++) {
        struct waiting_job *waiting = &desk->waiting[i];
        if (!waiting->there) {
            waiting_free(waiting);
            continue;
        }
        waiting->runs_before = desk_runs_of(desk, &waiting->digest);
        if (kept < i) {
            desk->waiting[kept] = *waiting;
            memset(waiting, 0, sizeof *waiting);
        }
        kept++;
    }
    desk->count = kept;
}

enum status desk_refresh(struct desk *desk, struct why *why)
{
    char path[DESK_PATH_BYTES];
    site_approvals_path(desk->site, desk->approvals_path);
    enum status status = load_approvals(&desk->approvals, desk->approvals_path, why);
    if (status != STATUS_OK) {
        return status;
    }
    desk_load_offer(desk);
    desk_load_refused(desk);
    waiting_path(desk->site, path, "", "");
    desk->unread_count = 0;
    for (size_t i = 0; i < desk->count; i++) {
        desk->waiting[i].there = false;
    }
    DIR *list = opendir(path);
    const struct dirent *entry = NULL;
    while (status == STATUS_OK && list != NULL && (entry = readdir(list)) != NULL) {
        status = take_waiting(desk, path, entry->d_name);
    }
    if (list != NULL) {
        (void)closedir(list);
    }
    drop_gone(desk);
    return status;
}

static enum status read_desk(struct desk *desk, const char *config, struct why *why)
{
    enum status status = site_read_settings(&desk->own, config, why);
    if (status == STATUS_OK) {
        status = site_read_policy(&desk->own, why);
    }
    if (status == STATUS_OK) {
        status = site_read_dictionary(&desk->own, why);
    }
    if (status == STATUS_OK) {
        status = desk_read_journal(desk, why);
    }
    return status == STATUS_OK ? desk_refresh(desk, why) : status;
}

enum status desk_open(struct desk **out, const char *config, struct why *why)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        return STATUS_NO_MEMORY;
    }
    (*out)->site = &(*out)->own;
    return read_desk(*out, config, why);
}

void desk_free(struct desk *desk)
{
    if (desk != NULL) {
        for (size_t i = 0; i < WAITING_MAX; i++) {
            waiting_free(&desk->waiting[i]);
        }
        site_free(&desk->own);
        free(desk->run);
        free(desk);
    }
}

bool desk_is_undecided(const struct desk *desk, const struct waiting_job *waiting)
{
    const struct approval *decision = approvals_find(&desk->approvals, &waiting->digest);
    return decision == NULL || (decision->runs > 0 && (decision->runs <= waiting->runs_before ||
                                                       desk_is_spent(desk, decision)));
}

bool desk_waits(const struct desk *desk, const struct waiting_job *waiting)
{
    return desk_offers(desk, &waiting->digest) && desk_is_undecided(desk, waiting) &&
           desk_refusal_of(desk, &waiting->digest) == NULL;
}

bool desk_load_approved(const struct desk *desk, struct waiting_job *out, enum status *status,
                        struct why *why)
{
    char path[DESK_PATH_BYTES];
    waiting_path(desk->site, path, out->hex, APPROVED);
    if (access(path, F_OK) != 0) {
        return false;
    }
    *status = load_text(out, path, why);
    return true;
}

enum status desk_decide(struct desk *desk, const struct approval *decision, struct why *why)
{
    char path[DESK_PATH_BYTES];
    char hex[2 * DIGEST_BYTES + 1];
    enum status status = approvals_set(&desk->approvals, decision);
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
        desk->decided = true;
    }
    if (status == STATUS_OK &&
        decision->runs > 0) { /* a text that is rejected can still be approved */
        char kept[DESK_PATH_BYTES];
        hex_encode(hex, decision->text.byte, DIGEST_BYTES);
        waiting_path(desk->site, path, hex, WAITING);
        waiting_path(desk->site, kept, hex, APPROVED);
        (void)rename(path, kept);
    }
    return status;
}
