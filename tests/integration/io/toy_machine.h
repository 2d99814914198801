/* toy_machine.h - what the driver's toy machines have in common: letters for what they heard, and an endpoint that
 * reaches nobody. */

#ifndef TESTS_TOY_MACHINE_H
#define TESTS_TOY_MACHINE_H

#include "io/endpoint.h"
#include "io/journal.h"
#include "protocol/machine.h"

#include <criterion/criterion.h>
#include <string.h>

static inline void note(char *text, char c)
{
    size_t used = strlen(text);
    if (used < 1000) {
        text[used] = c;
    }
}

/* Dials an address where nobody listens; the caller frees it. */
static inline struct endpoint *endpoint_to_nobody(void)
{
    struct key_pair key;
    struct why why = {{0}};
    struct endpoint *endpoint = NULL;
    cr_assert_eq(key_pair_generate(&key), STATUS_OK);
    struct endpoint_options where = {.address = "tcp://127.0.0.1:9",
                                     .key = &key,
                                     .payload_bytes_max = 65536,
                                     .coordinator_key = key.public_key};
    cr_assert_eq(endpoint_dial(&endpoint, &where, &why), STATUS_OK, "%s", why.text);
    return endpoint;
}

static inline enum status each_of_none(UNUSED void *self, UNUSED journal_visit *visit,
                                       UNUSED void *visit_self, UNUSED struct why *why)
{
    return STATUS_OK;
}

/* For a machine whose self is the time at which it wants to be woken. */
static inline int64_t wake_of(const void *self)
{
    return *(const int64_t *)self;
}

static inline const char *no_trouble(UNUSED const void *self)
{
    return "";
}

static inline void close_nothing(UNUSED void *self)
{
}

/* A journal that has nothing and keeps nothing. */
static inline struct journal empty_journal(void *self)
{
    return (struct journal){
        .self = self, .each = each_of_none, .trouble = no_trouble, .close = close_nothing};
}

static inline void unmake(UNUSED void *self, UNUSED struct machine *machine,
                          struct journal *journal)
{
    journal_close(journal);
}

#endif
