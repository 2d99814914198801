/* What the site's own people say while the agent runs: decisions on jobs, and an edited policy. Both arrive as the text
 * of a file, and both take effect between two rounds. And how many jobs were looked at on a day. */

#include "agent/participant_state.h"

#include "agent/judge.h"
#include "base/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DAY_MS = 86400000 };

enum verdict { VERDICT_WAITS, VERDICT_YES, VERDICT_NO };

/* Runs of this text that are in the journal, without the present job. */
static size_t runs_before(const struct participant *p)
{
    size_t runs = 0;
    for (size_t i = 0; i < p->seen_count; i++) {
        runs += digest_equal(&p->seen[i].text, &p->name.text_digest) &&
                        !digest_equal(&p->seen[i].id, &p->name.id)
                    ? 1
                    : 0;
    }
    return runs;
}

static enum verdict verdict_on_job(const struct participant *p)
{
    if (p->options.approvals_followed && !p->approvals_known) {
        return VERDICT_WAITS; /* what cannot be read may say no */
    }
    const struct approval *decision = approvals_find(&p->approvals, &p->name.text_digest);
    if (decision != NULL && decision->runs == 0) {
        return VERDICT_NO;
    }
    if (p->options.approved_text.size > 0 || p->options.policy->approval == APPROVAL_POLICY) {
        return VERDICT_YES;
    }
    return decision != NULL && approval_allows(decision, &p->name.id, runs_before(p))
               ? VERDICT_YES
               : VERDICT_WAITS;
}

void site_keep_text(struct participant *p, int64_t now_ms)
{
    p->text_owed = p->job_phase == JOB_WAITING && p->options.waiting.put != NULL &&
                   !p->options.waiting.put(p->options.waiting.self, &p->name.text_digest,
                                           (struct slice){p->text, p->name.text_bytes});
    participant_keep_later(p, now_ms);
}

void site_note_offer(struct participant *p, const struct job_name *job)
{
    const struct offer_sink *offers = &p->options.offers;
    const struct digest id = job != NULL ? job->id : (struct digest){{0}};
    if (offers->put != NULL && !(p->offer_kept && digest_equal(&p->offered, &id))) {
        p->offer_kept = offers->put(offers->self, job);
        p->offered = id;
    }
}

void site_note_refusal(const struct participant *p, const char *why)
{
    const struct refusal_sink *refusals = &p->options.refusals;
    const bool read = p->job_phase != JOB_UNFIT;
    const struct refusal refusal = {.text = p->name.text_digest,
                                    .name = read ? p->job.name : "",
                                    .epsilon_micro = read ? p->job.epsilon_micro : 0,
                                    .why = why};
    if (refusals->put != NULL) {
        refusals->put(refusals->self, &refusal);
    }
}

static void job_wait(struct participant *p, int64_t now_ms)
{
    char hex[2 * DIGEST_BYTES + 1];
    hex_encode(hex, p->name.text_digest.byte, DIGEST_BYTES);
    participant_enter_job(p, JOB_WAITING);
    site_keep_text(p, now_ms);
    log_event(
        p->options.log, LOG_WARN, "job-waiting", NULL,
        "job \"%s\" waits until a person approves it: run `hedgerow-agent approve --config FILE %.12s`",
        p->job.name, hex);
}

/* By all that decides without a person. event, lead: out, what is logged where it fails, and how it begins. */
static enum status judge_all(struct participant *p, const char **event, const char **lead,
                             struct why *why)
{
    const struct participant_options *options = &p->options;
    const uint64_t records = dictionary_records(options->dictionary, &p->job.schema);
    *event = "job-refused";
    *lead = "policy or dictionary forbid";
    enum status status = judge_job(options->policy, options->dictionary, &p->job, why);
    if (status == STATUS_OK) {
        *event = "job-too-large";
        *lead = "there is no room for";
        status = judge_memory(options->memory_bytes, &p->job, records, why);
    }
    if (status == STATUS_OK) {
        *event = "slot-too-short";
        *lead = "no slot is long enough for";
        status = judge_slot(options->speed, options->policy->answer_slot_ms, &p->job, records, why);
    }
    return status;
}

enum status job_consider(struct participant *p, const struct event *event, struct effects *effects)
{
    struct why why = {{0}};
    const bool waited = p->job_phase == JOB_WAITING || p->declined;
    const char *name = NULL;
    const char *lead = NULL;
    enum status status = judge_all(p, &name, &lead, &why);

