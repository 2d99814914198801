/* What a person reads before a yes: the job's text, then its plan. */

#include "agent/main_approve.h"
#include "agent/main_balance.h"
#include "base/decimal.h"
#include "base/text.h"
#include "io/daemon.h"
#include "job/again.h"
#include "job/round.h"
#include "job/terms.h"
#include "job/trust.h"
#include "task/task.h"
#include "json/json_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* The records that this site states. A share counts no more of them than the job lets count. */
static struct terms_size size_of(const struct site *site, const struct job *job)
{
    const uint64_t own = dictionary_records(&site->dictionary, &job->schema);
    const bool is_capped = job_has_shares(job) && own > job->records_most;
    const uint64_t counted = is_capped ? job->records_most : own;
    const uint64_t least = job_records_min(job);
    return (struct terms_size){.agents = job->cohort_min,
                               .records = counted > least ? counted : least};
}

static void add_note(void *list, const char *text)
{
    json_t **into = list;
    json_add(into, json_string(text));
}

static void print_stage_note(UNUSED void *self, const char *text)
{
    text_wrap(stdout, 0, 6, "    note: %s", text);
}

/* What is to be said of a stage's questions. */
static void tell_stage(const struct job *job, const struct stage *stage,
                       void (*tell)(void *self, const char *text), void *self)
{
    struct why note = {{0}};
    if (stage_has_site_note(job, stage, &note)) {
        tell(self, note.text);
    }
    for (size_t i = 0; i < round_queries(stage)->count; i++) {
        if (query_has_note(&round_queries(stage)->query[i], &note)) {
            tell(self, note.text);
        }
    }
}

static enum status print_stage(const struct site *site, const struct job *job, size_t index,
                               struct why *why)
{
    const struct stage *stage = &job->stage[index];
    struct terms terms = {0};
    enum status status = terms_of_stage(&terms, job, index, size_of(site, job), why);
    if (status != STATUS_OK) {
        return status;
    }
    char price[SITE_PRICE_BYTES];
    site_price_text(price, terms.price);
    (void)putchar('\n');
    text_wrap(stdout, 0, 4, "  stage %zu: %s, %s; %s noise; %u charge%s, %s by itself", index + 1,
              task_name(stage->task), strategy_name(stage->strategy), terms.mechanism, terms.passes,
              terms.passes == 1 ? "" : "s", price);
    for (size_t i = 0; i < terms.line_count; i++) {
        const struct terms_line *line = &terms.line[i];
        const bool spread = isfinite(line->noise);
        if (!spread && isnan(line->bar)) {
            text_wrap(stdout, 0, 6, "    released: %s, no interval", line->what);
            continue;
        }
        text_wrap(stdout, 0, 6, "    released: %s, %s %s %s", line->what,
                  spread              ? "+-"
                  : line->is_expected ? "about"
                                      : "at most",
                  decimal_short(spread ? line->noise : line->bar, 3).text, line->unit);
    }
    terms_free(&terms);
    tell_stage(job, stage, print_stage_note, NULL);
    return STATUS_OK;
}

static void print_trust(const struct job *job)
{
    (void)putchar('\n');
    text_wrap(stdout, 0, 4, "  trust %s: %s", trust_of(job)->name, trust_of(job)->promise);
}

static void print_again(UNUSED void *self, const char *text)
{
    text_wrap(stdout, 0, 4, "  note: %s", text);
}

static void check_again(UNUSED void *self, const char *text)
{
    daemon_note("job", "%s", text);
}

/* Questions that are asked twice under two names. Without memory nothing is said. */
static void tell_again(const struct job *job, void (*tell)(void *self, const char *text),
                       void *self)
{
    struct job_agains agains;
    if (job_asks_again(&agains, job) == STATUS_OK) {
        job_again_tell(&agains, job, tell, self);
    }
}

void approve_check_questions(const struct job *job)
{
    for (size_t i = 0; i < job->stage_count; i++) {
        const struct query_set *set = round_queries(&job->stage[i]);
        for (size_t j = 0; j < set->count; j++) {
            struct why note = {{0}};
            if (query_has_note(&set->query[j], &note)) {
                daemon_note("job", "stage %zu: %s", i + 1, note.text);
            }
        }
    }
    tell_again(job, check_again, NULL);
}

