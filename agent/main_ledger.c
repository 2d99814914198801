/* What is left of a site's budget, and whether a job's price fits into it. `hedgerow-agent ledger`: every charge, and what is
 * left, from the journal, also while the agent runs. For the site's own eyes. */

#include "agent/main.h"

#include "agent/main_balance.h"
#include "base/decimal.h"
#include "base/exit_code.h"
#include "base/text.h"
#include "io/daemon.h"
#include "io/journal.h"
#include "job/round.h"
#include "protocol/wire.h"
#include "json/json_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TIME_BYTES = 32, EVENT_BYTES = 128 };

struct ledger_print {
    struct ledger_found found;
    bool silent;     /* only the balance is wanted */
    json_t *charges; /* NULL: text */
};

static void when_text(char out[TIME_BYTES], int64_t wall_ms)
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm utc;
    if (gmtime_r(&seconds, &utc) == NULL ||
        strftime(out, TIME_BYTES, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0) {
        (void)snprintf(out, TIME_BYTES, "?");
    }
}

static enum status print_answer(struct ledger_print *print, const struct record *record)
{
    char when[TIME_BYTES];
    char id[2 * DIGEST_BYTES + 1];
    char answer[2 * DIGEST_BYTES + 1];
    char epsilon[DECIMAL_TEXT_BYTES];
    char delta[DECIMAL_TEXT_BYTES];
    char event[EVENT_BYTES];
    const struct charge *charge = &record->as.answer.charge;
    struct price cost = ledger_would_cost(print->found.ledger, charge);
    const char *name = ledger_found_job_name(&print->found, &record->as.answer.job);
    bool unbounded = cost.epsilon_micro == UINT64_MAX;

    when_text(when, record->wall_ms);
    hex_encode(id, record->as.answer.job.byte, DIGEST_BYTES);
    hex_encode(answer, record->as.answer.answer.byte, DIGEST_BYTES);
    decimal_format(epsilon, sizeof epsilon, cost.epsilon_micro, EPSILON_DECIMALS);
    decimal_format(delta, sizeof delta, cost.delta_atto, DELTA_DECIMALS);
    event_text(event, sizeof event, charge);
    if (print->charges == NULL) {
        (void)printf("%-20s  %-20.20s  %5" PRIu32 "  %-10s %8s %8s\n", when,
                     name[0] != '\0' ? name : id, record->as.answer.round + 1,
                     record->as.answer.task, unbounded ? "-" : epsilon, delta);
        text_wrap(stdout, 0, 4, "    %s%s%.16s", event,
                  digest_is_none(&record->as.answer.answer) ? "" : "; answer ",
                  digest_is_none(&record->as.answer.answer) ? "" : answer);
        return STATUS_OK;
    }
    json_add(&print->charges,
             json_pack("{s:s, s:s, s:I, s:s, s:o, s:f, s:f, s:f, s:s, s:s, s:o}", "job", id,
                       "job_name", name, "round", (json_int_t)record->as.answer.round, "task",
                       record->as.answer.task, "epsilon",
                       unbounded ? json_null() : json_real((double)cost.epsilon_micro * 1e-6),
                       "delta", (double)cost.delta_atto * 1e-18, "noise_epsilon",
                       (double)charge->epsilon_micro * 1e-6, "noise_delta",
                       (double)charge->delta_atto * 1e-18, "when", when, "answer", answer, "event",
                       event_json(charge)));
    return print->charges == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

static enum status visit_answer(struct ledger_print *print, const struct record *record)
{
    struct occasion occasion = {.job = record->as.answer.job, .wall_ms = record->wall_ms};
    const struct charge *charge = &record->as.answer.charge;
    enum status status = STATUS_OK;

    ledger_at(print->found.ledger, &occasion);
    print->found.answer_count++;
    if (!print->silent) {
        status = print_answer(print, record);
    }
    if (status == STATUS_OK && !print->silent) {
        status = ledger_found_event(&print->found, charge);
    }
    return status == STATUS_OK ? ledger_restore(print->found.ledger, charge) : status;
}

static enum status visit(void *self, UNUSED uint64_t sequence, struct slice body, struct slice blob)
{
    struct ledger_print *print = self;
    struct record record;
    enum status status = wire_decode_record(&record, body);

    if (status != STATUS_OK) {
        return status;
    }
    if (record.kind == RECORD_JOB && !print->silent) {
        bool inside = record.as.job.text != NULL; /* in journals of version 1 */
        struct slice text = {record.as.job.text, record.as.job.job.text_bytes};
        status = ledger_found_job(&print->found, &record.as.job.job, inside ? text : blob);
    } else if (record.kind == RECORD_ANSWER) {
        status = visit_answer(print, &record);
    }
    record_free(&record);
    return status;
}

static enum status print_totals(const struct ledger_print *print)
{
    if (print->charges == NULL) {
        balance_print(&print->found);
        return STATUS_OK;
    }
    json_t *root = json_pack("{s:O}", "charges", print->charges);
    enum status status = STATUS_NO_MEMORY;
    balance_json(&root, &print->found);
    if (root != NULL) {
        status = json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) != 0
                     ? STATUS_IO
                     : STATUS_OK;
        (void)putchar('\n');
    }
    json_decref(root);
    return status;
}

/* The window as it is now, and not as it was at the last answer. */
static void advance_to_now(struct ledger *ledger)
{
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) == 0) {
        ledger_at(ledger, &(struct occasion){.wall_ms = (int64_t)now.tv_sec * 1000});
    }
}

