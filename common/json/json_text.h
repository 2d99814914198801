/* json_text.h - a JSON document as text, whole or not at all. */

#ifndef JSON_JSON_TEXT_H
#define JSON_JSON_TEXT_H

#include <jansson.h>

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
