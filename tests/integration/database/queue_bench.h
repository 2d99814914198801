/* queue_bench.h - a queue of a test's own, for the tests of a queue's place: in a folder, or, where DATABASE_URL names one
 * (tests/support/postgres), in a schema of that database. */

#ifndef TESTS_DATABASE_QUEUE_BENCH_H
#define TESTS_DATABASE_QUEUE_BENCH_H

#include "coordinator/main_queue_store.h"

#include <criterion/criterion.h>

extern struct office office;
extern const struct queue_actor account;
extern struct why why;
extern bool shared; /* it is in a database */

/** Opens it, and leads. */
void bench_begin(void);
/** Does so, and skips the test where it is in a folder. */
void bench_begin_shared(void);
void bench_end(void);

/** Performs statements in the queue's schema. */
void bench_psql(const char *command);

uint32_t bench_add_text(const char *text);
uint32_t bench_add(void);
struct queue_job bench_seen(uint32_t number);
bool bench_is_over(uint32_t number);

/* What a person, or a fault, does to a job. */
void bench_spoil_text(uint32_t number);
void bench_remove(uint32_t number);

/** Delays every session that writes a record of a job, for some seconds. The queue must be in a
 * database. */
void bench_hold_records(uint32_t number, unsigned seconds);

/** Waits until a session waits to write a record. */
void bench_await_held(void);

/** Opens a job's journal as the leader does; its office is the caller's to free. */
enum status bench_open_journal(struct journal *out, struct office *own, uint32_t number);

#endif
