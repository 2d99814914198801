/* online.h - kernel regression on a stream, in constant memory: w_{t+1} = w_t - eta_t [(<w_t, x_t>
 * - y_t) x_t + lambda_t w_t], w_0 = 0, eta_t = (t + t0)^-theta, lambda_t = (t + t0)^(theta - 1), on
 * explicit features x (random Fourier features of a kernel, say). One replaced record anywhere in
 * the stream moves everything learned after it, and every release after it: this header says how
 * far.
 *
 * Positions s and times t count from 0; w_t has seen the records 0 .. t-1. u = t - 1 + t0. */

#ifndef LEARN_ONLINE_H
#define LEARN_ONLINE_H

#include "base/status.h"
#include "base/why.h"

#include <stddef.h>
#include <stdint.h>

struct online_problem {
    double theta;         /* 1/2 < theta < 1: how fast the steps shrink */
    uint64_t t0;          /* t0^theta >= kappa^2 + 1: the stream starts as if this many were seen */
    double kappa;         /* features' largest Euclidean norm, 2^-20 .. 2^20 */
    double bound;         /* M: |y| is at most this, 2^-20 .. 2^20 */
    unsigned grid_bits;   /* releases stand on the grid of step g = 2^-grid_bits, at most 52 bits */
    size_t feature_count; /* D, 1 .. 2^24 */
};

enum { ONLINE_RELEASES_MAX = 52, ONLINE_TIME_MAX_LOG2 = 52 };

/** Checks every field. Fails with STATUS_INVALID; why (may be NULL) says what to change. */
MUST_USE enum status online_check(const struct online_problem *problem, struct why *why);

/**
 * Learns from the records first .. first + count - 1. All functions below CHECK online_check.
 *
 * w  in-out  (D)  w_first; on return w_{first + count}. Before the first record: zeros
 * x  in      (count, D), row by row  a longer one is shrunk to the norm kappa
 * y  in      (count)  clamped to [-M, M]; no number counts as 0
 *
 * Ensures the same w for the same records however they are cut into calls; and ||w_t||_2 <=
 * online_norm, up to online_rounding. Privacy: w is exact: it leaves only through the gate.
 * Cost: 4 D multiplications a record, the same for all records; no allocation.
 * Source: Nie and Wang 2017, "A Study on Differential Private Online Learning", (3). Deviation:
 * features in place of an expansion over the records, which would carry every record.
 */
void online_run(double *w, const struct online_problem *problem, const double *x, const double *y,
                uint64_t first, size_t count);

/** Bounds ||w_t||_2 in the reals, rounded up; 0 at t = 0: the smaller of kappa M t ((t0 + u)/2)^(1
 * - theta)/u and M sqrt(u^(1 - theta) (1 - (1 - t/u)^(3 - theta))/((2 - q) (3 - theta))), q =
 * kappa^2 t0^(1 - theta)/(t0 - 1). Grows with t. In the kernel's norm the same holds of f_t. */
double online_norm(const struct online_problem *problem, uint64_t t);

/** Returns how far rounding can take a computed w_t from the exact one in the L2 norm, at most:
 * 2^-52 t (3 W + kappa (D + 16)(kappa W + M) u^-theta), W = online_norm(t). Public. t >= 1. */
double online_rounding(const struct online_problem *problem, uint64_t t);

/**
 * Bounds ||w_t - w'_t||_2 for streams that differ in the record at position s < t (replace-one):
 * S(online_norm(s)) (s + t0)^(1 - theta)/u + 2 online_rounding, rounded up, where S(W) = max_d
 * kappa^2 W sin(2d) + 2 kappa M sin(d) is how far apart two records can push weights of norm W.
 * Grows with s.
 *
 * Source: the proof is in online_influence.c. Deviation: Nie and Wang bound the last record's
 * influence only, and answers by kappa^2 M u^(1 - theta): never less, 9 times more at theta 3/4, u
 * = 1,500.
 */
double online_influence_l2(const struct online_problem *problem, uint64_t s, uint64_t t);

/** Returns the most that f_t(x) moves at any x, t >= 1, in the reals, rounded up: kappa u^-theta
 * S(online_norm(t - 1)). Holds of the exact kernel form too. At most online_sensitivity_point. */
double online_influence_point(const struct online_problem *problem, uint64_t t);

/** Returns C_t = 2 kappa^2 (kappa^2 + 1) M / u^(2 theta - 1), t >= 1, rounded up: the published
 * form of the same, their (17); their (12) lacks a kappa. For plans and studies: no release rests
 * on it. */
double online_sensitivity_point(const struct online_problem *problem, uint64_t t);

/**
 * The L1 sensitivity of one release of w_t in grid steps: ceil(sqrt(D) Delta_2(t-1, t)/g) + D.
 *
 * Fails with STATUS_INVALID: t is 0 or above 2^ONLINE_TIME_MAX_LOG2; the result is 2^53 or more; or
 * it is below 2^20 D, where what rounding adds to a stream's cost would begin to count: the stream
 * must stop, or use a finer grid. why says which grid_bits to take.
 */
MUST_USE enum status online_sensitivity_l1(const struct online_problem *problem, uint64_t t,
                                           uint64_t *delta_1, struct why *why);

/** Bounds every coordinate of w_t on the grid, for the overflow check at job start. Fails with
 * STATUS_INVALID: t as above, or 2^53 or more. */
MUST_USE enum status online_range(const struct online_problem *problem, uint64_t t, uint64_t *range,
                                  struct why *why);

/**
 * The doubling schedule: a release whenever u has doubled, for the first time at u = 2 t0, as long
 * as t <= T: t_j = (2^j - 1) t0 + 1, j = 1, 2, ..
 *
 * times  out  (ONLINE_RELEASES_MAX), ascending
 * count  out  how many; 0 when T <= t0
 */
void online_release_times(const struct online_problem *problem, uint64_t T, uint64_t *times,
                          size_t *count);

/**
 * Returns the most that one record pays over the first `releases` times of the schedule, when each
 * release is discrete Laplace of scale online_sensitivity_l1/epsilon, in units of epsilon, rounded
 * up: max_i sum_{j >= i} (grid influence of position t_i - 1 at t_j)/Delta_1(t_j).
 *
 * releases  in  at most ONLINE_RELEASES_MAX, CHECKed, with t_j <= 2^ONLINE_TIME_MAX_LOG2; 0 costs 0
 *
 * Ensures at most online_endless_factor(1 - theta), up to what roundings add: D/Delta_1 a release
 * by the grid's, and online_rounding's share of Delta_2, a tenth after some 10^8 records.
 * Privacy: charge epsilon times this once, at the start, for replace-one at any position.
 */
double online_stream_factor(const struct online_problem *problem, size_t releases);

/** Returns 1/(1 - 2^-decay), rounded up: the same for an endless stream in the reals whose records
 * fade like u^-decay against the bound. decay above 0, CHECKed: at least 1 - theta here, 2 - 2
 * theta with the published form. */
double online_endless_factor(double decay);

#endif
