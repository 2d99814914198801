/* random.c - AES-256-CTR with fast key erasure (Bernstein, "Fast-key-erasure random-number
 * generators", 2017): every block of the stream begins with the key of the next one, so that a key
 * lives for one block. The state sits in pages of its own, which the system wipes in a child after
 * fork() and leaves out of core dumps. Deviation: every RENEW_BYTES the next key comes from the
 * system again. */

#include "crypto/random.h"

#include "base/bytes.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    KEY_BYTES = 32,
    CIPHER_BYTES = 16,
    POOL_BYTES = 4096 - 64,
    DIRECT_BYTES = 1024,        /* a request from here on bypasses the pool */
    DIRECT_BYTES_MAX = 1 << 16, /* of one key */
    RENEW_BYTES = 1 << 20
};

/* All of it secret. A child finds it zeroed, and so not ready. */
struct secret {
    uint64_t ready; /* 1 while key and pool may be used */
    uint64_t drawn; /* bytes since the key came from the system */
    size_t pool_left;
    pid_t owner;
    uint8_t key[KEY_BYTES];   /* of the next block */
    uint8_t pool[POOL_BYTES]; /* the last pool_left bytes are unused; the others wiped */
};

struct random_source {
    struct secret *secret;
    EVP_CIPHER_CTX *cipher;
};

static void source_disarm(struct random_source *source)
{
    bytes_wipe(source->secret, sizeof *source->secret);
}

/* Fills out with one block of the stream and replaces the key. size <= DIRECT_BYTES_MAX is a
 * multiple of CIPHER_BYTES, so that the cipher keeps nothing of what it put out. */
static bool source_block(struct random_source *source, uint8_t *out, size_t size)
{
    static const uint8_t zero[KEY_BYTES] = {0}; /* a key is used for one counter, from 0, once */
    struct secret *secret = source->secret;
    int written = 0;

    if (secret->drawn >= RENEW_BYTES) {
        if (RAND_priv_bytes(secret->key, KEY_BYTES) != 1) {
            return false;
        }
        secret->drawn = 0;
    }
    memset(out, 0, size);
    bool whole =
        EVP_EncryptInit_ex(source->cipher, NULL, NULL, secret->key, zero) == 1 &&
        EVP_EncryptUpdate(source->cipher, secret->key, &written, zero, KEY_BYTES) == 1 &&
        written == KEY_BYTES &&
        EVP_EncryptUpdate(source->cipher, out, &written, out, (int)size) == 1 &&
        (size_t)written == size &&
        /* The cipher would keep the key until the next block: overwritten by another one. */
        EVP_EncryptInit_ex(source->cipher, NULL, NULL, zero, zero) == 1;
    secret->drawn += size;
    return whole;
}

/* Makes sure that the state is this process's own. */
static bool source_ready(struct random_source *source)
{
    struct secret *secret = source->secret;
    pid_t self = getpid(); /* a second lock on the door, where the system cannot wipe on fork */
    if (secret->ready == 1 && secret->owner == self) {
        return true;
    }
    source_disarm(source);
    secret->ready = RAND_priv_bytes(secret->key, KEY_BYTES) == 1 ? 1 : 0;
    secret->owner = self;
    return secret->ready == 1;
}

static bool source_fill(struct random_source *source, uint8_t *out, size_t size)
{
    struct secret *secret = source->secret;
    if (!source_ready(source)) {
        return false;
    }
    while (size >= DIRECT_BYTES) {
        size_t part = size < DIRECT_BYTES_MAX ? size - size % CIPHER_BYTES : DIRECT_BYTES_MAX;
        if (!source_block(source, out, part)) {
            return false;
        }
        out += part;
        size -= part;
    }
    while (size > 0) {
        if (secret->pool_left == 0) {
            if (!source_block(source, secret->pool, POOL_BYTES)) {
                return false;
            }
            secret->pool_left = POOL_BYTES;
        }
        size_t part = size < secret->pool_left ? size : secret->pool_left;
        uint8_t *unused = secret->pool + (POOL_BYTES - secret->pool_left);
        memcpy(out, unused, part);
        bytes_wipe(unused, part);
        secret->pool_left -= part;
        out += part;
        size -= part;
    }
    return true;
}

static enum status source_fill_or_zero(void *self, void *out, size_t bytes)
{
    struct random_source *source = self;
    if (source_fill(source, out, bytes)) {
        return STATUS_OK;
    }
    source_disarm(source);
    bytes_wipe(out, bytes);
    return STATUS_NO_RANDOM;
}

struct random_source *random_source_new(void)
{
    struct random_source *source = calloc(1, sizeof *source);
    if (source == NULL) {
        return NULL;
    }
    void *pages = mmap(NULL, sizeof *source->secret, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    source->cipher = EVP_CIPHER_CTX_new();
    if (pages != MAP_FAILED) {
        source->secret = pages;
        /* Both may be refused by an old kernel: the owner's number then still tells a child. */
        (void)madvise(pages, sizeof *source->secret, MADV_WIPEONFORK);
        (void)madvise(pages, sizeof *source->secret, MADV_DONTDUMP);
    }
    if (source->cipher == NULL || source->secret == NULL ||
        EVP_EncryptInit_ex(source->cipher, EVP_aes_256_ctr(), NULL, NULL, NULL) != 1 ||
        !source_ready(source)) {
        random_source_free(source);
        return NULL;
    }
    return source;
}

void random_source_free(struct random_source *source)
{
    if (source == NULL) {
        return;
    }
    if (source->secret != NULL) {
        source_disarm(source);
        (void)munmap(source->secret, sizeof *source->secret);
    }
    EVP_CIPHER_CTX_free(source->cipher);
    free(source);
}

struct random random_source_interface(struct random_source *source)
{
    return (struct random){.fill = source_fill_or_zero, .self = source};
}

enum status random_once(void *out, size_t bytes)
{
    struct random_source *source = random_source_new();
    enum status status = STATUS_NO_RANDOM;
    memset(out, 0, bytes);
    if (source != NULL) {
        status = source_fill_or_zero(source, out, bytes);
    }
    random_source_free(source);
    return status;
}
