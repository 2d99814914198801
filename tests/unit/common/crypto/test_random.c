#define _GNU_SOURCE /* memmem */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "crypto/random.h"
#include "noise/laplace.h"
#include "tests/support/quiet_fork.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <openssl/aes.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void fill(const struct random *random, void *out, size_t size)
{
    cr_assert_eq(random_fill(random, out, size), STATUS_OK);
}

/* Two runs of 64 bytes agree by chance with probability 2^-512. */
Test(random, never_says_the_same_twice_whatever_the_sizes)
{
    enum { SIZES = 9, TOTAL = 300000 };
    static const size_t size[SIZES] = {1, 7, 64, 1000, 1023, 1024, 4032, 70000, 131072};
    static uint8_t bytes[TOTAL];
    struct random_source *source = random_source_new();
    cr_assert_not_null(source);
    struct random random = random_source_interface(source);
    size_t used = 0;
    for (size_t i = 0; i < SIZES; i++) {
        fill(&random, bytes + used, size[i]);
        used += size[i];
    }
    size_t ones = 0;
    for (size_t i = 0; i < used; i++) {
        ones += (size_t)__builtin_popcount(bytes[i]);
    }
    /* 1,667,000 fair bits: a deviation beyond 6.5 sigma has probability 8e-11. */
    double sigma = 6.5 * 0.5 * 1292;
    cr_assert_float_eq((double)ones, 4.0 * (double)used, sigma);
    for (size_t i = 0; i + 16 <= used; i += 997) {
        cr_assert_null(memmem(bytes + i + 1, used - i - 1, bytes + i, 16));
    }
    random_source_free(source);
    random_source_free(NULL);
}

Test(random, once_is_a_new_draw_each_time)
{
    uint8_t first[64];
    uint8_t second[64];
    cr_assert_eq(random_once(first, sizeof first), STATUS_OK);
    cr_assert_eq(random_once(second, sizeof second), STATUS_OK);
    cr_assert_neq(memcmp(first, second, sizeof first), 0, "by chance with probability 2^-512");
}

Test(random, small_pieces_run_through_pools_and_renewals)
{
    struct random_source *source = random_source_new();
    struct random random = random_source_interface(source);
    uint64_t last[4] = {0};
    uint64_t ones[4] = {0};
    for (int i = 0; i < 200000; i++) { /* 6.4 MB: six renewals */
        uint64_t word[4];
        fill(&random, word, sizeof word);
        cr_assert(memcmp(word, last, sizeof word) != 0);
        memcpy(last, word, sizeof word);
        for (int j = 0; j < 4; j++) {
            ones[j] += (uint64_t)__builtin_popcountll(word[j]);
        }
    }
    for (int j = 0; j < 4; j++) { /* 12,800,000 fair bits each, 6.5 sigma: a false alarm in 3e9 */
        cr_assert_float_eq((double)ones[j], 6400000, 6.5 * 0.5 * 3578);
    }
    random_source_free(source);
}

/* What a child of this process draws after fork(), as bytes and as noise. */
struct drawn {
    uint8_t bytes[64];
    int64_t noise[32];
};

static void draw(const struct random *random, struct drawn *drawn)
{
    struct noise_laplace noise;
    struct noise_scale scale = {.numerator = 1000, .denominator = 1};
    fill(random, drawn->bytes, sizeof drawn->bytes);
    cr_assert_eq(noise_laplace_init(&noise, scale), STATUS_OK);
    cr_assert_eq(noise_laplace_draw(&noise, random, drawn->noise, 32), STATUS_OK);
}

static struct drawn draw_in_child(const struct random *random)
{
    struct drawn drawn;
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    pid_t child = quiet_fork();
    if (child == 0) {
        draw(random, &drawn);
        ssize_t written = write(ends[1], &drawn, sizeof drawn);
        _exit(written == (ssize_t)sizeof drawn ? 0 : 1);
    }
    int outcome = 1;
    cr_assert_eq(read(ends[0], &drawn, sizeof drawn), (ssize_t)sizeof drawn);
    cr_assert_eq(waitpid(child, &outcome, 0), child);
    cr_assert_eq(outcome, 0);
    (void)close(ends[0]);
    (void)close(ends[1]);
    return drawn;
}

