/* ledger.c - each allowance is a sum over passes of what the pass costs: the largest charge of it,
 * while its charges are about different rows (parallel composition), the sum of its charges
 * otherwise. Total and job only ever grow, by the difference that a charge makes to its pass, and
 * saturate; so they are the same whatever the order. In the window a pass counts whole on the day
 * of its latest charge: an old charge never hides a new one. Every decision and every allocation
 * precedes the first change. */

#include "base/check.h"
#include "dp/ledger_private.h"

#include <stdlib.h>

struct grant {
    struct charge charge;
};

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static struct cost cost_less(struct cost a, struct cost b)
{
    return (struct cost){less(a.epsilon_micro, b.epsilon_micro), less(a.delta_atto, b.delta_atto),
                         less(a.renyi_nano, b.renyi_nano)};
}

static struct row_range charge_rows(const struct charge *charge)
{
    return (struct row_range){.first = charge->row_first,
                              .end = charge->row_first + charge->row_count};
}

/* A charge that is not valid has no event, and so no bound. */
static struct costs costs_of(const struct ledger *ledger, const struct charge *charge)
{
    const struct cost unbounded = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    struct costs costs = {0};
    bool valid = charge_is_valid(charge);
    for (size_t i = 0; i < ALLOWANCE_COUNT; i++) {
        if (ledger->limited[i]) {
            costs.in[i] = valid ? filter_cost(&ledger->filter[i], charge) : unbounded;
        }
    }
    if (!ledger->limited[ALLOWANCE_JOB]) {
        costs.in[ALLOWANCE_JOB] = costs.in[ALLOWANCE_TOTAL];
    }
    return costs;
}

static const struct costs *pass_costs(const struct pass *pass)
{
    return pass->repeats ? &pass->total : &pass->largest;
}

/* What pass would hold after this charge, but for its rows. */
static struct pass pass_after(const struct pass *pass, const struct costs *costs,
                              const struct charge *charge)
{
    struct pass after = *pass;
    for (size_t i = 0; i < ALLOWANCE_COUNT; i++) {
        after.largest.in[i] = cost_max(after.largest.in[i], costs->in[i]);
        after.total.in[i] = cost_add(after.total.in[i], costs->in[i]);
    }
    after.repeats = after.repeats || row_set_overlaps(&pass->rows, charge_rows(charge));
    return after;
}

struct ledger *ledger_open(const struct allowances *allowances)
{
    struct ledger *ledger = calloc(1, sizeof *ledger);
    if (ledger == NULL) {
        return NULL;
    }
    ledger->limited[ALLOWANCE_TOTAL] = true;
    ledger->limited[ALLOWANCE_JOB] = allowances->job.epsilon_micro > 0;
    ledger->limited[ALLOWANCE_WINDOW] = allowances->window_days > 0;
    ledger->filter[ALLOWANCE_TOTAL] = filter_new(allowances->total);
    /* Without an allowance of its own a job is still counted, by the total's measure. */
    ledger->filter[ALLOWANCE_JOB] = ledger->limited[ALLOWANCE_JOB]
                                        ? filter_new(allowances->job)
                                        : ledger->filter[ALLOWANCE_TOTAL];
    if (ledger->limited[ALLOWANCE_WINDOW]) {
        ledger->filter[ALLOWANCE_WINDOW] = filter_new(allowances->window);
        if (window_new(&ledger->window, allowances->window_days) != STATUS_OK) {
            free(ledger);
            return NULL;
        }
    }
    return ledger;
}

struct ledger *ledger_new(struct price limit)
{
    return ledger_open(&(struct allowances){.total = limit});
}

void ledger_free(struct ledger *ledger)
{
    if (ledger == NULL) {
        return;
    }
    for (size_t i = 0; i < ledger->pass_name.count; i++) {
        row_set_free(&ledger->pass[i].rows);
    }
    digest_table_free(&ledger->pass_name);
    digest_table_free(&ledger->job_name);
    window_free(&ledger->window);
    free(ledger->pass);
    free(ledger->job);
    free(ledger);
}

void ledger_at(struct ledger *ledger, const struct occasion *occasion)
{
    ledger->now = *occasion;
}

/* Makes room for one more pass and one more job. */
static enum status ledger_reserve(struct ledger *ledger)
{
    if (digest_table_reserve(&ledger->pass_name) != STATUS_OK ||
        digest_table_reserve(&ledger->job_name) != STATUS_OK) {
        return STATUS_NO_MEMORY;
    }
    if (ledger->pass_capacity < ledger->pass_name.capacity) {
        size_t capacity = ledger->pass_name.capacity;
        struct pass *pass = capacity > SIZE_MAX / sizeof *pass
                                ? NULL
                                : realloc(ledger->pass, capacity * sizeof *pass);
        if (pass == NULL) {
            return STATUS_NO_MEMORY;
        }
        ledger->pass = pass;
        ledger->pass_capacity = capacity;
    }
    if (ledger->job_capacity < ledger->job_name.capacity) {
        size_t capacity = ledger->job_name.capacity;
        struct cost *job = realloc(ledger->job, capacity * sizeof *job);
        if (job == NULL) {
            return STATUS_NO_MEMORY;
        }
        ledger->job = job;
        ledger->job_capacity = capacity;
    }
    return STATUS_OK;
}

