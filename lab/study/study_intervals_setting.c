/* The settings of simulated studies, and the noise of a release as a query stage draws it: Laplace, or Gaussian of delta 1e-5,
 * once or at each site. */

#include "dp/schedule.h"
#include "lab/study/study_intervals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { GRID_LOG2 = 10, NOISES = 2 };

#define MICRO      1e6
#define DELTA_ATTO UINT64_C(10000000000000) /* 1e-5 */

static const uint64_t sizes[] = {200, 1000, 5000};
static const double epsilons[] = {0.25, 1, 4};

static const struct trust {
    const char *name;
    unsigned draws;
    unsigned shares; /* 3 sites' make one noise, and all 5 are there */
} trusts[] = {
    {"central", 1, 0}, {"local", INTERVALS_SITES, 0}, {"distributed", INTERVALS_SITES, 3}};

enum {
    SIZES = sizeof sizes / sizeof sizes[0],
    EPSILONS = sizeof epsilons / sizeof epsilons[0],
    TRUSTS = sizeof trusts / sizeof trusts[0]
};

/* Of a setting whose shares are judged by the bound, and of one that is judged by what chance leaves possible. And of one whose widths
 * are judged: where noise hides some answers, the true cells' own is nearly hidden too. */
static const double shown_least = 0.1;
static const double rare_least = 0.01;
static const double width_shown_least = 0.9;

double intervals_share(const struct intervals_rate *rate)
{
    return rate->all == 0 ? NAN : (double)rate->yes / (double)rate->all;
}

void intervals_count(struct intervals_rate *rate, bool yes)
{
    rate->yes += yes;
    rate->all++;
}

void intervals_told_clear(struct intervals_told *told)
{
    for (size_t i = 0; i < INTERVALS_CLAIMS_MAX; i++) {
        told->taken[i] = (struct intervals_taken){.worst = NAN, .rare_worst = NAN};
    }
}

static double worse(const struct intervals_told *told, size_t claim, double a, double b)
{
    return told->kind->claim[claim].measure == INTERVALS_HOLD ? fmin(a, b) : fmax(a, b);
}

static void take(struct intervals_told *told, size_t claim, double share, uint64_t answers)
{
    struct intervals_taken *taken = &told->taken[claim];
    const bool is_first = isnan(taken->worst);
    taken->worst = worse(told, claim, taken->worst, share);
    taken->fewest = is_first || answers < taken->fewest ? answers : taken->fewest;
}

/* The chance of at most `yes` of `all`. */
static double chance_of_most(uint64_t yes, uint64_t all, double chance)
{
    const double odds = log(chance) - log1p(-chance);
    double term = (double)all * log1p(-chance);
    double sum = exp(term);
    for (uint64_t k = 1; k <= yes; k++) {
        term += odds + log((double)(all - k + 1) / (double)k);
        sum += exp(term);
    }
    return sum;
}

/* Clopper and Pearson 1934. */
double intervals_limit(uint64_t yes, uint64_t all, bool is_upper)
{
    enum { HALVINGS = 30 };
    static const double alarm = 0.001;
    double low = 0;
    double high = 1;
    if (!is_upper) {
        return 1 - intervals_limit(all - yes, all, true);
    }
    for (int i = 0; i < HALVINGS && yes < all; i++) {
        const double middle = (low + high) / 2;
        *(chance_of_most(yes, all, middle) > alarm ? &low : &high) = middle;
    }
    return high;
}

static void take_rare(struct intervals_told *told, size_t claim, const struct intervals_rate *rate,
                      size_t asked)
{
    struct intervals_taken *taken = &told->taken[claim];
    const bool is_judged = (double)rate->all >= rare_least * (double)asked;
    struct intervals_rate *together = is_judged ? &taken->rare : &taken->hardly;
    together->yes += rate->yes;
    together->all += rate->all;
    if (is_judged) {
        const uint64_t each = (asked + told->setting->runs - 1) / told->setting->runs;
        const uint64_t answers = (rate->all + each - 1) / each;
        const uint64_t yes = (uint64_t)llround(intervals_share(rate) * (double)answers);
        const bool is_least = told->kind->claim[claim].measure == INTERVALS_HOLD;
        const bool is_first = isnan(taken->rare_worst);
        taken->rare_worst =
            worse(told, claim, taken->rare_worst, intervals_limit(yes, answers, is_least));
        taken->rare_fewest =
            is_first || answers < taken->rare_fewest ? answers : taken->rare_fewest;
    }
}

/* A planted fault must show in both: there all rates are judged in both ways. */
void intervals_take(struct intervals_told *told, size_t claim, const struct intervals_rate *rate,
                    size_t asked)
{
    const bool is_rare = (double)rate->all < shown_least * (double)asked;
    if (!is_rare) {
        take(told, claim, intervals_share(rate), rate->all);
    }
    if (rate->all > 0 && (is_rare || told->setting->planted < 1)) {
        take_rare(told, claim, rate, asked);
    }
}

/* Of the logarithm of their geometric mean. NAN of one alone, which is not taken then. */
static double width_error(const struct intervals_width *width)
{
    const double count = (double)width->count;
    const double mean = width->logarithms / count;
    return sqrt(fmax(width->squares / count - mean * mean, 0) / (count - 1));
}

