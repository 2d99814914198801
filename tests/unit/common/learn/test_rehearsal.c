/* What must hold for a rehearsal with any prior: it repeats, nothing is lost without noise, and each part of the noise
 * costs something. */

#include "learn/rehearsal.h"
#include "learn/rehearsal_table.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

enum { TABLES = 12, MANY_TABLES = 30, SEEDS = 40 };

/* Three numbers, a category of two, one of three, and a column with an indicator: 9 features. */
static void fill(struct schema *schema, struct column *column)
{
    memset(column, 0, 6 * sizeof *column);
    column[3].kind = COLUMN_CATEGORY;
    column[3].category_count = 2;
    column[4].kind = COLUMN_CATEGORY;
    column[4].category_count = 3;
    column[5].has_indicator = true;
    *schema = (struct schema){.column = column, .column_count = 6};
}

static struct rehearsal quiet(const struct schema *schema, bool looks)
{
    return (struct rehearsal){.tune = {.feature_count = 9,
                                       .output_count = 1,
                                       .sight = looks ? SIGHT_PRODUCTS : SIGHT_SUMS,
                                       .steps = looks ? 3 : 16,
                                       .quantile = 0.3},
                              .reach = 0.3 * 9,
                              .schema = schema,
                              .records = 5000,
                              .noises = 1};
}

static struct rehearsal_answer played(const struct rehearsal *plan, uint64_t seed)
{
    struct rehearsal_answer answer;
    cr_assert(eq(int, rehearsal_play(&answer, plan, 1, TABLES, seed), STATUS_OK));
    return answer;
}

static bool same_figure(const struct rehearsal_figure *a, const struct rehearsal_figure *b)
{
    return a->mean == b->mean && a->low == b->low && a->high == b->high && a->median == b->median;
}

static bool same(const struct rehearsal_answer *a, const struct rehearsal_answer *b)
{
    return same_figure(&a->reached, &b->reached) && same_figure(&a->lost, &b->lost) &&
           same_figure(&a->free, &b->free) && a->tables == b->tables;
}

Test(rehearsal, repeats_itself_by_its_seed_alone)
{
    struct schema schema;
    struct column column[6];
    fill(&schema, column);
    struct rehearsal plan = quiet(&schema, true);
    plan.step = 20;
    const struct rehearsal_answer once = played(&plan, 1);
    const struct rehearsal_answer again = played(&plan, 1);
    const struct rehearsal_answer other = played(&plan, 2);
    cr_assert(same(&once, &again));
    cr_assert(ne(dbl, once.reached.mean, other.reached.mean));
}

/* After products nothing is lost, in the mean over tables of all kinds. After sums, correlated columns are learned
 * slowly, even without noise. */
Test(rehearsal, loses_little_without_noise)
{
    struct schema schema;
    struct column column[6];
    fill(&schema, column);
    for (int looks = 0; looks < 2; looks++) {
        const struct rehearsal plan = quiet(&schema, looks == 1);
        struct rehearsal_answer answer;
        cr_assert(eq(int, rehearsal_play(&answer, &plan, 1, MANY_TABLES, 3), STATUS_OK));
        cr_assert(lt(dbl, answer.lost.mean, looks == 1 ? 0.01 : 0.06), "looks %d", looks);
        cr_assert(gt(dbl, answer.lost.mean, -0.01));
        cr_assert(gt(dbl, answer.free.mean, 0.7));
        cr_assert(lt(dbl, answer.free.low, 0.78));
        cr_assert(gt(dbl, answer.free.high, 0.9));
        cr_assert(le(dbl, answer.reached.low, answer.reached.mean));
        cr_assert(le(dbl, answer.reached.mean, answer.reached.high));
    }
}

/* Each kind of noise by itself, large: a rehearsal that forgot it would lose as little as without noise. */
Test(rehearsal, every_noise_costs)
{
    struct schema schema;
    struct column column[6];
    fill(&schema, column);
    for (int part = 0; part < 5; part++) {
        struct rehearsal plan[2] = {quiet(&schema, part < 4), quiet(&schema, part < 4)};
        struct rehearsal_answer answer[2];
        double *noise[] = {&plan[1].look_count, &plan[1].look_sum, &plan[1].look_product,
                           &plan[1].step, &plan[1].look_kept};
        /* Later steps mend what the first got wrong. */
        plan[0].tune.steps = plan[1].tune.steps = part < 4 ? 1 : 0;
        *noise[part] = part < 3 ? 5000 : 1000;
        cr_assert(eq(int, rehearsal_play(answer, plan, 2, TABLES, 4), STATUS_OK));
        /* A step corrects wrong counts, and the guess of what a clip keeps is good enough: their noise changes the result
         * only a little. */
        const double most = part > 0 && part < 4 ? answer[0].lost.mean + 0.005 : -1;
        cr_assert(gt(dbl, answer[1].lost.mean, most), "part %d", part);
        cr_assert(ne(dbl, answer[1].lost.mean, answer[0].lost.mean), "part %d", part);
    }
}

