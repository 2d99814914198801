#include "coordinator/main_acts.h"

#include "io/clock.h"
#include "io/roster.h"
#include "job/round.h"
#include "job/terms.h"
#include "json/json_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE_BYTES = 48 * 1024, /* of a list: one more row fits into a frame */
    PAGE_ROUNDS = 64,
    PAGE_AGENTS = 128
};

static enum status answer_job(json_t **out, const struct acts *acts, uint32_t number,
                              struct why *why)
{
    struct queue_job job;
    const enum status status = queue_show(&job, acts->office, number, why);
    if (status == STATUS_OK) {
        *out = json_pack("{s:o}", "job", acts_job_json(acts, &job));
    }
    return status;
}

/* An id that comes again is the same submission: the reply to the first one was lost, or its sender died. */
static enum status answer_again(json_t **out, const struct acts *acts, uint32_t number,
                                struct slice text, struct why *why)
{
    char *there = NULL;
    size_t size = 0;
    enum status status = queue_of(acts->office)->text(&there, &size, acts->office, number, why);
    if (status == STATUS_OK && (size != text.size || memcmp(there, text.data, size) != 0)) {
        status = why_refuse(why,
                            "job %" PRIu32 " was submitted with this id and another text; remedy: "
                            "another id for another job",
                            number);
    }
    free(there);
    if (status == STATUS_OK) {
        status = answer_job(out, acts, number, why);
    }
    if (status == STATUS_OK) {
        json_put(out, "again", json_true());
    }
    return status;
}

/* The text is read as at the coordinator's start: what is refused there is refused here. */
static enum status judge_text(const struct acts *acts, struct slice text, struct why *why)
{
    struct office own = office_like(acts->office);
    (void)snprintf(own.settings.job, sizeof own.settings.job, "job.yml");
    enum status status = job_parse(&own.job, text, own.settings.job, why);
    if (status == STATUS_OK) {
        status = office_judge(&own, why);
    }
    office_free(&own);
    return status;
}

static enum status tell_too_many(const struct acts *acts, struct why *why)
{
    why_set(why,
            "%d jobs of %s are not over, and an operator may have no more of them; remedy: "
            "wait for one, or `cancel` it",
            (int)ACTS_OPEN_MAX, acts->operator_name);
    return STATUS_REFUSED;
}

static enum status answer_submit(json_t **out, const struct acts *acts, const struct ask *ask,
                                 struct slice text, struct why *why)
{
    const bool remote = acts->operator_name != NULL;
    const bool named = !digest_is_none(&ask->id); /* each of an operator is */
    const struct queue_actor actor = {acts->operator_name, named ? &ask->id : NULL,
                                      remote ? ACTS_OPEN_MAX : 0};
    uint32_t number = 0;
    size_t open = 0;
    enum status status = named ? queue_find(&number, &open, acts->office, &actor, why) : STATUS_OK;
    if (status == STATUS_OK && number > 0) {
        return answer_again(out, acts, number, text, why);
    }
    if (status == STATUS_OK && remote && open >= ACTS_OPEN_MAX) {
        return tell_too_many(acts, why);
    }
    if (status == STATUS_OK) {
        status = judge_text(acts, text, why);
    }
    if (status == STATUS_OK) {
        status = queue_add(&number, acts->office, &actor, text, why);
    }
    if (status == STATUS_REFUSED && remote) { /* others came by other desks */
        return tell_too_many(acts, why);
    }
    if (status == STATUS_EXISTS) { /* it came by another desk or command */
        return answer_again(out, acts, number, text, why);
    }
    return status == STATUS_OK ? answer_job(out, acts, number, why) : status;
}

/* Rows are added until a page is full. Returns whether this one was. */
static bool add_row(json_t **list, size_t *used, json_t *row)
{
    char *text = row != NULL ? json_dumps(row, JSON_COMPACT) : NULL;
    *used += text != NULL ? strlen(text) + 1 : 0;
    free(text);
    json_add(list, row);
    return *used < PAGE_BYTES;
}

/* One job whose files cannot be read keeps nobody from the others. */
static enum status answer_jobs(json_t **out, const struct acts *acts, uint64_t from,
                               struct why *why)
{
    struct queue_list list;
    json_t *jobs = json_array();
    json_t *wrong = json_array();
    size_t used = 0;
    uint64_t more = 0;
    enum status status = queue_of(acts->office)->list(&list, acts->office, why);
    for (size_t i = 0; i < list.count && status == STATUS_OK && more == 0; i++) {
        struct queue_job job;
        struct why because = {{0}};
        if (list.entry[i].number <= from) {
            continue;
        }
        const enum status one = queue_show(&job, acts->office, list.entry[i].number, &because);
        bool room = true;
        if (one == STATUS_NO_MEMORY) {
            status = one;
        } else if (one != STATUS_OK) {
            room = add_row(&wrong, &used,
                           json_pack("{s:I, s:s}", "number", (json_int_t)job.number, "why",
                                     because.text[0] != '\0' ? because.text : status_text(one)));
        } else {
            room = add_row(&jobs, &used, acts_job_json(acts, &job));
        }
        more = room ? 0 : list.entry[i].number;
    }
    queue_list_free(&list);
    if (status == STATUS_OK) {
        *out = json_pack("{s:o, s:o, s:I}", "jobs", jobs, "wrong", wrong, "more", (json_int_t)more);
        return STATUS_OK;
    }
    json_decref(jobs);
    json_decref(wrong);
    return status;
}

