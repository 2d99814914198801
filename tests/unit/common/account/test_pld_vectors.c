/* Every row that the accountant of privacy-loss distributions covers. Exact rows: never more than
 * 1e-9 below, at most 0.1 % above, also on the grids for searches; reference rows (an upper
 * bound known up to err_est): at most 0.1 % above, sampled ones 1 %; test_account.c asks whether every
 * one is inside its band as shipped. The lower end never above the truth. */

#include "lab/composition/pld.h"
#include "lab/composition/pld_private.h"

#include "account_vectors.h"

/* excess: the share of the truth by which the bound may lie above it. */
static void check_row(struct privacy_event *events, size_t count, double delta, struct truth truth,
                      double excess, const char *group, size_t i)
{
    const double known = (truth.low + truth.high) / 2;
    struct interval got = {NAN, NAN};
    cr_assert(known > 0);
    for (size_t j = 0; j < count; j++) {
        events[j].neighbours = NEIGHBOURS_ADD_REMOVE;
    }
    cr_assert(pld_epsilon_within(&got, events, count, delta, pld_precision_quick(events, count)) ==
              STATUS_OK);
    cr_expect(got.high >= truth.low, "%s %zu: high %.12g below %.12g", group, i, got.high, known);
    cr_expect(got.high <= known * (1 + excess), "%s %zu: high %.12g above %.12g", group, i,
              got.high, known);
    cr_expect(got.low <= truth.high, "%s %zu: low %.12g above %.12g", group, i, got.low, known);
    cr_expect(got.low >= known * (excess < 0.005 ? 0.95 : 0.7) - (truth.high - known - 1e-9),
              "%s %zu: low %.12g far below %.12g", group, i, got.low, known);
}

static void check_group(const char *group, read_row *read, size_t rows, double excess)
{
    json_t *all = vectors_open();
    json_t *list = vectors_group(all, group, rows);
    for (size_t i = 0; i < rows; i++) {
        const json_t *row = json_array_get(list, i);
        struct privacy_event event;
        struct truth truth;
        read(&event, &truth, row);
        check_row(&event, 1, field(row, "delta"), truth, excess, group, i);
    }
    json_decref(all);
}

Test(pld_vectors, group_a)
{
    check_group("a_pure_kfold", read_pure, 48, 1e-9);
}

Test(pld_vectors, group_a3_with_deltas_of_their_own)
{
    check_group("a3_approx_kfold", read_approximate, 7, 1e-9);
}

Test(pld_vectors, group_a4_unequal_events)
{
    json_t *all = vectors_open();
    json_t *list = vectors_group(all, "a4_heterogeneous_pure", 16);
    for (size_t i = 0; i < 16; i++) {
        const json_t *row = json_array_get(list, i);
        struct privacy_event events[EVENTS_MAX];
        const size_t count = read_list(events, row);
        check_row(events, count, field(row, "delta"), exact(field(row, "eps_tight")), 1e-3, "a4",
                  i);
    }
    json_decref(all);
}

Test(pld_vectors, group_b)
{
    check_group("b_laplace", read_laplace, 51, 1e-3);
}

Test(pld_vectors, group_c)
{
    check_group("c_discrete_laplace", read_discrete_laplace, 87, 1e-9);
}

Test(pld_vectors, group_d_gaussian)
{
    check_group("d_gaussian", read_gaussian, 38, 1e-9);
}

Test(pld_vectors, group_d_discrete_gaussian)
{
    check_group("d_discrete_gaussian", read_discrete_gaussian, 33, 1e-9);
}

Test(pld_vectors, group_e_sampled)
{
    check_group("e_poisson_subsampled", read_sampled, 170, 1e-2);
}

Test(pld_vectors, group_a2_delta_at_epsilon)
{
    json_t *all = vectors_open();
    json_t *list = vectors_group(all, "a2_pure_kfold_delta_at_eps", 8);
    for (size_t i = 0; i < 8; i++) {
        json_t *json = json_array_get(list, i);
        struct interval got = {NAN, NAN};
        struct privacy_event event =
            event_of(MECHANISM_PURE, field(json, "eps0"), field(json, "k"));
        event.neighbours = NEIGHBOURS_ADD_REMOVE;
        double truth = field(json, "delta_tight");
        enum status status = pld_delta(&got, &event, 1, field(json, "eps"));
        cr_assert(status == STATUS_OK);
        cr_expect(got.high >= truth * (1 - 1e-12) && got.high <= truth * (1 + 1e-9));
        cr_expect(got.low <= truth * (1 + 1e-12) && got.low >= truth * (1 - 1e-9));
    }
    json_decref(all);
}

/* Group o: an independent accountant's bracket for four kinds of event. */
Test(pld_vectors, group_o_agrees_with_another_accountant)
{
    json_t *all = vectors_open();
    json_t *list = vectors_group(all, "o_prv_crosscheck", 11);
    for (size_t i = 0; i < 11; i++) {
        json_t *json = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(json, "mechanism"));
        double parameter = 0;
        double q = 1;
        struct interval got = {NAN, NAN};
        const char *equals = strchr(name, '=');
        const char *rate = strstr(name, "q=");
        cr_assert(equals != NULL);
        parameter = strtod(equals + 1, NULL);
        q = rate != NULL ? strtod(rate + 2, NULL) : 1;
        struct privacy_event event = {strstr(name, "laplace") != NULL ? MECHANISM_LAPLACE
                                                                      : MECHANISM_GAUSSIAN,
                                      NEIGHBOURS_ADD_REMOVE,
                                      parameter,
                                      1,
                                      (uint64_t)field(json, "k"),
                                      q,
                                      0};
        enum status status = pld_epsilon(&got, &event, 1, field(json, "delta"));
        cr_assert(status == STATUS_OK);
        cr_expect(got.high >= field(json, "prv_lower") && got.low <= field(json, "prv_upper"), "%s",
                  name);
        cr_expect(fabs(got.high - field(json, "eps_ref")) <= 1e-3 * got.high, "%s: %.9g", name,
                  got.high);
    }
    json_decref(all);
}
