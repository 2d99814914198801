/* A rehearsal against what must hold of it whatever its prior is: it repeats, it costs nothing where there is no noise,
 * and each part of the noise costs. */

#include "learn/rehearsal.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

enum { TABLES = 12 };

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
                                       .sight = looks ? SIGHT_PRODUCTS : SIGHT_NONE,
                                       .steps = looks ? 3 : 16,
                                       .quantile = looks ? 0.3 : 0.05},
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
    cr_assert(eq(int, memcmp(&once, &again, sizeof once), 0));
    cr_assert(ne(dbl, once.accuracy.mean, other.accuracy.mean));
}

/* With a look nothing is lost. Without one, columns that go together are learned slowly, even without noise. */
Test(rehearsal, loses_little_without_noise)
{
    struct schema schema;
    struct column column[6];
    fill(&schema, column);
    for (int looks = 0; looks < 2; looks++) {
        const struct rehearsal plan = quiet(&schema, looks == 1);
        const struct rehearsal_answer answer = played(&plan, 3);
        cr_assert(lt(dbl, answer.lost.mean, looks == 1 ? 0.01 : 0.06), "looks %d", looks);
        cr_assert(gt(dbl, answer.lost.mean, -0.01));
        cr_assert(gt(dbl, answer.free.mean, 0.7));
        cr_assert(lt(dbl, answer.free.low, 0.78));
        cr_assert(gt(dbl, answer.free.high, 0.9));
        cr_assert(le(dbl, answer.accuracy.low, answer.accuracy.mean));
        cr_assert(le(dbl, answer.accuracy.mean, answer.accuracy.high));
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
                           &plan[1].step, &plan[1].first_step};
        plan[0].tune.steps = plan[1].tune.steps = 1; /* later steps mend what the first got wrong */
        *noise[part] = part < 3 ? 5000 : 1000;
        cr_assert(eq(int, rehearsal_play(answer, plan, 2, TABLES, 4), STATUS_OK));
        cr_assert(gt(dbl, answer[1].lost.mean, answer[0].lost.mean + 0.005), "part %d", part);
    }
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
        plan[i].step = plan[i].first_step = i == 0 ? 10 : i == 1 ? 100 : 1000;
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
