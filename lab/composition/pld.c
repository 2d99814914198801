/* Accounting by privacy-loss distributions (Sommer, Meiser, Mohammadi 2019; Koskela, Jaelkoe,
 * Honkela 2020). Events become parts (pld_run.h), equal ones together and all unsampled Gaussians one (pld_list.c);
 * a part alone that runs once has its formula (pld_single.c); all else goes onto a grid (pld_run.c,
 * pld_mix.c), is composed (pld_sum.c), and its tail is read (pld_tail.c).
 *
 * Several runs, each of which may be chosen after seeing the ones before, are no worse than the
 * product of the pairs that dominate each (Kairouz, Oh, Viswanath 2015; Zhu, Dong, Wang 2022,
 * theorem 10). For records that are sampled, and added or removed, the two directions are composed
 * apart and the worse counts.
 *
 * low: where losses have a density, a distribution that the true pair dominates (pld_run_optimistic.c), so that sums of
 * it are below as well. Single losses between grid points stay spread: there the grid's sum is S plus E
 * >= 0 in the mean, S the true sum, so for any m: delta(epsilon) >= grid's delta(epsilon + m) -
 * Pr[E > m], with Bernstein's inequality for the last. The same with all losses spread is a bound too,
 * the better one where cells are wider than the losses of a run.
 *
 * How many digits a question is worth is decided from the events alone, which are public. What the grid adds to epsilon falls as
 * the square of the step, and grows as the number of runs: up to some thousands of one event a tenth of a second buys some ten
 * digits, a list of many events has to make do with three or four in half a second. */

#include "lab/composition/pld.h"

#include "base/check.h"
#include "lab/composition/pld_private.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define LISTS_LOG2       26  /* parts times the size of the transform, when there are many */
#define LOW_SHARE        7.0 /* ln of delta over what low's error may take of it */
#define LISTS_OPTIMISTIC 128 /* parts; of longer lists low is what the spread distributions say */
#define FINEST_LOG2      12
#define COARSER          25 /* steps of a fifth as many cells */

static double high_end(const struct pld_mix *mix, const struct pld_sum *sum,
                       struct composition_question question, double delta)
{
    if (!question.wants_epsilon) {
        double high = fmin(pld_sum_log_delta(sum, question.at - sum->slip, true),
                           pld_mix_log_delta(mix, mix->tilt, question.at));
        return fmin(1, exp(high) + sum->infinite);
    }
    double remaining = delta - sum->infinite;
    if (!(remaining > 0)) {
        return INFINITY;
    }
    double log_delta = log(remaining) * (1 + 4 * DBL_EPSILON) - 4 * DBL_EPSILON;
    double high = fmin(pld_sum_epsilon(sum, log_delta, true) + sum->slip,
                       pld_mix_epsilon(mix, mix->tilt, log_delta));
    return isnan(high) ? INFINITY : fmax(0, high);
}

/* delta: of the sum; from either kind of distributions */
static double low_end(const struct pld_sum *sum, struct composition_question question, double delta)
{
    bool raised = sum->variance > 0; /* else it is rounding alone that may have moved a loss */
    if (!question.wants_epsilon) {
        double epsilon = question.at + sum->slip;
        double margin = fmin(pld_sum_log_delta(sum, question.at, true), 0) - LOW_SHARE;
        double more = raised ? pld_sum_raised(sum, margin) : sum->drift;
        double low = pld_sum_log_delta(sum, epsilon + more, false);
        return fmax(0, exp(low) - (raised ? exp(margin) : 0));
    }
    double log_delta = log(delta) * (1 - 4 * DBL_EPSILON) + 4 * DBL_EPSILON;
    double low = pld_sum_epsilon(sum, log_delta + (raised ? exp(-LOW_SHARE) : 0), false);
    double more = raised ? pld_sum_raised(sum, log_delta - LOW_SHARE) : sum->drift;
    return fmax(0, low - sum->slip - more);
}

/* Whether optimistic distributions are worth their time. */
static bool has_cells(const struct pld_list *task)
{
    for (size_t i = 0; i < task->count && task->count <= LISTS_OPTIMISTIC; i++) {
        if (pld_run_has_density(&task->parts[i])) {
            return true;
        }
    }
    return false;
}

/* On grids. delta: what is left of it, from below and above */
static enum status ask_grids(struct interval *out, const struct pld_list *task,
                             struct composition_question question, struct interval delta,
                             struct pld_precision precision)
{
    struct pld_mix mix = {.parts = NULL};
    struct pld_sum sum = {.mass = NULL};
    bool high = precision.ends != PLD_LOW;
    bool cells = has_cells(task);
    bool low = task->certain && (precision.ends != PLD_HIGH || !cells);

