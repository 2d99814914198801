/* How far the noise moves a forecast. A model's weights w hold independent noise of one deviation s on each, so a forecast
 * w.x has the noise s |x|: exact, and at most s, as |x| <= 1. Later days are forecast from forecasts, which have noise of the
 * same weights: with g_t the derivative of day t's forecast by w,
 *
 *     g_t = x_t + sum over lags l of (the derivative of w.x by the day l before) g_{t-l},    g = 0 for the days at the start,
 *
 * and the noise is s |g_t|, to first order. Days are clamped to the public range, g is not: so the noise is overstated there,
 * and never left out. */

#include "coordinator/outlook.h"

#include "base/check.h"
#include "learn/blocks.h"
#include "learn/features.h"
#include "task/close.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double step_part = 1e-4; /* of half_width: the derivative's step to either side */

/* A model made ready to forecast. d = block.count, n = schema_value_count */
struct ready {
    const struct schema *schema; /* the job's */
    struct block block;
    struct features *features;
    double deviation; /* of the noise on each weight; 0: none; NAN: not known */
    double *weight;   /* (d) owned */
    double *x;        /* (d) owned */
    double *value;    /* (n) owned: a record as a table would have it */
};

static void ready_free(struct ready *ready)
{
    features_free(ready->features);
    free(ready->weight);
    free(ready->x);
    free(ready->value);
}

/* The noise on one of the expert's weights. closing_noise is for the fewest records, which have the most
 * noise. */
static double deviation_of(const struct outcome *outcome, const struct job *job, size_t expert)
{
    const struct outcome_expert *from = &outcome->expert[expert];
    uint32_t within;
    if (from->is_written) {
        return 0;
    }
    if (from->draws == 0 || from->round >= job_round_count(job)) {
        return NAN;
    }
    const struct stage *stage = job_stage_of(job, from->round, &within);
    const struct query_noise noise = closing_noise(outcome, job, stage, within, from->draws);
    return ldexp(query_noise_deviation(&noise), -(int)stage->grid_bits) / from->draws;
}

/* The middle of a column's public range, as a table would have it. */
static double middle(const struct column *column)
{
    return column->kind == COLUMN_CATEGORY        ? 0
           : column->transform == TRANSFORM_LOG1P ? expm1(column->centre)
                                                  : column->centre;
}

static bool is_too_large(const struct schema *schema)
{
    const size_t each = schema_plain_count(schema) + schema->map.landmark_count;
    return schema_feature_count(schema) > OUTLOOK_WORK_MAX / each;
}

/* Fails with STATUS_UNSUPPORTED where the model is too large, or none of one block. */
static enum status ready_make(struct ready *ready, const struct outcome *outcome,
                              const struct job *job, size_t expert)
{
    const double *weight = outcome->weights + expert * outcome->width;
    const int index = block_of_model(&job->schema, weight);
    struct why why = {{0}};
    *ready = (struct ready){.schema = &job->schema};
    if (index < 0) {
        return STATUS_UNSUPPORTED;
    }
    const struct schema one = block_schema(&job->schema, (size_t)index);
    if (is_too_large(&one)) {
        return STATUS_UNSUPPORTED;
    }
    ready->block = block_at(&job->schema, (size_t)index);
    ready->deviation = deviation_of(outcome, job, expert);
    ready->weight = calloc(ready->block.count, sizeof *ready->weight);
    ready->x = calloc(ready->block.count, sizeof *ready->x);
    ready->value = calloc(schema_value_count(&one), sizeof *ready->value);
    if (ready->weight == NULL || ready->x == NULL || ready->value == NULL) {
        return STATUS_NO_MEMORY;
    }
    block_narrow(ready->weight, 1, ready->block, weight);
    for (size_t i = 0; i < one.column_count; i++) {
        ready->value[one.lag_count + i] = middle(&one.column[i]);
    }
    const enum status status = features_new(&ready->features, &one, &why);
    CHECK(status != STATUS_INVALID); /* the job was read with this map */
    return status;
}

/* The score of the record in value, in units of the label's half_width. Leaves the record's
 * features in x. */
static double score(struct ready *ready)
{
    double sum = 0;
    features_apply(ready->features, ready->x, ready->value);
    for (size_t i = 0; i < ready->block.count; i++) {
        sum += ready->weight[i] * ready->x[i];
    }
    return sum;
}

