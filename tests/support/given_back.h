/* given_back.h - what memory holds when it is freed: for one file of a test that is linked with
 * -Wl,--wrap=free. */

#ifndef SUPPORT_GIVEN_BACK_H
#define SUPPORT_GIVEN_BACK_H

#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { GIVEN_BACK_WORDS = 3 };

/* Consecutive words that are looked for in all memory that is freed, and how often they were seen.
 * volatile, because the compiler assumes that free changes nothing. */
static unsigned char needle[GIVEN_BACK_WORDS * 8];
static volatile size_t found;
/* Memory whose end is waited for, and how often it was freed. */
static const void *volatile awaited;
static volatile size_t returned;

void __real_free(void *memory);
void __wrap_free(void *memory);

void __wrap_free(void *memory)
{
    const size_t bytes = memory == NULL ? 0 : malloc_usable_size(memory);
    for (size_t at = 0; at + sizeof needle <= bytes; at += 8) {
        found += memcmp((const unsigned char *)memory + at, needle, sizeof needle) == 0;
    }
    returned += memory != NULL && memory == awaited;
    __real_free(memory);
}

/** Looks for the first three words of these from now on. */
static inline void look_for(const void *words)
{
    memcpy(needle, words, sizeof needle);
    found = 0;
}

/** Plants the words: frees memory that holds them. The heap stays marked, so do this in a separate
 * test. */
static inline void give_back_unwiped(void)
{
    volatile unsigned char *leak = malloc(64);
    for (size_t i = 0; i < sizeof needle; i++) {
        leak[16 + i] = needle[i];
    }
    free((void *)(uintptr_t)leak);
}

#endif
