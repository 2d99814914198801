/* `learn` alone, without a federation around it: the tasks' own sums of five equal sites, noise of the stage's size, and the
 * coordinator's own steps. A fifth of the records is held out. Prints means over seeds. NOT PRIVATE.
 *
 *     study_learn TABLE COLUMNS TRUST EPSILON DELTA FIRST LAST
 *
 * TABLE has columns in -1 .. 1, the first COLUMNS of which are used, and last `y`: 0 and 1, or names of several classes. */

#include "base/check.h"
#include "job/job.h"
#include "job/reach.h"
#include "learn/metrics.h"
#include "query/bar.h"
#include "task/answer.h"
#include "task/learn/stage.h"
#include "tests/support/seeded_random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITES = 5, TEXT_BYTES = 65536, VALUES_MAX = 40000, STATE_MAX = 200000 };

static double draw(struct seeded_random *seeded, const struct query_noise *noise)
{
    double sum = 0;
    for (uint32_t i = 0; i < noise->draws; i++) {
        const double a = 1 - seeded_random_unit(seeded);
        const double b = seeded_random_unit(seeded);
        sum += noise->is_gaussian ? noise->scale * sqrt(-2 * log(a)) * cos(6.283185307179586 * b)
                                  : noise->scale * (b < 0.5 ? log(a) : -log(a));
    }
    return sum;
}

struct alone {
    struct job job;
    struct dataset data;
    size_t *order;
    size_t site_rows;
    struct seeded_random seeded;
    double *state;
    double *value;
    int64_t *sum; /* and behind it one site's */
};

static void release(struct alone *alone, uint32_t within, double *deviation, size_t *count)
{
    struct why why = {{0}};
    const struct stage *stage = alone->job.stage;
    struct round_bounds bounds;
    CHECK(round_bounds(&bounds, &alone->job, stage, within, job_records_min(&alone->job), 1,
                       &why) == STATUS_OK);
    const struct query_noise noise = round_noise(&alone->job, stage, &bounds, SITES);
    *deviation = query_noise_deviation(&noise);
    *count = round_answer_count(&alone->job, stage, within, 1);
    CHECK(*count <= VALUES_MAX);
    memset(alone->sum, 0, *count * sizeof *alone->sum);
    for (size_t a = 0; a < SITES; a++) {
        const struct task_input input = {.job = &alone->job,
                                         .stage = stage,
                                         .within = within,
                                         .data = &alone->data,
                                         .order = alone->order + a * alone->site_rows,
                                         .experts = alone->state};
        int64_t *own = alone->sum + *count;
        memset(own, 0, *count * sizeof *own);
        CHECK(answer_learn(own, &input) == STATUS_OK);
        for (size_t i = 0; i < *count; i++) {
            alone->sum[i] += own[i];
        }
    }
    for (size_t i = 0; i < *count; i++) {
        alone->sum[i] += (int64_t)draw(&alone->seeded, &noise);
    }
}

static void look(struct alone *alone)
{
    const struct stage *stage = alone->job.stage;
    const struct learn_stage *own = learn_stage(stage);
    const double unit = ldexp(1, -(int)own->look_bits);
    double deviation;
    size_t count;
    release(alone, 0, &deviation, &count);
    const size_t c = learn_class_count(stage);
    const size_t k = learn_kept_count(stage);
    const size_t s = learn_sum_count(stage);
    for (size_t i = 0; i < count; i++) {
        const double weight = i < c           ? own->weights.count
                              : i < c + k     ? own->weights.kept
                              : i < c + k + s ? own->weights.sum
                                              : own->weights.product;
        alone->value[i] = (double)alone->sum[i] * unit / weight;
    }
    const struct selftune_look seen = {
        .record_count = (double)(SITES * alone->site_rows),
        .count = alone->value,
        .kept = k > 0 ? alone->value + c : NULL,
        .sum = alone->value + c + k,
        .product = alone->value + c + k + s,
        .count_deviation = deviation * unit / own->weights.count,
        .kept_deviation = k > 0 ? deviation * unit / own->weights.kept : 0,
        .sum_deviation = deviation * unit / own->weights.sum,
        .product_deviation = k > 0 ? 0 : deviation * unit / own->weights.product};
    CHECK(selftune_take_look(alone->state, &own->tune, &seen) == STATUS_OK);
}

