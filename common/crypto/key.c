#include "crypto/key.h"

#include "base/file.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

/* A key file: comment lines that begin with '#', then one line of 64 hexadecimal digits. */
enum { KEY_FILE_BYTES_MAX = 1024 };

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

enum status key_pair_generate(struct key_pair *out)
{
    memset(out, 0, sizeof *out);
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
    enum status status = pair_from(out, key);
    EVP_PKEY_free(key);
    return status == STATUS_OK ? STATUS_OK : STATUS_NO_RANDOM;
}

enum status key_pair_from_secret(struct key_pair *out, const struct digest *secret_key)
{
    struct digest secret = *secret_key; /* out may hold the argument */
    memset(out, 0, sizeof *out);
    EVP_PKEY *key = NULL;
    enum status status = STATUS_INVALID;
    if (!digest_is_none(&secret)) {
        key = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, secret.byte, KEY_BYTES);
        status = pair_from(out, key);
    }
    EVP_PKEY_free(key);
    bytes_wipe(&secret, sizeof secret);
    return status;
}

void key_pair_wipe(struct key_pair *pair)
{
    bytes_wipe(pair, sizeof *pair);
}

static const char SECRET_TITLE[] = "# hedgerow secret key";
static const char PUBLIC_TITLE[] = "# hedgerow public key";

static enum status write_key(const char *path, const struct digest *key, enum file_kind kind,
                             struct why *why)
{
    char text[KEY_FILE_BYTES_MAX];
    char hex[KEY_HEX_BYTES];

    hex_encode(hex, key->byte, KEY_BYTES);
    bool secret = kind == FILE_SECRET;
    int size = snprintf(text, sizeof text, "%s: %s\n%s\n", secret ? SECRET_TITLE : PUBLIC_TITLE,
                        secret ? "never leaves this machine, nobody else may read it"
                               : "give it to those you talk to",
                        hex);
    enum status status = file_create(path, (struct slice){text, (size_t)size}, kind, why);
    bytes_wipe(text, sizeof text);
    bytes_wipe(hex, sizeof hex);
    return status;
}

enum status key_pair_write(const struct key_pair *pair, const char *secret_path,
                           const char *public_path, struct why *why)
{
    enum status status = write_key(secret_path, &pair->secret_key, FILE_SECRET, why);
    if (status != STATUS_OK) {
        return status;
    }
    status = write_key(public_path, &pair->public_key, FILE_PUBLIC, why);
    if (status != STATUS_OK) {
        (void)remove(secret_path); /* ours, made a moment ago: half a pair helps nobody */
    }
    return status;
}

/* Both are 64 digits, and either would be taken for the other without complaint. */
static bool holds_the_other_kind(const char *text, enum file_kind kind)
{
    const char *other = kind == FILE_SECRET ? PUBLIC_TITLE : SECRET_TITLE;
    return strncmp(text, other, strlen(other)) == 0;
}

/* Finds the one line that is neither empty nor a comment; NULL when there are more or none. */
static const char *only_line(char *text)
{
    const char *found = NULL;
    for (char *line = file_line(&text); line != NULL; line = file_line(&text)) {
        if (line[0] == '\0' || line[0] == '#') {
            continue;
        }
        if (found != NULL) {
            return NULL;
        }
        found = line;
    }
    return found;
}

static enum status read_key(struct digest *out, const char *path, enum file_kind kind,
                            struct why *why)
{
    char text[KEY_FILE_BYTES_MAX];
    size_t used = 0;

    memset(out, 0, sizeof *out);
    enum status status = file_read_text(text, sizeof text, &used, path, kind, why);
    if (status == STATUS_NOT_FOUND && kind == FILE_SECRET) {
        why_set(
            why,
            "%s does not exist; remedy: correct the path, or make a key: hedgerow keygen --out %s",
            path, path);
    }
    if (status == STATUS_OK && holds_the_other_kind(text, kind)) {
        status = why_refuse(
            why, "%s holds a %s key, and a %s one is wanted here; remedy: NAME.pub is public", path,
            kind == FILE_SECRET ? "public" : "secret", kind == FILE_SECRET ? "secret" : "public");
    }
    if (status == STATUS_OK) {
        const char *line = only_line(text);
        if (line == NULL || strlen(line) != KEY_HEX_BYTES - 1 ||
            hex_decode(out->byte, KEY_BYTES, line) != STATUS_OK || digest_is_none(out)) {
            memset(out, 0, sizeof *out);
            status = why_refuse(
                why, "%s is not a key file: it must hold one line of 64 hexadecimal digits", path);
        }
    }
    bytes_wipe(text, sizeof text);
    return status;
}

enum status key_secret_read(struct key_pair *out, const char *path, struct why *why)
{
    struct digest secret;

    memset(out, 0, sizeof *out);
    enum status status = read_key(&secret, path, FILE_SECRET, why);
    if (status == STATUS_OK) {
        status = key_pair_from_secret(out, &secret);
        if (status != STATUS_OK) {
            why_set(why, "%s does not hold a usable secret key", path);
        }
    }
    bytes_wipe(&secret, sizeof secret);
    return status;
}

enum status key_public_read(struct digest *out, const char *path, struct why *why)
{
    return read_key(out, path, FILE_PUBLIC, why);
}

enum status key_public_parse(struct digest *out, const char *text, struct why *why)
{
    memset(out, 0, sizeof *out);
    if (strlen(text) != KEY_HEX_BYTES - 1 || hex_decode(out->byte, KEY_BYTES, text) != STATUS_OK ||
        digest_is_none(out)) {
        memset(out, 0, sizeof *out);
        return why_refuse(
            why, "a public key is 64 hexadecimal digits, as in the second line of NAME.pub");
    }
    return STATUS_OK;
}
