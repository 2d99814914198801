/* What a schema may be. */

#include "learn/schema.h"

#include "flchain_schema.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct schema flchain(void)
{
    struct schema schema;
    cr_assert(flchain_schema(&schema) == STATUS_OK);
    return schema;
}

Test(schema, counts_the_features_of_flchain)
{
    struct schema schema = flchain();
    cr_assert(schema_check(&schema, NULL) == STATUS_OK);
    cr_assert(schema_feature_count(&schema) == 8);
    schema.column[1].category_count = 3;
    cr_assert(schema_feature_count(&schema) == 10);
    schema_free(&schema);
    cr_assert(schema.column == NULL && schema.column_count == 0);
    schema_free(NULL);
}

/* d (scale)^2 <= 1 must hold in the reals: checked in long double, whose 11 more bits decide it. */
Test(schema, scale_keeps_the_norm_at_most_1)
{
    for (size_t d = 1; d < 200000; d = d < 5000 ? d + 1 : d * 2) {
        const long double scale = schema_scale(d);
        cr_assert(scale * scale * (long double)d <= 1.0L, "%zu", d);
        cr_assert(scale * scale * (long double)d >= 1.0L - 1e-14L, "%zu", d);
    }
}

static void refused(const struct schema *schema, const char *hint)
{
    struct why why = {{0}};
    cr_assert(schema_check(schema, &why) == STATUS_INVALID, "%s", hint);
    cr_assert(strstr(why.text, hint) != NULL, "%s", why.text);
}

Test(schema, refuses_contradictions)
{
    struct schema schema = flchain();
    schema.column[0].half_width = 0;
    refused(&schema, "age");
    schema.column[0].half_width = NAN;
    refused(&schema, "age");
    schema.column[0] = flchain_column[0];
    schema.column[2].has_missing = true;
    schema.column[2].missing = -1;
    refused(&schema, "kappa");
    schema.column[2] = flchain_column[2];
    strcpy(schema.column[3].name, "age");
    refused(&schema, "twice");
    strcpy(schema.column[3].name, "death");
    refused(&schema, "label");
    schema.column[3] = flchain_column[3];
    schema.column[1].category_count = 1;
    refused(&schema, "sex");
    schema.column[1].category_count = 2;
    strcpy(schema.column[1].category[1], "F");
    refused(&schema, "twice");
    schema.column[1] = flchain_column[1];
    schema.column[1].has_missing = true;
    schema.column[1].missing = 2;
    refused(&schema, "index");
    schema.column[1] = flchain_column[1];
    schema.column[1].has_other = true;
    schema.column[1].other = 2;
    refused(&schema, "other must be the index");
    schema.column[1] = flchain_column[1];
    schema.column[0].has_other = true;
    refused(&schema, "other is for a column of categories");
    schema.column[0] = flchain_column[0];
    strcpy(schema.label.positive, "0");
    refused(&schema, "same text");
    schema.column_count = 0;
    strcpy(schema.label.positive, "1");
    refused(&schema, "columns");
    schema_free(&schema);
}

static const struct label classes = {
    .name = "y", .kind = LABEL_CLASSES, .class_count = 3, .class_name = {"a", "b", "c"}};

Test(schema, counts_outputs_values_and_overlaps)
{
    struct schema schema = flchain();
    cr_assert(schema_output_count(&schema) == 1);
    cr_assert(!schema_is_series(&schema) && schema_value_count(&schema) == FLCHAIN_COLUMNS);
    cr_assert(schema_constant(&schema) == schema_scale(8));
    cr_assert(
        schema_find_feature(&schema, "age") == 0 && schema_find_feature(&schema, "sex") == -1 &&
        schema_find_feature(&schema, "kappa") == 2 && schema_find_feature(&schema, "death") == -1);
    schema.column[1].category_count = 3;
    cr_assert(schema_find_feature(&schema, "kappa") == 4);
    schema.label = classes;
    cr_assert(schema_output_count(&schema) == 3);
    schema.map = (struct feature_map){.kind = MAP_FOURIER, .feature_count = 20};
    cr_assert(schema_feature_count(&schema) == 21 && schema_plain_count(&schema) == 10);
    cr_assert(schema_constant(&schema) == schema_scale(2));
    cr_assert(schema_find_feature(&schema, "kappa") == -1, "a map leaves no feature as it is");
    schema.map = (struct feature_map){.kind = MAP_NYSTROM, .landmark_count = 4};
    cr_assert(schema_feature_count(&schema) == 5);
    schema.map.landmark_count = 0;
    schema_free(&schema);
}

