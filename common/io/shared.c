#include "io/shared.h"

#include "crypto/seal.h"

static void drop(struct shared *shared, struct shared_piece *piece)
{
    if (piece->sealed.text != NULL) {
        shared->bytes -= piece->sealed.text->size;
        line_text_drop(piece->sealed.text);
        bytes_wipe(piece, sizeof *piece);
    }
}

static struct shared_piece *find(struct shared *shared, const struct digest *of, uint64_t offset,
                                 size_t bytes)
{
    for (size_t i = 0; i < SHARED_PIECES_MAX; i++) {
        struct shared_piece *piece = &shared->piece[i];
        if (piece->sealed.text != NULL && piece->offset == offset &&
            piece->sealed.text->size == bytes && digest_equal(&piece->of, of)) {
            return piece;
        }
    }
    return NULL;
}

/* Returns the piece that was used least lately; NULL: there is none. */
static struct shared_piece *oldest(struct shared *shared)
{
    struct shared_piece *found = NULL;
    for (size_t i = 0; i < SHARED_PIECES_MAX; i++) {
        struct shared_piece *piece = &shared->piece[i];
        if (piece->sealed.text != NULL && (found == NULL || piece->used_ms < found->used_ms)) {
            found = piece;
        }
    }
    return found;
}

static struct shared_piece *place_for(struct shared *shared, size_t bytes)
{
    struct shared_piece *old = NULL;
    while (shared->bytes + bytes > SHARED_BYTES_MAX && (old = oldest(shared)) != NULL) {
        drop(shared, old);
    }
    for (size_t i = 0; i < SHARED_PIECES_MAX; i++) {
        if (shared->piece[i].sealed.text == NULL) {
            return &shared->piece[i];
        }
    }
    old = oldest(shared);
    drop(shared, old);
    return old;
}

/* The key serves this one message, so that its only nonce is number 0. */
static enum status seal_once(struct shared_piece *piece, const struct random *random,
                             struct slice payload)
{
    enum status status = random_fill(random, piece->sealed.key.byte, DIGEST_BYTES);
    struct seal *seal = status == STATUS_OK ? seal_new(&piece->sealed.key) : NULL;
    if (status == STATUS_OK) {
        status = seal == NULL ? STATUS_NO_MEMORY
                              : seal_close(seal, piece->sealed.text->byte, (struct slice){NULL, 0},
                                           &payload, 1);
    }
    seal_free(seal);
    return status;
}

struct shared_piece *shared_seal(struct shared *shared, const struct random *random,
                                 const struct digest *of, uint64_t offset, struct slice payload,
                                 size_t takers, int64_t now_ms)
{
    const size_t bytes = payload.size + SEAL_TAG_BYTES;
    struct shared_piece *piece = find(shared, of, offset, bytes);
    if (piece != NULL) {
        piece->used_ms = now_ms;
        return piece;
    }
    piece = place_for(shared, bytes);
    piece->sealed.text = line_text_new(bytes);
    if (piece->sealed.text == NULL) {
        return NULL;
    }
    shared->bytes += bytes;
    piece->of = *of;
    piece->offset = offset;
    piece->takers = takers;
    piece->used_ms = now_ms;
    if (seal_once(piece, random, payload) != STATUS_OK) {
        drop(shared, piece);
        return NULL;
    }
    shared->sealed++;
    return piece;
}

void shared_taken(struct shared *shared, struct shared_piece *piece)
{
    if (piece->takers <= 1) {
        drop(shared, piece);
    } else {
        piece->takers--;
    }
}

void shared_tend(struct shared *shared, int64_t now_ms)
{
    for (size_t i = 0; shared->bytes > 0 && i < SHARED_PIECES_MAX; i++) {
        if (now_ms - shared->piece[i].used_ms > SHARED_MS) {
            drop(shared, &shared->piece[i]);
        }
    }
}

void shared_clear(struct shared *shared)
{
    for (size_t i = 0; i < SHARED_PIECES_MAX; i++) {
        drop(shared, &shared->piece[i]);
    }
}
