/* account_vectors.h - the known answers of tests/vectors/dp_vectors.json and who judges by them, for the
 * tests of all accountants together. Tolerances are those of dp_vectors.md: an EXACT column may be
 * undercut by 1e-9 and exceeded by 0.1 %, a REF column is met within 3 err_est + 1e-9, at every row. */

#ifndef TESTS_ACCOUNT_VECTORS_H
#define TESTS_ACCOUNT_VECTORS_H

#include "lab/composition/account.h"

#include "closed_vectors.h"

#include <stdbool.h>
#include <string.h>

/* The truth is in [low, high]; the bound may exceed high by this share. */
struct truth {
    double low;
    double high;
    double above;
};

static inline struct truth exact(double value)
{
    return (struct truth){value - 1e-9, value + 1e-9, 1e-3};
}

/* The band of a reference value, and nothing more. */
static inline struct truth reference(const json_t *row)
{
    double slack = 3 * field(row, "err_est") + 1e-9;
    double value = field(row, "eps_ref");
    return (struct truth){value - slack, value + slack, 0};
}

/* The judge. Planted faults below show that it can refuse. */
static inline bool judge(const struct account *account, struct truth truth)
{
    double spare = truth.above > 0 ? 1e-9 : 0;
    return account->high >= truth.low && account->high <= truth.high * (1 + truth.above) + spare &&
           account->low <= truth.high && account->low <= account->high &&
           account->bound[account->best] == account->high;
}

static inline struct account epsilon_of(const struct privacy_event *events, size_t count,
                                        double delta)
{
    struct account account;
    struct why why = {""};
    cr_assert(account_ask(&account, events, count,
                          (struct composition_question){.wants_epsilon = true, .at = delta},
                          &why) == STATUS_OK,
              "%s", why.text);
    return account;
}

static inline struct account delta_of(const struct privacy_event *events, size_t count,
                                      double epsilon)
{
    struct account account;
    struct why why = {""};
    cr_assert(account_ask(&account, events, count, (struct composition_question){.at = epsilon},
                          &why) == STATUS_OK,
              "%s", why.text);
    return account;
}

/* Reads a row whose events are one event. */
typedef void read_row(struct privacy_event *event, struct truth *truth, const json_t *row);

static inline void read_pure(struct privacy_event *event, struct truth *truth, const json_t *row)
{
    *event = event_of(MECHANISM_PURE, field(row, "eps0"), field(row, "k"));
    *truth = exact(field(row, "eps_tight"));
}

static inline void read_laplace(struct privacy_event *event, struct truth *truth, const json_t *row)
{
    *event = event_of(MECHANISM_LAPLACE, field(row, "b"), field(row, "k"));
    *truth = reference(row);
}

/* The adaptive optimum lies above the grid's value; Renyi's curve is within 0.1 % of the column. */
static inline void read_exponential(struct privacy_event *event, struct truth *truth,
                                    const json_t *row)
{
    *event = event_of(MECHANISM_EXPONENTIAL, field(row, "eps0"), field(row, "k"));
    *truth = (struct truth){field(row, "eps_adaptive_dp_grid") * (1 - 1e-4),
                            field(row, "eps_rdp_br") + 1e-9, 1e-3};
}

static inline void read_approximate(struct privacy_event *event, struct truth *truth,
                                    const json_t *row)
{
    read_pure(event, truth, row);
    event->delta = field(row, "delta0");
}

static inline void read_discrete_laplace(struct privacy_event *event, struct truth *truth,
                                         const json_t *row)
{
    *event = event_of(MECHANISM_DISCRETE_LAPLACE, field(row, "b"), field(row, "k"));
    event->sensitivity = field(row, "sensitivity");
    *truth = exact(field(row, "eps_tight"));
}

static inline void read_gaussian(struct privacy_event *event, struct truth *truth,
                                 const json_t *row)
{
    *event = event_of(MECHANISM_GAUSSIAN, field(row, "sigma"), field(row, "k"));
    *truth = exact(field(row, "eps_exact"));
}

static inline void read_discrete_gaussian(struct privacy_event *event, struct truth *truth,
                                          const json_t *row)
{
    *event = event_of(MECHANISM_DISCRETE_GAUSSIAN, field(row, "sigma"), field(row, "k"));
    event->sensitivity = field(row, "sensitivity");
    *truth = exact(field(row, "eps_tight"));
}

static inline void read_sampled(struct privacy_event *event, struct truth *truth, const json_t *row)
{
    bool laplace = strcmp(json_string_value(json_object_get(row, "mechanism")), "laplace") == 0;
    *event = event_of(laplace ? MECHANISM_LAPLACE : MECHANISM_GAUSSIAN, field(row, "param"),
                      field(row, "k"));
    event->sampling = field(row, "q");
    event->neighbours = NEIGHBOURS_ADD_REMOVE;
    *truth = reference(row);
}

enum { EVENTS_MAX = 64 };

/* Reads a row of unequal pure events; returns how many there are. */
static inline size_t read_list(struct privacy_event event[static EVENTS_MAX], const json_t *row)
{
    const json_t *list = json_object_get(row, "eps_list");
    const size_t count = json_array_size(list);
    cr_assert(count <= EVENTS_MAX);
    for (size_t i = 0; i < count; i++) {
        event[i] = event_of(MECHANISM_PURE, json_number_value(json_array_get(list, i)), 1);
    }
    return count;
}

#endif