/* Plans that are rehearsed together have the same tables and the same random draws. So a plan's figures do not depend on
 * the other plans. */
Test(rehearsal, plays_each_plan_as_if_alone)
{
    struct schema schema;
    struct column column[6];
    struct rehearsal plan[3];
    struct rehearsal_answer answer[3];
    fill(&schema, column);
    for (int i = 0; i < 3; i++) {
        plan[i] = quiet(&schema, i == 1);
        plan[i].step = 50.0 * (i + 1);
    }
    cr_assert(eq(int, rehearsal_play(answer, plan, 3, TABLES, 6), STATUS_OK));
    for (int i = 0; i < 3; i++) {
        const struct rehearsal_answer alone = played(&plan[i], 6);
        cr_assert(same(&alone, &answer[i]), "plan %d", i);
    }
}

/* The band is for the accuracy on held-out records, so it is wider with fewer of them. The mean does not depend on
 * their number. */
Test(rehearsal, bands_hold_the_chance_of_who_is_held_out)
{
    struct schema schema;
    struct column column[6];
    struct rehearsal plan;
    fill(&schema, column);
    plan = quiet(&schema, true);
    plan.records = 2e9; /* a multiple of 2000: the rows are the same */
    const struct rehearsal_answer many = played(&plan, 7);
    plan.records = 34000; /* 8500 held out */
    const struct rehearsal_answer few = played(&plan, 7);
    cr_assert(lt(dbl, few.lost.low, many.lost.low - 0.0005));
    cr_assert(eq(dbl, few.free.mean, many.free.mean));
}

/* The means of other seeds differ from each other by as much as the error says. Without the root of the number of tables, or with
 * the number in its place, the variances would be 12 times apart. */
Test(rehearsal, tells_how_far_other_tables_move_a_mean)
{
    struct schema schema;
    struct column column[6];
    struct rehearsal plan;
    fill(&schema, column);
    plan = quiet(&schema, true);
    plan.step = 0.05;
    double sum = 0;
    double squares = 0;
    double said = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const struct rehearsal_answer answer = played(&plan, seed);
        sum += answer.lost.mean;
        squares += answer.lost.mean * answer.lost.mean;
        said += answer.lost.error * answer.lost.error / SEEDS;
    }
    const double own = (squares - sum * sum / SEEDS) / (SEEDS - 1);
    cr_log_info("the error said %g, seen %g", sqrt(said), sqrt(own));
    cr_assert(own < 4 * said && said < 4 * own);
}

/* A table has 2000 rows of 60 columns. What the model without privacy learns from so few is their chance; of a job of many
 * records it must not: it would be a quarter of a point worse, and privacy would seem to cost that much less. */
Test(rehearsal, more_records_than_rows_teach_more)
{
    struct schema schema;
    struct column column[60];
    struct rehearsal plan[2];
    struct rehearsal_answer answer[2];
    fill(&schema, column);
    memset(column, 0, sizeof column);
    schema.column_count = 60;
    for (int i = 0; i < 2; i++) {
        plan[i] = quiet(&schema, true);
        plan[i].tune.feature_count = 60;
        plan[i].records = i == 0 ? 2000 : 100000;
        plan[i].step = plan[i].records / 30; /* beside it, chance in 2000 labels is little */
        cr_assert(eq(int, rehearsal_play(&answer[i], &plan[i], 1, TABLES, 9), STATUS_OK));
    }
    cr_assert(gt(dbl, answer[1].free.mean, answer[0].free.mean + 0.0015), "%g %g",
              answer[1].free.mean, answer[0].free.mean);
    cr_assert(gt(dbl, answer[1].lost.mean, answer[0].lost.mean + 0.0015), "%g %g",
              answer[1].lost.mean, answer[0].lost.mean);
}