    p->declined = false;
    transfer_drop(&p->fetch); /* an earlier last model: the next HELLO brings its release again */
    p->fetch_final = false;
    if (status == STATUS_NO_MEMORY) {
        return status;
    }
    if (status != STATUS_OK) {
        participant_enter_job(p, JOB_REFUSED);
        log_event(p->options.log, LOG_WARN, name, NULL,
                  "%s job \"%s\", every round will be declined: %s", lead, p->job.name, why.text);
        site_note_refusal(p, why.text);
        return participant_hello(p, event->now_ms, effects);
    }
    site_note_refusal(p, NULL);
    const enum verdict verdict = verdict_on_job(p);
    if (verdict == VERDICT_WAITS) {
        job_wait(p, event->now_ms);
        return STATUS_OK;
    }
    if (verdict == VERDICT_NO) {
        participant_enter_job(p, JOB_REFUSED);
        p->declined = true;
        log_event(p->options.log, LOG_WARN, "job-declined", NULL,
                  "a person has refused job \"%s\": every round will be declined", p->job.name);
        return participant_hello(p, event->now_ms, effects);
    }
    if (waited) {
        log_event(p->options.log, LOG_INFO, "job-approved", NULL,
                  "a person has approved job \"%s\"", p->job.name);
    }
    dataset_free(&p->data); /* of this job, from before a person said no and then yes */
    free(p->order);
    p->order = NULL;
    participant_enter_job(p, JOB_LOADING);
    p->invited_ms = event->now_ms;
    p->work.kind = WORK_LOAD;
    return effects_add(effects, EFFECT_WORK) == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

void job_count_day(struct participant *p, int64_t wall_ms)
{
    const int64_t day = wall_ms / DAY_MS;
    if (day != p->jobs_day) {
        p->jobs_day = day;
        p->jobs_today = 0;
        p->jobs_limit_told = false;
    }
}

void job_begin_day(struct participant *p)
{
    const struct look *look = &p->options.looked;
    if (!digest_is_none(&look->job)) {
        p->resumes = look->job;
    } else if (p->seen_count > 0) {
        p->resumes = p->seen[p->seen_count - 1].id;
    }
    if (look->day > p->jobs_day || (look->day == p->jobs_day && look->count > p->jobs_today)) {
        p->jobs_day = look->day;
        p->jobs_today = look->count;
    }
}

/* Every job that takes the place of another is fetched, judged and loaded anew, also one that was here before: it
 * counts. Only the job that was under way when the program ended goes on for nothing. */
bool job_is_one_too_many(struct participant *p, const struct job_name *name, int64_t wall_ms)
{
    job_count_day(p, wall_ms);
    if (!p->looked && digest_equal(&p->resumes, &name->id)) {
        p->looked = true;
        return false;
    }
    if (p->jobs_today < p->options.policy->jobs_per_day) {
        const struct look look = {p->jobs_day, p->jobs_today + 1, name->id};
        const struct look_sink *looks = &p->options.looks;
        if (looks->put != NULL && !looks->put(looks->self, &look)) {
            return true; /* what is not counted is not looked at */
        }
        p->jobs_today++;
        p->looked = true;
        return false;
    }
    if (!p->jobs_limit_told) {
        p->jobs_limit_told = true;
        log_event(p->options.log, LOG_WARN, "jobs-limited", p->coordinator.name,
                  "%" PRIu32
                  " jobs were offered today (UTC), as many as the policy allows (jobs_per_day): "
                  "further ones are declined until tomorrow",
                  p->options.policy->jobs_per_day);
    }
    return true;
}

static void take_approvals(struct participant *p, const struct event *event)
{
    struct why why = {{0}};
    if (approvals_parse(&p->offered_approvals, event->as.file.text, "approvals", &why) !=
        STATUS_OK) {
        log_event(p->options.log, LOG_ERROR, "approvals-unreadable", NULL,
                  "%s; the decisions so far stay in force", why.text);
        return;
    }
    p->approvals = p->offered_approvals;
    p->approvals_changed = true;
    p->approvals_known = true;
}

static void take_policy(struct participant *p, const struct event *event)
{
    struct why why = {{0}};
    struct policy policy;
    char change[WHY_BYTES];
    if (policy_parse(&policy, event->as.file.text, "policy", &why) != STATUS_OK) {
        log_event(p->options.log, LOG_ERROR, "policy-unreadable", NULL,
                  "%s; the policy so far stays in force", why.text);
        return;
    }
    p->policy_changed = policy_differs(p->options.policy, &policy, change, sizeof change);
    if (p->policy_changed) {
        log_event(p->options.log, LOG_WARN, "policy-changed", NULL,
                  "%s; in force from the next round on", change);
    }
}

void site_on_file(struct participant *p, const struct event *event)
{
    switch (event->as.file.which) {
    case FOLLOWED_APPROVALS:
        take_approvals(p, event);
        return;
    case FOLLOWED_POLICY:
        take_policy(p, event);
        return;
    case FOLLOWED_CANCEL:
    case FOLLOWED_JOBS:
    case FOLLOWED_COUNT:
        break;
    }
    CHECK(false);
}

/* A person's late no ends the job here, between two rounds; a yes lets a waiting one begin. A job that owes its last
 * model alone is over: neither changes it. */
static enum status apply_approvals(struct participant *p, const struct event *event,
                                   struct effects *effects)
{
    p->approvals_changed = false;
    const enum verdict verdict =
        p->job_phase == JOB_WAITING || p->job_phase == JOB_READY || p->declined ? verdict_on_job(p)
                                                                                : VERDICT_WAITS;
    if ((p->job_phase == JOB_WAITING || (p->declined && !p->model_owed)) &&
        verdict == VERDICT_YES) {
        return job_consider(p, event, effects);
    }
    if ((p->job_phase == JOB_WAITING || (p->job_phase == JOB_READY && !p->model_owed)) &&
        verdict == VERDICT_NO) {
        participant_abandon_round(p);
        return job_consider(p, event, effects);
    }
    return STATUS_OK;
}

enum status site_apply(struct participant *p, const struct event *event, struct effects *effects)
{
    if (p->policy_changed) {
        /* What has been spent is summed anew from the journal, under the new limits. */
        return effects_add(effects, EFFECT_RESTART) == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    }
    return p->approvals_changed ? apply_approvals(p, event, effects) : STATUS_OK;
}

/* The dictionary's text and nothing else, at most once in SHOW_MS, and never while something is computed. */
enum status site_on_show(struct participant *p, const struct event *event,
                         const struct message *message, struct effects *effects)
{
    struct message answer = {.kind = MESSAGE_DICTIONARY};
    if (participant_is_deaf(p) || digest_is_none(&p->shown) ||
        !digest_equal(&p->shown, &message->as.show.digest) ||
        (p->was_shown && event->now_ms - p->shown_ms < SHOW_MS)) {
        return STATUS_OK;
    }
    p->was_shown = true;
    p->shown_ms = event->now_ms;
    answer.as.dictionary.digest = p->shown;
    return participant_send(p, effects, &answer, p->options.dictionary_text);
}

enum status look_parse(struct look *look, struct slice text)
{
    enum { HEX = 2 * DIGEST_BYTES };
    char line[LOOK_TEXT_BYTES] = "";
    char again[LOOK_TEXT_BYTES];
    char *rest;
    *look = (struct look){.day = 0};
    if (text.size >= sizeof line || memchr(text.data, '\0', text.size) != NULL) {
        return STATUS_INVALID;
    }
    memcpy(line, text.data, text.size);
    line[strcspn(line, "\n")] = '\0';
    look->day = strtoll(line, &rest, 10);
    look->count = (uint32_t)strtoul(rest, &rest, 10);
    rest += *rest == ' ' ? 1 : 0;
    if (strlen(rest) != HEX || hex_decode(look->job.byte, DIGEST_BYTES, rest) != STATUS_OK) {
        return STATUS_INVALID;
    }
    look_format(again, look); /* in the one form that is written */
    return strlen(again) == text.size && memcmp(again, text.data, text.size) == 0 ? STATUS_OK
                                                                                  : STATUS_INVALID;
}

void look_format(char text[static LOOK_TEXT_BYTES], const struct look *look)
{
    char hex[2 * DIGEST_BYTES + 1];
    hex_encode(hex, look->job.byte, DIGEST_BYTES);
    (void)snprintf(text, LOOK_TEXT_BYTES, "%" PRId64 " %" PRIu32 " %s\n", look->day, look->count,
                   hex);
}
