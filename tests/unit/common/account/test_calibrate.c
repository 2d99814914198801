/* Calibration: never worse than the known answers, always verified, and the least that is. */

#include "lab/composition/calibrate.h"

#include "closed_vectors.h"

#include <string.h>

/* Asks the accountants again, of the very events that came out. */
static double verified(const struct privacy_event *events, size_t count, double delta)
{
    struct account account;
    struct why why = {""};
    cr_assert(account_ask(&account, events, count,
                          (struct composition_question){.wants_epsilon = true, .at = delta},
                          &why) == STATUS_OK,
              "%s", why.text);
    return account.high;
}

static struct calibration calibrated(struct privacy_event *events, size_t count, double epsilon,
                                     double delta)
{
    struct calibration out;
    struct why why = {""};
    cr_assert(calibrate(&out, events, count, epsilon, delta, &why) == STATUS_OK, "%s", why.text);
    cr_expect(out.account.high <= epsilon);
    double again = verified(events, count, delta);
    cr_expect(again == out.account.high && again <= epsilon, "%.17g, then %.17g, of %.17g",
              out.account.high, again, epsilon);
    return out;
}

Test(calibrate, gaussian_noise_is_the_analytic_one)
{
    json_t *root = vectors_open();
    const json_t *rows = json_object_get(root, "m_gaussian_calibration");
    cr_assert(json_array_size(rows) > 0);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        struct privacy_event event = event_of(MECHANISM_GAUSSIAN, 1, 1);
        double known = field(row, "sigma_analytic_gaussian");
        (void)calibrated(&event, 1, field(row, "eps"), field(row, "delta"));
        cr_expect(fabs(event.parameter / known - 1) <= 1e-9, "[%zu]: sigma %.17g, not %.17g", i,
                  event.parameter, known);
        /* The judge can say no: the classic formula is far outside. */
        cr_expect(fabs(field(row, "sigma_classic") / known - 1) > 1e-3);
    }
    json_decref(root);
}

Test(calibrate, a_budget_is_split_at_least_as_well_as_known)
{
    json_t *root = vectors_open();
    const json_t *rows = json_object_get(root, "n_budget_split_calibration");
    cr_assert(json_array_size(rows) > 0);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        double epsilon = field(row, "total_eps");
        double delta = field(row, "delta");
        struct privacy_event pure = event_of(MECHANISM_PURE, 3, field(row, "k"));
        struct privacy_event draws = event_of(MECHANISM_EXPONENTIAL, 3, field(row, "k"));
        double tight = field(row, "per_step_eps0_tight_pure");
        (void)calibrated(&pure, 1, epsilon, delta);
        cr_expect(pure.parameter >= tight * (1 - 1e-9), "[%zu]: %.17g below %.17g", i,
                  pure.parameter, tight);
        cr_expect(pure.parameter <= tight * (1 + 1e-9), "[%zu]: %.17g above %.17g", i,
                  pure.parameter, tight);
        cr_expect(pure.parameter >= field(row, "per_step_eps0_basic") * (1 - 1e-9));
        cr_expect(pure.parameter >= field(row, "per_step_eps0_zcdp") * (1 - 1e-9));
        (void)calibrated(&draws, 1, epsilon, delta);
        double known = field(row, "per_step_eps0_bounded_range_zcdp");
        cr_expect(draws.parameter >= known * (1 - 1e-9), "[%zu]: %.17g below %.17g", i,
                  draws.parameter, known);
    }
    json_decref(root);
}

/* Half a per mille less noise than the answer must be too little (Laplace noise at a delta is known to
 * about a per mille). */
Test(calibrate, the_answer_is_the_least_one)
{
    static const struct {
        enum mechanism mechanism;
        double count;
        double sampling;
        double below; /* this much less noise is too little */
    } planned[] = {{MECHANISM_PURE, 1, 1, 1e-8},
                   {MECHANISM_PURE, 200, 1, 1e-8},
                   {MECHANISM_GAUSSIAN, 50, 1, 1e-8},
                   {MECHANISM_EXPONENTIAL, 100, 1, 1e-6},
                   {MECHANISM_LAPLACE, 100, 1, 2e-3},
                   {MECHANISM_DISCRETE_LAPLACE, 30, 1, 2e-3},
                   {MECHANISM_DISCRETE_GAUSSIAN, 20, 1, 2e-3},
                   {MECHANISM_GAUSSIAN, 100, 0.05, 2e-2}};
    for (size_t i = 0; i < sizeof planned / sizeof planned[0]; i++) {
        struct privacy_event event = event_of(planned[i].mechanism, 1, planned[i].count);
        event.sampling = planned[i].sampling;
        event.neighbours = NEIGHBOURS_ADD_REMOVE;
        (void)calibrated(&event, 1, 1, 1e-6);
        bool noise = event_parameter_name(event.mechanism)[0] == 's';
        event.parameter *= noise ? 1 - planned[i].below : 1 / (1 - planned[i].below);
        cr_expect(verified(&event, 1, 1e-6) > 1, "%s, %g times: less noise is enough",
                  event_mechanism_name(event.mechanism), planned[i].count);
    }
}

Test(calibrate, of_one_event_the_weight_does_not_matter)
{
    static const double weight[] = {1e-9, 0.3, 1, 77, 1e12};
    double first = 0;
    for (size_t i = 0; i < sizeof weight / sizeof weight[0]; i++) {
        struct privacy_event noise = event_of(MECHANISM_GAUSSIAN, weight[i], 10);
        struct privacy_event pure = event_of(MECHANISM_PURE, weight[i], 10);
        (void)calibrated(&noise, 1, 0.5, 1e-7);
        (void)calibrated(&pure, 1, 0.5, 0);
        first = i == 0 ? noise.parameter : first;
        cr_expect(fabs(noise.parameter / first - 1) < 1e-9);
        cr_expect(fabs(pure.parameter / 0.05 - 1) < 1e-9 && pure.parameter <= 0.05);
    }
}

