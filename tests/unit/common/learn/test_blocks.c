/* Features by several maps: every block is what its map gives alone, a model of one block scores as in
 * its own features, and a file is about one block with that block's map. */

#include "learn/blocks.h"
#include "learn/features.h"
#include "learn/model.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAIRS = 6,
    LANDMARKS = 2,
    BLOCKS = 3,
    PLAIN = 3,
    ALL = PLAIN + 2 * PAIRS + 1 + LANDMARKS + 1
};

/* Lags 1 and 7: plain features, then a Fourier map's, then landmarks'. */
static struct schema three_blocks(void)
{
    static const double landmark[] = {1, 1, 0.5, 0.25};
    struct schema schema = {
        .label = {.name = "entries", .kind = LABEL_NUMBER, .centre = 0.75, .half_width = 0.75},
        .lag_count = 2,
        .lag = {1, 7}};
    struct feature_map fourier = {.kind = MAP_FOURIER,
                                  .kernel = {.kind = KERNEL_GAUSSIAN, .rate = 1.5},
                                  .feature_count = 2 * PAIRS,
                                  .seed = 42};
    struct feature_map nystrom = {.kind = MAP_NYSTROM,
                                  .kernel = {.kind = KERNEL_LAPLACIAN, .rate = 2},
                                  .landmark_count = LANDMARKS,
                                  .landmark = malloc(sizeof landmark)};
    cr_assert(nystrom.landmark != NULL);
    memcpy(nystrom.landmark, landmark, sizeof landmark);
    cr_assert_eq(block_append(&schema, fourier), STATUS_OK);
    cr_assert_eq(block_append(&schema, nystrom), STATUS_OK);
    return schema;
}

Test(blocks, follow_one_another)
{
    struct schema schema = three_blocks();
    const struct block plain = block_at(&schema, 0);
    const struct block fourier = block_at(&schema, 1);
    const struct block nystrom = block_at(&schema, 2);
    cr_assert(block_count(&schema) == BLOCKS && schema_feature_count(&schema) == ALL);
    cr_assert(plain.first == 0 && plain.count == PLAIN && plain.all == ALL);
    cr_assert(fourier.first == PLAIN && fourier.count == 2 * PAIRS + 1 && fourier.all == ALL);
    cr_assert(nystrom.first == PLAIN + 2 * PAIRS + 1 && nystrom.count == LANDMARKS + 1);
    cr_assert_eq(nystrom.first + nystrom.count, ALL);
    schema_free(&schema);
    cr_assert(schema.more == NULL && schema.more_count == 0);
}

Test(blocks, each_is_what_its_map_gives_alone)
{
    static const double values[][2] = {{1, 1}, {0.4, 1.2}, {0, 1.5}, {2, -1}};
    struct schema schema = three_blocks();
    struct features *all = NULL;
    cr_assert_eq(features_new(&all, &schema, NULL), STATUS_OK);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        double whole[ALL];
        features_apply(all, whole, values[i]);
        for (size_t b = 0; b < BLOCKS; b++) {
            const struct schema one = block_schema(&schema, b);
            const struct block block = block_at(&schema, b);
            struct features *own = NULL;
            double alone[ALL];
            double norm = 0;
            cr_assert(schema_feature_count(&one) == block.count && one.more_count == 0);
            cr_assert_eq(features_new(&own, &one, NULL), STATUS_OK);
            features_apply(own, alone, values[i]);
            cr_assert_eq(memcmp(alone, whole + block.first, block.count * sizeof *alone), 0);
            for (size_t j = 0; j < block.count; j++) {
                norm += alone[j] * alone[j];
            }
            cr_assert(norm <= 1, "a block's sensitivity is that of its map: norm %.17g", norm);
            cr_assert_eq(alone[block.count - 1], schema_constant(&one));
            features_free(own);
        }
    }
    features_free(all);
    schema_free(&schema);
}