    *out = (struct interval){0, question.wants_epsilon ? INFINITY : 1};
    enum status status = pld_mix_init(&mix, task->parts, task->count, question, precision);
    if (status == STATUS_OK && (high || !cells)) {
        status = pld_sum_init(&sum, &mix, precision.log2_size_max);
        if (status == STATUS_OK && high) {
            out->high = high_end(&mix, &sum, question, delta.low);
        }
        if (status == STATUS_OK && low) {
            out->low = low_end(&sum, question, delta.high);
        }
        pld_sum_free(&sum);
    }
    if (status == STATUS_OK && low && cells) {
        status = pld_mix_optimistic(&mix, precision.log2_size_max);
        if (status == STATUS_OK) {
            status = pld_sum_init(&sum, &mix, precision.log2_size_max);
        }
        if (status == STATUS_OK) {
            out->low = fmax(out->low, low_end(&sum, question, delta.high));
        }
    }
    out->low = fmin(out->low, out->high);
    pld_sum_free(&sum);
    pld_mix_free(&mix);
    return status;
}

static enum status ask_side(struct interval *out, const struct pld_list *task,
                            struct composition_question question, struct interval delta,
                            struct pld_precision precision)
{
    if (task->count == 1 && pld_single_covers(&task->parts[0])) {
        const struct pld_part *part = &task->parts[0];
        if (question.wants_epsilon) {
            out->low = pld_single_epsilon(part, delta.high).low;
            out->high = pld_single_epsilon(part, delta.low).high;
        } else {
            *out = pld_single_delta(part, question.at);
        }
        return STATUS_OK;
    }
    while (precision.log2_size_max > FINEST_LOG2 &&
           ldexp((double)task->count, (int)precision.log2_size_max) > ldexp(1, LISTS_LOG2)) {
        precision.log2_size_max--;
    }
    return ask_grids(out, task, question, delta, precision);
}

/* Both directions, where they differ. Mostly the first one is plainly the worse: when a bound on a
 * coarse grid says so, that will do. */
static enum status ask(struct interval *out, struct pld_list *task,
                       struct composition_question question, struct interval delta,
                       struct pld_precision precision)
{
    enum status status = ask_side(out, task, question, delta, precision);
    bool alone = task->count == 1 && pld_single_covers(&task->parts[0]);
    if (status == STATUS_OK && task->sampled && !alone) {
        struct interval other = {0, INFINITY};
        struct pld_precision coarse = precision;
        coarse.tolerance *= COARSER;
        coarse.log2_size_max -= 2;
        for (size_t i = 0; i < task->count; i++) {
            if (task->parts[i].sampling < 1) {
                task->parts[i].side = PLD_RUN_ADD;
            }
        }
        if (task->count <= PLD_SHORT) {
            status = ask_side(&other, task, question, delta, coarse);
        }
        out->low = fmax(out->low, other.low);
        if (status == STATUS_OK && !(other.high <= out->high)) {
            status = ask_side(&other, task, question, delta, precision);
        }
        out->low = fmax(out->low, other.low);
        out->high = fmax(out->high, other.high);
    }
    if (!task->certain) {
        out->low = 0;
    }
    return status;
}

enum status pld_epsilon_within(struct interval *out, const struct privacy_event *events,
                               size_t count, double delta, struct pld_precision precision)
{
    struct pld_list task;
    CHECK(delta >= 0 && delta < 1);
    *out = (struct interval){0, INFINITY};
    enum status status = pld_list_init(&task, events, count);
    if (status != STATUS_OK) {
        return status;
    }
    /* What the events' own failures leave: 1 - (1 - delta)/product; the difference loses digits */
    double own = -expm1(task.failed);
    double off = 16 * DBL_EPSILON * (own + (double)count * own + DBL_MIN);
    double kept = exp(task.failed);
    struct interval left = {(delta - own - off) / kept, (delta - own + off) / kept};
    if (own <= 0) {
        left = (struct interval){delta, delta};
    }
    if (left.high < 0) {
        *out = (struct interval){INFINITY, INFINITY};
    } else if (task.count == 0) {
        *out = (struct interval){0, left.low >= 0 ? 0 : INFINITY};
    } else if (left.low <= 0 || task.extreme) {
        out->high = left.low >= 0 ? task.pure : INFINITY;
    } else {
        struct composition_question question = {.wants_epsilon = true, .at = log(left.low)};
        left.high = fmin(left.high * (1 + 4 * DBL_EPSILON), 1);
        left.low = left.low * (1 - 4 * DBL_EPSILON);
        status = ask(out, &task, question, left, precision);
        out->high = fmin(out->high, task.pure);
        out->low = fmin(out->low, out->high);
    }
    free(task.parts);
    return status;
}

