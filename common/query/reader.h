/* reader.h - the words of a query's text, one at a time, with their place. Inside query only. */

#ifndef QUERY_READER_H
#define QUERY_READER_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/why.h"
#include "learn/schema.h"

#include <stdbool.h>
#include <stddef.h>

struct query_score;

enum { READER_TEXT_BYTES = 1024 }; /* the largest length of a query */

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,   /* letters, digits and whatever is no other token; or anything in quotes */
    TOKEN_SIGN,   /* < <= > >= == != ( ) , : [ ] */
    TOKEN_BROKEN, /* a quote without its other end, a sign that does not exist */
    TOKEN_LONG    /* the text is longer than READER_TEXT_BYTES */
};

struct token {
    enum token_kind kind;
    struct slice text; /* without its quotes; borrowed from the query's text */
    bool quoted;       /* then it is a name, never a word of the language */
    size_t at;         /* its first character, from 1 */
};

struct reader {
    struct slice text;
    size_t next;        /* the byte after the token */
    struct token token; /* the one to look at */
    const struct schema *schema;
    const struct query_score *score; /* (score_count) models that questions name */
    size_t score_count;
    struct why *why; /* may be NULL */
};

/** Starts at the first token. Keeps text and schema. */
void reader_init(struct reader *reader, struct slice text, const struct schema *schema,
                 struct why *why);

/** Goes to the next token; stays at the end. */
void reader_advance(struct reader *reader);

/** Answers whether the token is this word of the language, or this sign. */
bool reader_is(const struct reader *reader, const char *text);

/** The same, and goes on after it if it is there. */
bool reader_accept(struct reader *reader, const char *text);

/** Says where and what the token is, and what to write instead. Returns STATUS_INVALID. */
MUST_USE enum status reader_refuse(const struct reader *reader, const char *remedy);

/** Reads the name of a column, or of the label, and goes on. The label's index is the number of
 * columns. Fails with STATUS_INVALID. */
MUST_USE enum status reader_column(struct reader *reader, size_t *column);

/** Reads a number and goes on. Fails with STATUS_INVALID; remedy says what it is for. */
MUST_USE enum status reader_number(struct reader *reader, double *number, const char *remedy);

#endif
