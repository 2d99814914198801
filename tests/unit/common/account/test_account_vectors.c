/* All accountants together against the known answers, at every row, both ways: the least bound is never
 * below the truth and near it, the low end never above it. And wrong variants, which the judge must
 * refuse. */

#include "account_vectors.h"

#include "account/pure.h"

/* Epsilon at the row's delta. */
static void expect_epsilon(const char *group, size_t row, const struct privacy_event *events,
                           size_t count, double delta, struct truth truth)
{
    struct account account = epsilon_of(events, count, delta);
    cr_expect(judge(&account, truth), "%s[%zu]: [%.17g, %.17g] by %s, truth [%.17g, %.17g]", group,
              row, account.low, account.high, accountant_name(account.best), truth.low, truth.high);
}

/* Delta at epsilons just below and above the row's. */
static void expect_delta(const char *group, size_t row, const struct privacy_event *events,
                         size_t count, double delta, struct truth truth)
{
    struct account account;
    double below = truth.low * (1 - 1e-9) - 1e-9;
    if (below > 0) {
        account = delta_of(events, count, below);
        cr_expect(account.high >= delta * (1 - 1e-9), "%s[%zu]: delta %.17g, not %.17g", group, row,
                  account.high, delta);
    }
    account = delta_of(events, count, truth.high * (1 + truth.above) + 1e-9);
    cr_expect(account.low <= delta && account.high <= delta,
              "%s[%zu]: delta [%.17g, %.17g], not %.17g", group, row, account.low, account.high,
              delta);
}

/* Every row of a group whose events are one event; the way back, from epsilon to delta, for rows
 * `stride` apart. */
static void expect_group(const char *group, size_t stride, read_row *read)
{
    json_t *root = vectors_open();
    const json_t *rows = json_object_get(root, group);
    cr_assert(json_array_size(rows) > 0, "no group %s", group);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        struct privacy_event event = {0};
        struct truth truth = {0};
        read(&event, &truth, row);
        expect_epsilon(group, i, &event, 1, field(row, "delta"), truth);
        if (i % stride == 0) {
            expect_delta(group, i, &event, 1, field(row, "delta"), truth);
        }
    }
    json_decref(root);
}

Test(account_vectors, of_pure_events_is_exact)
{
    expect_group("a_pure_kfold", 1, read_pure);
}

Test(account_vectors, of_events_that_may_fail_is_exact_even_where_nearly_no_delta_is_left)
{
    expect_group("a3_approx_kfold", 1, read_approximate);
}

Test(account_vectors, of_laplace_noise_is_in_its_band)
{
    expect_group("b_laplace", 12, read_laplace);
}

Test(account_vectors, of_discrete_laplace_noise_is_exact)
{
    expect_group("c_discrete_laplace", 1, read_discrete_laplace);
}

Test(account_vectors, of_gaussian_noise_is_exact)
{
    expect_group("d_gaussian", 1, read_gaussian);
}

Test(account_vectors, of_discrete_gaussian_noise_is_exact)
{
    expect_group("d_discrete_gaussian", 1, read_discrete_gaussian);
}

Test(account_vectors, of_sampled_events_is_in_its_band)
{
    expect_group("e_poisson_subsampled", 17, read_sampled);
}

Test(account_vectors, of_exponential_draws_is_valid_for_adaptive_choices_and_tight)
{
    expect_group("f_exponential_bounded_range", 1, read_exponential);
}

Test(account_vectors, delta_of_pure_events_is_exact)
{
    json_t *root = vectors_open();
    const json_t *rows = json_object_get(root, "a2_pure_kfold_delta_at_eps");
    cr_assert(json_array_size(rows) > 0);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        struct privacy_event event = event_of(MECHANISM_PURE, field(row, "eps0"), field(row, "k"));
        double delta = field(row, "delta_tight");
        struct account account = delta_of(&event, 1, field(row, "eps"));
        cr_expect(account.high >= delta * (1 - 1e-9) && account.high <= delta * (1 + 1e-3) + 1e-15,
                  "[%zu]: %.17g, not %.17g", i, account.high, delta);
        cr_expect(account.low <= delta * (1 + 1e-9));
    }
    json_decref(root);
}

