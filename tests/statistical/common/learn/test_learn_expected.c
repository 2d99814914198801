/* Whether what `plan job` expects holds: the shipped patients and tumours (two classes), the digits (ten), and a number of the
 * patients. Forty splits for each plan. Over a table's plans at least 80 % of the runs lie in the bands of what is reached and of points
 * lost, and of each plan half. Where a stage tries products of columns its rehearsal plays none, as the made-up labels are of
 * linear models (learn/rehearsal.h); the model without privacy has the same products, as in `hedgerow simulate`.
 *
 * Splits and noise are of fixed seeds, so every run has the same figures: docs/STUDY.md has them. Planted: losses larger by the
 * width of their band. */

#include "base/check.h"
#include "job/terms.h"
#include "learn_tables.h"
#include "task/learn/stage.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { SPLITS = 40, INSIDE_PERCENT = 80 };

#define SEED 31

struct plan {
    const char *trust;
    const char *epsilon;
    const char *delta;
};

struct inside {
    int reached;
    int lost;
    int planted; /* losses that are larger by the width of the band */
};

static bool is_inside(const struct rehearsal_figure *figure, double x)
{
    return figure->low <= x && x <= figure->high;
}

static struct inside count_inside(const struct learn_table *table)
{
    struct learn_alone alone;
    struct rehearsal rehearsal;
    struct rehearsal_answer expected;
    struct inside inside = {0};
    learn_table_open(&alone, table);
    const struct terms_size size = {.agents = alone.sites, .records = alone.job.records_least};
    const double sign = alone.job.stage->schema.label.kind == LABEL_NUMBER ? -1 : 1;
    cr_assert(terms_rehearse(&rehearsal, &alone.job, 0, size, NULL) == STATUS_OK);
    cr_assert(!rehearsal.tune.bends);
    cr_assert(rehearsal_play(&expected, &rehearsal, 1, REHEARSAL_TABLES_MIN, SEED) == STATUS_OK);
    const double width = expected.lost.high - expected.lost.low;
    double mean = 0;
    double mean_lost = 0;
    for (uint64_t split = 1; split <= SPLITS; split++) {
        double reached;
        double auc;
        learn_alone_run(&reached, &auc, &alone, split, split);
        const double lost = sign * (learn_alone_pooled(&alone) - reached);
        mean += reached / SPLITS;
        mean_lost += lost / SPLITS;
        inside.reached += is_inside(&expected.reached, reached) ? 1 : 0;
        inside.lost += is_inside(&expected.lost, lost) ? 1 : 0;
        inside.planted += is_inside(&expected.lost, lost + width) ? 1 : 0;
    }
    (void)printf("%s %s %s, delta %s%s: lost %.1f (%.1f to %.1f), mean %.1f: %d inside; reached "
                 "%.1f (%.1f to %.1f), mean %.1f: %d inside\n",
                 alone.job.name, table->trust, table->epsilon, table->delta,
                 rehearsal.tries_products ? ", products" : "", 100 * expected.lost.mean,
                 100 * expected.lost.low, 100 * expected.lost.high, 100 * mean_lost, inside.lost,
                 100 * expected.reached.mean, 100 * expected.reached.low,
                 100 * expected.reached.high, 100 * mean, inside.reached);
    learn_alone_free(&alone);
    return inside;
}

static void check(const char *job, const char *records, size_t sites, const struct plan *plan,
                  size_t count)
{
    struct inside all = {0};
    const int least = (int)count * SPLITS * INSIDE_PERCENT / 100;
    for (size_t i = 0; i < count; i++) {
        const struct inside inside = count_inside(&(struct learn_table){
            job, records, sites, plan[i].trust, plan[i].epsilon, plan[i].delta, 0, 0});
        cr_expect_geq(inside.lost, SPLITS / 2, "plan %zu, points lost: %d", i, inside.lost);
        cr_expect_geq(inside.reached, SPLITS / 2, "plan %zu: %d", i, inside.reached);
        all.lost += inside.lost;
        all.reached += inside.reached;
        all.planted += inside.planted;
    }
    cr_expect_geq(all.lost, least, "points lost: %d of %zu", all.lost, count * SPLITS);
    cr_expect_geq(all.reached, least, "%d of %zu", all.reached, count * SPLITS);
    cr_expect_lt(all.planted, least, "as many points more as the band is wide: %d", all.planted);
}

#define CHECK_OF(table, plans) check(table, plans, sizeof(plans) / sizeof(plans)[0])

static const struct plan usual[] = {
    {"local", "0.3", "0"}, {"local", "1", "0"}, {"local", "4", "0"}, {"central", "1", "0"}};

Test(learn_expected, bands_hold_of_patients)
{
    CHECK_OF(PATIENTS, usual);
}

Test(learn_expected, bands_hold_of_tumours)
{
    CHECK_OF(TUMOURS, usual);
}

Test(learn_expected, bands_hold_of_digits)
{
    static const struct plan plans[] = {
        {"local", "1", "0"}, {"local", "10", "0"}, {"central", "4", "0"}};
    CHECK_OF(DIGITS, plans);
}

Test(learn_expected, bands_hold_of_a_number)
{
    CHECK_OF(KAPPA, usual);
}

Test(learn_expected, bands_hold_a_stage_that_tries_products)
{
    static const struct plan plans[] = {
        {"central", "4", "0"}, {"local", "20", "0"}, {"local", "1", "0.00001"}};
    CHECK_OF(PATIENTS, plans);
}
