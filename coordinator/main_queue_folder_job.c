/* A job's files in the queue's folder, and the table of what a folder does as a queue's store. */

#include "coordinator/main_queue_folder.h"

#include "base/file.h"
#include "config/config.h"
#include "io/clock.h"
#include "io/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK ".lock" /* of who leads the queue */

enum { SETTLED_MS = 1000 };

/* The first line of a file for people; "" where it cannot be read, which decides nothing. */
static void read_line(char *line, size_t room, const struct office *office, uint32_t number,
                      const char *name)
{
    char path[QUEUE_PATH_BYTES];
    char *text = NULL;
    size_t size = 0;
    struct why why = {{0}};
    size_t used = 0;
    folder_path(path, office, number, name);
    if (config_load_owned(&text, &size, path, &why) == STATUS_OK) {
        while (used < size && used < room - 1 && text[used] >= ' ' && text[used] <= '~') {
            line[used] = text[used];
            used++;
        }
    }
    line[used] = '\0';
    if (used == 0 && size > 0) { /* as the machine that follows `cancel` takes it */
        (void)snprintf(line, room, "an operator");
    }
    free(text);
}

static enum status put_line(const struct office *office, uint32_t number, const char *name,
                            const char *line, struct why *why)
{
    char path[QUEUE_PATH_BYTES];
    char text[QUEUE_ASIDE_BYTES + 1];
    (void)snprintf(text, sizeof text, "%s\n", line);
    folder_path(path, office, number, name);
    return file_write(path, (struct slice){text, strlen(text)}, 0400, why);
}

static enum status no_job(const struct office *office, uint32_t number, struct why *why)
{
    why_set(why, "there is no job %" PRIu32 " in %s: `jobs` lists them", number,
            office->settings.jobs);
    return STATUS_NOT_FOUND;
}

static enum status peek(struct queue_kept *kept, const struct office *office, uint32_t number,
                        struct why *why)
{
    *kept = (struct queue_kept){.over = false};
    if (!folder_holds(office, number, "")) {
        return no_job(office, number, why);
    }
    kept->begun = folder_was_begun(office, number);
    kept->over = folder_holds(office, number, "end");
    kept->journal = folder_holds(office, number, "state/journal.db");
    read_line(kept->submitted, sizeof kept->submitted, office, number, "submitted");
    read_line(kept->cancel, sizeof kept->cancel, office, number, "cancel");
    read_line(kept->aside, sizeof kept->aside, office, number, "aside");
    return STATUS_OK;
}

static enum status text_of(char **text, size_t *size, const struct office *office, uint32_t number,
                           struct why *why)
{
    char path[QUEUE_PATH_BYTES];
    if (!folder_holds(office, number, "")) {
        return no_job(office, number, why);
    }
    folder_path(path, office, number, "job.yml");
    return config_load_owned(text, size, path, why);
}

/* open_folder has refused a folder whose paths would not fit. */
static void set_path(char out[static SETTINGS_PATH_BYTES], const struct office *office,
                     uint32_t number, const char *name)
{
    char path[QUEUE_PATH_BYTES];
    folder_path(path, office, number, name);
    memcpy(out, path, SETTINGS_PATH_BYTES - 1);
    out[SETTINGS_PATH_BYTES - 1] = '\0';
}

static void place(struct office *office, uint32_t number)
{
    set_path(office->settings.state, office, number, "state");
    set_path(office->settings.out, office, number, "out");
    set_path(office->settings.job, office, number, "job.yml");
}

static enum status put_aside(const struct office *office, uint32_t number, const char *because,
                             struct why *why)
{
    return put_line(office, number, "aside", because, why);
}

/* A coordinator that takes the lead tries every job again. A line that cannot be removed says so of a job that may run: no more. */
static void forget_aside(const struct office *office)
{
    struct queue_list list = {.count = 0};
    struct why ignored = {{0}};
    if (folder_list(&list, office, &ignored) != STATUS_OK) {
        return;
    }
    for (size_t i = 0; i < list.count; i++) {
        char path[QUEUE_PATH_BYTES];
        folder_path(path, office, list.entry[i].number, "aside");
        if (!list.entry[i].over) {
            (void)unlink(path);
        }
    }
    queue_list_free(&list);
}

