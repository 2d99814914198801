/* study_update.c - federated gradient rounds on a table: accuracy and AUC on a held-out fifth, five
 * equal sites, over seeds; the agents' integers, their noise and the coordinator's steps are the
 * library's own. The figures of docs/study-hospitals.md.
 *
 *     study_update TABLE.csv SCHEMA.csv SEEDS < SETTINGS
 *
 * SCHEMA.csv: a line `label,NAME,POSITIVE,NEGATIVE`, then lines `number,NAME,CENTRE,HALF_WIDTH[,MISSING]`,
 * `log1p,NAME,CENTRE,HALF_WIDTH` and `category,NAME,FIRST,SECOND`. SETTINGS: a line for each row of
 * the answer, as in `logistic laplace local 8 1 32 0.5 none`: loss, noise, trust, rounds, clip, rate,
 * momentum, average; `ridge` for the loss is one release of second moments, its rate lambda, the
 * rest of the line unused. The privacy is epsilon 1 for all rounds together, and delta 1e-5 if Gaussian. */

#include "base/check.h"
#include "dp/schedule.h"
#include "learn/dataset.h"
#include "learn/gradient.h"
#include "learn/metrics.h"
#include "learn/moments.h"
#include "learn/optimiser.h"
#include "learn/permutation.h"
#include "noise/gaussian.h"
#include "noise/laplace.h"
#include "tests/support/seeded_random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITES = 5, GRID_BITS = 16, WORD = 64, WIDTH_MAX = 64 };

struct setting {
    char loss[WORD];
    char noise[WORD];
    char trust[WORD];
    char average[WORD];
    unsigned rounds;
    double clip;
    double rate;
    double momentum;
};

/* Either noise, prepared. */
struct noise {
    bool gaussian;
    double deviation;
    struct noise_laplace laplace;
    struct noise_gaussian normal;
};

static void read_column(struct column *column, const char *kind, char *const *word)
{
    (void)snprintf(column->name, sizeof column->name, "%s", word[0]);
    if (strcmp(kind, "category") == 0) {
        column->kind = COLUMN_CATEGORY;
        column->category_count = 2;
        (void)snprintf(column->category[0], sizeof column->category[0], "%s", word[1]);
        (void)snprintf(column->category[1], sizeof column->category[1], "%s", word[2]);
        return;
    }
    column->transform = strcmp(kind, "log1p") == 0 ? TRANSFORM_LOG1P : TRANSFORM_NONE;
    column->centre = strtod(word[1], NULL);
    column->half_width = strtod(word[2], NULL);
    column->has_missing = word[3][0] != '\0';
    column->missing = strtod(word[3], NULL);
}

static void read_schema(struct schema *schema, const char *path)
{
    FILE *file = fopen(path, "r");
    char line[5 * WORD];
    CHECK(file != NULL);
    schema->column = calloc(WIDTH_MAX, sizeof *schema->column);
    CHECK(schema->column != NULL);
    while (fgets(line, sizeof line, file) != NULL && schema->column_count < WIDTH_MAX) {
        char kind[WORD] = "";
        char text[4][WORD] = {{0}};
        char *const word[4] = {text[0], text[1], text[2], text[3]};
        (void)sscanf(line, "%63[^,],%63[^,\n],%63[^,\n],%63[^,\n],%63[^,\n]", kind, text[0],
                     text[1], text[2], text[3]);
        if (strcmp(kind, "label") == 0) {
            (void)snprintf(schema->label.name, sizeof schema->label.name, "%s", text[0]);
            (void)snprintf(schema->label.positive, sizeof schema->label.positive, "%s", text[1]);
            (void)snprintf(schema->label.negative, sizeof schema->label.negative, "%s", text[2]);
        } else {
            read_column(&schema->column[schema->column_count++], kind, word);
        }
    }
    (void)fclose(file);
}

/* The noise of one round, of (1, 0) or (1, 1e-5) for all of them. */
static void prepare(struct noise *noise, unsigned rounds, const struct setting *setting,
                    uint64_t sensitivity)
{
    noise->gaussian = strcmp(setting->noise, "gaussian") == 0;
    if (!noise->gaussian) {
        noise->deviation = sqrt(2) * (double)(sensitivity * rounds);
        CHECK(noise_laplace_init(&noise->laplace, (struct noise_scale){sensitivity * rounds, 1}) ==
              STATUS_OK);
        return;
    }
    const struct schedule schedule = {
        .limit = {.epsilon_micro = EPSILON_MICRO_ONE, .delta_atto = DELTA_ATTO_ONE / 100000},
        .count = rounds,
        .sampling_nano = SAMPLING_NANO_ONE};
    uint64_t sigma = 0;
    CHECK(schedule_sigma(&sigma, &schedule, NULL) == STATUS_OK);
    noise->deviation = (double)sensitivity * (double)sigma / (double)EPSILON_MICRO_ONE;
    CHECK(noise_gaussian_init(&noise->normal,
                              (struct noise_scale){sensitivity * sigma, EPSILON_MICRO_ONE}) ==
          STATUS_OK);
}

