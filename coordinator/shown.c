#include "coordinator/shown.h"

#include "crypto/digest.h"
#include "dictionary/dictionary.h"

bool shown_ask(struct shown *shown, const struct dictionary_sink *sink, const struct peer *agent,
               const struct digest *digest, int64_t now_ms)
{
    if (sink->has == NULL || digest_is_none(digest) || digest_equal(digest, &shown->known) ||
        (shown->was_asked && now_ms - shown->asked_ms < SHOW_AGAIN_MS)) {
        return false;
    }
    if (sink->has(sink->self, agent, digest)) {
        shown->known = *digest;
        return false;
    }
    shown->was_asked = true;
    shown->asked_ms = now_ms;
    shown->asked = *digest;
    return true;
}

static enum status check(const struct digest *digest, struct slice text, size_t *columns,
                         struct why *why)
{
    struct dictionary dictionary;
    struct digest own;
    digest_sha256(&own, &text, 1);
    if (!digest_equal(&own, digest)) {
        return why_refuse(why, "the text is not the one of its digest");
    }
    enum status status = dictionary_parse(&dictionary, text, "data.yml", why);
    if (status == STATUS_OK) {
        *columns = dictionary.column_count;
        dictionary_free(&dictionary);
    }
    return status;
}

enum status shown_take(struct shown *shown, const struct dictionary_sink *sink,
                       const struct log *log, const struct peer *agent, const struct digest *digest,
                       struct slice text)
{
    struct why why = {{0}};
    size_t columns = 0;
    if (digest_is_none(&shown->asked) || !digest_equal(&shown->asked, digest)) {
        return STATUS_OK;
    }
    const enum status status = check(digest, text, &columns, &why);
    if (status == STATUS_NO_MEMORY) {
        return status;
    }
    const struct digest asked = shown->asked;
    shown->asked = (struct digest){{0}};
    if (status != STATUS_OK) {
        shown->known = asked;
        log_event(log, LOG_WARN, "dictionary-refused", agent->name,
                  "showed a data dictionary that cannot be read: %s", why.text);
    } else if (sink->put(sink->self, agent, text)) { /* else asked for again after SHOW_AGAIN_MS */
        shown->known = asked;
        log_event(log, LOG_INFO, "dictionary-shown", agent->name,
                  "shows its data dictionary, of %zu columns", columns);
    }
    return STATUS_OK;
}
