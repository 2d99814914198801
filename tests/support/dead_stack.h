/* dead_stack.h - what a function leaves on the stack that it ran on. */

#ifndef SUPPORT_DEAD_STACK_H
#define SUPPORT_DEAD_STACK_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { DEAD_STACK_BYTES = 1 << 20 };

/** Runs a function on a stack of its own and returns that, NULL where the system does not allow it;
 * dead_stack_count or dead_stack_used gives it back. */
static inline uint64_t *dead_stack_of(void *(*run)(void *), void *argument)
{
    pthread_attr_t attributes;
    pthread_t thread;
    void *stack =
        mmap(NULL, DEAD_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED || pthread_attr_init(&attributes) != 0) {
        return NULL;
    }
    int failed = pthread_attr_setstack(&attributes, stack, DEAD_STACK_BYTES);
    failed = failed == 0 ? pthread_create(&thread, &attributes, run, argument) : failed;
    failed = failed == 0 ? pthread_join(thread, NULL) : failed;
    (void)pthread_attr_destroy(&attributes);
    return failed == 0 ? stack : NULL;
}

/** How many of the stack's words are not 0, which they were before. */
static inline size_t dead_stack_used(uint64_t *stack)
{
    size_t count = 0;
    for (size_t i = 0; i < DEAD_STACK_BYTES / sizeof *stack; i++) {
        count += stack[i] != 0;
    }
    (void)munmap(stack, DEAD_STACK_BYTES);
    return count;
}

static inline int dead_stack_compare(const void *a, const void *b)
{
    const uint64_t *first = a;
    const uint64_t *second = b;
    return *first < *second ? -1 : *first > *second ? 1 : 0;
}

/** How many of the stack's words are among the secrets (secrets), which are sorted for it. */
static inline size_t dead_stack_count(uint64_t *stack, uint64_t *secret, size_t secrets)
{
    size_t count = 0;
    qsort(secret, secrets, sizeof *secret, dead_stack_compare);
    for (size_t i = 0; i < DEAD_STACK_BYTES / sizeof *stack; i++) {
        count +=
            bsearch(&stack[i], secret, secrets, sizeof *secret, dead_stack_compare) != NULL ? 1 : 0;
    }
    (void)munmap(stack, DEAD_STACK_BYTES);
    return count;
}

#endif
