/* Draws of bounded range by their own distribution of losses, against values of another making: sums of
 * n losses have density c^n e^(l/2) times that of n uniform ones, a piecewise polynomial; delta is its
 * integral against (1 - e^(epsilon - l))+, or against the curve of Gaussian noise, by mpmath's
 * quadrature between the knots at 40 digits; sampled runs by a double integral. Good to 1e-17. */

#include "account_vectors.h"
#include "lab/composition/pld.h"
#include "lab/composition/pld_private.h"

static struct interval delta_at(const struct privacy_event *events, size_t count, double epsilon)
{
    struct interval out = {NAN, NAN};
    cr_assert(pld_delta(&out, events, count, epsilon) == STATUS_OK);
    return out;
}

static struct interval epsilon_at(const struct privacy_event *events, size_t count, double delta)
{
    struct interval out = {NAN, NAN};
    cr_assert(pld_epsilon(&out, events, count, delta) == STATUS_OK);
    return out;
}

/* On the grid of a search: a tenth of the time, as much a bound. */
static double quickly(const struct privacy_event *event, double delta)
{
    struct interval out = {NAN, NAN};
    cr_assert(pld_epsilon_within(&out, event, 1, delta, pld_precision_quick(event, 1)) ==
              STATUS_OK);
    return out.high;
}

/* The judge: never below, above by no more than this share. */
static bool is_close(double bound, double truth, double above)
{
    return bound >= truth * (1 - 1e-14) && bound <= truth * (1 + above);
}

static const struct {
    double range;
    unsigned count;
    double epsilon;
    double delta;
} draws[] = {{0.5, 1, 0.2, 0.049310748881811199},     {0.3, 2, 0.1, 0.060572191386758965},
             {0.3, 2, 0.55, 0.000075621632207106331}, {0.3, 10, 1, 0.010914573523081526},
             {0.3, 10, 0, 0.21680240474731174},       {0.1, 40, 1.25, 0.000043303324998632941},
             {2, 5, 6, 0.053498017214978869},         {1, 30, 12, 0.0046377206450564419}};

enum { DRAWS = sizeof draws / sizeof draws[0] };

Test(pld_range, of_draws_alone_is_their_own_law)
{
    for (size_t i = 0; i < DRAWS; i++) {
        struct privacy_event event =
            event_of(MECHANISM_EXPONENTIAL, draws[i].range, draws[i].count);
        struct interval delta = delta_at(&event, 1, draws[i].epsilon);
        struct interval epsilon = epsilon_at(&event, 1, draws[i].delta);
        cr_expect(is_close(delta.high, draws[i].delta, 1e-6), "[%zu] %.17g", i, delta.high);
        cr_expect(delta.low == 0 && epsilon.low == 0, "no pair is that bad at every shift");
        cr_expect(epsilon.high >= draws[i].epsilon - 1e-15 &&
                      epsilon.high <= draws[i].epsilon + 1e-6,
                  "[%zu] %.17g", i, epsilon.high);
    }
}

Test(pld_range, of_one_draw_is_the_formula_and_ends_where_it_does)
{
    struct privacy_event event = event_of(MECHANISM_EXPONENTIAL, 1, 1);
    for (unsigned i = 0; i < 16; i++) {
        double epsilon = i / 16.0;
        double gap = exp(0.5) - exp(epsilon / 2);
        double truth = gap * gap / expm1(1);
        double delta = delta_at(&event, 1, epsilon).high;
        cr_expect(is_close(delta, truth, 1e-12), "%g: %.17g, not %.17g", epsilon, delta, truth);
        double back = epsilon_at(&event, 1, truth).high;
        cr_expect(back >= epsilon - 1e-14 && back <= epsilon + 1e-12, "%.17g", back);
    }
    cr_expect_leq(delta_at(&event, 1, 1).high, 1e-25);
    cr_expect_eq(delta_at(&event, 1, 1.001).high, 0);
    cr_expect_leq(epsilon_at(&event, 1, 0).high, 1 + 1e-15);
    cr_expect_eq(epsilon_at(&event, 1, 0.3).high, 0, "tanh(1/4) is the distance of the two");
    event.parameter = 1e-9;
    double tiny = delta_at(&event, 1, 0).high;
    cr_expect(tiny >= 0.25e-9 && tiny <= 0.2501e-9, "%.17g", tiny);
}

