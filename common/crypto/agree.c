#include "crypto/agree.h"

#include "base/check.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <stdlib.h>
#include <string.h>

enum { INFO_BYTES_MAX = 256, BLOCK_BYTES = 16, PART_BYTES = 1 << 20 };

/* For a derivation that failed: whether the key is at fault. The queue has nothing older. */
static enum status why_none(void)
{
    return ERR_GET_REASON(ERR_peek_error()) == ERR_R_MALLOC_FAILURE ? STATUS_NO_MEMORY
                                                                    : STATUS_INVALID;
}

enum status agree_secret(struct digest *out, const struct digest *secret_key,
                         const struct digest *public_key)
{
    size_t size = DIGEST_BYTES;
    EVP_PKEY *own =
        EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, secret_key->byte, DIGEST_BYTES);
    EVP_PKEY *other =
        EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, public_key->byte, DIGEST_BYTES);
    EVP_PKEY_CTX *context = own != NULL ? EVP_PKEY_CTX_new(own, NULL) : NULL;
    struct digest shared = {{0}};
    enum status status =
        STATUS_NO_MEMORY; /* 32 bytes are always a key: nothing else can fail here */
    memset(out, 0, sizeof *out);
    if (context != NULL && other != NULL && EVP_PKEY_derive_init(context) == 1 &&
        EVP_PKEY_derive_set_peer(context, other) == 1) {
        ERR_clear_error();
        const bool derived = EVP_PKEY_derive(context, shared.byte, &size) == 1;
        status = !derived ? why_none() : digest_is_none(&shared) ? STATUS_INVALID : STATUS_OK;
    }
    if (status == STATUS_OK) {
        *out = shared;
    }
    bytes_wipe(&shared, sizeof shared);
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(own);
    EVP_PKEY_free(other);
    return status;
}

enum status agree_derive(struct digest *out, const struct digest *secret, const struct slice *info,
                         size_t count)
{
    uint8_t text[INFO_BYTES_MAX];
    size_t used = 0;
    char sha256[] = "SHA256";
    struct digest key = *secret;
    for (size_t i = 0; i < count; i++) {
        CHECK(info[i].size <= sizeof text - used);
        memcpy(text + used, info[i].data, info[i].size);
        used += info[i].size;
    }
    const OSSL_PARAM param[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, sha256, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, key.byte, sizeof key.byte),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, text, used),
        OSSL_PARAM_construct_end()};
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
    EVP_KDF_CTX *context = kdf != NULL ? EVP_KDF_CTX_new(kdf) : NULL;
    memset(out, 0, sizeof *out);
    const bool whole =
        context != NULL && EVP_KDF_derive(context, out->byte, sizeof out->byte, param) == 1;
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    bytes_wipe(&key, sizeof key);
    if (!whole) {
        bytes_wipe(out, sizeof *out);
    }
    return whole ? STATUS_OK : STATUS_NO_MEMORY;
}

struct agree_stream {
    EVP_CIPHER_CTX *cipher;
};

struct agree_stream *agree_stream_new(const struct digest *key)
{
    static const uint8_t zero[BLOCK_BYTES] = {
        0}; /* a key serves one stream, so one counter is enough */
    struct agree_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) {
        return NULL;
    }
    stream->cipher = EVP_CIPHER_CTX_new();
    if (stream->cipher == NULL ||
        EVP_EncryptInit_ex(stream->cipher, EVP_aes_256_ctr(), NULL, key->byte, zero) != 1) {
        agree_stream_free(stream);
        return NULL;
    }
    return stream;
}

void agree_stream_free(struct agree_stream *stream)
{
    if (stream != NULL) {
        EVP_CIPHER_CTX_free(stream->cipher); /* which wipes the key */
        free(stream);
    }
}

enum status agree_stream_xor(struct agree_stream *stream, void *out, const void *in, size_t bytes)
{
    int written = 0;
    CHECK(bytes <= PART_BYTES);
    const bool whole = EVP_EncryptUpdate(stream->cipher, out, &written, in, (int)bytes) == 1 &&
                       (size_t)written == bytes;
    return whole ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status agree_stream_next(struct agree_stream *stream, void *out, size_t bytes)
{
    CHECK(bytes % BLOCK_BYTES == 0 && bytes <= PART_BYTES);
    memset(out, 0, bytes);
    return agree_stream_xor(stream, out, out, bytes);
}
