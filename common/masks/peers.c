#include "masks/peers.h"

#include "crypto/digest.h"

#include <stdio.h>
#include <string.h>

enum { HEX_BYTES = 2 * DIGEST_BYTES };

bool masks_name_is_valid(const char *name)
{
    const size_t size = strnlen(name, MASKS_NAME_MAX + 1);
    bool good = size > 0 && size <= MASKS_NAME_MAX && strchr("._-", name[0]) == NULL;
    for (size_t i = 0; i < size && good; i++) {
        const char c = name[i];
        good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    }
    return good;
}

const struct masks_peer *masks_peers_find(const struct masks_peers *peers,
                                          const struct digest *signing_key)
{
    for (size_t i = 0; i < peers->count; i++) {
        if (digest_equal(&peers->peer[i].signing_key, signing_key)) {
            return &peers->peer[i];
        }
    }
    return NULL;
}

static int order(const struct masks_peer *a, const struct masks_peer *b)
{
    const int names = strcmp(a->name, b->name);
    return names != 0 ? names : memcmp(a->signing_key.byte, b->signing_key.byte, DIGEST_BYTES);
}

enum status masks_peers_add(struct masks_peers *peers, const char *name,
                            const struct digest *signing_key, struct why *why)
{
    struct masks_peer peer = {.signing_key = *signing_key};
    const struct masks_peer *other = masks_peers_find(peers, signing_key);
    if (!masks_name_is_valid(name)) {
        return why_refuse(
            why, "an institution's name is 1 to 32 of a-z 0-9 . _ -, a letter or digit first");
    }
    if (digest_is_none(signing_key)) {
        return why_refuse(why, "the signing key is empty");
    }
    if (other != NULL) {
        return why_fail(why, STATUS_EXISTS, "%s signs by this key already", other->name);
    }
    if (peers->count == PEERS_LINES_MAX) {
        return why_fail(
            why, STATUS_NO_MEMORY,
            "there are %d peers already, which is the most; remedy: remove keys that are "
            "no longer used",
            PEERS_LINES_MAX);
    }
    memcpy(peer.name, name, strlen(name));
    size_t place = peers->count;
    while (place > 0 && order(&peer, &peers->peer[place - 1]) < 0) {
        peers->peer[place] = peers->peer[place - 1];
        place--;
    }
    peers->peer[place] = peer;
    peers->count++;
    return STATUS_OK;
}

bool masks_peers_remove(struct masks_peers *peers, const struct digest *signing_key)
{
    for (size_t i = 0; i < peers->count; i++) {
        if (digest_equal(&peers->peer[i].signing_key, signing_key)) {
            peers->count--;
            memmove(&peers->peer[i], &peers->peer[i + 1],
                    (peers->count - i) * sizeof peers->peer[0]);
            return true;
        }
    }
    return false;
}

/* "NAME KEY", blanks between and after. */
static enum status take_line(struct masks_peers *peers, const char *line, size_t size,
                             struct why *why)
{
    char name[MASKS_NAME_BYTES] = "";
    char hex[HEX_BYTES + 1] = "";
    struct digest key = {{0}};
    size_t used = 0;
    while (used < size && line[used] != ' ' && line[used] != '\t') {
        used++;
    }
    if (used <= MASKS_NAME_MAX) {
        memcpy(name, line, used);
    }
    while (used < size && (line[used] == ' ' || line[used] == '\t')) {
        used++;
    }
    while (size > used && (line[size - 1] == ' ' || line[size - 1] == '\r')) {
        size--;
    }
    if (size - used == HEX_BYTES) {
        memcpy(hex, line + used, HEX_BYTES);
    }
    if (hex_decode(key.byte, DIGEST_BYTES, hex) != STATUS_OK) {
        return why_refuse(why,
                          "a line is NAME and, after it, a signing key of 64 hexadecimal digits");
    }
    return masks_peers_add(peers, name, &key, why);
}

enum status masks_peers_parse(struct masks_peers *peers, struct slice text, const char *path,
                              struct why *why)
{
    const char *at = text.data;
    size_t left = text.size;
    peers->count = 0;
    for (unsigned number = 1; left > 0; number++) {
        const char *end = memchr(at, '\n', left);
        const size_t size = end != NULL ? (size_t)(end - at) : left;
        const bool empty = size == 0 || at[0] == '#' || (size == 1 && at[0] == '\r');
        struct why line = {""};
        if (!empty && take_line(peers, at, size, &line) != STATUS_OK) {
            peers->count = 0;
            return why_refuse(why, "%s:%u: %s", path, number, line.text);
        }
        left -= end != NULL ? size + 1 : size;
        at += end != NULL ? size + 1 : size;
    }
    return STATUS_OK;
}

void masks_peers_digest(struct digest *out, const struct masks_peers *peers)
{
    static const char label[] = "hedgerow peers 1";
    uint8_t count[8];
    struct slice part[2 * PEERS_LINES_MAX + 2] = {{label, sizeof label - 1}, {count, sizeof count}};
    size_t parts = 2;
    store_u64(count, peers->count);
    for (size_t i = 0; i < peers->count; i++) { /* names end in zeros: all parts have fixed sizes */
        part[parts++] = (struct slice){peers->peer[i].name, MASKS_NAME_BYTES};
        part[parts++] = (struct slice){peers->peer[i].signing_key.byte, DIGEST_BYTES};
    }
    digest_sha256(out, part, parts);
}
