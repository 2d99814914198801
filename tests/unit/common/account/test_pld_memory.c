/* Every allocation of the accountant of privacy-loss distributions fails once, at every position:
 * it says so, gives back all it took, and answers the next time. */

#include "lab/composition/pld.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static long countdown = -1; /* below 0: nothing fails */
static long balance;        /* blocks taken and not given back */

static bool fails(void)
{
    return countdown >= 0 && countdown-- == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void __real_free(void *old);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void __wrap_free(void *old);

void *__wrap_malloc(size_t size)
{
    void *block = fails() ? NULL : __real_malloc(size);
    balance += block != NULL;
    return block;
}

void *__wrap_calloc(size_t count, size_t size)
{
    void *block = fails() ? NULL : __real_calloc(count, size);
    balance += block != NULL;
    return block;
}

void __wrap_free(void *old)
{
    balance -= old != NULL;
    __real_free(old);
}

/* One list that takes both directions, and one that a formula answers. */
static enum status ask(struct interval *out, bool wants_epsilon, size_t count)
{
    static const struct privacy_event events[] = {
        {MECHANISM_PURE, NEIGHBOURS_ADD_REMOVE, 0.5, 1, 3, 1, 0},
        {MECHANISM_GAUSSIAN, NEIGHBOURS_ADD_REMOVE, 4, 1, 5, 0.2, 0},
        {MECHANISM_DISCRETE_GAUSSIAN, NEIGHBOURS_ADD_REMOVE, 3, 1, 2, 1, 0},
    };
    return wants_epsilon ? pld_epsilon(out, events, count, 1e-5) : pld_delta(out, events, count, 1);
}

Test(pld_memory, every_allocation_fails_once)
{
    for (size_t way = 0; way < 4; way++) {
        bool wants_epsilon = way % 2 == 0;
        size_t count = way < 2 ? 3 : 1;
        struct interval whole = {NAN, NAN};
        cr_assert(ask(&whole, wants_epsilon, count) == STATUS_OK);
        long position = 0;
        for (bool failed = true; failed; position++) {
            struct interval out = {NAN, NAN};
            long before = balance;
            countdown = position;
            enum status status = ask(&out, wants_epsilon, count);
            failed = countdown < 0;
            countdown = -1;
            cr_assert(balance == before, "allocation %ld: %ld blocks lost", position,
                      balance - before);
            cr_assert(status == (failed ? STATUS_NO_MEMORY : STATUS_OK), "allocation %ld: %d",
                      position, (int)status);
            cr_assert(failed || (out.low == whole.low && out.high == whole.high));
        }
        cr_assert(position > (count > 1 ? 20 : 1), "only %ld allocations were met", position - 1);
    }
}
