/* gaussian_steps.h - what discrete Gaussian noise on a vector of whole numbers costs, said as
 * continuous noise. */

#ifndef ACCOUNT_GAUSSIAN_STEPS_H
#define ACCOUNT_GAUSSIAN_STEPS_H

#include <stdint.h>

/**
 * Returns a sigma, relative to the sensitivity, for which continuous Gaussian noise is never the
 * more private: for all whole vectors x, y at a Euclidean distance of at most `steps`, discrete
 * Gaussian noise of sigma * steps on every coordinate has hockey-stick curves
 * sum of max(0, P_x - c P_y), c >= 1, at most those of two continuous Gaussians at distance 1 with
 * the sigma that is returned. So whatever is built from such curves - samples, replaced records,
 * compositions - may be priced as continuous.
 *
 * sigma  in  noise over sensitivity
 * steps  in  the L2 sensitivity in grid steps
 *
 * Returns 0 where nothing is proved: sigma below 1/4, sigma * steps below 8. Else less than sigma,
 * by some sigma^-2 steps^-2 of it for sigma >= 1. Up to 2^26 coordinates. Source: the proof is in
 * gaussian_steps.c.
 */
double gaussian_steps_sigma(double sigma, double steps);

/* How far a sum of discrete Gaussians is from being one. */

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
 * Aggregation", ICML 2021, its theorem on sums of discrete Gaussians; gaussian_steps.c proves half of it.
 */
double gaussian_sum_distance(double sigma, uint64_t parts);

#endif
