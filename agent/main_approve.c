/* `hedgerow-agent show`, `approve` and `reject`: a person reads a job and says yes or no. The decision goes to the file
 * `approvals` in the state folder, which the running agent follows. */

#include "agent/main_approve.h"

#include "base/check.h"
#include "base/exit_code.h"
#include "io/daemon.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool says_yes(void)
{
    char line[16] = "";
    (void)fputs("\nApprove? [y/N] ", stdout);
    (void)fflush(stdout);
    return fgets(line, sizeof line, stdin) != NULL && (line[0] == 'y' || line[0] == 'Y');
}

/* Number index of the texts that this site knows: of those that are kept, those decided on and those that ran. NULL after
 * the last one. */
static const struct digest *known_text(const struct desk *desk, size_t index)
{
    if (index < desk->count) {
        return &desk->waiting[index].digest;
    }
    index -= desk->count;
    if (index < desk->approvals.count) {
        return &desk->approvals.item[index].text;
    }
    index -= desk->approvals.count;
    return index < desk->run_count ? &desk->run[index].text : NULL;
}

static bool begins_so(const struct digest *digest, const char *prefix)
{
    char hex[2 * DIGEST_BYTES + 1];
    hex_encode(hex, digest->byte, DIGEST_BYTES);
    return strncmp(hex, prefix, strlen(prefix)) == 0;
}

/* The latest refused job whose digest begins so, and is another than this one; NULL: none. */
static const struct desk_refusal *find_refused(const struct desk *desk, const char *prefix,
                                               const struct digest *other)
{
    for (size_t i = desk->refused.count; i-- > 0;) {
        const struct desk_refusal *refusal = &desk->refused.item[i];
        if (begins_so(&refusal->text, prefix) &&
            (other == NULL || !digest_equal(&refusal->text, other))) {
            return refusal;
        }
    }
    return NULL;
}

/* Returns the one text whose digest begins so; of those that are kept alone, or of all, and then no refused job may begin so,
 * too. many: out, whether it is none because there are several. */
static const struct digest *find_text(const struct desk *desk, const char *prefix, bool kept,
                                      bool *many, struct why *why)
{
    const char *which = kept ? "waiting job has" : "job that waits or was decided on, or ran, has";
    const struct digest *found = NULL;
    const struct digest *next = NULL;
    *many = false;
    for (size_t i = 0; (!kept || i < desk->count) && (next = known_text(desk, i)) != NULL; i++) {
        if (begins_so(next, prefix)) {
            *many = *many || (found != NULL && !digest_equal(found, next));
            found = next;
        }
    }
    if (found == NULL) {
        why_set(why, "no %s a digest that begins with \"%s\": `" PROGRAM " jobs` lists them", which,
                prefix);
        return NULL;
    }
    if (!kept && find_refused(desk, prefix, found) != NULL) {
        which = "job has";
        *many = true;
    }
    if (*many) {
        why_set(why, "more than one %s a digest that begins with \"%s\": give more of it", which,
                prefix);
    }
    return *many ? NULL : found;
}

static enum status print_text(const struct desk *desk, const struct waiting_job *waiting, bool json,
                              struct why *why)
{
    return json ? approve_json(desk->site, waiting, 1, why)
                : approve_show(desk->site, waiting, why);
}

static bool is_rejected(const struct desk *desk, const struct waiting_job *waiting)
{
    const struct approval *decision = approvals_find(&desk->approvals, &waiting->digest);
    return decision != NULL && decision->runs == 0;
}

/* Whether a yes is one: by the policy, by what is left, and for a run that can come. A text that was rejected is declined whenever it is offered,
 * so a yes to it is for later. */
static enum status judge_yes(const struct desk *desk, const struct policy *policy,
                             const struct ledger *ledger, const struct waiting_job *waiting,
                             uint32_t runs, struct why *why)
{
    enum status status = policy_check_job(policy, &waiting->job, why);
    if (status == STATUS_OK) {
        status = site_check_budget(ledger, policy, &waiting->job, runs, why);
    }
    if (status == STATUS_OK && !desk_offers(desk, &waiting->digest) &&
        !is_rejected(desk, waiting)) {
        status = why_refuse(
            why,
            "%.12s no longer waits: the coordinator does not offer it, because it failed, was "
            "cancelled or has ended. A yes would be for a run that nobody has submitted; remedy: "
            "decide when it is submitted again, for it then waits again",
            waiting->hex);
    }
    return status;
}

enum status desk_approve(struct desk *desk, const struct policy *policy,
                         const struct ledger *ledger, const struct waiting_job *waiting,
                         uint32_t runs, struct why *why)
{
    struct approval decision = {.text = waiting->digest, .runs = waiting->runs_before + runs};
    desk_load_offer(desk); /* the job may have ended while the person read */
    enum status status = judge_yes(desk, policy, ledger, waiting, runs, why);
    if (runs == 1 && desk->offer.known && desk_offers(desk, &waiting->digest)) {
        decision.job = desk->offer.id;
    }
    return status == STATUS_OK ? desk_decide(desk, &decision, why) : status;
}

