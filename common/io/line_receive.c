#include "io/line_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Takes what is there of the next size bytes; `came` of them have come. */
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

/* Takes and opens the payload after a record that has been opened. */
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
    if (line->shared && line->record != NULL) {
        bytes_wipe(line->record, line->record_bytes); /* it tells the piece's key */
    }
    free(line->record);
    free(line->beyond);
    line->record = NULL;
    line->beyond = NULL;
    line->beyond_bytes = 0;
    line->shared = false;
    line->came = 0;
    bytes_wipe(&line->beyond_key, sizeof line->beyond_key);
}

void line_take_shared(struct line *line)
{
    line->takes_shared = true;
}
