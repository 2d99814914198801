/* Draws of bounded range, alone and beside others, and the lower bound of every account. */

#include "account_vectors.h"

/* On the grids of a search, which are bounds as well and take a tenth of the time. */
static struct account quickly(const struct privacy_event *event, double delta)
{
    struct account account;
    cr_assert_eq(
        account_ask(
            &account, event, 1,
            (struct composition_question){.wants_epsilon = true, .at = delta, .quick = true}, NULL),
        STATUS_OK);
    return account;
}

/* Each accountant has its own answer: the common function must not mix their columns. */
Test(account_low, of_exponential_draws_has_every_accountants_own_bound)
{
    json_t *root = vectors_open();
    const json_t *rows = json_object_get(root, "f_exponential_bounded_range");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        struct privacy_event event = {0};
        struct truth truth = {0};
        read_exponential(&event, &truth, row);
        struct account account = quickly(&event, field(row, "delta"));
        const double known[ACCOUNTANT_COUNT] = {
            [ACCOUNTANT_BASIC] = event.parameter * (double)event.count,
            [ACCOUNTANT_OPTIMAL] = field(row, "eps_pure_kov"),
            [ACCOUNTANT_ZCDP] = field(row, "eps_zcdp_eps2_over_8"),
            [ACCOUNTANT_RENYI] = field(row, "eps_rdp_br")};
        for (size_t j = 0; j < ACCOUNTANT_COUNT; j++) {
            cr_expect(known[j] == 0 || fabs(account.bound[j] / known[j] - 1) <= 1e-3,
                      "[%zu] %s: %.17g, known %.17g", i, accountant_name((enum accountant)j),
                      account.bound[j], known[j]);
        }
    }
    json_decref(root);
}

/* The lower bound of draws is a composition of non-adaptive draws; the best one is known. */
Test(account_low, low_of_exponential_draws_is_a_lower_bound_that_says_something)
{
    json_t *root = vectors_open();
    const json_t *rows = json_object_get(root, "f_exponential_bounded_range");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        struct privacy_event event = {0};
        struct truth truth = {0};
        read_exponential(&event, &truth, row);
        double best = field(row, "eps_ddr_nonadaptive");
        struct account account = quickly(&event, field(row, "delta"));
        cr_expect(account.low <= best + 1e-9, "[%zu]: %.17g above %.17g", i, account.low, best);
        cr_expect(event.count < 10 || account.low >= best / 2, "[%zu]: %.17g says little of %.17g",
                  i, account.low, best);
    }
    json_decref(root);
}

/* A record may be replaced by one that adds nothing to a count: what is lost then is what is lost when it
 * is removed, and replacing can cost more. A sampled pure event is known by an upper bound alone. */
Test(account_low, of_sampled_noise_is_that_of_a_record_removed)
{
    static const enum mechanism noise[] = {MECHANISM_GAUSSIAN, MECHANISM_LAPLACE};
    for (size_t i = 0; i < 2; i++) {
        struct privacy_event event = event_of(noise[i], 1, 10);
        event.sampling = 0.1;
        struct account replaced = epsilon_of(&event, 1, 1e-5);
        event.neighbours = NEIGHBOURS_ADD_REMOVE;
        struct account removed = epsilon_of(&event, 1, 1e-5);
        cr_expect(removed.low > 0 && replaced.low > 0.99 * removed.high &&
                      replaced.low <= removed.high && replaced.high >= removed.high,
                  "[%.17g, %.17g] replaced, [%.17g, %.17g] removed", replaced.low, replaced.high,
                  removed.low, removed.high);
    }
    struct privacy_event pure = event_of(MECHANISM_PURE, 1, 10);
    pure.sampling = 0.1;
    cr_expect(epsilon_of(&pure, 1, 1e-5).low == 0);
    pure.mechanism = MECHANISM_EXPONENTIAL;
    cr_expect(epsilon_of(&pure, 1, 1e-5).low == 0);
}

/* A list with a draw in it: seeing the other releases alone is a lower bound on seeing all. */
Test(account_low, low_of_a_mixed_list_is_at_least_that_of_its_certain_part)
{
    struct privacy_event events[] = {event_of(MECHANISM_LAPLACE, 5, 20),
                                     event_of(MECHANISM_EXPONENTIAL, 0.5, 10)};
    struct account part = epsilon_of(events, 1, 1e-6);
    struct account all = epsilon_of(events, 2, 1e-6);
    cr_expect(all.low > part.low * 1.01 && all.high > part.high * 1.01);
    cr_expect(all.low <= all.high);
    events[1].mechanism = MECHANISM_PURE;
    events[1].sampling = 0.5; /* nothing is certain about this event: it alone is left out */
    all = epsilon_of(events, 2, 1e-6);
    cr_expect(fabs(all.low / part.low - 1) < 1e-3 && all.high > part.high);
}
