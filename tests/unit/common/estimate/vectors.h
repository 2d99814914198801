/* vectors.h - tests/vectors/studies.json, made by R: studies.R; and what R has not: regress_hazard.json and between_mean.json, by scripts
 * of the same names. */

#ifndef TESTS_ESTIMATE_VECTORS_H
#define TESTS_ESTIMATE_VECTORS_H

#include <criterion/criterion.h>
#include <jansson.h>
#include <stddef.h>

/* Returns an object of the file; the file is kept until the process ends. */
static inline const json_t *vectors(const char *name)
{
    static json_t *file;
    json_error_t error;
    if (file == NULL) {
        static const char *const others[] = {TEST_VECTORS "/regress_hazard.json",
                                             TEST_VECTORS "/between_mean.json"};
        file = json_load_file(TEST_VECTORS "/studies.json", 0, &error);
        cr_assert(file != NULL, "%s", error.text);
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
            json_t *more = json_load_file(others[i], 0, &error);
            cr_assert(more != NULL && json_object_update(file, more) == 0, "%s", error.text);
            json_decref(more);
        }
    }
    return json_object_get(file, name);
}

/* Reads `most` numbers at most. Returns how many there are. */
static inline size_t vector_read(double *out, size_t most, const json_t *object, const char *key)
{
    const json_t *list = json_object_get(object, key);
    const size_t count = json_array_size(list);
    cr_assert(count > 0 && count <= most, "%s has %zu numbers", key, count);
    for (size_t i = 0; i < count; i++) {
        out[i] = json_number_value(json_array_get(list, i));
    }
    return count;
}

static inline double vector_one(const json_t *object, const char *key)
{
    double value;
    cr_assert(vector_read(&value, 1, object, key) == 1);
    return value;
}

#endif
