/* permutation.h - a public order of the records: batches are taken by index, never by content. */

#ifndef LEARN_PERMUTATION_H
#define LEARN_PERMUTATION_H

#include "base/bytes.h"

#include <stddef.h>

/**
 * Fills order with a permutation of 0 .. count-1 that depends on the seed and count alone. The same
 * on every machine. The seed tells the permutation. Privacy does not depend on it, as each record
 * is in one batch in every order.
 *
 * Cost O(count). Source: Fisher and Yates by Durstenfeld 1964; xoshiro256** (Blackman and Vigna
 * 2021) with Lemire's unbiased bounded numbers (2019), rejection included.
 */
void permutation_draw(size_t *order, size_t count, const struct digest *seed);

#endif
