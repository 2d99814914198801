/* optimiser.c - see optimiser.h for the methods. The weights of the averages depend on the round
 * alone, so the average is kept as a running mean and the state needs no counter. */

#include "learn/optimiser.h"

#include "base/check.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const double adam_guard = 1e-8;

static bool is_fraction(double x)
{
    return x >= 0 && x < 1;
}

enum status optimiser_check(const struct optimiser *optimiser, struct why *why)
{
    const bool has_momentum = optimiser->kind != OPTIMISER_PLAIN;
    const bool has_squares = optimiser->kind == OPTIMISER_ADAM;

    if ((unsigned)optimiser->kind > OPTIMISER_ADAM ||
        (unsigned)optimiser->average > AVERAGE_POLYNOMIAL) {
        return why_refuse(why, "an unknown way to step or to average");
    }
    if (optimiser->width == 0 || optimiser->width > SIZE_MAX / (4 * sizeof(double)) ||
        optimiser->rounds == 0) {
        return why_refuse(why, "a model without numbers, or no rounds");
    }
    if (!(optimiser->rate > 0 && isfinite(optimiser->rate))) {
        return why_refuse(why, "the learning rate must be a number above 0");
    }
    if (!(optimiser->decay >= 0 && optimiser->decay <= 1)) {
        return why_refuse(why, "decay: from 0 (the same rate in all rounds) to 1");
    }
    if (!is_fraction(optimiser->momentum) || (!has_momentum && optimiser->momentum != 0) ||
        !is_fraction(optimiser->momentum2) || (!has_squares && optimiser->momentum2 != 0)) {
        return why_refuse(why,
                          "momentum: at least 0 and below 1, and only where the method has one");
    }
    if (!(optimiser->radius >= 0 && isfinite(optimiser->radius))) {
        return why_refuse(why, "the radius of the ball: above 0, or 0 for none");
    }
    return STATUS_OK;
}

/* The parts of a state; those that the kind lacks are NULL. */
struct parts {
    double *weights;
    double *momentum;
    double *squares;
    double *average;
};

static struct parts parts_of(double *state, const struct optimiser *optimiser)
{
    struct parts parts = {.weights = state};
    double *next = state + optimiser->width;

    if (optimiser->kind != OPTIMISER_PLAIN) {
        parts.momentum = next;
        next += optimiser->width;
    }
    if (optimiser->kind == OPTIMISER_ADAM) {
        parts.squares = next;
        next += optimiser->width;
    }
    if (optimiser->average != AVERAGE_NONE) {
        parts.average = next;
    }
    return parts;
}

size_t optimiser_state_count(const struct optimiser *optimiser)
{
    size_t parts = optimiser->average == AVERAGE_NONE ? 1 : 2;
    parts += optimiser->kind == OPTIMISER_PLAIN ? 0 : 1;
    parts += optimiser->kind == OPTIMISER_ADAM ? 1 : 0;
    return parts * optimiser->width;
}

void optimiser_init(double *state, const struct optimiser *optimiser, const double *start)
{
    CHECK(optimiser_check(optimiser, NULL) == STATUS_OK);
    memset(state, 0, optimiser_state_count(optimiser) * sizeof *state);
    const struct parts parts = parts_of(state, optimiser);
    for (size_t j = 0; j < optimiser->width && start != NULL; j++) {
        parts.weights[j] = start[j];
        if (parts.average != NULL) {
            parts.average[j] = start[j];
        }
    }
}

/* What is the same for all numbers of the model in round t, counted from 1. */
struct pace {
    double rate;
    double correction; /* Adam's, of both means' start at zero */
    double correction2;
};

static struct pace pace_of(const struct optimiser *optimiser, double t)
{
    return (struct pace){.rate = optimiser->rate / pow(t, optimiser->decay),
                         .correction = 1 - pow(optimiser->momentum, t),
                         .correction2 = 1 - pow(optimiser->momentum2, t)};
}

