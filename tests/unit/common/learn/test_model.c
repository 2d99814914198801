/* model.json: a model that is written is read back whole, and nothing else is accepted as a
 * model. */

#include "learn/model.h"

#include "flchain_schema.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct model example(void)
{
    struct model model = {
        .weight_count = 8,
        .loss = {.kind = LOSS_LOGISTIC},
        .lambda = 0.005,
        .job = "hospitals",
        .expert = "average, lambda 0.005, threshold +0.25",
        .private = true,
        .statement = "epsilon 1 per record, replace-one, local trust",
        .epsilon_micro = 1000000,
        .delta_atto = 5,
    };
    cr_assert(flchain_schema(&model.schema) == STATUS_OK);
    model.weight = calloc(8, sizeof *model.weight);
    cr_assert(model.weight != NULL);
    for (int i = 0; i < 8; i++) {
        model.weight[i] = (i - 3) / 7.0 + 1e-9;
    }
    return model;
}

static enum status read_text(struct model *out, const char *text, struct why *why)
{
    return model_from_json(out, (struct slice){text, strlen(text)}, "model.json", why);
}

Test(model, survives_its_file)
{
    struct model model = example();
    struct model back;
    struct why why;
    char *text = NULL;
    char *again = NULL;
    cr_assert(model_to_json(&text, &model) == STATUS_OK);
    cr_assert(read_text(&back, text, &why) == STATUS_OK, "%s", why.text);
    cr_assert(back.weight_count == 8);
    cr_assert(memcmp(back.weight, model.weight, 8 * sizeof *back.weight) == 0);
    cr_assert(back.schema.column_count == model.schema.column_count);
    cr_assert(back.schema.column[4].has_missing && back.schema.column[4].missing == 1);
    cr_assert(!back.schema.column[0].has_missing);
    cr_assert(back.schema.column[2].transform == TRANSFORM_LOG1P);
    cr_assert_str_eq(back.schema.column[1].category[1], "M");
    cr_assert(back.private && back.epsilon_micro == 1000000 && back.delta_atto == 5);
    cr_assert_str_eq(back.expert, model.expert);
    cr_assert(model_to_json(&again, &back) == STATUS_OK);
    cr_assert_str_eq(text, again);
    free(text);
    free(again);
    model_free(&model);
    model_free(&back);
    model_free(NULL);
}

/* Replaces the first `from` by `to` and expects the file to be refused. */
static void refused(const char *from, const char *to, enum status expected)
{
    struct model model = example();
    struct model back;
    struct why why = {{0}};
    char *text = NULL;
    cr_assert(model_to_json(&text, &model) == STATUS_OK);
    char *at = strstr(text, from);
    cr_assert(at != NULL, "%s", from);
    char *edited = malloc(strlen(text) + strlen(to) + 1);
    cr_assert(edited != NULL);
    memcpy(edited, text, (size_t)(at - text));
    strcpy(edited + (at - text), to);
    strcat(edited, at + strlen(from));
    cr_assert(read_text(&back, edited, &why) == expected, "%s -> %s", from, to);
    cr_assert(strstr(why.text, "model.json") != NULL || strstr(why.text, "column") != NULL, "%s",
              why.text);
    cr_assert(back.weight == NULL && back.schema.column == NULL);
    free(edited);
    free(text);
    model_free(&model);
}

Test(model, refuses_what_is_not_a_whole_model)
{
    refused("hedgerow model", "other model", STATUS_INVALID);
    refused("\"version\": 1", "\"version\": 2", STATUS_UNSUPPORTED);
    refused("\"job\"", "\"jobs\"", STATUS_INVALID);
    refused("\"version\": 1,", "\"version\": 1, \"extra\": 3,", STATUS_INVALID);
    refused("\"version\": 1,", "\"version\": 1, \"version\": 1,", STATUS_INVALID);
    refused("\"private\": true", "\"private\": \"yes\"", STATUS_INVALID);
    refused("\"loss\": \"logistic\"", "\"loss\": \"cubic\"", STATUS_INVALID);
    refused("\"epsilon_micro\": 1000000", "\"epsilon_micro\": -1", STATUS_INVALID);
    refused("\"kind\": \"number\"", "\"kind\": \"numbers\"", STATUS_INVALID);
    refused("\"transform\": \"log1p\"", "\"transform\": \"sqrt\"", STATUS_INVALID);
    refused("\"half_width\": 24.0", "\"half_width\": 0.0", STATUS_INVALID);
    refused("\"weights\": [", "\"weights\": [1.5,", STATUS_INVALID);
    refused("\"weights\": [", "\"weights\": [\"x\",", STATUS_INVALID);
    refused("\"half_width\": 24.0", "\"half_width\": 1e999", STATUS_INVALID);
    refused("{", "[", STATUS_INVALID);
}