static void step(struct alone *alone, uint32_t within)
{
    const struct stage *stage = alone->job.stage;
    double deviation;
    size_t count;
    const double unit = alone->state[0] / (double)learn_clip(stage);
    release(alone, within, &deviation, &count);
    for (size_t i = 0; i < count; i++) {
        alone->value[i] = (double)alone->sum[i] * unit;
    }
    const struct selftune_release seen = {.step = within - 1,
                                          .record_count = (double)(SITES * alone->site_rows),
                                          .gradient = alone->value,
                                          .deviation = deviation * unit};
    CHECK(selftune_take_gradient(alone->state, &learn_stage(stage)->tune, &seen) == STATUS_OK);
}

/* accuracy and AUC on the held-out fifth */
static void judge(double *accuracy, double *auc, struct alone *alone)
{
    const struct selftune *tune = &learn_stage(alone->job.stage)->tune;
    const size_t d = selftune_column_count(tune) + 1;
    const size_t first = SITES * alone->site_rows;
    const size_t count = alone->data.record_count - first;
    const size_t m = tune->output_count;
    struct dataset part = {.record_count = count, .feature_count = d};
    part.x = malloc(count * d * sizeof *part.x);
    part.y = malloc(count * sizeof *part.y);
    double *f = malloc(count * m * sizeof *f);
    double *w = calloc(m * d, sizeof *w);
    CHECK(part.x != NULL && part.y != NULL && f != NULL && w != NULL);
    for (size_t i = 0; i < count; i++) {
        const size_t row = alone->order[first + i];
        const double *x = alone->data.x + row * d;
        for (size_t j = 0; j + 1 < d; j++) {
            part.x[i * d + j] = x[j] / schema_column_scale(&alone->job.stage->schema);
        }
        part.x[i * d + d - 1] = 1;
        part.y[i] = alone->data.y[row];
    }
    selftune_model(w, alone->state, tune);
    metrics_class_scores(f, w, m, &part);
    *auc = NAN;
    if (m == 1) {
        *accuracy = metrics_accuracy(f, &part);
        CHECK(metrics_auc(auc, f, &part) == STATUS_OK);
    } else {
        *accuracy = metrics_class_accuracy(f, m, &part);
    }
    free(part.x);
    free(part.y);
    free(f);
    free(w);
}

static void run(double *accuracy, double *auc, struct alone *alone, uint64_t seed)
{
    const size_t n = alone->data.record_count;
    seeded_random_init(&alone->seeded, seed);
    for (size_t i = 0; i < n; i++) {
        alone->order[i] = i;
    }
    for (size_t i = n; i-- > 1;) {
        const size_t j = (size_t)seeded_random_below(&alone->seeded, i + 1);
        const size_t kept = alone->order[i];
        alone->order[i] = alone->order[j];
        alone->order[j] = kept;
    }
    const struct stage *stage = alone->job.stage;
    CHECK(selftune_begin(alone->state, &learn_stage(stage)->tune) == STATUS_OK);
    for (uint32_t within = 0; within < stage->rounds; within++) {
        if (learn_is_look(stage, within)) {
            look(alone);
        } else {
            step(alone, within);
        }
    }
    judge(accuracy, auc, alone);
}

static size_t find_classes(char (*class)[64], FILE *file)
{
    static char line[TEXT_BYTES];
    size_t count = 0;
    size_t rows = 0;
    CHECK(fgets(line, sizeof line, file) != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        rows++;
        char *name = strrchr(line, ',') + 1;
        name[strcspn(name, "\r\n")] = 0;
        size_t c = 0;
        while (c < count && strcmp(class[c], name) != 0) {
            c++;
        }
        if (c == count) {
            CHECK(count < SELFTUNE_OUTPUTS_MAX);
            (void)snprintf(class[count++], 64, "%s", name);
        }
    }
    rewind(file);
    class[SELFTUNE_OUTPUTS_MAX][0] = 0;
    (void)snprintf(class[SELFTUNE_OUTPUTS_MAX], 64, "%zu", rows);
    return count;
}

