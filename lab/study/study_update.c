#include "lab/study/study_update.h"

#include "dp/encode.h"
#include "dp/filter.h"
#include "dp/mechanism.h"
#include "learn/erm.h"
#include "learn/metrics.h"
#include "learn/moments.h"
#include "learn/permutation.h"
#include "learn/sensitivity.h"
#include "noise/gaussian.h"
#include "noise/laplace.h"
#include "tests/support/seeded_random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ONE_IN = 5, RECORDS_LEAST = 10 };

/* Either noise, prepared. */
struct noise {
    bool gaussian;
    double deviation;
    struct noise_laplace laplace;
    struct noise_gaussian normal;
};

/* One run: who trains on what. The held-out records come first in the order. */
struct run {
    const struct study_training *training;
    const struct dataset *data;
    const size_t *order; /* of the training records, site after site */
    size_t site_rows;
    const struct random *random;
};

/* The noise of one of `rounds` releases that share the budget. */
static enum status prepare(struct noise *noise, const struct study_training *training,
                           uint64_t rounds, uint64_t sensitivity, struct why *why)
{
    struct noise_scale scale = {0, 0};
    enum status status = STATUS_OK;
    noise->gaussian = training->gaussian;
    if (!noise->gaussian) {
        status = mechanism_scale(&scale, sensitivity * rounds, training->epsilon_micro, why);
        noise->deviation = sqrt(2) * (double)scale.numerator / (double)scale.denominator;
        return status != STATUS_OK ? status : noise_laplace_init(&noise->laplace, scale);
    }
    const struct filter_plan schedule = {
        .limit = {.epsilon_micro = training->epsilon_micro, .delta_atto = training->delta_atto},
        .count = rounds,
        .sampling_nano = SAMPLING_NANO_ONE};
    uint64_t sigma = 0;
    status = filter_sigma(&sigma, &schedule, why);
    if (status == STATUS_OK) {
        status = mechanism_sigma(&scale, sensitivity, sigma, why);
    }
    noise->deviation = (double)sensitivity * (double)sigma / 1e6;
    return status != STATUS_OK ? status : noise_gaussian_init(&noise->normal, scale);
}

static enum status add_noise(const struct noise *noise, const struct random *random,
                             int64_t *values, size_t count)
{
    return noise->gaussian ? noise_gaussian_add(&noise->normal, random, values, count)
                           : noise_laplace_add(&noise->laplace, random, values, count);
}

/* Adds a site's vector to the total; its own noise first, under local trust. */
static enum status contribute(int64_t *total, int64_t *vector, size_t count, const struct run *run,
                              const struct noise *noise)
{
    const enum status status =
        run->training->local ? add_noise(noise, run->random, vector, count) : STATUS_OK;
    for (size_t j = 0; j < count; j++) {
        total[j] += vector[j];
    }
    return status;
}

static enum status one_round(double *state, const struct run *run, const struct gradient *gradient,
                             const struct optimiser *optimiser, const struct noise *noise,
                             uint64_t round)
{
    const size_t d = run->data->feature_count;
    int64_t total[STUDY_FEATURES_MAX] = {0};
    double mean[STUDY_FEATURES_MAX];
    double weights[STUDY_FEATURES_MAX];
    enum status status = STATUS_OK;
    optimiser_weights(weights, state, optimiser);
    for (size_t site = 0; site < STUDY_SITES && status == STATUS_OK; site++) {
        const struct gradient_rows rows = {.x = run->data->x,
                                           .y = run->data->y,
                                           .row = run->order + site * run->site_rows,
                                           .row_count = run->site_rows};
        int64_t sum[STUDY_FEATURES_MAX];
        status = gradient_sum(sum, gradient, weights, &rows);
        if (status == STATUS_OK) {
            status = contribute(total, sum, d, run, noise);
        }
    }
    if (status == STATUS_OK && !run->training->local) {
        status = add_noise(noise, run->random, total, d);
    }
    if (status == STATUS_OK) {
        gradient_mean(mean, total, d, gradient->grid_bits, (double)(STUDY_SITES * run->site_rows));
        optimiser_step(state, optimiser, mean, round);
    }
    return status;
}