static void add_noise(const struct noise *noise, const struct random *random, int64_t *values,
                      size_t count)
{
    const enum status status = noise->gaussian
                                   ? noise_gaussian_add(&noise->normal, random, values, count)
                                   : noise_laplace_add(&noise->laplace, random, values, count);
    CHECK(status == STATUS_OK);
}

/* One run: trains on rows order[from..], five sites, and writes the released model. */
static void train(double *model, const struct setting *setting, const struct dataset *data,
                  const size_t *order, size_t from, const struct random *random)
{
    const size_t d = data->feature_count;
    const size_t site_rows = (data->record_count - from) / SITES;
    struct gradient gradient = {.output_count = 1, .feature_count = d, .grid_bits = GRID_BITS};
    struct optimiser optimiser = {.kind =
                                      setting->momentum > 0 ? OPTIMISER_MOMENTUM : OPTIMISER_PLAIN,
                                  .width = d,
                                  .rounds = setting->rounds,
                                  .rate = setting->rate,
                                  .momentum = setting->momentum};
    struct noise noise = {.gaussian = false};
    double state[4 * WIDTH_MAX];

    CHECK(loss_from_name(&gradient.loss.kind, setting->loss) == STATUS_OK);
    gradient.loss.parameter = gradient.loss.kind == LOSS_HUBER ? 1 : 0;
    gradient.norm = strcmp(setting->noise, "gaussian") == 0 ? GRADIENT_L2 : GRADIENT_L1;
    gradient.clip = (int64_t)ldexp(setting->clip, GRID_BITS);
    optimiser.average = strcmp(setting->average, "tail") == 0         ? AVERAGE_TAIL
                        : strcmp(setting->average, "polynomial") == 0 ? AVERAGE_POLYNOMIAL
                                                                      : AVERAGE_NONE;
    prepare(&noise, setting->rounds, setting, gradient_sensitivity(&gradient));
    optimiser_init(state, &optimiser, NULL);
    for (unsigned round = 0; round < setting->rounds; round++) {
        int64_t total[WIDTH_MAX] = {0};
        double mean[WIDTH_MAX];
        for (size_t site = 0; site < SITES; site++) {
            const struct gradient_rows rows = {.x = data->x,
                                               .y = data->y,
                                               .row = order + from + site * site_rows,
                                               .row_count = site_rows};
            int64_t sum[WIDTH_MAX];
            CHECK(gradient_sum(sum, &gradient, state, &rows) == STATUS_OK);
            if (strcmp(setting->trust, "local") == 0) {
                add_noise(&noise, random, sum, d);
            }
            for (size_t j = 0; j < d; j++) {
                total[j] += sum[j];
            }
        }
        if (strcmp(setting->trust, "local") != 0) {
            add_noise(&noise, random, total, d);
        }
        gradient_mean(mean, total, d, GRID_BITS, (double)(SITES * site_rows));
        optimiser_step(state, &optimiser, mean, round);
    }
    optimiser_model(model, state, &optimiser);
    if (noise.gaussian) {
        noise_gaussian_free(&noise.normal);
    }
}

/* One release of all second moments, and the ridge of it. */
static void train_once(double *model, const struct setting *setting, const struct dataset *data,
                       const size_t *order, size_t from, const struct random *random)
{
    const size_t d = data->feature_count;
    const size_t site_rows = (data->record_count - from) / SITES;
    const struct moments moments = {.feature_count = d, .grid_bits = GRID_BITS, .bound_y = 1};
    const size_t count = moments_count(&moments);
    const bool local = strcmp(setting->trust, "local") == 0;
    int64_t *sum = calloc(2 * count, sizeof *sum);
    int64_t *total = sum + count;
    struct noise noise = {.gaussian = false};
    double lambda;

    CHECK(sum != NULL);
    const uint64_t sensitivity = strcmp(setting->noise, "gaussian") == 0
                                     ? moments_sensitivity_l2(&moments)
                                     : moments_sensitivity_l1(&moments);
    prepare(&noise, 1, setting, sensitivity);
    for (size_t i = 0; i < SITES * site_rows; i++) {
        const size_t row = order[from + i];
        CHECK(moments_sum(sum, &moments, data->x + row * d, data->y + row, 1) == STATUS_OK);
        for (size_t j = 0; j < count; j++) {
            total[j] += sum[j];
        }
    }
    for (int time = 0; time < (local ? SITES : 1); time++) { /* noise adds up as the sums do */
        add_noise(&noise, random, total, count);
    }
    const struct moments_release release = {.total = total,
                                            .record_count = (double)(SITES * site_rows),
                                            .deviation = noise.deviation * sqrt(local ? SITES : 1),
                                            .lambda = setting->rate};
    CHECK(moments_solve(model, &lambda, &moments, &release) == STATUS_OK);
    if (noise.gaussian) {
        noise_gaussian_free(&noise.normal);
    }
    free(sum);
}