static bool differ(const struct drawn *a, const struct drawn *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) != 0 &&
           memcmp(a->noise, b->noise, sizeof a->noise) != 0;
}

Test(random, parent_and_children_draw_different_noise)
{
    struct random_source *source = random_source_new();
    struct random random = random_source_interface(source);
    struct drawn first;
    struct drawn parent;
    uint8_t byte;
    fill(&random, &byte, 1); /* the pool is filled and not used up */
    struct drawn child = draw_in_child(&random);
    struct drawn sibling = draw_in_child(&random);
    draw(&random, &parent);
    cr_assert(differ(&child, &parent));
    cr_assert(differ(&child, &sibling));
    cr_assert(differ(&sibling, &parent));
    draw(&random, &first);
    cr_assert_not(differ(&first, &first), "the comparison can fail");
    random_source_free(source);
}

static int system_bytes_left; /* calls that still succeed */

static int limited_bytes(unsigned char *out, int size)
{
    if (system_bytes_left <= 0) {
        return 0;
    }
    system_bytes_left--;
    memset(out, system_bytes_left, (size_t)size);
    return 1;
}

Test(random, without_the_system_there_is_no_randomness_and_later_there_is)
{
    static const RAND_METHOD limited = {.bytes = limited_bytes, .pseudorand = limited_bytes};
    static uint8_t big[(1 << 20) + 5000];
    uint8_t byte[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const uint8_t zero[8] = {0};
    cr_assert_eq(RAND_set_rand_method(&limited), 1);
    system_bytes_left = 0;
    cr_assert_null(random_source_new());
    system_bytes_left = 1;
    struct random_source *source = random_source_new();
    cr_assert_not_null(source);
    struct random random = random_source_interface(source);
    cr_assert_eq(random_fill(&random, byte, 8), STATUS_OK);
    memset(big, 1, sizeof big);
    enum status status = random_fill(&random, big, sizeof big); /* asks for a new key on its way */
    cr_assert_eq(status == STATUS_OK ? random_fill(&random, big, sizeof big) : status,
                 STATUS_NO_RANDOM);
    for (size_t i = 0; i < sizeof big; i++) {
        cr_assert_eq(big[i], 0, "nothing of a failed fill is left");
    }
    cr_assert_eq(random_fill(&random, byte, 8), STATUS_NO_RANDOM, "it stays closed");
    cr_assert_arr_eq(byte, zero, sizeof zero);
    system_bytes_left = 1;
    cr_assert_eq(random_fill(&random, byte, 8), STATUS_OK, "until the system is back");
    random_source_free(source);
}

/* What is looked for in 32 bytes of memory. */
struct wanted {
    bool (*is_it)(const struct wanted *wanted, const uint8_t *bytes);
    const uint8_t *block;
    uint8_t counter;
};

/* Whether it lies in the heap, or wherever this process has written, at a multiple of 4: a
 * source's key and pool lie at no multiple of 8. */
static bool memory_holds(const struct wanted *wanted)
{
    enum { MAPPING_MAX = 8 << 20 };
    static uint8_t copy[MAPPING_MAX]; /* its own mapping is too large to be looked at */
    FILE *maps = fopen("/proc/self/maps", "r");
    int memory = open("/proc/self/mem", O_RDONLY);
    char line[512];
    bool found = false;
    cr_assert(maps != NULL && memory >= 0);
    while (!found && fgets(line, sizeof line, maps) != NULL) {
        unsigned long from = 0;
        unsigned long to = 0;
        char right[8] = "";
        cr_assert_eq(sscanf(line, "%lx-%lx %7s", &from, &to, right), 3);
        if (right[1] != 'w' || to - from > MAPPING_MAX) {
            continue;
        }
        ssize_t size = pread(memory, copy, to - from, (off_t)from);
        for (ssize_t i = 0; i + 32 <= size && !found; i += 4) {
            found = memcmp(copy + i, copy + i + 8, 8) != 0 && wanted->is_it(wanted, copy + i);
        }
    }
    OPENSSL_cleanse(copy, MAPPING_MAX);
    (void)close(memory);
    (void)fclose(maps);
    return found;
}

/* Whether the bytes, as an AES-256 key, turn the counter into the block. */
static bool is_key(const struct wanted *wanted, const uint8_t *bytes)
{
    uint8_t in[16] = {[15] = wanted->counter};
    uint8_t out[16];
    AES_KEY key;
    cr_assert_eq(AES_set_encrypt_key(bytes, 256, &key), 0);
    AES_encrypt(in, out, &key);
    return memcmp(out, wanted->block, sizeof out) == 0;
}

static bool memory_holds_key(uint8_t counter, const uint8_t *block)
{
    struct wanted key = {.is_it = is_key, .block = block, .counter = counter};
    return memory_holds(&key);
}

/* Whether the first of the bytes are the block's. The test keeps the block with every bit inverted,
 * as it would otherwise find its own copy. */
static bool is_opposite(const struct wanted *wanted, const uint8_t *bytes)
{
    bool all = true;
    for (size_t i = 0; i < 16 && all; i++) {
        all = (bytes[i] ^ wanted->block[i]) == 0xff;
    }
    return all;
}

Test(random, what_was_handed_out_is_nowhere_else)
{
    static const size_t size[] = {16, 1000, 1024, 100000};
    static uint8_t out[100000];
    const struct wanted wanted = {.is_it = is_opposite, .block = out};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        struct random_source *source = random_source_new();
        cr_assert_not_null(source);
        struct random random = random_source_interface(source);
        fill(&random, out, 16); /* what comes next is not where a pool begins */
        fill(&random, out, size[i]);
        uint8_t *kept = calloc(1, 64); /* a copy must be found */
        cr_assert_not_null(kept);
        memcpy(kept, out, 16);
        for (size_t j = 0; j < size[i]; j++) {
            out[j] = (uint8_t)~out[j];
        }
        cr_expect(memory_holds(&wanted));
        OPENSSL_cleanse(kept, 64);
        cr_expect_not(memory_holds(&wanted), "after %zu bytes", size[i]);
        free(kept);
        random_source_free(source);
    }
}

