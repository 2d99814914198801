/* The settings of simulated studies, and the noise of a release as a query stage draws it: Laplace, or Gaussian of delta 1e-5,
 * once or at each site; and their records behind it. */

#include "base/check.h"
#include "dp/filter.h"
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
    const struct filter_plan schedule = {
        .limit = {(uint64_t)(setting->epsilon * EPSILON_MICRO_ONE), DELTA_ATTO},
        .count = 1,
        .sampling_nano = 1000000000};
    const enum status status = filter_sigma(&sigma_micro, &schedule, NULL);
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

/* Simulated records as draws of cells, by Vose's alias method (1991): a word and a look at two rows a record. */

void intervals_source_init(struct intervals_source *out, size_t room)
{
    *out = (struct intervals_source){.atom = calloc(room, sizeof *out->atom), .room = room};
}

void intervals_source_free(struct intervals_source *source)
{
    free(source->atom);
    source->atom = NULL;
}

void intervals_source_put(struct intervals_source *source, double chance, size_t cell, double above)
{
    if (chance > 0 && source->atom != NULL) {
        CHECK(source->count < source->room);
        source->atom[source->count++] =
            (struct intervals_atom){.chance = chance, .cell = (uint32_t)cell, .above = above};
    }
}

enum status intervals_source_ready(struct intervals_source *source)
{
    const size_t n = source->count;
    uint32_t *waiting =
        calloc(n + 1, sizeof *waiting); /* small ones from the front, large ones from the back */
    size_t small = 0;
    size_t large = n;
    double sum = 0;
    if (waiting == NULL || source->atom == NULL) {
        free(waiting);
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < n; i++) {
        sum += source->atom[i].chance;
    }
    for (size_t i = 0; i < n; i++) {
        struct intervals_atom *atom = &source->atom[i];
        atom->chance /= sum;
        atom->keep = atom->chance * (double)n;
        atom->other = (uint32_t)i;
        waiting[atom->keep < 1 ? small++ : --large] = (uint32_t)i;
    }
    while (small > 0 && large < n) {
        const uint32_t from = waiting[large];
        struct intervals_atom *giver = &source->atom[from];
        struct intervals_atom *taker = &source->atom[waiting[--small]];
        taker->other = from;
        giver->keep -= 1 - taker->keep;
        if (giver->keep < 1) {
            large++;
            waiting[small++] = from;
        }
    }
    free(waiting);
    return STATUS_OK;
}

void intervals_source_draw(double *cell, const struct intervals_source *source, uint64_t records,
                           struct seeded_random *seeded)
{
    for (uint64_t i = 0; i < records; i++) {
        const uint64_t word = seeded_random_word(seeded);
        const struct intervals_atom *atom = &source->atom[(word >> 32) * source->count >> 32];
        if ((double)(word & UINT32_MAX) * 0x1p-32 >= atom->keep) {
            atom = &source->atom[atom->other];
        }
        cell[atom->cell] += 1 - atom->above;
        if (atom->above > 0) {
            cell[atom->cell + 1] += atom->above;
        }
    }
}

void intervals_source_expect(double *cell, const struct intervals_source *source, double records)
{
    for (size_t i = 0; i < source->count; i++) {
        const struct intervals_atom *atom = &source->atom[i];
        cell[atom->cell] += records * atom->chance * (1 - atom->above);
        if (atom->above > 0) {
            cell[atom->cell + 1] += records * atom->chance * atom->above;
        }
    }
}