Test(calibrate, a_schedule_keeps_its_proportions)
{
    struct privacy_event events[] = {
        event_of(MECHANISM_LAPLACE, 4, 3), event_of(MECHANISM_PURE, 0.5, 2),
        event_of(MECHANISM_GAUSSIAN, 6, 5), event_of(MECHANISM_EXPONENTIAL, 0.25, 4),
        event_of(MECHANISM_PURE, 1, 0)};
    struct calibration out = calibrated(events, 5, 1, 1e-6);
    cr_expect(fabs(events[0].parameter / (4 * out.factor) - 1) < 1e-15);
    cr_expect(fabs(events[1].parameter / (0.5 / out.factor) - 1) < 1e-15);
    cr_expect(fabs(events[2].parameter / (6 * out.factor) - 1) < 1e-15);
    cr_expect(fabs(events[3].parameter / (0.25 / out.factor) - 1) < 1e-15);
    cr_expect(fabs(events[4].parameter / (1 / out.factor) - 1) < 1e-15);
    cr_expect(events[0].count == 3 && events[2].sampling == 1 && events[4].count == 0);
    cr_expect(out.account.high > 0.99, "%.17g of 1 is used", out.account.high);
}

Test(calibrate, events_that_may_fail_leave_the_rest_of_delta)
{
    struct privacy_event sound = event_of(MECHANISM_PURE, 1, 100);
    struct privacy_event frail = sound;
    frail.delta = 5e-9;
    (void)calibrated(&sound, 1, 1, 1e-6);
    (void)calibrated(&frail, 1, 1, 1e-6);
    cr_expect(frail.parameter < sound.parameter && frail.parameter > sound.parameter / 2);
}

Test(calibrate, says_when_no_noise_is_enough_and_changes_nothing)
{
    struct calibration out;
    struct why why = {""};
    struct privacy_event events[] = {event_of(MECHANISM_PURE, 1, 1),
                                     event_of(MECHANISM_GAUSSIAN, 1, 1)};
    cr_expect(calibrate(&out, events, 2, 1, 0, &why) == STATUS_EXHAUSTED);
    cr_expect(strstr(why.text, "event 2: gaussian noise keeps no epsilon at delta 0") != NULL, "%s",
              why.text);
    events[1] = event_of(MECHANISM_PURE, 2, 100);
    events[1].delta = 1e-8;
    cr_expect(calibrate(&out, events, 2, 1, 1e-6 / 2, &why) == STATUS_EXHAUSTED);
    cr_expect(strstr(why.text, "the events' own deltas leave nothing of delta 5e-07") != NULL, "%s",
              why.text);
    cr_expect(events[0].parameter == 1 && events[1].parameter == 2);
}

Test(calibrate, refuses_what_it_cannot_calibrate)
{
    static const struct {
        double epsilon;
        double delta;
        const char *sentence;
    } bad[] = {{0, 1e-6, "epsilon must be"},
               {-1, 1e-6, "epsilon must be"},
               {INFINITY, 1e-6, "epsilon must be"},
               {NAN, 1e-6, "epsilon must be"},
               {1, 1, "delta must be"},
               {1, -1, "delta must be"},
               {1, NAN, "delta must be"}};
    struct calibration out;
    struct why why = {""};
    struct privacy_event event = event_of(MECHANISM_PURE, 1, 1);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_expect(calibrate(&out, &event, 1, bad[i].epsilon, bad[i].delta, &why) == STATUS_INVALID);
        cr_expect(strstr(why.text, bad[i].sentence) != NULL, "%s", why.text);
    }
    event.count = 0;
    cr_expect(calibrate(&out, &event, 1, 1, 0, &why) == STATUS_INVALID);
    cr_expect(strstr(why.text, "count 0") != NULL, "%s", why.text);
    event = event_of(MECHANISM_PURE, 1e-250, 1);
    cr_expect(calibrate(&out, &event, 1, 1, 0, &why) == STATUS_INVALID);
    cr_expect(strstr(why.text, "event 1: epsilon must be between") != NULL, "%s", why.text);
    event = event_of(MECHANISM_PURE, -1, 1);
    cr_expect(calibrate(&out, &event, 1, 1, 0, &why) == STATUS_INVALID);
    cr_expect(strstr(why.text, "event 1: epsilon must be a finite") != NULL, "%s", why.text);
}

/* Extremes of the budget: the search must end, and its answer must hold. */
Test(calibrate, reaches_far_budgets)
{
    static const double epsilon[] = {1e-6, 1e-3, 30, 500};
    static const double delta[] = {1e-300, 1e-12, 0.1};
    for (size_t i = 0; i < sizeof epsilon / sizeof epsilon[0]; i++) {
        for (size_t j = 0; j < sizeof delta / sizeof delta[0]; j++) {
            struct privacy_event pure = event_of(MECHANISM_PURE, 1, 7);
            struct privacy_event noise = event_of(MECHANISM_GAUSSIAN, 1, 7);
            struct calibration out = calibrated(&pure, 1, epsilon[i], delta[j]);
            cr_expect(pure.parameter >= epsilon[i] / 7 * (1 - 1e-9));
            cr_expect(out.account.high > 0);
            (void)calibrated(&noise, 1, epsilon[i], delta[j]);
        }
    }
}
