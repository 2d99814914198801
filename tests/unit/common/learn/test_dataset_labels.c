/* Labels of three kinds, series and kept cells: what a table becomes, and what is refused. */

#include "learn/dataset.h"

#include "learn/features.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct label number_label = {
    .name = "y", .kind = LABEL_NUMBER, .centre = 100, .half_width = 50};

static struct column number_column(const char *name)
{
    struct column column = {.kind = COLUMN_NUMBER, .centre = 0, .half_width = 10};
    snprintf(column.name, sizeof column.name, "%s", name);
    return column;
}

static enum status parse(struct dataset *out, const char *text, const struct schema *schema,
                         enum dataset_use use, struct why *why)
{
    return dataset_parse(out, (struct slice){text, strlen(text)}, "site.csv", schema,
                         &(struct dataset_options){.use = use}, why);
}

static void refused(const char *text, const struct schema *schema, enum dataset_use use,
                    const char *hint)
{
    struct dataset data;
    struct why why = {{0}};
    cr_assert(parse(&data, text, schema, use, &why) == STATUS_INVALID, "%s", text);
    cr_assert(strstr(why.text, "site.csv") != NULL && strstr(why.text, hint) != NULL, "%s",
              why.text);
    cr_assert(strstr(why.text, "666") == NULL, "%s", why.text);
    cr_assert(data.x == NULL && data.y == NULL && data.raw == NULL && data.counts == NULL);
}

Test(dataset_labels, a_number_is_scaled_and_clamped)
{
    struct column column = number_column("a");
    const struct schema schema = {.column = &column, .column_count = 1, .label = number_label};
    struct dataset data;
    struct why why = {{0}};
    cr_assert(schema_check(&schema, &why) == STATUS_OK, "%s", why.text);
    cr_assert(parse(&data, "a,y\n1,125\n2,50\n3,1e9\n4,-3\n5,150\n", &schema, DATASET_LEARN,
                    &why) == STATUS_OK,
              "%s", why.text);
    const double expected[] = {0.5, -1, 1, -1, 1};
    for (int i = 0; i < 5; i++) {
        cr_assert(data.y[i] == expected[i], "%d", i);
    }
    cr_assert(data.counts[1].clamped == 2 && dataset_count(&data).clamped == 2);
    cr_assert(data.raw == NULL);
    dataset_free(&data);
    cr_assert(parse(&data, "a\n1\n", &schema, DATASET_PREDICT, &why) == STATUS_OK &&
              data.y == NULL);
    dataset_free(&data);
    /* A missing label and one that is no number are the centre, which is 0. */
    cr_assert(parse(&data, "a,y\n1,\n1,NA\n1,x666\n1,150\n", &schema, DATASET_LEARN, &why) ==
              STATUS_OK);
    cr_assert(data.y[0] == 0 && data.y[1] == 0 && data.y[2] == 0 && data.y[3] == 1);
    cr_assert(data.counts[1].missing == 2 && data.counts[1].unlisted == 1 &&
              data.counts[1].line == 4);
    dataset_free(&data);
}

Test(dataset_labels, a_class_becomes_its_index)
{
    struct column column = number_column("a");
    const struct schema schema = {.column = &column,
                                  .column_count = 1,
                                  .label = {.name = "y",
                                            .kind = LABEL_CLASSES,
                                            .class_count = 3,
                                            .class_name = {"low", "mid", "high"}}};
    struct dataset data;
    cr_assert(schema_check(&schema, NULL) == STATUS_OK && schema_output_count(&schema) == 3);
    cr_assert(parse(&data, "y,a\nhigh,1\nlow,2\nmid,0\n", &schema, DATASET_LEARN, NULL) ==
              STATUS_OK);
    cr_assert(data.y[0] == 2 && data.y[1] == 0 && data.y[2] == 1);
    dataset_free(&data);
    cr_assert(parse(&data, "y,a\nlow,1\n666,2\n,2\n", &schema, DATASET_LEARN, NULL) == STATUS_OK);
    cr_assert(data.y[0] == 0 && data.y[1] == 2 && data.y[2] == 2, "the last class, unless told");
    cr_assert(data.counts[1].missing == 1 && data.counts[1].unlisted == 1);
    dataset_free(&data);
}

static struct schema series(struct column *column)
{
    *column = number_column("rain");
    return (struct schema){
        .column = column, .column_count = 1, .label = number_label, .lag_count = 2, .lag = {1, 3}};
}

