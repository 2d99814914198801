/* The site's own page. Every account on this machine can read it: charges and balances, which follow from jobs' texts, and
 * states that change only at public times. The program looks at requests at whole seconds of the clock, so that the time of an
 * answer tells nothing about a computation. */

#include "agent/main_face.h"

#include "agent/main_balance.h"
#include "base/decimal.h"
#include "base/log.h"
#include "http/facts.h"
#include "io/clock.h"
#include "io/journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PERIOD_MS = 1000, JOBS_SHOWN = 50, ID_DIGITS = 16, EVENT_BYTES = 128, NUMBER_BYTES = 24 };

/* clang-format off */
#define FACTS(FACT) \
    FACT(ROW_DATA_SET, "data_set_info", FACT_INFO, false, "The data set that all of this is about, by the name in its dictionary", "data_set") \
    FACT(ROW_JOB, "job_info", FACT_INFO, false, "The job that the agent takes part in", "job", "id") \
    FACT(ROW_PHASE, "job_phase", FACT_GAUGE, false, "1 for what the agent does with the job", "phase") \
    FACT(ROW_ROUND_PHASE, "round_phase", FACT_GAUGE, false, "1 for where the round stands. While the records are computed on, and until the public slot of the answer, it stays at working", "phase") \
    FACT(ROW_CONNECTED, "connected", FACT_GAUGE, false, "1 while the coordinator is heard", NULL) \
    FACT(ROW_EPSILON_LIMIT, "epsilon_limit", FACT_GAUGE, false, "The policy's epsilon, in total and of any allowance_days", "allowance") \
    FACT(ROW_EPSILON_SPENT, "epsilon_spent", FACT_GAUGE, false, "The sum of the charges' epsilons; without bound after Gaussian noise", "allowance") \
    FACT(ROW_EPSILON_LEFT, "epsilon_left", FACT_GAUGE, false, "What is left of the policy's epsilon", "allowance") \
    FACT(ROW_DELTA_LIMIT, "delta_limit", FACT_GAUGE, false, "The policy's delta", "allowance") \
    FACT(ROW_DELTA_SPENT, "delta_spent", FACT_GAUGE, false, "The sum of the charges' deltas", "allowance") \
    FACT(ROW_DELTA_LEFT, "delta_left", FACT_GAUGE, false, "What is left for the charges' deltas", "allowance") \
    FACT(ROW_JOB_EPSILON_SPENT, "job_epsilon_spent", FACT_GAUGE, false, "The same sum of epsilons for each of the latest jobs", "id") \
    FACT(ROW_JOB_EPSILON_LEFT, "job_epsilon_left", FACT_GAUGE, false, "What is left of the policy's job_epsilon for each of them", "id") \
    FACT(ROW_ANSWERS, "answers_total", FACT_COUNTER, false, "Answers that the journal holds a charge for", NULL) \
    FACT(ROW_LAST_ANSWER, "last_answer_timestamp_seconds", FACT_GAUGE, false, "When the latest of them was charged, in seconds since 1970", NULL) \
    FACT(ROW_LATEST, "latest_answers", FACT_LIST, false, "What left this site, the latest first: every answer was charged before it left", "when", "id", "round", "task", "epsilon", "charge", "bytes")
/* clang-format on */
enum face_fact { FACTS(FACT_NUMBER) ROW_COMMON };
static const struct fact_family family[] = {FACTS(FACT_FAMILY) FACTS_COMMON(false)};

static void add_balance(struct facts *facts, const struct balance *balance, const char *name)
{
    const struct price left = site_left(balance);
    if (!balance->limited) {
        return;
    }
    facts_set_of(facts, ROW_EPSILON_LIMIT, facts_epsilon(balance->filter.limit.epsilon_micro),
                 name);
    facts_set_of(facts, ROW_EPSILON_SPENT, facts_epsilon(balance->spent.epsilon_micro), name);
    facts_set_of(facts, ROW_EPSILON_LEFT, facts_epsilon(left.epsilon_micro), name);
    facts_set_of(facts, ROW_DELTA_LIMIT, facts_delta(balance->filter.limit.delta_atto), name);
    facts_set_of(facts, ROW_DELTA_SPENT, facts_delta(balance->spent.delta_atto), name);
    facts_set_of(facts, ROW_DELTA_LEFT, facts_delta(left.delta_atto), name);
}

static void id_text(char text[ID_DIGITS + 1], const struct digest *id)
{
    hex_encode(text, id->byte, ID_DIGITS / 2);
}

