#include "coordinator/main_collect.h"

#include "database/journal_place.h"
#include "io/clock.h"
#include "io/worker.h"
#include "job/trust.h"
#include "protocol/message.h"

#include <string.h>

/* The database is asked LOOK_MS apart while something happens, and RESTING_MS apart after QUIET_MS without. A collector gives a
 * job of a queue up that nobody has led for UNLED_MS: the one that takes the lead begins with the jobs at once. */
enum {
    LOOK_MS = 20,
    RESTING_MS = 200,
    QUIET_MS = 5000,
    TELL_MS = 2000,
    AWAIT_MS = 500,
    UNLED_MS = 10000
};

bool collect_is_collector(const struct office *office)
{
    return office->settings.collector[0] != '\0';
}

bool collect_is_shared(const struct office *office)
{
    return collect_is_collector(office) || office->settings.collectors[0] != '\0';
}

/* Splits at blanks. Fails with STATUS_INVALID. */
static enum status take_names(struct peer name[static COLLECTORS_MAX], size_t *count,
                              const char *names, struct why *why)
{
    *count = 0;
    for (names += strspn(names, " "); *names != '\0'; names += strspn(names, " ")) {
        struct peer one = {""};
        const size_t size = strcspn(names, " ");
        if (size < sizeof one.name) {
            memcpy(one.name, names, size);
        }
        if (!agent_name_is_valid(one.name)) {
            return why_refuse(why,
                              "%.*s is no name for a collector: letters, digits, - and _, up to "
                              "%d of them",
                              (int)size, names, (int)sizeof one.name - 1);
        }
        for (size_t i = 0; i < *count; i++) {
            if (strcmp(name[i].name, one.name) == 0) {
                return why_refuse(why, "%s is named twice", one.name);
            }
        }
        if (*count == COLLECTORS_MAX) {
            return why_refuse(why, "there are more than %d", COLLECTORS_MAX);
        }
        name[(*count)++] = one;
        names += size;
    }
    return STATUS_OK;
}

/* A part is a sum of noisy answers. An exact one would stand in the database, the opening of masks needs the sites themselves,
 * and a sum has no answers by name. */
static enum status judge_job(const struct office *office, struct why *why)
{
    const struct job *job = &office->job;
    const struct trust *trust = trust_of(job);
    if (trust->exact_answers || trust->masked) {
        return why_refuse(why,
                          "%s: under trust %s a job has no collectors; remedy: one coordinator, or "
                          "another trust",
                          office->settings.job, trust->name);
    }
    for (size_t i = 0; i < job->stage_count; i++) {
        if (job->stage[i].by_site || job->stage[i].experts_own) {
            return why_refuse(why,
                              "%s: stages[%zu] needs each site's own answer, and collectors hand "
                              "in sums; remedy: one coordinator",
                              office->settings.job, i);
        }
    }
    return STATUS_OK;
}

enum status collect_judge_names(const struct office *office, struct why *why)
{
    struct peer name[COLLECTORS_MAX];
    size_t count = 0;
    struct why cause = {""};
    if (!collect_is_shared(office)) {
        return STATUS_OK;
    }
    const bool collects = collect_is_collector(office);
    enum status status = take_names(
        name, &count, collects ? office->settings.collector : office->settings.collectors, &cause);
    if (status == STATUS_OK && collects && count != 1) {
        status = why_refuse(&cause, "one name is needed");
    }
    if (status != STATUS_OK) {
        why_set(why, "%s of the settings: %s", collects ? "collector" : "collectors", cause.text);
    }
    return status;
}

enum status collect_judge(const struct office *office, struct why *why)
{
    const enum status status = collect_judge_names(office, why);
    return status == STATUS_OK && collect_is_shared(office) ? judge_job(office, why) : status;
}

/* What of the events is the machine's business; the rest is about the wire. */
struct hearing_of {
    driver_hear *hear;
    void *self;
    bool any; /* something was heard */
    const struct collect *collect;
};

struct told_of {
    const struct collect *collect;
    struct slice body;
};

static void tell_heard(void *self)
{
    const struct told_of *told = self;
    told->collect->heard(told->collect->heard_self, told->body);
}

static enum status hear_record(void *self, uint64_t sequence, struct slice body, struct slice blob)
{
    struct hearing_of *of = self;
    of->any = true;
    const struct event event = {.kind = EVENT_RECORD,
                                .as.record = {.sequence = sequence, .body = body, .blob = blob}};
    struct told_of told = {of->collect, body};
    const enum status status = of->hear(of->self, &event);
    if (status == STATUS_OK && of->collect->heard != NULL) {
        return worker_on_owner(tell_heard, &told) ? STATUS_OK : STATUS_BUSY;
    }
    return status;
}

