/* outlook.h - forecasts of a series by its released models: from made-up, public days, never from a record. They are
 * computed from released numbers, so they cost no privacy. */

#ifndef COORDINATOR_OUTLOOK_H
#define COORDINATOR_OUTLOOK_H

#include "base/status.h"
#include "task/outcome.h"

#include <stddef.h>

enum {
    OUTLOOK_LEVELS = 9,
    OUTLOOK_MODELS = 6,
    OUTLOOK_PATHS = 3,
    OUTLOOK_DAYS = 28,
    OUTLOOK_WORK_MAX =
        4096 /* a model's features times what each is made of: larger ones are not looked at */
};

/* Forecasts are in the label's unit and within its public range. noise: the standard deviation, at most, that the noise in the
 * model's weights gives the forecast; 0 where the job itself writes the weights; NAN where it is not known. */
struct outlook_model {
    size_t expert; /* its index in the outcome */
    double value[OUTLOOK_LEVELS];
    double noise[OUTLOOK_LEVELS];
};

/* The next days, forecast one after the other, each from the forecasts before it. noise: by its first derivatives. */
struct outlook_path {
    double start; /* every day before was like this */
    double value[OUTLOOK_DAYS];
    double noise[OUTLOOK_DAYS];
};

struct outlook {
    double level
        [OUTLOOK_LEVELS]; /* the days before, all alike: evenly over the label's public range */
    struct outlook_model model
        [OUTLOOK_MODELS]; /* the chosen one first, then those with the most weight, or the latest */
    size_t model_count;   /* 0: nothing to show */
    struct outlook_path path
        [OUTLOOK_PATHS]; /* of the chosen one: from a quarter, half, three quarters of the range */
    size_t path_count;   /* 0: the chosen one is too large */
};

/**
 * Forecasts by the models that are there. For a job that is no series there is nothing to show. Other columns of the day are at the middle of
 * their public range, and categories at the first.
 *
 * outcome  in  with a history, of OUTCOME_SHOWS or more
 *
 * Fails with STATUS_NO_MEMORY.
 * Cost: a few thousand records' features, of OUTLOOK_WORK_MAX steps each at most.
 */
MUST_USE enum status outlook_make(struct outlook *outlook, const struct outcome *outcome,
                                  const struct job *job);

#endif