/* Replays the journal beside a running agent. Fails with STATUS_NOT_FOUND where there is none. */
static enum status replay(struct ledger_print *print, const struct site *site, struct why *why)
{
    struct allowances allowances = policy_allowances(&site->policy);

    print->found.policy = &site->policy;
    print->found.ledger = ledger_open(&allowances);
    enum status status = print->found.ledger == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    if (status == STATUS_OK) {
        status = journal_sqlite_read(site->settings.state, "agent", visit, print, why);
    }
    if (status == STATUS_OK) {
        advance_to_now(print->found.ledger);
    }
    return status;
}

enum status site_ledger(const struct site *site, struct ledger **ledger, struct why *why)
{
    struct ledger_print print = {.silent = true};
    enum status status = replay(&print, site, why);

    *ledger = print.found.ledger;
    print.found.ledger = NULL;
    ledger_found_free(&print.found);
    return status;
}

static enum status print_journal(struct ledger_print *print, const struct site *site, bool json,
                                 struct why *why)
{
    print->charges = json ? json_array() : NULL;
    if (json && print->charges == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (!json) {
        (void)printf("%-20s  %-20s  %5s  %-10s %8s %8s\n    event; answer\n", "when", "job",
                     "round", "task", "epsilon", "delta");
    }
    enum status status = replay(print, site, why);
    if (status == STATUS_NOT_FOUND) {
        (void)fprintf(stderr, "%s: so nothing was spent, if `state` names the right folder\n",
                      why->text);
        status = STATUS_OK;
    }
    return status == STATUS_OK ? print_totals(print) : status;
}

int main_ledger(const struct arguments *arguments)
{
    struct site site = {0};
    struct ledger_print print = {0};
    struct why why = {{0}};
    enum status status = site_read_settings(&site, arguments->config, &why);

    if (status == STATUS_OK) {
        status = site_read_policy(&site, &why);
    }
    if (status == STATUS_OK) {
        status = print_journal(&print, &site, arguments->json, &why);
    }
    ledger_found_free(&print.found);
    json_decref(print.charges);
    site_free(&site);
    return status == STATUS_OK ? EXIT_CODE_OK : daemon_complain(PROGRAM, status, &why);
}

uint64_t site_epsilon_used(const struct balance *balance)
{
    return balance->spent.epsilon_micro == UINT64_MAX
               ? filter_epsilon(&balance->filter, &balance->spent)
               : balance->spent.epsilon_micro;
}

uint64_t site_epsilon_left(const struct balance *balance)
{
    const uint64_t limit = balance->filter.limit.epsilon_micro;
    const uint64_t spent = site_epsilon_used(balance);
    return limit > spent ? limit - spent : 0;
}

bool site_affords(const struct ledger *ledger, enum allowance allowance, const struct job *job,
                  uint32_t runs)
{
    const struct balance balance = ledger_balance(ledger, allowance);
    const struct cost whole = round_cost(job, &balance.filter, job_round_count(job));
    struct cost sums = balance.spent;
    bool admits = true;
    for (uint32_t i = 0; i < runs && balance.limited && admits; i++) {
        sums = cost_add(sums, whole);
        admits = filter_admits(&balance.filter, &sums);
    }
    return admits;
}

struct price site_left(const struct balance *balance)
{
    const uint64_t limit = balance->filter.own_delta_max;
    const uint64_t spent = balance->spent.delta_atto;
    return (struct price){site_epsilon_left(balance), limit > spent ? limit - spent : 0};
}

/* The job's own allowance is empty before its first charge, and policy_check_job has compared it. */
enum status site_check_budget(const struct ledger *ledger, const struct policy *policy,
                              const struct job *job, uint32_t runs, struct why *why)
{
    const bool total = site_affords(ledger, ALLOWANCE_TOTAL, job, 1);
    const bool first = total && site_affords(ledger, ALLOWANCE_WINDOW, job, 1);
    if (first && site_affords(ledger, ALLOWANCE_TOTAL, job, runs)) {
        return STATUS_OK;
    }
    const struct balance balance =
        ledger_balance(ledger, total ? ALLOWANCE_WINDOW : ALLOWANCE_TOTAL);
    char price[SITE_PRICE_BYTES];
    char left[SITE_PRICE_BYTES];
    site_price_text(price, (struct price){job->epsilon_micro, job->delta_atto});
    site_price_text(left, site_left(&balance));
    if (first) {
        const struct balance all = ledger_balance(ledger, ALLOWANCE_TOTAL);
        site_price_text(left, site_left(&all));
        why_set(why,
                "each run of this job costs %s, and %s is left of the policy's total, which does "
                "not pay for %" PRIu32 " runs; remedy: fewer runs, or raise epsilon in the policy",
                price, left, runs);
    } else if (total) {
        why_set(why,
                "this job costs %s, and of what the policy allows for any %" PRIu32
                " days %s is left: its rounds would be declined; remedy: reject it, wait until "
                "earlier answers are older, or raise allowance_epsilon in the policy",
                price, policy->allowance_days, left);
    } else {
        why_set(why,
                "this job costs %s, and %s is left of the policy's total: its rounds would be "
                "declined; remedy: reject it, or raise epsilon in the policy",
                price, left);
    }
    return STATUS_REFUSED;
}
