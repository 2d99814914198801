/* The settings of studies between sites: each effect, number and size of sites, epsilon and noise, once with a spread and once alike. */

#include "lab/study/study_intervals_between.h"

static const size_t counts[] = {3, 5, 10};
static const size_t counts_of_few[] = {3, 10, 40}; /* what is cut off adds up with the sites */
static const double epsilons[] = {0.25, 1, 4};
/* Where about one site in ten, or one in four, is refused: ten sites of 1,000 records that differ. */
static const double between_epsilons[] = {0.3, 0.35, 0.45, 0.55};
static const uint64_t sizes[] = {200, 1000, 0}; /* 0: from 200 to 5,000, each another */

enum {
    COUNTS = sizeof counts / sizeof counts[0],
    EPSILONS = sizeof epsilons / sizeof epsilons[0],
    SIZES = sizeof sizes / sizeof sizes[0],
    SETTINGS = SIZES * COUNTS * EPSILONS * 2,
    NOISES = 2,
    ALL = NOISES * SETTINGS * BETWEEN_DRAWN,
    BETWEEN = sizeof between_epsilons / sizeof between_epsilons[0]
};

bool between_is_withheld(const struct intervals_setting *setting)
{
    const enum effect effect = (enum effect)setting->variant;
    return setting->is_gaussian && effect != BETWEEN_SHARE && effect != BETWEEN_DIFFERENCE &&
           effect != BETWEEN_LOG_ODDS && effect != BETWEEN_TABLE_MEAN &&
           effect != BETWEEN_TABLE_SHARE;
}

/* Behind all others: of mean lives, then of hazard ratios. */
static void set_between(struct intervals_setting *out, size_t i)
{
    *out = (struct intervals_setting){.site_records = 1000,
                                      .sites = 10,
                                      .epsilon = between_epsilons[i % BETWEEN],
                                      .has_spread = true,
                                      .draws = 1,
                                      .variant = i < BETWEEN ? BETWEEN_MEAN_LIFE : BETWEEN_HAZARD};
}

static void set_at(struct intervals_setting *out, size_t at)
{
    const bool is_of_few = at >= ALL + 2 * BETWEEN;
    const size_t own = is_of_few ? at - ALL - 2 * BETWEEN : at;
    const size_t i = own % SETTINGS;
    const size_t of_sites = i / 2 / EPSILONS % COUNTS;
    *out = (struct intervals_setting){
        .site_records = sizes[i / 2 / EPSILONS / COUNTS],
        .sites = is_of_few ? counts_of_few[of_sites] : counts[of_sites],
        .epsilon = epsilons[i / 2 % EPSILONS],
        .has_spread = i % 2 == 1,
        .draws = 1,
        .is_gaussian = own >= (is_of_few ? SETTINGS : SETTINGS * BETWEEN_DRAWN),
        .variant = is_of_few ? BETWEEN_TABLE_SHARE : own / SETTINGS % BETWEEN_DRAWN};
    if (at >= ALL && !is_of_few) {
        set_between(out, at - ALL);
    }
}

/* Settings that were added stand behind the others, whose seeds stay. A short run leaves out what it would not judge. */
bool between_at(struct intervals_setting *out, const struct study_request *request, size_t *at)
{
    for (; *at < ALL + 2 * BETWEEN + NOISES * SETTINGS; (*at)++) {
        const bool is_between = *at >= ALL && *at < ALL + 2 * BETWEEN;
        set_at(out, *at);
        if (request->rounds == 0 || (is_between && request->rounds >= 1000) ||
            (!is_between && out->site_records > 0 && out->site_records <= request->rounds &&
             !between_is_withheld(out))) {
            return true;
        }
    }
    return false;
}
