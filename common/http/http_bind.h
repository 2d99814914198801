/* http_bind.h - the socket that http.h listens on. */

#ifndef HTTP_HTTP_BIND_H
#define HTTP_HTTP_BIND_H

#include "base/status.h"
#include "base/why.h"

#include <stdbool.h>

enum { HTTP_ADDRESS_BYTES = 64 };

/**
 * Listens on exactly one address of the loopback, or of any that this machine has, without blocking.
 *
 * descriptor  out  the caller closes it
 * address     out  where it listens, with the port in the place of 0
 * wanted      in   "127.0.0.1:7390", or "0.0.0.0:8443" where anywhere is true
 *
 * Fails with STATUS_INVALID (no loopback address), STATUS_BUSY (another program listens there), STATUS_IO.
 */
MUST_USE enum status http_bind(int *descriptor, char address[static HTTP_ADDRESS_BYTES],
                               const char *wanted, bool anywhere, struct why *why);

#endif
