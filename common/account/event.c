#include "account/event.h"

#include <math.h>
#include <stdbool.h>

static const struct {
    const char *name;
    const char *parameter;
    bool noisy;    /* has a sensitivity of its own */
    bool discrete; /* adds whole numbers */
} mechanisms[MECHANISM_COUNT] = {
    [MECHANISM_PURE] = {"pure", "epsilon", false, false},
    [MECHANISM_LAPLACE] = {"laplace", "scale", true, false},
    [MECHANISM_DISCRETE_LAPLACE] = {"discrete_laplace", "scale", true, true},
    [MECHANISM_GAUSSIAN] = {"gaussian", "sigma", true, false},
    [MECHANISM_DISCRETE_GAUSSIAN] = {"discrete_gaussian", "sigma", true, true},
    [MECHANISM_EXPONENTIAL] = {"exponential", "epsilon", false, false},
};

#define COUNT_MAX (UINT64_C(1) << 53)

static bool is_known(enum mechanism mechanism)
{
    return (unsigned)mechanism < MECHANISM_COUNT;
}

const char *event_mechanism_name(enum mechanism mechanism)
{
    return is_known(mechanism) ? mechanisms[mechanism].name : NULL;
}

const char *event_parameter_name(enum mechanism mechanism)
{
    return is_known(mechanism) ? mechanisms[mechanism].parameter : NULL;
}

const char *event_neighbours_name(enum neighbours neighbours)
{
    switch (neighbours) {
    case NEIGHBOURS_REPLACE_ONE:
        return "replace-one";
    case NEIGHBOURS_ADD_REMOVE:
        return "add-remove";
    default:
        return NULL;
    }
}

static enum status refuse(struct why *why, const char *field, const char *range)
{
    return why_refuse(why, "%s must be %s", field, range);
}

static bool is_positive(double x)
{
    return isfinite(x) && x > 0;
}

enum status privacy_event_check(const struct privacy_event *event, struct why *why)
{
    if (!is_known(event->mechanism)) {
        return refuse(why, "mechanism", "one of those that `hedgerow plan compose --help` lists");
    }
    if (event_neighbours_name(event->neighbours) == NULL) {
        return refuse(why, "neighbours", "replace-one or add-remove");
    }
    if (!is_positive(event->parameter)) {
        return refuse(why, mechanisms[event->mechanism].parameter, "a finite number above 0");
    }
    if (!is_positive(event->sensitivity)) {
        return refuse(why, "sensitivity", "a finite number above 0");
    }
    if (mechanisms[event->mechanism].discrete && floor(event->sensitivity) != event->sensitivity) {
        return refuse(why, "sensitivity", "a whole number for discrete noise");
    }
    if (!mechanisms[event->mechanism].noisy && event->sensitivity != 1) {
        return refuse(why, "sensitivity", "1, or left out, where epsilon is given");
    }
    if (event->count > COUNT_MAX) {
        return refuse(why, "count", "a whole number from 0 to 2^53");
    }
    if (!(event->sampling > 0 && event->sampling <= 1)) {
        return refuse(why, "sampling", "above 0 and at most 1");
    }
    if (!(event->delta >= 0 && event->delta < 1)) {
        return refuse(why, "delta", "at least 0 and below 1");
    }
    return STATUS_OK;
}
