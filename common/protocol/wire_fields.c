#include "protocol/wire_fields.h"
#include "base/status.h"

#include <stdalign.h>
#include <string.h>

static bool take_digest(struct digest *out, const ProtobufCBinaryData *field)
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

static bool take_text(char *out, size_t size, const char *field)
{
    const size_t length = strnlen(field, size);
    if (length == size) {
        return false;
    }
    memcpy(out, field, length + 1);
    return true;
}

static bool take_field(void *ours, const void *theirs, const struct wire_field *field)
{
    ProtobufCBinaryData bytes;
    protobuf_c_boolean flag;
    const char *text;
    switch (field->form) {
    case WIRE_U32:
    case WIRE_U64:
        memcpy(ours, theirs, field->size);
        return true;
    case WIRE_BOOL:
        memcpy(&flag, theirs, sizeof flag);
        *(bool *)ours = flag != 0;
        return true;
    case WIRE_DIGEST:
        memcpy(&bytes, theirs, sizeof bytes);
        return take_digest(ours, &bytes);
    case WIRE_TEXT:
        memcpy(&text, theirs, sizeof text);
        return take_text(ours, field->size, text);
    case WIRE_BYTES:
        memcpy(&bytes, theirs, sizeof bytes);
        if (bytes.len == field->size) {
            memcpy(ours, bytes.data, field->size);
        }
        return bytes.len == field->size;
    }
    return false;
}

static void put_field(void *theirs, void *ours, const struct wire_field *field)
{
    ProtobufCBinaryData bytes = {field->size, ours};
    protobuf_c_boolean flag;
    switch (field->form) {
    case WIRE_U32:
    case WIRE_U64:
        memcpy(theirs, ours, field->size);
        break;
    case WIRE_BOOL:
        flag = *(const bool *)ours;
        memcpy(theirs, &flag, sizeof flag);
        break;
    case WIRE_DIGEST:
        bytes = digest_is_none(ours) ? (ProtobufCBinaryData){0} : bytes;
        memcpy(theirs, &bytes, sizeof bytes);
        break;
    case WIRE_TEXT:
        memcpy(theirs, &ours, sizeof ours);
        break;
    case WIRE_BYTES:
        memcpy(theirs, &bytes, sizeof bytes);
        break;
    }
}

bool wire_take_fields(void *ours, const ProtobufCMessage *theirs, const struct wire_body *body)
{
    for (size_t i = 0; i < body->count; i++) {
        const struct wire_field *field = &body->field[i];
        if (!take_field((uint8_t *)ours + field->ours, (const uint8_t *)theirs + field->theirs,
                        field)) {
            return false;
        }
    }
    return true;
}

void wire_put_fields(ProtobufCMessage *theirs, void *ours, const struct wire_body *body)
{
    body->descriptor->message_init(theirs);
    for (size_t i = 0; i < body->count; i++) {
        const struct wire_field *field = &body->field[i];
        put_field((uint8_t *)theirs + field->theirs, (uint8_t *)ours + field->ours, field);
    }
}

static void *arena_alloc(void *self, size_t size)
{
    struct wire_arena *arena = self;
    size_t unit = alignof(max_align_t);
    size_t left = arena->size - arena->used;
    if (size > left || left - size < unit) {
        return NULL;
    }
    void *out = arena->room + arena->used;
    arena->used += (size + unit - 1) / unit * unit;
    return out;
}

static void arena_release(UNUSED void *self, UNUSED void *pointer)
{
}

ProtobufCAllocator wire_arena_allocator(struct wire_arena *arena)
{
    return (ProtobufCAllocator){
        .alloc = arena_alloc, .free = arena_release, .allocator_data = arena};
}
