/* The data dictionaries that agents show. A text is kept once it has been read; what cannot be read is not
 * asked for again. */

#include "coordinator/round_state.h"
#include "coordinator/shown.h"

enum status coordinator_ask_dictionary(struct coordinator *c, const struct event *event,
                                       struct member *member, const struct digest *digest,
                                       struct effects *effects)
{
    const struct dictionary_sink *sink = &c->options.dictionaries;
    struct message show = {.kind = MESSAGE_SHOW};
    if (sink->has == NULL || digest_is_none(digest) || digest_equal(digest, &member->dictionary) ||
        (member->was_asked && event->now_ms - member->asked_ms < SHOW_AGAIN_MS)) {
        return STATUS_OK;
    }
    if (sink->has(sink->self, &member->peer, digest)) {
        member->dictionary = *digest;
        return STATUS_OK;
    }
    member->was_asked = true;
    member->asked_ms = event->now_ms;
    member->asked = *digest;
    show.as.show.digest = *digest;
    return coordinator_send(c, effects, &member->peer, &show, (struct slice){0});
}

enum status coordinator_on_dictionary(struct coordinator *c, const struct event *event,
                                      struct member *member, const struct message *message)
{
    const struct dictionary_sink *sink = &c->options.dictionaries;
    struct why why = {{0}};
    size_t columns;
    if (sink->has == NULL || digest_is_none(&member->asked) ||
        !digest_equal(&member->asked, &message->as.dictionary.digest)) {
        return STATUS_OK; /* nobody has asked for it */
    }
    const enum status status =
        shown_check(&member->asked, event->as.message.payload, &columns, &why);
    if (status == STATUS_NO_MEMORY) {
        return status;
    }
    const struct digest asked = member->asked;
    member->asked = (struct digest){{0}};
    if (status != STATUS_OK) {
        member->dictionary = asked;
        log_event(c->options.log, LOG_WARN, "dictionary-refused", member->peer.name,
                  "showed a data dictionary that cannot be read: %s", why.text);
        return STATUS_OK;
    }
    if (!sink->put(sink->self, &member->peer, event->as.message.payload)) {
        return STATUS_OK; /* a full disk: asked for again after SHOW_AGAIN_MS */
    }
    member->dictionary = asked;
    log_event(c->options.log, LOG_INFO, "dictionary-shown", member->peer.name,
              "shows its data dictionary, of %zu columns", columns);
    return STATUS_OK;
}
