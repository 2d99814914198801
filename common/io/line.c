#include "io/line_private.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

struct line *line_new(int descriptor, const struct line_keys *keys, size_t payload_bytes_max)
{
    struct line *line = calloc(1, sizeof *line);
    if (line == NULL) {
        (void)close(descriptor);
        return NULL;
    }
    line->descriptor = descriptor;
    line->record_bytes_max = SIZE_BYTES + CONTROL_BYTES_MAX + payload_bytes_max + SEAL_TAG_BYTES;
    line->in = seal_new(&keys->in);
    line->out = seal_new(&keys->out);
    if (line->in == NULL || line->out == NULL) {
        line_free(line);
        return NULL;
    }
    return line;
}

void line_free(struct line *line)
{
    if (line != NULL) {
        line_done(line);
        seal_free(line->in);
        seal_free(line->out);
        free(line->waiting);
        (void)close(line->descriptor);
        free(line);
    }
}

int line_descriptor(const struct line *line)
{
    return line->descriptor;
}

/* What a proof is about. The two directions have keys of their own, so that one text serves both. */
static struct slice about(uint8_t text[static 32], const uint8_t id[static LINE_ID_BYTES])
{
    memcpy(text, "hedgerow line 1\n", 16);
    memcpy(text + 16, id, LINE_ID_BYTES);
    return (struct slice){text, 32};
}

enum status line_prove(struct line *line, uint8_t proof[static LINE_PROOF_BYTES],
                       const uint8_t id[static LINE_ID_BYTES])
{
    uint8_t text[32];
    return seal_close(line->out, proof, about(text, id), NULL, 0);
}

enum status line_check(struct line *line, const uint8_t proof[static LINE_PROOF_BYTES],
                       const uint8_t id[static LINE_ID_BYTES])
{
    uint8_t text[32];
    uint8_t copy[LINE_PROOF_BYTES];
    memcpy(copy, proof, sizeof copy);
    return seal_open(line->in, copy, 0, about(text, id));
}

/* Sends without waiting; returns how much went, or -1 when the line has ended. */
static ssize_t push(struct line *line, const uint8_t *from, size_t size)
{
    size_t gone = 0;
    while (gone < size) {
        const ssize_t now = send(line->descriptor, from + gone, size - gone, MSG_NOSIGNAL);
        if (now < 0 && errno == EINTR) {
            continue;
        }
        if (now < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            break;
        }
        if (now < 0) {
            line->ended = true;
            return -1;
        }
        gone += (size_t)now;
    }
    return (ssize_t)gone;
}

/* So much of what waited has left. */
static void note_gone(struct line *line, size_t gone)
{
    line->waiting_from += gone;
    line->waiting_bytes -= gone;
    if (line->waiting_bytes == 0) {
        free(line->waiting);
        line->waiting = NULL;
        line->room = 0;
        line->waiting_from = 0;
    }
}

enum status line_flush(struct line *line)
{
    if (line->ended) {
        return STATUS_IO;
    }
    if (line->waiting_bytes == 0) {
        return STATUS_OK;
    }
    const ssize_t gone = push(line, line->waiting + line->waiting_from, line->waiting_bytes);
    if (gone < 0) {
        return STATUS_IO;
    }
    note_gone(line, (size_t)gone);
    return STATUS_OK;
}

bool line_waits(const struct line *line)
{
    return line->waiting_bytes > 0;
}

size_t line_waiting_bytes(const struct line *line)
{
    return line->waiting_bytes;
}

/* Makes room for size more bytes behind what waits; returns where. */
static uint8_t *make_room(struct line *line, size_t size)
{
    if (line->waiting_from > 0) {
        memmove(line->waiting, line->waiting + line->waiting_from, line->waiting_bytes);
        line->waiting_from = 0;
    }
    if (line->room - line->waiting_bytes < size) {
        uint8_t *more = realloc(line->waiting, line->waiting_bytes + size);
        if (more == NULL) {
            return NULL;
        }
        line->waiting = more;
        line->room = line->waiting_bytes + size;
    }
    return line->waiting + line->waiting_bytes;
}

