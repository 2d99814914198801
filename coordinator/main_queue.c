/* The door of the queue: who acts, what keeps the queue, and what is the same for both. */

#include "coordinator/main_queue_store.h"

#include "base/check.h"
#include "io/clock.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPERATOR "operator "

const struct queue_store *queue_of(const struct office *office)
{
    return journal_is_shared(office->settings.jobs) ? &queue_in_database : &queue_in_folder;
}

enum status queue_open(struct office *office, struct why *why)
{
    return office->settings.jobs[0] == '\0'
               ? why_refuse(why, "the settings name one job (`job`) and no queue; remedy: write "
                                 "`jobs: jobs` in place of `job`, `state` and `out`")
               : queue_of(office)->open(office, why);
}

void queue_list_free(struct queue_list *list)
{
    free(list->entry);
    free(list->names);
    *list = (struct queue_list){.count = 0};
}

/* Who it is, without a time. No account's name has a blank, so none reads as an operator's. Fails where nobody can say what the
 * account is called, and the submission has a name: the same one would seem to be somebody else's. */
static enum status name_actor(char by[static QUEUE_BY_BYTES], const struct queue_actor *actor,
                              struct why *why)
{
    char room[4096];
    struct passwd entry;
    struct passwd *found = NULL;
    if (actor->name != NULL) {
        (void)snprintf(by, QUEUE_BY_BYTES, OPERATOR "%s", actor->name);
        return STATUS_OK;
    }
    const int error = getpwuid_r(geteuid(), &entry, room, sizeof room, &found);
    const bool unknown = error == 0 || error == ENOENT || error == ESRCH;
    if (!unknown && actor->submission != NULL) {
        why_set(why, "the name of account %lu cannot be looked up: %s; remedy: submit again",
                (unsigned long)geteuid(), strerror(error));
        return STATUS_IO;
    }
    if (error == 0 && found != NULL && strlen(found->pw_name) < 64) {
        (void)snprintf(by, QUEUE_BY_BYTES, "%s", found->pw_name);
    } else {
        (void)snprintf(by, QUEUE_BY_BYTES, "account %lu", (unsigned long)geteuid());
    }
    return STATUS_OK;
}

static void sign(char line[static QUEUE_BY_BYTES], const char *by)
{
    char when[CLOCK_TEXT_BYTES];
    clock_text(when, clock_wall_ms());
    (void)snprintf(line, QUEUE_BY_BYTES, "%.*s at %s",
                   QUEUE_BY_BYTES - CLOCK_TEXT_BYTES - (int)sizeof " at ", by, when);
}

enum status queue_add(uint32_t *number, const struct office *office,
                      const struct queue_actor *actor, struct slice text, struct why *why)
{
    char by[QUEUE_BY_BYTES];
    char line[QUEUE_BY_BYTES];
    const struct queue_submission submission = {actor, by, line, text};
    const enum status status = name_actor(by, actor, why);
    if (status != STATUS_OK) {
        return status;
    }
    sign(line, by);
    return queue_of(office)->add(number, office, &submission, why);
}

enum status queue_find(uint32_t *number, size_t *open, const struct office *office,
                       const struct queue_actor *actor, struct why *why)
{
    char by[QUEUE_BY_BYTES];
    const enum status status = name_actor(by, actor, why);
    return status == STATUS_OK ? queue_of(office)->find(number, open, office, actor, by, why)
                               : status;
}

enum status queue_take(struct office *office, uint32_t number, struct why *why)
{
    job_free(&office->job);
    free(office->text);
    office->text = NULL;
    office->text_size = 0;
    office->number = number;
    queue_of(office)->place(office, number);
    const enum status status =
        queue_of(office)->text(&office->text, &office->text_size, office, number, why);
    return status == STATUS_OK ? office_parse_job(office, why) : status;
}

enum status queue_put_aside(const struct office *office, uint32_t number, const char *because,
                            struct why *why)
{
    char line[QUEUE_ASIDE_BYTES];
    (void)snprintf(line, sizeof line, "%s", because);
    for (char *at = line; *at != '\0'; at++) { /* a server's words may have several lines */
        *at = *at >= ' ' && *at <= '~' ? *at : *at == '\n' ? ' ' : '?';
    }
    return queue_of(office)->put_aside(office, number, line, why);
}

enum status queue_cancel(const struct office *office, uint32_t number,
                         const struct queue_actor *actor, struct why *why)
{
    char by[QUEUE_BY_BYTES];
    char line[QUEUE_BY_BYTES];
    const enum status status = name_actor(by, actor, why);
    if (status != STATUS_OK) {
        return status;
    }
    sign(line, by);
    return queue_of(office)->cancel(office, number, line, why);
}

/* Results on their way to a store that has them itself. */
void queue_made_free(struct queue_made *made)
{
    for (size_t i = 0; i < made->count; i++) {
        free(made->file[i].text);
    }
    *made = (struct queue_made){.count = 0};
}

static enum status keep(void *self, const char *name, struct slice bytes, struct why *why)
{
    struct queue_made *made = self;
    CHECK(made->count < QUEUE_RESULTS_MOST && strlen(name) < sizeof made->file[0].name);
    char *text = malloc(bytes.size + 1);
    if (text == NULL) {
        why_set(why, "no memory for %s", name);
        return STATUS_NO_MEMORY;
    }
    memcpy(text, bytes.data, bytes.size);
    made->file[made->count].text = text;
    made->file[made->count].size = bytes.size;
    (void)snprintf(made->file[made->count].name, sizeof made->file[0].name, "%s", name);
    made->count++;
    return STATUS_OK;
}

enum status queue_publish(const struct office *office, struct queue_made *made, bool seeded,
                          uint64_t seed, struct job_end *end, struct why *why)
{
    const struct office_shelf shelf = {keep, made};
    const bool kept = queue_of(office)->put_result != NULL;
    return office_publish(office, kept ? &shelf : NULL, seeded, seed, end, why);
}

enum status queue_put(const struct office *office, uint32_t number, const struct queue_made *made,
                      struct why *why)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < made->count && status == STATUS_OK; i++) {
        status = queue_of(office)->put_result(
            office, number, made->file[i].name,
            (struct slice){made->file[i].text, made->file[i].size}, why);
    }
    return status == STATUS_AGAIN ? STATUS_IO : status; /* a database is away: not the job's end */
}
