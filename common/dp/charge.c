#include "dp/charge.h"

#include "account/gaussian_steps.h"

#include <math.h>

static bool is_gaussian(enum mechanism mechanism)
{
    return mechanism == MECHANISM_GAUSSIAN || mechanism == MECHANISM_DISCRETE_GAUSSIAN;
}

bool charge_is_valid(const struct charge *charge)
{
    bool gaussian = is_gaussian(charge->mechanism);
    return (unsigned)charge->mechanism < MECHANISM_COUNT &&
           event_neighbours_name(charge->neighbours) != NULL &&
           (charge->epsilon_micro > 0) == !gaussian && (charge->sigma_micro > 0) == gaussian &&
           charge->delta_atto < DELTA_ATTO_ONE && charge->count <= CHARGE_COUNT_MAX &&
           charge->sampling_nano <= SAMPLING_NANO_ONE && !digest_is_none(&charge->pass) &&
           charge->row_count > 0 && charge->row_first <= UINT64_MAX - charge->row_count;
}

uint64_t charge_count(const struct charge *charge)
{
    return charge->count == 0 ? 1 : charge->count;
}

uint64_t charge_sampling_nano(const struct charge *charge)
{
    return charge->sampling_nano == 0 ? SAMPLING_NANO_ONE : charge->sampling_nano;
}

bool charge_same_event(const struct charge *a, const struct charge *b)
{
    return a->mechanism == b->mechanism && a->neighbours == b->neighbours &&
           a->epsilon_micro == b->epsilon_micro && a->sigma_micro == b->sigma_micro &&
           a->delta_atto == b->delta_atto && charge_count(a) == charge_count(b) &&
           charge_sampling_nano(a) == charge_sampling_nano(b);
}

/* An integer over a power of ten, off by two roundings at the most, and moved past both. */
static double moved(uint64_t value, double unit, double towards)
{
    return nextafter(nextafter((double)value / unit, towards), towards);
}

/* A sampled discrete Gaussian vector as the sampled continuous noise that costs no less; without an
 * answer to that, as one that was not sampled, which costs no less either. */
static void sampled_gaussian(struct privacy_event *event)
{
    const double sigma = gaussian_steps_sigma(event->parameter, SAMPLED_STEPS_MIN);
    if (sigma > 0) {
        event->mechanism = MECHANISM_GAUSSIAN;
        event->parameter = sigma;
    } else {
        event->sampling = 1;
    }
}

struct privacy_event charge_event(const struct charge *charge)
{
    struct privacy_event event = {.mechanism = charge->mechanism,
                                  .neighbours = charge->neighbours,
                                  .sensitivity = 1,
                                  .count = charge_count(charge),
                                  .sampling = 1};
    double epsilon = moved(charge->epsilon_micro, (double)EPSILON_MICRO_ONE, INFINITY);

    switch (charge->mechanism) {
    case MECHANISM_PURE:
    case MECHANISM_EXPONENTIAL:
        event.parameter = epsilon;
        break;
    case MECHANISM_LAPLACE:
    case MECHANISM_DISCRETE_LAPLACE:
        event.parameter = nextafter(1 / epsilon, 0);
        break;
    case MECHANISM_GAUSSIAN:
    case MECHANISM_DISCRETE_GAUSSIAN:
        event.parameter = moved(charge->sigma_micro, (double)EPSILON_MICRO_ONE, 0);
        break;
    }
    if (charge_sampling_nano(charge) < SAMPLING_NANO_ONE) {
        event.sampling =
            fmin(moved(charge_sampling_nano(charge), (double)SAMPLING_NANO_ONE, INFINITY), 1);
        if (charge->mechanism == MECHANISM_DISCRETE_GAUSSIAN) {
            sampled_gaussian(&event);
        }
    }
    if (charge->delta_atto > 0) {
        event.delta =
            fmin(moved(charge->delta_atto, (double)DELTA_ATTO_ONE, INFINITY), nextafter(1, 0));
    }
    return event;
}
