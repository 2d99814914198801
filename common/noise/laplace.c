/* laplace.c - vectors of discrete Laplace (and geometric) noise: random words in blocks, trials by
 * the fastest kernel, and a second, careful walk through a block in which a kernel left something
 * open.
 *
 * laplace_kernel_plain.c says what a trial is, and why the accepted ones have exactly the
 * distribution. What is exact, and why it matters: Canonne, Kamath, Steinke, NeurIPS 2020, and
 * Mironov, CCS 2012; the distribution's role in privacy: Ghosh, Roughgarden, Sundararajan, STOC 2009.
 *
 * Deviation from CKS20: none in distribution. Their sampler loops as often as the value drawn is
 * large (tests/support/reference_laplace.h); here every trial takes the same words and path. A kernel leaves a trial open
 * with a probability below 2^-42: 2^-44 for either digit, 2^-45 for the acceptance. */

#include "noise/laplace.h"

#include "base/bytes.h"
#include "base/check.h"
#include "noise/laplace_private.h"

#include <string.h>

enum status noise_laplace_init(struct noise_laplace *noise, struct noise_scale scale)
{
    return noise_geometric_init(&noise->magnitude, scale);
}

/* A digit; from the exact path when its word is left over. */
static enum status careful_digit(const struct noise_geometric *noise, const struct random *random,
                                 size_t position, uint64_t word, uint64_t *digit)
{
    *digit = noise_digit_of(&noise->digit[position], word);
    return *digit == NOISE_LEFT ? noise_exact_draw(noise, random, position, digit) : STATUS_OK;
}

enum status noise_trial_careful(const struct noise_geometric *noise, const struct random *random,
                                enum trial_kind kind, int64_t *values, size_t *accepted,
                                const uint64_t *word, size_t trials)
{
    size_t count = 0;
    for (size_t i = 0; i < trials; i++) {
        uint64_t lower = 0;
        uint64_t upper = 0;
        uint64_t low = 0;
        bool keep = true;
        enum status status = careful_digit(noise, random, 0, word[i], &lower);
        if (status == STATUS_OK) {
            status = careful_digit(noise, random, 1, word[trials + i], &upper);
        }
        if (status == STATUS_OK && noise->low_bits > 0) {
            uint64_t acceptance = word[2 * trials + i];
            low = noise_low_of(noise, word[i], word[trials + i], acceptance) >>
                  (LOW_BITS_MAX - noise->low_bits);
            status =
                noise_exact_accept(noise, random, low, acceptance >> (64 - FRACTION_BITS), &keep);
        }
        if (status != STATUS_OK) {
            return status;
        }
        uint64_t magnitude = ((upper * NOISE_BASE + lower) << noise->low_bits) + low;
        bool negative = kind == TRIAL_LAPLACE && (word[i] >> SIGN_BIT & 1) == 1;
        if (keep && !(negative && magnitude == 0)) {
            values[count++] = (int64_t)(negative ? 0 - magnitude : magnitude);
        }
    }
    *accepted = count;
    return STATUS_OK;
}

/* How many trials to make next for that many values: a sixteenth more and a few, so that one block
 * mostly suffices. Depends on counts alone. */
static size_t trials_for(size_t count)
{
    size_t wanted = count < TRIALS_MAX ? count + count / 16 + TRIAL_BLOCK : TRIALS_MAX;
    wanted = (wanted + TRIAL_BLOCK - 1) / TRIAL_BLOCK * TRIAL_BLOCK;
    return wanted < TRIALS_MAX ? wanted : TRIALS_MAX;
}

enum status noise_trial_add(const struct noise_geometric *noise, const struct random *random,
                            enum trial_kind kind, int64_t *values, size_t count)
{
    uint64_t word[TRIAL_WORDS * TRIALS_MAX];
    int64_t drawn[TRIALS_MAX];
    size_t trials_largest = 0;
    size_t done = 0;
    enum status status = STATUS_OK;

    CHECK(noise->kernel != NULL);
    while (status == STATUS_OK && done < count) {
        size_t trials = trials_for(count - done);
        size_t accepted = 0;
        trials_largest = trials > trials_largest ? trials : trials_largest;
        status = random_fill(random, word, noise_trial_words(noise) * trials * sizeof *word);
        if (status == STATUS_OK &&
            !noise->kernel->run(noise, kind, drawn, &accepted, word, trials)) {
            status = noise_trial_careful(noise, random, kind, drawn, &accepted, word, trials);
        }
        accepted = accepted < count - done ? accepted : count - done;
        for (size_t i = 0; status == STATUS_OK && i < accepted; i++) {
            values[done + i] = (int64_t)((uint64_t)values[done + i] + (uint64_t)drawn[i]);
        }
        done += accepted;
    }
    if (status != STATUS_OK) {
        memset(values, 0, count * sizeof *values); /* part of it may be without noise */
    }
    bytes_wipe(word, TRIAL_WORDS * trials_largest * sizeof *word); /* the noise would tell */
    bytes_wipe(drawn, trials_largest * sizeof *drawn);             /* the answer */
    return status;
}

enum status noise_laplace_add(const struct noise_laplace *noise, const struct random *random,
                              int64_t *values, size_t count)
{
    return noise_trial_add(&noise->magnitude, random, TRIAL_LAPLACE, values, count);
}

enum status noise_laplace_draw(const struct noise_laplace *noise, const struct random *random,
                               int64_t *values, size_t count)
{
    if (count > 0) {
        memset(values, 0, count * sizeof *values);
    }
    return noise_laplace_add(noise, random, values, count);
}
