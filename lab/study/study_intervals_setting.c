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
static const unsigned draws[] = {1, INTERVALS_SITES}; /* central, local */

enum {
    SIZES = sizeof sizes / sizeof sizes[0],
    EPSILONS = sizeof epsilons / sizeof epsilons[0],
    TRUSTS = sizeof draws / sizeof draws[0]
};

static const double shown_least = 0.1; /* of a setting that is judged: fewer are too few to count */

double intervals_share(const struct intervals_rate *rate)
{
    return rate->all == 0 ? NAN : (double)rate->yes / (double)rate->all;
}

void intervals_count(struct intervals_rate *rate, bool yes)
{
    rate->yes += yes;
    rate->all++;
}

void intervals_take_least(double *least, const struct intervals_rate *rate, size_t runs)
{
    if ((double)rate->all >= shown_least * (double)runs) {
        *least = fmin(*least, intervals_share(rate));
    }
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
                                      .draws = draws[at % TRUSTS],
                                      .is_gaussian = at >= of_noise,
                                      .planted = 1};
    return true;
}

void intervals_setting_name(char text[static INTERVALS_TEXT], const char *kind,
                            const struct intervals_setting *setting)
{
    (void)snprintf(text, INTERVALS_TEXT, "%s%s%s, %d x %d, epsilon %g", kind,
                   setting->draws == 1 ? "central" : "local",
                   setting->is_gaussian ? ", Gaussian" : "", INTERVALS_SITES,
                   (int)setting->site_records, setting->epsilon);
}

enum status intervals_noise_init(struct intervals_noise *out,
                                 const struct intervals_setting *setting,
                                 const struct intervals_moves *moves)
{
    uint64_t sigma_micro = 0;
    *out = (struct intervals_noise){.is_gaussian = setting->is_gaussian, .draws = setting->draws};
    if (!setting->is_gaussian) {
        const double scale = moves->l1 / setting->epsilon;
        out->variance = 2 * setting->draws * scale * scale;
        return noise_laplace_init(
            &out->laplace, (struct noise_scale){(uint64_t)(ldexp(moves->l1, GRID_LOG2) * MICRO),
                                                (uint64_t)(setting->epsilon * MICRO)});
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
    out->variance = setting->draws * sigma * sigma;
    return noise_gaussian_init(
        &out->gaussian,
        (struct noise_scale){(uint64_t)(ldexp(sigma, GRID_LOG2) * MICRO), (uint64_t)MICRO});
}

void intervals_noise_free(struct intervals_noise *noise)
{
    if (noise->is_gaussian) {
        noise_gaussian_free(&noise->gaussian);
    }
}

enum status intervals_noise_add(double *cell, size_t count, const struct intervals_noise *noise,
                                const struct random *random)
{
    int64_t *steps = calloc(count, sizeof *steps);
    enum status status = steps == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    for (unsigned draw = 0; draw < noise->draws && status == STATUS_OK; draw++) {
        status = noise->is_gaussian ? noise_gaussian_add(&noise->gaussian, random, steps, count)
                                    : noise_laplace_add(&noise->laplace, random, steps, count);
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        cell[i] += ldexp((double)steps[i], -GRID_LOG2);
    }
    free(steps);
    return status;
}