static enum status hear_part(void *self, const struct peer *collector, struct slice body,
                             struct slice blob)
{
    struct hearing_of *of = self;
    of->any = true;
    const struct event event = {
        .kind = EVENT_PARTIAL, .as.partial = {.collector = *collector, .body = body, .blob = blob}};
    return of->hear(of->self, &event);
}

static bool same_standing(const struct standing_of *a, const struct standing_of *b)
{
    return strcmp(a->peer.name, b->peer.name) == 0 && a->ready == b->ready &&
           a->undecided == b->undecided && a->open == b->open && a->settled == b->settled &&
           (a->answers > 0) == (b->answers > 0) && a->present == b->present;
}

static enum status tell(struct collect *collect, const struct coordinator_view *view,
                        struct why *why)
{
    const int64_t now_ms = clock_now_ms();
    const struct standing_of own = {.ready = view->ready,
                                    .undecided = view->undecided,
                                    .open = view->open,
                                    .settled = view->settled,
                                    .answers = view->answers,
                                    .left_ms = view->open > 0 ? view->deadline_ms - now_ms : 0,
                                    .present = true};
    if (same_standing(&own, &collect->told) && now_ms < collect->told_ms + TELL_MS) {
        return STATUS_OK;
    }
    collect->stirred_ms = same_standing(&own, &collect->told) ? collect->stirred_ms : now_ms;
    collect->told = own;
    collect->told_ms = now_ms;
    const enum status status = collection_tell(collect->collection, &own, why);
    if (status != STATUS_REFUSED) {
        collect->refused = false;
        return status;
    }
    if (!collect->refused) {
        log_event(collect->log, LOG_WARN, "collector-unknown", NULL, "%s", why->text);
    }
    collect->refused = true;
    why->text[0] = '\0';
    return STATUS_OK;
}

static bool changed(const struct collect *collect, const struct standing_of *is, size_t count)
{
    bool same = count == collect->stand_count;
    for (size_t i = 0; i < count && same; i++) {
        same = same_standing(&is[i], &collect->stand[i]);
    }
    return !same;
}

/* What is seen of the machine, and of who leads, on the thread that runs machines. */
struct seen {
    const struct collect *collect;
    struct coordinator_view view;
    bool led;
};

static void see(void *self)
{
    struct seen *seen = self;
    seen->view = coordinator_look(seen->collect->coordinator);
    seen->led = seen->collect->led == NULL || seen->collect->led(seen->collect->led_self);
}

/* The leader may have set the job aside: its agents are to be free for others. */
static bool is_left(struct collect *collect, const struct seen *seen)
{
    const int64_t now_ms = clock_now_ms();
    if (seen->led) {
        collect->unled_ms = 0;
        return false;
    }
    collect->unled_ms = collect->unled_ms == 0 ? now_ms : collect->unled_ms;
    return now_ms >= collect->unled_ms + UNLED_MS && !seen->view.over;
}

/* How the others stand is read before the parts, and told after them: a collector that has settled has handed everything in. It
 * runs beside the loop: a server that is slow for one job holds up no other. */
