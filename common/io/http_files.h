/* http_files.h - the files that a page needs which others than this machine may look at: certificate, key and token. They are
 * read at the start; whoever replaces one starts the program again. */

#ifndef IO_HTTP_FILES_H
#define IO_HTTP_FILES_H

#include "base/status.h"
#include "base/why.h"
#include "config/settings.h"

enum { HTTP_FILE_BYTES_MAX = 64 * 1024, HTTP_FILES_TOKEN_BYTES = 256, HTTP_FILES_TOKEN_LEAST = 32 };

/* Starts zeroed. */
struct http_files {
    char *certificate; /* owned */
    char *key;         /* owned, wiped */
    char token[HTTP_FILES_TOKEN_BYTES];
};

/**
 * Reads and judges them: key and token as secrets that nobody but their owner may read, the certificate by crypto/certificate.h.
 *
 * files  out  http_files_wipe
 *
 * Fails with STATUS_NOT_FOUND, STATUS_IO, STATUS_INVALID, STATUS_NO_MEMORY; files is then wiped.
 */
MUST_USE enum status http_files_read(struct http_files *files, const struct http_settings *settings,
                                     struct why *why);

void http_files_wipe(struct http_files *files);

#endif