enum status desk_reject(struct desk *desk, const struct digest *text, const char *words,
                        struct why *why)
{
    struct approval decision = {.text = *text, .runs = 0};
    if (words[0] == '\0' || !approval_why_is_valid(words)) {
        return why_refuse(
            why, "the reason takes one line of 1 to %d bytes of UTF-8, without control characters",
            APPROVAL_WHY_BYTES - 1);
    }
    (void)snprintf(decision.why, sizeof decision.why, "%s", words);
    return desk_decide(desk, &decision, why);
}

static enum status approve_of(struct desk *desk, const struct ledger *ledger,
                              const struct waiting_job *waiting, const struct arguments *arguments,
                              struct why *why)
{
    const struct policy *policy = &desk->site->policy;
    const bool offered = desk_offers(desk, &waiting->digest);
    enum status status = judge_yes(desk, policy, ledger, waiting, (uint32_t)arguments->runs, why);
    if (status != STATUS_OK) {
        return status; /* before a person is asked */
    }
    if (!offered && !arguments->json) {
        (void)printf(
            "\nThe coordinator does not offer this job now. A yes is for its next %s, which "
            "begin%s without asking again.\n",
            arguments->runs == 1 ? "submission" : "submissions", arguments->runs == 1 ? "s" : "");
    }
    if (!arguments->yes && isatty(STDIN_FILENO) == 0) {
        return why_refuse(why,
                          "standard input is not a terminal: read the text above, then add --yes");
    }
    if (!arguments->yes && !says_yes()) {
        (void)puts("not approved: it goes on waiting; `" PROGRAM " reject` declines it");
        return STATUS_OK;
    }
    status = desk_approve(desk, policy, ledger, waiting, (uint32_t)arguments->runs, why);
    if (status == STATUS_OK && !arguments->json) {
        (void)printf("approved for %u run%s: %s\n", (unsigned)arguments->runs,
                     arguments->runs == 1 ? "" : "s",
                     offered ? "a running agent joins within a second"
                             : "the job is not offered now, and begins when it is submitted again");
    }
    return status;
}

static enum status approve(struct desk *desk, const struct waiting_job *waiting,
                           const struct arguments *arguments, struct why *why)
{
    struct ledger *ledger = NULL;
    enum status status = site_ledger(desk->site, &ledger, why);
    if (status == STATUS_OK || status == STATUS_NOT_FOUND) { /* or nothing was spent */
        status = approve_of(desk, ledger, waiting, arguments, why);
    }
    ledger_free(ledger);
    return status;
}

static const char *none_waits(const struct desk *desk)
{
    return desk->unread_count == 0 ? "no job waits for a person"
                                   : "no job that can be read waits for a person";
}

static void list(const struct desk *desk, size_t count)
{
    for (size_t i = 0; i < desk->count; i++) {
        const struct waiting_job *waiting = &desk->waiting[i];
        if (desk_waits(desk, waiting)) {
            (void)printf("%.12s  %s, trust %s, epsilon %g\n", waiting->hex, waiting->job.name,
                         job_trust_name(waiting->job.trust),
                         (double)waiting->job.epsilon_micro * 1e-6);
        }
    }
    (void)puts(count == 0 ? none_waits(desk)
                          : "\nread and decide: `" PROGRAM " approve --config FILE DIGEST`");
}

static size_t count_waiting(const struct desk *desk, size_t *first)
{
    size_t count = 0;
    for (size_t i = desk->count; i-- > 0;) {
        if (desk_waits(desk, &desk->waiting[i])) {
            *first = i;
            count++;
        }
    }
    return count;
}

/* Those that wait come first then; the others stay reachable by their digests. */
static void sort_waiting(struct desk *desk)
{
    size_t place = 0;
    for (size_t i = 0; i < desk->count; i++) {
        if (desk_waits(desk, &desk->waiting[i])) {
            const struct waiting_job moved = desk->waiting[i];
            desk->waiting[i] = desk->waiting[place];
            desk->waiting[place++] = moved;
        }
    }
}

/* A yes that was given once is no mistake to be looked for in a list. */
static void tell_approved(const struct desk *desk, const char *prefix, const struct digest *text,
                          struct why *why)
{
    const struct approval *decision = approvals_find(&desk->approvals, text);
    if (decision != NULL && decision->runs > 0) {
        why_set(why,
                "%s is approved already, and waits for nobody: `" PROGRAM
                " show` tells more. When it "
                "is submitted again it waits again; `" PROGRAM " reject` takes the yes back",
                prefix);
    }
}