Test(blocks, are_found_by_all_that_their_map_says)
{
    struct schema schema = three_blocks();
    double landmark[] = {1, 1, 0.5, 0.25};
    struct feature_map map = schema.more[1];
    cr_assert_eq(block_find(&schema, &(struct feature_map){.kind = MAP_NONE}), 0);
    cr_assert_eq(block_find(&schema, &schema.more[0]), 1);
    map.landmark = landmark;
    cr_assert_eq(block_find(&schema, &map), 2, "by the numbers, not by where they are");
    landmark[3] = 0.26;
    cr_assert_eq(block_find(&schema, &map), -1);
    landmark[3] = 0.25;
    map.kernel.rate = 2.5;
    cr_assert_eq(block_find(&schema, &map), -1);
    map = schema.more[0];
    map.seed = 43;
    cr_assert_eq(block_find(&schema, &map), -1);
    map = schema.more[0];
    map.kernel.kind = KERNEL_LAPLACIAN;
    cr_assert_eq(block_find(&schema, &map), -1);
    map = schema.more[0];
    map.feature_count += 2;
    cr_assert_eq(block_find(&schema, &map), -1);
    schema_free(&schema);
}

Test(blocks, a_lag_is_found_where_the_plain_block_is)
{
    struct schema schema = three_blocks();
    cr_assert_eq(schema_find_feature(&schema, "lag_7"), 1);
    const struct feature_map fourier = schema.more[0];
    schema.more[0] = schema.map;
    schema.map = fourier; /* the plain one second */
    cr_assert_eq(schema_find_feature(&schema, "lag_7"), 2 * PAIRS + 1 + 1);
    schema.more[0] = fourier; /* none */
    cr_assert_eq(schema_find_feature(&schema, "lag_7"), -1);
    schema_free(&schema);
}

Test(blocks, a_copy_owns_every_map)
{
    struct schema schema = three_blocks();
    struct schema copy;
    cr_assert_eq(schema_copy(&copy, &schema), STATUS_OK);
    cr_assert(copy.more != schema.more && copy.more[1].landmark != schema.more[1].landmark);
    schema_free(&schema);
    cr_assert(copy.more_count == 2 && copy.more[1].landmark[3] == 0.25);
    cr_assert_eq(schema_check(&copy, NULL), STATUS_OK);
    schema_free(&copy);
}

Test(blocks, a_fault_in_a_further_map_is_a_fault_of_the_schema)
{
    struct schema schema = three_blocks();
    struct why why = {{0}};
    schema.more[1].landmark[2] = 1;
    schema.more[1].landmark[3] = 1;
    cr_assert_eq(schema_check(&schema, &why), STATUS_INVALID);
    cr_assert(strstr(why.text, "landmark 2") != NULL, "%s", why.text);
    schema.more[1].landmark[3] = 0.25;
    cr_assert_eq(schema_check(&schema, &why), STATUS_OK);
    schema.more[0].feature_count = 3;
    cr_assert_eq(schema_check(&schema, &why), STATUS_INVALID);
    schema_free(&schema);
}

