#include "coordinator/hearing.h"

#include <string.h>

static struct shown *find(struct hearing *hearing, const struct peer *peer)
{
    size_t i = 0;
    while (i < hearing->count && strcmp(hearing->site[i].peer.name, peer->name) != 0) {
        i++;
    }
    if (i == PEERS_MAX) {
        return NULL;
    }
    if (i == hearing->count) {
        hearing->site[i].peer = *peer;
        hearing->count++;
    }
    return &hearing->site[i].shown;
}

bool hearing_take(struct hearing *hearing, const struct peer *site, const struct message *message,
                  struct slice payload, int64_t now_ms, struct message *answer)
{
    struct shown *shown = find(hearing, site);
    if (shown != NULL && message->kind == MESSAGE_HELLO) {
        *answer = (struct message){.kind = MESSAGE_SHOW, .as.show = {message->as.hello.dictionary}};
        return shown_ask(shown, &hearing->sink, site, &message->as.hello.dictionary, now_ms);
    }
    if (shown != NULL && message->kind == MESSAGE_DICTIONARY &&
        shown_take(shown, &hearing->sink, hearing->log, site, &message->as.dictionary.digest,
                   payload) != STATUS_OK) {
        log_event(hearing->log, LOG_ERROR, "dictionary-not-kept", site->name,
                  "too little memory to read its data dictionary");
    }
    return false;
}
