/* odd_records.h - tables of records that are as different as they can be, and the tasks whose time must
 * not tell them apart. All tables of a task lie at the same addresses. */

#ifndef TESTS_PROPERTY_AGENT_ODD_RECORDS_H
#define TESTS_PROPERTY_AGENT_ODD_RECORDS_H

#include "task/answer.h"
#include "tests/support/seeded_random.h"

enum {
    ODD_ROWS_MAX = 256,
    ODD_COLUMNS = 7,
    ODD_WIDTH_MAX = 64, /* features times classes */
    ODD_EXPERTS = 3,
    ODD_STATE_MAX = 256
};

enum odd_class {
    ODD_TYPICAL,
    ODD_ZERO,
    ODD_MISSING,
    ODD_UNLISTED,
    ODD_HUGE,
    ODD_SUBNORMAL,
    ODD_LOWEST,  /* every cell at its lower bound, one class */
    ODD_HIGHEST, /* every cell at its upper bound, the other class */
    ODD_MIXED,   /* each cell one of the above, in turn */
    ODD_EACH,    /* each record of one of the classes before, in turn */
    ODD_CLASSES
};

struct odd_task {
    const char *name;
    const char *label;
    const char *unit;
    const char *trust;
    const char *stages; /* the last one is run; # stands for the records of a round */
    uint32_t within;    /* its round */
};

extern const struct odd_task odd_tasks[];
extern const size_t odd_task_count;

/** Returns "typical", "zero" and so on. */
const char *odd_class_name(enum odd_class class);

struct odd_world {
    struct job job;
    struct dataset data;
    size_t rows;
    double x[ODD_ROWS_MAX * ODD_WIDTH_MAX];
    double y[ODD_ROWS_MAX];
    double raw[ODD_ROWS_MAX * ODD_COLUMNS];
    double raw_label[ODD_ROWS_MAX];
    size_t order[ODD_ROWS_MAX];
    double experts[ODD_STATE_MAX];
    struct seeded_random coins;
    struct random random;
    struct task_input input;
    struct private_vector vector; /* of the latest odd_run */
};

/** Reads the job, for two rounds of `batch` records; experts are typical, zero and huge ones. CHECKs
 * that the text is right. */
void odd_init(struct odd_world *world, const struct odd_task *task, size_t batch);

/** Fills the table with records of a class, through the reader of files. Two neighbouring seeds of
 * ODD_MIXED put every class in every column, from 4 records on; ODD_EACH does from 8 on. */
void odd_fill(struct odd_world *world, enum odd_class class, uint64_t seed);

/** Runs the task (world) and clips its answer as the gate does: what an answer waits for. */
void odd_run(void *world);

void odd_free(struct odd_world *world);

#endif
