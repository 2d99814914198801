#include "io/line_private.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

struct line_text *line_text_new(size_t size)
{
    struct line_text *text = malloc(sizeof *text + size);
    if (text != NULL) {
        text->holders = 1;
        text->size = size;
    }
    return text;
}

void line_text_drop(struct line_text *text)
{
    if (text != NULL && --text->holders == 0) {
        free(text);
    }
}

static struct line_text *line_text_hold(struct line_text *text)
{
    text->holders++;
    return text;
}

static void waiting_free(struct waiting *waiting)
{
    if (waiting != NULL) {
        line_text_drop(waiting->text);
        free(waiting);
    }
}

/* The first of what waits has left, or is given up. */
static void drop_first(struct line *line)
{
    struct waiting *gone = line->first;
    line->first = gone->next;
    line->waiting_bytes -= gone->text->size - gone->from;
    waiting_free(gone);
}

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
        while (line->first != NULL) {
            drop_first(line);
        }
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

/* How much of what waited has left. */
static void note_gone(struct line *line, size_t gone)
{
    while (line->first != NULL && gone >= line->first->text->size - line->first->from) {
        gone -= line->first->text->size - line->first->from;
        drop_first(line);
    }
    if (line->first != NULL) {
        line->first->from += gone;
        line->waiting_bytes -= gone;
    }
}

/* A record and its payload leave by one call: by two the other end would wake twice. */
enum status line_flush(struct line *line)
{
    while (!line->ended && line->first != NULL) {
        struct iovec part[TEXTS_AT_ONCE];
        struct msghdr all = {.msg_iov = part};
        size_t bytes = 0;
        for (struct waiting *next = line->first; next != NULL && all.msg_iovlen < TEXTS_AT_ONCE;
             next = next->next) {
            part[all.msg_iovlen++] =
                (struct iovec){next->text->byte + next->from, next->text->size - next->from};
            bytes += next->text->size - next->from;
        }
        const ssize_t now = sendmsg(line->descriptor, &all, MSG_NOSIGNAL);
        if (now >= 0) {
            note_gone(line, (size_t)now);
        }
        if (now < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) {
            line->ended = true;
        } else if (now < 0 ? errno != EINTR : (size_t)now < bytes) {
            return STATUS_OK; /* there is no more room */
        }
    }
    return line->ended ? STATUS_IO : STATUS_OK;
}

bool line_waits(const struct line *line)
{
    return line->first != NULL;
}

size_t line_waiting_bytes(const struct line *line)
{
    return line->waiting_bytes;
}

/* Returns a place for a text that is to wait; NULL without memory. Takes text, which may be NULL. */
static struct waiting *waiting_new(struct line_text *text)
{
    struct waiting *waiting = text != NULL ? malloc(sizeof *waiting) : NULL;
    if (waiting == NULL) {
        line_text_drop(text);
        return NULL;
    }
    *waiting = (struct waiting){.text = text};
    return waiting;
}

static void append(struct line *line, struct waiting *waiting)
{
    *(line->first == NULL ? &line->first : &line->last->next) = waiting;
    line->last = waiting;
    line->waiting_bytes += waiting->text->size;
}

/* Seals a record after those that wait, and appends a payload that is sealed already; NULL: there is none. The room is there
 * before the record gets a number, because what is sealed has to leave. */
static enum status add_record(struct line *line, const struct slice *part, size_t count,
                              struct line_text *payload)
{
    const size_t largest = HEAD_BYTES + line->record_bytes_max;
    const size_t more = payload == NULL ? 0 : payload->size;
    size_t sealed = SEAL_TAG_BYTES;

    for (size_t i = 0; i < count; i++) {
        sealed += part[i].size;
    }
    CHECK(sealed <= line->record_bytes_max && more <= line->record_bytes_max);
    if (line->ended) {
        return STATUS_IO;
    }
    if (line->waiting_bytes + HEAD_BYTES + sealed + more > LINE_WAITING_RECORDS * largest) {
        return STATUS_AGAIN;
    }
    struct waiting *record = waiting_new(line_text_new(HEAD_BYTES + sealed));
    struct waiting *behind = payload == NULL ? NULL : waiting_new(line_text_hold(payload));
    if (record == NULL || (payload != NULL && behind == NULL)) {
        waiting_free(record);
        waiting_free(behind);
        return STATUS_AGAIN;
    }
    uint8_t *head = record->text->byte;
    store_u32(head, (uint32_t)sealed | (payload == NULL ? 0 : HEAD_SHARED));
    line->ended = seal_close(line->out, head + HEAD_BYTES, (struct slice){head, HEAD_BYTES}, part,
                             count) != STATUS_OK;
    append(line, record);
    if (behind != NULL) {
        append(line, behind);
    }
    return line->ended ? STATUS_IO : STATUS_OK;
}

enum status line_send(struct line *line, struct slice control, struct slice payload)
{
    uint8_t size[SIZE_BYTES] = {(uint8_t)control.size, (uint8_t)(control.size >> 8)};
    const struct slice part[] = {{size, sizeof size}, control, payload};

    CHECK(control.size <= CONTROL_BYTES_MAX);
    const enum status status = add_record(line, part, sizeof part / sizeof part[0], NULL);
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
    store_u32(bytes, (uint32_t)payload->text->size);
    const enum status status = add_record(line, part, sizeof part / sizeof part[0], payload->text);
    return status == STATUS_OK ? line_flush(line) : status;
}
