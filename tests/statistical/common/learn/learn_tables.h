/* learn_tables.h - the tables on which `learn` is tried: the shipped patients and tumours, with columns of noise beside their own or
 * without, and 1,797 handwritten digits of 64 pixels; and made-up ones. */

#ifndef TESTS_STATISTICAL_LEARN_TABLES_H
#define TESTS_STATISTICAL_LEARN_TABLES_H

#include "tests/support/learn_alone.h"

#define LEARN_COMPOSE TEST_VECTORS "/../../compose/"

/* A table, its job and its sites. */
#define PATIENTS LEARN_COMPOSE "hospitals/learn.yml", LEARN_COMPOSE "hospitals/flchain.csv", 5
#define TUMOURS  LEARN_COMPOSE "tumours/learn.yml", LEARN_COMPOSE "tumours/wdbc.csv", 5
#define DIGITS   TEST_VECTORS "/digits.yml", TEST_VECTORS "/digits.csv.gz", 10
#define KAPPA    TEST_VECTORS "/kappa.yml", LEARN_COMPOSE "hospitals/flchain.csv", 5 /* a number */

/* Made-up tables of normal columns, for five sites. */
enum learn_made {
    MADE_NONE,
    MADE_ALIKE, /* eight columns of two factors, four classes that differ in all of them, 2,000 records */
    MADE_COMMON, /* twelve columns with a factor in common, five classes, 4,000 records */
    MADE_OVERSHOOT, /* thirty columns with a factor in common, and a label that follows another one, 3,000 records */
    MADE_LAGS, /* sixteen columns of two factors, six classes, 8,000 records */
    MADE_BENT /* six columns, and a label that follows the product of two and the square of one, 4,000 records */
};

/* One table under one trust and epsilon. */
struct learn_table {
    const char *job;
    const char *table;
    size_t sites;
    const char *trust;
    const char *epsilon;
    const char *delta;
    int more; /* columns of uniform noise beside the table's own */
    double
        wide; /* the public range of every second column is that many times as wide; 0: as it is */
    enum learn_made made; /* in place of a job and a table */
};

/** Reads it: learn_alone_free. Fails the test. */
void learn_table_open(struct learn_alone *alone, const struct learn_table *of);

#endif