static double plain_move(double gradient, const struct pace *pace)
{
    return -pace->rate * gradient;
}

/* What one number of the model moves by, and the new momentum. */
static double move_of(const struct optimiser *optimiser, const struct parts *parts, size_t j,
                      double gradient, const struct pace *pace)
{
    switch (optimiser->kind) {
    case OPTIMISER_PLAIN:
        return plain_move(gradient, pace);
    case OPTIMISER_MOMENTUM:
        parts->momentum[j] = optimiser->momentum * parts->momentum[j] + gradient;
        return -pace->rate * parts->momentum[j];
    case OPTIMISER_ADAM:
        parts->momentum[j] =
            optimiser->momentum * parts->momentum[j] + (1 - optimiser->momentum) * gradient;
        parts->squares[j] = optimiser->momentum2 * parts->squares[j] +
                            (1 - optimiser->momentum2) * gradient * gradient;
        return -pace->rate * (parts->momentum[j] / pace->correction) /
               sqrt(parts->squares[j] / pace->correction2 + adam_guard * adam_guard);
    }
    CHECK(false);
}

static void project(double *weights, size_t width, double radius)
{
    double square = 0;
    for (size_t j = 0; j < width; j++) {
        square += weights[j] * weights[j];
    }
    const double shrink = radius > 0 && square > radius * radius ? radius / sqrt(square) : 1;
    for (size_t j = 0; j < width; j++) {
        weights[j] *= shrink;
    }
}

/* The share that round t's weights take in the average; 1 forgets what was before. */
static double average_share(const struct optimiser *optimiser, double t)
{
    if (optimiser->average == AVERAGE_POLYNOMIAL) {
        return 2 / (t + 1); /* t / (1 + 2 + ... + t) */
    }
    const uint64_t half = optimiser->rounds / 2;
    const double first = (double)half + 1;
    return t <= first ? 1 : 1 / (t - first + 1);
}

void optimiser_step(double *state, const struct optimiser *optimiser, const double *mean_gradient,
                    uint64_t round)
{
    const struct parts parts = parts_of(state, optimiser);
    const double t = (double)round + 1;
    const struct pace pace = pace_of(optimiser, t);

    CHECK(round < optimiser->rounds);
    for (size_t j = 0; j < optimiser->width; j++) {
        const double moved =
            parts.weights[j] + move_of(optimiser, &parts, j, mean_gradient[j], &pace);
        parts.weights[j] = fabs(moved) < 0x1p400 ? moved : parts.weights[j];
    }
    project(parts.weights, optimiser->width, optimiser->radius);
    if (parts.average != NULL) {
        const double share = average_share(optimiser, t);
        for (size_t j = 0; j < optimiser->width; j++) {
            parts.average[j] += share * (parts.weights[j] - parts.average[j]);
        }
    }
}

bool optimiser_is_weights(const struct optimiser *optimiser)
{
    return optimiser_state_count(optimiser) == optimiser->width;
}

void optimiser_step_weights(double *mean_gradient, const double *state,
                            const struct optimiser *optimiser, uint64_t round)
{
    const struct pace pace = pace_of(optimiser, (double)round + 1);

    CHECK(optimiser_is_weights(optimiser) && round < optimiser->rounds);
    for (size_t j = 0; j < optimiser->width; j++) {
        const double moved = state[j] + plain_move(mean_gradient[j], &pace);
        mean_gradient[j] = fabs(moved) < 0x1p400 ? moved : state[j];
    }
    project(mean_gradient, optimiser->width, optimiser->radius);
}

void optimiser_weights(double *weights, const double *state, const struct optimiser *optimiser)
{
    memcpy(weights, state, optimiser->width * sizeof *weights);
}

void optimiser_model(double *model, const double *state, const struct optimiser *optimiser)
{
    const size_t last = optimiser_state_count(optimiser) - optimiser->width;
    const double *from = optimiser->average == AVERAGE_NONE ? state : state + last;
    memcpy(model, from, optimiser->width * sizeof *model);
}
