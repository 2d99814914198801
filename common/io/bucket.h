/* bucket.h - a limit on how often something may happen: a burst at once, and so many a second on average. */

#ifndef IO_BUCKET_H
#define IO_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct bucket {
    int64_t level_milli;
    int64_t at_ms; /* 0: still full */
};

/** Takes amount from the bucket; returns false, taking nothing, when it is not there. */
bool bucket_take(struct bucket *bucket, int64_t now_ms, uint64_t amount, uint64_t burst,
                 uint64_t per_s);

#endif
