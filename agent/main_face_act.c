/* A person proves with a ticket who they are, and decides on a job at the page. As with `hedgerow-agent approve` and
 * `reject`, the decision is written into a file, which the agent follows. */

#include "agent/main_face.h"

#include "base/log.h"
#include "io/clock.h"
#include "json/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *answer(unsigned *code, unsigned what, const char *key, const char *text)
{
    json_t *root = json_object();
    json_put(&root, key, json_string(text));
    char *out = json_text(root, 0, 12);
    json_decref(root);
    *code = what;
    return out;
}

char *site_face_open_session(void *self, const char *const value[static HTTP_GIVEN_MAX],
                             unsigned *code)
{
    struct face *face = self;
    char secret[PAGE_SECRET_DIGITS + 1];
    if (!page_open(&face->session, face->site, value[0], secret)) {
        return answer(code, 401, "why",
                      "The ticket was used, is too old or was never good: run hedgerow-agent page "
                      "again.");
    }
    log_event(face->host.log, LOG_INFO, "page-opened", NULL,
              "a person with a ticket of `hedgerow-agent page` may decide for an hour");
    char *out = answer(code, 200, "session", secret);
    bytes_wipe(secret, sizeof secret);
    return out;
}

/* A decision as the page sent it, judged word by word. */
struct wish {
    struct digest text;
    bool approves;
    uint32_t runs_before;             /* as it was shown */
    char why[APPROVAL_WHY_BYTES + 1]; /* one byte too many is refused by the list */
};

/* A person's words: a header's value is ASCII, so the page sends them percent-encoded (RFC 3986, 2.1). Answers whether they
 * are. Words that are too long stay too long. */
static bool read_words(char out[static APPROVAL_WHY_BYTES + 1], const char *text)
{
    size_t size = 0;
    while (*text != '\0' && size < APPROVAL_WHY_BYTES) {
        unsigned char byte = (unsigned char)*text++;
        if (byte == '%') {
            const char pair[3] = {text[0], text[0] == '\0' ? '\0' : text[1], '\0'};
            if (hex_decode(&byte, 1, pair) != STATUS_OK || byte == 0) {
                return false;
            }
            text += 2;
        }
        out[size++] = (char)byte;
    }
    out[size] = '\0';
    return true;
}

static bool read_wish(struct wish *wish, const char *const value[static HTTP_GIVEN_MAX])
{
    const char *digest = value[1];
    const char *what = value[2];
    const char *runs = value[3];
    char again[16];
    if (digest == NULL || what == NULL || runs == NULL ||
        hex_decode(wish->text.byte, DIGEST_BYTES, digest) != STATUS_OK) {
        return false;
    }
    wish->approves = strcmp(what, "approve") == 0;
    wish->runs_before = (uint32_t)strtoul(runs, NULL, 10);
    (void)snprintf(again, sizeof again, "%u", (unsigned)wish->runs_before);
    return strcmp(again, runs) == 0 && (wish->approves || strcmp(what, "reject") == 0) &&
           read_words(wish->why, value[4] == NULL ? "" : value[4]);
}

/* The text that the person saw, if nobody has decided on it since. A decision that is sent again, or was made elsewhere
 * meanwhile, finds none. */
static struct waiting_job *shown(struct face *face, const struct wish *wish)
{
    struct waiting_job *waiting = desk_text(face->desk, &wish->text);
    return waiting != NULL && desk_is_undecided(face->desk, waiting) && waiting->plan != NULL &&
                   waiting->runs_before == wish->runs_before
               ? waiting
               : NULL;
}

/* By the policy as it is now, which may have been edited since the program's start. */
static enum status decide(struct face *face, const struct waiting_job *waiting,
                          const struct wish *wish, struct why *why)
{
    if (!wish->approves) {
        return desk_reject(face->desk, &waiting->digest, wish->why, why);
    }
    struct site *now = calloc(1, sizeof *now);
    if (now == NULL) {
        return STATUS_NO_MEMORY;
    }
    now->settings = face->site->settings;
    enum status status = site_read_policy(now, why);
    if (status == STATUS_OK) {
        const struct participant_view view = participant_look(face->participant, clock_wall_ms());
        status = desk_approve(face->desk, &now->policy, view.ledger, waiting, 1, why);
    }
    free(now);
    return status;
}

char *site_face_decide(void *self, const char *const value[static HTTP_GIVEN_MAX], unsigned *code)
{
    struct face *face = self;
    struct wish wish = {.approves = false};
    struct why why = {{0}};
    if (!page_is_open(&face->session, value[0])) {
        return answer(code, 401, "why", "The session is over: run hedgerow-agent page again.");
    }
    if (!read_wish(&wish, value)) {
        return answer(code, 400, "why", "This is no decision on a job.");
    }
    const bool ready = face->participant != NULL && !face->desk_failed &&
                       desk_refresh(face->desk, &why) == STATUS_OK;
    const struct waiting_job *waiting = ready ? shown(face, &wish) : NULL;
    if (waiting == NULL) {
        return answer(code, 409, "why",
                      "This text no longer waits as it was shown: load the page again.");
    }
    char hex[2 * DIGEST_BYTES + 1];
    memcpy(hex, waiting->hex, sizeof hex);
    const enum status status = decide(face, waiting, &wish, &why);
    if (status != STATUS_OK) {
        return answer(code, 422, "why", why.text[0] != '\0' ? why.text : status_text(status));
    }
    log_event(face->host.log, LOG_INFO, "page-decided", NULL,
              "a person at the page has %s job %.12s", wish.approves ? "approved" : "rejected",
              hex);
    return answer(code, 200, "done", wish.approves ? "approved" : "rejected");
}