/* The prior of a label's difficulty is wide: some tables are little better than chance, some nearly certain. */
Test(rehearsal, made_up_labels_are_of_all_difficulties)
{
    struct schema schema;
    struct column column[6];
    struct rehearsal_answer answer;
    fill(&schema, column);
    const struct rehearsal plan = quiet(&schema, true);
    cr_assert(eq(int, rehearsal_play(&answer, &plan, 1, MANY_TABLES, 8), STATUS_OK));
    cr_assert(lt(dbl, answer.free.low, 0.65));
    cr_assert(gt(dbl, answer.free.high, 0.96));
}

/* The band of more noise lies above, and of central noise below that of five sites. */
Test(rehearsal, loses_more_the_more_noise_there_is)
{
    struct schema schema;
    struct column column[6];
    struct rehearsal plan[3];
    struct rehearsal_answer answer[3];
    fill(&schema, column);
    for (int i = 0; i < 3; i++) {
        plan[i] = quiet(&schema, false);
        plan[i].noises = 5;
        plan[i].step = i == 0 ? 10 : i == 1 ? 300 : 3000;
    }
    cr_assert(eq(int, rehearsal_play(answer, plan, 3, TABLES, 5), STATUS_OK));
    cr_assert(lt(dbl, answer[0].lost.mean, answer[1].lost.mean));
    cr_assert(lt(dbl, answer[1].lost.mean, answer[2].lost.mean));
    cr_assert(eq(dbl, answer[0].free.mean, answer[2].free.mean));
}

Test(rehearsal, says_where_it_would_take_too_long)
{
    struct rehearsal plan = quiet(NULL, false);
    cr_assert(eq(int, rehearsal_is_short(&plan, 1), true));
    plan.tune.feature_count = 256;
    plan.tune.steps = 16;
    cr_assert(eq(int, rehearsal_is_short(&plan, 1), false));
}

/* A coordinator rehearses while a job runs: fewer tables of a longer plan, and none of one that would hold it up. */
Test(rehearsal, few_tables_of_a_long_plan)
{
    struct schema schema;
    struct column column[6];
    fill(&schema, column);
    struct rehearsal plan = quiet(&schema, false);
    cr_assert(eq(sz, rehearsal_prompt_tables(&plan), REHEARSAL_TABLES_PROMPT));
    size_t before = REHEARSAL_TABLES_PROMPT;
    for (plan.tune.feature_count = 8; plan.tune.feature_count <= 256;
         plan.tune.feature_count *= 2) {
        const size_t tables = rehearsal_prompt_tables(&plan);
        cr_assert(le(sz, tables, before));
        cr_assert(tables == 0 || tables >= REHEARSAL_TABLES_FEW);
        before = tables;
    }
    cr_assert(eq(sz, before, 0));
}

/* As quiet(), of four classes or of a number. */
static struct rehearsal quiet_of(const struct schema *schema, enum label_kind kind, bool looks)
{
    struct rehearsal plan = quiet(schema, looks);
    plan.kind = kind;
    plan.loss.kind = LOSS_SQUARED;
    plan.planned = 1e-3;
    plan.records = 4000;
    plan.tune.output_count = kind == LABEL_CLASSES ? 4 : 1;
    plan.tune.steps = 3;
    if (kind == LABEL_NUMBER) {
        plan.tune.sight = looks ? SIGHT_PRODUCTS : SIGHT_NONE;
        plan.tune.quantile = 1;
        plan.tune.steps = looks ? 3 : 12;
    }
    return plan;
}

static const enum label_kind kinds[] = {LABEL_CLASSES, LABEL_NUMBER};

Test(rehearsal, several_classes_and_numbers_repeat_themselves_and_lose_little_without_noise)
{
    struct schema schema;
    struct column column[6];
    fill(&schema, column);
    for (size_t k = 0; k < 2; k++) {
        const struct rehearsal plan = quiet_of(&schema, kinds[k], true);
        const struct rehearsal_answer once = played(&plan, 1);
        const struct rehearsal_answer again = played(&plan, 1);
        const struct rehearsal_answer other = played(&plan, 2);
        cr_assert(same(&once, &again));
        cr_assert(ne(dbl, once.reached.mean, other.reached.mean));
        cr_expect(lt(dbl, once.lost.mean, k == 0 ? 0.06 : 0.01));
        cr_expect(gt(dbl, once.lost.mean, -0.01));
        cr_expect(le(dbl, once.reached.low, once.reached.mean));
        cr_expect(le(dbl, once.reached.mean, once.reached.high));
        cr_expect(eq(dbl, once.inside, k == 0 ? 0.96 : 0.9));
        cr_expect(eq(int, isnan(once.explained.mean) != 0, k == 0));
    }
}

