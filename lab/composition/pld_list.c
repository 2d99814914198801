/* What is composed: events become parts, equal ones together and all unsampled Gaussians one. */

#include "account/pure.h"
#include "base/check.h"
#include "lab/composition/pld_private.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define DISCRETE_SIGMA_MAX 0x1p16
#define SAMPLING_MIN       1e-100 /* less is taken for this */
#define RATIO_MIN          1e-100 /* of sensitivity to noise; less is taken for this */
#define RATIO_MAX          1e5

bool pld_covers(const struct privacy_event *event)
{
    return event->sampling >= 1 || event->mechanism != MECHANISM_DISCRETE_GAUSSIAN;
}

static bool has_real_losses(enum mechanism mechanism)
{
    return mechanism == MECHANISM_LAPLACE || mechanism == MECHANISM_GAUSSIAN ||
           mechanism == MECHANISM_EXPONENTIAL;
}

static struct pld_part part_of(const struct privacy_event *event)
{
    double ratio = event->sensitivity / event->parameter;
    bool sampled = event->sampling < 1;
    bool replace = event->neighbours == NEIGHBOURS_REPLACE_ONE;
    struct pld_part part = {PLD_RUN_RESPONSE, PLD_RUN_REMOVE, 0, 1, 1, 0, (double)event->count};
    part.size = event->parameter;
    part.shift = event->sensitivity;
    if (has_real_losses(event->mechanism)) {
        part.kind = event->mechanism == MECHANISM_LAPLACE    ? PLD_RUN_LAPLACE
                    : event->mechanism == MECHANISM_GAUSSIAN ? PLD_RUN_GAUSSIAN
                                                             : PLD_RUN_RANGE;
        part.size = part.kind == PLD_RUN_RANGE ? event->parameter : ratio;
        part.sampling = fmax(event->sampling, SAMPLING_MIN);
        part.side = sampled && replace ? PLD_RUN_BOTH : PLD_RUN_REMOVE;
        part.shift = 1;
    } else if (event->mechanism == MECHANISM_DISCRETE_GAUSSIAN) {
        part.kind = PLD_RUN_DISCRETE_GAUSSIAN;
    } else if (event->mechanism == MECHANISM_DISCRETE_LAPLACE && !sampled) {
        part.kind = PLD_RUN_DISCRETE_LAPLACE;
    } else {
        part.size = pure_epsilon(event);
        part.shift = 1;
    }
    if (part.kind == PLD_RUN_DISCRETE_GAUSSIAN && event->parameter > DISCRETE_SIGMA_MAX) {
        /* Rounded Gaussian noise has masses within (x^2/sigma^2 + 1)/(24 sigma^2) of it (the sum's
         * midpoint rule), and rounding gives nothing away. x reaches 12 sigma from the one answer
         * and a sensitivity more from the other */
        part.kind = PLD_RUN_GAUSSIAN;
        part.slack = (14 + ratio * ratio / 6) / (event->parameter * event->parameter);
        part.size = ratio;
        part.shift = 1;
    }
    if (part.kind == PLD_RUN_DISCRETE_LAPLACE && ratio < RATIO_MIN) {
        part.kind = PLD_RUN_RESPONSE;
        part.size = ratio;
        part.shift = 1;
    }
    if (part.kind != PLD_RUN_DISCRETE_LAPLACE && part.kind != PLD_RUN_DISCRETE_GAUSSIAN) {
        part.size = fmax(part.size, RATIO_MIN);
    }
    return part;
}

/* Losses that would overflow: what costs that much has no use for a tight bound. */
static bool is_extreme(const struct pld_part *part)
{
    bool discrete =
        part->kind == PLD_RUN_DISCRETE_LAPLACE || part->kind == PLD_RUN_DISCRETE_GAUSSIAN;
    return !((discrete ? part->shift / part->size : part->size) < RATIO_MAX);
}

static bool is_certain(const struct privacy_event *event, const struct pld_part *part)
{
    return event->mechanism != MECHANISM_EXPONENTIAL && part->side != PLD_RUN_BOTH &&
           part->slack <= 0 && part->size > RATIO_MIN && part->sampling > SAMPLING_MIN &&
           (event->sampling >= 1 || part->kind != PLD_RUN_RESPONSE);
}

static int compare(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_parts(const void *left, const void *right)
{
    const struct pld_part *a = left;
    const struct pld_part *b = right;
    int order[] = {(int)a->kind - (int)b->kind,       (int)a->side - (int)b->side,
                   compare(a->sampling, b->sampling), compare(a->slack, b->slack),
                   compare(a->size, b->size),         compare(a->shift, b->shift)};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        if (order[i] != 0) {
            return order[i];
        }
    }
    return 0;
}

/* Merges b into a when they are one kind of run. */
static bool merge(struct pld_part *a, const struct pld_part *b)
{
    if (compare_parts(a, b) == 0) {
        a->count += b->count;
        return true;
    }
    return false;
}

/* All unsampled Gaussians are one. */
static bool is_plain_gaussian(const struct pld_part *part)
{
    return part->kind == PLD_RUN_GAUSSIAN && part->sampling >= 1 && part->slack <= 0;
}

/* Merges equal parts, and all unsampled Gaussians: their squares add up (by Kahan's summation,
 * since there may be many). */
static void gather(struct pld_list *task)
{
    struct pld_part gaussian = {PLD_RUN_GAUSSIAN, PLD_RUN_REMOVE, 0, 1, 1, 0, 0};
    double squares = 0;
    double lost = 0;
    size_t kept = 0;

    qsort(task->parts, task->count, sizeof task->parts[0], compare_parts);
    for (size_t i = 0; i < task->count; i++) {
        const struct pld_part part = task->parts[i];
        if (is_plain_gaussian(&part)) {
            double term = part.size * part.size * part.count - lost;
            double next = squares + term;
            lost = (next - squares) - term;
            squares = next;
            gaussian.size = part.size;
            gaussian.count += part.count;
        } else if (kept == 0 || !merge(&task->parts[kept - 1], &part)) {
            task->parts[kept++] = part;
        }
    }
    if (gaussian.count > 0) {
        gaussian.size = gaussian.count > 1 ? sqrt(squares) : gaussian.size;
        gaussian.count = 1;
        task->parts[kept++] = gaussian;
    }
    task->count = kept;
}

enum status pld_list_init(struct pld_list *task, const struct privacy_event *events, size_t count)
{
    *task = (struct pld_list){.certain = true};
    task->parts = calloc(count + 1, sizeof *task->parts);
    if (task->parts == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        CHECK(privacy_event_check(&events[i], NULL) == STATUS_OK && pld_covers(&events[i]));
        if (events[i].count == 0) {
            continue;
        }
        struct pld_part part = part_of(&events[i]);
        double pure = pure_epsilon(&events[i]);
        double units = 4 + (double)count;
        task->pure += isnan(pure) ? INFINITY : part.count * pure * (1 + units * DBL_EPSILON);
        task->extreme = task->extreme || is_extreme(&part);
        task->failed += part.count * log1p(-events[i].delta);
        task->certain = task->certain && is_certain(&events[i], &part);
        task->sampled = task->sampled || (part.sampling < 1 && part.side == PLD_RUN_REMOVE);
        task->parts[task->count++] = part;
    }
    gather(task);
    return STATUS_OK;
}
