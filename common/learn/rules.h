/* rules.h - how to choose lambda and epsilon from the number of records, and what error the theory
 * promises. Every number comes with the range in which its theorem holds; outside it, none is
 * given.
 *
 * m records of ONE institution when it learns alone (trust local), not the federation's. r: the
 * regression function lies in the range of L_K^r. beta: the approximation error is at most c
 * lambda^beta. kappa = sup sqrt(K(x,x)). Errors are in the mean, for records drawn
 * independently. */

#ifndef LEARN_RULES_H
#define LEARN_RULES_H

#include "base/status.h"
#include "base/why.h"
#include "learn/loss.h"

enum rule {
    RULE_LEAST_SQUARES_FIXED,    /* epsilon is given */
    RULE_LEAST_SQUARES_BALANCED, /* epsilon shrinks with m as far as the rate lets it */
    RULE_LIPSCHITZ               /* any Lipschitz loss */
};
enum { RULES = RULE_LIPSCHITZ + 1 };

/* A number, and where it holds. */
struct stated {
    double value;
    const char *range;
};

struct rule_choice {
    double lambda;
    double epsilon;
    struct stated rate; /* the error is at most a constant, that does not depend on m, times this */
};

/** Finds a rule by its name: "least_squares_fixed", "least_squares_balanced" or "lipschitz". Fails
 * with STATUS_NOT_FOUND. */
MUST_USE enum status rule_from_name(enum rule *rule, const char *name);

/**
 * Chooses. With q = min(4, 3 + 2r):
 * fixed     lambda = m^(-2/q); the error beyond (1 + 2 epsilon) E(f_rho): m^-min(1/2, 4r/(3+2r))
 * balanced  lambda = (m epsilon)^(-2/q), epsilon = rate = m^-min(1/3, 4r/(3+6r))
 * lipschitz lambda = m^(-1/(2 beta + 1)), epsilon = 1/sqrt(lambda m), rate = m^(-beta/(2 beta + 1))
 *
 * records   in  m, 1 .. 2^53
 * exponent  in  r in (0, 16] for least squares, beta in (0, 1] for lipschitz
 * epsilon   in  fixed: in (0, 1.25]; the others choose it themselves: 0
 *
 * Fails with STATUS_INVALID: outside these ranges. Ensures lambda <= 1.
 * Source: Nie and Wang 2017, "Error Analysis and Variable Selection", theorems 2 and 3; the same,
 * "Perturbation of convex risk minimization", 2017. Deviation: balanced epsilon is a power of 1/m;
 * one copy of the paper prints 1/sqrt(m), which loses the rate (rule_balanced_exponent).
 */
MUST_USE enum status rule_choose(struct rule_choice *choice, enum rule rule, double records,
                                 double exponent, double epsilon, struct why *why);

/** Returns a for which the balanced rule's three terms together are of order m^-a, when epsilon =
 * m^-e: min(e, (1-e)(2 - 6/q), 2 (1-e) min(2r,1)/q). Greatest at the rule's e. CHECKs 0 <= e <= 1,
 * r > 0. */
double rule_balanced_exponent(double r, double e);

struct rule_terms {
    double records;     /* as above */
    double exponent;    /* r */
    double epsilon;     /* fixed: in (0, 1]; balanced: 0 */
    double kappa;       /* > 0 */
    double bound;       /* M > 0: |y| is at most this */
    double source_norm; /* ||L_K^-r f_rho||, >= 0: known in theory only; try some */
};

/**
 * Bounds the error of least squares: fixed, E(f_z + b) - (1 + 2 epsilon) E(f_rho) <= C_eps rate,
 * C_eps = 24 M^2 kappa^4 (kappa+1)^2/epsilon^2 + (1 + 2 epsilon) A; balanced, E(f_z + b) - E(f_rho)
 * <= (2 M^2 + 24 M^2 kappa^4 (kappa+1)^2 + (1 + 2 epsilon) A) rate; A = (kappa^(4r-2) +
 * kappa^(4r-4) + 2) source_norm^2. b is drawn afresh for every point answered.
 *
 * Fails with STATUS_INVALID: a field out of its range, rule lipschitz, epsilon > 1 (the 24 is 8 (1
 * + 2 epsilon)). Source: theorems 2 and 3. Deviation: the factor 1 + 2 epsilon on the last term was
 * lost; a sample error whose mean is zero is left out, and with it the assumption that |f_lambda|
 * <= M.
 */
MUST_USE enum status rule_error(struct stated *error, enum rule rule,
                                const struct rule_terms *terms, struct why *why);

/** Bounds |E(empirical - true mean loss)| of an epsilon-DP learner, losses >= 0 of mean at most
 * mean_loss, empirical or true: 2 mean_loss epsilon. Fails with STATUS_INVALID: epsilon above 1.25,
 * where e^epsilon - 1 <= 2 epsilon ends. Source: theorem 1. */
MUST_USE enum status rule_concentration(struct stated *gap, double mean_loss, double epsilon,
                                        struct why *why);

struct rule_fit {
    struct loss loss;
    double records; /* m, 1 .. 2^53 */
    double bound;   /* M > 0 */
    double kappa;   /* > 0 */
    double lambda;  /* > 0; squared loss: at most 1 */
};

/* How far one replaced record moves f_z(x) anywhere; the exact minimiser's, a solver adds to it. */
struct rule_sensitivity {
    struct stated lipschitz; /* C_L; squared loss: 2 M (kappa+1)/sqrt(lambda) */
    struct stated by_slope;  /* 2 kappa^2 C_L/(2 lambda m) */
    struct stated
        by_value; /* kappa sqrt(2 B/(2 lambda m)), B the largest loss on the ball loss_ball */
};

/**
 * Bounds the sensitivity of regularised empirical risk minimisation, gamma = 2; rounded up. Take
 * the smaller.
 *
 * Fails with STATUS_INVALID: a field out of its range.
 * Privacy: replace-one; noise of scale sensitivity/epsilon on ONE point's answer costs epsilon.
 * Source: Nie and Wang, "Perturbation of convex risk minimization", 2017, and theorem 1's section.
 */
MUST_USE enum status rule_sensitivity(struct rule_sensitivity *sensitivity,
                                      const struct rule_fit *fit, struct why *why);

#endif
