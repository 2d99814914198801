/* blend.h - adds a key stream to a vector of words: the arithmetic of masks.c, fast and plain. */

#ifndef MASKS_BLEND_H
#define MASKS_BLEND_H

#include "masks/masks.h"

#include <stdbool.h>

/**
 * Adds the stream's little-endian words to words, or subtracts them.
 *
 * words   in/out  (count) reduced modulo 2^width, as they come out
 * stream  in      (count * width / 8) bytes
 *
 * Ensures: the same instructions and addresses whatever words and stream are.
 */
void masks_blend(uint64_t *words, const uint8_t *stream, size_t count, enum masks_width width,
                 bool subtract);

/** The same, word by word: the reference that masks_blend is tested against. */
void masks_blend_plainly(uint64_t *words, const uint8_t *stream, size_t count,
                         enum masks_width width, bool subtract);

/** Both for words that have 32 bits where they are, too. */
void masks_blend_narrow(uint32_t *words, const uint8_t *stream, size_t count, bool subtract);
void masks_blend_narrow_plainly(uint32_t *words, const uint8_t *stream, size_t count,
                                bool subtract);

#endif
