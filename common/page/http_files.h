/* http_files.h - the files that a page needs which others than this machine may look at: certificate, key and token. They are
 * read at the start, and again when one has been replaced. */

#ifndef PAGE_HTTP_FILES_H
#define PAGE_HTTP_FILES_H

#include "base/log.h"
#include "base/status.h"
#include "base/why.h"
#include "config/settings.h"

#include <stdint.h>

enum { HTTP_FILE_BYTES_MAX = 64 * 1024, HTTP_FILES_TOKEN_BYTES = 256, HTTP_FILES_TOKEN_LEAST = 32 };

/* The state of the three files that was told last. */
struct http_files_mark {
    uint64_t word[3];
};

/* Starts zeroed. */
struct http_files {
    char *certificate; /* owned */
    char *key;         /* owned, wiped */
    char *token;       /* likewise */

    struct http_files_mark judged; /* what was read, or refused, last */
    struct http_files_mark seen;   /* at the latest look */
    int64_t look_ms;               /* when the next one is due */
};

/**
 * Reads and judges them: key and token as secrets that nobody but their owner may read, the certificate by crypto/key.h.
 *
 * files  out  http_files_wipe
 *
 * Fails with STATUS_NOT_FOUND, STATUS_IO, STATUS_INVALID, STATUS_NO_MEMORY; files is then wiped.
 */
MUST_USE enum status http_files_read(struct http_files *files, const struct http_settings *settings,
                                     struct why *why);

/**
 * Looks, once in a second at most, whether a file is another one than before, and has been for a second: they may be replaced
 * one after the other. Then reads and judges them, and has them used. What is refused is told once, and those before stay.
 *
 * now_ms  in  of the monotonic clock
 * use     in  begins to use fresh, whose contents stay where they are; a failure refuses them
 */
void http_files_follow(struct http_files *files, const struct http_settings *settings,
                       const struct log *log, int64_t now_ms,
                       enum status (*use)(void *self, const struct http_files *fresh,
                                          struct why *why),
                       void *self);

void http_files_wipe(struct http_files *files);

#endif
