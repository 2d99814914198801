/* The queue's folder. Every step here may be the last one of its program: a job's folder appears by a rename, a file in it
 * by another, and an unfinished one begins with a dot. */

#include "coordinator/main_queue_folder.h"

#include "base/file.h"
#include "base/owned.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SUBMISSION "submission "

enum {
    NUMBER_DIGITS = 9,
    NUMBER_MAX = 999999999,
    TRIES_MAX = 1000,
    LOCK_TRIES = 100, /* the desk serves nobody else meanwhile: some two seconds */
    LOCK_WAIT_MS = 20,
    PATH_ROOM = 32,
    SUBMITTED_BYTES = 2 * QUEUE_BY_BYTES
};

void folder_path(char path[static QUEUE_PATH_BYTES], const struct office *office, uint32_t number,
                 const char *name)
{
    (void)snprintf(path, QUEUE_PATH_BYTES, "%s/%" PRIu32 "%s%s", office->settings.jobs, number,
                   name[0] != '\0' ? "/" : "", name);
}

bool folder_holds(const struct office *office, uint32_t number, const char *name)
{
    char path[QUEUE_PATH_BYTES];
    folder_path(path, office, number, name);
    return access(path, F_OK) == 0;
}

static void mark_path(char path[static QUEUE_PATH_BYTES], const struct office *office,
                      uint32_t number)
{
    (void)snprintf(path, QUEUE_PATH_BYTES, "%s/.begun.%" PRIu32, office->settings.jobs, number);
}

bool folder_was_begun(const struct office *office, uint32_t number)
{
    char path[QUEUE_PATH_BYTES];
    mark_path(path, office, number);
    return access(path, F_OK) == 0;
}

enum status folder_mark_begun(const struct office *office, uint32_t number, struct why *why)
{
    char path[QUEUE_PATH_BYTES];
    mark_path(path, office, number);
    return folder_was_begun(office, number) ? STATUS_OK
                                            : file_write(path, (struct slice){"", 0}, 0400, why);
}

enum status folder_open(struct office *office, struct why *why)
{
    const char *path = office->settings.jobs;
    struct stat about;
    if (strlen(path) + PATH_ROOM > SETTINGS_PATH_BYTES) {
        return why_refuse(why, "the path of `jobs` is too long: %s", path);
    }
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        why_file(why, path, "made", errno);
        return STATUS_IO;
    }
    enum status status = owned_folder(&about, path, why);
    if (status == STATUS_OK &&
        about.st_uid != geteuid()) { /* root's own: what it makes is lost to the service */
        status =
            why_refuse(why, "%s belongs to root; remedy: chown it to the service's account", path);
    }
    return status;
}

/* 1, 2, ... as they are written: without a leading zero, and nothing after. */
static uint32_t number_of(const char *name, size_t size)
{
    uint32_t number = 0;
    if (size == 0 || size > NUMBER_DIGITS || name[0] == '0') {
        return 0;
    }
    for (size_t i = 0; i < size; i++) {
        if (name[i] < '0' || name[i] > '9') {
            return 0;
        }
        number = number * 10 + (uint32_t)(name[i] - '0');
    }
    return number;
}

static int by_number(const void *a, const void *b)
{
    const struct queue_entry *left = a;
    const struct queue_entry *right = b;
    return left->number < right->number ? -1 : left->number > right->number ? 1 : 0;
}

enum status folder_list(struct queue_list *list, const struct office *office, struct why *why)
{
    *list = (struct queue_list){.count = 0};
    enum status status = file_names(&list->names, &list->names_size, office->settings.jobs, why);
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? STATUS_IO : status;
    }
    list->entry =
        calloc(list->names_size / 2 + 1, sizeof *list->entry); /* a name has two bytes or more */
    if (list->entry == NULL) {
        queue_list_free(list);
        return STATUS_NO_MEMORY;
    }
    for (const char *name = list->names; *name != '\0';) {
        const size_t size = strcspn(name, "\n");
        const uint32_t number = number_of(name, size);
        if (number > 0) {
            list->entry[list->count++] =
                (struct queue_entry){.number = number,
                                     .begun = folder_was_begun(office, number),
                                     .over = folder_holds(office, number, "end")};
        }
        name += size + 1;
    }
    qsort(list->entry, list->count, sizeof *list->entry, by_number);
    return STATUS_OK;
}

