/* A look: the sums that whitening and the start need. A step: the clipped gradients of the logistic loss, or of a number's
 * squared one, Huber's or pinball, in the columns that the coordinator's state says. Whatever the state holds, learn/gradient.h
 * bounds what a record adds. */

#include "task/answer.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/even.h"
#include "dp/encode.h"
#include "learn/dense.h"
#include "learn/gradient.h"
#include "learn/selftune_second.h"
#include "task/learn/stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double clamped(double x)
{
    return even_max(even_min(x, 1), -1);
}

/* A record's columns, each in [-1, 1] to the last bit. x: its features; products behind the columns are not read. */
static void take_columns(double *z, const double *x, size_t d, double scale)
{
    for (size_t j = 0; j < d; j++) {
        z[j] = clamped(x[j] / scale);
    }
}

/* 1 for a record's own class, else 0: of two the positive one stands second. */
static double of_class(const struct learn_stage *own, double y, size_t class)
{
    const double own_class = own->tune.output_count > 1 ? y : (double)(y > 0);
    return even_keep(mask_of(own_class == (double)class), 1);
}

/* What the look's clip leaves of a record: at even pace, and never beyond the reach. */
static double kept_of(const struct learn_stage *own, const double *z, size_t d)
{
    double sizes = 0;
    double squares = 0;
    for (size_t j = 0; j < d; j++) {
        const double size = even_flushed(even_max(z[j], -z[j]));
        sizes += size;
        squares += size * size;
    }
    const double norm = own->tune.gaussian ? sqrt(squares) : sizes;
    return even_min(learn_reach(own, d) / even_max(norm, 0x1p-60), 1);
}

static void add_counts(int64_t *value, const struct learn_stage *own, size_t classes, double y,
                       double weight)
{
    for (size_t c = 0; c < classes; c++) {
        value[c] += encode_value(weight * of_class(own, y, c), own->look_bits);
    }
}

/* The sums of the record's own class, where each has its own: of the others it adds 0. */
static void add_sums(int64_t *value, const struct learn_stage *own, const struct stage *stage,
                     const double *z, size_t d, double y, double kept)
{
    const size_t blocks = learn_sum_count(stage) / learn_column_count(stage);
    const size_t wide = own->groups > 1 ? learn_own_columns(own) : d;
    for (size_t c = 0; c < blocks; c++) {
        const double mine = blocks > 1 ? of_class(own, y, c) : 1;
        for (size_t i = 0; i < d; i++) {
            const double x = even_flushed(own->weights.sum * kept * mine * even_flushed(z[i]));
            value[c * wide + i] += encode_value(x, own->look_bits);
        }
    }
}

/* z: (d) the columns that this site looks at */
static void add_look(int64_t *value, const struct learn_stage *own, const struct stage *stage,
                     const double *z, size_t d, double y)
{
    const size_t classes = learn_class_count(stage);
    const bool clips = own->tune.sight == SIGHT_SUMS;
    const double kept = clips ? kept_of(own, z, d) : 1;
    add_counts(value, own, classes, y, own->weights.count);
    value += classes;
    if (clips) {
        add_counts(value, own, classes, y, own->weights.kept * kept);
        value += classes;
    }
    add_sums(value, own, stage, z, d, y, kept);
    value += learn_sum_count(stage) / learn_column_count(stage) *
             (own->groups > 1 ? learn_own_columns(own) : d);
    for (size_t i = 0; !clips && i < d; i++) {
        const size_t end = own->tune.sight == SIGHT_PRODUCTS ? d : i + 1;
        for (size_t j = i; j < end; j++) {
            *value +=
                encode_value(own->weights.product * even_flushed(z[i] * z[j]), own->look_bits);
            value++;
        }
    }
}

/* The round's records as the gradient sees them: whitened columns, shortened so far that none is longer than 1. */
struct seen {
    double *x;      /* (count, d + 1), owned */
    double *y;      /* (count), owned */
    double *weight; /* (m, d + 1) and d to work in, owned */
    double *shown;  /* (shown) the coordinator's state, owned */
    size_t count;
    size_t width;
};

