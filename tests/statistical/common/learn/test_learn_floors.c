/* What `learn` must reach on three tables: the shipped patients and tumours, and 1,797 handwritten digits of 64 pixels
 * (tests/vectors/digits.csv.gz). Each case is the algorithm alone (tests/support/learn_alone.h) on many splits with fixed seeds.
 *
 * False alarms. The splits are those of their seeds, whatever else changes. Where other noise is drawn, a mean moves by the
 * standard error of the noise alone, which two draws for each split tell. Every floor is at least 6 of them below the mean that
 * was measured, in accuracy and in AUC: other draws fall below one of the 23 floors with a chance of 23 * 1e-9 at most. The
 * distance is printed. With less epsilon each table falls below its floor: a learner that wastes most of it is seen. */

#include "tests/support/learn_alone.h"

#include "base/bytes.h"
#include "base/check.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 16384, LINE_BYTES = 256, PIXELS = 64, NOISES = 1000000 };

#define COMPOSE TEST_VECTORS "/../../compose/"

/* One table under one trust and epsilon. */
struct floor {
    const char *job; /* NULL: the digits */
    const char *table;
    size_t sites;
    const char *trust;
    const char *epsilon;
    const char *delta;
    int splits;
    double accuracy;
    double auc; /* 0 of several classes */
    int more;   /* columns of uniform noise beside the table's own */
};

/* Replaces the line behind `key`, which begins it. */
static void set_line(char text[static TEXT_BYTES], const char *key, const char *value)
{
    char rest[TEXT_BYTES];
    char *line = strstr(text, key);
    cr_assert_not_null(line, "%s", key);
    (void)snprintf(rest, sizeof rest, "%s", line + strcspn(line, "\n"));
    (void)snprintf(line, TEXT_BYTES - (size_t)(line - text), "%s%s%s", key, value, rest);
}

static void read_job(char text[static TEXT_BYTES], const char *name)
{
    FILE *file = fopen(name, "r");
    cr_assert_not_null(file, "%s", name);
    const size_t size = fread(text, 1, TEXT_BYTES - 64, file);
    cr_assert(size > 0 && feof(file));
    text[size] = '\0';
    (void)fclose(file);
}

static void write_digits(char text[static TEXT_BYTES])
{
    size_t used = (size_t)snprintf(
        text, TEXT_BYTES,
        "hedgerow: 1\njob: digits\ndata:\n  label: {column: digit, classes: [\"0\", \"1\", \"2\", "
        "\"3\", \"4\", \"5\", \"6\", \"7\", \"8\", \"9\"]}\n  features:\n");
    for (int i = 0; i < PIXELS; i++) {
        used += (size_t)snprintf(text + used, TEXT_BYTES - used,
                                 "    - {column: p%d, centre: 8, half_width: 8}\n", i);
    }
    (void)snprintf(text + used, TEXT_BYTES - used,
                   "privacy:\n  unit: record\n  neighbours: replace_one\n  trust: local\n"
                   "  epsilon: 1\n  delta: 0\n"
                   "cohort: {minimum: 10, records: 143, deadline_s: 30}\n"
                   "stages:\n  - {task: learn}\n");
}

/* The job and its table with that many columns more. path: a template of mkstemp(), which becomes the table's name. */
static void add_columns(char text[static TEXT_BYTES], char *path, const char *table, int more)
{
    char rest[TEXT_BYTES];
    char line[LINE_BYTES];
    struct seeded_random seeded;
    char *end = strstr(text, "\nprivacy:");
    cr_assert_not_null(end);
    (void)snprintf(rest, sizeof rest, "%s", end);
    size_t used = (size_t)(end - text);
    for (int i = 0; i < more; i++) {
        used += (size_t)snprintf(text + used, TEXT_BYTES - used,
                                 "    - {column: more%d, centre: 0, half_width: 1}\n", i);
    }
    (void)snprintf(text + used, TEXT_BYTES - used, "%s", rest);
    const int fd = mkstemp(path);
    FILE *from = fopen(table, "r");
    FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
    cr_assert(from != NULL && to != NULL);
    seeded_random_init(&seeded, 1);
    for (bool head = true; fgets(line, sizeof line, from) != NULL; head = false) {
        line[strcspn(line, "\r\n")] = '\0';
        (void)fputs(line, to);
        for (int i = 0; i < more; i++) {
            (void)(head ? fprintf(to, ",more%d", i)
                        : fprintf(to, ",%.3f", 2 * seeded_random_unit(&seeded) - 1));
        }
        (void)fputc('\n', to);
    }
    cr_assert(ferror(from) == 0 && fclose(from) == 0 && fclose(to) == 0);
}

struct reached {
    double mean[2];  /* accuracy, AUC */
    double error[2]; /* by noise */
};