static enum status sync_folder(const char *path, struct why *why)
{
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool good = folder >= 0 && fsync(folder) == 0;
    if (!good) {
        why_file(why, path, "written", errno);
    }
    if (folder >= 0) {
        (void)close(folder);
    }
    return good ? STATUS_OK : STATUS_IO;
}

static enum status write_new(const char *folder, const struct queue_submission *submission,
                             struct why *why)
{
    char path[QUEUE_PATH_BYTES + 32];
    char line[SUBMITTED_BYTES];
    int used = snprintf(line, sizeof line, "%s\n", submission->line);
    if (submission->actor->submission != NULL) {
        char hex[2 * DIGEST_BYTES + 1];
        hex_encode(hex, submission->actor->submission->byte, DIGEST_BYTES);
        (void)snprintf(line + used, sizeof line - (size_t)used, SUBMISSION "%s\n", hex);
    }
    (void)snprintf(path, sizeof path, "%s/job.yml", folder);
    enum status status = file_write(path, submission->text, 0400, why);
    if (status == STATUS_OK) {
        (void)snprintf(path, sizeof path, "%s/submitted", folder);
        status = file_write(path, (struct slice){line, strlen(line)}, 0400, why);
    }
    return status;
}

static void drop_new(const char *folder)
{
    static const char *const name[] = {"job.yml", "submitted"};
    char path[QUEUE_PATH_BYTES + 32];
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, name[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
}

/* Gives the folder the first free number after all numbers that are taken. */
static enum status commit_new(uint32_t *number, const struct office *office, const char *folder,
                              struct why *why)
{
    char path[QUEUE_PATH_BYTES];
    for (int i = 0; i < TRIES_MAX; i++) { /* two commands may have found the same number free */
        struct queue_list list;
        enum status status = folder_list(&list, office, why);
        if (status != STATUS_OK) {
            return status;
        }
        *number = list.count > 0 ? list.entry[list.count - 1].number + 1 : 1;
        queue_list_free(&list);
        while (*number <= NUMBER_MAX &&
               folder_was_begun(office, *number)) { /* of a job that was removed */
            (*number)++;
        }
        if (*number > NUMBER_MAX) {
            return why_refuse(
                why, "%s: no number is free behind %d; remedy: remove the folder that has it",
                office->settings.jobs, (int)NUMBER_MAX);
        }
        folder_path(path, office, *number, "");
        if (rename(folder, path) == 0) {
            status = sync_folder(office->settings.jobs, why);
            if (status != STATUS_OK) {
                why_set(why,
                        "job %" PRIu32 " is in the queue, but a power failure might lose it: "
                        "%s cannot be flushed; remedy: look with `jobs` before you submit it "
                        "again",
                        *number, office->settings.jobs);
            }
            return status;
        }
        if (errno != EEXIST && errno != ENOTEMPTY) {
            why_file(why, path, "made", errno);
            return STATUS_IO;
        }
    }
    why_set(why, "%s: no number is free", office->settings.jobs);
    return STATUS_IO;
}

static enum status add(uint32_t *number, const struct office *office,
                       const struct queue_submission *submission, struct why *why)
{
    char folder[QUEUE_PATH_BYTES];
    (void)snprintf(folder, sizeof folder, "%s/.new.XXXXXX", office->settings.jobs);
    if (mkdtemp(folder) == NULL) {
        why_file(why, office->settings.jobs, "written", errno);
        return STATUS_IO;
    }
    enum status status = write_new(folder, submission, why);
    if (status == STATUS_OK) {
        status = commit_new(number, office, folder, why);
    }
    if (status != STATUS_OK) {
        drop_new(folder); /* does nothing to one that has its number */
    }
    return status;
}

/* Two commands may submit the same id at once: one of them looks and adds before the other looks. */
static enum status lock_ids(int *lock, const struct office *office, struct why *why)
{
    char path[QUEUE_PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/.ids.lock", office->settings.jobs);
    const enum status status = owned_open(lock, path, O_RDWR | O_CREAT, why);
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? STATUS_IO : status;
    }
    for (int i = 0; flock(*lock, LOCK_EX | LOCK_NB) != 0; i++) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            why_file(why, path, "locked", errno);
            (void)close(*lock);
            return STATUS_IO;
        }
        if (i >= LOCK_TRIES) {
            why_set(why, "another submit with an id holds %s; remedy: submit again", path);
            (void)close(*lock);
            return STATUS_BUSY;
        }
        const struct timespec wait = {.tv_nsec = LOCK_WAIT_MS * 1000000L};
        (void)nanosleep(&wait, NULL);
    }
    return STATUS_OK;
}

