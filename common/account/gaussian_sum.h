/* gaussian_sum.h - how far a sum of discrete Gaussians is from being one. */

#ifndef ACCOUNT_GAUSSIAN_SUM_H
#define ACCOUNT_GAUSSIAN_SUM_H

#include <stdint.h>

/**
 * Bounds |ln(P(Z = z)/P(W = z))| for every z: Z is the sum of `parts` independent discrete Gaussians of
 * deviation parameter sigma each, and W one of sigma sqrt(parts).
 *
 * sigma  in  of one part, grid steps
 * parts  in  1 .. 10^6
 *
 * Returns 10 times the sum over k = 1 .. parts - 1 of exp(-2 pi^2 sigma^2 k/(k + 1)), rounded up; INFINITY below
 * sigma 1/2, where nothing is proved. Vectors of d independent coordinates are within d times as much.
 * Source: Kairouz, Liu, Steinke, "The Distributed Discrete Gaussian Mechanism for Federated Learning with Secure
 * Aggregation", ICML 2021, its theorem on sums of discrete Gaussians; gaussian_sum.c proves half of it.
 */
double gaussian_sum_distance(double sigma, uint64_t parts);

#endif