struct mean {
    double sum;
    double squares;
};

static void take(struct mean *mean, double x)
{
    mean->sum += x;
    mean->squares += x * x;
}

static void print_mean(const struct mean *mean, double count)
{
    const double centre = mean->sum / count;
    printf(" %.4f (%.4f)", centre,
           sqrt(fmax(mean->squares / count - centre * centre, 0) / (count - 1)));
}

static void study(const struct setting *setting, const struct dataset *data, unsigned seeds,
                  size_t *order)
{
    const size_t held = data->record_count / 5;
    const size_t d = data->feature_count;
    struct dataset test = {.record_count = held, .feature_count = d};
    double *scores = calloc(held, sizeof *scores);
    struct mean accuracy = {0};
    struct mean area = {0};

    test.x = calloc(held * d, sizeof *test.x);
    test.y = calloc(held, sizeof *test.y);
    CHECK(scores != NULL && test.x != NULL && test.y != NULL);
    for (unsigned seed = 1; seed <= seeds; seed++) {
        const struct digest digest = {.byte = {(uint8_t)(seed & 255), (uint8_t)(seed >> 8), 7}};
        struct seeded_random seeded;
        double model[WIDTH_MAX];
        double auc = 0;
        seeded_random_init(&seeded, seed);
        const struct random random = seeded_random_interface(&seeded);
        permutation_draw(order, data->record_count, &digest);
        for (size_t i = 0; i < held; i++) {
            memcpy(test.x + i * d, data->x + order[i] * d, d * sizeof *test.x);
            test.y[i] = data->y[order[i]];
        }
        if (strcmp(setting->loss, "ridge") == 0) {
            train_once(model, setting, data, order, held, &random);
        } else {
            train(model, setting, data, order, held, &random);
        }
        metrics_scores(scores, model, &test);
        CHECK(metrics_auc(&auc, scores, &test) == STATUS_OK);
        take(&accuracy, metrics_accuracy(scores, &test));
        take(&area, auc);
    }
    print_mean(&accuracy, seeds);
    print_mean(&area, seeds);
    free(scores);
    free(test.x);
    free(test.y);
}

int main(int argc, char **argv)
{
    struct schema schema = {.column_count = 0};
    struct dataset data;
    struct setting setting;
    struct why why = {{0}};
    char line[8 * WORD];

    CHECK(argc == 4);
    const unsigned seeds = (unsigned)strtoul(argv[3], NULL, 10);
    read_schema(&schema, argv[2]);
    FILE *file = fopen(argv[1], "r");
    CHECK(file != NULL && seeds > 1);
    if (dataset_read(&data, file, argv[1], &schema, DATASET_LEARN, &why) != STATUS_OK) {
        (void)fprintf(stderr, "%s\n", why.text);
        return 1;
    }
    (void)fclose(file);
    size_t *order = calloc(data.record_count, sizeof *order);
    CHECK(order != NULL && data.feature_count <= WIDTH_MAX);
    while (fgets(line, sizeof line, stdin) != NULL) {
        char number[4][WORD] = {{0}};
        const int found =
            sscanf(line, "%63s %63s %63s %63s %63s %63s %63s %63s", setting.loss, setting.noise,
                   setting.trust, number[0], number[1], number[2], number[3], setting.average);
        setting.rounds = (unsigned)strtoul(number[0], NULL, 10);
        setting.clip = strtod(number[1], NULL);
        setting.rate = strtod(number[2], NULL);
        setting.momentum = strtod(number[3], NULL);
        if (found == 8) {
            line[strcspn(line, "\n")] = '\0';
            printf("%s:", line);
            study(&setting, &data, seeds, order);
            printf("\n");
        }
    }
    free(order);
    dataset_free(&data);
    schema_free(&schema);
    return 0;
}