/* For a judged job: questions that it asks twice, and questions beyond the dictionary's columns. */
static void print_notes(const struct site *site, const struct job *job)
{
    struct why note = {{0}};
    tell_again(job, print_again, NULL);
    for (size_t i = 0; i <= job->schema.column_count; i++) {
        if (dictionary_has_note(&site->dictionary, &job->schema, i, &note)) {
            text_wrap(stdout, 0, 4, "  note: %s", note.text);
        }
    }
}

/* The dictionary's number, or nearly, leaves the site with the answers' sizes. Returns whether it does. */
static bool is_told(const struct site *site, const struct job *job, struct why *note)
{
    const uint64_t own = dictionary_records(&site->dictionary, &job->schema);
    if (job_has_shares(job)) {
        why_set(note,
                "a batch is a share: each answer tells the coordinator that share of %" PRIu64
                " records, by the data dictionary",
                own < job->records_most ? own : job->records_most);
    }
    return job_has_shares(job);
}

static void print_told(const struct site *site, const struct job *job)
{
    struct why note = {{0}};
    if (is_told(site, job, &note)) {
        text_wrap(stdout, 0, 4, "  %s", note.text);
    }
}

static json_t *notes_json(const struct site *site, const struct job *job)
{
    struct why note = {{0}};
    json_t *list = json_array();
    if (is_told(site, job, &note)) {
        json_add(&list, json_string(note.text));
    }
    for (size_t i = 0; i <= job->schema.column_count; i++) {
        if (dictionary_has_note(&site->dictionary, &job->schema, i, &note)) {
            json_add(&list, json_string(note.text));
        }
    }
    tell_again(job, add_note, &list);
    return list;
}

/* An allowance of the policy, and what is left of it. */
static void print_left(const struct ledger *ledger, enum allowance allowance, const char *of)
{
    const struct balance balance = ledger_balance(ledger, allowance);
    char left[SITE_PRICE_BYTES];
    if (balance.limited) {
        site_price_text(left, site_left(&balance));
        text_wrap(stdout, 0, 4, "  left of %s: %s", of, left);
    }
}

static enum status print_cost(const struct site *site, const struct job *job, struct why *why)
{
    struct ledger *ledger = NULL;
    struct why short_of = {{0}};
    char window[64];
    char price[SITE_PRICE_BYTES];
    enum status status = site_ledger(site, &ledger, why);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        ledger_free(ledger);
        return status;
    }
    site_price_text(price, (struct price){job->epsilon_micro, job->delta_atto});
    text_wrap(stdout, 0, 4, "  it may cost this site %s, for any one %s", price,
              job_unit_name(job->unit));
    (void)snprintf(window, sizeof window, "what any %" PRIu32 " days may cost",
                   site->policy.allowance_days);
    print_left(ledger, ALLOWANCE_TOTAL, "the policy's total");
    print_left(ledger, ALLOWANCE_WINDOW, window);
    if (site->policy.job_epsilon_micro > 0) {
        site_price_text(
            price, (struct price){site->policy.job_epsilon_micro, site->policy.job_delta_atto});
        text_wrap(stdout, 0, 4, "  the policy allows each job %s (job_epsilon)", price);
    }
    if (site_check_budget(ledger, &site->policy, job, 1, &short_of) != STATUS_OK) {
        text_wrap(stdout, 0, 4, "  NOT ENOUGH: %s", short_of.text);
    }
    ledger_free(ledger);
    return STATUS_OK;
}

enum status approve_show(const struct site *site, const struct waiting_job *waiting,
                         struct why *why)
{
    const struct job *job = &waiting->job;
    enum status status = STATUS_OK;
    (void)printf("job \"%s\", digest %s, run %u of this text here\n\n", job->name, waiting->hex,
                 (unsigned)waiting->runs_before + 1);
    for (size_t i = 0; i < waiting->size; i++) { /* a job's text comes from elsewhere */
        const char c = waiting->text[i];
        (void)putchar(c == '\n' || (c >= ' ' && c <= '~') ? c : '?');
    }
    (void)putchar('\n');
    text_wrap(stdout, 0, 0,
              "What it asks of this site, of %" PRIu64
              " records or more. The figures are for the fewest agents that may answer (%u, this"
              " one included), each with as many records:",
              size_of(site, job).records, (unsigned)job->cohort_min);
    for (size_t i = 0; i < job->stage_count && status == STATUS_OK; i++) {
        status = print_stage(site, job, i, why);
    }
    if (status == STATUS_OK) {
        print_trust(job);
        print_told(site, job);
        print_notes(site, job);
        status = print_cost(site, job, why);
    }
    return status;
}