Test(model, refuses_empty_and_deep_texts)
{
    struct model back;
    struct why why;
    cr_assert(model_from_json(&back, (struct slice){NULL, 0}, "m", &why) == STATUS_INVALID);
    char *deep = malloc(100001);
    cr_assert(deep != NULL);
    memset(deep, '[', 100000);
    deep[100000] = '\0';
    cr_assert(read_text(&back, deep, &why) == STATUS_INVALID);
    free(deep);
}

Test(model, predicts_probabilities_and_classes)
{
    struct model model = example();
    double x[24] = {0};
    double p[3];
    const struct dataset data = {.record_count = 3, .feature_count = 8, .x = x};
    for (int i = 0; i < 8; i++) {
        model.weight[i] = i == 0 ? 2 : 0;
    }
    x[8] = 1;
    x[16] = -1000;
    model_predict(p, &model, &data);
    cr_assert(p[0] == 0.5 && fabs(p[1] - 0.88079707797788243) < 1e-15 && p[2] >= 0 &&
              p[2] < 1e-300);
    cr_assert_str_eq(model_class(&model, &p[0]), "1");
    cr_assert_str_eq(model_class(&model, &p[2]), "0");
    model_free(&model);
}

/* Writes the model, reads it back, and answers whether the same text comes out of what was read. */
static struct model again(const struct model *model)
{
    struct model back;
    struct why why = {{0}};
    char *text = NULL;
    char *second = NULL;
    cr_assert(model_to_json(&text, model) == STATUS_OK);
    cr_assert(read_text(&back, text, &why) == STATUS_OK, "%s\n%s", why.text, text);
    cr_assert(model_to_json(&second, &back) == STATUS_OK);
    cr_assert_str_eq(text, second);
    free(text);
    free(second);
    return back;
}

static struct model with_weights(struct model model)
{
    model.weight_count = schema_feature_count(&model.schema) * schema_output_count(&model.schema);
    model.weight = realloc(model.weight, model.weight_count * sizeof *model.weight);
    cr_assert(model.weight != NULL);
    for (size_t i = 0; i < model.weight_count; i++) {
        model.weight[i] = (double)(i % 7) / 3 - 1;
    }
    return model;
}

Test(model, keeps_what_odd_cells_become)
{
    struct model model = example();
    model.schema.column[0].has_indicator = true;
    model.schema.column[1].has_other = true;
    model.schema.column[1].other = 1;
    model.schema.label = (struct label){.name = "stage",
                                        .kind = LABEL_CLASSES,
                                        .class_count = 3,
                                        .class_name = {"I", "II", "III"},
                                        .has_other = true,
                                        .other = 0};
    model = with_weights(model);
    cr_assert(model.weight_count == 27);
    struct model back = again(&model);
    cr_assert(back.schema.column[0].has_indicator && !back.schema.column[1].has_indicator);
    cr_assert(back.schema.column[1].has_other && back.schema.column[1].other == 1 &&
              !back.schema.column[0].has_other);
    cr_assert(schema_other_class(&back.schema.label) == 0);
    model_free(&model);
    model_free(&back);
}

Test(model, of_several_classes_survives_and_predicts)
{
    struct model model = example();
    double x[8] = {0, 0, 0, 0, 0, 0, 0, 1};
    double score[3];
    const struct dataset data = {.record_count = 1, .feature_count = 8, .x = x};
    model.schema.label = (struct label){.name = "stage",
                                        .kind = LABEL_CLASSES,
                                        .class_count = 3,
                                        .class_name = {"I", "II, early", "III"}};
    model = with_weights(model);
    struct model back = again(&model);
    cr_assert(back.weight_count == 24 && back.schema.label.kind == LABEL_CLASSES);
    cr_assert_str_eq(back.schema.label.class_name[1], "II, early");
    back.weight[7] = 1;
    back.weight[15] = 4;
    back.weight[23] = -1;
    model_predict(score, &back, &data);
    cr_assert(score[0] == 1 && score[1] == 4 && score[2] == -1);
    cr_assert_str_eq(model_class(&back, score), "II, early");
    model_free(&model);
    model_free(&back);
}

Test(model, of_a_number_answers_in_the_labels_own_unit)
{
    struct model model = example();
    double x[24] = {0};
    double value[3];
    const struct dataset data = {.record_count = 3, .feature_count = 8, .x = x};
    model.loss = (struct loss){.kind = LOSS_PINBALL, .parameter = 0.9};
    model.schema.label =
        (struct label){.name = "days", .kind = LABEL_NUMBER, .centre = 30, .half_width = 20};
    model.schema.lag_count = 2;
    model.schema.lag[0] = 1;
    model.schema.lag[1] = 7;
    model = with_weights(model);
    struct model back = again(&model);
    cr_assert(back.schema.lag_count == 2 && back.schema.lag[1] == 7 && back.weight_count == 10);
    model_free(&back);
    model.weight_count = 8;
    for (int i = 0; i < 8; i++) {
        model.weight[i] = i == 0 ? 1 : 0;
    }
    x[0] = 0.5;
    x[8] = 9;
    x[16] = -9;
    model_predict(value, &model, &data);
    cr_assert(value[0] == 40 && value[1] == 50 && value[2] == 10);
    cr_assert(model_class(&model, value) == NULL);
    model_free(&model);
}

