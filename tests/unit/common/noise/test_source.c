/* Samplers and their source: it fails at any word, also at one for the exact path, and nothing of
 * the answer is left. The process forks in the middle of a vector, and then parent and child draw
 * different values. */

#include "crypto/random.h"
#include "noise/gaussian.h"
#include "noise/laplace_private.h"
#include "noise/share.h"
#include "tests/support/noise_draw.h"
#include "tests/support/quiet_fork.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { VALUES = 4000 };
enum sampler { LAPLACE, GEOMETRIC, GAUSSIAN, SHARE, SAMPLERS };

struct samplers {
    struct noise_laplace laplace;
    struct noise_gaussian gaussian;
    struct noise_share share;
};

static void samplers_init(struct samplers *samplers, struct noise_scale scale)
{
    cr_assert_eq(noise_laplace_init(&samplers->laplace, scale), STATUS_OK);
    cr_assert_eq(noise_gaussian_init(&samplers->gaussian, scale), STATUS_OK);
    cr_assert_eq(noise_share_init(&samplers->share, scale, 3), STATUS_OK);
}

static void samplers_free(struct samplers *samplers)
{
    noise_gaussian_free(&samplers->gaussian);
    noise_share_free(&samplers->share);
}

/* Sends trials that integers would decide to the exact path: tiny masses, and margins of nearly the
 * whole range. */
static void samplers_make_coarse(struct samplers *samplers)
{
    for (size_t position = 0; position < NOISE_DIGITS; position++) {
        struct noise_digit *digit = &samplers->laplace.magnitude.digit[position];
        for (size_t d = 0; d < NOISE_BASE; d++) {
            digit->left += digit->mass[d];
            digit->mass[d] /= 1000;
            digit->left -= digit->mass[d];
        }
        noise_digit_cells(digit);
    }
    for (size_t b = 0; b < samplers->gaussian.table.bins; b++) {
        samplers->gaussian.table.bin[b].margin = UINT64_C(1) << 62;
    }
    for (size_t b = 0; b < samplers->share.table.bins; b++) {
        samplers->share.table.bin[b].margin = UINT64_C(1) << 62;
    }
}

/* values (count): noise. */
static enum status draw(const struct samplers *samplers, enum sampler sampler,
                        const struct random *random, int64_t *values, size_t count)
{
    switch (sampler) {
    case LAPLACE:
        return noise_laplace_add(&samplers->laplace, random, values, count);
    case GEOMETRIC:
        return noise_geometric_draw(&samplers->laplace.magnitude, random, values, count);
    case GAUSSIAN:
        return noise_gaussian_add(&samplers->gaussian, random, values, count);
    case SHARE:
    case SAMPLERS:
    default:
        return noise_share_add(&samplers->share, random, values, count);
    }
}

/* A source that gives a seed's words, and fails at some word; what it hands out then is garbage. */
struct failing {
    struct seeded_random seeded;
    uint64_t words; /* handed out so far */
    uint64_t last;  /* handed out before it fails */
};

static enum status failing_fill(void *self, void *out, size_t bytes)
{
    struct failing *failing = self;
    for (size_t i = 0; i < bytes / 8; i++, failing->words++) {
        uint64_t word = seeded_random_word(&failing->seeded);
        memcpy((uint8_t *)out + 8 * i, &word, 8);
    }
    return failing->words > failing->last ? STATUS_NO_RANDOM : STATUS_OK;
}

/* Fails at every word that a vector of this length takes, one after the other. */
static void fail_everywhere(const struct samplers *samplers, enum sampler sampler, size_t count)
{
    int64_t values[40];
    uint64_t needed = 1;
    for (uint64_t last = 0; last < needed; last++) {
        struct failing failing = {.last = last};
        struct random random = {.fill = failing_fill, .self = &failing};
        if (last == 0) { /* once without a failure */
            failing.last = UINT64_MAX;
            memset(values, 0x33, sizeof values);
            seeded_random_init(&failing.seeded, 9);
            cr_assert_eq(draw(samplers, sampler, &random, values, count), STATUS_OK);
            needed = failing.words;
            failing = (struct failing){.last = 0};
        }
        seeded_random_init(&failing.seeded, 9);
        memset(values, 0x33, sizeof values);
        cr_assert_eq(draw(samplers, sampler, &random, values, count), STATUS_NO_RANDOM);
        for (size_t i = 0; i < 40; i++) {
            int64_t left = i < count ? 0 : 0x3333333333333333;
            cr_assert_eq(values[i], left, "sampler %d, word %lu, value %zu", (int)sampler,
                         (unsigned long)last, i);
        }
    }
    cr_assert_geq(needed, count);
}

