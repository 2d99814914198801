/* `hedgerow-agent ledger`: every charge, and what is left, from the journal, also while the agent
 * runs. For the site's own eyes. */

#include "agent/main.h"
#include "base/decimal.h"
#include "base/exit_code.h"
#include "dp/ledger.h"
#include "io/daemon.h"
#include "io/journal.h"
#include "job/job.h"
#include "protocol/wire.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROGRAM "hedgerow-agent"

enum { TIME_BYTES = 32 };

struct ledger_print {
    struct ledger *ledger;
    bool silent;     /* only the balance is wanted */
    json_t *charges; /* NULL: text */
    size_t count;
    char job_name[JOB_NAME_BYTES]; /* of the job record read last: its answers follow it */
    struct digest job;
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

static void learn_job_name(struct ledger_print *print, const struct record *record)
{
    struct job job;
    struct slice text = {record->as.job.text, record->as.job.job.text_bytes};

    print->job = record->as.job.job.id;
    print->job_name[0] = '\0';
    if (job_parse(&job, text, "the journal's job", NULL) == STATUS_OK) {
        (void)snprintf(print->job_name, sizeof print->job_name, "%s", job.name);
        job_free(&job);
    }
}

static enum status print_answer(struct ledger_print *print, const struct record *record)
{
    char when[TIME_BYTES];
    char id[2 * DIGEST_BYTES + 1];
    char answer[2 * DIGEST_BYTES + 1];
    char epsilon[DECIMAL_TEXT_BYTES];
    char delta[DECIMAL_TEXT_BYTES];
    const struct charge *charge = &record->as.answer.charge;
    struct price cost = ledger_would_cost(print->ledger, charge);
    const char *name = digest_equal(&print->job, &record->as.answer.job) ? print->job_name : "";

    when_text(when, record->wall_ms);
    hex_encode(id, record->as.answer.job.byte, DIGEST_BYTES);
    hex_encode(answer, record->as.answer.answer.byte, DIGEST_BYTES);
    decimal_format(epsilon, sizeof epsilon, cost.epsilon_micro, EPSILON_DECIMALS);
    decimal_format(delta, sizeof delta, cost.delta_atto, DELTA_DECIMALS);
    print->count++;
    if (print->charges == NULL) {
        (void)printf("%-20s  %-24.24s  %5" PRIu32 "  %-8s  %10s  %8s  %.16s\n", when,
                     name[0] != '\0' ? name : id, record->as.answer.round, record->as.answer.task,
                     epsilon, delta, answer);
        return STATUS_OK;
    }
    json_t *entry = json_pack(
        "{s:s, s:s, s:I, s:s, s:f, s:f, s:f, s:f, s:s, s:s}", "job", id, "job_name", name, "round",
        (json_int_t)record->as.answer.round, "task", record->as.answer.task, "epsilon",
        (double)cost.epsilon_micro * 1e-6, "delta", (double)cost.delta_atto * 1e-18,
        "noise_epsilon", (double)charge->epsilon_micro * 1e-6, "noise_delta",
        (double)charge->delta_atto * 1e-18, "when", when, "answer", answer);
    return entry == NULL || json_array_append_new(print->charges, entry) != 0 ? STATUS_NO_MEMORY
                                                                              : STATUS_OK;
}

static enum status visit(void *self, uint64_t sequence, struct slice body, struct slice blob)
{
    struct ledger_print *print = self;
    struct record record;
    enum status status = wire_decode_record(&record, body);

    (void)sequence;
    (void)blob;
    if (status != STATUS_OK) {
        return status;
    }
    if (record.kind == RECORD_JOB && !print->silent) {
        learn_job_name(print, &record);
    } else if (record.kind == RECORD_ANSWER) {
        status = print->silent ? STATUS_OK : print_answer(print, &record);
        if (status == STATUS_OK) {
            status = ledger_restore(print->ledger, &record.as.answer.charge);
        }
    }
    record_free(&record);
    return status;
}

static json_t *price_json(struct price price)
{
    return json_pack("{s:f, s:f}", "epsilon", (double)price.epsilon_micro * 1e-6, "delta",
                     (double)price.delta_atto * 1e-18);
}

static void print_total(const char *what, struct price price)
{
    char epsilon[DECIMAL_TEXT_BYTES];
    char delta[DECIMAL_TEXT_BYTES];
    decimal_format(epsilon, sizeof epsilon, price.epsilon_micro, EPSILON_DECIMALS);
    decimal_format(delta, sizeof delta, price.delta_atto, DELTA_DECIMALS);
    (void)printf("%-6s epsilon %s, delta %s\n", what, epsilon, delta);
}

static enum status print_totals(const struct ledger_print *print)
{
    const struct ledger *ledger = print->ledger;

    if (print->charges == NULL) {
        (void)printf("%zu answers\n", print->count);
        print_total("limit", ledger_limit(ledger));
        print_total("spent", ledger_spent(ledger));
        print_total("left", ledger_left(ledger));
        return STATUS_OK;
    }
    json_t *root = json_pack("{s:o, s:o, s:o, s:O}", "limit", price_json(ledger_limit(ledger)),
                             "spent", price_json(ledger_spent(ledger)), "left",
                             price_json(ledger_left(ledger)), "charges", print->charges);
    if (root == NULL) {
        return STATUS_NO_MEMORY;
    }
    int failed = json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    (void)putchar('\n');
    json_decref(root);
    return failed != 0 ? STATUS_IO : STATUS_OK;
}

/* Replays the journal beside a running agent. Fails with STATUS_NOT_FOUND where there is none. */
static enum status replay(struct ledger_print *print, const struct site *site, struct why *why)
{
    struct journal_sqlite_options options = {
        .folder = site->settings.state, .kind = "agent", .read_only = true};
    struct journal journal = {0};

    print->ledger = ledger_new((struct price){.epsilon_micro = site->policy.epsilon_micro,
                                              .delta_atto = site->policy.delta_atto});
    enum status status = print->ledger == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    if (status == STATUS_OK) {
        status = journal_sqlite_open(&journal, &options, why);
    }
    if (status == STATUS_OK) {
        status = journal.each(journal.self, visit, print, why);
    }
    journal_close(&journal);
    return status;
}

enum status site_budget_left(const struct site *site, struct price *left, struct why *why)
{
    struct ledger_print print = {.silent = true};
    enum status status = replay(&print, site, why);

    if (status == STATUS_OK || status == STATUS_NOT_FOUND) {
        *left = ledger_left(print.ledger);
    }
    ledger_free(print.ledger);
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
        (void)printf("%-20s  %-24s  %5s  %-8s  %10s  %8s  %s\n", "when", "job", "round", "task",
                     "epsilon", "delta", "answer");
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
    ledger_free(print.ledger);
    json_decref(print.charges);
    site_free(&site);
    return status == STATUS_OK ? EXIT_CODE_OK : daemon_complain(PROGRAM, status, &why);
}
