/* model_private.h - a schema inside a model's file. Inside model only. */

#ifndef LEARN_MODEL_PRIVATE_H
#define LEARN_MODEL_PRIVATE_H

#include "base/status.h"
#include "base/why.h"
#include "learn/schema.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/** Returns the schema as a new JSON object, or NULL without memory. */
json_t *model_schema_to_json(const struct schema *schema);

/** Reads a schema and checks it; name is the file's. The caller frees what it then owns. Fails with
 * STATUS_INVALID, STATUS_NO_MEMORY. */
MUST_USE enum status model_schema_from_json(struct schema *schema, json_t *from, const char *name,
                                            struct why *why);

/** Copies a text that must fit in room bytes with its final zero; the caller zeroed out. */
bool model_take_text(char *out, size_t room, const char *text);

#endif