/* Returns the pass of this name with room for one more range, made when it is new, and sees that
 * the job of now has an account; NULL without memory. New ones cost nothing yet. */
static struct pass *pass_prepare(struct ledger *ledger, const struct digest *name)
{
    struct pass fresh = {.job = ledger->now.job};
    size_t found = digest_table_find(&ledger->pass_name, name);

    if (ledger_reserve(ledger) != STATUS_OK) {
        return NULL;
    }
    struct row_set *rows = found == DIGEST_NOT_THERE ? &fresh.rows : &ledger->pass[found].rows;
    if (row_set_reserve(rows) != STATUS_OK) {
        return NULL;
    }
    if (found == DIGEST_NOT_THERE) {
        found = digest_table_add(&ledger->pass_name, name);
        ledger->pass[found] = fresh;
    }
    return &ledger->pass[found];
}

/* The job of now, made when it is new, where there is room for one more. */
static struct cost *job_account(struct ledger *ledger)
{
    size_t found = digest_table_find(&ledger->job_name, &ledger->now.job);
    if (found == DIGEST_NOT_THERE) {
        found = digest_table_add(&ledger->job_name, &ledger->now.job);
        ledger->job[found] = (struct cost){0};
    }
    return &ledger->job[found];
}

/* What a charge does to its pass, and adds to total and job: computed once, before anything changes. */
struct change {
    size_t pass;       /* its number; DIGEST_NOT_THERE: it is new, or the charge is not valid */
    struct pass after; /* but for its rows and its day */
    struct costs before;
    struct costs added;
};

static struct change change_by(const struct ledger *ledger, const struct charge *charge)
{
    const struct pass fresh = {.job = ledger->now.job};
    const struct costs costs = costs_of(ledger, charge);
    struct change change = {.pass = DIGEST_NOT_THERE, .added = costs};
    if (charge_is_valid(charge)) {
        change.pass = digest_table_find(&ledger->pass_name, &charge->pass);
    }
    if (change.pass == DIGEST_NOT_THERE) {
        change.after = pass_after(&fresh, &costs, charge);
        return change;
    }
    const struct pass *pass = &ledger->pass[change.pass];
    const bool foreign = !digest_equal(&pass->job, &ledger->now.job);
    change.after = pass_after(pass, &costs, charge);
    change.before = *pass_costs(pass);
    for (size_t i = 0; i < ALLOWANCE_COUNT; i++) {
        if (!foreign || i != ALLOWANCE_JOB) { /* to another job the pass is charged in full */
            change.added.in[i] = cost_less(pass_costs(&change.after)->in[i], change.before.in[i]);
        }
    }
    return change;
}

struct price ledger_would_cost(const struct ledger *ledger, const struct charge *charge)
{
    struct change change = change_by(ledger, charge);
    const struct cost *added = &change.added.in[ALLOWANCE_TOTAL];
    return (struct price){.epsilon_micro = added->epsilon_micro, .delta_atto = added->delta_atto};
}

/* What of the pass's cost before the charge is in the window. */
static struct cost still_held(const struct ledger *ledger, const struct change *change)
{
    const bool held =
        change->pass != DIGEST_NOT_THERE &&
        window_holds(&ledger->window, ledger->now.wall_ms, ledger->pass[change->pass].day);
    return held ? change->before.in[ALLOWANCE_WINDOW] : (struct cost){0};
}

/* Adds to every allowance. account has been made. */
static void ledger_add(struct ledger *ledger, struct cost *account, const struct change *change)
{
    ledger->total = cost_add(ledger->total, change->added.in[ALLOWANCE_TOTAL]);
    *account = cost_add(*account, change->added.in[ALLOWANCE_JOB]);
    if (ledger->limited[ALLOWANCE_WINDOW]) {
        window_advance(&ledger->window, ledger->now.wall_ms);
        if (change->pass != DIGEST_NOT_THERE &&
            window_holds(&ledger->window, ledger->now.wall_ms, ledger->pass[change->pass].day)) {
            window_take(&ledger->window, ledger->pass[change->pass].day,
                        change->before.in[ALLOWANCE_WINDOW]);
        }
        window_put(&ledger->window, pass_costs(&change->after)->in[ALLOWANCE_WINDOW]);
    }
}

