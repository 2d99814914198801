/* predicate_read.h - a predicate inside a longer text. Inside query only. */

#ifndef QUERY_PREDICATE_READ_H
#define QUERY_PREDICATE_READ_H

#include "query/predicate.h"
#include "query/reader.h"

/** Reads a predicate up to the first token that cannot continue it, and stays there. Fails with
 * STATUS_INVALID. */
MUST_USE enum status predicate_read(struct predicate *predicate, struct reader *reader);

#endif