static enum status look(void *self, driver_hear *hear, void *hear_self, struct why *why)
{
    struct collect *collect = self;
    struct hearing_of of = {hear, hear_self, false, collect};
    const bool collects = collect_is_collector(collect->office);
    struct standing_of is[COLLECTORS_MAX + 1];
    size_t count = 0;
    struct seen seen = {.collect = collect};
    if (!worker_on_owner(see, &seen)) {
        return STATUS_BUSY;
    }
    if (is_left(collect, &seen)) {
        why_set(why, "no coordinator has led the job for %d s", UNLED_MS / 1000);
        return STATUS_BUSY;
    }
    enum status status = collection_ask(collect->collection, is, &count, why);
    if (status == STATUS_OK && collects) {
        status = collection_follow(collect->collection, hear_record, &of, why);
    }
    if (status == STATUS_OK && !worker_on_owner(see, &seen)) {
        status = STATUS_BUSY;
    }
    struct coordinator_view view = seen.view;
    if (status == STATUS_OK && (collects ? view.open == 0 && !view.over : view.open > 0)) {
        status = collection_parts(collect->collection, view.closed, hear_part, &of, why);
    }
    /* A collector that the leader does not know opens no round, as its agents would pay in vain. */
    if (status == STATUS_OK && !collect->refused &&
        (of.any || changed(collect, is, count) || (collects && view.open == 0))) {
        of.any = of.any || changed(collect, is, count);
        memcpy(collect->stand, is, sizeof is);
        collect->stand_count = count;
        const struct event event = {.kind = EVENT_STANDINGS,
                                    .as.standings = {.of = is, .count = count}};
        status = of.hear(of.self, &event);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (!worker_on_owner(see, &seen)) {
        return STATUS_BUSY;
    }
    view = seen.view;
    status = tell(collect, &view, why);
    collect->stirred_ms = of.any ? clock_now_ms() : collect->stirred_ms;
    collect->source.every_ms =
        clock_now_ms() < collect->stirred_ms + QUIET_MS ? LOOK_MS : RESTING_MS;
    return status;
}

void collect_begin(struct collect *collect, const struct office *office, const struct log *log)
{
    struct why none = {""};
    *collect = (struct collect){.office = office, .log = log};
    collect->source = (struct driver_source){.self = collect, .look = look, .every_ms = LOOK_MS};
    const bool collects = collect_is_collector(office);
    if (take_names(collect->name, &collect->name_count,
                   collects ? office->settings.collector : office->settings.collectors,
                   &none) != STATUS_OK) {
        collect->name_count = 0; /* the job is judged before it begins, and this with it */
    }
}

static enum status open_collection(struct collect *collect, struct why *why)
{
    const bool collects = collect_is_collector(collect->office);
    const struct collection_options options = {
        .place = collect->office->settings.state,
        .job = collect->office->number,
        .name = collects ? collect->name[0].name : "",
        .collectors = collects ? NULL : collect->name,
        .count = collects ? 0 : collect->name_count,
        .term = collect->term,
    };
    return collection_open(&collect->collection, &options, why);
}

enum status collect_await(struct collect *collect, void (*wait)(void *self, int64_t wait_ms),
                          void *wait_self, struct why *why)
{
    struct why told = {""};
    collect_leave(collect);
    enum status status = open_collection(collect, why);
    while (status == STATUS_AGAIN || status == STATUS_NOT_FOUND) {
        if (strcmp(told.text, why->text) != 0) {
            log_event(collect->log, LOG_INFO, "waiting-to-collect", NULL, "%s; trying again",
                      why->text);
        }
        told = *why;
        wait(wait_self, AWAIT_MS);
        status = open_collection(collect, why);
    }
    return status;
}

enum status collect_open_journal(struct collect *collect, struct journal *journal, struct why *why)
{
    enum status status = collect->collection == NULL ? open_collection(collect, why) : STATUS_OK;
    if (status == STATUS_OK) {
        *journal = collection_journal(collect->collection);
        collect->taken = true;
    }
    return status == STATUS_NOT_FOUND ? STATUS_AGAIN : status;
}

void collect_tell_options(const struct collect *collect, struct coordinator_options *options)
{
    if (collect_is_collector(collect->office)) {
        options->collector = collect->name[0].name;
    } else {
        options->collectors = collect->name;
        options->collectors_count = collect->name_count;
    }
}

enum status collect_open(struct collect *collect, const struct journal *journal, struct why *why)
{
    const bool leads = collect_is_shared(collect->office) && !collect_is_collector(collect->office);
    collect->term = leads ? journal_term(journal) : 0;
    return collect_is_shared(collect->office) && collect->collection == NULL
               ? open_collection(collect, why)
               : STATUS_OK;
}

void collect_join(struct collect *collect, struct coordinator *coordinator)
{
    collect->coordinator = coordinator;
    collect->told_ms = INT64_MIN / 2;
    collect->stirred_ms = clock_now_ms();
    collect->stand_count = 0;
}

void collect_detach(struct collect *collect)
{
    collect->retires = collect->coordinator != NULL && coordinator_look(collect->coordinator).over;
    collect->coordinator = NULL;
}

void collect_part(struct collect *collect)
{
    struct why ignored = {""};
    if (collect->collection != NULL && collect->retires) { /* nobody reads parts any more */
        (void)!(collect_is_collector(collect->office)
                    ? collection_retire(collect->collection, &ignored)
                    : collection_clear(collect->collection, &ignored));
    }
    if (!collect->taken) {
        collection_close(collect->collection);
    }
    collect->collection = NULL; /* one that was taken is closed with its journal */
    collect->taken = collect->retires = false;
}

void collect_leave(struct collect *collect)
{
    collect_detach(collect);
    collect_part(collect);
}
