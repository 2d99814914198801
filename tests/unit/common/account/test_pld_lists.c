/* Random lists of events of every kind against the sum over all their outcomes, in long double: the
 * discrete ones are enumerated, a continuous one, perhaps sampled, has its formula. The seed is
 * fixed and the truth is good to 1e-12 of itself, so there is no false alarm. */

#include "lab/composition/pld.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { EVENTS_MAX = 6, LISTS = 400, STATES_MAX = 1 << 18 };

#define TRUTH_ERROR 1e-12L

static uint64_t state = 77;

static double uniform(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ldexp((double)(state >> 11), -53);
}

static double between(double low, double high)
{
    return low * exp(uniform() * log(high / low));
}

/* A distribution of losses: of everything but the last continuous event. */
struct law {
    size_t count;
    long double *loss;
    long double *mass;
};

static void multiply(struct law *law, const long double *loss, const long double *mass,
                     size_t count)
{
    cr_assert(law->count * count <= STATES_MAX);
    for (size_t j = count; j-- > 0;) {
        for (size_t i = 0; i < law->count; i++) {
            law->loss[j * law->count + i] = law->loss[i] + loss[j];
            law->mass[j * law->count + i] = law->mass[i] * mass[j];
        }
    }
    law->count *= count;
}

/* The losses of one discrete run; returns how many. */
static size_t outcomes(long double *loss, long double *mass, const struct privacy_event *event)
{
    long double b = event->parameter;
    long double s = event->sensitivity;
    size_t count = 0;
    if (event->mechanism == MECHANISM_PURE) {
        loss[0] = b;
        loss[1] = -b;
        mass[0] = 1 / (1 + expl(-b));
        mass[1] = 1 / (1 + expl(b));
        return 2;
    }
    if (event->mechanism == MECHANISM_DISCRETE_LAPLACE) {
        for (long double z = 0; z <= s; z++, count++) {
            long double end = 1 / (1 + expl(-1 / b));
            loss[count] = (s - 2 * z) / b;
            mass[count] = z <= 0 ? end : expl(-z / b) * (z >= s ? end : tanhl(1 / (2 * b)));
        }
        return count;
    }
    long double total = 0;
    long double last = ceill(30 * b) + 1;
    for (long double x = -last; x <= last; x++, count++) {
        loss[count] = s * (s - 2 * x) / (2 * b * b);
        mass[count] = expl(-x * x / (2 * b * b));
        total += mass[count];
    }
    for (size_t i = 0; i < count; i++) {
        mass[i] /= total;
    }
    return count;
}

/* delta of unsampled Laplace (epsilon a) or Gaussian noise (mu a), at every epsilon. */
static long double base_delta(bool laplace, long double a, long double epsilon)
{
    if (laplace) {
        return epsilon >= a ? 0 : epsilon <= -a ? 1 - expl(epsilon) : -expm1l((epsilon - a) / 2);
    }
    long double root = sqrtl(2);
    return erfcl((epsilon / a - a / 2) / root) / 2 -
           expl(epsilon) * erfcl((epsilon / a + a / 2) / root) / 2;
}

/* The same for a sampled record that is removed: q delta(ln(1 + (a - 1)/q)) at a = e^epsilon; or added,
 * where only ratios below r = 1 + (1/a - 1)/q count: a q r delta(-ln r). */
static long double last_delta(bool laplace, long double a, long double q, bool add,
                              long double epsilon)
{
    if (q >= 1) {
        return base_delta(laplace, a, epsilon);
    }
    long double rest = expm1l(add ? -epsilon : epsilon) / q;
    if (add) {
        return rest <= -1 ? 0
                          : expl(epsilon) * q * (1 + rest) * base_delta(laplace, a, -log1pl(rest));
    }
    return rest <= -1 ? -expm1l(epsilon) : q * base_delta(laplace, a, log1pl(rest));
}

static long double response(long double loss, long double epsilon)
{
    return loss > epsilon ? -expm1l(epsilon - loss) : 0;
}

struct list {
    struct privacy_event events[EVENTS_MAX];
    size_t count;
    const struct privacy_event *last; /* continuous, or NULL */
    struct law law;
};

static long double truth_of(const struct list *list, long double epsilon)
{
    long double sides[2] = {0, 0};
    for (size_t i = 0; i < list->law.count; i++) {
        long double loss = list->law.loss[i];
        for (unsigned add = 0; add < 2; add++) {
            long double value =
                list->last == NULL
                    ? response(loss, epsilon)
                    : last_delta(list->last->mechanism == MECHANISM_LAPLACE,
                                 (long double)list->last->sensitivity / list->last->parameter,
                                 list->last->sampling, add == 1, epsilon - loss);
            sides[add] += list->law.mass[i] * value;
        }
    }
    return fmaxl(sides[0], sides[1]);
}

