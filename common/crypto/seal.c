#include "crypto/seal.h"

#include "base/check.h"

#include <limits.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdlib.h>

enum { NONCE_BYTES = 12 };

struct seal {
    EVP_CIPHER_CTX *cipher;
    uint64_t number; /* of the next message */
    bool over;
};

struct seal *seal_new(const struct digest *key)
{
    struct seal *seal = calloc(1, sizeof *seal);
    if (seal == NULL) {
        return NULL;
    }
    seal->cipher = EVP_CIPHER_CTX_new();
    /* The key alone: each message has its own nonce, and says whether it is closed or opened. */
    if (seal->cipher == NULL ||
        EVP_CipherInit_ex(seal->cipher, EVP_aes_256_gcm(), NULL, key->byte, NULL, 1) != 1) {
        seal_free(seal);
        return NULL;
    }
    return seal;
}

void seal_free(struct seal *seal)
{
    if (seal != NULL) {
        EVP_CIPHER_CTX_free(seal->cipher); /* which wipes the key */
        free(seal);
    }
}

/* Begins the next message. Its number is spent, whatever comes of it. */
static bool begin(struct seal *seal, struct slice beside, int closes)
{
    uint8_t nonce[NONCE_BYTES] = {0};
    int written = 0;

    if (seal->over || seal->number == UINT64_MAX) {
        return false;
    }
    store_u64(nonce + 4, seal->number++);
    CHECK(beside.size <= INT_MAX);
    return EVP_CipherInit_ex(seal->cipher, NULL, NULL, NULL, nonce, closes) == 1 &&
           (beside.size == 0 ||
            EVP_CipherUpdate(seal->cipher, NULL, &written, beside.data, (int)beside.size) == 1);
}

enum status seal_close(struct seal *seal, uint8_t *out, struct slice beside,
                       const struct slice *part, size_t count)
{
    uint8_t rest[EVP_MAX_BLOCK_LENGTH];
    int written = 0;
    bool good = begin(seal, beside, 1);

    for (size_t i = 0; good && i < count; i++) {
        CHECK(part[i].size <= INT_MAX);
        if (part[i].size > 0) {
            good = EVP_CipherUpdate(seal->cipher, out, &written, part[i].data, (int)part[i].size) ==
                       1 &&
                   (size_t)written == part[i].size;
            out += part[i].size;
        }
    }
    good = good && EVP_CipherFinal_ex(seal->cipher, rest, &written) == 1 &&
           EVP_CIPHER_CTX_ctrl(seal->cipher, EVP_CTRL_GCM_GET_TAG, SEAL_TAG_BYTES, out) == 1;
    seal->over = !good;
    return good ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status seal_open(struct seal *seal, uint8_t *text, size_t bytes, struct slice beside)
{
    uint8_t rest[EVP_MAX_BLOCK_LENGTH];
    int written = 0;
    bool good = begin(seal, beside, 0);

    CHECK(bytes <= INT_MAX);
    good = good &&
           EVP_CIPHER_CTX_ctrl(seal->cipher, EVP_CTRL_GCM_SET_TAG, SEAL_TAG_BYTES, text + bytes) ==
               1 &&
           (bytes == 0 || EVP_CipherUpdate(seal->cipher, text, &written, text, (int)bytes) == 1) &&
           EVP_CipherFinal_ex(seal->cipher, rest, &written) == 1;
    if (!good) {
        bytes_wipe(text, bytes);
        seal->over = true;
    }
    return good ? STATUS_OK : STATUS_INVALID;
}