void intervals_take_width(struct intervals_told *told, size_t claim,
                          const struct intervals_width *width, size_t asked)
{
    if ((double)width->count >= width_shown_least * (double)asked) {
        const double chance = told->setting->is_short ? 4 * width_error(width) : 0;
        take(told, claim, intervals_over_true(width) * exp(-chance), width->count);
    }
}

void intervals_add_width(struct intervals_width *width, double released, double exact)
{
    if (isfinite(released) && isfinite(exact)) {
        width->released += released;
        width->logarithms += log(released);
        width->squares += log(released) * log(released);
        width->exact += exact;
        width->count++;
    }
}

double intervals_over_exact(const struct intervals_width *width)
{
    return width->released / width->exact;
}

double intervals_over_true(const struct intervals_width *width)
{
    const double own = width->logarithms / (double)width->count;
    const bool is_each = width->by_true >= 0 && width->by_true <= 0;
    return is_each ? exp(own - width->true_logarithms / (double)width->count)
                   : exp(own) / width->by_true; /* NAN of what the true cells refuse */
}

bool intervals_setting_at(struct intervals_setting *out, const struct study_request *request,
                          size_t at)
{
    size_t asked = SIZES;
    while (asked > 0 && request->rounds > 0 && sizes[asked - 1] > request->rounds) {
        asked--;
    }
    const size_t of_noise = asked * EPSILONS * TRUSTS;
    if (at >= NOISES * of_noise) {
        return false;
    }
    *out = (struct intervals_setting){.site_records = sizes[at % of_noise / TRUSTS / EPSILONS],
                                      .epsilon = epsilons[at / TRUSTS % EPSILONS],
                                      .draws = trusts[at % TRUSTS].draws,
                                      .shares = trusts[at % TRUSTS].shares,
                                      .is_gaussian = at >= of_noise,
                                      .planted = 1};
    return true;
}

uint64_t intervals_records(const struct intervals_setting *setting)
{
    return (setting->sites == 1 ? 1 : INTERVALS_SITES) * setting->site_records;
}

void intervals_setting_name(char text[static INTERVALS_TEXT], const char *kind,
                            const struct intervals_setting *setting)
{
    size_t trust = 0;
    while (trusts[trust].draws != setting->draws || trusts[trust].shares != setting->shares) {
        trust++;
    }
    (void)snprintf(text, INTERVALS_TEXT, "%s%s%s, %d x %d, epsilon %g", kind, trusts[trust].name,
                   setting->is_gaussian ? ", Gaussian" : "", INTERVALS_SITES,
                   (int)setting->site_records, setting->epsilon);
}

enum status intervals_noise_init(struct intervals_noise *out,
                                 const struct intervals_setting *setting,
                                 const struct intervals_moves *moves)
{
    uint64_t sigma_micro = 0;
    const double noises = (double)setting->draws / (setting->shares > 0 ? setting->shares : 1);
    *out = (struct intervals_noise){
        .is_gaussian = setting->is_gaussian, .draws = setting->draws, .shares = setting->shares};
    if (!setting->is_gaussian) {
        const double scale = moves->l1 / setting->epsilon;
        const struct noise_scale of_steps = {(uint64_t)(ldexp(moves->l1, GRID_LOG2) * MICRO),
                                             (uint64_t)(setting->epsilon * MICRO)};
        out->variance = 2 * noises * scale * scale;
        return setting->shares > 0 ? noise_share_init(&out->share, of_steps, setting->shares)
                                   : noise_laplace_init(&out->laplace, of_steps);
    }
    const struct schedule schedule = {
        .limit = {(uint64_t)(setting->epsilon * EPSILON_MICRO_ONE), DELTA_ATTO},
        .count = 1,
        .sampling_nano = 1000000000};
    const enum status status = schedule_sigma(&sigma_micro, &schedule, NULL);
    if (status != STATUS_OK) {
        return status;
    }
    const double sigma = moves->l2 * (double)sigma_micro / MICRO;
    struct noise_scale part = {(uint64_t)(ldexp(sigma, GRID_LOG2) * MICRO), (uint64_t)MICRO};
    out->variance = noises * sigma * sigma;
    if (setting->shares > 0) {
        noise_gaussian_part(&part, part, setting->shares);
    }
    return noise_gaussian_init(&out->gaussian, part);
}

void intervals_noise_free(struct intervals_noise *noise)
{
    if (noise->is_gaussian) {
        noise_gaussian_free(&noise->gaussian);
    } else if (noise->shares > 0) {
        noise_share_free(&noise->share);
    }
}

enum status intervals_noise_add(double *cell, size_t count, const struct intervals_noise *noise,
                                const struct random *random)
{
    int64_t *steps = calloc(count, sizeof *steps);
    enum status status = steps == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    for (unsigned draw = 0; draw < noise->draws && status == STATUS_OK; draw++) {
        status = noise->is_gaussian  ? noise_gaussian_add(&noise->gaussian, random, steps, count)
                 : noise->shares > 0 ? noise_share_add(&noise->share, random, steps, count)
                                     : noise_laplace_add(&noise->laplace, random, steps, count);
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        cell[i] += ldexp((double)steps[i], -GRID_LOG2);
    }
    free(steps);
    return status;
}
