/* What `learn` must reach on three tables: the shipped patients and tumours, and 1,797 handwritten digits of 64 pixels
 * (tests/vectors/digits.csv.gz). Each case is the algorithm alone (tests/support/learn_alone.h) on many splits with fixed seeds.
 *
 * False alarms. The splits are those of their seeds, whatever else changes. Where other noise is drawn, a mean moves by the
 * standard error of the noise alone, which two draws for each split tell. Every floor is at least 6 of them below the mean that
 * was measured, in accuracy and in AUC: other draws fall below one of the 23 floors with a chance of 23 * 1e-9 at most. The
 * distance is printed. With less epsilon each table falls below its floor: a learner that wastes most of it is seen. */

#include "learn_tables.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOISES = 1000000 };

struct floor {
    struct learn_table table;
    int splits;
    double accuracy;
    double auc; /* 0 of several classes */
};

struct reached {
    double mean[2];  /* accuracy, AUC */
    double error[2]; /* by noise */
};

static struct reached reach(const struct floor *floor, const char *epsilon, int splits)
{
    struct learn_alone alone;
    struct learn_table table = floor->table;
    struct reached reached = {.mean = {0}};
    table.epsilon = epsilon;
    learn_table_open(&alone, &table);
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
    const struct reached got = reach(floor, floor->table.epsilon, floor->splits);
    (void)printf("%s and %d, %s %s, delta %s: %.4f, %.1f errors above; %.4f, %.1f\n",
                 strrchr(floor->table.table, '/') + 1, floor->table.more, floor->table.trust,
                 floor->table.epsilon, floor->table.delta, got.mean[0],
                 (got.mean[0] - floor->accuracy) / got.error[0], got.mean[1],
                 (got.mean[1] - floor->auc) / got.error[1]);
    cr_expect_geq(got.mean[0], floor->accuracy, "%s, %s %s: accuracy %.4f", floor->table.table,
                  floor->table.trust, floor->table.epsilon, got.mean[0]);
    cr_expect(floor->auc == 0 || got.mean[1] >= floor->auc, "%s, %s %s: AUC %.4f",
              floor->table.table, floor->table.trust, floor->table.epsilon, got.mean[1]);
}

/* Planted: as much noise as less epsilon has. */
static void check_fails(const struct floor *floor, const char *epsilon)
{
    const struct reached got = reach(floor, epsilon, 25);
    cr_expect_lt(got.mean[0] + 5 * got.error[0], floor->accuracy, "%s at %s: %.4f",
                 floor->table.table, epsilon, got.mean[0]);
}

Test(learn_floors, patients)
{
    static const struct floor floors[] = {
        {{PATIENTS, "local", "1", "0", 0}, 30, 0.807, 0.830},
        {{PATIENTS, "local", "4", "0", 0}, 20, 0.810, 0.834},
        {{PATIENTS, "central", "1", "0", 0}, 40, 0.810, 0.833},
        {{PATIENTS, "central", "1", "0.00001", 0}, 25, 0.811, 0.835}};
    for (size_t i = 0; i < sizeof floors / sizeof floors[0]; i++) {
        check(&floors[i]);
    }
    check_fails(&floors[0], "0.1");
}

/* Sixty columns that tell nothing, beside the table's seven. */
Test(learn_floors, patients_and_noise)
{
    static const struct floor floor = {{PATIENTS, "local", "1", "0", 60}, 30, 0.798, 0.810};
    check(&floor);
    check_fails(&floor, "0.3");
}

Test(learn_floors, tumours)
{
    static const struct floor floors[] = {
        {{TUMOURS, "local", "1", "0", 0}, 150, 0.915, 0.979},
        {{TUMOURS, "local", "4", "0", 0}, 60, 0.923, 0.980},
        {{TUMOURS, "local", "20", "0", 0}, 60, 0.95, 0.985},
        {{TUMOURS, "central", "1", "0", 0}, 60, 0.917, 0.979},
        {{TUMOURS, "central", "1", "0.00001", 0}, 60, 0.928, 0.981}};
    for (size_t i = 0; i < sizeof floors / sizeof floors[0]; i++) {
        check(&floors[i]);
    }
    check_fails(&floors[0], "0.2");
}

Test(learn_floors, digits)
{
    static const struct floor floors[] = {{{DIGITS, "local", "10", "0", 0}, 5, 0.85, 0},
                                          {{DIGITS, "central", "4", "0", 0}, 5, 0.65, 0},
                                          {{DIGITS, "central", "10", "0", 0}, 40, 0.88, 0}};
    for (size_t i = 0; i < sizeof floors / sizeof floors[0]; i++) {
        check(&floors[i]);
    }
    check_fails(&floors[2], "3.3");
}