/* Two outputs, so that a block is several stretches of a model. */
Test(blocks, a_model_of_one_is_zero_outside_and_comes_back)
{
    enum { OUTPUTS = 2 };
    struct schema schema = three_blocks();
    schema.label = (struct label){
        .name = "y", .kind = LABEL_CLASSES, .class_count = OUTPUTS, .class_name = {"a", "b"}};
    for (size_t b = 0; b < BLOCKS; b++) {
        const struct block block = block_at(&schema, b);
        double own[OUTPUTS * ALL] = {0};
        double wide[OUTPUTS * ALL];
        double back[OUTPUTS * ALL];
        for (size_t j = 0; j < OUTPUTS * block.count; j++) {
            own[j] = (double)(j + 1);
        }
        memset(wide, 0xff, sizeof wide); /* no number: whatever is not written is seen */
        block_widen(wide, OUTPUTS, block, own);
        for (size_t j = 0; j < (size_t)OUTPUTS * ALL; j++) {
            const size_t at = j % ALL;
            const bool inside = at >= block.first && at < block.first + block.count;
            const double expected = inside ? own[j / ALL * block.count + at - block.first] : 0;
            cr_assert_eq(wide[j], expected, "block %zu, number %zu", b, j);
        }
        block_narrow(back, OUTPUTS, block, wide);
        cr_assert_eq(memcmp(back, own, OUTPUTS * block.count * sizeof *own), 0);
        cr_assert_eq(block_of_model(&schema, wide), (int)b);
        wide[ALL + (b == 2 ? 0 : ALL - 1)] = 1; /* of the second class, in another block */
        cr_assert_eq(block_of_model(&schema, wide), -1);
        memset(wide, 0, sizeof wide);
        cr_assert_eq(block_of_model(&schema, wide), 0, "zero is zero by any map");
    }
    schema_free(&schema);
}

Test(blocks, a_dataset_of_one_holds_its_features_and_all_labels)
{
    static const char table[] = "entries\n1\n0.5\n0.25\n1.5\n0\n1\n0.75\n0.9\n0.2\n1.1\n";
    struct schema schema = three_blocks();
    struct dataset all;
    cr_assert_eq(dataset_parse(&all, (struct slice){table, sizeof table - 1}, "t", &schema,
                               &(struct dataset_options){.use = DATASET_LEARN}, NULL),
                 STATUS_OK);
    cr_assert(all.feature_count == ALL && all.record_count == 3);
    for (size_t b = 0; b < BLOCKS; b++) {
        const struct schema one = block_schema(&schema, b);
        struct dataset own;
        struct dataset expected;
        cr_assert_eq(block_dataset(&own, &all, block_at(&schema, b)), STATUS_OK);
        cr_assert_eq(dataset_parse(&expected, (struct slice){table, sizeof table - 1}, "t", &one,
                                   &(struct dataset_options){.use = DATASET_LEARN}, NULL),
                     STATUS_OK);
        const size_t numbers = expected.record_count * expected.feature_count;
        cr_assert(own.record_count == expected.record_count &&
                  own.feature_count == expected.feature_count);
        cr_assert_eq(memcmp(own.x, expected.x, numbers * sizeof *own.x), 0);
        cr_assert_eq(memcmp(own.y, expected.y, expected.record_count * sizeof *own.y), 0);
        cr_assert(own.raw == NULL);
        dataset_free(&own);
        dataset_free(&expected);
    }
    dataset_free(&all);
    schema_free(&schema);
}

Test(blocks, a_models_file_carries_the_map_of_its_own_block)
{
    struct schema schema = three_blocks();
    const struct block block = block_at(&schema, 2);
    double wide[ALL] = {0};
    const double own[] = {0.5, -1, 2};
    block_widen(wide, 1, block, own);
    struct model model = {.loss = {.kind = LOSS_SQUARED}};
    struct model back;
    char *text = NULL;
    cr_assert_eq(model_take(&model, &schema, wide), STATUS_OK);
    cr_assert_eq(model.weight_count, 3);
    cr_assert_arr_eq(model.weight, own, sizeof own);
    cr_assert(model.schema.map.kind == MAP_NYSTROM && model.schema.more_count == 0);
    cr_assert_eq(model_to_json(&text, &model), STATUS_OK);
    struct why why = {{0}};
    cr_assert_eq(model_from_json(&back, (struct slice){text, strlen(text)}, "m", &why), STATUS_OK,
                 "%s", why.text);
    cr_assert_eq(block_find(&schema, &back.schema.map), 2);
    model_free(&back);
    model_free(&model);
    free(text);
    wide[0] = 1;
    model = (struct model){.lambda = 0};
    cr_assert_eq(model_take(&model, &schema, wide), STATUS_INVALID, "of no single map");
    model_free(&model);
    schema_free(&schema);
}
