/* wire_fields.h - fields that have no protocol buffers type of their own. Private to wire*.c. */

#ifndef PROTOCOL_WIRE_FIELDS_H
#define PROTOCOL_WIRE_FIELDS_H

#include "base/bytes.h"

#include <protobuf-c/protobuf-c.h>
#include <string.h>

/* A digest is 32 bytes, of which not all are zero, or left out: none. */
static inline bool wire_take_digest(struct digest *out, const ProtobufCBinaryData *field)
{
    if (field->len == 0) {
        return true;
    }
    if (field->len != DIGEST_BYTES) {
        return false;
    }
    memcpy(out->byte, field->data, DIGEST_BYTES);
    return !digest_is_none(out);
}

static inline ProtobufCBinaryData wire_put_digest(struct digest *digest)
{
    if (digest_is_none(digest)) {
        return (ProtobufCBinaryData){0};
    }
    return (ProtobufCBinaryData){.len = DIGEST_BYTES, .data = digest->byte};
}

/* Text with its final zero has to fit; what it may consist of is judged with the message. */
static inline bool wire_take_text(char *out, size_t size, const char *field)
{
    size_t length = strnlen(field, size);
    if (length == size) {
        return false;
    }
    memcpy(out, field, length + 1);
    return true;
}

#endif