/* The cipher of a block begins at counter 0 with the next key (32 bytes); what is handed out begins
 * at counter 2. */
Test(random, a_later_look_into_memory_does_not_find_the_key_of_what_was_handed_out)
{
    static const uint8_t zero[48] = {0};
    uint8_t block[48];
    uint8_t key[32];
    int written = 0;
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    cr_assert_eq(RAND_bytes(key, sizeof key), 1);
    cr_assert_eq(EVP_EncryptInit_ex(cipher, EVP_aes_256_ctr(), NULL, key, zero), 1);
    OPENSSL_cleanse(key, sizeof key);
    cr_assert_eq(EVP_EncryptUpdate(cipher, block, &written, zero, sizeof block), 1);
    bool can_find = memory_holds_key(2, block + 32);
    EVP_CIPHER_CTX_free(cipher);
    if (!can_find) {
        cr_skip_test("this AES keeps its keys in another form");
    }
    static const size_t size[] = {8, 1024, 1031, 100000};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        static uint8_t out[100000];
        struct random_source *source = random_source_new();
        cr_assert_not_null(source);
        struct random random = random_source_interface(source);
        fill(&random, out, size[i]);
        uint8_t more[8];
        if (size[i] == 8) { /* the rest of the first block of a pool */
            memcpy(block, out, 8);
            fill(&random, more, 8);
            memcpy(block + 8, more, 8);
        } else {
            memcpy(block, out, 16);
        }
        cr_expect_not(memory_holds_key(2, block), "after %zu bytes", size[i]);
        random_source_free(source);
    }
}
