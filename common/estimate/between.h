/* between.h - one effect at several sites: how much it differs between them beside sampling and noise, its mean over sites
 * that these stand for, and where another such site's would lie.
 *
 * y_i = a site's answer, v_i = s_i^2 + noise_i^2 its variance within the site, tau^2 = the variance between sites,
 * w_i = 1 / (v_i + tau^2), m = sum w_i y_i / sum w_i, Q(tau^2) = sum w_i (y_i - m)^2, k = sites.
 *
 *   tau^2     Q(tau^2) = the median of chi-squared with k - 1 degrees of freedom; 0 where Q(0) is less (Viechtbauer 2021). With
 *             k - 1 instead (Paule, Mandel 1982) the mean's intervals miss more often where sites differ in size: docs/STUDY.md
 *   mean      m +- t_(k-1) sqrt(max(1, Q / (k - 1)) / sum w_i) (Hartung, Knapp 2001; Sidik, Jonkman 2002; at least 1 as Roever
 *             et al. 2015, and with this tau^2 always 1); or, where an end lies further out, the middle 95 % of m + Z / sqrt(sum w),
 *             tau^2 drawn from the distribution that Q gives it (Iyer, Wang, Mathew 2004): where noise hides one of few sites,
 *             t_(k-1) counts a site that says nothing
 *   I^2       tau^2 / (tau^2 + v), v the typical variance within a site (Higgins, Thompson 2002)
 *   test      Q(0), against a multiple of chi-squared that has Q's mean and variance under Laplace noise (Box 1954)
 *   new site  the middle 95 % of m + tau Z + se T_(k-1), tau drawn from the distribution that Q, which has k - 1 degrees of freedom,
 *             gives it (Nagashima et al. 2019, by the generalised Q)
 *
 * A mean by w_i at tau^2 = 0 with a normal interval, "fixed effects", is never given: where sites differ it misses. */

#ifndef ESTIMATE_BETWEEN_H
#define ESTIMATE_BETWEEN_H

#include "estimate/crosstab.h"
#include "estimate/regress.h"
#include "estimate/survival.h"

enum { BETWEEN_SITES_MIN = 3, BETWEEN_SITES_MAX = 256 };

struct between_site {
    double value;    /* NAN, with all else: not given, and left out */
    double sampling; /* standard deviations within the site */
    double noise;
    double low; /* of the site alone, sampling and noise, 95 %; NAN: no end */
    double high;
    double weight; /* out: its share of the mean */
    double from; /* what an effect can be, where from is below to: told figures are cut off there */
    double to;
};

struct between {
    size_t sites; /* that are given; below BETWEEN_SITES_MIN all else is NAN */
    double value; /* the mean over sites */
    double low;
    double high;
    double error;     /* its standard error */
    double spread;    /* tau */
    double share;     /* I^2 */
    double statistic; /* Q(0) */
    double
        p; /* of the test that all sites are alike; its reference distribution has the noise in it */
    double next_low; /* 95 % for the effect at another such site */
    double next_high;
};

/** Joins the sites' values as they are. What can not be is cut off after that, of the sites' values too: a mean of shares that
 * noise made negative and that were cut off before would be too large. site: in/out (count), count at most BETWEEN_SITES_MAX.
 * is_bound: sampling is an upper bound, so that spread, share, test and another site's are not told. */
void between_sites(struct between *out, struct between_site *site, size_t count, bool is_bound);

/** Returns half of the mean's interval to expect of sites that are alike, half of whose own is given; NAN of fewer than
 * BETWEEN_SITES_MIN. */
double between_expect(double half, size_t sites);

/** The same of another such site's interval: of values so far apart that Q(0) is k - 1, as it is in the mean. */
double between_expect_next(double half, size_t sites);

/* A sum of values in 0 .. 1, of a public number of records. */
struct between_sum {
    double sum;
    double records;
};

/* The effects. The variance within a site is by shares of all sites together, for by its own share a site that chance made small
 * would weigh more. variance: of the noise on a cell of one site; unit: records^2. */

/** Shares, or means of values in 0 .. 1: then sampling is a bound. Not given where the noise is above a fifth. */
void between_shares(struct between_site *out, const struct between_sum *site, size_t count,
                    double variance);

/** Differences of two shares: 2 x 2 cells each. Not given as crosstab_difference. */
void between_differences(struct between_site *out, const struct crosstab_cells *site, size_t count);

/** Logarithms of odds ratios. Not given where a cell is expected to hold fewer than 5 records, or 4 standard deviations of its
 * noise, of the site's margins and the odds ratio of all. */
void between_odds(struct between_site *out, const struct crosstab_cells *site, size_t count);

/** Means of a group's survival time up to the end; or of what it has more than the first group's. Given as survival_estimate's. */
void between_means(struct between_site *out, const struct survival_cells *site, size_t count,
                   size_t group, bool is_difference);

/** Logarithms of ratios of a group's hazard to the first group's, which is taken to be the same at all times. Not given where a
 * group has 10 deaths or fewer, or 4 deviations of their noise; or where the noise of the estimate's denominator is above 0.3
 * of it. */
void between_hazards(struct between_site *out, const struct survival_cells *site, size_t count,
                     size_t group);

/* A site's variance is estimated, too. Where noise makes it doubtful, a site whose variance looks small would weigh too much.
 * So a coefficient is given by site with this much of the doubt that a regression alone is allowed, as if its slopes were 0:
 * regress_choice. */
#define BETWEEN_DOUBT_MOST 0.35

/** Return half of one site's interval to expect, NAN: not given. For the odds ratio's logarithm, of a table whose cells are
 * alike, m cells with the one of the records that are in none; and of the hazard ratio's, where half of each group die. */
double between_expect_odds(double records, size_t m, double variance);
double between_expect_hazards(const struct survival_public *known, size_t intervals);

/** Return the fewest records of a site that has such an interval; NAN: not even 2^30 do. */
double between_need_share(double variance); /* or a mean */
double between_need_difference(double variance);
double between_need_odds(double variance);
double between_need_hazards(const struct survival_public *known, size_t intervals);

/** A site's coefficient: the sum of weight (terms) and b. Given where regress_choice's factor is below BETWEEN_DOUBT_MOST.
 * Within three deviations of that, the interval's end is further out by what the choice moves the coefficient. */
void between_slope(struct between_site *out, const struct regress_fit *fit, const double *weight);

/** A site's median of all groups together; or a group's median survival time. Its interval is the set that a test leaves, which
 * ends at steps: deviations are NAN, so that sites cannot be joined. Given as table1_quantile, or survival_estimate's. */
void between_quantiles(struct between_site *out, const struct table1_column *site, size_t count);
void between_medians(struct between_site *out, const struct survival_cells *site, size_t count,
                     size_t group);

/** Counts the sites that are given, and joins none. */
void between_apart(struct between *out, const struct between_site *site, size_t count);

/** A site's mean, or share of a level, of all groups together. Not given as table1_mean and table1_share. */
void between_columns(struct between_site *out, const struct table1_column *site, size_t count,
                     size_t level);

#endif
