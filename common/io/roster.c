#include "io/roster.h"

#include "base/file.h"
#include "base/owned.h"
#include "base/text.h"
#include "crypto/digest.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

bool agent_name_is_valid(const char *name)
{
    size_t size = strlen(name);
    if (size == 0 || size > AGENT_NAME_MAX) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        char c = name[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!plain && (i == 0 || (c != '.' && c != '_' && c != '-'))) {
            return false;
        }
    }
    return true;
}

/* Cuts the next word off a line, or returns NULL. */
static char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t");
    if (*word == '\0') {
        return NULL;
    }
    size_t size = strcspn(word, " \t");
    *rest = word + size;
    if (**rest != '\0') {
        *(*rest)++ = '\0';
    }
    return word;
}

static enum status parse_until(int64_t *until_s, const char *word)
{
    static const char option[] = "token-until=";
    int64_t value = 0;
    if (strncmp(word, option, sizeof option - 1) != 0) {
        return STATUS_INVALID;
    }
    const char *digit = word + sizeof option - 1;
    size_t size = strlen(digit);
    if (size == 0 || size > 15 || strspn(digit, "0123456789") != size) {
        return STATUS_INVALID;
    }
    for (; *digit != '\0'; digit++) {
        value = value * 10 + (*digit - '0');
    }
    *until_s = value;
    return value > 0 ? STATUS_OK : STATUS_INVALID;
}

static enum status parse_signing(struct digest *key, const char *word)
{
    static const char option[] = "signing=";
    const char *digits = word + sizeof option - 1;
    return strncmp(word, option, sizeof option - 1) == 0 && strlen(digits) == KEY_HEX_BYTES - 1 &&
                   hex_decode(key->byte, KEY_BYTES, digits) == STATUS_OK && !digest_is_none(key)
               ? STATUS_OK
               : STATUS_INVALID;
}

static enum status parse_line(struct roster_entry *entry, char *line, const char **wrong)
{
    char *name = next_word(&line);
    char *key = next_word(&line);
    char *option = next_word(&line);

    memset(entry, 0, sizeof *entry);
    if (name == NULL || !agent_name_is_valid(name)) {
        *wrong = "an agent's name is 1 to 32 of a-z 0-9 . _ -, a letter or digit first";
        return STATUS_INVALID;
    }
    memcpy(entry->name, name, strlen(name));
    if (key == NULL || strlen(key) != KEY_HEX_BYTES - 1 ||
        hex_decode(entry->key.byte, KEY_BYTES, key) != STATUS_OK || digest_is_none(&entry->key)) {
        *wrong = "after the name comes a public key of 64 hexadecimal digits";
        return STATUS_INVALID;
    }
    if (option != NULL && parse_signing(&entry->signing_key, option) != STATUS_OK &&
        parse_until(&entry->token_until_s, option) != STATUS_OK) {
        *wrong = "after the key there may only be signing=64-HEX-DIGITS or "
                 "token-until=UNIX-SECONDS";
        return STATUS_INVALID;
    }
    if (next_word(&line) != NULL) {
        *wrong = "there is text after the entry's end";
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

/* What the lines so far have said. The pointers stay: the list has its room from the start. */
struct seen_lines {
    void *keys;  /* tsearch: struct digest, one an entry */
    void *names; /* tsearch: the names of those with a key of their own */
    size_t name_count;
};

static int by_key(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct digest));
}

static void forget_lines(void **root, int (*order)(const void *, const void *))
{
    while (*root != NULL) {
        (void)tdelete(*(void **)*root, root, order);
    }
}