static void seen_free(struct seen *seen)
{
    if (seen->x != NULL) {
        bytes_wipe(seen->x, seen->count * seen->width * sizeof *seen->x);
    }
    if (seen->y != NULL) {
        bytes_wipe(seen->y, seen->count * sizeof *seen->y);
    }
    free(seen->x);
    free(seen->y);
    free(seen->weight);
    free(seen->shown);
}

/* What a column is divided by: a gradient of length `clip` becomes one of the round's clip in grid steps, 2^-REACH_BITS
 * of it short. The squared loss is halved: its slope is 2 (f - y). */
static double divisor_of(const struct stage *stage, double clip)
{
    const double slope = stage->loss.kind == LOSS_SQUARED ? 2 : 1;
    return slope * clip * ldexp(1, LEARN_STEP_BITS + LEARN_REACH_BITS) / (double)learn_clip(stage);
}

static void look_through(struct seen *seen, const struct task_input *input,
                         const struct round_rows *rows)
{
    const struct selftune *tune = &learn_stage(input->stage)->tune;
    const size_t d = tune->feature_count;
    const double scale = schema_column_scale(&input->stage->schema);
    const double divisor = divisor_of(input->stage, seen->shown[0]);
    const double most = (1 - 0x1p-20) / sqrt((double)seen->width);
    const size_t weights = learn_gradient_count(input->stage);

    for (size_t j = 0; j < weights; j++) {
        seen->weight[j] = seen->shown[1 + j] * divisor;
    }
    for (size_t i = 0; i < seen->count; i++) {
        const size_t row = input->order[rows->first + i];
        double *u = seen->x + i * seen->width;
        double *z = seen->weight + weights;
        take_columns(z, input->data->x + row * input->data->feature_count, d, scale);
        selftune_transform(u, z, seen->shown, tune);
        for (size_t j = 0; j < seen->width; j++) {
            u[j] = even_flushed(even_max(even_min(u[j] / divisor, most), -most));
        }
        seen->y[i] = input->data->y[row];
    }
    bytes_wipe(seen->weight + weights, d * sizeof *seen->weight);
}

static enum status seen_init(struct seen *seen, const struct task_input *input,
                             const struct round_rows *rows)
{
    const struct selftune *tune = &learn_stage(input->stage)->tune;
    const size_t shown = selftune_shown_count(tune);
    *seen = (struct seen){.count = (size_t)rows->count, .width = selftune_column_count(tune) + 1};
    seen->x = malloc(seen->count * seen->width * sizeof *seen->x);
    seen->y = malloc(seen->count * sizeof *seen->y);
    seen->weight =
        malloc((learn_gradient_count(input->stage) + seen->width) * sizeof *seen->weight);
    seen->shown = malloc(shown * sizeof *seen->shown);
    if (seen->x == NULL || seen->y == NULL || seen->weight == NULL || seen->shown == NULL) {
        return STATUS_NO_MEMORY;
    }
    /* Public: it may branch. A state that no coordinator of ours sends gets gradients of a model of zeros. */
    if (selftune_check_shown(input->experts, tune) == STATUS_OK) {
        memcpy(seen->shown, input->experts, shown * sizeof *seen->shown);
    } else {
        memset(seen->shown, 0, shown * sizeof *seen->shown);
        seen->shown[0] = 1;
    }
    look_through(seen, input, rows);
    return STATUS_OK;
}

/* Adds how far the model misses each record's number. */
static void add_misses(int64_t *value, const struct learn_stage *own, const struct seen *seen)
{
    for (size_t i = 0; i < seen->count; i++) {
        const double f = dense_dot(seen->weight, seen->x + i * seen->width, seen->width);
        const double off = even_flushed(f - seen->y[i]);
        *value += encode_value((double)own->count_step * even_min(even_max(off, -off), 1), 0);
    }
}

