/* certificate.h - whether a certificate and its key are fit to be shown to others, judged before a port opens. */

#ifndef CRYPTO_CERTIFICATE_H
#define CRYPTO_CERTIFICATE_H

#include "base/status.h"
#include "base/why.h"

#include <stdint.h>

/**
 * Judges a certificate and its key. Who signed it is not judged: those who look do that.
 *
 * certificate  in  PEM; the first one is judged
 * key          in  PEM, without a passphrase
 * now_s        in  Unix time
 *
 * Fails with STATUS_INVALID: not PEM, not a pair, not valid now; why says which. Privacy: why never repeats content.
 */
MUST_USE enum status certificate_check(const char *certificate, const char *key, int64_t now_s,
                                       struct why *why);

#endif