static json_t *stage_json(const struct site *site, const struct job *job, size_t index)
{
    struct terms terms = {0};
    struct why why = {{0}};
    if (terms_of_stage(&terms, job, index, size_of(site, job), &why) != STATUS_OK) {
        return NULL;
    }
    json_t *lines = json_array();
    json_t *notes = json_array();
    tell_stage(job, &job->stage[index], add_note, &notes);
    for (size_t i = 0; i < terms.line_count; i++) {
        const struct terms_line *line = &terms.line[i];
        json_add(&lines,
                 json_pack("{s:s, s:s, s:o, s:o}", "what", line->what, "unit", line->unit, "noise",
                           json_number(line->noise), "bar", json_number(line->bar)));
    }
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:I, s:f, s:f, s:o, s:o}", "task", task_name(job->stage[index].task),
        "strategy", strategy_name(job->stage[index].strategy), "mechanism", terms.mechanism,
        "charges", (json_int_t)terms.passes, "epsilon", (double)terms.price.epsilon_micro * 1e-6,
        "delta", (double)terms.price.delta_atto * 1e-18, "releases", lines, "notes", notes);
    terms_free(&terms);
    return json;
}

json_t *approve_plan_json(const struct site *site, const struct waiting_job *waiting)
{
    const struct job *job = &waiting->job;
    json_t *stages = json_array();
    for (size_t i = 0; i < job->stage_count; i++) {
        json_add(&stages, stage_json(site, job, i));
    }
    return json_pack("{s:s, s:s, s:s%, s:s, s:s, s:s, s:I, s:I, s:f, s:f, s:o, s:o}", "digest",
                     waiting->hex, "name", job->name, "text", waiting->text, waiting->size, "trust",
                     job_trust_name(job->trust), "promise", trust_of(job)->promise, "unit",
                     job_unit_name(job->unit), "agents", (json_int_t)job->cohort_min, "records",
                     (json_int_t)size_of(site, job).records, "epsilon",
                     (double)job->epsilon_micro * 1e-6, "delta", (double)job->delta_atto * 1e-18,
                     "notes", notes_json(site, job), "stages", stages);
}

json_t *approve_short_json(const struct ledger *ledger, const struct policy *policy,
                           const struct job *job)
{
    struct why why = {{0}};
    return site_check_budget(ledger, policy, job, 1, &why) == STATUS_OK ? json_null()
                                                                        : json_string(why.text);
}

static json_t *waiting_json(const struct site *site, const struct waiting_job *waiting,
                            const struct ledger *ledger)
{
    const struct balance total = ledger_balance(ledger, ALLOWANCE_TOTAL);
    json_t *json = approve_plan_json(site, waiting);
    json_put(&json, "epsilon_left", json_real((double)site_epsilon_left(&total) * 1e-6));
    json_put(&json, "not_enough", approve_short_json(ledger, &site->policy, &waiting->job));
    json_put(&json, "runs_before", json_integer((json_int_t)waiting->runs_before));
    return json;
}

enum status approve_json(const struct site *site, const struct waiting_job *waiting, size_t count,
                         struct why *why)
{
    struct ledger *ledger = NULL;
    json_t *list = json_array();
    enum status status = site_ledger(site, &ledger, why);
    if (status == STATUS_OK || status == STATUS_NOT_FOUND) {
        for (size_t i = 0; i < count; i++) {
            json_add(&list, waiting_json(site, &waiting[i], ledger));
        }
        status = list != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    }
    ledger_free(ledger);
    if (status == STATUS_OK) {
        json_t *all = json_pack("{s:O}", "waiting", list);
        const bool good = all != NULL && json_dumpf(all, stdout, JSON_INDENT(2)) == 0;
        (void)putchar('\n');
        json_decref(all);
        status = good ? STATUS_OK : STATUS_NO_MEMORY;
    }
    json_decref(list);
    return status;
}