static enum status step(int64_t *value, const struct task_input *input,
                        const struct round_rows *rows)
{
    const struct learn_stage *own = learn_stage(input->stage);
    const struct gradient gradient = {.loss = input->stage->loss,
                                      .output_count = own->tune.output_count,
                                      .feature_count = selftune_column_count(&own->tune) + 1,
                                      .grid_bits = LEARN_STEP_BITS + LEARN_REACH_BITS,
                                      .norm = own->tune.gaussian ? GRADIENT_L2 : GRADIENT_L1,
                                      .clip = learn_clip(input->stage),
                                      .softmax = own->tune.output_count > 1};
    struct seen seen;
    enum status status = seen_init(&seen, input, rows);
    if (status == STATUS_OK) {
        const struct gradient_rows all = {.x = seen.x, .y = seen.y, .row_count = seen.count};
        status = gradient_sum(value, &gradient, seen.weight, &all);
    }
    if (status == STATUS_OK && own->is_number) {
        add_misses(value + learn_gradient_count(input->stage), own, &seen);
    }
    seen_free(&seen);
    return status;
}

/* Moves every groups-th column to the front: those of this site's group. Returns how many. */
static size_t take_group(double *z, size_t columns, const struct learn_stage *own, size_t group)
{
    if (own->groups <= 1) {
        return columns;
    }
    const size_t mine = group < columns ? (columns - group - 1) / own->groups + 1 : 0;
    for (size_t i = 0; i < mine; i++) {
        z[i] = z[i * own->groups + group];
    }
    return mine;
}

/* The second look's columns, and where their middle is. */
struct second {
    double mu[SELFTUNE_FEATURES_MAX];
    size_t column[SELFTUNE_FEATURES_MAX];
    size_t count;
};

/* A state that no coordinator of ours sends chooses no columns. All of it is public. */
static struct second second_of(const struct task_input *input)
{
    const struct selftune *tune = &learn_stage(input->stage)->tune;
    struct second second = {.count = 0};
    CHECK(input->experts != NULL);
    if (selftune_check_shown(input->experts, tune) == STATUS_OK) {
        const size_t d = tune->feature_count;
        memcpy(second.mu, input->experts + selftune_shown_count(tune) - 2 * d,
               d * sizeof *second.mu);
        second.count = selftune_chosen(second.column, input->experts, tune);
    }
    return second;
}

/* Moves the chosen columns, less their middle, to the front. Returns how many there are. */
static size_t take_chosen(double *z, const struct second *second)
{
    for (size_t i = 0; i < second->count; i++) {
        z[i] = z[second->column[i]] - second->mu[second->column[i]];
    }
    return second->count;
}

enum status answer_learn(int64_t *value, const struct task_input *input)
{
    struct learn_stage at = learn_at(learn_stage(input->stage), input->within);
    const struct learn_stage *own = &at;
    const size_t d = own->tune.feature_count;
    const size_t columns = learn_column_count(input->stage);
    const bool is_second = own->groups_second > 0 && input->within > 0;
    const struct round_rows rows =
        round_rows(input->stage, input->within, input->data->record_count);
    CHECK(rows.first + rows.count <= input->data->record_count &&
          input->data->feature_count == selftune_column_count(&own->tune) + 1);
    if (!learn_is_look(input->stage, input->within)) {
        CHECK(input->experts != NULL);
        return step(value, input, &rows);
    }
    struct second second = {.count = 0};
    if (is_second) {
        second = second_of(input);
        at.weights.sum = learn_second_sum(input->stage, second.count);
    }
    double *z = malloc(columns * sizeof *z); /* a label that is a number is the first */
    if (z == NULL) {
        return STATUS_NO_MEMORY;
    }
    const size_t group = round_group(input->stage, input->within, input->slot);
    for (uint64_t i = 0; i < rows.count; i++) {
        const size_t row = input->order[rows.first + i];
        z[0] = clamped(input->data->y[row]);
        take_columns(z + columns - d, input->data->x + row * input->data->feature_count, d,
                     schema_column_scale(&input->stage->schema));
        const size_t seen = is_second ? take_chosen(z, &second) : columns;
        const size_t mine = take_group(z, seen, own, group);
        add_look(value, own, input->stage, z, mine, input->data->y[row]);
    }
    bytes_wipe(z, columns * sizeof *z);
    free(z);
    return STATUS_OK;
}
