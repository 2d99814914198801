/* line_private.h - what a line's two halves share: line.c opens one and sends, line_receive.c takes. */

#ifndef IO_LINE_PRIVATE_H
#define IO_LINE_PRIVATE_H

#include "crypto/seal.h"
#include "io/line.h"

enum { HEAD_BYTES = 4, SIZE_BYTES = 2, KEY_BYTES = DIGEST_BYTES + 4, TEXTS_AT_ONCE = 8 };
#define HEAD_SHARED UINT32_C(0x80000000) /* in the head: a payload of its own follows the record */

/* A text in its turn, from the first byte that has not been sent. */
struct waiting {
    struct waiting *next;
    struct line_text *text;
    size_t from;
};

struct line {
    int descriptor;
    struct seal *in;
    struct seal *out;
    size_t record_bytes_max; /* without its head */
    bool ended;
    /* the message that is coming in */
    uint8_t head[HEAD_BYTES];
    size_t came;     /* of head and record */
    uint8_t *record; /* (record_bytes) NULL before its head is known */
    size_t record_bytes;
    /* and its payload, where that was sealed for others, too */
    bool takes_shared;
    bool shared;     /* the record says so */
    uint8_t *beyond; /* (beyond_bytes) NULL before the record is opened */
    size_t beyond_bytes;
    size_t beyond_came;
    struct digest beyond_key;
    /* what waits to be sent */
    struct waiting *first; /* NULL: nothing does */
    struct waiting *last;
    size_t waiting_bytes;
};

#endif