Test(model, carries_its_map)
{
    struct model model = example();
    model.schema.map = (struct feature_map){.kind = MAP_FOURIER,
                                            .kernel = {.kind = KERNEL_LAPLACIAN, .rate = 0.75},
                                            .feature_count = 12,
                                            .seed = (UINT64_C(1) << 53) - 1};
    model = with_weights(model);
    struct model back = again(&model);
    cr_assert(back.schema.map.kind == MAP_FOURIER && back.weight_count == 13);
    cr_assert(back.schema.map.kernel.kind == KERNEL_LAPLACIAN &&
              back.schema.map.kernel.rate == 0.75);
    cr_assert(back.schema.map.feature_count == 12 &&
              back.schema.map.seed == (UINT64_C(1) << 53) - 1);
    model_free(&back);
    double *landmark = calloc(14, sizeof *landmark);
    const double row[] = {70, 0, 1, 1, 1, 0, 1999, 60.1, 1, 2, 1, 1, 0, 1999};
    cr_assert(landmark != NULL);
    memcpy(landmark, row, sizeof row);
    model.schema.map = (struct feature_map){.kind = MAP_NYSTROM,
                                            .kernel = {.kind = KERNEL_GAUSSIAN, .rate = 5},
                                            .landmark_count = 2,
                                            .landmark = landmark};
    model = with_weights(model);
    back = again(&model);
    cr_assert(back.schema.map.landmark_count == 2 && back.weight_count == 3);
    cr_assert(memcmp(back.schema.map.landmark, row, sizeof row) == 0);
    model_free(&back);
    free(landmark);
    model.schema.map = (struct feature_map){.kind = MAP_PRODUCTS};
    model = with_weights(model);
    back = again(&model);
    const size_t columns = schema_plain_count(&model.schema) - 1;
    cr_assert(back.schema.map.kind == MAP_PRODUCTS);
    cr_assert_eq(back.weight_count, columns + columns * (columns + 1) / 2 + 1);
    model_free(&back);
    model_free(&model);
}

/* A model with every part there is, for the refusals. */
static void refused_map(const char *from, const char *to)
{
    struct model model = example();
    struct model back;
    struct why why = {{0}};
    char *text = NULL;
    model.schema.label =
        (struct label){.name = "days", .kind = LABEL_NUMBER, .centre = 30, .half_width = 20};
    model.schema.lag_count = 1;
    model.schema.lag[0] = 7;
    model.schema.map = (struct feature_map){.kind = MAP_FOURIER,
                                            .kernel = {.kind = KERNEL_GAUSSIAN, .rate = 5},
                                            .feature_count = 4,
                                            .seed = 11};
    model = with_weights(model);
    cr_assert(model_to_json(&text, &model) == STATUS_OK);
    char *at = strstr(text, from);
    cr_assert(at != NULL, "%s in %s", from, text);
    char *edited = malloc(strlen(text) + strlen(to) + 1);
    cr_assert(edited != NULL);
    memcpy(edited, text, (size_t)(at - text));
    strcpy(edited + (at - text), to);
    strcat(edited, at + strlen(from));
    cr_assert(read_text(&back, edited, &why) == STATUS_INVALID, "%s -> %s", from, to);
    cr_assert(why.text[0] != '\0' && back.weight == NULL && back.schema.column == NULL);
    free(edited);
    free(text);
    model_free(&model);
}

Test(model, refuses_maps_lags_and_labels_that_are_not_whole)
{
    refused_map("\"kind\": \"fourier\"", "\"kind\": \"wavelet\"");
    refused_map("\"kind\": \"fourier\"", "\"kind\": \"nystrom\"");
    refused_map("\"kernel\": \"gaussian\"", "\"kernel\": \"linear\"");
    refused_map("\"gamma\": 5.0", "\"gamma\": -5.0");
    refused_map("\"gamma\": 5.0", "\"gamma\": \"5\"");
    refused_map("\"features\": 4", "\"features\": 6");
    refused_map("\"features\": 4", "\"features\": -4");
    refused_map("\"seed\": 11", "\"seed\": 9007199254740992");
    refused_map("\"seed\": 11", "\"seed\": 11, \"landmarks\": [[1]]");
    refused_map("\"half_width\": 20.0", "\"half_width\": 0.0");
    refused_map("\"half_width\": 20.0", "\"half_width\": 20.0, \"classes\": [\"a\"]");
    refused_map("\"lags\": [\n      7\n    ]", "\"lags\": []");
    refused_map("\"lags\": [\n      7\n    ]", "\"lags\": [7.5]");
    refused_map("\"lags\": [\n      7\n    ]", "\"lags\": [0]");
    refused_map("\"lags\": [\n      7\n    ]", "\"lags\": 7");
}