static double norm(const double *x, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

static double told(const struct label *label, double score)
{
    return label->centre + label->half_width * fmin(fmax(score, -1), 1);
}

static void forecast_levels(struct outlook_model *model, struct ready *ready, const double *level)
{
    const struct label *label = &ready->schema->label;
    for (size_t i = 0; i < OUTLOOK_LEVELS; i++) {
        for (size_t j = 0; j < ready->schema->lag_count; j++) {
            ready->value[j] = level[i];
        }
        model->value[i] = told(label, score(ready));
        model->noise[i] = label->half_width * ready->deviation * norm(ready->x, ready->block.count);
    }
}

/* How much the score moves with one lag's day, both in units of the label's half_width. */
static double slope(struct ready *ready, size_t lag)
{
    const double step = step_part * ready->schema->label.half_width;
    const double at = ready->value[lag];
    ready->value[lag] = at + step;
    const double above = score(ready);
    ready->value[lag] = at - step;
    const double below = score(ready);
    ready->value[lag] = at;
    return (above - below) / (2 * step_part);
}

/* gradient: (OUTLOOK_DAYS, d) of use while it lasts */
static void forecast_path(struct outlook_path *path, struct ready *ready, double *gradient)
{
    const struct schema *schema = ready->schema;
    const size_t d = ready->block.count;
    for (size_t day = 0; day < OUTLOOK_DAYS; day++) {
        double *now = gradient + day * d;
        for (size_t j = 0; j < schema->lag_count; j++) {
            const size_t lag = schema->lag[j];
            ready->value[j] = lag > day ? path->start : path->value[day - lag];
        }
        path->value[day] = told(&schema->label, score(ready));
        memcpy(now, ready->x, d * sizeof *now);
        for (size_t j = 0; j < schema->lag_count && schema->lag[j] <= day; j++) {
            const double part = slope(ready, j);
            const double *then = gradient + (day - schema->lag[j]) * d;
            for (size_t i = 0; i < d; i++) {
                now[i] += part * then[i];
            }
        }
        path->noise[day] = schema->label.half_width * ready->deviation * norm(now, d);
    }
}

static enum status forecast_paths(struct outlook *outlook, struct ready *ready)
{
    const struct label *label = &ready->schema->label;
    double *gradient = calloc(OUTLOOK_DAYS * ready->block.count, sizeof *gradient);
    if (gradient == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < OUTLOOK_PATHS; i++) {
        outlook->path[i].start = label->centre + label->half_width * ((double)i - 1) / 2;
        forecast_path(&outlook->path[i], ready, gradient);
    }
    outlook->path_count = OUTLOOK_PATHS;
    free(gradient);
    return STATUS_OK;
}

/* An expert's weight after the latest round that weighs them. Experts that came later are before it, a site's own model
 * after the others. */
static double rank_of(const struct outcome *outcome, size_t expert)
{
    const bool is_own = outcome->expert[expert].draws == 1;
    const double late = (double)expert + (is_own ? 1 : 1 + (double)outcome->expert_count);
    for (size_t i = outcome->round_count; i-- > 0;) {
        const struct outcome_round *round = &outcome->round[i];
        if (round->weight != NULL) {
            return expert < round->expert_count ? round->weight[expert] : late;
        }
    }
    return late;
}

/* The chosen one, then those of the highest rank. Returns how many. */
static size_t choose(size_t expert[static OUTLOOK_MODELS], const struct outcome *outcome)
{
    size_t count = 0;
    if (outcome->expert_count > 0) {
        expert[count++] = outcome->chosen;
    }
    while (count < OUTLOOK_MODELS && count < outcome->expert_count) {
        size_t best = outcome->expert_count;
        for (size_t i = 0; i < outcome->expert_count; i++) {
            bool is_there = false;
            for (size_t j = 0; j < count; j++) {
                is_there = is_there || expert[j] == i;
            }
            if (!is_there &&
                (best == outcome->expert_count || rank_of(outcome, i) > rank_of(outcome, best))) {
                best = i;
            }
        }
        expert[count++] = best;
    }
    return count;
}

enum status outlook_make(struct outlook *outlook, const struct outcome *outcome,
                         const struct job *job)
{
    const struct label *label = &job->schema.label;
    size_t expert[OUTLOOK_MODELS];
    enum status status = STATUS_OK;
    *outlook = (struct outlook){.model_count = 0};
    if (!schema_is_series(&job->schema)) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < OUTLOOK_LEVELS; i++) {
        const double part = 2 * (double)i / (OUTLOOK_LEVELS - 1) - 1;
        outlook->level[i] = label->centre + label->half_width * part;
    }
    const size_t count = choose(expert, outcome);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct ready ready;
        status = ready_make(&ready, outcome, job, expert[i]);
        if (status == STATUS_OK) {
            struct outlook_model *model = &outlook->model[outlook->model_count++];
            model->expert = expert[i];
            forecast_levels(model, &ready, outlook->level);
            status = i == 0 ? forecast_paths(outlook, &ready) : STATUS_OK;
        }
        ready_free(&ready);
        status = status == STATUS_UNSUPPORTED ? STATUS_OK : status;
    }
    return status;
}
