/* ledger.c - the balance is a sum over passes of what each pass costs: the largest charge of it,
 * while its charges are about different rows (parallel composition), the sum of its charges
 * otherwise. The running total only ever grows, by the difference that a charge makes to its pass,
 * and saturates; so it is the same whatever the order. Every decision and every allocation precedes
 * the first change. */

#include "dp/ledger.h"

#include "base/check.h"
#include "base/decimal.h"
#include "dp/grant_private.h"
#include "dp/row_set.h"
#include "base/wide.h"

#include <stdlib.h>

struct pass {
    struct digest name;
    struct price largest;
    struct price total;
    bool repeats; /* some row was paid for twice: the pass costs its total */
    struct row_set rows;
};

/* slot is a hash table of positions in pass, plus one; at most half of it is taken. */
struct ledger {
    struct price limit;
    struct price spent;
    struct pass *pass; /* (pass_count) */
    size_t pass_count;
    size_t pass_capacity;
    size_t *slot; /* (slot_count), a power of two, 2 * pass_capacity */
    size_t slot_count;
};

enum { PASSES_AT_FIRST = 16 };

static struct price price_add(struct price a, struct price b)
{
    return (struct price){.epsilon_micro = saturating_add(a.epsilon_micro, b.epsilon_micro),
                          .delta_atto = saturating_add(a.delta_atto, b.delta_atto)};
}

static struct price price_max(struct price a, struct price b)
{
    return (struct price){.epsilon_micro =
                              a.epsilon_micro > b.epsilon_micro ? a.epsilon_micro : b.epsilon_micro,
                          .delta_atto = a.delta_atto > b.delta_atto ? a.delta_atto : b.delta_atto};
}

/* What is left of a after b, never below nothing. */
static struct price price_less(struct price a, struct price b)
{
    return (struct price){
        .epsilon_micro = a.epsilon_micro > b.epsilon_micro ? a.epsilon_micro - b.epsilon_micro : 0,
        .delta_atto = a.delta_atto > b.delta_atto ? a.delta_atto - b.delta_atto : 0};
}

static bool price_within(struct price a, struct price b)
{
    return a.epsilon_micro <= b.epsilon_micro && a.delta_atto <= b.delta_atto;
}

static struct price charge_price(const struct charge *charge)
{
    return (struct price){.epsilon_micro = charge->epsilon_micro, .delta_atto = charge->delta_atto};
}

static struct row_range charge_rows(const struct charge *charge)
{
    return (struct row_range){.first = charge->row_first,
                              .end = charge->row_first + charge->row_count};
}

static struct price pass_cost(const struct pass *pass)
{
    return pass->repeats ? pass->total : pass->largest;
}

/* What pass would hold after this charge, but for its rows. */
static struct pass pass_after(const struct pass *pass, const struct charge *charge)
{
    struct pass after = *pass;
    struct price price = charge_price(charge);
    after.largest = price_max(after.largest, price);
    after.total = price_add(after.total, price);
    after.repeats = after.repeats || row_set_overlaps(&pass->rows, charge_rows(charge));
    return after;
}

struct ledger *ledger_new(struct price limit)
{
    struct ledger *ledger = calloc(1, sizeof *ledger);
    if (ledger != NULL) {
        ledger->limit = limit;
    }
    return ledger;
}

void ledger_free(struct ledger *ledger)
{
    if (ledger == NULL) {
        return;
    }
    for (size_t i = 0; i < ledger->pass_count; i++) {
        row_set_free(&ledger->pass[i].rows);
    }
    free(ledger->pass);
    free(ledger->slot);
    free(ledger);
}

/* Returns the slot that holds the pass of this name, or the free one where it belongs. */
static size_t slot_find(const struct ledger *ledger, const size_t *slot, size_t slot_count,
                        const struct digest *name)
{
    size_t at = (size_t)load_u64(name->byte) & (slot_count - 1);
    while (slot[at] != 0 && !digest_equal(&ledger->pass[slot[at] - 1].name, name)) {
        at = (at + 1) & (slot_count - 1);
    }
    return at;
}

static struct pass *pass_find(const struct ledger *ledger, const struct digest *name)
{
    if (ledger->slot_count == 0) {
        return NULL;
    }
    size_t found = ledger->slot[slot_find(ledger, ledger->slot, ledger->slot_count, name)];
    return found == 0 ? NULL : &ledger->pass[found - 1];
}