/* Each kind of noise by itself: a rehearsal that forgot it would lose as little as without. Of classes counts, what a clip keeps,
 * sums, products and steps; of a number sums, products, steps and misses. */
Test(rehearsal, every_noise_costs_several_classes_and_numbers)
{
    struct schema schema;
    struct column column[6];
    fill(&schema, column);
    for (size_t k = 0; k < 2; k++) {
        for (int part = 0; part < 6; part++) {
            const bool looks = k == 1 || (part != 1 && part != 4);
            if (k == 1 && part < 2) { /* no classes to count */
                continue;
            }
            struct rehearsal plan[2] = {quiet_of(&schema, kinds[k], looks),
                                        quiet_of(&schema, kinds[k], looks)};
            struct rehearsal_answer answer[2];
            double *noise[] = {&plan[1].look_count,   &plan[1].look_kept, &plan[1].look_sum,
                               &plan[1].look_product, &plan[1].step,      &plan[1].step_size};
            if (k == 0 && part == 5) {
                continue;
            }
            plan[0].tune.steps = plan[1].tune.steps = part == 1 ? 0 : looks ? 1 : 12;
            *noise[part] = part < 5 ? 4000 : 1000;
            cr_assert(eq(int, rehearsal_play(answer, plan, 2, TABLES, 4), STATUS_OK));
            cr_assert(ne(dbl, answer[1].lost.mean, answer[0].lost.mean), "%zu, part %d", k, part);
            const bool surely = part > 1 && part < 5;
            /* A number's step is shortened by its noise. */
            const double more = k == 1 && part == 4 ? 0.0001 : 0.003;
            cr_assert(gt(dbl, answer[1].lost.mean, surely ? answer[0].lost.mean + more : -1),
                      "%zu, part %d: %g, %g", k, part, answer[1].lost.mean, answer[0].lost.mean);
        }
    }
}

/* How much of its variance a model explains and its error are of one table: errors are of ranges that are 2 wide, and a constant
 * explains nothing. */
Test(rehearsal, a_number_that_noise_drowns_is_not_explained)
{
    struct schema schema;
    struct column column[6];
    fill(&schema, column);
    struct rehearsal plan = quiet_of(&schema, LABEL_NUMBER, true);
    plan.tune.steps = 1;
    plan.look_product = plan.look_sum = plan.step = 1e6;
    plan.planned = 1e3;
    const struct rehearsal_answer drowned = played(&plan, 3);
    cr_expect(lt(dbl, drowned.explained.median, 0.1));
    cr_expect(gt(dbl, drowned.free_explained.median, 0.3));
    cr_expect(gt(dbl, drowned.reached.mean, drowned.free.mean + 0.02));
    cr_expect(le(dbl, drowned.reached.high, 1));
    plan.loss = (struct loss){LOSS_PINBALL, 0.9};
    const struct rehearsal_answer quantile = played(&plan, 3);
    cr_expect(ne(int, isnan(quantile.explained.mean), 0));
    cr_expect(lt(dbl, quantile.free.mean, drowned.free.mean));
}

Test(rehearsal, draws_columns_in_their_range_and_shares_that_sum_to_one)
{
    struct schema schema;
    struct column column[6];
    fill(&schema, column);
    for (size_t k = 0; k < 2; k++) {
        struct rehearsal_table table = {
            .kind = kinds[k], .outputs = k == 0 ? 4 : 1, .d = 9, .rows = 300, .labels = 3};
        cr_assert(eq(int, rehearsal_table_init(&table), STATUS_OK));
        for (size_t t = 0; t < 8; t++) {
            struct public_random random = public_random_from(t);
            cr_assert(eq(int, rehearsal_table_draw(&table, &schema, t, 8, &random), STATUS_OK));
            for (size_t i = 0; i < table.rows; i++) {
                double sum = 0;
                for (size_t j = 0; j < 9; j++) {
                    cr_assert(le(dbl, fabs(table.z[i * 10 + j]), 1));
                }
                for (size_t c = 0; k == 0 && c < 4; c++) {
                    sum += rehearsal_table_share(&table, i, c);
                }
                cr_assert(lt(dbl, k == 1 ? 0 : fabs(sum - 1), 1e-9));
                cr_assert(eq(sz, table.draws, k == 0 ? 0 : 3));
                cr_assert(le(dbl, k == 0 ? 0 : fabs(table.y[3 * i]), 1));
            }
        }
        rehearsal_table_free(&table);
    }
}
