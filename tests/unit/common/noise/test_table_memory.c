/* Every allocation of a table fails once, at every position: nothing leaks, and nothing can be
 * drawn. */

#include "noise/gaussian.h"
#include "noise/share.h"
#include "tests/support/noise_draw.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>

static long countdown = -1; /* below 0: nothing fails */

void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
    return countdown >= 0 && countdown-- == 0 ? NULL : __real_calloc(count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return countdown >= 0 && countdown-- == 0 ? NULL : __real_aligned_alloc(alignment, size);
}

Test(table_memory, every_allocation_may_fail)
{
    for (int kind = 0; kind < 2; kind++) {
        long position = 0;
        for (bool failed = true; failed; position++) {
            struct noise_gaussian gaussian;
            struct noise_share share;
            countdown = position;
            enum status status = kind == 0
                                     ? noise_gaussian_init(&gaussian, (struct noise_scale){100, 1})
                                     : noise_share_init(&share, (struct noise_scale){100, 1}, 3);
            failed = countdown < 0;
            countdown = -1;
            cr_assert_eq(status, failed ? STATUS_NO_MEMORY : STATUS_OK, "position %ld", position);
            const struct noise_table *table = kind == 0 ? &gaussian.table : &share.table;
            cr_assert_eq(table->bin == NULL, failed);
            if (kind == 0) {
                noise_gaussian_free(&gaussian);
                noise_gaussian_free(&gaussian); /* twice is fine */
            } else {
                noise_share_free(&share);
                noise_share_free(&share);
            }
        }
        cr_assert_eq(position, 9, "eight allocations");
    }
    mpfr_free_cache();
}

Test(table_memory, a_table_that_was_not_made_stops_the_program, .signal = SIGABRT)
{
    struct noise_gaussian gaussian;
    struct seeded_random seeded;
    struct random random = seeded_random_interface(&seeded);
    int64_t value = 0;
    countdown = 0;
    enum status status = noise_gaussian_init(&gaussian, (struct noise_scale){100, 1});
    countdown = -1;
    seeded_random_init(&seeded, 1);
    status = noise_gaussian_draw(&gaussian, &random, &value, 1);
    (void)status;
}
