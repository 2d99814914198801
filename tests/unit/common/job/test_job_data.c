/* The data section of a job: labels of three kinds, series and feature maps, how they are read, and
 * the whole message for each mistake. */

#include "job/job.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* A job with its data section left open. */
static enum status parse(struct job *job, const char *data, const char *loss, struct why *why)
{
    char text[8192];
    const int length =
        snprintf(text, sizeof text,
                 "hedgerow: 1\n"
                 "job: trial\n"
                 "data:\n%s"
                 "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1}\n"
                 "cohort: {minimum: 3, deadline_s: 30}\n"
                 "stages:\n"
                 "  - {task: fit, loss: %s, lambdas: [0.1], share: 1, tolerance: 0.001}\n",
                 data, loss);
    return job_parse(job, (struct slice){text, (size_t)length}, "job.yml", why);
}

static struct job parsed(const char *data, const char *loss)
{
    struct job job;
    struct why why = {{0}};
    cr_assert(parse(&job, data, loss, &why) == STATUS_OK, "%s", why.text);
    return job;
}

static const char features[] = "  features: [{column: a, centre: 1, half_width: 2}, "
                               "{column: b, categories: [x, y]}]\n";

static struct job parsed_with(const char *label, const char *rest, const char *loss)
{
    char data[4096];
    snprintf(data, sizeof data, "  label: %s\n%s%s", label, features, rest);
    return parsed(data, loss);
}

Test(job_data, reads_labels_of_three_kinds)
{
    struct job job = parsed_with("{column: y, positive: \"1\", negative: \"0\"}", "", "logistic");
    cr_assert(job.schema.label.kind == LABEL_SIGN && job.schema.map.kind == MAP_NONE);
    cr_assert_str_eq(job.schema.label.positive, "1");
    job_free(&job);
    job = parsed_with("{column: y, centre: 60, half_width: 20}", "", "squared");
    cr_assert(job.schema.label.kind == LABEL_NUMBER);
    cr_assert(job.schema.label.centre == 60 && job.schema.label.half_width == 20);
    job_free(&job);
    job = parsed_with("{column: y, classes: [low, mid, high]}", "", "logistic");
    cr_assert(job.schema.label.kind == LABEL_CLASSES && schema_output_count(&job.schema) == 3);
    cr_assert_str_eq(job.schema.label.class_name[2], "high");
    cr_assert(schema_other_class(&job.schema.label) == 2, "the last");
    job_free(&job);
    job = parsed_with("{column: y, classes: [low, mid, high], other: mid}", "", "logistic");
    cr_assert(schema_other_class(&job.schema.label) == 1);
    job_free(&job);
}

Test(job_data, calls_the_negative_class_the_rest)
{
    static const char *const label[] = {"{column: y, positive: \"1\"}",
                                        "{column: y, positive: \"1\", negative: rest}"};
    for (size_t i = 0; i < 2; i++) {
        struct job job = parsed_with(label[i], "", "logistic");
        cr_assert_str_eq(job.schema.label.positive, "1");
        cr_assert_str_eq(job.schema.label.negative, SCHEMA_REST);
        job_free(&job);
    }
}

Test(job_data, reads_what_odd_cells_become)
{
    struct job job = parsed("  label: {column: y, positive: \"1\"}\n"
                            "  features:\n"
                            "    - {column: a, centre: 1, half_width: 2, missing_indicator: true}\n"
                            "    - {column: b, categories: [u, v, w], other: w, missing: v}\n"
                            "    - {column: c, categories: [u, v], missing_indicator: true}\n",
                            "logistic");
    const struct column *column = job.schema.column;
    cr_assert(!column[0].has_missing && column[0].has_indicator && !column[0].has_other);
    cr_assert(column[1].has_missing && column[1].missing == 1 && column[1].has_other &&
              column[1].other == 2 && !column[1].has_indicator);
    cr_assert(!column[2].has_missing && !column[2].has_other && column[2].has_indicator);
    cr_assert(schema_feature_count(&job.schema) == 2 + 3 + 2 + 1);
    cr_assert(schema_find_feature(&job.schema, "a") == 0);
    job_free(&job);
}