Test(dataset_labels, a_series_looks_back)
{
    struct column column;
    struct schema schema = series(&column);
    struct dataset data;
    struct why why = {{0}};
    const char *text = "rain,y\n0,100\n1,110\n2,120\n3,130\n4,140\n5,300\n6,90\n";
    cr_assert(schema_check(&schema, &why) == STATUS_OK, "%s", why.text);
    cr_assert(schema_is_series(&schema) && schema.lag_count == 2);
    cr_assert(schema_feature_count(&schema) == 4 && schema_value_count(&schema) == 3);
    cr_assert(parse(&data, text, &schema, DATASET_LEARN, &why) == STATUS_OK, "%s", why.text);
    /* Days 3 to 6, each with the day before, three days before, its own rain. */
    const double y[] = {0.6, 0.8, 1, -0.2};
    const double x[][3] = {{0.4, 0, 0.3}, {0.6, 0.2, 0.4}, {0.8, 0.4, 0.5}, {1, 0.6, 0.6}};
    const double scale = schema_scale(4);
    cr_assert(data.record_count == 4);
    for (int i = 0; i < 4; i++) {
        cr_assert(fabs(data.y[i] - y[i]) < 1e-15, "day %d", i);
        for (int j = 0; j < 3; j++) {
            cr_assert(fabs(data.x[i * 4 + j] - scale * x[i][j]) < 1e-15, "day %d, %d", i, j);
        }
        cr_assert(data.x[i * 4 + 3] == scale);
    }
    cr_assert(data.counts[1].clamped == 1, "a day is counted once, not once per lag");
    cr_assert(
        schema_find_feature(&schema, "lag_1") == 0 && schema_find_feature(&schema, "lag_3") == 1 &&
        schema_find_feature(&schema, "rain") == 2 && schema_find_feature(&schema, "lag_2") == -1 &&
        schema_find_feature(&schema, "y") == -1);
    dataset_free(&data);
}

/* One day's entry is in one record for itself and one for each lag, at most: counted, not believed. */
Test(dataset_labels, a_day_takes_part_in_as_many_records_as_said)
{
    enum { DAYS = 12 };
    struct column column;
    struct schema schema = series(&column);
    size_t most = 0;
    for (int changed = 0; changed < DAYS; changed++) {
        struct dataset data[2];
        size_t differing = 0;
        for (int version = 0; version < 2; version++) {
            char text[512] = "rain,y\n";
            for (int day = 0; day < DAYS; day++) {
                snprintf(text + strlen(text), sizeof text - strlen(text), "1,%d\n",
                         version == 1 && day == changed ? 60 : 100 + day);
            }
            cr_assert(parse(&data[version], text, &schema, DATASET_LEARN, NULL) == STATUS_OK);
        }
        for (size_t i = 0; i < data[0].record_count; i++) {
            differing += data[0].y[i] != data[1].y[i] ||
                         memcmp(data[0].x + 4 * i, data[1].x + 4 * i, 4 * sizeof(double)) != 0;
        }
        most = differing > most ? differing : most;
        dataset_free(&data[0]);
        dataset_free(&data[1]);
    }
    cr_assert(most == 1 + schema.lag_count, "%zu", most);
}

Test(dataset_labels, a_series_needs_its_days)
{
    struct column column;
    struct schema schema = series(&column);
    refused("rain,y\n0,1\n0,1\n0,1\n0,1\n", &schema, DATASET_LEARN, "make 1 records");
    refused("rain,y\n0,1\n0,1\n", &schema, DATASET_LEARN, "make 0 records");
    refused("rain\n0\n0\n0\n0\n0\n", &schema, DATASET_PREDICT, "column y is missing");
}

/* A day without a value is at the centre, 100: as a label, and as a lag of later days. */
Test(dataset_labels, a_missing_day_is_at_the_centre)
{
    struct column column;
    struct schema schema = series(&column);
    struct dataset data;
    cr_assert(parse(&data, "rain,y\n0,150\n0,x\n0,150\n0,\n0,150\n", &schema, DATASET_LEARN,
                    NULL) == STATUS_OK);
    cr_assert(data.record_count == 2 && data.y[0] == 0 && data.y[1] == 1);
    cr_assert(data.x[0] == schema_scale(4) && data.x[1] == schema_scale(4));
    cr_assert(data.x[4] == 0 && data.x[5] == 0);
    dataset_free(&data);
}

Test(dataset_labels, a_forecast_is_asked_for_by_an_empty_day)
{
    struct column column;
    struct schema schema = series(&column);
    struct dataset data;
    struct why why = {{0}};
    cr_assert(parse(&data, "rain,y\n0,100\n0,110\n0,120\n5,\n", &schema, DATASET_PREDICT, &why) ==
                  STATUS_OK,
              "%s", why.text);
    cr_assert(data.record_count == 1 && data.y == NULL);
    cr_assert(fabs(data.x[0] - schema_scale(4) * 0.4) < 1e-15 && data.x[1] == 0);
    dataset_free(&data);
}