/* The rounds of a job after those that were seen, a page of them. */
struct rounds {
    const struct job *job;
    uint64_t from;
    size_t count;
    json_t *list;
};

static void add_round(void *self, const struct record *record)
{
    struct rounds *rounds = self;
    const uint32_t round = record->as.round.round;
    char closed[CLOCK_TEXT_BYTES];
    uint32_t within;
    if (round < rounds->from || rounds->count == PAGE_ROUNDS) {
        return;
    }
    const struct stage *stage = job_stage_of(rounds->job, round, &within);
    const struct cost sums = round_cost(rounds->job, &rounds->job->filter, round + 1);
    const struct price price = terms_price(&rounds->job->filter, &sums);
    clock_text(closed, record->wall_ms);
    rounds->count++;
    json_add(&rounds->list,
             json_pack("{s:I, s:I, s:s, s:I, s:f, s:f, s:s}", "round", (json_int_t)round + 1,
                       "rounds", (json_int_t)job_round_count(rounds->job), "stage",
                       task_name(stage->task), "agents", (json_int_t)record->as.round.agent_count,
                       "epsilon", (double)price.epsilon_micro * 1e-6, "seconds",
                       record->as.round.duration_ms / 1000.0, "closed", closed));
}

/* Watchers ask each second; the journal is read when the job has changed. A stamp that is not settled is not kept. */
static enum status look_if_changed(struct queue_job *job, const struct acts *acts, uint32_t number,
                                   struct why *why)
{
    struct acts_memory *memory = acts->memory;
    struct acts_memory now = {.number = number};
    enum status status = queue_of(acts->office)->stamp(&now.stamp, acts->office, number, why);
    if (status != STATUS_OK) {
        return status;
    }
    if (memory != NULL && memory->number == number &&
        memcmp(memory->stamp.of, now.stamp.of, sizeof now.stamp.of) == 0) {
        *job = memory->job;
        return STATUS_OK;
    }
    status = queue_show(job, acts->office, number, why);
    if (memory != NULL && status == STATUS_OK && now.stamp.settled) {
        now.job = *job;
        *memory = now;
    }
    return status;
}

/* Whether a job is over, for commands that wait only for this: the journal need not be read. */
static enum status answer_wait(json_t **out, const struct acts *acts, uint32_t number,
                               struct why *why)
{
    struct queue_kept kept;
    const enum status status = queue_of(acts->office)->peek(&kept, acts->office, number, why);
    if (status != STATUS_OK || kept.over) {
        return status == STATUS_OK ? answer_job(out, acts, number, why) : status;
    }
    *out = json_pack("{s:{s:I, s:n}}", "job", "number", (json_int_t)number, "ended");
    return STATUS_OK;
}

/* The job is looked at first: rounds that end in between are then told, and no end before them. */
static enum status answer_watch(json_t **out, const struct acts *acts, const struct ask *ask,
                                struct why *why)
{
    struct office own = office_like(acts->office);
    struct rounds rounds = {.job = &own.job, .from = ask->from, .list = json_array()};
    struct queue_job job;
    struct job_end end;
    struct why ignored = {{0}};
    enum status status = look_if_changed(&job, acts, ask->job, why);
    if (status == STATUS_OK && job.rounds > ask->from &&
        queue_take(&own, ask->job, &ignored) == STATUS_OK) {
        const enum status looked = office_look(&own, &end, add_round, &rounds, why);
        status = job.filed && looked != STATUS_NO_MEMORY ? STATUS_OK : looked; /* `end` suffices */
    }
    office_free(&own);
    if (status != STATUS_OK) {
        json_decref(rounds.list);
        return status;
    }
    *out = json_pack("{s:o, s:o}", "job", acts_job_json(acts, &job), "rounds", rounds.list);
    return STATUS_OK;
}

