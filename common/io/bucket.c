#include "io/bucket.h"

bool bucket_take(struct bucket *bucket, int64_t now_ms, uint64_t amount, uint64_t burst,
                 uint64_t per_s)
{
    int64_t full = (int64_t)burst * 1000;
    int64_t wanted = (int64_t)amount * 1000;

    if (bucket->at_ms == 0) {
        bucket->level_milli = full;
    } else {
        int64_t passed = now_ms - bucket->at_ms;
        int64_t room = full - bucket->level_milli;
        /* The bucket is full long before the product could overflow. */
        int64_t gained = passed > room / (int64_t)per_s ? room : passed * (int64_t)per_s;
        bucket->level_milli += gained;
    }
    bucket->at_ms = now_ms;
    if (bucket->level_milli < wanted) {
        return false;
    }
    bucket->level_milli -= wanted;
    return true;
}