static void add_ledger(struct facts *facts, const struct ledger *ledger)
{
    const struct balance total = ledger_balance(ledger, ALLOWANCE_TOTAL);
    const struct balance window = ledger_balance(ledger, ALLOWANCE_WINDOW);
    const size_t count = ledger_job_count(ledger);

    add_balance(facts, &total, "total");
    add_balance(facts, &window, "window");
    for (size_t i = count > JOBS_SHOWN ? count - JOBS_SHOWN : 0; i < count; i++) {
        struct digest job;
        char id[ID_DIGITS + 1];
        const struct balance balance = ledger_job(ledger, i, &job);
        id_text(id, &job);
        facts_set_of(facts, ROW_JOB_EPSILON_SPENT, facts_epsilon(balance.spent.epsilon_micro), id);
        if (balance.limited) {
            facts_set_of(facts, ROW_JOB_EPSILON_LEFT, facts_epsilon(site_epsilon_left(&balance)),
                         id);
        }
    }
}

static void add_answers(struct facts *facts, const struct face *face)
{
    facts_set(facts, ROW_ANSWERS, (double)face->answer_count);
    for (uint64_t i = face->answer_count; i > 0 && face->answer_count - i < FACE_ANSWERS; i--) {
        const struct face_answer *answer = &face->answer[(i - 1) % FACE_ANSWERS];
        char when[CLOCK_TEXT_BYTES];
        char id[ID_DIGITS + 1];
        char round[NUMBER_BYTES];
        char epsilon[DECIMAL_TEXT_BYTES];
        char charge[EVENT_BYTES];
        char bytes[NUMBER_BYTES];
        const char *const label[] = {when, id, round, answer->task, epsilon, charge, bytes};
        if (i == face->answer_count) {
            facts_set(facts, ROW_LAST_ANSWER, (double)answer->wall_ms / 1000);
        }
        clock_text(when, answer->wall_ms);
        id_text(id, &answer->job);
        (void)snprintf(round, sizeof round, "%" PRIu32, answer->round + 1);
        decimal_format(epsilon, sizeof epsilon, answer->used_micro, EPSILON_DECIMALS);
        event_text(charge, sizeof charge, &answer->charge);
        (void)snprintf(bytes, sizeof bytes, "%" PRIu64, answer->bytes);
        facts_add(facts, ROW_LATEST, 1, label);
    }
}

static void add_machine(struct facts *facts, const struct participant_view *view)
{
    if (!digest_is_none(&view->id)) {
        char id[ID_DIGITS + 1];
        const char *const label[] = {view->job, id};
        id_text(id, &view->id);
        facts_add(facts, ROW_JOB, 1, label);
    }
    facts_set_state(facts, ROW_PHASE, participant_phases, participant_phase_count, view->phase);
    facts_set_state(facts, ROW_ROUND_PHASE, participant_round_phases, participant_round_phase_count,
                    view->round_phase);
    add_ledger(facts, view->ledger);
}

/* A machine may have an agent for each of several data sets. A name is public: jobs ask by it. */
static void add_data_set(struct facts *facts, const struct dictionary *dictionary)
{
    const char *const label[] = {dictionary->name};
    if (dictionary->name[0] != '\0') {
        facts_add(facts, ROW_DATA_SET, 1, label);
    }
}

static enum watch_health health(void *self)
{
    const struct face *face = self;
    return face->participant != NULL ? WATCH_WORKS : WATCH_STARTS;
}

static struct facts *look(void *self)
{
    const struct face *face = self;
    const struct driver_counts *counts = &face->host.counts;
    const struct facts_common common = {.program = "hedgerow-agent",
                                        .started_ms = face->started_ms,
                                        .messages_in = counts->messages_in,
                                        .messages_out = counts->messages_out,
                                        .bytes_in = counts->bytes_in,
                                        .bytes_out = counts->bytes_out,
                                        .journal_bytes = journal_size(face->site->settings.state)};
    struct facts *facts = facts_new(family, sizeof family / sizeof family[0]);
    if (facts == NULL) {
        return NULL;
    }
    add_data_set(facts, &face->site->dictionary);
    if (face->participant != NULL) {
        const struct participant_view view = participant_look(face->participant, clock_wall_ms());
        add_machine(facts, &view);
    }
    const int64_t silent_ms = clock_now_ms() - counts->heard_ms;
    facts_set(facts, ROW_CONNECTED,
              counts->heard_ms > 0 && silent_ms < (int64_t)face->site->settings.silence_ms);
    add_answers(facts, face);
    facts_add_common(facts, ROW_COMMON, &common);
    return facts;
}

/* The ledger has counted the charge by now: the machine reads a record, and commits one, before this is told of it. Returns what
 * the charge has used up: a further round of a pass that is paid for uses up nothing. */
