#include "crypto/sign.h"

#include <openssl/evp.h>
#include <string.h>

static enum status pair_from(struct key_pair *out, EVP_PKEY *key)
{
    size_t public_size = KEY_BYTES;
    size_t secret_size = KEY_BYTES;
    if (key == NULL || EVP_PKEY_get_raw_public_key(key, out->public_key.byte, &public_size) != 1 ||
        EVP_PKEY_get_raw_private_key(key, out->secret_key.byte, &secret_size) != 1 ||
        public_size != KEY_BYTES || secret_size != KEY_BYTES) {
        key_pair_wipe(out);
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

enum status sign_pair_generate(struct key_pair *out)
{
    memset(out, 0, sizeof *out);
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    const enum status status = pair_from(out, key);
    EVP_PKEY_free(key);
    return status == STATUS_OK ? STATUS_OK : STATUS_NO_RANDOM;
}

enum status sign_pair_from_secret(struct key_pair *out, const struct digest *secret_key)
{
    struct digest secret = *secret_key; /* out may hold the argument */
    enum status status = STATUS_INVALID;
    memset(out, 0, sizeof *out);
    if (!digest_is_none(&secret)) {
        EVP_PKEY *key =
            EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret.byte, KEY_BYTES);
        status = pair_from(out, key);
        EVP_PKEY_free(key);
    }
    bytes_wipe(&secret, sizeof secret);
    return status;
}

enum status sign_make(struct signature *out, const struct digest *secret_key, struct slice text)
{
    size_t size = SIGNATURE_BYTES;
    memset(out, 0, sizeof *out);
    EVP_PKEY *key =
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret_key->byte, KEY_BYTES);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const bool whole = key != NULL && context != NULL &&
                       EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1 &&
                       EVP_DigestSign(context, out->byte, &size, text.data, text.size) == 1 &&
                       size == SIGNATURE_BYTES;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    if (!whole) {
        memset(out, 0, sizeof *out);
    }
    return whole ? STATUS_OK : STATUS_NO_MEMORY;
}

bool sign_is_good(const struct signature *signature, const struct digest *public_key,
                  struct slice text)
{
    EVP_PKEY *key =
        EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public_key->byte, KEY_BYTES);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const bool good =
        key != NULL && context != NULL &&
        EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
        EVP_DigestVerify(context, signature->byte, SIGNATURE_BYTES, text.data, text.size) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    return good;
}
