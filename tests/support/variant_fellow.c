/* What hedgerow-agent-fellow has: it takes part as any agent does, and writes to a file what it learns of pieces that are sealed
 * for all agents that fetch them. So a test can attack another agent's wire with this agent's keys (test_forged.py). FELLOW_TELLS
 * names the file, and FELLOW_FORGES what takes a piece's place: `own` numbers, the piece `before` it, or the one that had its
 * place in the `last` release. Of each piece the file gets: bytes (4), the piece as it is sealed, and the forged one, sealed
 * under the same key. Linked with --wrap=line_receive. */

#include "crypto/seal.h"
#include "io/line_private.h"
#include "io/variant.h"
#include "protocol/wire.h"
#include "support/seeded_random.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLACES = 256 };

const struct variant program_variant = {.random = seeded_random_of_program, .observe = NULL};

struct kept {
    uint64_t offset;
    uint8_t *text; /* NULL: nothing is kept here */
    size_t bytes;
};

enum status __real_line_receive(struct line *line, struct slice *control, struct slice *payload,
                                bool *shared);
enum status __wrap_line_receive(struct line *line, struct slice *control, struct slice *payload,
                                bool *shared);

/* Returns what is kept of this offset, or an empty place; the table is for pieces of some MB. */
static struct kept *kept_of(uint64_t offset)
{
    static struct kept kept[PLACES];
    size_t i = 0;
    while (i < PLACES - 1 && kept[i].text != NULL && kept[i].offset != offset) {
        i++;
    }
    return &kept[i];
}

static void keep(struct kept *kept, uint64_t offset, struct slice text)
{
    free(kept->text);
    *kept = (struct kept){.offset = offset, .text = malloc(text.size), .bytes = text.size};
    if (kept->text != NULL) {
        memcpy(kept->text, text.data, text.size);
    }
}

/* Writes another text of the same size. If none of this size is kept, the text is made up. */
static void make_other(uint8_t *other, struct slice text, uint64_t offset)
{
    static struct kept before;
    const char *way = getenv("FELLOW_FORGES");
    struct kept *last = kept_of(offset);
    const struct kept *from = way != NULL && strcmp(way, "before") == 0 ? &before
                              : way != NULL && strcmp(way, "last") == 0 ? last
                                                                        : NULL;
    if (from != NULL && from->text != NULL && from->bytes == text.size) {
        memcpy(other, from->text, text.size);
    } else {
        const double number = 0.25;
        memcpy(other, text.data, text.size);
        for (size_t i = 0; i + sizeof number <= text.size; i += sizeof number) {
            memcpy(other + i, &number, sizeof number);
        }
    }
    keep(&before, offset, text);
    keep(last, offset, text);
}

static bool seal_alone(uint8_t *out, const struct digest *key, struct slice text)
{
    struct seal *seal = seal_new(key);
    const bool good =
        seal != NULL && seal_close(seal, out, (struct slice){NULL, 0}, &text, 1) == STATUS_OK;
    seal_free(seal);
    return good;
}

static void tell(const struct line *line, uint64_t offset, struct slice text)
{
    const size_t sealed = text.size + SEAL_TAG_BYTES;
    const char *path = getenv("FELLOW_TELLS");
    const int file =
        path == NULL ? -1 : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    uint8_t *other = malloc(text.size);
    uint8_t *said = malloc(4 + 2 * sealed);
    if (file >= 0 && other != NULL && said != NULL) {
        make_other(other, text, offset);
        store_u32(said, (uint32_t)sealed);
        if (!seal_alone(said + 4, &line->beyond_key, text) ||
            !seal_alone(said + 4 + sealed, &line->beyond_key, (struct slice){other, text.size}) ||
            write(file, said, 4 + 2 * sealed) != (ssize_t)(4 + 2 * sealed)) {
            abort();
        }
    }
    if (file >= 0) {
        (void)close(file);
    }
    free(other);
    free(said);
}

enum status __wrap_line_receive(struct line *line, struct slice *control, struct slice *payload,
                                bool *shared)
{
    struct message message;
    bool for_all = false;
    const enum status status = __real_line_receive(line, control, payload, &for_all);
    if (status == STATUS_OK && for_all && wire_decode(&message, *control, *payload) == STATUS_OK) {
        tell(line, message.as.piece.offset, *payload);
    }
    if (shared != NULL) {
        *shared = for_all;
    }
    return status;
}
