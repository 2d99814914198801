/* tree.h - a YAML text as nodes in one array, parents before children, each with its place. Inside
 * config only. */

#ifndef CONFIG_TREE_H
#define CONFIG_TREE_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#define NO_NODE ((size_t)-1)

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_TABLE };

/* Where a node begins or ends. */
struct place {
    size_t line;   /* from 1 */
    size_t column; /* from 1, unit: characters */
    size_t index;  /* from 0, unit: characters of the text */
};

struct node {
    enum node_kind kind;
    bool quoted; /* scalar */
    bool flow;   /* list, table: written with brackets */
    size_t parent;
    size_t key;   /* of a table's value: the node that holds its key; else NO_NODE */
    size_t first; /* child; a table's children are its values */
    size_t last;
    size_t next;     /* sibling */
    size_t count;    /* children */
    size_t position; /* among its siblings, from 0 */
    struct place start;
    struct place end;
    const char *text; /* scalar: without control characters, ends with a zero */
    const void *keys; /* for the reader: the table of keys this node is read by */
    void *target;     /* for the reader: what it fills */
};

struct tree_block;

struct tree {
    const char *name;
    struct node *node; /* (count), node 0 is the root */
    size_t count;
    size_t capacity;
    struct tree_block *blocks; /* memory that lives as long as the tree */
};

/** Parses a text as config_open says, but for the root's shape. tree is freed on failure. Fails
 * with STATUS_INVALID, STATUS_NO_MEMORY. */
MUST_USE enum status tree_parse(struct tree *tree, struct slice text, const char *name,
                                struct why *why);
void tree_free(struct tree *tree);

/** Returns zeroed memory that lives as long as the tree, or NULL. */
void *tree_allocate(struct tree *tree, size_t count, size_t size);

/** Returns the node at path ("stages[0].share", "stages.0.share"), or NO_NODE; *nearest becomes the
 * last node found on the way. */
size_t tree_find(const struct tree *tree, const char *path, size_t *nearest);

/** Returns how many nodes there are from this one down, keys included. */
size_t tree_size(const struct tree *tree, size_t node);

/** Says "name:line:column: path: ..." of a place; path may be empty. Returns STATUS_INVALID. */
enum status tree_refuse(const struct tree *tree, struct why *why, struct place place,
                        const char *path, const char *format, va_list arguments)
    __attribute__((format(printf, 5, 0)));

/** The same for a node, whose path it works out. */
enum status tree_refuse_node(const struct tree *tree, struct why *why, size_t node,
                             const char *format, ...) __attribute__((format(printf, 4, 5)));

/** The same, at the place of a table's value's key. */
enum status tree_refuse_key(const struct tree *tree, struct why *why, size_t node,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