static enum status cancel(const struct office *office, uint32_t number, const char *line,
                          struct why *why)
{
    return put_line(office, number, "cancel", line, why);
}

static enum status cancelled(char **text, size_t *size, const struct office *office,
                             uint32_t number, struct why *why)
{
    char path[QUEUE_PATH_BYTES];
    *text = NULL;
    *size = 0;
    folder_path(path, office, number, "cancel");
    return access(path, F_OK) == 0 ? config_load_owned(text, size, path, why) : STATUS_OK;
}

static enum status read_end(char **text, size_t *size, char name[static QUEUE_PATH_BYTES],
                            const struct office *office, uint32_t number, struct why *why)
{
    folder_path(name, office, number, "end");
    return config_load_owned(text, size, name, why);
}

static enum status put_end(const struct office *office, uint32_t number, struct slice text,
                           struct why *why)
{
    char path[QUEUE_PATH_BYTES];
    folder_path(path, office, number, "end");
    return file_write(path, text, 0400, why);
}

static void held(char by[static QUEUE_BY_BYTES], const struct office *office, uint32_t number)
{
    char path[QUEUE_PATH_BYTES];
    char holder[LOCK_HOLDER_BYTES];
    char leader[LOCK_HOLDER_BYTES];
    by[0] = '\0';
    folder_path(path, office, number, "state/lock");
    if (!lock_holder(holder, path)) {
        return;
    }
    (void)snprintf(path, sizeof path, "%s/" LOCK, office->settings.jobs);
    if (!lock_holder(leader, path) || strcmp(holder, leader) != 0) {
        (void)snprintf(by, QUEUE_BY_BYTES, "process %s", holder);
    }
}

static enum status put_declined(const struct office *office, uint32_t number, const char *names,
                                struct why *why)
{
    char path[QUEUE_PATH_BYTES];
    if (names[0] != '\0') {
        return put_line(office, number, "declined", names, why);
    }
    folder_path(path, office, number, "declined");
    if (unlink(path) != 0 && errno != ENOENT) {
        why_file(why, path, "removed", errno);
        return STATUS_IO;
    }
    return STATUS_OK;
}

static void declined(char names[static QUEUE_BY_BYTES], const struct office *office,
                     uint32_t number)
{
    read_line(names, QUEUE_BY_BYTES, office, number, "declined");
}

static void follow(struct queue_followed *followed, const struct office *office, uint32_t number)
{
    *followed = (struct queue_followed){.office = office, .number = number};
    if (number == 0) {
        (void)snprintf(followed->path, sizeof followed->path, "%s", office->settings.jobs);
    } else {
        folder_path(followed->path, office, number, "cancel");
    }
}

static int64_t changed_ms(const struct office *office, uint32_t number, const char *name)
{
    char path[QUEUE_PATH_BYTES];
    struct stat about;
    folder_path(path, office, number, name);
    return stat(path, &about) == 0
               ? (int64_t)about.st_mtim.tv_sec * 1000 + about.st_mtim.tv_nsec / 1000000
               : 0;
}

/* What changed a moment ago may change again within one tick of the file system's clock. */
static enum status stamp(struct queue_stamp *out, const struct office *office, uint32_t number,
                         UNUSED struct why *why)
{
    static const char *const name[] = {"state/journal.db", "state/journal.db-wal", ""};
    const int64_t settled_ms = clock_wall_ms() - SETTLED_MS;
    *out = (struct queue_stamp){.settled = true};
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        out->of[i] = changed_ms(office, number, name[i]);
        out->settled = out->settled && out->of[i] < settled_ms;
    }
    return STATUS_OK;
}

static void results(char path[static QUEUE_PATH_BYTES], const struct office *office,
                    uint32_t number)
{
    folder_path(path, office, number, "out");
}

static enum status result_open(int *file, uint64_t *size, const struct office *office,
                               uint32_t number, const char *name, struct why *why)
{
    char path[QUEUE_PATH_BYTES];
    char within[24];
    struct stat about;
    (void)snprintf(within, sizeof within, "out/%.16s", name);
    folder_path(path, office, number, within);
    *file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (*file < 0 && errno == ENOENT) {
        return STATUS_NOT_FOUND;
    }
    if (*file >= 0 && (fstat(*file, &about) != 0 || !S_ISREG(about.st_mode))) {
        (void)close(*file);
        *file = -1;
        errno = EINVAL;
    }
    if (*file < 0) {
        why_file(why, path, "read", errno);
        return STATUS_IO;
    }
    *size = (uint64_t)about.st_size;
    return STATUS_OK;
}

