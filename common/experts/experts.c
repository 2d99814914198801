#include "experts/experts.h"

#include "learn/dense.h"

/* As many experts at a time as keep their weights in the cache while all records pass by. */
enum { SCORES_BLOCK = 64 };

void experts_scores(double *f, const double *weight, size_t expert_count, const double *x,
                    size_t record_count, size_t feature_count)
{
    for (size_t block = 0; block < expert_count; block += SCORES_BLOCK) {
        const size_t left = expert_count - block;
        const size_t end = block + (left < SCORES_BLOCK ? left : SCORES_BLOCK);
        for (size_t i = 0; i < record_count; i++) {
            for (size_t expert = block; expert < end; expert++) {
                f[i * expert_count + expert] = dense_dot(weight + expert * feature_count,
                                                         x + i * feature_count, feature_count);
            }
        }
    }
}