enum status pld_delta_within(struct interval *out, const struct privacy_event *events, size_t count,
                             double epsilon, struct pld_precision precision)
{
    struct pld_list task;
    struct interval delta = {0, 0};
    CHECK(epsilon >= 0 && isfinite(epsilon));
    *out = (struct interval){0, 1};
    enum status status = pld_list_init(&task, events, count);
    if (status != STATUS_OK) {
        return status;
    }
    if (task.extreme && epsilon < task.pure) {
        delta.high = 1;
    } else if (task.count > 0 && epsilon < task.pure) {
        struct composition_question question = {.at = epsilon};
        status = ask(&delta, &task, question, delta, precision);
    }
    double own = -expm1(task.failed);
    double off = 16 * DBL_EPSILON * (own + (double)count * own);
    double kept = exp(task.failed);
    out->low = fmax(0, own - off + kept * delta.low * (1 - 8 * DBL_EPSILON));
    out->high = fmin(1, own + off + kept * delta.high * (1 + 8 * DBL_EPSILON));
    free(task.parts);
    return status;
}

#define RUNS_FEW    1e4
#define EPSILON_MAX 1e3 /* beyond it nobody asks for digits */

struct pld_precision pld_precision_quick(const struct privacy_event *events, size_t count)
{
    if (count > PLD_SHORT) {
        return (struct pld_precision){3e-4, 18, PLD_BOTH_ENDS};
    }
    for (size_t i = 0; i < count; i++) {
        if (events[i].sampling < 1) {
            return (struct pld_precision){2e-5, 18, PLD_BOTH_ENDS};
        }
    }
    return (struct pld_precision){3e-6, 20, PLD_BOTH_ENDS};
}

static bool are_alike(const struct privacy_event *a, const struct privacy_event *b)
{
    return a->mechanism == b->mechanism && a->neighbours == b->neighbours &&
           a->parameter == b->parameter && a->sensitivity == b->sensitivity &&
           a->sampling == b->sampling && a->delta == b->delta;
}

/* Whether more digits are worth a tenth of a second, and how many: what the grid adds falls as the
 * square of the step, and grows as the number of runs. */
static bool is_worth_more(struct pld_precision *precision, const struct privacy_event *events,
                          size_t count, double epsilon)
{
    double runs = 0;
    bool alike = true;
    for (size_t i = 0; i < count; i++) {
        runs += (double)events[i].count;
        alike = alike && are_alike(&events[0], &events[i]);
    }
    bool sampled = events[0].sampling < 1;
    precision->tolerance = sampled ? 1e-7 : 1e-10;
    precision->log2_size_max = sampled ? 19 : 20;
    precision->ends = PLD_HIGH; /* of low a few digits do */
    return alike && runs <= RUNS_FEW && epsilon <= EPSILON_MAX;
}

static struct interval common(struct interval a, struct interval b)
{
    double high = fmin(a.high, b.high);
    return (struct interval){fmin(fmax(a.low, b.low), high), high};
}

enum status pld_epsilon(struct interval *out, const struct privacy_event *events, size_t count,
                        double delta)
{
    struct pld_precision precision = pld_precision_quick(events, count);
    struct interval closer = {0, INFINITY};
    enum status status = pld_epsilon_within(out, events, count, delta, precision);
    if (status == STATUS_OK && is_worth_more(&precision, events, count, out->high)) {
        status = pld_epsilon_within(&closer, events, count, delta, precision);
        *out = common(*out, closer);
    }
    return status;
}

enum status pld_delta(struct interval *out, const struct privacy_event *events, size_t count,
                      double epsilon)
{
    struct pld_precision precision = pld_precision_quick(events, count);
    struct interval closer = {0, 1};
    enum status status = pld_delta_within(out, events, count, epsilon, precision);
    if (status == STATUS_OK && is_worth_more(&precision, events, count, epsilon)) {
        status = pld_delta_within(&closer, events, count, epsilon, precision);
        *out = common(*out, closer);
    }
    return status;
}
