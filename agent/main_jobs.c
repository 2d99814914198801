/* `hedgerow-agent jobs`: what this site has seen, by the texts that wait, a person's decisions and the journal. For the site's
 * own eyes. */

#include "agent/main_approve.h"
#include "base/decimal.h"
#include "base/text.h"
#include "json/json_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* One text, over all its runs. */
struct seen_text {
    struct digest digest;
    char name[JOB_NAME_BYTES]; /* "" where the text is not kept */
    uint64_t epsilon_micro;    /* the price of a run; 0 likewise */
    uint32_t rounds;
    uint32_t runs;
    uint32_t latest; /* 1 + the latest round that the latest run's answers reached */
    uint32_t answers;
    uint64_t paid_micro;
    bool kept;    /* its text lies in `waiting` */
    bool offered; /* as far as is known */
    bool under;   /* its run is the latest in the journal, and is offered as far as is known */
    bool ended;   /* its run is the latest that the journal names, and is offered no more */
};

struct seen_texts {
    struct seen_text *item; /* (count) owned */
    size_t count;
};

static struct seen_text *add(struct seen_texts *texts, const struct digest *digest)
{
    for (size_t i = texts->count; i-- > 0;) {
        if (digest_equal(&texts->item[i].digest, digest)) {
            return &texts->item[i];
        }
    }
    struct seen_text *grown = realloc(texts->item, (texts->count + 1) * sizeof *grown);
    if (grown == NULL) {
        return NULL;
    }
    texts->item = grown;
    texts->item[texts->count] = (struct seen_text){.digest = *digest};
    return &texts->item[texts->count++];
}

static void take_run(struct seen_text *text, const struct desk_run *run, const struct desk *desk)
{
    const bool last = run + 1 == desk->run + desk->run_count;
    const bool offered = !desk->offer.known || digest_equal(&desk->offer.id, &run->id);
    text->runs++;
    text->latest = run->latest;
    text->answers += run->answers;
    text->under = last && offered;
    text->ended = last && !offered;
    if (run->name[0] != '\0') {
        (void)snprintf(text->name, sizeof text->name, "%s", run->name);
        text->epsilon_micro = run->epsilon_micro;
        text->rounds = run->rounds;
    }
}

static void find_name(struct seen_text *text, const struct desk *desk)
{
    struct waiting_job found = {.digest = text->digest};
    struct why ignored = {{0}};
    enum status status = STATUS_NOT_FOUND;
    hex_encode(found.hex, text->digest.byte, DIGEST_BYTES);
    if (!desk->in_agent) {
        status = desk_recall(desk, &found, &text->digest, &ignored);
    } else if (!desk_load_approved(desk, &found, &status, &ignored)) {
        status = STATUS_NOT_FOUND;
    }
    if (status == STATUS_OK) {
        (void)snprintf(text->name, sizeof text->name, "%s", found.job.name);
        text->epsilon_micro = found.job.epsilon_micro;
    }
    waiting_free(&found);
}

static enum status gather(struct seen_texts *texts, const struct desk *desk,
                          const struct ledger *ledger)
{
    const bool all = !desk->in_agent || desk->run_count <= DESK_RUNS_SHOWN;
    for (size_t i = all ? 0 : desk->run_count - DESK_RUNS_SHOWN; i < desk->run_count; i++) {
        const struct desk_run *run = &desk->run[i];
        struct seen_text *text = add(texts, &run->text);
        if (text == NULL) {
            return STATUS_NO_MEMORY;
        }
        take_run(text, run, desk);
        for (size_t j = 0; j < ledger_job_count(ledger); j++) {
            struct digest id;
            const struct balance balance = ledger_job(ledger, j, &id);
            if (digest_equal(&id, &run->id)) {
                text->paid_micro += site_epsilon_used(&balance);
            }
        }
    }
    for (size_t i = 0; i < desk->approvals.count; i++) {
        const struct approval *decision = &desk->approvals.item[i];
        if (desk->in_agent && decision->runs <= desk_runs_of(desk, &decision->text)) {
            continue; /* an old one; of a text that is rejected and kept the loop below tells */
        }
        struct seen_text *text = add(texts, &decision->text);
        if (text == NULL) {
            return STATUS_NO_MEMORY;
        }
        if (text->name[0] == '\0') {
            find_name(text, desk);
        }
    }
    for (size_t i = 0; i < desk->refused.count; i++) {
        const struct desk_refusal *refusal = &desk->refused.item[i];
        struct seen_text *text = add(texts, &refusal->text);
        if (text == NULL) {
            return STATUS_NO_MEMORY;
        }
        if (text->name[0] == '\0') {
            (void)snprintf(text->name, sizeof text->name, "%s", refusal->name);
            text->epsilon_micro = refusal->epsilon_micro;
        }
    }
    for (size_t i = 0; i < desk->count; i++) {
        const struct waiting_job *waiting = &desk->waiting[i];
        struct seen_text *text = add(texts, &waiting->digest);
        if (text == NULL) {
            return STATUS_NO_MEMORY;
        }
        text->kept = true;
        text->offered = desk_offers(desk, &waiting->digest);
        (void)snprintf(text->name, sizeof text->name, "%s", waiting->job.name);
        text->epsilon_micro = waiting->job.epsilon_micro;
    }
    return STATUS_OK;
}

/* Whether the latest run that has not answered its last round is under way, the journal of a site does not tell, but the offer
 * does. */
