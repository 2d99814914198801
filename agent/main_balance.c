/* Balances and events for people and for programs. Beside each limit stand the sums that the
 * ledger's filter compares, and the odometer: what has been spent so far, a statement that holds at
 * any time and for charges that were chosen one after another. The accountants' figure for the list
 * as it is holds only if the list had been fixed in advance, and says so. */

#include "agent/main_balance.h"

#include "account/pure.h"
#include "account/renyi.h"
#include "base/check.h"
#include "base/decimal.h"
#include "base/text.h"
#include "json/json_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ledger_found_free(struct ledger_found *found)
{
    ledger_free(found->ledger);
    digest_table_free(&found->job);
    digest_table_free(&found->text);
    free(found->job_text);
    free(found->known);
    free(found->event);
    memset(found, 0, sizeof *found);
}

const char *ledger_found_job_name(const struct ledger_found *found, const struct digest *job)
{
    size_t at = digest_table_find(&found->job, job);
    return at == DIGEST_NOT_THERE ? "" : found->known[found->job_text[at]].name;
}

/* Makes room for one more job and one more text. */
static enum status reserve(struct ledger_found *found)
{
    size_t jobs = found->job.capacity;
    size_t texts = found->text.capacity;

    if (digest_table_reserve(&found->job) != STATUS_OK ||
        digest_table_reserve(&found->text) != STATUS_OK) {
        return STATUS_NO_MEMORY;
    }
    if (found->job.capacity != jobs) {
        size_t *grown = realloc(found->job_text, found->job.capacity * sizeof *grown);
        if (grown == NULL) {
            return STATUS_NO_MEMORY;
        }
        found->job_text = grown;
    }
    if (found->text.capacity != texts) {
        struct known_text *grown = realloc(found->known, found->text.capacity * sizeof *grown);
        if (grown == NULL) {
            return STATUS_NO_MEMORY;
        }
        found->known = grown;
    }
    return STATUS_OK;
}

enum status ledger_found_job(struct ledger_found *found, const struct job_name *name,
                             struct slice text)
{
    struct job job;

    if (reserve(found) != STATUS_OK) {
        return STATUS_NO_MEMORY;
    }
    CHECK(found->known != NULL && found->job_text != NULL);
    size_t at = digest_table_find(&found->text, &name->text_digest);
    if (at == DIGEST_NOT_THERE) {
        at = digest_table_add(&found->text, &name->text_digest);
        found->known[at].name[0] = '\0';
    }
    if (digest_table_find(&found->job, &name->id) == DIGEST_NOT_THERE) {
        found->job_text[digest_table_add(&found->job, &name->id)] = at;
    }
    if (found->known[at].name[0] == '\0' && text.size > 0 &&
        job_parse(&job, text, "the journal's job", NULL) == STATUS_OK) {
        (void)snprintf(found->known[at].name, JOB_NAME_BYTES, "%s", job.name);
        job_free(&job);
    }
    return STATUS_OK;
}

/* Answers of one pass follow each other in the order of their rows: the same event on rows that come
 * after those of the answer before is about other records, and paid for by it. */
static bool is_paid(const struct ledger_found *found, const struct charge *charge)
{
    const struct charge *latest = &found->latest;
    return found->event_count > 0 && digest_equal(&charge->pass, &latest->pass) &&
           charge_same_event(charge, latest) &&
           charge->row_first >= latest->row_first + latest->row_count;
}

enum status ledger_found_event(struct ledger_found *found, const struct charge *charge)
{
    struct privacy_event event = charge_event(charge);
    struct privacy_event *last =
        found->event_count > 0 ? &found->event[found->event_count - 1] : NULL;

    if (is_paid(found, charge)) {
        found->latest = *charge;
        return STATUS_OK;
    }
    if (last != NULL && charge_same_event(charge, &found->latest) &&
        last->count <= CHARGE_COUNT_MAX - event.count) {
        last->count += event.count;
        found->latest = *charge;
        return STATUS_OK;
    }
    if ((found->event_count & (found->event_count - 1)) == 0) { /* full at every power of two */
        size_t capacity = found->event_count == 0 ? 1 : 2 * found->event_count;
        struct privacy_event *grown = realloc(found->event, capacity * sizeof *grown);
        if (grown == NULL) {
            return STATUS_NO_MEMORY;
        }
        found->event = grown;
    }
    CHECK(found->event != NULL);
    found->event[found->event_count++] = event;
    found->latest = *charge;
    return STATUS_OK;
}

static bool is_gaussian(const struct charge *charge)
{
    return charge->epsilon_micro == 0;
}

static const char *amount_name(const struct charge *charge)
{
    if (charge->mechanism == MECHANISM_EXPONENTIAL) {
        return "range"; /* of the log-likelihood of a draw: at most a pure epsilon, and cheaper */
    }
    return is_gaussian(charge) ? "sigma" : "epsilon";
}