/* Seals a record behind what waits, with nothing sent yet. more: bytes that are to follow it. */
static enum status add_record(struct line *line, const struct slice *part, size_t count,
                              uint32_t mark, size_t more)
{
    const size_t largest = HEAD_BYTES + line->record_bytes_max;
    size_t sealed = SEAL_TAG_BYTES;

    for (size_t i = 0; i < count; i++) {
        sealed += part[i].size;
    }
    CHECK(sealed <= line->record_bytes_max && more <= line->record_bytes_max);
    if (line->ended) {
        return STATUS_IO;
    }
    if (line->waiting_bytes + HEAD_BYTES + sealed + more > LINE_WAITING_RECORDS * largest) {
        return STATUS_AGAIN; /* before it has a number: what is sealed has to leave */
    }
    uint8_t *record = make_room(line, HEAD_BYTES + sealed + more);
    if (record == NULL) {
        return STATUS_AGAIN;
    }
    store_u32(record, (uint32_t)sealed | mark);
    if (seal_close(line->out, record + HEAD_BYTES, (struct slice){record, HEAD_BYTES}, part,
                   count) != STATUS_OK) {
        line->ended = true;
        return STATUS_IO;
    }
    line->waiting_bytes += HEAD_BYTES + sealed;
    return STATUS_OK;
}

enum status line_send(struct line *line, struct slice control, struct slice payload)
{
    uint8_t size[SIZE_BYTES] = {(uint8_t)control.size, (uint8_t)(control.size >> 8)};
    const struct slice part[] = {{size, sizeof size}, control, payload};

    CHECK(control.size <= CONTROL_BYTES_MAX);
    const enum status status = add_record(line, part, sizeof part / sizeof part[0], 0, 0);
    return status == STATUS_OK ? line_flush(line) : status;
}

/* Sends what waits and, if nothing of that is left, of the payload what the kernel takes, by one call: a record that went first
 * would wake the other end twice. Returns how much of the payload went, or -1 when the line has ended. */
static ssize_t push_with(struct line *line, struct slice payload)
{
    struct iovec part[] = {{line->waiting + line->waiting_from, line->waiting_bytes},
                           {(void *)(uintptr_t)payload.data, payload.size}};
    const struct msghdr both = {.msg_iov = part, .msg_iovlen = 2};
    const size_t first = line->waiting_bytes;
    const ssize_t now = sendmsg(line->descriptor, &both, MSG_NOSIGNAL);

    if (now < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) {
        line->ended = true;
        return -1;
    }
    const size_t gone = now > 0 ? (size_t)now : 0;
    note_gone(line, gone < first ? gone : first);
    return gone > first ? (ssize_t)(gone - first) : 0;
}

enum status line_send_shared(struct line *line, struct slice control,
                             const struct line_shared *payload)
{
    uint8_t size[SIZE_BYTES] = {(uint8_t)control.size, (uint8_t)(control.size >> 8)};
    uint8_t bytes[4];
    const struct slice part[] = {
        {size, sizeof size}, control, {payload->key.byte, DIGEST_BYTES}, {bytes, sizeof bytes}};

    CHECK(control.size <= CONTROL_BYTES_MAX);
    store_u32(bytes, (uint32_t)payload->sealed.size);
    const enum status status =
        add_record(line, part, sizeof part / sizeof part[0], HEAD_SHARED, payload->sealed.size);
    if (status != STATUS_OK) {
        return status;
    }
    const ssize_t gone = push_with(line, payload->sealed);
    if (gone < 0) {
        return STATUS_IO;
    }
    const size_t rest = payload->sealed.size - (size_t)gone;
    uint8_t *room = rest > 0 ? make_room(line, rest) : NULL;
    if (rest > 0 && room == NULL) {
        line->ended = true; /* the record has left, or will */
        return STATUS_IO;
    }
    if (rest > 0) {
        memcpy(room, (const uint8_t *)payload->sealed.data + gone, rest);
        line->waiting_bytes += rest;
    }
    return STATUS_OK;
}