/* Draws and Gaussian noise: a quarter of the variance that pure epsilons would bring. */
Test(pld_range, of_draws_beside_gaussian_noise_is_their_convolution)
{
    static const struct {
        double range;
        double mu;
        double epsilon;
        double delta;
        unsigned count;
    } list[] = {{0.3, 0.4, 1, 0.03292282632866762, 10},
                {0.3, 0.4, 2.5, 0.000038404761765198111, 10},
                {1, 0.25, 2, 0.017429293566291558, 3},
                {0.1, 1, 4, 0.000084033764502577846, 20}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        struct privacy_event event[] = {
            event_of(MECHANISM_EXPONENTIAL, list[i].range, list[i].count),
            event_of(MECHANISM_GAUSSIAN, 1 / list[i].mu, 1)};
        struct interval delta = delta_at(event, 2, list[i].epsilon);
        cr_expect(is_close(delta.high, list[i].delta, 1e-4), "[%zu] %.17g", i, delta.high);
        event[0].mechanism = MECHANISM_PURE;
        cr_expect_gt(delta_at(event, 2, list[i].epsilon).high, 1.3 * delta.high,
                     "what they were taken for before");
    }
}

Test(pld_range, of_sampled_draws_is_the_worse_of_the_two_directions)
{
    static const struct {
        double sampling;
        double range;
        double epsilon;
        double delta; /* of two runs, the record removed; added it is less in every row */
    } list[] = {{0.1, 1, 0.05, 0.0171041119093594147},
                {0.1, 1, 0.2, 0.000765618299880186705},
                {0.5, 2, 0.7, 0.138612472838867424},
                {0.01, 0.5, 0.004, 0.000429514588459080091}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        struct privacy_event event = event_of(MECHANISM_EXPONENTIAL, list[i].range, 2);
        event.sampling = list[i].sampling;
        event.neighbours = NEIGHBOURS_ADD_REMOVE;
        double removed = delta_at(&event, 1, list[i].epsilon).high;
        cr_expect(is_close(removed, list[i].delta, 1e-4), "[%zu] %.17g", i, removed);
        event.neighbours = NEIGHBOURS_REPLACE_ONE;
        double replaced = delta_at(&event, 1, list[i].epsilon).high;
        cr_expect(replaced >= list[i].delta && replaced <= 1.2 * list[i].delta, "[%zu] %.17g", i,
                  replaced);
        event.mechanism = MECHANISM_PURE;
        cr_expect_gt(delta_at(&event, 1, list[i].epsilon).high, removed);
    }
}

/* An adversary who chooses every draw's shift after seeing the draws before reaches at least the grid's
 * value, on every row. Planted: losses of the middle shift alone, +-range/2, as if nobody could choose;
 * and the distribution of half the range, as if the monotone case were every case. */
Test(pld_range, is_above_what_adaptive_choices_reach_and_the_planted_laws_are_not)
{
    json_t *root = vectors_open();
    const json_t *rows = json_object_get(root, "f_exponential_bounded_range");
    unsigned middle_caught = 0;
    unsigned half_caught = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        double delta = field(row, "delta");
        double reached = field(row, "eps_adaptive_dp_grid") * (1 - 1e-4);
        struct privacy_event event =
            event_of(MECHANISM_EXPONENTIAL, field(row, "eps0"), field(row, "k"));
        double bound = quickly(&event, delta);
        cr_expect(bound >= reached && bound <= field(row, "eps_pure_kov") * (1 + 1e-3),
                  "[%zu] %.17g, reached %.17g", i, bound, reached);
        event.parameter /= 2;
        half_caught += quickly(&event, delta) < reached;
        event.mechanism = MECHANISM_PURE;
        middle_caught += quickly(&event, delta) < reached;
    }
    cr_expect(middle_caught > 0 && half_caught > 0, "%u, %u", middle_caught, half_caught);
    json_decref(root);
}