/* Returns whether it was new. */
static enum status see(bool *is_new, void **root, void *item,
                       int (*order)(const void *, const void *))
{
    void *const *node = tsearch(item, root, order);
    *is_new = node != NULL && *node == item;
    return node == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

static enum status take_entry(struct roster *out, struct seen_lines *seen,
                              const struct roster_entry *entry, const char **wrong)
{
    bool is_new = false;
    if (out->count == ROSTER_ENTRIES_MAX) {
        *wrong = "the list is full";
        return STATUS_INVALID;
    }
    struct roster_entry *taken = &out->entry[out->count++];
    *taken = *entry;
    *wrong = "no memory";
    enum status status = see(&is_new, &seen->keys, &taken->key, by_key);
    if (status == STATUS_OK && !is_new) {
        *wrong = "the key is listed above already";
        return STATUS_INVALID;
    }
    if (status == STATUS_OK && taken->token_until_s == 0) {
        status = see(&is_new, &seen->names, taken->name, text_order);
        seen->name_count += is_new;
    }
    if (status == STATUS_OK && seen->name_count > PEERS_MAX) {
        *wrong = "there are more agents than one coordinator serves";
        return STATUS_INVALID;
    }
    return status;
}

enum status roster_parse(struct roster *out, struct slice text, const char *path, struct why *why)
{
    enum status status = STATUS_OK;
    const char *wrong = NULL;
    unsigned number = 0;
    struct seen_lines seen = {.keys = NULL};

    out->count = 0;
    char *copy = malloc(text.size + 1);
    if (copy == NULL) {
        return why_fail(why, STATUS_NO_MEMORY, "%s: no memory", path);
    }
    if (text.size > 0) {
        memcpy(copy, text.data, text.size);
    }
    copy[text.size] = '\0';
    if (strlen(copy) != text.size) {
        status = why_refuse(why, "%s is not a text file: it holds a zero byte", path);
    }
    char *rest = copy;
    for (char *line = file_line(&rest); status == STATUS_OK && line != NULL;
         line = file_line(&rest)) {
        struct roster_entry entry;
        number++;
        if (line[0] == '#' || line[strspn(line, " \t")] == '\0') {
            continue;
        }
        status = parse_line(&entry, line, &wrong);
        if (status == STATUS_OK) {
            status = take_entry(out, &seen, &entry, &wrong);
        }
        if (status != STATUS_OK) {
            why_set(why, "%s:%u: %s", path, number, wrong);
        }
    }
    forget_lines(&seen.keys, by_key);
    forget_lines(&seen.names, text_order);
    if (status != STATUS_OK) {
        out->count = 0;
    }
    free(copy);
    return status;
}

/* Everyone who can write the list decides who is admitted. */
static enum status read_list(char *text, size_t *used, const char *path, struct why *why)
{
    enum status status = owned_source(path, why);
    return status == STATUS_OK
               ? file_read_text(text, ROSTER_FILE_BYTES_MAX + 1, used, path, FILE_PUBLIC, why)
               : status;
}

enum status roster_read(struct roster *out, const char *path, struct why *why)
{
    size_t used = 0;

    out->count = 0;
    char *text = malloc(ROSTER_FILE_BYTES_MAX + 1);
    if (text == NULL) {
        return why_fail(why, STATUS_NO_MEMORY, "%s: no memory", path);
    }
    enum status status = read_list(text, &used, path, why);
    if (status == STATUS_OK) {
        status = roster_parse(out, (struct slice){text, used}, path, why);
    }
    free(text);
    return status;
}

const struct roster_entry *roster_find(const struct roster *roster, const struct digest *key)
{
    const struct roster_entry *found = NULL;
    for (size_t i = 0; i < roster->count; i++) {
        if (digest_equal(&roster->entry[i].key, key)) {
            found = &roster->entry[i];
        }
    }
    return found;
}

enum status roster_peers(struct peer **peer, size_t *count, const struct roster *roster)
{
    size_t listed = 0;
    *count = 0;
    *peer = calloc(roster->count + 1, sizeof **peer);
    if (*peer == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < roster->count; i++) {
        if (roster->entry[i].token_until_s == 0) {
            memcpy((*peer)[listed++].name, roster->entry[i].name, sizeof roster->entry[i].name);
        }
    }
    qsort(*peer, listed, sizeof **peer, text_order);
    for (size_t i = 0; i < listed; i++) {
        if (*count == 0 || text_order(&(*peer)[*count - 1], &(*peer)[i]) != 0) {
            (*peer)[(*count)++] = (*peer)[i];
        }
    }
    return STATUS_OK;
}

enum status roster_watch_look(struct roster_watch *watch, struct roster *roster, bool *changed,
                              struct why *why)
{
    size_t used = 0;
    struct digest now;

    *changed = false;
    char *text = malloc(ROSTER_FILE_BYTES_MAX + 1);
    struct roster *fresh = malloc(sizeof *fresh);
    enum status status = STATUS_NO_MEMORY;
    if (text == NULL || fresh == NULL) {
        why_set(why, "%s: no memory", watch->path);
        goto done;
    }
    status = read_list(text, &used, watch->path, why);
    if (status != STATUS_OK) {
        /* The list in force stays; say so once, and look at the file anew when it is back. */
        bool told = watch->unreadable;
        watch->unreadable = true;
        memset(&watch->seen, 0, sizeof watch->seen);
        status = told ? STATUS_OK : status;
        goto done;
    }
    watch->unreadable = false;
    digest_sha256(&now, &(struct slice){text, used}, 1);
    if (digest_equal(&now, &watch->seen)) {
        goto done;
    }
    status = roster_parse(fresh, (struct slice){text, used}, watch->path, why);
    if (status != STATUS_NO_MEMORY) {
        watch->seen = now;
    } /* else the next look reads it again: somebody may be revoked */
    if (status == STATUS_OK) {
        /* Not all of its 2 MB: a page of it that nobody writes to takes no memory. */
        memcpy(roster->entry, fresh->entry, fresh->count * sizeof fresh->entry[0]);
        roster->count = fresh->count;
        *changed = true;
    }
done:
    free(text);
    free(fresh);
    return status;
}

void roster_watch_again(struct roster_watch *watch)
{
    watch->seen = (struct digest){{0}};
}
