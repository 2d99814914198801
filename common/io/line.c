#include "io/line.h"

#include "base/check.h"
#include "crypto/seal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

enum { HEAD_BYTES = 4, SIZE_BYTES = 2 };

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

enum status line_send(struct line *line, struct slice control, struct slice payload)
{
    uint8_t size[SIZE_BYTES] = {(uint8_t)control.size, (uint8_t)(control.size >> 8)};
    const struct slice part[] = {{size, sizeof size}, control, payload};
    const size_t sealed = SIZE_BYTES + control.size + payload.size + SEAL_TAG_BYTES;
    const size_t largest = HEAD_BYTES + line->record_bytes_max;

    CHECK(control.size <= CONTROL_BYTES_MAX && sealed <= line->record_bytes_max);
    if (line->ended) {
        return STATUS_IO;
    }
    if (line->waiting_bytes + HEAD_BYTES + sealed > LINE_WAITING_RECORDS * largest) {
        return STATUS_AGAIN; /* before it has a number: what is sealed has to leave */
    }
    uint8_t *record = make_room(line, HEAD_BYTES + sealed);
    if (record == NULL) {
        return STATUS_AGAIN;
    }
    store_u32(record, (uint32_t)sealed);
    if (seal_close(line->out, record + HEAD_BYTES, (struct slice){record, HEAD_BYTES}, part,
                   sizeof part / sizeof part[0]) != STATUS_OK) {
        line->ended = true;
        return STATUS_IO;
    }
    line->waiting_bytes += HEAD_BYTES + sealed;
    return line_flush(line);
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

static enum status begin_record(struct line *line)
{
    size_t bytes = 0;
    for (size_t i = 0; i < HEAD_BYTES; i++) {
        bytes |= (size_t)line->head[i] << (8 * i);
    }
    if (bytes < SIZE_BYTES + 1 + SEAL_TAG_BYTES || bytes > line->record_bytes_max) {
        line->ended = true;
        return STATUS_INVALID;
    }
    line->record = malloc(bytes);
    line->record_bytes = bytes;
    return line->record == NULL ? STATUS_AGAIN : STATUS_OK;
}

enum status line_receive(struct line *line, struct slice *control, struct slice *payload)
{
    enum status status = line->ended ? STATUS_IO : STATUS_OK;
    if (status == STATUS_OK && line->record == NULL) {
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
    if (status != STATUS_OK) {
        return status;
    }
    const size_t text = line->record_bytes - SEAL_TAG_BYTES;
    status = seal_open(line->in, line->record, text, (struct slice){line->head, HEAD_BYTES});
    const size_t size = line->record[0] | (size_t)line->record[1] << 8;
    if (status != STATUS_OK || size == 0 || size > CONTROL_BYTES_MAX || size > text - SIZE_BYTES) {
        line->ended = true;
        return STATUS_INVALID;
    }
    const size_t rest = text - SIZE_BYTES - size;
    *control = (struct slice){line->record + SIZE_BYTES, size};
    *payload = (struct slice){rest == 0 ? NULL : line->record + SIZE_BYTES + size, rest};
    line->came = 0;
    return STATUS_OK;
}

void line_done(struct line *line)
{
    free(line->record);
    line->record = NULL;
    line->came = 0;
}
