#include "io/line.h"

#include "base/check.h"
#include "crypto/seal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

enum { HEAD_BYTES = 4, SIZE_BYTES = 2, KEY_BYTES = DIGEST_BYTES + 4 };
#define HEAD_SHARED UINT32_C(0x80000000) /* in the head: a payload of its own follows the record */

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
    uint8_t *waiting; /* (room) */
    size_t room;
    size_t waiting_from;
    size_t waiting_bytes;
};

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
    line->waiting_from += (size_t)gone;
    line->waiting_bytes -= (size_t)gone;
    if (line->waiting_bytes == 0) {
        free(line->waiting);
        line->waiting = NULL;
        line->room = 0;
        line->waiting_from = 0;
    }
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

enum status line_send_shared(struct line *line, struct slice control,
                             const struct line_shared *payload)
{
    uint8_t size[SIZE_BYTES] = {(uint8_t)control.size, (uint8_t)(control.size >> 8)};
    uint8_t bytes[4];
    const struct slice part[] = {
        {size, sizeof size}, control, {payload->key.byte, DIGEST_BYTES}, {bytes, sizeof bytes}};

    CHECK(control.size <= CONTROL_BYTES_MAX);
    store_u32(bytes, (uint32_t)payload->sealed.size);
    enum status status =
        add_record(line, part, sizeof part / sizeof part[0], HEAD_SHARED, payload->sealed.size);
    if (status != STATUS_OK || line_flush(line) != STATUS_OK) {
        return status != STATUS_OK ? status : STATUS_IO;
    }
    /* What the kernel takes need not be copied; for the rest there is room. */
    const uint8_t *from = payload->sealed.data;
    const ssize_t gone = line->waiting_bytes > 0 ? 0 : push(line, from, payload->sealed.size);
    if (gone < 0) {
        return STATUS_IO;
    }
    const size_t rest = payload->sealed.size - (size_t)gone;
    uint8_t *room = rest > 0 ? make_room(line, rest) : NULL;
    if (rest > 0 && room == NULL) {
        line->ended = true; /* half of it has left */
        return STATUS_IO;
    }
    if (rest > 0) {
        memcpy(room, from + gone, rest);
        line->waiting_bytes += rest;
    }
    return STATUS_OK;
}

void line_take_shared(struct line *line)
{
    line->takes_shared = true;
}

/* Takes what is there of the next size bytes, of which `came` have come. */
static enum status pull(struct line *line, uint8_t *into, size_t *came, size_t size)
{
    while (*came < size) {
        const ssize_t now = recv(line->descriptor, into + *came, size - *came, 0);
        if (now < 0 && errno == EINTR) {
            continue;
        }
        if (now < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return STATUS_AGAIN;
        }
        if (now <= 0) {
            line->ended = true;
            return STATUS_IO;
        }
        *came += (size_t)now;
    }
    return STATUS_OK;
}

static uint32_t u32_at(const uint8_t *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static enum status begin_record(struct line *line)
{
    const uint32_t head = u32_at(line->head);
    line->shared = line->takes_shared && (head & HEAD_SHARED) != 0;
    const size_t bytes = line->shared ? head & ~HEAD_SHARED : head;
    if (bytes < SIZE_BYTES + 1 + SEAL_TAG_BYTES || bytes > line->record_bytes_max) {
        line->ended = true;
        return STATUS_INVALID;
    }
    line->record = malloc(bytes);
    line->record_bytes = bytes;
    return line->record == NULL ? STATUS_AGAIN : STATUS_OK;
}

static enum status end_invalid(struct line *line)
{
    line->ended = true;
    return STATUS_INVALID;
}

/* The record is whole: opens it, and learns what is to follow it. */
static enum status open_record(struct line *line)
{
    const size_t text = line->record_bytes - SEAL_TAG_BYTES;
    if (seal_open(line->in, line->record, text, (struct slice){line->head, HEAD_BYTES}) !=
        STATUS_OK) {
        return end_invalid(line);
    }
    const size_t size = line->record[0] | (size_t)line->record[1] << 8;
    if (size == 0 || size > CONTROL_BYTES_MAX || size > text - SIZE_BYTES ||
        (line->shared && size != text - SIZE_BYTES - KEY_BYTES)) {
        return end_invalid(line);
    }
    if (!line->shared) {
        return STATUS_OK;
    }
    const uint8_t *told = line->record + SIZE_BYTES + size;
    const size_t bytes = u32_at(told + DIGEST_BYTES);
    if (bytes <= SEAL_TAG_BYTES ||
        bytes > line->record_bytes_max - SIZE_BYTES - CONTROL_BYTES_MAX) {
        return end_invalid(line);
    }
    memcpy(line->beyond_key.byte, told, DIGEST_BYTES);
    line->beyond_bytes = bytes;
    line->beyond_came = 0;
    return STATUS_OK;
}

/* Takes and opens the payload behind a record that has been opened. */
static enum status pull_beyond(struct line *line)
{
    if (line->beyond == NULL) {
        line->beyond = malloc(line->beyond_bytes);
    }
    if (line->beyond == NULL) {
        return STATUS_AGAIN;
    }
    const enum status status = pull(line, line->beyond, &line->beyond_came, line->beyond_bytes);
    if (status != STATUS_OK) {
        return status;
    }
    struct seal *seal = seal_new(&line->beyond_key);
    const enum status opened =
        seal == NULL ? STATUS_NO_MEMORY
                     : seal_open(seal, line->beyond, line->beyond_bytes - SEAL_TAG_BYTES,
                                 (struct slice){NULL, 0});
    seal_free(seal);
    return opened == STATUS_OK ? STATUS_OK : end_invalid(line);
}

/* Takes the record, and opens it once. */
static enum status pull_record(struct line *line)
{
    enum status status = STATUS_OK;
    if (line->record == NULL) {
        status = pull(line, line->head, &line->came, HEAD_BYTES);
        if (status == STATUS_OK) {
            status = begin_record(line);
        }
    }
    if (status == STATUS_OK) {
        size_t came = line->came - HEAD_BYTES;
        status = pull(line, line->record, &came, line->record_bytes);
        line->came = HEAD_BYTES + came;
    }
    return status == STATUS_OK ? open_record(line) : status;
}

enum status line_receive(struct line *line, struct slice *control, struct slice *payload,
                         bool *shared)
{
    enum status status = line->ended ? STATUS_IO : STATUS_OK;
    if (status == STATUS_OK && line->beyond_bytes == 0) {
        status = pull_record(line);
    }
    if (status == STATUS_OK && line->shared) {
        status = pull_beyond(line);
    }
    if (status != STATUS_OK) {
        return status;
    }
    const size_t size = line->record[0] | (size_t)line->record[1] << 8;
    const size_t rest = line->record_bytes - SEAL_TAG_BYTES - SIZE_BYTES - size;
    *control = (struct slice){line->record + SIZE_BYTES, size};
    *payload = line->shared
                   ? (struct slice){line->beyond, line->beyond_bytes - SEAL_TAG_BYTES}
                   : (struct slice){rest == 0 ? NULL : line->record + SIZE_BYTES + size, rest};
    if (shared != NULL) {
        *shared = line->shared;
    }
    line->came = 0;
    return STATUS_OK;
}

void line_done(struct line *line)
{
    free(line->record);
    free(line->beyond);
    line->record = NULL;
    line->beyond = NULL;
    line->beyond_bytes = 0;
    line->shared = false;
    line->came = 0;
    bytes_wipe(&line->beyond_key, sizeof line->beyond_key);
}
