#include "crypto/certificate.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>
#include <time.h>

/* Nobody is asked for a passphrase: a daemon has no terminal. */
static int no_passphrase(char *out, int size, int writes, void *self)
{
    (void)out, (void)size, (void)writes, (void)self;
    return -1;
}

static enum status judge(X509 *certificate, EVP_PKEY *key, int64_t now_s, struct why *why)
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

enum status certificate_check(const char *certificate, const char *key, int64_t now_s,
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
    const enum status status = judge(read, secret, now_s, why);
    X509_free(read);
    EVP_PKEY_free(secret);
    BIO_free(certificate_text);
    BIO_free(key_text);
    return status;
}