Test(job_data, reads_a_series)
{
    struct job job = parsed("  label: {centre: 10, half_width: 10}\n"
                            "  series: {column: entries, lags: [1, 7, 14]}\n",
                            "squared");
    cr_assert_str_eq(job.schema.label.name, "entries");
    cr_assert(job.schema.lag_count == 3 && job.schema.lag[2] == 14 &&
              job.schema.column_count == 0 && schema_feature_count(&job.schema) == 4);
    cr_assert(schema_find_feature(&job.schema, "lag_7") == 1);
    job_free(&job);
    job = parsed_with("{column: entries, centre: 10, half_width: 10}",
                      "  series: {column: entries, lags: [2]}\n", "squared");
    cr_assert(schema_feature_count(&job.schema) == 4 && job.schema.lag_count == 1);
    job_free(&job);
}

Test(job_data, reads_feature_maps)
{
    const char *label = "{column: y, positive: \"1\", negative: \"0\"}";
    struct job job = parsed_with(
        label, "  map: {kind: fourier, kernel: laplacian, gamma: 0.5, features: 20, seed: 42}\n",
        "logistic");
    const struct feature_map *map = &job.schema.map;
    cr_assert(map->kind == MAP_FOURIER && map->kernel.kind == KERNEL_LAPLACIAN &&
              map->kernel.rate == 0.5 && map->feature_count == 20 && map->seed == 42);
    cr_assert(schema_feature_count(&job.schema) == 21);
    job_free(&job);
    job = parsed_with(label,
                      "  map:\n"
                      "    kind: nystrom\n"
                      "    kernel: gaussian\n"
                      "    gamma: 5\n"
                      "    landmarks: [[1, x], [2.5, y], [-1, x]]\n",
                      "logistic");
    cr_assert(map->kind == MAP_NYSTROM && map->kernel.kind == KERNEL_GAUSSIAN &&
              map->landmark_count == 3);
    const double expected[] = {1, 0, 2.5, 1, -1, 0};
    cr_assert(memcmp(map->landmark, expected, sizeof expected) == 0);
    cr_assert(schema_feature_count(&job.schema) == 4);
    job_free(&job);
}

struct refusal {
    const char *label;
    const char *rest;
    const char *message; /* whole; the label stands in line 4, features in 5, the rest from 6 */
};

static const char SIGN[] = "{column: y, positive: \"1\", negative: \"0\"}";
static const char NUMBER[] = "{column: y, centre: 1, half_width: 2}";

