#include "crypto/key.h"

#include "base/file.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A key file: comment lines that begin with '#', one line that begins with "signing " and has 64 hexadecimal
 * digits, and last, where scripts look for it, one of 64 digits alone. */
enum { KEY_FILE_BYTES_MAX = 1024 };

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

/* kind: as OpenSSL names it. Fails with STATUS_NO_RANDOM; out is then zeroed. */
static enum status pair_generate(struct key_pair *out, const char *kind)
{
    memset(out, 0, sizeof *out);
    return take(out, EVP_PKEY_Q_keygen(NULL, NULL, kind)) == STATUS_OK ? STATUS_OK
                                                                       : STATUS_NO_RANDOM;
}

/* Computes the public key that belongs to a secret one, which out may hold. Fails with STATUS_INVALID. */
static enum status pair_from_secret(struct key_pair *out, const char *kind,
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

enum status key_pair_generate(struct key_pair *out)
{
    return pair_generate(out, "X25519");
}

enum status key_pair_from_secret(struct key_pair *out, const struct digest *secret_key)
{
    return pair_from_secret(out, "X25519", secret_key);
}

void key_pair_wipe(struct key_pair *pair)
{
    bytes_wipe(pair, sizeof *pair);
}

static const char SECRET_TITLE[] = "# hedgerow secret key";
static const char PUBLIC_TITLE[] = "# hedgerow public key";

static const char SIGNING[] = "signing ";

/* Writes one half of both pairs into text (KEY_FILE_BYTES_MAX); returns its size. */
static size_t format_key(char *text, const struct digest *key, const struct digest *signing,
                         enum file_kind kind)
{
    char hex[KEY_HEX_BYTES];
    char signing_hex[KEY_HEX_BYTES] = "";
    const bool secret = kind == FILE_SECRET;

    hex_encode(hex, key->byte, KEY_BYTES);
    if (signing != NULL) {
        hex_encode(signing_hex, signing->byte, KEY_BYTES);
    }
    const int size = snprintf(
        text, KEY_FILE_BYTES_MAX, "%s: %s\n%s%s%s%s\n", secret ? SECRET_TITLE : PUBLIC_TITLE,
        secret ? "never leaves this machine, nobody else may read it"
               : "give it to those you talk to",
        signing != NULL ? SIGNING : "", signing_hex, signing != NULL ? "\n" : "", hex);
    bytes_wipe(hex, sizeof hex);
    bytes_wipe(signing_hex, sizeof signing_hex);
    return (size_t)size;
}

static enum status write_key(const char *path, const struct digest *key,
                             const struct digest *signing, enum file_kind kind, struct why *why)
{
    char text[KEY_FILE_BYTES_MAX];
    const size_t size = format_key(text, key, signing, kind);
    const enum status status = file_create(path, (struct slice){text, size}, kind, why);
    bytes_wipe(text, sizeof text);
    return status;
}

enum status key_pair_write(const struct key_pair *pair, const struct key_pair *signing,
                           const char *secret_path, const char *public_path, struct why *why)
{
    enum status status = write_key(secret_path, &pair->secret_key,
                                   signing != NULL ? &signing->secret_key : NULL, FILE_SECRET, why);
    if (status != STATUS_OK) {
        return status;
    }
    status = write_key(public_path, &pair->public_key,
                       signing != NULL ? &signing->public_key : NULL, FILE_PUBLIC, why);
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

/* Reads the digits of a line into a key that has none yet. */
static bool take_line(struct digest *key, const char *digits)
{
    return digest_is_none(key) && strlen(digits) == KEY_HEX_BYTES - 1 &&
           hex_decode(key->byte, KEY_BYTES, digits) == STATUS_OK && !digest_is_none(key);
}

/* Reads the lines that are neither empty nor comments: a key once, and at most once a signing key. */
static bool take_lines(struct digest *key, struct digest *signing, char *text)
{
    bool good = true;
    for (char *line = file_line(&text); line != NULL && good; line = file_line(&text)) {
        if (line[0] == '\0' || line[0] == '#') {
            continue;
        }
        const bool signs = strncmp(line, SIGNING, sizeof SIGNING - 1) == 0;
        good = signs ? take_line(signing, line + sizeof SIGNING - 1) : take_line(key, line);
    }
    return good && !digest_is_none(key);
}

/* signing  out  none where the file has none */
static enum status read_key(struct digest *out, struct digest *signing, const char *path,
                            enum file_kind kind, struct why *why)
{
    char text[KEY_FILE_BYTES_MAX];
    size_t used = 0;

    memset(out, 0, sizeof *out);
    memset(signing, 0, sizeof *signing);
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
    if (status == STATUS_OK && !take_lines(out, signing, text)) {
        memset(out, 0, sizeof *out);
        memset(signing, 0, sizeof *signing);
        status = why_refuse(
            why, "%s is not a key file: it must hold one line of 64 hexadecimal digits", path);
    }
    bytes_wipe(text, sizeof text);
    return status;
}

enum status key_secret_read(struct key_pair *out, const char *path, struct why *why)
{
    struct digest secret;
    struct digest signing;

    memset(out, 0, sizeof *out);
    enum status status = read_key(&secret, &signing, path, FILE_SECRET, why);
    if (status == STATUS_OK) {
        status = key_pair_from_secret(out, &secret);
        if (status != STATUS_OK) {
            why_set(why, "%s does not hold a usable secret key", path);
        }
    }
    bytes_wipe(&secret, sizeof secret);
    bytes_wipe(&signing, sizeof signing);
    return status;
}

static enum status refuse_unsigned(const char *path, bool secret, struct why *why)
{
    return why_fail(
        why, STATUS_UNSUPPORTED,
        "%s has no signing half, which trust distributed needs: an earlier version made it; "
        "remedy%s: hedgerow keygen --add-signing %s",
        path, secret ? "" : ", at the site whose key it is", secret ? path : "KEY");
}

enum status key_signing_read(struct key_pair *out, const char *path, struct why *why)
{
    struct digest secret;
    struct digest signing;

    memset(out, 0, sizeof *out);
    enum status status = read_key(&secret, &signing, path, FILE_SECRET, why);
    if (status == STATUS_OK && digest_is_none(&signing)) {
        status = refuse_unsigned(path, true, why);
    }
    if (status == STATUS_OK) {
        status = key_signing_from_secret(out, &signing);
    }
    bytes_wipe(&secret, sizeof secret);
    bytes_wipe(&signing, sizeof signing);
    return status;
}

enum status key_public_read(struct digest *out, const char *path, struct why *why)
{
    struct digest signing;
    return read_key(out, &signing, path, FILE_PUBLIC, why);
}

enum status key_signing_public_read(struct digest *out, const char *path, struct why *why)
{
    struct digest key;
    enum status status = read_key(&key, out, path, FILE_PUBLIC, why);
    return status == STATUS_OK && digest_is_none(out) ? refuse_unsigned(path, false, why) : status;
}

static enum status replace_key(const char *path, const struct digest *key,
                               const struct digest *signing, enum file_kind kind, struct why *why)
{
    char text[KEY_FILE_BYTES_MAX];
    const size_t size = format_key(text, key, signing, kind);
    const enum status status = file_replace(path, (struct slice){text, size}, why);
    bytes_wipe(text, sizeof text);
    return status;
}

/* The secret file first: where the second write fails, the next attempt writes the public file anew. */
enum status key_signing_add(const struct key_pair *signing, const char *secret_path,
                            const char *public_path, struct why *why)
{
    struct key_pair pair;
    struct key_pair there;
    struct digest told;
    struct digest told_signing;

    enum status status = key_secret_read(&pair, secret_path, why);
    if (status == STATUS_OK) {
        status = read_key(&told, &told_signing, public_path, FILE_PUBLIC, why);
    }
    if (status == STATUS_OK && !digest_equal(&told, &pair.public_key)) {
        status = why_refuse(why, "%s and %s are not of one pair", secret_path, public_path);
    }
    if (status != STATUS_OK) {
        key_pair_wipe(&pair);
        return status;
    }
    if (key_signing_read(&there, secret_path, NULL) != STATUS_OK) {
        there = *signing;
        status = replace_key(secret_path, &pair.secret_key, &there.secret_key, FILE_SECRET, why);
    } else if (!digest_is_none(&told_signing)) {
        status = why_fail(why, STATUS_EXISTS, "%s has a signing half; it is never replaced",
                          secret_path);
    }
    if (status == STATUS_OK) {
        status = replace_key(public_path, &pair.public_key, &there.public_key, FILE_PUBLIC, why);
    }
    key_pair_wipe(&pair);
    key_pair_wipe(&there);
    return status;
}

enum status key_public_parse(struct digest *out, const char *text, struct why *why)
{
    memset(out, 0, sizeof *out);
    if (strlen(text) != KEY_HEX_BYTES - 1 || hex_decode(out->byte, KEY_BYTES, text) != STATUS_OK ||
        digest_is_none(out)) {
        memset(out, 0, sizeof *out);
        return why_refuse(why,
                          "a public key is 64 hexadecimal digits, as in the last line of NAME.pub");
    }
    return STATUS_OK;
}

enum status key_signing_generate(struct key_pair *out)
{
    return pair_generate(out, "ED25519");
}

enum status key_signing_from_secret(struct key_pair *out, const struct digest *secret_key)
{
    return pair_from_secret(out, "ED25519", secret_key);
}

enum status key_sign(struct signature *out, const struct digest *secret_key, struct slice text)
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

bool key_verify(const struct signature *signature, const struct digest *public_key,
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

/* Nobody is asked for a passphrase: a daemon has no terminal. */
static int no_passphrase(char *out, int size, int writes, void *self)
{
    (void)out, (void)size, (void)writes, (void)self;
    return -1;
}

static enum status judge_certificate(X509 *certificate, EVP_PKEY *key, int64_t now_s,
                                     struct why *why)
{
    time_t now = (time_t)now_s;
    if (certificate == NULL) {
        return why_refuse(why, "is no certificate in PEM");
    }
    if (key == NULL) {
        return why_refuse(why, "has no key that can be read: PEM, without a passphrase");
    }
    if (X509_check_private_key(certificate, key) != 1) {
        return why_refuse(why, "is not the certificate of this key");
    }
    if (X509_cmp_time(X509_get0_notBefore(certificate), &now) >= 0) {
        return why_refuse(why, "is not valid yet: look at the clock");
    }
    if (X509_cmp_time(X509_get0_notAfter(certificate), &now) <= 0) {
        return why_refuse(why, "has expired");
    }
    return STATUS_OK;
}

enum status key_certificate_check(const char *certificate, const char *key, int64_t now_s,
                                  struct why *why)
{
    BIO *certificate_text = BIO_new_mem_buf(certificate, (int)strlen(certificate));
    BIO *key_text = BIO_new_mem_buf(key, (int)strlen(key));
    X509 *read = NULL;
    EVP_PKEY *secret = NULL;
    if (certificate_text != NULL && key_text != NULL) {
        read = PEM_read_bio_X509(certificate_text, NULL, no_passphrase, NULL);
        secret = PEM_read_bio_PrivateKey(key_text, NULL, no_passphrase, NULL);
    }
    const enum status status = judge_certificate(read, secret, now_s, why);
    X509_free(read);
    EVP_PKEY_free(secret);
    BIO_free(certificate_text);
    BIO_free(key_text);
    return status;
}