int main(int argc, char **argv)
{
    static char text[TEXT_BYTES];
    static char class[SELFTUNE_OUTPUTS_MAX + 1][64];
    static struct alone alone;
    struct why why = {{0}};
    if (argc != 8) {
        (void)fprintf(stderr, "usage: study_learn TABLE.csv COLUMNS TRUST EPSILON DELTA FIRST-SEED "
                              "LAST-SEED\n");
        return 2;
    }
    FILE *file = fopen(argv[1], "r");
    if (file == NULL) {
        perror(argv[1]);
        return 3;
    }
    const size_t classes = find_classes(class, file);
    const size_t rows = (size_t)atoi(class[SELFTUNE_OUTPUTS_MAX]);
    static char header[TEXT_BYTES];
    CHECK(fgets(header, sizeof header, file) != NULL);
    rewind(file);
    size_t size = (size_t)snprintf(text, sizeof text,
                                   "hedgerow: 1\njob: study\ndata:\n  label: {column: y, ");
    if (classes == 2) {
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "positive: \"1\", negative: \"0\"}\n  features: [");
    } else {
        for (size_t c = 0; c < classes; c++) {
            size += (size_t)snprintf(text + size, sizeof text - size, "%s\"%s\"",
                                     c == 0 ? "classes: [" : ", ", class[c]);
        }
        size += (size_t)snprintf(text + size, sizeof text - size, "]}\n  features: [");
    }
    const char *name = header;
    for (int j = 0; j < atoi(argv[2]); j++) {
        const int length = (int)strcspn(name, ",");
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "%s{column: %.*s, centre: 0, half_width: 1}", j == 0 ? "" : ", ",
                                 length, name);
        name += length + 1;
    }
    alone.site_rows = rows * 4 / 5 / SITES;
    (void)snprintf(
        text + size, sizeof text - size,
        "]\nprivacy: {unit: record, neighbours: replace_one, trust: %s, epsilon: %s, delta: %s}\n"
        "cohort: {minimum: 5, records: %zu, join_deadline_s: 1, deadline_s: 1}\nstages:\n  - {task: learn}\n",
        argv[3], argv[4], argv[5], alone.site_rows);
    if (job_parse(&alone.job, (struct slice){text, strlen(text)}, "study", &why) != STATUS_OK) {
        (void)fprintf(stderr, "%s\n", why.text);
        return 1;
    }
    const struct dataset_options options = {.use = DATASET_LEARN, .separator = ','};
    if (dataset_read(&alone.data, file, argv[1], &alone.job.stage->schema, &options, &why) !=
        STATUS_OK) {
        (void)fprintf(stderr, "%s\n", why.text);
        return 1;
    }
    alone.order = calloc(rows, sizeof *alone.order);
    alone.state = calloc(STATE_MAX, sizeof *alone.state);
    alone.value = calloc(VALUES_MAX, sizeof *alone.value);
    alone.sum = calloc(2 * VALUES_MAX, sizeof *alone.sum);
    double sum[2] = {0};
    double square[2] = {0};
    double n = 0;
    for (int seed = atoi(argv[6]); seed <= atoi(argv[7]); seed++, n++) {
        double got[2];
        run(&got[0], &got[1], &alone, (uint64_t)seed);
        for (int i = 0; i < 2; i++) {
            sum[i] += got[i];
            square[i] += got[i] * got[i];
        }
        if (getenv("EACH") != NULL) {
            printf("%d %.5f %.5f\n", seed, got[0], got[1]);
        }
    }
    const struct selftune *tune = &learn_stage(alone.job.stage)->tune;
    printf("%s %s %s %s: %.4f (%.4f) %.4f (%.4f) sight %d steps %u\n", argv[1], argv[2], argv[3],
           argv[4], sum[0] / n, sqrt(fmax(square[0] / n - sum[0] / n * (sum[0] / n), 0) / (n - 1)),
           sum[1] / n, sqrt(fmax(square[1] / n - sum[1] / n * (sum[1] / n), 0) / (n - 1)),
           (int)tune->sight, tune->steps);
    return 0;
}