static const struct refusal refusals[] = {
    {"{column: y}", "",
     "job.yml:4:10: data.label: has no \"positive\": add it, for example `positive: \"1\"`; a number takes centre and half_width instead, three or more classes take classes"},
    {"{positive: \"1\", negative: \"0\"}", "",
     "job.yml:4:10: data.label: has no \"column\": add it, for example `column: death`"},
    {"{column: y, negative: \"0\"}", "",
     "job.yml:4:10: data.label: has no \"positive\": add it, for example `positive: \"1\"`; a number takes centre and half_width instead, three or more classes take classes"},
    {"{column: y, centre: 1}", "",
     "job.yml:4:10: data.label.half_width: is missing: add half the length of the label's public range"},
    {"{column: y, half_width: 1}", "",
     "job.yml:4:10: data.label.centre: is missing: add the middle of the label's public range"},
    {"{column: y, centre: 1, half_width: 0}", "",
     "job.yml:4:45: data.label.half_width: \"0\" is out of range: write a number from 1e-100 to 1e+100"},
    {"{column: y, centre: 1, half_width: 2, positive: \"1\"}", "",
     "job.yml:4:58: data.label.positive: is for a label of two classes: remove it, or centre and half_width, which are for a number"},
    {"{column: y, centre: 1, half_width: 2, transform: log1p}", "",
     "job.yml:4:48: data.label.transform: \"transform\" is not a key here; known here: column, positive, negative, centre, half_width, classes, other"},
    {"{column: y, centre: 1, half_width: 2, missing: 0}", "",
     "job.yml:4:48: data.label.missing: \"missing\" is not a key here; known here: column, positive, negative, centre, half_width, classes, other"},
    {"{column: y, positive: rest}", "",
     "job.yml:4:32: data.label.positive: is what the other class is called unless it has a name: add negative"},
    {"{column: y, positive: \"1\", other: \"0\"}", "",
     "job.yml:4:44: data.label.other: is for three or more classes: of two, every text but the positive one is the negative class"},
    {"{column: y, centre: 1, half_width: 2, other: \"0\"}", "",
     "job.yml:4:55: data.label.other: is for a label of classes: a text that is no number is the centre"},
    {"{column: y, classes: [a, b, c], other: d}", "",
     "job.yml:4:49: data.label.other: is none of the classes: name one, or leave it out for the last"},
    {"{column: y, classes: [a, b]}", "",
     "job.yml:4:31: data.label.classes: holds fewer than three: list every class there can be, or write positive and negative for two"},
    {"{column: y, classes: [a, b, a]}", "",
     "job.yml:4:31: data.label.classes: lists one class twice"},
    {"{column: y, classes: [a, b, c], centre: 1}", "",
     "job.yml:4:50: data.label.centre: does not go with classes, which name all there are: remove it"},
    {"{column: y, classes: [a, b, c], negative: a}", "",
     "job.yml:4:52: data.label.negative: does not go with classes, which name all there are: remove it"},
    {SIGN, "  series: {column: y, lags: [1]}\n",
     "job.yml:4:10: data.label: is not a number, which a series needs: write centre and half_width"},
    {NUMBER, "  series: {column: z, lags: [1]}\n",
     "job.yml:4:19: data.label.column: is not the series' column, which is the label: remove it"},
    {NUMBER, "  series: {column: y, lags: [7, 1]}\n",
     "job.yml:6:29: data.series.lags: do not rise: list each lag once, the shortest first"},
    {NUMBER, "  series: {column: y, lags: [7, 7]}\n",
     "job.yml:6:29: data.series.lags: do not rise: list each lag once, the shortest first"},
    {NUMBER, "  series: {column: y, lags: [0]}\n",
     "job.yml:6:30: data.series.lags[0]: \"0\" is out of range: write a number from 1 to 1000"},
    {NUMBER, "  series: {column: y}\n",
     "job.yml:6:11: data.series: has no \"lags\": add it, for example `lags: [1, 7, 14]`"},
    {"{centre: 1, half_width: 2}", "  series: {column: a, lags: [1]}\n",
     "job.yml:5:23: data.features[0].column: is the label, which cannot be learned from itself: remove the feature"},
    {SIGN, "  map: {kind: fourier, kernel: gaussian, gamma: 1, features: 20}\n",
     "job.yml:6:8: data.map.seed: is missing: add any public number, for example `seed: 42`"},
    {SIGN, "  map: {kind: fourier, kernel: gaussian, gamma: 1, seed: 1}\n",
     "job.yml:6:8: data.map.features: is missing: add it, for example `features: 200`"},
    {SIGN, "  map: {kind: fourier, kernel: gaussian, gamma: 1, seed: 1, features: 21}\n",
     "job.yml:6:71: data.map.features: is odd: a frequency is a cosine and a sine, so write an even number"},
    {SIGN, "  map: {kind: products, kernel: gaussian, gamma: 1}\n",
     "job.yml:6:15: data.map.kind: \"products\" is not a choice; known here: fourier, nystrom"},
    {SIGN, "  map: {kind: fourier, kernel: polynomial, gamma: 1, seed: 1, features: 20}\n",
     "job.yml:6:32: data.map.kernel: \"polynomial\" is not a choice; known here: gaussian, laplacian"},
    {SIGN, "  map: {kind: fourier, kernel: gaussian, gamma: 0, seed: 1, features: 20}\n",
     "job.yml:6:49: data.map.gamma: \"0\" is out of range: write a number from 1e-06 to 1e+06"},
    {SIGN,
     "  map: {kind: fourier, kernel: gaussian, gamma: 1, seed: 9007199254740992, features: 2}\n",
     "job.yml:6:58: data.map.seed: \"9007199254740992\" is out of range: write a number from 0 to 9007199254740991"},
    {SIGN,
     "  map: {kind: fourier, kernel: gaussian, gamma: 1, seed: 1, features: 4, landmarks: [[1, x]]}\n",
     "job.yml:6:85: data.map.landmarks: is for kind nystrom: remove it"},
    {SIGN, "  map: {kind: nystrom, kernel: gaussian, gamma: 1}\n",
     "job.yml:6:8: data.map.landmarks: is missing: add PUBLIC rows, for example `landmarks: [[70, F], [50, M]]`"},
    {SIGN, "  map: {kind: nystrom, kernel: gaussian, gamma: 1, seed: 4, landmarks: [[1, x]]}\n",
     "job.yml:6:58: data.map.seed: is for kind fourier: remove it"},
    {SIGN, "  map: {kind: nystrom, kernel: gaussian, gamma: 1, landmarks: [[1, x], [1]]}\n",
     "job.yml:6:72: data.map.landmarks[1]: has 1 values: write 2, one per lag if there are any, then one per feature, in their order"},
    {SIGN, "  map: {kind: nystrom, kernel: gaussian, gamma: 1, landmarks: [[1, x], [1, z]]}\n",
     "job.yml:6:76: data.map.landmarks[1][1]: is none of this column's categories"},
    {SIGN, "  map: {kind: nystrom, kernel: gaussian, gamma: 1, landmarks: [[NA, x]]}\n",
     "job.yml:6:65: data.map.landmarks[0][0]: is not a number, as this column's values are"},
    {SIGN, "  map: {kind: nystrom, kernel: gaussian, gamma: 1, landmarks: [[1, x], [1, x]]}\n",
     "job.yml:6:63: data.map.landmarks: landmark 2 is too near to those before it: remove it, or raise gamma"},
    {SIGN, "  map: {kind: nystrom, kernel: gaussian, gamma: 1, landmarks: [1, x]}\n",
     "job.yml:6:64: data.map.landmarks[0]: is a single value, not a list: write it like [[70, F], [50, M]]"},
};