void event_text(char *text, size_t text_bytes, const struct charge *charge)
{
    char amount[DECIMAL_TEXT_BYTES];
    char rate[DECIMAL_TEXT_BYTES];

    decimal_format(amount, sizeof amount,
                   is_gaussian(charge) ? charge->sigma_micro : charge->epsilon_micro,
                   EPSILON_DECIMALS);
    (void)snprintf(text, text_bytes, "%s %s %s", event_mechanism_name(charge->mechanism),
                   amount_name(charge), amount);
    if (charge_count(charge) > 1) {
        text_add(text, text_bytes, ", %" PRIu64 " times", charge_count(charge));
    }
    if (charge_sampling_nano(charge) < SAMPLING_NANO_ONE) {
        decimal_format(rate, sizeof rate, charge_sampling_nano(charge), SAMPLING_DECIMALS);
        text_add(text, text_bytes, ", sampled %s", rate);
    }
}

json_t *event_json(const struct charge *charge)
{
    double amount =
        (double)(is_gaussian(charge) ? charge->sigma_micro : charge->epsilon_micro) * 1e-6;
    return json_pack(
        "{s:s, s:s, s:f, s:I, s:f, s:f}", "mechanism", event_mechanism_name(charge->mechanism),
        "neighbours", event_neighbours_name(charge->neighbours),
        is_gaussian(charge) ? "sigma" : "epsilon", amount, "count",
        (json_int_t)charge_count(charge), "sampling", (double)charge_sampling_nano(charge) * 1e-9,
        "delta", (double)charge->delta_atto * 1e-18);
}

static double least(double a, double b)
{
    return isnan(b) || a < b ? a : b;
}

static bool are_replace_one(const struct ledger_found *found)
{
    for (size_t i = 0; i < found->event_count; i++) {
        if (found->event[i].neighbours != NEIGHBOURS_REPLACE_ONE) {
            return false;
        }
    }
    return true;
}

