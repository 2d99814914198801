/* Simulated records as draws of cells, by Vose's alias method (1991): a word and a look at two rows a record. */

#include "lab/study/study_intervals.h"

#include "base/check.h"

#include <stdlib.h>

void intervals_source_init(struct intervals_source *out, size_t room)
{
    *out = (struct intervals_source){.atom = calloc(room, sizeof *out->atom), .room = room};
}

void intervals_source_free(struct intervals_source *source)
{
    free(source->atom);
    source->atom = NULL;
}

void intervals_source_put(struct intervals_source *source, double chance, size_t cell, double above)
{
    if (chance > 0 && source->atom != NULL) {
        CHECK(source->count < source->room);
        source->atom[source->count++] =
            (struct intervals_atom){.chance = chance, .cell = (uint32_t)cell, .above = above};
    }
}

enum status intervals_source_ready(struct intervals_source *source)
{
    const size_t n = source->count;
    uint32_t *waiting =
        calloc(n + 1, sizeof *waiting); /* small ones from the front, large ones from the back */
    size_t small = 0;
    size_t large = n;
    double sum = 0;
    if (waiting == NULL || source->atom == NULL) {
        free(waiting);
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < n; i++) {
        sum += source->atom[i].chance;
    }
    for (size_t i = 0; i < n; i++) {
        struct intervals_atom *atom = &source->atom[i];
        atom->chance /= sum;
        atom->keep = atom->chance * (double)n;
        atom->other = (uint32_t)i;
        waiting[atom->keep < 1 ? small++ : --large] = (uint32_t)i;
    }
    while (small > 0 && large < n) {
        const uint32_t from = waiting[large];
        struct intervals_atom *giver = &source->atom[from];
        struct intervals_atom *taker = &source->atom[waiting[--small]];
        taker->other = from;
        giver->keep -= 1 - taker->keep;
        if (giver->keep < 1) {
            large++;
            waiting[small++] = from;
        }
    }
    free(waiting);
    return STATUS_OK;
}

void intervals_source_draw(double *cell, const struct intervals_source *source, uint64_t records,
                           struct seeded_random *seeded)
{
    for (uint64_t i = 0; i < records; i++) {
        const uint64_t word = seeded_random_word(seeded);
        const struct intervals_atom *atom = &source->atom[(word >> 32) * source->count >> 32];
        if ((double)(word & UINT32_MAX) * 0x1p-32 >= atom->keep) {
            atom = &source->atom[atom->other];
        }
        cell[atom->cell] += 1 - atom->above;
        if (atom->above > 0) {
            cell[atom->cell + 1] += atom->above;
        }
    }
}

void intervals_source_expect(double *cell, const struct intervals_source *source, double records)
{
    for (size_t i = 0; i < source->count; i++) {
        const struct intervals_atom *atom = &source->atom[i];
        cell[atom->cell] += records * atom->chance * (1 - atom->above);
        if (atom->above > 0) {
            cell[atom->cell + 1] += records * atom->chance * atom->above;
        }
    }
}
