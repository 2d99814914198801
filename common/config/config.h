/* config.h - reads a YAML text that people write (job, settings, policy) by a table of keys: what
 * may stand where, of which type and range, and which member of a struct it fills. One engine gives
 * every file the same strictness and every refusal the same shape: "file:line:column: path: what,
 * remedy". */

#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    CONFIG_TEXT_BYTES_MAX = 64 * 1024, /* of a whole file */
    CONFIG_DEPTH_MAX = 16,
    CONFIG_PATH_BYTES = 128,
    CONFIG_VERSION = 1 /* every file begins with `hedgerow: 1` */
};

/* The member that a value fills, by type. Lists fill a pointer to such members, and a size_t. */
enum config_type {
    CONFIG_TEXT, /* char[size]; printable, not empty */
    CONFIG_NAME, /* char[size]; letters, digits, '.', '_', '-', beginning with a letter or digit */
    CONFIG_INTEGER, /* uint32_t or uint64_t, min to max */
    CONFIG_FIXED,   /* the same, as number * 10^places, rounded down: never through a float */
    CONFIG_PORTION, /* struct config_portion: an INTEGER, min to max, or a share like 20 % */
    CONFIG_DECIMAL, /* double, low to high, finite */
    CONFIG_FLAG,    /* bool: true or false, no other spelling */
    CONFIG_CHOICE,  /* an enum or unsigned: the index of a name */
    CONFIG_SET,     /* bool[]: a list of distinct names, each setting the bool at its index */
    CONFIG_TABLE,   /* a nested struct; or a list of structs */
    CONFIG_ROWS     /* a list of structs written as a list of lists: each fills its keys[0] */
};

enum { PORTION_PLACES = 7, PORTION_ONE = 1000000000 }; /* of a percentage; 100 % */

struct config_portion {
    uint32_t count;      /* 0 where a share is written */
    uint32_t share_nano; /* 1 to PORTION_ONE; 0 where a number is written */
};

struct config_key {
    const char *name; /* NULL ends a table of at most 64 keys */
    enum config_type type;
    bool required;
    const char
        *unless;     /* of a required key: the one that may stand in its place, never beside it */
    bool list;       /* many of `type`; the elements live as long as the struct config */
    bool exact;      /* FIXED: more than `places` decimals are refused, not rounded down */
    unsigned places; /* FIXED: decimal places */
    size_t offset, size;  /* CONFIG_IN or CONFIG_LIST_IN */
    size_t count_offset;  /* CONFIG_LIST_IN */
    uint64_t min, max;    /* INTEGER, FIXED: in the member's unit */
    double low, high;     /* DECIMAL */
    size_t items_max;     /* list: at most this many, and at least one */
    const char *fallback; /* the value of a missing scalar, as one would write it; NULL: zero */
    const char *example;  /* a good value, for messages */
    const char *doc;      /* what it is for, in a line, for config_template */
    const char *(*choice)(unsigned index); /* CHOICE, SET: the names, then NULL */
    const struct config_key *keys;         /* TABLE; ROWS: one, of a list */
    const struct config_foreign *foreign;  /* of the row that ends a table; may be NULL */
};

/* A key that people write here and that belongs elsewhere. */
struct config_foreign {
    const char *name; /* NULL ends the list */
    const char *remedy;
};

#define CONFIG_IN(type_, member_)                                                                  \
    .offset = offsetof(type_, member_), .size = sizeof(((type_ *)0)->member_)
#define CONFIG_LIST_IN(type_, member_, count_)                                                     \
    .list = true, .offset = offsetof(type_, member_), .size = sizeof(*((type_ *)0)->member_),      \
    .count_offset = offsetof(type_, count_)

struct config; /* a text taken apart: values and where they stand */

/**
 * Takes a text apart. Refused are: more than CONFIG_TEXT_BYTES_MAX, more than CONFIG_DEPTH_MAX
 * levels, several documents, anchors, aliases, tags, values over several lines, control
 * characters, a root that is not a table with `hedgerow: 1`.
 *
 * name  in, keeps  how the text is called in messages: the file's name
 *
 * Fails with STATUS_INVALID, STATUS_UNSUPPORTED (another version), STATUS_NO_MEMORY.
 * Cost: linear in the text but for nested brackets, which are bounded.
 */
MUST_USE enum status config_open(struct config **out, struct slice text, const char *name,
                                 struct why *why);
void config_free(struct config *config);

/**
 * Fills a struct by its table. Unknown (with the nearest known one), missing and doubled keys,
 * wrong types and values out of range are refused. An optional table that is missing is filled with
 * its keys' fallbacks, and may therefore hold no tables itself.
 *
 * target  out  zeroed by the caller
 * keys    in   the root's
 *
 * Fails with STATUS_INVALID, STATUS_NO_MEMORY; target is then half filled.
 */
MUST_USE enum status config_read(struct config *config, void *target, const struct config_key *keys,
                                 struct why *why);

/** Answers whether the text itself holds a value at path: "stages[0].batch" or "stages.0.batch". */
bool config_has(const struct config *config, const char *path);

/** Says what is wrong with the value at path, or, if it is missing, with what should hold it.
 * Returns STATUS_INVALID. */
enum status config_refuse(const struct config *config, struct why *why, const char *path,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

/** Writes a text in double quotes, as a file of this kind holds it. It has no control characters. */
void config_put_text(FILE *out, const char *text);

/**
 * Writes the same text with one value replaced or, where its table has no such key, added: comments
 * and order stay. assignment is "path=value" on one line, value as it would stand in the file. What
 * the file's own table says of key and value is for the next config_read to check.
 *
 * out   out  (*size) a malloc'd text with a final zero; the caller frees it
 *
 * Fails with STATUS_INVALID (no such path; not a value; too large), STATUS_NO_MEMORY.
 */
MUST_USE enum status config_override(char **out, size_t *size, struct slice text, const char *name,
                                     const char *assignment, struct why *why);

/**
 * Writes a file to begin with, from the table: each key with what it is for, marked as required, with its example, or
 * as optional, with its default and commented out.
 *
 * head  in  lines of comment that come first, without #, each ended
 *
 * Returns a malloc'd text that config_read accepts, which the caller frees; NULL without memory.
 */
char *config_template(const struct config_key *keys, const char *head);

/** Reads a file of at most CONFIG_TEXT_BYTES_MAX; *out is malloc'd and ends with a zero, the caller
 * frees it. Fails with STATUS_IO, STATUS_INVALID (too large, a folder), STATUS_NO_MEMORY. */
MUST_USE enum status config_load(char **out, size_t *size, const char *path, struct why *why);

/** Does the same to a file that says what a program may do: refuses it if others could have written it (owned_source). */
MUST_USE enum status config_load_owned(char **out, size_t *size, const char *path, struct why *why);

#endif