Test(schema, refuses_labels_that_cannot_be)
{
    struct schema schema = flchain();
    schema.label = (struct label){.name = "y", .kind = LABEL_NUMBER, .half_width = 0};
    refused(&schema, "half_width");
    schema.label.half_width = NAN;
    refused(&schema, "half_width");
    schema.label.half_width = 1;
    cr_assert(schema_check(&schema, NULL) == STATUS_OK);
    schema.label = classes;
    cr_assert(schema_check(&schema, NULL) == STATUS_OK);
    schema.label.class_count = 2;
    refused(&schema, "3 to 32 classes");
    schema.label.class_count = 33;
    refused(&schema, "3 to 32 classes");
    schema.label = classes;
    strcpy(schema.label.class_name[2], "a");
    refused(&schema, "class a stands there twice");
    schema.label = classes;
    schema.label.class_name[1][0] = '\0';
    refused(&schema, "empty");
    schema.label.name[0] = '\0';
    refused(&schema, "column's name");
    schema_free(&schema);
}

Test(schema, refuses_series_that_cannot_be)
{
    struct schema schema = flchain();
    schema.lag_count = 2;
    schema.lag[0] = 1;
    schema.lag[1] = 7;
    refused(&schema, "a series needs centre");
    schema.label = (struct label){.name = "y", .kind = LABEL_NUMBER, .half_width = 1};
    cr_assert(schema_check(&schema, NULL) == STATUS_OK);
    schema.lag[1] = 1;
    refused(&schema, "rise");
    schema.lag[0] = 0;
    refused(&schema, "rise");
    schema.lag[0] = 1;
    schema.lag[1] = SCHEMA_LAG_MAX + 1;
    refused(&schema, "rise");
    schema.lag[1] = 7;
    strcpy(schema.column[0].name, "lag_7");
    refused(&schema, "own features");
    schema.column[0] = flchain_column[0];
    schema.lag_count = SCHEMA_LAGS_MAX + 1;
    refused(&schema, "at most");
    schema_free(&schema);
}

Test(schema, refuses_maps_that_cannot_be)
{
    struct schema schema = flchain();
    const struct feature_map good = {.kind = MAP_FOURIER,
                                     .kernel = {.kind = KERNEL_GAUSSIAN, .rate = 1},
                                     .feature_count = 100,
                                     .seed = 1};
    double landmark[2 * FLCHAIN_COLUMNS] = {70, 0, 1, 1, 1, 0, 1999, 60, 1, 2, 1, 1, 0, 1999};
    schema.map = good;
    cr_assert(schema_check(&schema, NULL) == STATUS_OK);
    schema.map.feature_count = 99;
    refused(&schema, "even");
    schema.map.feature_count = 0;
    refused(&schema, "even");
    schema.map.feature_count = SCHEMA_MAP_FEATURES_MAX + 2;
    refused(&schema, "even");
    schema.map = good;
    schema.map.seed = UINT64_C(1) << 53;
    refused(&schema, "2^53");
    schema.map = good;
    schema.map.kernel.rate = 0;
    refused(&schema, "rate");
    schema.map.kernel = (struct kernel){.kind = KERNEL_POLYNOMIAL, .degree = 2};
    refused(&schema, "gaussian or laplacian");
    schema.map = (struct feature_map){
        .kind = MAP_NYSTROM, .kernel = good.kernel, .landmark_count = 2, .landmark = landmark};
    cr_assert(schema_check(&schema, NULL) == STATUS_OK);
    landmark[8] = 2;
    refused(&schema, "landmark 2, value 2");
    landmark[8] = 1;
    landmark[0] = NAN;
    refused(&schema, "landmark 1, value 1");
    schema.map = (struct feature_map){.kind = MAP_NYSTROM, .kernel = good.kernel};
    refused(&schema, "landmarks");
    schema_free(&schema);
}

Test(schema, copies_own_their_landmarks)
{
    struct schema schema = flchain();
    struct schema copy;
    double landmark[FLCHAIN_COLUMNS] = {70, 0, 1, 1, 1, 0, 1999};
    schema.map = (struct feature_map){.kind = MAP_NYSTROM,
                                      .kernel = {.kind = KERNEL_LAPLACIAN, .rate = 2},
                                      .landmark_count = 1,
                                      .landmark = landmark};
    cr_assert(schema_copy(&copy, &schema) == STATUS_OK);
    schema.map = (struct feature_map){.kind = MAP_NONE};
    schema_free(&schema);
    cr_assert(copy.map.landmark != landmark && copy.map.landmark[6] == 1999);
    cr_assert(schema_check(&copy, NULL) == STATUS_OK);
    schema_free(&copy);
}