static uint64_t note_spending(struct face *face, const struct record *record)
{
    const struct participant_view view = participant_look(face->participant, record->wall_ms);
    const struct balance total = ledger_balance(view.ledger, ALLOWANCE_TOTAL);
    const struct desk_run *run = desk_run_of(face->desk, &record->as.answer.job);
    const struct spending_point point = {.wall_ms = record->wall_ms,
                                         .job = run == NULL ? SPENDING_MIXED
                                                            : (uint32_t)(run - face->desk->run),
                                         .used_micro = site_epsilon_used(&total)};
    const uint64_t before = face->used_micro;
    face->used_micro = point.used_micro;
    spending_add(&face->spending, &point);
    return point.used_micro > before ? point.used_micro - before : 0;
}

static void note(void *self, const struct record *record, struct slice blob)
{
    struct face *face = self;
    if (desk_note(face->desk, record, blob) != STATUS_OK) {
        face->desk_failed = true;
    }
    if (record->kind != RECORD_ANSWER) {
        return;
    }
    const uint64_t used_micro = note_spending(face, record);
    struct face_answer *answer = &face->answer[face->answer_count++ % FACE_ANSWERS];
    *answer = (struct face_answer){.wall_ms = record->wall_ms,
                                   .job = record->as.answer.job,
                                   .round = record->as.answer.round,
                                   .charge = record->as.answer.charge,
                                   .used_micro = used_micro,
                                   .bytes = record->as.answer.answer_bytes};
    (void)snprintf(answer->task, sizeof answer->task, "%s", record->as.answer.task);
}

enum status site_face_open(struct face *face, const struct site *site, const struct log *log,
                           struct driver_options *driver, struct why *why)
{
    const struct http_route route[] = {
        {.path = "/site.js", .type = "text/javascript; charset=utf-8", .text = site_js},
        {.path = "/charts.js", .type = "text/javascript; charset=utf-8", .text = charts_js},
        {.path = "/api/site", .type = "application/json", .make = site_face_json, .self = face},
        /* The last two are there only where the settings say so. */
        {.path = "/api/session",
         .type = "application/json",
         .act = site_face_open_session,
         .given = {"Hedgerow-Ticket"},
         .self = face},
        {.path = "/api/decide",
         .type = "application/json",
         .act = site_face_decide,
         .given = {"Hedgerow-Session", "Hedgerow-Digest", "Hedgerow-Decision",
                   "Hedgerow-Runs-Before", "Hedgerow-Why"},
         .self = face}};
    const size_t route_count = sizeof route / sizeof route[0];
    const struct http_settings *http = &site->settings.http;
    const struct watch_options options = {.period_ms = PERIOD_MS,
                                          .on_grid = true,
                                          .self = face,
                                          .health = health,
                                          .look = look,
                                          .page = site_html,
                                          .route = route,
                                          .route_count =
                                              http->approve ? route_count : route_count - 2};
    *face = (struct face){.site = site, .started_ms = clock_wall_ms()};
    if (http->listen[0] == '\0') {
        return STATUS_OK;
    }
    face->desk = calloc(1, sizeof *face->desk);
    if (face->desk == NULL) {
        return STATUS_NO_MEMORY;
    }
    face->desk->site = site;
    face->desk->in_agent = true;
    enum status status = page_host_open(&face->host, http, log, options, why);
    page_host_join(&face->host, driver);
    return status;
}

void site_face_close(struct face *face)
{
    page_host_close(&face->host);
    if (face->site != NULL) {
        page_end(&face->session, face->site);
    }
    desk_free(face->desk);
    face->desk = NULL;
}

/* The state folder is there by now. Without the files nobody can decide at the page; rounds go on. */
static void open_page(struct face *face)
{
    struct why why = {{0}};
    if (face->site->settings.http.approve &&
        page_begin(&face->session, face->site, watch_address(face->host.watch), &why) !=
            STATUS_OK) {
        log_event(face->host.log, LOG_ERROR, "page-not-open", NULL,
                  "nobody can decide at the page: %s; remedy: start the agent again", why.text);
    }
}

void site_face_begin(struct face *face, struct participant *participant, struct journal *journal)
{
    face->answer_count = 0; /* the journal tells them all anew */
    face->participant = participant;
    face->spending = (struct spending){.count = 0};
    face->used_micro = 0;
    face->desk_failed = false;
    if (face->host.watch != NULL) {
        open_page(face);
        face->desk->run_count = 0;
        face->journal = (struct journal_watch){.note = note, .self = face};
        journal_watch_begin(&face->journal, journal);
    }
}

void site_face_pause(struct face *face)
{
    face->participant = NULL;
}