static enum status train_update(double *model, const struct run *run, struct noise *noise,
                                struct why *why)
{
    struct gradient gradient = run->training->gradient;
    struct optimiser optimiser = run->training->optimiser;
    double state[4 * STUDY_FEATURES_MAX];
    gradient.output_count = 1;
    gradient.feature_count = run->data->feature_count;
    gradient.norm = run->training->gaussian ? GRADIENT_L2 : GRADIENT_L1;
    optimiser.width = run->data->feature_count;
    enum status status = gradient_check(&gradient, run->site_rows, why);
    if (status == STATUS_OK) {
        status = optimiser_check(&optimiser, why);
    }
    if (status == STATUS_OK) {
        status =
            prepare(noise, run->training, optimiser.rounds, gradient_sensitivity(&gradient), why);
    }
    if (status == STATUS_OK) {
        optimiser_init(state, &optimiser, NULL);
    }
    for (uint64_t round = 0; round < optimiser.rounds && status == STATUS_OK; round++) {
        status = one_round(state, run, &gradient, &optimiser, noise, round);
    }
    if (status == STATUS_OK) {
        optimiser_model(model, state, &optimiser);
    }
    return status;
}

static enum status train_statistics(double *model, const struct run *run, struct noise *noise,
                                    struct why *why)
{
    const struct study_training *training = run->training;
    const size_t d = run->data->feature_count;
    const struct moments moments = {.feature_count = d, .grid_bits = STUDY_GRID_BITS, .bound_y = 1};
    const size_t count = moments_count(&moments);
    int64_t *sum = calloc(3 * count, sizeof *sum);
    double lambda = 0;
    enum status status = sum == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    if (status == STATUS_OK) {
        status = prepare(noise, training, 1,
                         training->gaussian ? moments_sensitivity_l2(&moments)
                                            : moments_sensitivity_l1(&moments),
                         why);
    }
    for (size_t site = 0; site < STUDY_SITES && status == STATUS_OK; site++) {
        int64_t *own = sum + 2 * count;
        memset(own, 0, count * sizeof *own);
        for (size_t i = 0; i < run->site_rows && status == STATUS_OK; i++) {
            const size_t row = run->order[site * run->site_rows + i];
            status = moments_sum(sum, &moments, run->data->x + row * d, run->data->y + row, 1);
            for (size_t j = 0; j < count; j++) {
                own[j] += sum[j];
            }
        }
        if (status == STATUS_OK) {
            status = contribute(sum + count, own, count, run, noise);
        }
    }
    if (status == STATUS_OK && !training->local) {
        status = add_noise(noise, run->random, sum + count, count);
    }
    if (status == STATUS_OK) {
        const struct moments_release release = {
            .total = sum + count,
            .record_count = (double)(STUDY_SITES * run->site_rows),
            .deviation = noise->deviation * sqrt(training->local ? STUDY_SITES : 1),
            .lambda = training->lambda};
        status = moments_solve(model, &lambda, &moments, &release);
    }
    free(sum);
    return status;
}

/* The logistic model of `count` records of the order, from `from` on. */
static enum status solve(double *w, const struct run *run, struct erm_problem *problem, size_t from,
                         size_t count, struct why *why)
{
    const size_t d = run->data->feature_count;
    struct dataset part = {.record_count = count, .feature_count = d};
    enum status status = STATUS_NO_MEMORY;
    *problem = (struct erm_problem){.loss = {.kind = LOSS_LOGISTIC},
                                    .lambda = run->training->lambda,
                                    .tolerance = 1e-6,
                                    .record_count = count,
                                    .feature_count = d};
    part.x = calloc(count * d, sizeof *part.x);
    part.y = calloc(count, sizeof *part.y);
    if (part.x != NULL && part.y != NULL) {
        for (size_t i = 0; i < count; i++) {
            const size_t row = run->order[from + i];
            memcpy(part.x + i * d, run->data->x + row * d, d * sizeof *part.x);
            part.y[i] = run->data->y[row];
        }
        status = erm_solve(w, problem, &part, why);
    }
    free(part.y);
    free(part.x);
    return status;
}

static enum status train_fit(double *model, const struct run *run, struct noise *noise,
                             struct why *why)
{
    const size_t d = run->data->feature_count;
    int64_t total[STUDY_FEATURES_MAX] = {0};
    uint64_t sensitivity = 0;
    enum status status = STATUS_OK;
    for (size_t site = 0; site < STUDY_SITES && status == STATUS_OK; site++) {
        double w[STUDY_FEATURES_MAX];
        int64_t vector[STUDY_FEATURES_MAX];
        struct erm_problem problem;
        status = solve(w, run, &problem, site * run->site_rows, run->site_rows, why);
        if (status == STATUS_OK && site == 0) {
            status = sensitivity_fit_l1(&sensitivity, &problem, STUDY_GRID_BITS, why);
        }
        if (status == STATUS_OK && site == 0) {
            status = prepare(noise, run->training, 1, sensitivity, why);
        }
        for (size_t j = 0; j < d && status == STATUS_OK; j++) {
            vector[j] = encode_value(w[j], STUDY_GRID_BITS);
        }
        if (status == STATUS_OK) {
            status = contribute(total, vector, d, run, noise);
        }
    }
    if (status == STATUS_OK && !run->training->local) {
        status = add_noise(noise, run->random, total, d);
    }
    for (size_t j = 0; j < d; j++) {
        model[j] = ldexp((double)total[j], -STUDY_GRID_BITS) / STUDY_SITES;
    }
    return status;
}