static enum status answer_cancel(json_t **out, const struct acts *acts, const struct ask *ask,
                                 struct why *why)
{
    const struct queue_actor actor = {acts->operator_name, NULL, 0};
    struct queue_job job;
    enum status status = queue_look(&job, acts->office, ask->job, why);
    /* Through the desk the same cancellation may come twice. */
    const bool asked = acts->operator_name != NULL && job.cancel[0] != '\0' &&
                       (job.state == QUEUE_CANCELLED || job.state <= QUEUE_RUNNING);
    if (status == STATUS_OK && !asked && job.state > QUEUE_RUNNING) {
        return why_refuse(why, "job %" PRIu32 " is over: %s; there is nothing to cancel",
                          job.number, queue_state_name(job.state));
    }
    if (status == STATUS_OK && !asked) {
        status = queue_cancel(acts->office, job.number, &actor, why);
    }
    return status == STATUS_OK ? answer_job(out, acts, ask->job, why) : status;
}

static json_t *agent_json(const struct roster_entry *entry)
{
    char hex[KEY_HEX_BYTES];
    char signing[KEY_HEX_BYTES] = ""; /* of a key that has no signing half, or did not tell it */
    hex_encode(hex, entry->key.byte, KEY_BYTES);
    if (!digest_is_none(&entry->signing_key)) {
        hex_encode(signing, entry->signing_key.byte, KEY_BYTES);
    }
    return json_pack("{s:s, s:s, s:s, s:b, s:I}", "agent", entry->name, "key", hex, "signing",
                     signing, "token", entry->token_until_s != 0, "valid_until",
                     (json_int_t)entry->token_until_s);
}

static enum status answer_agents(json_t **out, const struct acts *acts, uint64_t from,
                                 struct why *why)
{
    struct roster *roster = calloc(1, sizeof *roster);
    json_t *list = json_array();
    enum status status = roster == NULL ? STATUS_NO_MEMORY : roster_read(roster, acts->list, why);
    if (status == STATUS_NOT_FOUND) {
        status = STATUS_OK; /* no file is an empty list */
    }
    size_t i = from < ROSTER_ENTRIES_MAX ? (size_t)from : ROSTER_ENTRIES_MAX;
    for (size_t end = i + PAGE_AGENTS; status == STATUS_OK && i < roster->count && i < end; i++) {
        json_add(&list, agent_json(&roster->entry[i]));
    }
    if (status == STATUS_OK) {
        *out = json_pack("{s:o, s:I}", "agents", list, "more",
                         (json_int_t)(i < roster->count ? i : 0));
    } else {
        json_decref(list);
    }
    free(roster);
    return status;
}

static enum status answer_json(json_t **out, const struct acts *acts, const struct ask *ask,
                               struct slice text, struct why *why)
{
    switch (ask->verb) {
    case ASK_WHO:
        *out =
            json_pack("{s:s}", "operator", acts->operator_name != NULL ? acts->operator_name : "");
        return STATUS_OK;
    case ASK_SUBMIT:
        return answer_submit(out, acts, ask, text, why);
    case ASK_JOBS:
        return answer_jobs(out, acts, ask->from, why);
    case ASK_STATUS:
        return answer_job(out, acts, ask->job, why);
    case ASK_WATCH:
        return ask->from == ASK_FROM_MAX ? answer_wait(out, acts, ask->job, why)
                                         : answer_watch(out, acts, ask, why);
    case ASK_RESULT:
        return acts_result(out, acts, ask, why);
    case ASK_CANCEL:
        return answer_cancel(out, acts, ask, why);
    case ASK_AGENTS:
        return answer_agents(out, acts, ask->from, why);
    case ASK_NONE:
    case ASK_ENROL:
    case ASK_READ:
    case ASK_VERB_END:
        break;
    }
    return why_refuse(why, "there is no such question");
}

enum status acts_answer(const struct acts *acts, const struct ask *ask, struct slice text,
                        struct desk_answer *answer, struct why *why)
{
    json_t *json = NULL;
    *answer = (struct desk_answer){.data = NULL};
    enum status status = ask->verb == ASK_READ ? acts_read(answer, acts, ask, why)
                                               : answer_json(&json, acts, ask, text, why);
    if (status == STATUS_OK && ask->verb != ASK_READ) {
        answer->data =
            json != NULL ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
        answer->size = answer->data != NULL ? strlen(answer->data) : 0;
        status = answer->data != NULL && answer->size <= ASK_PAYLOAD_BYTES_MAX ? STATUS_OK
                                                                               : STATUS_NO_MEMORY;
    }
    if (status != STATUS_OK) {
        free(answer->data);
        *answer = (struct desk_answer){.data = NULL};
    }
    json_decref(json);
    return status;
}

enum exit_code acts_ask(void *self, const struct ask *ask, struct slice text,
                        struct desk_answer *answer, struct why *why)
{
    const enum status status = acts_answer(self, ask, text, answer, why);
    if (status == STATUS_OK) {
        why->text[0] = '\0'; /* what was looked for on the way and not found is no trouble */
    } else if (why->text[0] == '\0') {
        why_set(why, "%s", status_text(status));
    }
    /* A queue in a database that does not answer now. */
    return status == STATUS_AGAIN ? EXIT_CODE_UNREACHABLE : exit_code_of(status);
}