enum status folder_add(uint32_t *number, const struct office *office,
                       const struct queue_submission *submission, struct why *why)
{
    int lock = -1;
    size_t open_count = 0;
    if (submission->actor->submission == NULL) {
        return add(number, office, submission, why);
    }
    enum status status = lock_ids(&lock, office, why);
    if (status != STATUS_OK) {
        return status;
    }
    status = folder_find(number, &open_count, office, submission->actor, submission->by, why);
    if (status == STATUS_OK) {
        status = *number == 0 ? add(number, office, submission, why) : STATUS_EXISTS;
    }
    (void)close(lock); /* and with it the lock */
    return status;
}

/* Tells whether the file `submitted` of a job names the operator; and whether it has the submission. Who names a submission must not
 * get a second job because a file could not be read. */
static enum status judge_of(bool *own, bool *same, const struct office *office, uint32_t number,
                            const struct queue_actor *actor, const char *name, struct why *why)
{
    char path[QUEUE_PATH_BYTES];
    char by[QUEUE_BY_BYTES];
    char line[SUBMITTED_BYTES];
    char hex[2 * DIGEST_BYTES + 1];
    char *text = NULL;
    size_t size = 0;
    *own = *same = false;
    folder_path(path, office, number, "submitted");
    const enum status status = file_read(&text, &size, path, SUBMITTED_BYTES, why);
    if (status == STATUS_NOT_FOUND || (status != STATUS_OK && actor->submission == NULL)) {
        return STATUS_OK;
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (actor->submission != NULL && (size == 0 || text[size - 1] != '\n')) {
        free(text);
        why_set(why, "%s is cut off, so nobody knows who submitted job %" PRIu32, path, number);
        return STATUS_CORRUPT;
    }
    (void)snprintf(by, sizeof by, "%s at ", name);
    *own = strncmp(text, by, strlen(by)) == 0;
    const char *second = strchr(text, '\n');
    if (*own && second != NULL && actor->submission != NULL) {
        hex_encode(hex, actor->submission->byte, DIGEST_BYTES);
        (void)snprintf(line, sizeof line, "\n" SUBMISSION "%s\n", hex);
        *same = strcmp(second, line) == 0;
    }
    free(text);
    return STATUS_OK;
}

enum status folder_find(uint32_t *number, size_t *open_count, const struct office *office,
                        const struct queue_actor *actor, const char *by, struct why *why)
{
    struct queue_list list;
    *number = 0;
    *open_count = 0;
    enum status status = folder_list(&list, office, why);
    for (size_t i = 0; status == STATUS_OK && i < list.count; i++) {
        bool own = false;
        bool same = false;
        status = judge_of(&own, &same, office, list.entry[i].number, actor, by, why);
        if (own) {
            *open_count += list.entry[i].over ? 0 : 1;
            *number = same ? list.entry[i].number : *number;
        }
    }
    queue_list_free(&list);
    /* Who gave the job its number may have died before a power failure could no longer lose it. */
    return status == STATUS_OK && *number > 0 ? sync_folder(office->settings.jobs, why) : status;
}