static enum status result_size(int64_t *size, const struct office *office, uint32_t number,
                               const char *name, struct why *why)
{
    int file = -1;
    uint64_t bytes = 0;
    const enum status status = result_open(&file, &bytes, office, number, name, why);
    if (file >= 0) {
        (void)close(file);
    }
    *size = status == STATUS_OK ? (int64_t)bytes : -1;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status result_read(void *to, size_t *got, size_t room, const struct office *office,
                               uint32_t number, const char *name, uint64_t offset, struct why *why)
{
    int file = -1;
    uint64_t size = 0;
    *got = 0;
    enum status status = result_open(&file, &size, office, number, name, why);
    if (status != STATUS_OK) {
        return status;
    }
    const ssize_t count = pread(file, to, room, (off_t)offset);
    if (count < 0) {
        why_file(why, name, "read", errno);
        status = STATUS_IO;
    }
    *got = count > 0 ? (size_t)count : 0;
    (void)close(file);
    return status;
}

static void describe(char text[static QUEUE_PATH_BYTES], const struct office *office)
{
    (void)snprintf(text, QUEUE_PATH_BYTES, "%s", office->settings.jobs);
}

/* One program at a time runs the folder's jobs, until it ends, however it ends. Commands do without: they write files that it
 * follows. */
static enum status lead(struct office *office, struct why *why)
{
    char path[QUEUE_PATH_BYTES];
    char what[QUEUE_PATH_BYTES];
    const struct lock_words words = {
        what, "stop that process, or give this coordinator a queue of its own (`jobs`)"};
    if (office->leads) {
        return STATUS_OK;
    }
    (void)snprintf(path, sizeof path, "%s/" LOCK, office->settings.jobs);
    (void)snprintf(what, sizeof what, "the queue in %s", office->settings.jobs);
    const enum status status = lock_take(&office->lock, path, &words, why);
    office->leads = status == STATUS_OK;
    if (office->leads) {
        forget_aside(office);
    }
    return status;
}

static void leader(char by[static QUEUE_BY_BYTES], const struct office *office)
{
    char path[QUEUE_PATH_BYTES];
    char holder[LOCK_HOLDER_BYTES];
    by[0] = '\0';
    (void)snprintf(path, sizeof path, "%s/" LOCK, office->settings.jobs);
    if (lock_holder(holder, path)) {
        (void)snprintf(by, QUEUE_BY_BYTES, "process %s", holder);
    }
}

static void end_lead(struct office *office)
{
    if (office->leads) {
        (void)close(office->lock);
    }
    office->leads = false;
}

static enum status may_lead(UNUSED const struct office *office, UNUSED struct why *why)
{
    return STATUS_OK;
}

/* Any thread may ask a folder. */
static enum status beside(UNUSED struct office *office, UNUSED struct why *why)
{
    return STATUS_OK;
}

static void part_beside(UNUSED struct office *office)
{
}

static void rest(UNUSED const struct office *office)
{
}

static bool is_lost(UNUSED const struct office *office)
{
    return false;
}

static struct journal_part part(UNUSED const struct office *office)
{
    return (struct journal_part){.job = 0};
}

/* clang-format off */
const struct queue_store queue_in_folder = {
    .open = folder_open, .close = end_lead, .describe = describe,
    .may_lead = may_lead, .lead = lead, .is_lost = is_lost, .leader = leader,
    .beside = beside, .part_beside = part_beside, .rest = rest, .part = part,
    .list = folder_list, .peek = peek, .text = text_of, .add = folder_add, .find = folder_find, .place = place,
    .mark_begun = folder_mark_begun, .cancel = cancel, .cancelled = cancelled, .put_aside = put_aside, .read_end = read_end, .put_end = put_end,
    .held = held, .put_declined = put_declined, .declined = declined, .follow = follow, .stamp = stamp,
    .results = results, .result_size = result_size, .result_read = result_read, .result_open = result_open,
};
/* clang-format on */