Test(dataset_labels, a_series_may_have_lags_alone)
{
    const struct schema schema = {.label = number_label, .lag_count = 1, .lag = {1}};
    struct schema copy;
    struct dataset data;
    cr_assert(schema_check(&schema, NULL) == STATUS_OK);
    cr_assert(schema_copy(&copy, &schema) == STATUS_OK && copy.lag[0] == 1);
    cr_assert(parse(&data, "y\n100\n125\n150\n", &copy, DATASET_LEARN, NULL) == STATUS_OK);
    cr_assert(data.record_count == 2 && data.x[2] == schema_scale(2) * 0.5 && data.y[1] == 1);
    dataset_free(&data);
    schema_free(&copy);
}

Test(dataset_labels, cells_are_kept_where_they_are_asked_for)
{
    struct column column[] = {
        number_column("a"),
        {.name = "b", .transform = TRANSFORM_LOG1P, .centre = 1, .half_width = 1},
        {.name = "c",
         .kind = COLUMN_CATEGORY,
         .category_count = 3,
         .category = {"x", "y", "z"},
         .has_missing = true,
         .missing = 1}};
    struct schema schema = {.column = column,
                            .column_count = 3,
                            .label = {.name = "l", .positive = "1", .negative = "0"},
                            .keeps_raw = true};
    struct dataset data;
    struct dataset both;
    const char *text = "a,b,c,l\n5,0,x,1\n-99,1e9,,0\n10,1,z,1\nx,,q,q\n";
    cr_assert(parse(&data, text, &schema, DATASET_LEARN, NULL) == STATUS_OK);
    const double expected[] = {5, 0, 0, -99, 1e9, NAN, 10, 1, 2, NAN, NAN, FEATURES_UNLISTED};
    const double expected_label[] = {1, -1, 1, -1};
    cr_assert(memcmp(data.raw, expected, sizeof expected) == 0);
    cr_assert(memcmp(data.raw_label, expected_label, sizeof expected_label) == 0);
    const struct dataset *part[] = {&data, &data};
    cr_assert(dataset_concat(&both, part, 2) == STATUS_OK);
    cr_assert(memcmp(both.raw + 12, expected, sizeof expected) == 0);
    dataset_free(&data);
    dataset_free(&both);
}

Test(dataset_labels, the_label_is_kept_as_it_is_too)
{
    struct column column = number_column("a");
    struct schema schema = {
        .column = &column, .column_count = 1, .label = number_label, .keeps_raw = true};
    struct dataset data;
    const double numbers[] = {1e9, NAN, NAN, 100};
    const double classes[] = {1, FEATURES_UNLISTED, NAN};
    cr_assert(parse(&data, "a,y\n1,1e9\n1,x\n1,\n1,100\n", &schema, DATASET_LEARN, NULL) ==
              STATUS_OK);
    cr_assert(memcmp(data.raw_label, numbers, sizeof numbers) == 0 && data.y[0] == 1);
    dataset_free(&data);
    schema.label = (struct label){
        .name = "y", .kind = LABEL_CLASSES, .class_count = 3, .class_name = {"k", "l", "m"}};
    cr_assert(parse(&data, "a,y\n1,l\n1,x\n1,\n", &schema, DATASET_LEARN, NULL) == STATUS_OK);
    cr_assert(memcmp(data.raw_label, classes, sizeof classes) == 0 && data.y[1] == 2);
    dataset_free(&data);
}

/* Nothing downstream knows of the map: the shape is schema_feature_count's and the norm is kept. */
Test(dataset_labels, a_map_makes_the_features)
{
    struct column column = number_column("a");
    struct schema schema = {.column = &column,
                            .column_count = 1,
                            .label = number_label,
                            .keeps_raw = true,
                            .map = {.kind = MAP_FOURIER,
                                    .kernel = {.kind = KERNEL_LAPLACIAN, .rate = 1},
                                    .feature_count = 6,
                                    .seed = 9}};
    struct features *features = NULL;
    struct dataset data;
    double z[7];
    const double value = 3;
    cr_assert(parse(&data, "a,y\n3,100\n4,100\n", &schema, DATASET_LEARN, NULL) == STATUS_OK);
    cr_assert(data.feature_count == 7 && data.raw[1] == 4 && data.column_count == 1);
    cr_assert(features_new(&features, &schema, NULL) == STATUS_OK);
    features_apply(features, z, &value);
    cr_assert(memcmp(z, data.x, sizeof z) == 0);
    cr_assert(data.x[6] == schema_constant(&schema) && data.x[13] == data.x[6]);
    cr_assert(schema_find_feature(&schema, "a") == -1);
    features_free(features);
    dataset_free(&data);
}
