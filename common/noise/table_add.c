/* table_add.c - noise of a table on a vector, a block after the other. */

#include "noise/table.h"

#include "base/bytes.h"
#include "base/check.h"

#include <string.h>

enum status noise_table_add(const struct noise_table *table, const struct random *random,
                            int64_t *values, size_t count, size_t each)
{
    enum { SHORT_DRAWS = 512, LONG_VALUES = 16384, LONG_BLOCK_VALUES = 1024, EACH_MOST = 2 };
    uint64_t drawn[EACH_MOST * LONG_BLOCK_VALUES];
    /* What a seed gives depends on how many are drawn at a time. */
    const size_t most = count < LONG_VALUES ? SHORT_DRAWS / each : LONG_BLOCK_VALUES;
    enum status status = STATUS_OK;

    CHECK(each == 1 || each == EACH_MOST);
    for (size_t done = 0; done < count && status == STATUS_OK; done += most) {
        const size_t block = count - done < most ? count - done : most;
        status = noise_table_draw(table, random, drawn, each * block);
        for (size_t i = 0; each == EACH_MOST && i < block; i++) {
            drawn[i] = drawn[2 * i] - drawn[2 * i + 1];
        }
        for (size_t i = 0; status == STATUS_OK && i < block; i++) {
            values[done + i] = (int64_t)((uint64_t)values[done + i] + drawn[i]);
        }
    }
    if (status != STATUS_OK) {
        memset(values, 0, count * sizeof *values);
    }
    bytes_wipe(drawn, each * most * sizeof *drawn);
    return status;
}
