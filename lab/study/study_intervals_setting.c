/* The settings of simulated studies, and the noise of a release as a query stage draws it: Laplace, or Gaussian of delta 1e-5,
 * once or at each site; and their records behind it. */

#include "dp/schedule.h"
#include "lab/study/study_intervals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRID_LOG2 = 10, CENTRAL = 0, LOCAL, DISTRIBUTED };

#define MICRO      1e6
#define DELTA_ATTO UINT64_C(10000000000000) /* 1e-5 */

static const uint64_t sizes[] = {200, 1000, 5000};
static const double epsilons[] = {0.25, 1, 4};

static const struct trust {
    const char *name;
    unsigned draws;
    unsigned shares; /* 3 sites' make one noise, and all 5 are there */
} trusts[INTERVALS_TRUSTS] = {[CENTRAL] = {"central", 1, 0},
                              [LOCAL] = {"local", INTERVALS_SITES, 0},
                              [DISTRIBUTED] = {"distributed", INTERVALS_SITES, 3}};

enum { SIZES = sizeof sizes / sizeof sizes[0], EPSILONS = sizeof epsilons / sizeof epsilons[0] };

bool intervals_setting_at(struct intervals_setting *out, const struct study_request *request,
                          size_t at)
{
    size_t asked = SIZES;
    while (asked > 0 && request->rounds > 0 && sizes[asked - 1] > request->rounds) {
        asked--;
    }
    const size_t of_noise = asked * EPSILONS * INTERVALS_TRUSTS;
    if (at >= INTERVALS_NOISES * of_noise) {
        return false;
    }
    *out = (struct intervals_setting){.site_records =
                                          sizes[at % of_noise / INTERVALS_TRUSTS / EPSILONS],
                                      .epsilon = epsilons[at / INTERVALS_TRUSTS % EPSILONS],
                                      .draws = trusts[at % INTERVALS_TRUSTS].draws,
                                      .shares = trusts[at % INTERVALS_TRUSTS].shares,
                                      .is_gaussian = at >= of_noise,
                                      .planted = 1};
    return true;
}

uint64_t intervals_records(const struct intervals_setting *setting)
{
    return (setting->sites == 1 ? 1 : INTERVALS_SITES) * setting->site_records;
}

size_t intervals_trust(const struct intervals_setting *setting)
{
    size_t trust = setting->sites > 0 ? LOCAL : CENTRAL;
    while (setting->sites == 0 &&
           (trusts[trust].draws != setting->draws || trusts[trust].shares != setting->shares)) {
        trust++;
    }
    return trust;
}

const char *intervals_trust_name(size_t trust)
{
    return trusts[trust].name;
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

enum status intervals_studies_init(struct intervals_studies *out,
                                   const struct intervals_setting *setting,
                                   const struct intervals_moves *moves)
{
    *out = (struct intervals_studies){.records = intervals_records(setting)};
    const enum status status = intervals_noise_init(&out->noise, setting, moves);
    out->told = setting->planted * setting->planted * out->noise.variance;
    out->told_truth = setting->planted < 1 ? 0 : out->noise.variance;
    seeded_random_init(&out->seeded, setting->seed);
    out->random = seeded_random_interface(&out->seeded);
    return status;
}

enum status intervals_studies_draw(double *cell, double *exact, size_t count,
                                   struct intervals_studies *studies)
{
    memset(exact, 0, count * sizeof *exact);
    intervals_source_draw(exact, &studies->source, studies->records, &studies->seeded);
    memcpy(cell, exact, count * sizeof *exact);
    return intervals_noise_add(cell, count, &studies->noise, &studies->random);
}

void intervals_studies_expect(double *cell, size_t count, const struct intervals_studies *studies)
{
    memset(cell, 0, count * sizeof *cell);
    intervals_source_expect(cell, &studies->source, (double)studies->records);
}

void intervals_studies_free(struct intervals_studies *studies)
{
    intervals_source_free(&studies->source);
    intervals_noise_free(&studies->noise);
}
