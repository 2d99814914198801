#include "coordinator/hearing.h"

#include "protocol/wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct heard_site {
    struct peer peer;
    struct shown shown;
};

static int name_and_site(const void *name, const void *site)
{
    return strcmp(name, (*(struct heard_site *const *)site)->peer.name);
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
    struct heard_site **found =
        hearing->count == 0
            ? NULL
            : bsearch(peer->name, hearing->site, hearing->count, sizeof *found, name_and_site);
    if (found != NULL) {
        return &(*found)->shown;
    }
    struct heard_site *site = make_room(hearing) ? calloc(1, sizeof *site) : NULL;
    if (site == NULL) {
        return NULL;
    }
    site->peer = *peer;
    size_t place = hearing->count++;
    for (; place > 0 && name_and_site(peer->name, &hearing->site[place - 1]) < 0; place--) {
        hearing->site[place] = hearing->site[place - 1];
    }
    hearing->site[place] = site;
    return &site->shown;
}

void hearing_refuse(const struct log *log, const struct peer *peer, struct slice control,
                    enum status status)
{
    const uint32_t version = wire_version(control);
    if (status != STATUS_UNSUPPORTED) {
        log_event(log, LOG_WARN, "frame-refused", peer->name,
                  "sent a frame that is not of this protocol: %s", status_text(status));
    } else if (version == 0) {
        log_event(
            log, LOG_WARN, "version-differs", peer->name,
            "sent something that version %u of the protocol, which this coordinator speaks, does "
            "not have; remedy: upgrade the older program",
            (unsigned)PROTOCOL_VERSION);
    } else {
        log_event(log, LOG_WARN, "version-differs", peer->name,
                  "speaks version %" PRIu32 " of the protocol, this coordinator version %u; "
                  "remedy: upgrade %s",
                  version, (unsigned)PROTOCOL_VERSION,
                  version < PROTOCOL_VERSION ? "the site's agent" : "this coordinator");
    }
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
