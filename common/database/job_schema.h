/* job_schema.h - in which schema the journal of a queue's job lies: "NAME_job_7", where NAME is the queue's own. */

#ifndef DATABASE_JOB_SCHEMA_H
#define DATABASE_JOB_SCHEMA_H

#include "base/status.h"
#include "base/why.h"
#include "database/database.h"

#include <stdint.h>

/* A name of the server has 63 bytes at most, and what is longer is cut: two jobs would have one schema. */
enum { JOB_SCHEMA_OWN_BYTES = 41, JOB_SCHEMA_BYTES = 72 };

/** Finds the queue's own schema: the first of the connection's search path. Fails with STATUS_INVALID (there is none, or its
 * name is too long), and as database_ask. */
MUST_USE enum status job_schema_find(char own[static JOB_SCHEMA_OWN_BYTES],
                                     struct database *database, struct why *why);

/** Writes the name of a job's, in double quotes. */
void job_schema_name(char name[static JOB_SCHEMA_BYTES], const char *own, uint32_t job);

/** Puts a job's schema in front of the search path of a connection that has the queue's. make: makes it where it is missing.
 * Fails as job_schema_find. */
MUST_USE enum status job_schema_enter(struct database *database, uint32_t job, bool make,
                                      struct why *why);

/** Whether the server makes a commit durable before it acknowledges it. Fails with STATUS_INVALID, and as database_ask. */
MUST_USE enum status database_is_durable(struct database *database, struct why *why);

#endif