/* Counts a charge in a pass that pass_prepare returned, by the change computed before that. */
static void ledger_count(struct ledger *ledger, struct pass *pass, const struct charge *charge,
                         const struct change *change)
{
    const struct row_set rows = pass->rows; /* pass_prepare may have moved them */
    ledger_add(ledger, job_account(ledger), change);
    *pass = change->after;
    pass->rows = rows;
    pass->day = ledger->window.today;
    row_set_add(&pass->rows, charge_rows(charge));
}

enum status ledger_restore(struct ledger *ledger, const struct charge *charge)
{
    struct change change = change_by(ledger, charge);
    if (!charge_is_valid(charge)) {
        if (ledger_reserve(ledger) != STATUS_OK) {
            return STATUS_NO_MEMORY;
        }
        ledger_add(ledger, job_account(ledger), &change);
        return STATUS_OK;
    }
    struct pass *pass = pass_prepare(ledger, &charge->pass);
    if (pass == NULL) {
        return STATUS_NO_MEMORY;
    }
    ledger_count(ledger, pass, charge, &change);
    return STATUS_OK;
}

/* The sums of one allowance if this change came. */
static struct cost sums_after(const struct ledger *ledger, const struct change *change,
                              enum allowance allowance)
{
    switch (allowance) {
    case ALLOWANCE_TOTAL:
        return cost_add(ledger->total, change->added.in[allowance]);
    case ALLOWANCE_JOB:
        return cost_add(ledger_job_spent(ledger), change->added.in[allowance]);
    case ALLOWANCE_WINDOW:
        return window_sum(&ledger->window, ledger->now.wall_ms, still_held(ledger, change),
                          pass_costs(&change->after)->in[allowance]);
    }
    CHECK(false);
    return (struct cost){0};
}

/* Decides, and computes the change for the caller that counts it. */
static enum status decide(struct change *change, const struct ledger *ledger,
                          const struct charge *charge, struct why *why)
{
    if (!charge_is_valid(charge)) {
        return why_refuse(why, "this charge has no price, no rows or no pass: nothing was spent");
    }
    if (charge->neighbours != NEIGHBOURS_REPLACE_ONE) {
        return why_refuse(
            why,
            "this charge is stated for %s neighbours, the ledger for replace-one: nothing "
            "was spent",
            event_neighbours_name(charge->neighbours));
    }
    *change = change_by(ledger, charge);
    const struct pass *pass = change->pass == DIGEST_NOT_THERE ? NULL : &ledger->pass[change->pass];
    if (pass != NULL && row_set_overlaps(&pass->rows, charge_rows(charge))) {
        return why_refuse(
            why, "some of these rows were paid for in this pass already: nothing was spent");
    }
    if (pass != NULL && !digest_equal(&pass->job, &ledger->now.job)) {
        return why_refuse(why, "this pass was begun by another job: nothing was spent");
    }
    for (unsigned i = 0; i < ALLOWANCE_COUNT; i++) {
        enum allowance allowance = (enum allowance)i;
        if (!ledger->limited[i]) {
            continue;
        }
        struct cost after = sums_after(ledger, change, allowance);
        if (!filter_admits(&ledger->filter[i], &after)) {
            ledger_say_exhausted(ledger, allowance, &after, why);
            return STATUS_EXHAUSTED;
        }
    }
    return STATUS_OK;
}

enum status ledger_check(const struct ledger *ledger, const struct charge *charge, struct why *why)
{
    struct change change;
    return decide(&change, ledger, charge, why);
}

enum status ledger_spend(struct ledger *ledger, struct grant **grant, const struct charge *charge,
                         struct why *why)
{
    struct change change = {.pass = DIGEST_NOT_THERE};
    *grant = NULL;
    enum status status = decide(&change, ledger, charge, why);
    if (status != STATUS_OK) {
        return status;
    }
    struct grant *made = malloc(sizeof *made);
    struct pass *pass = made == NULL ? NULL : pass_prepare(ledger, &charge->pass);
    if (pass == NULL) {
        why_set(why, "there is no memory to count this charge: nothing was spent");
        free(made);
        return STATUS_NO_MEMORY;
    }
    ledger_count(ledger, pass, charge, &change);
    made->charge = *charge;
    *grant = made;
    return STATUS_OK;
}

void grant_free(struct grant *grant)
{
    free(grant);
}

struct charge grant_use_up(struct grant **grant)
{
    CHECK(grant != NULL && *grant != NULL);
    const struct charge charge = (*grant)->charge;
    grant_free(*grant);
    *grant = NULL;
    return charge;
}

const struct charge *grant_charge(const struct grant *grant)
{
    CHECK(grant != NULL);
    return &grant->charge;
}
