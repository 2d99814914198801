/* closed_vectors.h - the rows of tests/vectors/dp_vectors.json, for the tests of the closed forms. */

#ifndef TESTS_CLOSED_VECTORS_H
#define TESTS_CLOSED_VECTORS_H

#include "account/event.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>

static inline json_t *vectors_open(void)
{
    json_t *root = json_load_file(TEST_VECTORS "/dp_vectors.json", 0, NULL);
    cr_assert_not_null(root);
    return root;
}

/* Borrowed from root; checks that the group has not shrunk. */
static inline json_t *vectors_group(json_t *root, const char *name, size_t rows)
{
    json_t *group = json_object_get(root, name);
    cr_assert_eq(json_array_size(group), rows, "%s has %zu rows", name, json_array_size(group));
    return group;
}

static inline double field(const json_t *row, const char *name)
{
    const json_t *value = json_object_get(row, name);
    cr_assert(json_is_number(value), "no number %s", name);
    return json_number_value(value);
}

static inline struct privacy_event event_of(enum mechanism mechanism, double parameter,
                                            double count)
{
    return (struct privacy_event){.mechanism = mechanism,
                                  .parameter = parameter,
                                  .sensitivity = 1,
                                  .count = (uint64_t)count,
                                  .sampling = 1};
}

/* An upper bound: not below what is wanted but for the digits printed, and above by no more than
 * relative. */
static inline bool is_just_above(double bound, double wanted, double relative)
{
    return bound >= wanted * (1 - 2e-14) && bound <= wanted * (1 + relative);
}

#endif
