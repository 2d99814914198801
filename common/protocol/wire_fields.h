/* wire_fields.h - the fields of frames and records as rows of a table: where each lies in protobuf-c's
 * struct and in ours. Private to wire*.c. */

#ifndef PROTOCOL_WIRE_FIELDS_H
#define PROTOCOL_WIRE_FIELDS_H

#include "base/bytes.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a field is with us, which says what it is in protobuf-c's struct. */
enum wire_form { WIRE_U32, WIRE_U64, WIRE_BOOL, WIRE_DIGEST, WIRE_TEXT, WIRE_BYTES };

struct wire_field {
    enum wire_form form;
    size_t size;   /* of ours */
    size_t theirs; /* offset in protobuf-c's struct */
    size_t ours;   /* offset in ours */
};

struct wire_body {
    const ProtobufCMessageDescriptor *descriptor;
    const struct wire_field *field; /* (count) in the order of their numbers */
    size_t count;
};

#define WIRE_FORM(owner, own)                                                                      \
    _Generic(((owner *)0)->own, uint32_t                                                           \
             : WIRE_U32, uint64_t                                                                  \
             : WIRE_U64, bool                                                                      \
             : WIRE_BOOL, struct digest                                                            \
             : WIRE_DIGEST, char *                                                                 \
             : WIRE_TEXT, uint8_t *                                                                \
             : WIRE_BYTES)
/* The forms that a type of protobuf-c's may hold. */
#define WIRE_FORMS(type, member)                                                                   \
    _Generic(((type *)0)->member, uint32_t : 1 << WIRE_U32, uint64_t : 1 << WIRE_U64,              \
             protobuf_c_boolean : 1 << WIRE_BOOL,                                                  \
             ProtobufCBinaryData : 1 << WIRE_DIGEST | 1 << WIRE_BYTES, char * : 1 << WIRE_TEXT)
/* A row. Does not compile where the two types differ. Text and bytes are arrays of ours. */
#define WIRE_FIELD(type, member, owner, own)                                                       \
    {                                                                                              \
        WIRE_FORM(owner, own), sizeof(((owner *)0)->own), offsetof(type, member),                  \
            offsetof(owner, own) +                                                                 \
                0 * sizeof(char[(WIRE_FORMS(type, member) >> WIRE_FORM(owner, own) & 1) ? 1 : -1]) \
    }
#define WIRE_FIELDS(list) (list), sizeof(list) / sizeof(list)[0]

/** Copies all fields of a body out of protobuf-c's struct. Returns false where a digest is neither left
 * out nor 32 bytes of which one is not zero, where text does not fit with its final zero, or where
 * bytes are more or fewer than ours. What the values may be is judged with the message. */
bool wire_take_fields(void *ours, const ProtobufCMessage *theirs, const struct wire_body *body);

/** The other way. theirs is begun anew, has the room that the descriptor says, and points into ours. */
void wire_put_fields(ProtobufCMessage *theirs, void *ours, const struct wire_body *body);

/* A parse may use one block of memory and no more: protobuf-c takes its NULL for the end. */
struct wire_arena {
    uint8_t *room; /* (size) aligned for any object; borrowed */
    size_t size;
    size_t used;
};

/** Returns an allocator that takes from the arena and gives nothing back. */
ProtobufCAllocator wire_arena_allocator(struct wire_arena *arena);

#endif