Test(job_data, refusals_name_place_key_and_remedy)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *refusal = &refusals[i];
        struct job job;
        struct why why = {{0}};
        char data[4096];
        snprintf(data, sizeof data, "  label: %s\n%s%s", refusal->label, features, refusal->rest);
        cr_expect(parse(&job, data, "logistic", &why) == STATUS_INVALID, "%s", data);
        cr_expect_str_eq(why.text, refusal->message, "%s%s gave: %s", refusal->label, refusal->rest,
                         why.text);
        cr_expect(job.schema.column == NULL && job.schema.map.landmark == NULL);
    }
}

Test(job_data, needs_features_where_there_is_no_series)
{
    struct job job;
    struct why why = {{0}};
    cr_assert(parse(&job, "  label: {column: y, centre: 1, half_width: 2}\n", "squared", &why) ==
              STATUS_INVALID);
    cr_assert_str_eq(why.text, "job.yml:4:3: data: has no \"features\": add it, for example "
                               "`features: [{column: age, centre: 50, half_width: 25}]`");
    cr_assert(parse(&job,
                    "  label: {centre: 1, half_width: 2}\n"
                    "  series: {column: y, lags: [1]}\n"
                    "  features: [{column: lag_1, centre: 0, half_width: 1}]\n",
                    "squared", &why) == STATUS_INVALID);
    cr_assert(strstr(why.text, "data.features[0].column: has a name like") != NULL, "%s", why.text);
}