static enum status train(double *model, const struct run *run, struct why *why)
{
    struct noise noise = {.gaussian = false};
    struct erm_problem ignored;
    enum status status = STATUS_INVALID;
    switch (run->training->method) {
    case STUDY_UPDATE:
        status = train_update(model, run, &noise, why);
        break;
    case STUDY_STATISTICS:
        status = train_statistics(model, run, &noise, why);
        break;
    case STUDY_FIT:
        status = train_fit(model, run, &noise, why);
        break;
    case STUDY_POOLED:
        status = solve(model, run, &ignored, 0, STUDY_SITES * run->site_rows, why);
        break;
    }
    noise_gaussian_free(&noise.normal);
    return status;
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

static double error_of(const struct mean *mean, double count)
{
    const double centre = mean->sum / count;
    return sqrt(fmax(mean->squares / count - centre * centre, 0) / (count - 1));
}

/* The room of all runs: the order, and the records held out of one. */
struct room {
    size_t *order;
    struct dataset held;
    double *scores;
};

static enum status run_once(struct mean *accuracy, struct mean *area, struct room *room,
                            const struct study_training *training, const struct dataset *data,
                            uint64_t seed, struct why *why)
{
    const struct digest digest = {.byte = {(uint8_t)(seed & 255), (uint8_t)(seed >> 8 & 255), 7,
                                           (uint8_t)(seed >> 16 & 255)}};
    const size_t held = room->held.record_count;
    const size_t d = data->feature_count;
    struct seeded_random seeded;
    double model[STUDY_FEATURES_MAX];
    double auc = 0;
    seeded_random_init(&seeded, seed);
    const struct random random = seeded_random_interface(&seeded);
    permutation_draw(room->order, data->record_count, &digest);
    for (size_t i = 0; i < held; i++) {
        memcpy(room->held.x + i * d, data->x + room->order[i] * d, d * sizeof *data->x);
        room->held.y[i] = data->y[room->order[i]];
    }
    const struct run run = {.training = training,
                            .data = data,
                            .order = room->order + held,
                            .site_rows = (data->record_count - held) / STUDY_SITES,
                            .random = &random};
    enum status status = train(model, &run, why);
    if (status == STATUS_OK) {
        metrics_scores(room->scores, model, &room->held);
        status = metrics_auc(&auc, room->scores, &room->held);
    }
    if (status == STATUS_OK) {
        take(accuracy, metrics_accuracy(room->scores, &room->held));
        take(area, auc);
    }
    return status;
}

enum status study_quality(struct study_quality *quality, const struct study_training *training,
                          const struct dataset *data, uint64_t first, uint64_t runs,
                          struct why *why)
{
    const size_t d = data->feature_count;
    struct room room = {.held = {.record_count = data->record_count / ONE_IN, .feature_count = d}};
    struct mean accuracy = {0, 0};
    struct mean area = {0, 0};
    enum status status = STATUS_NO_MEMORY;
    if (data->record_count < RECORDS_LEAST || d > STUDY_FEATURES_MAX || runs < 2) {
        return why_refuse(why, "a study needs %d records, at most %d features, and 2 runs",
                          RECORDS_LEAST, STUDY_FEATURES_MAX);
    }
    room.order = calloc(data->record_count, sizeof *room.order);
    room.scores = calloc(room.held.record_count, sizeof *room.scores);
    room.held.x = calloc(room.held.record_count * d, sizeof *room.held.x);
    room.held.y = calloc(room.held.record_count, sizeof *room.held.y);
    if (room.order != NULL && room.scores != NULL && room.held.x != NULL && room.held.y != NULL) {
        status = STATUS_OK;
    }
    for (uint64_t run = 0; run < runs && status == STATUS_OK; run++) {
        status = run_once(&accuracy, &area, &room, training, data, first + run, why);
    }
    const double n = (double)runs;
    *quality = (struct study_quality){accuracy.sum / n, error_of(&accuracy, n), area.sum / n,
                                      error_of(&area, n)};
    free(room.held.y);
    free(room.held.x);
    free(room.scores);
    free(room.order);
    return status;
}