/* NAN where nothing can be said, or nothing better than the sum. */
static double fixed_epsilon(const struct ledger_found *found)
{
    double delta = (double)found->policy->delta_atto * 1e-18;
    struct interval optimal = {NAN, NAN};
    double epsilon = INFINITY;

    if (found->event_count == 0 || !(delta > 0) || !are_replace_one(found)) {
        return NAN;
    }
    epsilon = least(epsilon, basic_epsilon(found->event, found->event_count, delta));
    epsilon = least(epsilon, zcdp_epsilon(found->event, found->event_count, delta));
    epsilon = least(epsilon, renyi_epsilon(found->event, found->event_count, delta));
    if (optimal_epsilon(&optimal, found->event, found->event_count, delta) == STATUS_OK) {
        epsilon = least(epsilon, optimal.high);
    }
    return isfinite(epsilon) ? epsilon : NAN;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static struct price left_of(const struct balance *balance)
{
    return (struct price){less(balance->filter.limit.epsilon_micro, balance->spent.epsilon_micro),
                          less(balance->filter.own_delta_max, balance->spent.delta_atto)};
}

static struct price spent_of(const struct balance *balance)
{
    return (struct price){balance->spent.epsilon_micro, balance->spent.delta_atto};
}

void site_price_text(char text[static SITE_PRICE_BYTES], struct price price)
{
    char epsilon[DECIMAL_TEXT_BYTES];
    char delta[DECIMAL_TEXT_BYTES];
    decimal_format(epsilon, sizeof epsilon, price.epsilon_micro, EPSILON_DECIMALS);
    decimal_format(delta, sizeof delta, price.delta_atto, DELTA_DECIMALS);
    (void)snprintf(text, SITE_PRICE_BYTES, "epsilon %s, delta %s",
                   price.epsilon_micro == UINT64_MAX ? "without bound" : epsilon, delta);
}

/* After Gaussian noise no pure epsilon is left, and none is needed: the divergence counts. */
static void left_text(char text[static SITE_PRICE_BYTES], const struct balance *balance)
{
    const struct price left = left_of(balance);
    char delta[DECIMAL_TEXT_BYTES];
    site_price_text(text, left);
    if (balance->spent.epsilon_micro == UINT64_MAX) {
        decimal_format(delta, sizeof delta, left.delta_atto, DELTA_DECIMALS);
        (void)snprintf(text, SITE_PRICE_BYTES, "what the divergence leaves, delta %s", delta);
    }
}

static void print_limit(const struct balance *balance)
{
    char limit[SITE_PRICE_BYTES];
    char spent[SITE_PRICE_BYTES];
    char left[SITE_PRICE_BYTES];
    site_price_text(limit, balance->filter.limit);
    site_price_text(spent, spent_of(balance));
    left_text(left, balance);
    (void)printf("limit  %s\nspent  %s\nleft   %s\n", limit, spent, left);
}

/* The epsilon of all charges at a time that was fixed beforehand, such as a job's end, at the
 * limit's delta. The pure sum if it is less: it needs no delta except the charges' own. */
static struct price at_end(const struct balance *balance)
{
    const uint64_t converted = filter_epsilon(&balance->filter, &balance->spent);
    return converted < balance->spent.epsilon_micro
               ? (struct price){converted, balance->filter.limit.delta_atto}
               : spent_of(balance);
}

static void print_odometer(const struct balance *balance)
{
    char text[SITE_PRICE_BYTES];
    struct price now = {filter_odometer(&balance->filter, &balance->spent),
                        balance->filter.limit.delta_atto};
    uint64_t share = filter_renyi_share(&balance->filter, &balance->spent);

    if (balance->filter.order == 0) {
        return; /* the sum is all there is to say */
    }
    site_price_text(text, at_end(balance));
    text_wrap(stdout, 0, 7,
              "       at this moment %s, had one fixed it beforehand, as a job's end is;", text);
    site_price_text(text, now);
    text_wrap(stdout, 0, 7, "       by now %s, at any time and however the charges were chosen;",
              text);
    (void)printf("       %" PRIu64 ".%02" PRIu64 " %% of the divergence of order %.4g is spent\n",
                 share / 100, share % 100, balance->filter.order);
}

static void print_job(const struct ledger_found *found, size_t index)
{
    struct digest id;
    struct balance balance = ledger_job(found->ledger, index, &id);
    char hex[2 * DIGEST_BYTES + 1];
    char spent[SITE_PRICE_BYTES];
    char left[SITE_PRICE_BYTES];
    const char *name = ledger_found_job_name(found, &id);

    hex_encode(hex, id.byte, DIGEST_BYTES);
    site_price_text(spent, spent_of(&balance));
    left_text(left, &balance);
    text_wrap(stdout, 0, 7, "job    %-24.24s spent %s%s%s", name[0] != '\0' ? name : hex, spent,
              balance.limited ? "; left " : "", balance.limited ? left : "");
}

void balance_print(const struct ledger_found *found)
{
    struct balance total = ledger_balance(found->ledger, ALLOWANCE_TOTAL);
    struct balance window = ledger_balance(found->ledger, ALLOWANCE_WINDOW);
    double fixed = fixed_epsilon(found);

    (void)printf("%zu answer%s\n", found->answer_count, found->answer_count == 1 ? "" : "s");
    print_limit(&total);
    print_odometer(&total);
    if (!isnan(fixed)) {
        (void)printf(
            "       epsilon %.6g at that delta, if the charges had been fixed in advance\n", fixed);
    }
    if (window.limited) {
        (void)printf("of any %" PRIu32 " days (allowance_days)\n", found->policy->allowance_days);
        print_limit(&window);
        print_odometer(&window);
    }
    for (size_t i = 0; i < ledger_job_count(found->ledger); i++) {
        print_job(found, i);
    }
}

static json_t *price_json(struct price price)
{
    json_t *epsilon = price.epsilon_micro == UINT64_MAX
                          ? json_null()
                          : json_real((double)price.epsilon_micro * 1e-6);
    return json_pack("{s:o, s:f}", "epsilon", epsilon, "delta", (double)price.delta_atto * 1e-18);
}

/* limit, spent, left, at_end, by_now and divergence_percent of one allowance. */
static void put_balance(json_t **object, const struct balance *balance)
{
    struct price now = {filter_odometer(&balance->filter, &balance->spent),
                        balance->filter.limit.delta_atto};
    const double percent =
        balance->filter.order == 0
            ? NAN
            : (double)filter_renyi_share(&balance->filter, &balance->spent) / 100;
    json_put(object, "limit", balance->limited ? price_json(balance->filter.limit) : json_null());
    json_put(object, "spent", price_json(spent_of(balance)));
    json_put(object, "left", balance->limited ? price_json(left_of(balance)) : json_null());
    json_put(object, "at_end", price_json(at_end(balance)));
    json_put(object, "by_now", price_json(now));
    json_put(object, "divergence_percent", json_number(percent));
}

static json_t *jobs_json(const struct ledger_found *found)
{
    json_t *jobs = json_array();
    for (size_t i = 0; i < ledger_job_count(found->ledger); i++) {
        struct digest id;
        struct balance balance = ledger_job(found->ledger, i, &id);
        char hex[2 * DIGEST_BYTES + 1];
        hex_encode(hex, id.byte, DIGEST_BYTES);
        json_t *job =
            json_pack("{s:s, s:s}", "job", hex, "job_name", ledger_found_job_name(found, &id));
        put_balance(&job, &balance);
        json_add(&jobs, job);
    }
    return jobs;
}

void balance_json(json_t **root, const struct ledger_found *found)
{
    struct balance total = ledger_balance(found->ledger, ALLOWANCE_TOTAL);
    struct balance window = ledger_balance(found->ledger, ALLOWANCE_WINDOW);
    double fixed = fixed_epsilon(found);
    put_balance(root, &total);
    json_put(root, "if_fixed_in_advance",
             isnan(fixed) ? json_null() : json_pack("{s:f}", "epsilon", fixed));
    if (window.limited) {
        json_t *object = json_pack("{s:I}", "days", (json_int_t)found->policy->allowance_days);
        put_balance(&object, &window);
        json_put(root, "window", object);
    }
    json_put(root, "jobs", jobs_json(found));
}
