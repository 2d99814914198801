#include "crypto/sign.h"

#include "crypto/pair.h"

#include <openssl/evp.h>
#include <string.h>

enum status sign_pair_generate(struct key_pair *out)
{
    return pair_generate(out, "ED25519");
}

enum status sign_pair_from_secret(struct key_pair *out, const struct digest *secret_key)
{
    return pair_from_secret(out, "ED25519", secret_key);
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