static enum status ledger_grow(struct ledger *ledger)
{
    size_t capacity = ledger->pass_capacity == 0 ? PASSES_AT_FIRST : 2 * ledger->pass_capacity;
    if (ledger->pass_count < ledger->pass_capacity) {
        return STATUS_OK;
    }
    if (capacity > SIZE_MAX / 2 / sizeof *ledger->pass) {
        return STATUS_NO_MEMORY;
    }
    struct pass *pass = realloc(ledger->pass, capacity * sizeof *pass);
    if (pass == NULL) {
        return STATUS_NO_MEMORY;
    }
    ledger->pass = pass; /* larger than pass_capacity says, which is harmless */
    size_t *slot = calloc(2 * capacity, sizeof *slot);
    if (slot == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < ledger->pass_count; i++) {
        slot[slot_find(ledger, slot, 2 * capacity, &pass[i].name)] = i + 1;
    }
    free(ledger->slot);
    ledger->slot = slot;
    ledger->slot_count = 2 * capacity;
    ledger->pass_capacity = capacity;
    return STATUS_OK;
}

/* Returns the pass of this name with room for one more range, made when it is new; NULL without
 * memory. A new pass costs nothing yet. */
static struct pass *pass_prepare(struct ledger *ledger, const struct digest *name)
{
    struct pass *pass = pass_find(ledger, name);
    if (pass != NULL) {
        return row_set_reserve(&pass->rows) == STATUS_OK ? pass : NULL;
    }
    struct pass fresh = {.name = *name};
    if (ledger_grow(ledger) != STATUS_OK || row_set_reserve(&fresh.rows) != STATUS_OK) {
        return NULL;
    }
    ledger->slot[slot_find(ledger, ledger->slot, ledger->slot_count, name)] =
        ledger->pass_count + 1;
    pass = &ledger->pass[ledger->pass_count++];
    *pass = fresh;
    return pass;
}

struct price ledger_would_cost(const struct ledger *ledger, const struct charge *charge)
{
    if (!charge_is_valid(charge)) {
        return charge_price(charge);
    }
    const struct pass *pass = pass_find(ledger, &charge->pass);
    if (pass == NULL) {
        return charge_price(charge);
    }
    struct pass after = pass_after(pass, charge);
    return price_less(pass_cost(&after), pass_cost(pass));
}

/* Counts a charge in a pass that pass_prepare returned. */
static void ledger_count(struct ledger *ledger, struct pass *pass, const struct charge *charge)
{
    ledger->spent = price_add(ledger->spent, ledger_would_cost(ledger, charge));
    *pass = pass_after(pass, charge);
    row_set_add(&pass->rows, charge_rows(charge));
}

enum status ledger_restore(struct ledger *ledger, const struct charge *charge)
{
    if (!charge_is_valid(charge)) {
        ledger->spent = price_add(ledger->spent, charge_price(charge));
        return STATUS_OK;
    }
    struct pass *pass = pass_prepare(ledger, &charge->pass);
    if (pass == NULL) {
        return STATUS_NO_MEMORY;
    }
    ledger_count(ledger, pass, charge);
    return STATUS_OK;
}

/* Decides, and says why not; changes nothing. */
static enum status ledger_decide(const struct ledger *ledger, const struct charge *charge,
                                 struct why *why)
{
    if (!charge_is_valid(charge)) {
        why_set(why, "this charge has no price, no rows or no pass: nothing was spent");
        return STATUS_INVALID;
    }
    const struct pass *pass = pass_find(ledger, &charge->pass);
    if (pass != NULL && row_set_overlaps(&pass->rows, charge_rows(charge))) {
        why_set(why, "some of these rows were paid for in this pass already: nothing was spent");
        return STATUS_INVALID;
    }
    struct price cost = ledger_would_cost(ledger, charge);
    struct price left = ledger_left(ledger);
    if (price_within(ledger->spent, ledger->limit) && price_within(cost, left)) {
        return STATUS_OK;
    }
    char text[4][DECIMAL_TEXT_BYTES];
    decimal_format(text[0], sizeof text[0], cost.epsilon_micro, EPSILON_DECIMALS);
    decimal_format(text[1], sizeof text[1], cost.delta_atto, DELTA_DECIMALS);
    decimal_format(text[2], sizeof text[2], left.epsilon_micro, EPSILON_DECIMALS);
    decimal_format(text[3], sizeof text[3], left.delta_atto, DELTA_DECIMALS);
    why_set(why,
            "the answer would cost epsilon %s and delta %s, left are epsilon %s and delta %s: "
            "decline the job, or raise the total in the policy",
            text[0], text[1], text[2], text[3]);
    return STATUS_EXHAUSTED;
}

enum status ledger_spend(struct ledger *ledger, struct grant **grant, const struct charge *charge,
                         struct why *why)
{
    *grant = NULL;
    enum status status = ledger_decide(ledger, charge, why);
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
    ledger_count(ledger, pass, charge);
    made->charge = *charge;
    *grant = made;
    return STATUS_OK;
}

struct price ledger_spent(const struct ledger *ledger)
{
    return ledger->spent;
}

struct price ledger_left(const struct ledger *ledger)
{
    return price_less(ledger->limit, ledger->spent);
}

struct price ledger_limit(const struct ledger *ledger)
{
    return ledger->limit;
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
