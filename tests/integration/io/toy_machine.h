/* toy_machine.h - what the driver's toy machines have in common: letters of what they heard, and nobody to talk to. */

#ifndef TESTS_TOY_MACHINE_H
#define TESTS_TOY_MACHINE_H

#include "io/endpoint.h"

#include <criterion/criterion.h>
#include <string.h>

static inline void note(char *text, char c)
{
    size_t used = strlen(text);
    if (used < 1000) {
        text[used] = c;
    }
}

/* Dials where nobody listens; the caller frees it. */
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

#endif
