#include "crypto/pair.h"

#include <openssl/evp.h>
#include <string.h>

static enum status take(struct key_pair *out, EVP_PKEY *key)
{
    size_t public_size = KEY_BYTES;
    size_t secret_size = KEY_BYTES;
    const bool whole = key != NULL &&
                       EVP_PKEY_get_raw_public_key(key, out->public_key.byte, &public_size) == 1 &&
                       EVP_PKEY_get_raw_private_key(key, out->secret_key.byte, &secret_size) == 1 &&
                       public_size == KEY_BYTES && secret_size == KEY_BYTES;
    EVP_PKEY_free(key);
    if (!whole) {
        key_pair_wipe(out);
    }
    return whole ? STATUS_OK : STATUS_INVALID;
}

enum status pair_generate(struct key_pair *out, const char *kind)
{
    memset(out, 0, sizeof *out);
    return take(out, EVP_PKEY_Q_keygen(NULL, NULL, kind)) == STATUS_OK ? STATUS_OK
                                                                       : STATUS_NO_RANDOM;
}

enum status pair_from_secret(struct key_pair *out, const char *kind,
                             const struct digest *secret_key)
{
    struct digest secret = *secret_key; /* out may hold the argument */
    enum status status = STATUS_INVALID;
    memset(out, 0, sizeof *out);
    if (!digest_is_none(&secret)) {
        status =
            take(out, EVP_PKEY_new_raw_private_key_ex(NULL, kind, NULL, secret.byte, KEY_BYTES));
    }
    bytes_wipe(&secret, sizeof secret);
    return status;
}
