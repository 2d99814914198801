/* json_text.c - written into a buffer of the right size. json_dumps grows a buffer of its own, and
 * where growing fails inside a key it goes on without the rest of the key. */

#include "json/json_text.h"

#include <math.h>
#include <stdlib.h>

void json_add(json_t **list, json_t *value)
{
    if (json_array_append_new(*list, value) != 0) { /* which took the value all the same */
        json_decref(*list);
        *list = NULL;
    }
}

void json_put(json_t **object, const char *key, json_t *value)
{
    if (json_object_set_new(*object, key, value) != 0) {
        json_decref(*object);
        *object = NULL;
    }
}

json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

char *json_text(const json_t *root, unsigned indent, unsigned digits)
{
    const size_t flags = JSON_INDENT(indent) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(digits);
    const size_t size = json_dumpb(root, NULL, 0, flags);
    char *text = size == 0 ? NULL : malloc(size + 1);
    if (text == NULL || json_dumpb(root, text, size, flags) != size) {
        free(text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}
