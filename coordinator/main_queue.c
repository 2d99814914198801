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

static bool is_any(UNUSED const char *place)
{
    return true;
}

/* By the settings' `jobs`: the first whose place it is. */
static const struct {
    bool (*is)(const char *place);
    const struct queue_store *store;
} kept_by[] = {{journal_is_shared, &queue_in_database}, {is_any, &queue_in_folder}};

const struct queue_store *queue_store_of(const struct office *office)
{
    size_t which = 0;
    while (!kept_by[which].is(office->settings.jobs)) {
        which++;
    }
    return kept_by[which].store;
}

enum status queue_open(struct office *office, struct why *why)
{
    return office->settings.jobs[0] == '\0'
               ? why_refuse(why, "the settings name one job (`job`) and no queue; remedy: write "
                                 "`jobs: jobs` in place of `job`, `state` and `out`")
               : queue_store_of(office)->open(office, why);
}

void queue_close(struct office *office)
{
    queue_store_of(office)->close(office);
}

bool queue_is_shared(const struct office *office)
{
    return queue_store_of(office)->shared;
}

void queue_describe(char text[static QUEUE_PATH_BYTES], const struct office *office)
{
    queue_store_of(office)->describe(text, office);
}

enum status queue_may_lead(const struct office *office, struct why *why)
{
    const struct queue_store *store = queue_store_of(office);
    return store->may_lead != NULL ? store->may_lead(office, why) : STATUS_OK;
}

enum status queue_lead(struct office *office, struct why *why)
{
    return queue_store_of(office)->lead(office, why);
}

void queue_leader(char by[static QUEUE_BY_BYTES], const struct office *office)
{
    by[0] = '\0';
    if (queue_store_of(office)->leader != NULL) {
        queue_store_of(office)->leader(by, office);
    }
}

bool queue_is_lost(const struct office *office)
{
    return queue_store_of(office)->is_lost(office);
}

enum status queue_beside(struct office *office, struct why *why)
{
    const struct queue_store *store = queue_store_of(office);
    return store->beside != NULL ? store->beside(office, why) : STATUS_OK;
}

void queue_rest(const struct office *office)
{
    const struct queue_store *store = queue_store_of(office);
    if (store->rest != NULL) {
        store->rest(office);
    }
}

void queue_part_beside(struct office *office)
{
    const struct queue_store *store = queue_store_of(office);
    if (store->part_beside != NULL) {
        store->part_beside(office);
    }
}

void queue_collect(const struct office *office)
{
    queue_store_of(office)->collect(office);
}

bool queue_is_led(const struct office *office, uint32_t number)
{
    return queue_store_of(office)->is_led(office, number);
}

enum status queue_set_led(const struct office *office, uint32_t number, bool led, struct why *why)
{
    return queue_store_of(office)->set_led(office, number, led, why);
}

struct journal_part queue_part(const struct office *office)
{
    return queue_store_of(office)->part(office);
}

enum status queue_list(struct queue_list *list, const struct office *office, struct why *why)
{
    return queue_store_of(office)->list(list, office, why);
}

void queue_list_free(struct queue_list *list)
{
    free(list->entry);
    free(list->names);
    *list = (struct queue_list){.count = 0};
}

enum status queue_peek(struct queue_kept *kept, const struct office *office, uint32_t number,
                       struct why *why)
{
    return queue_store_of(office)->peek(kept, office, number, why);
}

enum status queue_text(char **text, size_t *size, const struct office *office, uint32_t number,
                       struct why *why)
{
    return queue_store_of(office)->text(text, size, office, number, why);
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
    return queue_store_of(office)->add(number, office, &submission, why);
}

enum status queue_find(uint32_t *number, size_t *open, const struct office *office,
                       const struct queue_actor *actor, struct why *why)
{
    char by[QUEUE_BY_BYTES];
    const enum status status = name_actor(by, actor, why);
    return status == STATUS_OK ? queue_store_of(office)->find(number, open, office, actor, by, why)
                               : status;
}

enum status queue_take(struct office *office, uint32_t number, struct why *why)
{
    job_free(&office->job);
    free(office->text);
    office->text = NULL;
    office->text_size = 0;
    office->number = number;
    queue_store_of(office)->place(office, number);
    const enum status status = queue_text(&office->text, &office->text_size, office, number, why);
    return status == STATUS_OK ? office_parse_job(office, why) : status;
}

enum status queue_mark_begun(const struct office *office, uint32_t number, struct why *why)
{
    return queue_store_of(office)->mark_begun(office, number, why);
}

enum status queue_put_aside(const struct office *office, uint32_t number, const char *because,
                            struct why *why)
{
    char line[QUEUE_ASIDE_BYTES];
    (void)snprintf(line, sizeof line, "%s", because);
    for (char *at = line; *at != '\0'; at++) { /* a server's words may have several lines */
        *at = *at >= ' ' && *at <= '~' ? *at : *at == '\n' ? ' ' : '?';
    }
    return queue_store_of(office)->put_aside(office, number, line, why);
}

void queue_held(char by[static QUEUE_BY_BYTES], const struct office *office, uint32_t number)
{
    by[0] = '\0';
    if (queue_store_of(office)->held != NULL) {
        queue_store_of(office)->held(by, office, number);
    }
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
    return queue_store_of(office)->cancel(office, number, line, why);
}

enum status queue_cancelled(char **text, size_t *size, const struct office *office, uint32_t number,
                            struct why *why)
{
    return queue_store_of(office)->cancelled(text, size, office, number, why);
}

enum status queue_put_declined(const struct office *office, uint32_t number, const char *names,
                               struct why *why)
{
    return queue_store_of(office)->put_declined(office, number, names, why);
}

void queue_declined(char names[static QUEUE_BY_BYTES], const struct office *office, uint32_t number)
{
    queue_store_of(office)->declined(names, office, number);
}

void queue_follow(struct queue_followed *followed, const struct office *office, uint32_t number)
{
    queue_store_of(office)->follow(followed, office, number);
}

enum status queue_stamp(struct queue_stamp *stamp, const struct office *office, uint32_t number,
                        struct why *why)
{
    return queue_store_of(office)->stamp(stamp, office, number, why);
}

void queue_results(char path[static QUEUE_PATH_BYTES], const struct office *office, uint32_t number)
{
    queue_store_of(office)->results(path, office, number);
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
    const bool kept = queue_store_of(office)->put_result != NULL;
    return office_publish(office, kept ? &shelf : NULL, seeded, seed, end, why);
}

enum status queue_put(const struct office *office, uint32_t number, const struct queue_made *made,
                      struct why *why)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < made->count && status == STATUS_OK; i++) {
        status = queue_store_of(office)->put_result(
            office, number, made->file[i].name,
            (struct slice){made->file[i].text, made->file[i].size}, why);
    }
    return status == STATUS_AGAIN ? STATUS_IO : status; /* a database is away: not the job's end */
}

enum status queue_result_size(int64_t *size, const struct office *office, uint32_t number,
                              const char *name, struct why *why)
{
    return queue_store_of(office)->result_size(size, office, number, name, why);
}

enum status queue_result_read(void *to, size_t *got, size_t room, const struct office *office,
                              uint32_t number, const char *name, uint64_t offset, struct why *why)
{
    return queue_store_of(office)->result_read(to, got, room, office, number, name, offset, why);
}

enum status queue_result_open(int *file, uint64_t *size, const struct office *office,
                              uint32_t number, const char *name, struct why *why)
{
    return queue_store_of(office)->result_open(file, size, office, number, name, why);
}
