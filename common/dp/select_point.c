/* Lemire, ACM Transactions on Modeling and Computer Simulation 2019: each result has as many words
 * as any other, once the lower parts below 2^192 mod end are redrawn. That remainder is asked for
 * when the lower part is below end < 2^127, which is very rare. */

#include "base/bytes.h"
#include "base/check.h"
#include "dp/select_private.h"

enum { POINT_WORDS = 3, POINT_BITS = 192 };

struct select_point select_point_of(const uint64_t word[3], uint128 end)
{
    uint64_t product[POINT_WORDS + 2] = {0};
    const uint64_t factor[2] = {(uint64_t)end, (uint64_t)(end >> 64)};
    for (size_t j = 0; j < 2; j++) {
        uint128 carry = 0;
        for (size_t i = 0; i < POINT_WORDS; i++) {
            carry += (uint128)word[i] * factor[j] + product[i + j];
            product[i + j] = (uint64_t)carry;
            carry >>= 64;
        }
        product[POINT_WORDS + j] = (uint64_t)carry;
    }
    return (struct select_point){.below_end = (uint128)product[4] << 64 | product[3],
                                 .low = {product[0], product[1], product[2]}};
}

uint128 select_point_excess(uint128 end)
{
    CHECK(end > 0 && end >> 127 == 0);
    uint128 rest = 1 % end;
    for (int i = 0; i < POINT_BITS; i++) {
        rest *= 2;
        rest -= rest >= end ? end : 0;
    }
    return rest;
}

enum status select_draw_below(const struct random *random, uint128 end, uint128 *below_end)
{
    uint64_t word[POINT_WORDS] = {0};
    struct select_point point;
    enum status status = STATUS_OK;
    for (;;) {
        status = random_fill(random, word, sizeof word);
        if (status != STATUS_OK) {
            break;
        }
        point = select_point_of(word, end);
        if (point.low[2] != 0) {
            break;
        }
        uint128 low = (uint128)point.low[1] << 64 | point.low[0];
        if (low >= end || low >= select_point_excess(end)) {
            break;
        }
    }
    *below_end = status == STATUS_OK ? point.below_end : 0;
    bytes_wipe(word, sizeof word);
    return status;
}
