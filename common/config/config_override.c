/* A value is replaced where it stands in the text, found by the parser's own marks, and the result
 * is parsed again: it must be the old tree but for that one value. So nothing that a value could
 * contain (a comma, a colon, a comment) can change anything else. */

#include "config/config.h"
#include "config/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct change {
    struct slice text;
    const char *name;
    char path[CONFIG_PATH_BYTES];
    const char *value;
    struct tree before; /* of the text */
    struct tree wanted; /* of the value alone */
    size_t node;        /* the value to replace, NO_NODE when the key is new */
    size_t parent;      /* the table a new key goes to */
    const char *key;    /* the new key, within path */
};

static enum status refuse(const struct change *change, struct why *why, const char *problem)
{
    return why_refuse(why, "--set %s: %s", change->path, problem);
}

/* Splits "path=value". */
static enum status split(struct change *change, const char *assignment, struct why *why)
{
    const char *equals = strchr(assignment, '=');
    size_t length = equals != NULL ? (size_t)(equals - assignment) : 0;
    if (length == 0 || length >= sizeof change->path) {
        return why_refuse(why, "--set: write it like --set privacy.epsilon=2");
    }
    memcpy(change->path, assignment, length);
    change->value = equals + 1;
    if (strpbrk(change->value, "\r\n#") != NULL) {
        return refuse(change, why, "the value must be on one line, without '#'");
    }
    struct slice value = {change->value, strlen(change->value)};
    enum status status = tree_parse(&change->wanted, value, "--set", NULL);
    if (status != STATUS_OK) {
        return status == STATUS_NO_MEMORY
                   ? status
                   : refuse(change, why, "what stands after '=' is not a value");
    }
    const struct node *root = &change->wanted.node[0];
    if (root->kind != NODE_SCALAR && !root->flow) {
        return refuse(change, why, "write a list as [a, b], a table as {a: b}");
    }
    return STATUS_OK;
}

/* Finds what to replace, or the table that a new key goes to. */
static enum status locate(struct change *change, struct why *why)
{
    const struct tree *tree = &change->before;
    change->node = tree_find(tree, change->path, &change->parent);
    if (change->node != NO_NODE) {
        const struct node *node = &tree->node[change->node];
        return node->kind == NODE_SCALAR || node->flow
                   ? STATUS_OK
                   : refuse(change, why, "is a list or table over several lines: set its items");
    }
    /* The path must lead to an existing table by all but its last step. */
    char *point = strrchr(change->path, '.');
    change->key = point != NULL ? point + 1 : change->path;
    change->parent = 0;
    if (point != NULL) {
        size_t nearest = 0;
        *point = '\0';
        change->parent = tree_find(tree, change->path, &nearest);
        *point = '.';
    }
    if (change->parent == NO_NODE || tree->node[change->parent].kind != NODE_TABLE ||
        change->key[0] == '\0' || strpbrk(change->key, "[]{}:,\"' &*!|>%@`?") != NULL) {
        return refuse(change, why, "there is no such key in the file, and no table to add it to");
    }
    return STATUS_OK;
}

/* Turns the parser's count of characters into a count of bytes. */
static size_t byte_of(struct slice text, size_t index)
{
    const unsigned char *byte = text.data;
    size_t at = 0;
    for (size_t seen = 0; at < text.size; at++) {
        bool begins = (byte[at] & 0xC0) != 0x80;
        if (begins && seen++ == index) {
            break;
        }
    }
    return at;
}

/* Writes what comes between the untouched halves of the text. */
static void piece_of(const struct change *change, char *piece, size_t piece_bytes, size_t *from,
                     size_t *to)
{
    const struct tree *tree = &change->before;
    if (change->node != NO_NODE) {
        const struct node *node = &tree->node[change->node];
        *from = byte_of(change->text, node->start.index);
        *to = byte_of(change->text, node->end.index);
        (void)snprintf(piece, piece_bytes, "%s%s", *from == *to ? " " : "", change->value);
        return;
    }
    const struct node *table = &tree->node[change->parent];
    if (table->flow) {
        *from = byte_of(change->text, table->start.index) + 1;
        (void)snprintf(piece, piece_bytes, "%s: %s%s", change->key, change->value,
                       table->count > 0 ? ", " : "");
    } else {
        /* Before the table's first key, which then follows on a line of its own, as far in. */
        const struct node *first = &tree->node[tree->node[table->first].key];
        *from = byte_of(change->text, first->start.index);
        (void)snprintf(piece, piece_bytes, "%s: %s\n%*s", change->key, change->value,
                       (int)first->start.column - 1, "");
    }
    *to = *from;
}

/* Checks that the new text is the old tree but for the value. */
static enum status confirm(const struct change *change, struct slice text, struct why *why)
{
    struct tree after;
    size_t nearest = 0;
    enum status status = tree_parse(&after, text, change->name, NULL);
    if (status != STATUS_OK) {
        return status == STATUS_NO_MEMORY ? status : refuse(change, why, "does not fit there");
    }
    size_t replaced = change->node != NO_NODE ? tree_size(&change->before, change->node) : 0;
    size_t added = change->wanted.count + (change->node != NO_NODE ? 0 : 1);
    size_t node = tree_find(&after, change->path, &nearest);
    const struct node *wanted = &change->wanted.node[0];
    bool same = node != NO_NODE && after.count == change->before.count - replaced + added &&
                after.node[node].kind == wanted->kind && after.node[node].count == wanted->count;
    if (same && wanted->kind == NODE_SCALAR) {
        same = after.node[node].quoted == wanted->quoted &&
               strcmp(after.node[node].text, wanted->text) == 0;
    }
    tree_free(&after);
    return same ? STATUS_OK : refuse(change, why, "does not fit there: put it in quotes");
}

static enum status splice(const struct change *change, char **out, size_t *size, struct why *why)
{
    size_t from = 0;
    size_t to = 0;
    size_t piece_bytes = strlen(change->value) + CONFIG_PATH_BYTES + CONFIG_TEXT_BYTES_MAX + 8;
    char *piece = malloc(piece_bytes);
    char *text = NULL;
    enum status status = STATUS_NO_MEMORY;
    if (piece == NULL) {
        goto done;
    }
    piece_of(change, piece, piece_bytes, &from, &to);
    size_t length = strlen(piece);
    *size = change->text.size - (to - from) + length;
    text = malloc(*size + 1);
    if (text == NULL) {
        goto done;
    }
    const char *old = change->text.data;
    memcpy(text, old, from);
    memcpy(text + from, piece, length);
    memcpy(text + from + length, old + to, change->text.size - to);
    text[*size] = '\0';
    status = confirm(change, (struct slice){text, *size}, why);
    if (status == STATUS_OK) {
        *out = text;
        text = NULL;
    }
done:
    free(piece);
    free(text);
    return status;
}

enum status config_override(char **out, size_t *size, struct slice text, const char *name,
                            const char *assignment, struct why *why)
{
    struct change change = {.text = text, .name = name};
    *out = NULL;
    *size = 0;
    enum status status = tree_parse(&change.before, text, name, why);
    if (status == STATUS_OK) {
        status = split(&change, assignment, why);
    }
    if (status == STATUS_OK) {
        status = locate(&change, why);
    }
    if (status == STATUS_OK) {
        status = splice(&change, out, size, why);
    }
    tree_free(&change.before);
    tree_free(&change.wanted);
    return status;
}