static struct reached reach(const struct floor *floor, const char *epsilon, int splits)
{
    static char text[TEXT_BYTES];
    struct learn_alone alone;
    struct reached reached = {.mean = {0}};
    char path[] = "/tmp/hedgerow-floors-XXXXXX";
    if (floor->job == NULL) {
        write_digits(text);
    } else {
        read_job(text, floor->job);
    }
    set_line(text, "  trust: ", floor->trust);
    set_line(text, "  epsilon: ", epsilon);
    set_line(text, "  delta: ", floor->delta);
    if (floor->more > 0) {
        add_columns(text, path, floor->table, floor->more);
    }
    learn_alone_init(&alone, text, floor->more > 0 ? path : floor->table, floor->sites);
    if (floor->more > 0) {
        cr_assert(remove(path) == 0);
    }
    for (int split = 1; split <= splits; split++) {
        double got[2][2];
        for (int i = 0; i < 2; i++) {
            learn_alone_run(&got[i][0], &got[i][1], &alone, (uint64_t)split,
                            (uint64_t)(NOISES + 2 * split + i));
        }
        for (int i = 0; i < 2; i++) {
            reached.mean[i] += (got[0][i] + got[1][i]) / (2 * splits);
            reached.error[i] += (got[0][i] - got[1][i]) * (got[0][i] - got[1][i]);
        }
    }
    for (int i = 0; i < 2; i++) { /* of the mean of two: half of their difference */
        reached.error[i] = sqrt(reached.error[i]) / (2 * splits);
    }
    learn_alone_free(&alone);
    return reached;
}

static void check(const struct floor *floor)
{
    const struct reached got = reach(floor, floor->epsilon, floor->splits);
    (void)printf("%s and %d, %s %s, delta %s: %.4f, %.1f errors above; %.4f, %.1f\n",
                 strrchr(floor->table, '/') + 1, floor->more, floor->trust, floor->epsilon,
                 floor->delta, got.mean[0], (got.mean[0] - floor->accuracy) / got.error[0],
                 got.mean[1], (got.mean[1] - floor->auc) / got.error[1]);
    cr_expect_geq(got.mean[0], floor->accuracy, "%s, %s %s: accuracy %.4f", floor->table,
                  floor->trust, floor->epsilon, got.mean[0]);
    cr_expect(floor->auc == 0 || got.mean[1] >= floor->auc, "%s, %s %s: AUC %.4f", floor->table,
              floor->trust, floor->epsilon, got.mean[1]);
}

/* Planted: as much noise as less epsilon has. */
static void check_fails(const struct floor *floor, const char *epsilon)
{
    const struct reached got = reach(floor, epsilon, 25);
    cr_expect_lt(got.mean[0] + 5 * got.error[0], floor->accuracy, "%s at %s: %.4f", floor->table,
                 epsilon, got.mean[0]);
}

#define PATIENTS COMPOSE "hospitals/learn.yml", COMPOSE "hospitals/flchain.csv", 5
#define TUMOURS  COMPOSE "tumours/learn.yml", COMPOSE "tumours/wdbc.csv", 5
#define DIGITS   NULL, TEST_VECTORS "/digits.csv.gz", 10

Test(learn_floors, patients)
{
    static const struct floor floors[] = {{PATIENTS, "local", "1", "0", 30, 0.807, 0.830},
                                          {PATIENTS, "local", "4", "0", 20, 0.810, 0.834},
                                          {PATIENTS, "central", "1", "0", 40, 0.810, 0.833},
                                          {PATIENTS, "central", "1", "0.00001", 25, 0.811, 0.835}};
    for (size_t i = 0; i < sizeof floors / sizeof floors[0]; i++) {
        check(&floors[i]);
    }
    check_fails(&floors[0], "0.1");
}

/* Sixty columns that tell nothing, beside the table's seven. */
Test(learn_floors, patients_and_noise)
{
    static const struct floor floor = {PATIENTS, "local", "1", "0", 30, 0.798, 0.810, .more = 60};
    check(&floor);
    check_fails(&floor, "0.3");
}

Test(learn_floors, tumours)
{
    static const struct floor floors[] = {{TUMOURS, "local", "1", "0", 150, 0.915, 0.979},
                                          {TUMOURS, "local", "4", "0", 60, 0.923, 0.980},
                                          {TUMOURS, "local", "20", "0", 60, 0.95, 0.985},
                                          {TUMOURS, "central", "1", "0", 60, 0.917, 0.979},
                                          {TUMOURS, "central", "1", "0.00001", 60, 0.928, 0.981}};
    for (size_t i = 0; i < sizeof floors / sizeof floors[0]; i++) {
        check(&floors[i]);
    }
    check_fails(&floors[0], "0.2");
}

Test(learn_floors, digits)
{
    static const struct floor floors[] = {{DIGITS, "local", "10", "0", 5, 0.85, 0},
                                          {DIGITS, "central", "4", "0", 5, 0.65, 0},
                                          {DIGITS, "central", "10", "0", 40, 0.88, 0}};
    for (size_t i = 0; i < sizeof floors / sizeof floors[0]; i++) {
        check(&floors[i]);
    }
    check_fails(&floors[2], "3.3");
}