Test(source, that_fails_at_any_word_leaves_nothing_of_the_answer)
{
    static const struct noise_scale few[] = {{3, 1}, {3000, 1}};
    for (size_t i = 0; i < 4; i++) {
        struct samplers samplers;
        samplers_init(&samplers, few[i % 2]);
        if (i >= 2) {
            samplers_make_coarse(&samplers);
        }
        for (int sampler = 0; sampler < SAMPLERS; sampler++) {
            fail_everywhere(&samplers, (enum sampler)sampler, i < 2 ? 40 : 5);
        }
        samplers_free(&samplers);
    }
}

/* Passes a real source on, and forks when it is asked for the second time. */
struct forking {
    struct random real;
    size_t calls;
    size_t fork_at;
    pid_t child; /* 0 in the child */
};

static enum status forking_fill(void *self, void *out, size_t bytes)
{
    struct forking *forking = self;
    if (forking->calls++ == forking->fork_at) {
        forking->child = quiet_fork();
        cr_assert_geq(forking->child, 0);
    }
    return random_fill(&forking->real, out, bytes);
}

/* What of two vectors is the same at the same place, first and last place included. */
struct common {
    size_t count;
    size_t first;
    size_t last;
};

static struct common common_of(const int64_t *a, const int64_t *b, size_t count)
{
    struct common common = {.first = SIZE_MAX};
    for (size_t i = 0; i < count; i++) {
        if (a[i] == b[i]) {
            common.first = common.first == SIZE_MAX ? i : common.first;
            common.last = i;
            common.count++;
        }
    }
    return common;
}

/* Draws a vector (count) from the source, which the process forks upon; what is the same in parent
 * and child. */
static struct common fork_and_draw(const struct samplers *samplers, enum sampler sampler,
                                   struct random real, size_t count)
{
    static int64_t mine[VALUES];
    static int64_t theirs[VALUES];
    struct forking forking = {.real = real, .fork_at = 2};
    struct random random = {.fill = forking_fill, .self = &forking};
    const size_t bytes = count * sizeof *mine;
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    memset(mine, 0, sizeof mine);
    enum status status = draw(samplers, sampler, &random, mine, count);
    if (forking.child == 0) {
        ssize_t part = status == STATUS_OK ? 1 : 0;
        for (size_t written = 0; part > 0 && written < bytes; written += (size_t)part) {
            part = write(ends[1], (const char *)mine + written, bytes - written);
        }
        _exit(0);
    }
    cr_assert_eq(status, STATUS_OK);
    (void)close(ends[1]);
    ssize_t part = 1;
    for (size_t got = 0; got < bytes; got += (size_t)part) {
        part = read(ends[0], (char *)theirs + got, bytes - got);
        cr_assert_gt(part, 0);
    }
    (void)close(ends[0]);
    cr_assert_eq(waitpid(forking.child, NULL, 0), forking.child);
    return common_of(mine, theirs, count);
}

/* 4,000 values of scale 2^40: two independent ones are equal with a probability of at most 1.16 * 2^-40 (shares
 * of three), any of them with one below 5e-9 a sampler. */
Test(source, a_fork_in_the_middle_of_a_vector_parts_what_is_drawn)
{
    struct samplers samplers;
    struct seeded_random seeded;
    samplers_init(&samplers, (struct noise_scale){UINT64_C(1) << 40, 1});
    for (int sampler = LAPLACE; sampler < SAMPLERS; sampler++) {
        struct random_source *source = random_source_new();
        cr_assert_not_null(source);
        struct common common = fork_and_draw(&samplers, (enum sampler)sampler,
                                             random_source_interface(source), VALUES);
        cr_expect(common.count >= 200 && common.first == 0, "what came before the fork");
        cr_expect_eq(common.last + 1, common.count, "sampler %d: a draw is shared behind it",
                     sampler);
        cr_expect_lt(common.count, VALUES / 2 + 200);
        random_source_free(source);

        seeded_random_init(&seeded, 1); /* the twin: a source that does not notice */
        common = fork_and_draw(&samplers, (enum sampler)sampler, seeded_random_interface(&seeded),
                               VALUES);
        cr_expect_eq(common.count, VALUES);
    }
    samplers_free(&samplers);
}
