/* json_text.h - a JSON document, built and written whole or not at all. */

#ifndef JSON_JSON_TEXT_H
#define JSON_JSON_TEXT_H

#include <jansson.h>

/** Appends value, which it takes. Without memory, a value or a list it frees *list, which then is NULL and remains NULL: a
 * caller that adds to many lists looks once, at the end. json_put does the same with an object. */
void json_add(json_t **list, json_t *value);
void json_put(json_t **object, const char *key, json_t *value);

/** Returns a real, null where value is NAN or infinite; the caller owns it. NULL without memory. */
json_t *json_number(double value);

/**
 * Returns root as text with its keys in the order they were set, or NULL without memory or without
 * a root.
 *
 * indent  in  blanks a level
 * digits  in  significant decimal digits of a real number; 17 give back the same double
 *
 * The caller frees the text.
 */
char *json_text(const json_t *root, unsigned indent, unsigned digits);

#endif