static struct privacy_event draw_discrete(void)
{
    static const enum mechanism kinds[] = {MECHANISM_PURE, MECHANISM_DISCRETE_LAPLACE,
                                           MECHANISM_DISCRETE_GAUSSIAN};
    struct privacy_event event = {.mechanism = kinds[(size_t)(3 * uniform())],
                                  .neighbours = NEIGHBOURS_ADD_REMOVE,
                                  .sensitivity = 1,
                                  .count = 1 + (uint64_t)(2 * uniform()),
                                  .sampling = 1};
    event.parameter = between(1e-3, 30);
    if (event.mechanism != MECHANISM_PURE) {
        event.sensitivity = 1 + floor(4 * uniform());
        event.parameter = between(0.05, 20);
    }
    if (event.mechanism == MECHANISM_DISCRETE_GAUSSIAN) {
        event.parameter = between(0.05, 0.8);
        event.count = 1;
    }
    return event;
}

static struct privacy_event draw_continuous(void)
{
    struct privacy_event event = {.neighbours = NEIGHBOURS_ADD_REMOVE, .count = 1, .sampling = 1};
    event.mechanism = uniform() < 0.5 ? MECHANISM_LAPLACE : MECHANISM_GAUSSIAN;
    event.sensitivity = between(0.1, 10);
    event.parameter = event.sensitivity / between(0.02, 6);
    if (uniform() < 0.5) {
        event.sampling = uniform() < 0.2 ? 1 - 1e-12 : uniform() < 0.2 ? 1e-9 : between(1e-4, 1);
    }
    return event;
}

static void draw(struct list *list)
{
    static long double loss[STATES_MAX];
    static long double mass[STATES_MAX];
    size_t discrete = 1 + (size_t)(3 * uniform());
    list->count = 0;
    list->law.count = 1;
    list->law.loss[0] = 0;
    list->law.mass[0] = 1;
    for (size_t i = 0; i < discrete; i++) {
        struct privacy_event *event = &list->events[list->count++];
        *event = draw_discrete();
        for (uint64_t run = 0; run < event->count; run++) {
            multiply(&list->law, loss, mass, outcomes(loss, mass, event));
        }
    }
    list->last = NULL;
    if (uniform() < 0.75) {
        list->events[list->count] = draw_continuous();
        list->last = &list->events[list->count++];
    }
}

static void check(const struct list *list, double epsilon, double delta0)
{
    double truth = (double)truth_of(list, epsilon);
    struct interval got = {NAN, NAN};
    struct interval back = {NAN, NAN};
    struct interval more = {NAN, NAN};
    if (!(truth > 1e-15 && truth < 1)) {
        return;
    }
    cr_assert(pld_delta(&got, list->events, list->count, epsilon) == STATUS_OK);
    double total = delta0 + (1 - delta0) * truth;
    if (total > 1 - 1e-9) {
        return;
    }
    cr_expect(got.high >= total * (1 - (double)TRUTH_ERROR), "%g: high %.17g below %.17g", epsilon,
              got.high, total);
    cr_expect(got.low <= total * (1 + (double)TRUTH_ERROR), "%g: low %.17g above %.17g", epsilon,
              got.low, total);
    cr_assert(pld_epsilon(&back, list->events, list->count, total * (1 - 1e-11)) == STATUS_OK);
    cr_expect(back.high >= epsilon * (1 - 1e-12) - 1e-14, "high %.17g below %.17g at %.17g",
              back.high, epsilon, total);
    cr_assert(pld_epsilon(&back, list->events, list->count, total * (1 + 1e-11)) == STATUS_OK);
    cr_expect(back.low <= epsilon * (1 + 1e-12) + 1e-14, "low %.17g above %.17g at %.17g", back.low,
              epsilon, total);
    /* The two questions are each other's inverse, and more delta costs no more epsilon. */
    cr_assert(pld_delta(&got, list->events, list->count, back.high) == STATUS_OK);
    cr_expect(got.low <= total * (1 + 1e-10), "%.17g: %.17g above %.17g", back.high, got.low,
              total);
    cr_assert(pld_epsilon(&more, list->events, list->count,
                          total < 0.6 ? 1.5 * total : (1 + total) / 2) == STATUS_OK);
    cr_expect(more.low <= back.high && (total > 0.5 || more.high <= back.high * 1.001 + 1e-6),
              "%.17g %.17g %.17g %.17g at %g", back.low, back.high, more.low, more.high, total);
}

Test(pld_lists, every_answer_encloses_the_sum_over_all_outcomes)
{
    struct list list = {.law = {0, calloc(STATES_MAX, sizeof(long double)),
                                calloc(STATES_MAX, sizeof(long double))}};
    for (unsigned i = 0; i < LISTS; i++) {
        draw(&list);
        double delta0 = i % 5 == 0 ? between(1e-14, 0.5) : 0;
        list.events[0].delta = delta0;
        double own = -expm1((double)list.events[0].count * log1p(-delta0));
        double most = 0;
        for (size_t j = 0; j < list.law.count; j++) {
            most = fmax(most, (double)list.law.loss[j] + (list.last != NULL ? 5 : 0));
        }
        check(&list, uniform() < 0.1 ? 0 : most * fmin(1, 1.2 * uniform()), own);
    }
    free(list.law.loss);
    free(list.law.mass);
}
