#include "config/tree.h"

#include "base/check.h"
#include "base/text.h"
#include "config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tree_block {
    struct tree_block *next;
    max_align_t byte[];
};

void *tree_allocate(struct tree *tree, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - sizeof(struct tree_block)) / size) {
        return NULL;
    }
    struct tree_block *block = calloc(1, sizeof *block + count * size);
    if (block == NULL) {
        return NULL;
    }
    block->next = tree->blocks;
    tree->blocks = block;
    return block->byte;
}

void tree_free(struct tree *tree)
{
    if (tree == NULL) {
        return;
    }
    while (tree->blocks != NULL) {
        struct tree_block *next = tree->blocks->next;
        free(tree->blocks);
        tree->blocks = next;
    }
    free(tree->node);
    *tree = (struct tree){0};
}

/* Cuts the next step off a path: a key, or a number in brackets or between points. */
static const char *next_step(const char *path, char *step, size_t step_bytes)
{
    size_t length = 0;
    while (*path == '.' || *path == '[' || *path == ']') {
        path++;
    }
    for (; *path != '\0' && strchr(".[]", *path) == NULL; path++) {
        if (length + 1 < step_bytes) {
            step[length++] = *path;
        }
    }
    step[length] = '\0';
    return path;
}

static bool step_matches(const struct tree *tree, const struct node *child, const char *step)
{
    if (child->key != NO_NODE) {
        return strcmp(tree->node[child->key].text, step) == 0;
    }
    char position[24];
    (void)snprintf(position, sizeof position, "%zu", child->position);
    return strcmp(position, step) == 0;
}

size_t tree_find(const struct tree *tree, const char *path, size_t *nearest)
{
    char step[CONFIG_PATH_BYTES];
    *nearest = 0;
    for (;;) {
        path = next_step(path, step, sizeof step);
        if (step[0] == '\0') {
            return *nearest;
        }
        size_t child = tree->node[*nearest].first;
        while (child != NO_NODE && !step_matches(tree, &tree->node[child], step)) {
            child = tree->node[child].next;
        }
        if (child == NO_NODE) {
            return NO_NODE;
        }
        *nearest = child;
    }
}

size_t tree_size(const struct tree *tree, size_t node)
{
    /* Children come after their parents, so one pass can mark a whole subtree by its members'
     * parents; the marks are the `parent >= node` chain itself. */
    size_t count = 0;
    for (size_t i = node; i < tree->count; i++) {
        size_t at = i;
        while (at != NO_NODE && at > node) {
            at = tree->node[at].parent;
        }
        count += at == node ? 1 : 0;
    }
    return count;
}

/* Only what surely prints reaches a terminal: a job's text comes from elsewhere. */
static void copy_printable(char *out, size_t out_bytes, const char *text)
{
    size_t i = 0;
    for (; text[i] != '\0' && i + 1 < out_bytes; i++) {
        out[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    }
    out[i] = '\0';
}

static void path_of(const struct tree *tree, size_t node, char *path, size_t path_bytes)
{
    size_t chain[CONFIG_DEPTH_MAX + 2];
    size_t depth = 0;
    for (size_t at = node; at != 0 && at != NO_NODE; at = tree->node[at].parent) {
        CHECK(depth < sizeof chain / sizeof chain[0]);
        chain[depth++] = at;
    }
    path[0] = '\0';
    while (depth > 0) {
        const struct node *at = &tree->node[chain[--depth]];
        char step[48];
        if (at->key != NO_NODE) {
            copy_printable(step, sizeof step, tree->node[at->key].text);
            text_add(path, path_bytes, "%s%s", path[0] != '\0' ? "." : "", step);
        } else {
            text_add(path, path_bytes, "[%zu]", at->position);
        }
    }
}

enum status tree_refuse(const struct tree *tree, struct why *why, struct place place,
                        const char *path, const char *format, va_list arguments)
{
    char text[WHY_BYTES];
    (void)vsnprintf(text, sizeof text, format, arguments);
    return why_refuse(why, "%s:%zu:%zu: %s%s%s", tree->name, place.line, place.column, path,
                      path[0] != '\0' ? ": " : "", text);
}

enum status tree_refuse_node(const struct tree *tree, struct why *why, size_t node,
                             const char *format, ...)
{
    char path[CONFIG_PATH_BYTES];
    va_list arguments;
    path_of(tree, node, path, sizeof path);
    va_start(arguments, format);
    (void)tree_refuse(tree, why, tree->node[node].start, path, format, arguments);
    va_end(arguments);
    return STATUS_INVALID;
}

enum status tree_refuse_key(const struct tree *tree, struct why *why, size_t node,
                            const char *format, ...)
{
    char path[CONFIG_PATH_BYTES];
    va_list arguments;
    path_of(tree, node, path, sizeof path);
    va_start(arguments, format);
    (void)tree_refuse(tree, why, tree->node[tree->node[node].key].start, path, format, arguments);
    va_end(arguments);
    return STATUS_INVALID;
}
