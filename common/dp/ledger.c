/* ledger.c - each allowance is a sum over passes of what the pass costs: the largest charge of it,
 * while its charges are about different rows (parallel composition), the sum of its charges
 * otherwise. Total and job only ever grow, by the difference that a charge makes to its pass, and
 * saturate; so they are the same whatever the order. In the window a pass counts whole on the day
 * of its latest charge: an old charge never hides a new one. Every decision and every allocation
 * precedes the first change. */

#include "dp/ledger.h"

#include "base/check.h"
#include "base/decimal.h"
#include "dp/digest_table.h"
#include "dp/grant_private.h"
#include "dp/row_set.h"
#include "dp/window.h"

#include <stdio.h>
#include <stdlib.h>

/* The same charge in each filter's own units. */
struct costs {
    struct cost in[ALLOWANCE_COUNT];
};

struct pass {
    struct costs largest;
    struct costs total;
    bool repeats; /* some row was paid for twice: the pass costs its total */
    int64_t day;  /* of its latest charge */
    struct digest job;
    struct row_set rows;
};

struct ledger {
    bool limited[ALLOWANCE_COUNT];
    struct filter filter[ALLOWANCE_COUNT];
    struct cost total;
    struct window window;
    struct occasion now;
    struct digest_table pass_name;
    struct pass *pass; /* (pass_name.count) of pass_capacity, owned */
    size_t pass_capacity;
    struct digest_table job_name;
    struct cost *job; /* (job_name.count) what each has spent, of job_capacity, owned */
    size_t job_capacity;
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

/* A charge that is not valid has no event: its numbers are taken as they are. */
static struct costs costs_of(const struct ledger *ledger, const struct charge *charge)
{
    struct costs costs = {0};
    bool valid = charge_is_valid(charge);
    for (size_t i = 0; i < ALLOWANCE_COUNT; i++) {
        struct cost raw = {charge->epsilon_micro, charge->delta_atto,
                           ledger->filter[i].order > 0 ? UINT64_MAX : 0};
        if (ledger->limited[i]) {
            costs.in[i] = valid ? filter_cost(&ledger->filter[i], charge) : raw;
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

static struct pass *pass_find(const struct ledger *ledger, const struct digest *name)
{
    size_t found = digest_table_find(&ledger->pass_name, name);
    return found == DIGEST_NOT_THERE ? NULL : &ledger->pass[found];
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

static struct cost job_spent(const struct ledger *ledger)
{
    size_t found = digest_table_find(&ledger->job_name, &ledger->now.job);
    return found == DIGEST_NOT_THERE ? (struct cost){0} : ledger->job[found];
}

/* What a charge does to its pass, and adds to total and job. */
struct change {
    struct costs before;
    struct costs after;
    struct costs added;
    bool known;   /* there is such a pass */
    bool foreign; /* it is another job's: to this one it is charged in full */
};

static struct change change_by(const struct ledger *ledger, const struct charge *charge)
{
    struct costs costs = costs_of(ledger, charge);
    struct change change = {.after = costs, .added = costs};
    const struct pass *pass = charge_is_valid(charge) ? pass_find(ledger, &charge->pass) : NULL;

    if (pass == NULL) {
        return change;
    }
    struct pass after = pass_after(pass, &costs, charge);
    change.known = true;
    change.foreign = !digest_equal(&pass->job, &ledger->now.job);
    change.before = *pass_costs(pass);
    change.after = *pass_costs(&after);
    for (size_t i = 0; i < ALLOWANCE_COUNT; i++) {
        if (!change.foreign || i != ALLOWANCE_JOB) {
            change.added.in[i] = cost_less(change.after.in[i], change.before.in[i]);
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
static struct cost still_held(const struct ledger *ledger, const struct charge *charge,
                              const struct change *change)
{
    const struct pass *pass = change->known ? pass_find(ledger, &charge->pass) : NULL;
    bool held = pass != NULL && window_holds(&ledger->window, ledger->now.wall_ms, pass->day);
    return held ? change->before.in[ALLOWANCE_WINDOW] : (struct cost){0};
}

/* Adds to every allowance. account has been made. */
static void ledger_add(struct ledger *ledger, struct cost *account, const struct charge *charge,
                       const struct change *change)
{
    ledger->total = cost_add(ledger->total, change->added.in[ALLOWANCE_TOTAL]);
    *account = cost_add(*account, change->added.in[ALLOWANCE_JOB]);
    if (ledger->limited[ALLOWANCE_WINDOW]) {
        const struct pass *pass = change->known ? pass_find(ledger, &charge->pass) : NULL;
        window_advance(&ledger->window, ledger->now.wall_ms);
        if (pass != NULL && window_holds(&ledger->window, ledger->now.wall_ms, pass->day)) {
            window_take(&ledger->window, pass->day, change->before.in[ALLOWANCE_WINDOW]);
        }
        window_put(&ledger->window, change->after.in[ALLOWANCE_WINDOW]);
    }
}

/* Counts a charge in a pass that pass_prepare returned, by the change computed before that. */
static void ledger_count(struct ledger *ledger, struct pass *pass, const struct charge *charge,
                         const struct change *change)
{
    struct costs costs = costs_of(ledger, charge);
    ledger_add(ledger, job_account(ledger), charge, change);
    *pass = pass_after(pass, &costs, charge);
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
        ledger_add(ledger, job_account(ledger), charge, &change);
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
static struct cost sums_after(const struct ledger *ledger, const struct charge *charge,
                              const struct change *change, enum allowance allowance)
{
    switch (allowance) {
    case ALLOWANCE_TOTAL:
        return cost_add(ledger->total, change->added.in[allowance]);
    case ALLOWANCE_JOB:
        return cost_add(job_spent(ledger), change->added.in[allowance]);
    case ALLOWANCE_WINDOW:
        return window_sum(&ledger->window, ledger->now.wall_ms, still_held(ledger, charge, change),
                          change->after.in[allowance]);
    }
    CHECK(false);
    return (struct cost){0};
}

static void price_text(char text[DECIMAL_TEXT_BYTES], uint64_t value, unsigned decimals)
{
    if (value == UINT64_MAX) {
        (void)snprintf(text, DECIMAL_TEXT_BYTES, "without bound");
    } else {
        decimal_format(text, DECIMAL_TEXT_BYTES, value, decimals);
    }
}

static void say_exhausted(const struct ledger *ledger, enum allowance allowance,
                          const struct cost *after, struct why *why)
{
    static const struct {
        const char *name;
        const char *keys;
    } text_of[ALLOWANCE_COUNT] = {
        [ALLOWANCE_TOTAL] = {"the total of these records", "epsilon, delta"},
        [ALLOWANCE_JOB] = {"what one job may cost", "job_epsilon, job_delta"},
        [ALLOWANCE_WINDOW] = {"what so many days may cost",
                              "allowance_days, allowance_epsilon, allowance_delta"}};
    struct balance balance = ledger_balance(ledger, allowance);
    struct cost added = cost_less(*after, balance.spent);
    const struct filter *filter = &balance.filter;
    char text[4][DECIMAL_TEXT_BYTES];
    char share[96] = "";

    price_text(text[0], after->epsilon_micro == UINT64_MAX ? UINT64_MAX : added.epsilon_micro,
               EPSILON_DECIMALS);
    price_text(text[1], added.delta_atto, DELTA_DECIMALS);
    price_text(text[2], less(filter->limit.epsilon_micro, balance.spent.epsilon_micro),
               EPSILON_DECIMALS);
    price_text(text[3], less(filter->own_delta_max, balance.spent.delta_atto), DELTA_DECIMALS);
    if (filter->order > 0) {
        char percent[DECIMAL_TEXT_BYTES];
        price_text(percent, filter_renyi_share(filter, after), 2);
        (void)snprintf(share, sizeof share,
                       ", and its divergence would reach %.24s %% of its bound", percent);
    }
    why_set(why,
            "the answer would cost epsilon %s and delta %s, left are epsilon %s and delta %s of "
            "%s%s: decline the job, or raise it in the policy (%s)",
            text[0], text[1], text[2], text[3], text_of[allowance].name, share,
            text_of[allowance].keys);
}

enum status ledger_check(const struct ledger *ledger, const struct charge *charge, struct why *why)
{
    if (!charge_is_valid(charge)) {
        why_set(why, "this charge has no price, no rows or no pass: nothing was spent");
        return STATUS_INVALID;
    }
    if (charge->neighbours != NEIGHBOURS_REPLACE_ONE) {
        why_set(why,
                "this charge is stated for %s neighbours, the ledger for replace-one: nothing "
                "was spent",
                event_neighbours_name(charge->neighbours));
        return STATUS_INVALID;
    }
    const struct pass *pass = pass_find(ledger, &charge->pass);
    if (pass != NULL && row_set_overlaps(&pass->rows, charge_rows(charge))) {
        why_set(why, "some of these rows were paid for in this pass already: nothing was spent");
        return STATUS_INVALID;
    }
    if (pass != NULL && !digest_equal(&pass->job, &ledger->now.job)) {
        why_set(why, "this pass was begun by another job: nothing was spent");
        return STATUS_INVALID;
    }
    struct change change = change_by(ledger, charge);
    for (unsigned i = 0; i < ALLOWANCE_COUNT; i++) {
        enum allowance allowance = (enum allowance)i;
        if (!ledger->limited[i]) {
            continue;
        }
        struct cost after = sums_after(ledger, charge, &change, allowance);
        if (!filter_admits(&ledger->filter[i], &after)) {
            say_exhausted(ledger, allowance, &after, why);
            return STATUS_EXHAUSTED;
        }
    }
    return STATUS_OK;
}

enum status ledger_spend(struct ledger *ledger, struct grant **grant, const struct charge *charge,
                         struct why *why)
{
    *grant = NULL;
    enum status status = ledger_check(ledger, charge, why);
    if (status != STATUS_OK) {
        return status;
    }
    struct change change = change_by(ledger, charge);
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

struct price ledger_spent(const struct ledger *ledger)
{
    return (struct price){.epsilon_micro = ledger->total.epsilon_micro,
                          .delta_atto = ledger->total.delta_atto};
}

struct price ledger_left(const struct ledger *ledger)
{
    const struct filter *filter = &ledger->filter[ALLOWANCE_TOTAL];
    return (struct price){.epsilon_micro =
                              less(filter->limit.epsilon_micro, ledger->total.epsilon_micro),
                          .delta_atto = less(filter->own_delta_max, ledger->total.delta_atto)};
}

struct price ledger_limit(const struct ledger *ledger)
{
    return ledger->filter[ALLOWANCE_TOTAL].limit;
}

struct balance ledger_balance(const struct ledger *ledger, enum allowance allowance)
{
    struct balance balance = {.limited = ledger->limited[allowance],
                              .filter = ledger->filter[allowance]};
    switch (allowance) {
    case ALLOWANCE_TOTAL:
        balance.spent = ledger->total;
        break;
    case ALLOWANCE_JOB:
        balance.spent = job_spent(ledger);
        break;
    case ALLOWANCE_WINDOW:
        if (balance.limited) {
            balance.spent = window_sum(&ledger->window, ledger->now.wall_ms, (struct cost){0},
                                       (struct cost){0});
        }
        break;
    }
    return balance;
}

size_t ledger_job_count(const struct ledger *ledger)
{
    return ledger->job_name.count;
}

struct balance ledger_job(const struct ledger *ledger, size_t index, struct digest *job)
{
    CHECK(index < ledger->job_name.count);
    *job = ledger->job_name.name[index];
    return (struct balance){.limited = ledger->limited[ALLOWANCE_JOB],
                            .filter = ledger->filter[ALLOWANCE_JOB],
                            .spent = ledger->job[index]};
}

void grant_free(struct grant *grant)
{
    free(grant);
}

const struct charge *grant_charge(const struct grant *grant)
{
    CHECK(grant != NULL);
    return &grant->charge;
}
