#include "coordinator/hearing.h"

#include <stdlib.h>
#include <string.h>

struct heard_site {
    struct peer peer;
    struct shown shown;
};

/* Returns where the name is or belongs. */
static size_t place_of(const struct hearing *hearing, const char *name)
{
    size_t low = 0;
    size_t high = hearing->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(hearing->site[middle]->peer.name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Returns whether there is room for one more. */
static bool make_room(struct hearing *hearing)
{
    if (hearing->count < hearing->room) {
        return true;
    }
    const size_t room = hearing->room == 0 ? 16 : 2 * hearing->room;
    struct heard_site **grown =
        hearing->count == PEERS_MAX ? NULL : realloc(hearing->site, room * sizeof(*grown));
    if (grown == NULL) {
        return false;
    }
    hearing->site = grown;
    hearing->room = room;
    return true;
}

static struct shown *find(struct hearing *hearing, const struct peer *peer)
{
    const size_t place = place_of(hearing, peer->name);
    if (place < hearing->count && strcmp(hearing->site[place]->peer.name, peer->name) == 0) {
        return &hearing->site[place]->shown;
    }
    struct heard_site *site = make_room(hearing) ? calloc(1, sizeof *site) : NULL;
    if (site == NULL) {
        return NULL;
    }
    site->peer = *peer;
    memmove(&hearing->site[place + 1], &hearing->site[place],
            (hearing->count - place) * sizeof(*hearing->site));
    hearing->site[place] = site;
    hearing->count++;
    return &site->shown;
}

void hearing_free(struct hearing *hearing)
{
    for (size_t i = 0; i < hearing->count; i++) {
        free(hearing->site[i]);
    }
    free(hearing->site);
    hearing->site = NULL;
    hearing->count = hearing->room = 0;
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
