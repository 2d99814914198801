/* experts.h - the models to choose from. All are made from released fits, so they cost nothing: the
 * average over the agents, each agent's own, and the average with its threshold moved. */

#ifndef EXPERTS_EXPERTS_H
#define EXPERTS_EXPERTS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { EXPERT_NAME_BYTES = 128 };

struct expert {
    char name[EXPERT_NAME_BYTES]; /* "average, lambda 0.003, threshold +0.25", "hospital-2, lambda
                                     0.003" */
    double lambda;
    double shift; /* added to f(x); 0 for most */
};

/* k = count, d = feature_count */
struct experts {
    struct expert *expert; /* (k) owned */
    double *weight;        /* (k, d) row by row; owned */
    size_t count;
    size_t feature_count;
};

/* The released answers of one fit round. */
struct experts_fit {
    double lambda;
    size_t agent_count;            /* who answered */
    const double *const *weight;   /* (agent_count) of (d): decoded releases, noise included */
    const char *const *agent_name; /* (agent_count) */
    double norm_max;               /* > 0: public bound on ||w||; each release is projected to that
                                      ball before anything else; 0: it is not */
};

struct experts_options {
    bool own; /* each agent's own model becomes an expert too, when there are at least two */
    const double *shift; /* (shift_count) added to the average's f: each not 0 makes an expert; the
                            unmoved average always comes first */
    size_t shift_count;
};

/** Starts empty, for d features of which the last is the constant one. */
void experts_init(struct experts *experts, size_t feature_count);
void experts_free(struct experts *experts);

/** Returns how many experts experts_append will add for a fit with agent_count answers. */
size_t experts_added(const struct experts_options *options, size_t agent_count);

/**
 * Appends a fit's experts: the average; its shifts in the given order; the agents' own in their
 * order. Sums run in the given order, so that a replay gives the same bytes.
 *
 * Fails with STATUS_NO_MEMORY, leaving experts as they were. CHECKs agent_count >= 1.
 * Privacy: post-processing of released values (local trust): free.
 */
MUST_USE enum status experts_append(struct experts *experts, const struct experts_fit *fit,
                                    const struct experts_options *options);

/** Writes the scores f (m, k) = <w_k, x_i> for x (m, d). A dense kernel: no allocation. */
void experts_scores(double *f, const double *weight, size_t expert_count, const double *x,
                    size_t record_count, size_t feature_count);

/** The same by plain loops, for tests. */
void experts_scores_reference(double *f, const double *weight, size_t expert_count, const double *x,
                              size_t record_count, size_t feature_count);

#endif