static const char *state_of(const struct seen_text *text, const struct approval *decision,
                            const struct desk *desk)
{
    const bool spent = decision != NULL && desk_is_spent(desk, decision);
    if (desk_refusal_of(desk, &text->digest) != NULL) {
        return "refused"; /* whatever was before: it was judged last, and would be cleared */
    }
    if (decision != NULL && decision->runs == 0) {
        return "rejected";
    }
    if (text->kept && (decision == NULL || decision->runs <= text->runs || spent)) {
        return text->offered ? "waiting" : "over";
    }
    if (text->runs > 0 && (text->under || text->ended) &&
        (text->rounds == 0 || text->latest < text->rounds)) {
        return text->under ? "running" : "over";
    }
    if (decision == NULL || decision->runs <= text->runs ||
        (!digest_is_none(&decision->job) && desk_run_of(desk, &decision->job) != NULL)) {
        return "done";
    }
    return spent ? "over" : "approved"; /* it ended before it began here, or it may begin */
}

/* Nothing is left of a yes to a job that has ended. */
static uint32_t runs_approved(const struct seen_text *text, const struct approval *decision,
                              const struct desk *desk)
{
    if (decision == NULL) {
        return 0;
    }
    return desk_is_spent(desk, decision) && decision->runs > text->runs ? text->runs
                                                                        : decision->runs;
}

/* Why it is refused, or a person's words; "". */
static const char *because(const struct seen_text *text, const struct approval *decision,
                           const struct desk *desk)
{
    const struct desk_refusal *refusal = desk_refusal_of(desk, &text->digest);
    return refusal != NULL ? refusal->why : decision != NULL ? decision->why : "";
}

static json_t *text_json(const struct seen_text *text, const struct approval *decision,
                         const struct desk *desk)
{
    char hex[2 * DIGEST_BYTES + 1];
    hex_encode(hex, text->digest.byte, DIGEST_BYTES);
    return json_pack("{s:s, s:s, s:s, s:f, s:f, s:I, s:I, s:I}", "digest", hex, "job", text->name,
                     "state", state_of(text, decision, desk), "epsilon",
                     (double)text->epsilon_micro * 1e-6, "epsilon_paid",
                     (double)text->paid_micro * 1e-6, "runs", (json_int_t)text->runs,
                     "runs_approved", (json_int_t)runs_approved(text, decision, desk), "answers",
                     (json_int_t)text->answers);
}

json_t *desk_jobs_json(const struct desk *desk, const struct ledger *ledger)
{
    struct seen_texts texts = {.count = 0};
    json_t *list = gather(&texts, desk, ledger) == STATUS_OK ? json_array() : NULL;
    for (size_t i = 0; list != NULL && i < texts.count; i++) {
        const struct seen_text *text = &texts.item[i];
        json_add(&list, text_json(text, approvals_find(&desk->approvals, &text->digest), desk));
    }
    free(texts.item);
    return list;
}

static enum status print_json(const struct desk *desk, const struct seen_texts *texts,
                              uint64_t left_micro)
{
    json_t *list = json_array();
    for (size_t i = 0; i < texts->count; i++) {
        const struct seen_text *text = &texts->item[i];
        const struct approval *decision = approvals_find(&desk->approvals, &text->digest);
        json_t *json = text_json(text, decision, desk);
        json_put(&json, "why", json_string(because(text, decision, desk)));
        json_add(&list, json);
    }
    json_t *all = list == NULL ? NULL
                               : json_pack("{s:f, s:o}", "epsilon_left", (double)left_micro * 1e-6,
                                           "jobs", list);
    const bool good =
        all != NULL && json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0;
    (void)putchar('\n');
    json_decref(all);
    return good ? STATUS_OK : STATUS_NO_MEMORY;
}

static void print_text(const struct seen_text *text, const struct approval *decision,
                       const struct desk *desk)
{
    char hex[2 * DIGEST_BYTES + 1];
    char price[DECIMAL_TEXT_BYTES] = "-";
    char paid[DECIMAL_TEXT_BYTES];
    hex_encode(hex, text->digest.byte, DIGEST_BYTES);
    if (text->name[0] != '\0') {
        decimal_format(price, sizeof price, text->epsilon_micro, EPSILON_DECIMALS);
    }
    decimal_format(paid, sizeof paid, text->paid_micro, EPSILON_DECIMALS);
    (void)printf("%.12s  %-8s  %4" PRIu32 "  %7s  %7s  %s\n", hex, state_of(text, decision, desk),
                 text->runs, price, paid, text->name[0] != '\0' ? text->name : "?");
    const char *why = because(text, decision, desk);
    if (why[0] != '\0') {
        text_wrap(stdout, 0, 14, "              because: %s", why);
    }
}

enum status desk_list(struct desk *desk, const struct arguments *arguments, struct why *why)
{
    struct seen_texts texts = {.count = 0};
    struct ledger *ledger = NULL;
    char left[DECIMAL_TEXT_BYTES];
    enum status status = site_ledger(desk->site, &ledger, why);
    if (status == STATUS_OK || status == STATUS_NOT_FOUND) {
        status = ledger == NULL ? STATUS_NO_MEMORY : gather(&texts, desk, ledger);
    }
    if (status == STATUS_OK) {
        const struct balance total = ledger_balance(ledger, ALLOWANCE_TOTAL);
        const uint64_t left_micro = site_epsilon_left(&total);
        if (arguments->json) {
            status = print_json(desk, &texts, left_micro);
        } else {
            (void)printf("%-12s  %-8s  %4s  %7s  %7s  %s\n", "digest", "state", "runs", "epsilon",
                         "paid", "job");
            for (size_t i = 0; i < texts.count; i++) {
                print_text(&texts.item[i], approvals_find(&desk->approvals, &texts.item[i].digest),
                           desk);
            }
            decimal_format(left, sizeof left, left_micro, EPSILON_DECIMALS);
            (void)printf("left of the policy's total: epsilon %s\n", left);
        }
    }
    ledger_free(ledger);
    free(texts.item);
    return status;
}
