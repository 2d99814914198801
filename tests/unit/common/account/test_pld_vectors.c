/* Every row that the accountant of privacy-loss distributions covers. Exact rows: never more than
 * 1e-9 below, at most 0.1 % above, also on the grids for searches; reference rows (an upper
 * bound known up to err_est): at most 0.1 % above, sampled ones 1 %; test_account.c asks whether every
 * one is inside its band as shipped. The lower end never above the truth. */

#include "lab/composition/pld.h"
#include "lab/composition/pld_private.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_MAX = 64 };

struct row {
    struct privacy_event events[EVENTS_MAX];
    size_t count;
    double delta;
    double truth;
    double error; /* 3 err_est */
};

typedef void read_row(struct row *row, json_t *json);

static double number(json_t *json, const char *key)
{
    json_t *value = json_object_get(json, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void start(struct row *row, json_t *json, enum mechanism mechanism, const char *parameter)
{
    double k = number(json, "k");
    *row = (struct row){.count = 1, .delta = number(json, "delta")};
    row->events[0] = (struct privacy_event){
        mechanism, NEIGHBOURS_ADD_REMOVE, number(json, parameter), 1, isnan(k) ? 1 : (uint64_t)k, 1,
        0};
}

static void pure(struct row *row, json_t *json)
{
    double delta0 = number(json, "delta0");
    start(row, json, MECHANISM_PURE, "eps0");
    row->events[0].delta = isnan(delta0) ? 0 : delta0;
    row->truth = number(json, "eps_tight");
}

static void listed(struct row *row, json_t *json)
{
    json_t *list = json_object_get(json, "eps_list");
    start(row, json, MECHANISM_PURE, "delta");
    row->count = json_array_size(list);
    cr_assert(row->count <= EVENTS_MAX);
    for (size_t i = 0; i < row->count; i++) {
        row->events[i] = row->events[0];
        row->events[i].parameter = json_number_value(json_array_get(list, i));
    }
    row->truth = number(json, "eps_tight");
}

static void laplace(struct row *row, json_t *json)
{
    start(row, json, MECHANISM_LAPLACE, "b");
    row->truth = number(json, "eps_ref");
    row->error = 3 * number(json, "err_est");
}

static void discrete_laplace(struct row *row, json_t *json)
{
    start(row, json, MECHANISM_DISCRETE_LAPLACE, "b");
    row->events[0].sensitivity = number(json, "sensitivity");
    row->truth = number(json, "eps_tight");
}

static void gaussian(struct row *row, json_t *json)
{
    start(row, json, MECHANISM_GAUSSIAN, "sigma");
    row->truth = number(json, "eps_exact");
}

static void discrete_gaussian(struct row *row, json_t *json)
{
    start(row, json, MECHANISM_DISCRETE_GAUSSIAN, "sigma");
    row->events[0].sensitivity = number(json, "sensitivity");
    row->truth = number(json, "eps_tight");
}

static void sampled(struct row *row, json_t *json)
{
    const char *name = json_string_value(json_object_get(json, "mechanism"));
    bool is_laplace = strcmp(name, "laplace") == 0;
    start(row, json, is_laplace ? MECHANISM_LAPLACE : MECHANISM_GAUSSIAN, "param");
    row->events[0].sampling = number(json, "q");
    row->truth = number(json, "eps_ref");
    row->error = 3 * number(json, "err_est");
}

static void check_row(const struct row *row, double excess, const char *group, size_t i)
{
    struct interval got = {NAN, NAN};
    enum status status = pld_epsilon_within(&got, row->events, row->count, row->delta,
                                            pld_precision_quick(row->events, row->count));
    cr_assert(status == STATUS_OK);
    cr_expect(got.high >= row->truth - row->error - 1e-9, "%s %zu: high %.12g below %.12g", group,
              i, got.high, row->truth);
    cr_expect(got.high <= row->truth * (1 + excess), "%s %zu: high %.12g above %.12g", group, i,
              got.high, row->truth);
    cr_expect(got.low <= row->truth + row->error + 1e-9, "%s %zu: low %.12g above %.12g", group, i,
              got.low, row->truth);
    cr_expect(got.low >= row->truth * (excess < 0.005 ? 0.95 : 0.7) - row->error,
              "%s %zu: low %.12g far below %.12g", group, i, got.low, row->truth);
}

static void check_group(const char *group, read_row *read, size_t rows, double excess)
{
    json_t *all = json_load_file(TEST_VECTORS "/dp_vectors.json", 0, NULL);
    json_t *list = json_object_get(all, group);
    cr_assert(json_array_size(list) == rows, "%s: %zu rows", group, json_array_size(list));
    for (size_t i = 0; i < rows; i++) {
        struct row row;
        read(&row, json_array_get(list, i));
        cr_assert(row.truth > 0 && row.error >= 0);
        check_row(&row, excess, group, i);
    }
    json_decref(all);
}

Test(pld_vectors, group_a)
{
    check_group("a_pure_kfold", pure, 48, 1e-9);
}

Test(pld_vectors, group_a3_with_deltas_of_their_own)
{
    check_group("a3_approx_kfold", pure, 7, 1e-9);
}

Test(pld_vectors, group_a4_unequal_events)
{
    check_group("a4_heterogeneous_pure", listed, 16, 1e-3);
}

Test(pld_vectors, group_b)
{
    check_group("b_laplace", laplace, 51, 1e-3);
}

Test(pld_vectors, group_c)
{
    check_group("c_discrete_laplace", discrete_laplace, 87, 1e-9);
}

Test(pld_vectors, group_d_gaussian)
{
    check_group("d_gaussian", gaussian, 38, 1e-9);
}

Test(pld_vectors, group_d_discrete_gaussian)
{
    check_group("d_discrete_gaussian", discrete_gaussian, 33, 1e-9);
}

Test(pld_vectors, group_e_sampled)
{
    check_group("e_poisson_subsampled", sampled, 170, 1e-2);
}

Test(pld_vectors, group_a2_delta_at_epsilon)
{
    json_t *all = json_load_file(TEST_VECTORS "/dp_vectors.json", 0, NULL);
    json_t *list = json_object_get(all, "a2_pure_kfold_delta_at_eps");
    cr_assert(json_array_size(list) == 8);
    for (size_t i = 0; i < 8; i++) {
        json_t *json = json_array_get(list, i);
        struct row row;
        struct interval got = {NAN, NAN};
        start(&row, json, MECHANISM_PURE, "eps0");
        double truth = number(json, "delta_tight");
        enum status status = pld_delta(&got, row.events, 1, number(json, "eps"));
        cr_assert(status == STATUS_OK);
        cr_expect(got.high >= truth * (1 - 1e-12) && got.high <= truth * (1 + 1e-9));
        cr_expect(got.low <= truth * (1 + 1e-12) && got.low >= truth * (1 - 1e-9));
    }
    json_decref(all);
}

/* Group o: an independent accountant's bracket for four kinds of event. */
Test(pld_vectors, group_o_agrees_with_another_accountant)
{
    json_t *all = json_load_file(TEST_VECTORS "/dp_vectors.json", 0, NULL);
    json_t *list = json_object_get(all, "o_prv_crosscheck");
    cr_assert(json_array_size(list) == 11);
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
                                      (uint64_t)number(json, "k"),
                                      q,
                                      0};
        enum status status = pld_epsilon(&got, &event, 1, number(json, "delta"));
        cr_assert(status == STATUS_OK);
        cr_expect(got.high >= number(json, "prv_lower") && got.low <= number(json, "prv_upper"),
                  "%s", name);
        cr_expect(fabs(got.high - number(json, "eps_ref")) <= 1e-3 * got.high, "%s: %.9g", name,
                  got.high);
    }
    json_decref(all);
}