Test(account_vectors, of_unequal_pure_events_is_exact)
{
    json_t *root = vectors_open();
    const json_t *rows = json_object_get(root, "a4_heterogeneous_pure");
    cr_assert(json_array_size(rows) > 0);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        struct privacy_event event[EVENTS_MAX];
        const size_t count = read_list(event, row);
        expect_epsilon("a4", i, event, count, field(row, "delta"), exact(field(row, "eps_tight")));
        expect_delta("a4", i, event, count, field(row, "delta"), exact(field(row, "eps_tight")));
    }
    json_decref(root);
}

/* Planted: what a wrong front would answer, which the judge must refuse on some row. */
Test(account_vectors, planted_faults_are_caught)
{
    json_t *root = vectors_open();
    struct privacy_event event;
    struct truth truth;
    const json_t *draws = json_object_get(root, "f_exponential_bounded_range");
    const json_t *row = json_array_get(draws, json_array_size(draws) - 1);

    /* The count is ignored. */
    read_exponential(&event, &truth, row);
    struct account right = epsilon_of(&event, 1, field(row, "delta"));
    cr_assert(judge(&right, truth));
    event.count = 1;
    struct account wrong = epsilon_of(&event, 1, field(row, "delta"));
    cr_assert_not(judge(&wrong, truth));

    /* A grid that is good enough for a search is not for a band. */
    const json_t *banded = json_object_get(root, "b_laplace");
    row = json_array_get(banded, json_array_size(banded) - 1);
    read_laplace(&event, &truth, row);
    right = epsilon_of(&event, 1, field(row, "delta"));
    cr_assert(judge(&right, truth));
    cr_assert(account_ask(&wrong, &event, 1,
                          (struct composition_question){
                              .wants_epsilon = true, .at = field(row, "delta"), .quick = true},
                          NULL) == STATUS_OK);
    cr_assert_not(judge(&wrong, truth));
    cr_assert(wrong.high > right.high && wrong.low < right.high);

    /* A pure event is taken for a bounded-range one: permute-and-flip would be four times too
     * cheap. */
    const json_t *pure = json_object_get(root, "a_pure_kfold");
    row = json_array_get(pure, json_array_size(pure) - 1);
    read_pure(&event, &truth, row);
    event.mechanism = MECHANISM_EXPONENTIAL;
    wrong = epsilon_of(&event, 1, field(row, "delta"));
    cr_assert_not(judge(&wrong, truth));

    /* The accountants' largest, or some other one, in place of the best. */
    read_pure(&event, &truth, row);
    wrong = epsilon_of(&event, 1, field(row, "delta"));
    cr_assert(judge(&wrong, truth));
    wrong.high = wrong.bound[ACCOUNTANT_ZCDP];
    wrong.best = ACCOUNTANT_ZCDP;
    cr_assert_not(judge(&wrong, truth));

    /* The low end of draws from responses with all of epsilon. */
    row = json_array_get(draws, json_array_size(draws) - 1);
    read_exponential(&event, &truth, row);
    wrong = epsilon_of(&event, 1, field(row, "delta"));
    event.mechanism = MECHANISM_PURE;
    wrong.low = epsilon_of(&event, 1, field(row, "delta")).low;
    cr_assert_not(judge(&wrong, truth));

    /* The low end of Laplace noise from its pure epsilon alone. */
    const json_t *laplace = json_object_get(root, "b_laplace");
    bool caught = false;
    for (size_t i = 0; i < json_array_size(laplace) && !caught; i++) {
        struct interval optimal = {0, 0};
        row = json_array_get(laplace, i);
        read_laplace(&event, &truth, row);
        wrong = epsilon_of(&event, 1, field(row, "delta"));
        cr_assert(optimal_epsilon(&optimal, &event, 1, field(row, "delta")) == STATUS_OK);
        wrong.low = optimal.low;
        caught = !judge(&wrong, truth);
    }
    cr_assert(caught);
    json_decref(root);
}