/* The text of a refused job is not kept: a coordinator could fill the folder with such. */
static void tell_refused(const struct desk *desk, const char *prefix, struct why *why)
{
    const struct desk_refusal *refusal = find_refused(desk, prefix, NULL);
    if (refusal != NULL && find_refused(desk, prefix, &refusal->text) != NULL) {
        why_set(why,
                "more than one refused job has a digest that begins with \"%s\": give more of it",
                prefix);
    } else if (refusal != NULL) {
        char hex[2 * DIGEST_BYTES + 1];
        hex_encode(hex, refusal->text.byte, DIGEST_BYTES);
        why_set(why, "%.12s was refused, so its text is not kept here: %s", hex, refusal->why);
    }
}

/* What a digest is of that no text here, or none that waits, begins with. */
static enum status tell_other(const struct desk *desk, const char *prefix, struct why *why)
{
    struct why all = {{0}};
    bool many = false;
    const struct digest *text = find_text(desk, prefix, false, &many, &all);
    if (many) {
        *why = all;
    } else if (text != NULL) {
        tell_approved(desk, prefix, text, why);
    } else {
        tell_refused(desk, prefix, why);
    }
    return STATUS_INVALID;
}

static enum status decide(struct desk *desk, const struct arguments *arguments, struct why *why)
{
    const struct waiting_job *waiting = NULL;
    size_t first = 0;
    enum status status = STATUS_OK;
    sort_waiting(desk);
    const size_t count = count_waiting(desk, &first);
    if (arguments->digest != NULL) {
        bool many = false;
        const struct digest *digest = find_text(desk, arguments->digest, true, &many, why);
        if (digest == NULL) {
            return many ? STATUS_INVALID : tell_other(desk, arguments->digest, why);
        }
        waiting = desk_text(desk, digest);
    } else if (count == 1) {
        waiting = &desk->waiting[first];
    }
    if (waiting == NULL && count == 0 && arguments->yes) {
        return why_refuse(why, "%s: nothing was approved", none_waits(desk));
    }
    if (waiting != NULL) {
        status = print_text(desk, waiting, arguments->json, why);
    } else if (arguments->json) {
        status = approve_json(desk->site, desk->waiting, count, why);
    } else {
        list(desk, count);
    }
    if (status != STATUS_OK || waiting == NULL || (arguments->json && !arguments->yes)) {
        return status;
    }
    return approve(desk, waiting, arguments, why);
}

static enum status show(struct desk *desk, const struct arguments *arguments, struct why *why)
{
    struct waiting_job recalled = {.size = 0};
    bool many = false;
    const struct digest *digest = find_text(desk, arguments->digest, false, &many, why);
    if (digest == NULL) {
        return many ? STATUS_INVALID : tell_other(desk, arguments->digest, why);
    }
    const struct waiting_job *kept = desk_text(desk, digest);
    enum status status = kept == NULL ? desk_recall(desk, &recalled, digest, why) : STATUS_OK;
    if (status == STATUS_OK) {
        status = print_text(desk, kept != NULL ? kept : &recalled, arguments->json, why);
    }
    waiting_free(&recalled);
    return status;
}

static enum status reject(struct desk *desk, const struct arguments *arguments, struct why *why)
{
    bool many = false;
    const struct digest *digest = find_text(desk, arguments->digest, false, &many, why);
    if (digest == NULL) {
        return STATUS_INVALID;
    }
    enum status status = desk_reject(desk, digest, arguments->why, why);
    if (status == STATUS_OK) {
        (void)puts("rejected: a running agent declines it within a second, and whenever it is "
                   "offered, until it is approved");
    }
    return status;
}

/* Opens the desk and does one thing at it. */
static int with_desk(const struct arguments *arguments,
                     enum status (*act)(struct desk *desk, const struct arguments *arguments,
                                        struct why *why))
{
    struct desk *desk = NULL;
    struct why why = {{0}};
    int good = EXIT_CODE_OK;
    enum status status = desk_open(&desk, arguments->config, &why);
    if (status == STATUS_OK) {
        CHECK(desk != NULL);
        status = act(desk, arguments, &why);
        good = desk->unread_count > 0 && !desk->decided ? EXIT_CODE_INPUT : EXIT_CODE_OK;
    }
    desk_free(desk);
    (void)fflush(stdout);
    return status == STATUS_OK ? good : daemon_complain(PROGRAM, status, &why);
}

int main_approve(const struct arguments *arguments)
{
    return with_desk(arguments, decide);
}

int main_show(const struct arguments *arguments)
{
    return with_desk(arguments, show);
}

int main_reject(const struct arguments *arguments)
{
    return with_desk(arguments, reject);
}

int main_jobs(const struct arguments *arguments)
{
    return with_desk(arguments, desk_list);
}
