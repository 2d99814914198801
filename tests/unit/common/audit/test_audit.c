/* The auditor itself, on sources whose epsilon is known: it exceeds the truth no more often than it
 * says, it comes near the truth, and it finds events of every kind. */

#include "lab/audit/audit.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>

/* An answer in 0 .. 3 with these probabilities on each side, told as score. */
struct toy {
    double mass[2][4];
    int64_t score[4];
    uint64_t calls;
};

static enum status toy_draw(void *self, const struct random *random, unsigned side, int64_t *score,
                            size_t count)
{
    struct toy *toy = self;
    toy->calls += count;
    for (size_t run = 0; run < count; run++) {
        uint64_t word = 0;
        enum status status = random_fill(random, &word, sizeof word);
        if (status != STATUS_OK) {
            return status;
        }
        double at = (double)(word >> 11) * 0x1p-53;
        size_t answer = 0;
        while (answer < 3 && at >= toy->mass[side][answer]) {
            at -= toy->mass[side][answer++];
        }
        score[run] = toy->score[answer];
    }
    return STATUS_OK;
}

static struct audit_result audited(struct toy *toy, uint64_t seed, struct audit_options options)
{
    struct seeded_random seeded;
    struct audit_result result;
    struct audit_source source = {.draw = toy_draw, .self = toy};
    seeded_random_init(&seeded, seed);
    struct random random = seeded_random_interface(&seeded);
    cr_assert_eq(audit_run(&result, &source, &random, &options), STATUS_OK);
    return result;
}

/* Randomised response of epsilon ln 3. */
static const struct toy response = {.mass = {{0.75, 0.25}, {0.25, 0.75}}, .score = {5, 9, 0, 0}};

Test(audit, randomised_response_is_found_to_lose_nearly_its_epsilon)
{
    struct toy toy = response;
    struct audit_options options = {.samples = 200000, .miss = 1e-6};
    struct audit_result result = audited(&toy, 1, options);
    cr_assert(result.epsilon <= log(3) && result.epsilon > 0.97 * log(3), "%g", result.epsilon);
    cr_assert_eq(toy.calls, 400000);
    cr_assert(result.trials < 200000 && result.trials >= 134464);
    cr_assert_eq(result.event[result.best].epsilon, result.epsilon);
}

Test(audit, equal_sides_lose_nothing)
{
    struct toy toy = {.mass = {{0.3, 0.3, 0.3, 0.1}, {0.3, 0.3, 0.3, 0.1}}, .score = {1, 2, 3, 4}};
    struct audit_options options = {.samples = 50000, .miss = 1e-6};
    for (uint64_t seed = 0; seed < 20; seed++) {
        cr_assert_eq(audited(&toy, seed, options).epsilon, 0);
    }
}

/* An answer in the middle tells the sides apart: neither end does. */
Test(audit, what_no_threshold_shows_a_set_does)
{
    struct toy toy = {.mass = {{0.4, 0.1, 0.1, 0.4}, {0.1, 0.4, 0.4, 0.1}}, .score = {1, 2, 3, 4}};
    struct audit_options options = {.samples = 100000, .miss = 1e-6};
    struct audit_result result = audited(&toy, 3, options);
    cr_assert_eq(result.event[result.best].kind, AUDIT_AMONG);
    cr_assert_eq(result.event[result.best].threshold, 2); /* two scores in the set */
    cr_assert(result.epsilon > 0.95 * log(4) && result.epsilon <= log(4));
    for (size_t i = 0; i < AUDIT_EVENTS; i++) { /* the ends alone: one answer, or three */
        cr_assert(result.event[i].kind == AUDIT_AMONG || !result.event[i].used ||
                  result.event[i].threshold == (result.event[i].kind == AUDIT_AT_MOST ? 1 : 4) ||
                  result.event[i].epsilon < log(2));
    }
}

/* x' shows itself with probability 0.05, else nothing differs: (0, 0.05). */
Test(audit, a_delta_is_allowed_for)
{
    struct toy toy = {.mass = {{0, 0.5, 0.5, 0}, {0.05, 0.475, 0.475, 0}}, .score = {7, 1, 2, 3}};
    struct audit_options options = {.samples = 100000, .miss = 1e-6};
    cr_assert_gt(audited(&toy, 4, options).epsilon, 5);
    options.delta = 0.04;
    cr_assert_gt(audited(&toy, 4, options).epsilon, 3);
    options.delta = 0.05;
    cr_assert_eq(audited(&toy, 4, options).epsilon, 0);
}

/* With a miss of 0.2 an auditor may be above the truth in one run of five. The union bound over 24
 * probabilities is generous, and each audit's events are nested: we ask for no more than the
 * promise. An auditor that took frequencies for probabilities (planted: both bounds left out) is
 * above it half of the time. */
Test(audit, the_bound_is_above_the_truth_as_rarely_as_it_says)
{
    enum { RUNS = 400 };
    struct toy toy = response;
    struct audit_options options = {.samples = 1000, .miss = 0.2};
    unsigned above = 0;
    unsigned planted_above = 0;
    for (uint64_t seed = 100; seed < 100 + RUNS; seed++) {
        struct audit_result result = audited(&toy, seed, options);
        const struct audit_event *event = &result.event[result.best];
        above += result.epsilon > log(3);
        planted_above +=
            (double)event->hits[event->side] > 3 * (double)event->hits[1 - event->side];
    }
    cr_assert_leq(above, RUNS / 5);
    cr_assert_gt(planted_above, RUNS / 5);
}

Test(audit, scores_may_lie_anywhere_and_bins_hold_all_of_them)
{
    struct toy toy = {.mass = {{0.4, 0.2, 0.2, 0.2}, {0.2, 0.2, 0.2, 0.4}},
                      .score = {INT64_MIN, -1, INT64_MAX - 1, INT64_MAX}};
    struct audit_options options = {.samples = 20000, .miss = 1e-6};
    struct audit_result result = audited(&toy, 5, options);
    cr_assert(result.epsilon > 0.5 && result.epsilon <= log(2), "%g", result.epsilon);
    for (unsigned side = 0; side < 2; side++) {
        uint64_t sum = 0;
        for (size_t bin = 0; bin < AUDIT_BINS; bin++) {
            sum += result.histogram.count[side][bin];
        }
        cr_assert_eq(sum, result.trials);
    }
    cr_assert_eq(result.histogram.first, INT64_MIN);
    cr_assert_gt(result.histogram.count[1][AUDIT_BINS - 1], result.trials / 2);
}

struct told {
    uint64_t done;
    uint64_t all;
    unsigned times;
};

static void tell(void *self, uint64_t done, uint64_t all)
{
    struct told *told = self;
    cr_assert(done > told->done && done <= all);
    *told = (struct told){done, all, told->times + 1};
}

Test(audit, progress_goes_forward_to_the_end)
{
    struct toy toy = response;
    struct told told = {0};
    struct audit_options options = {
        .samples = 30000, .miss = 1e-6, .progress = tell, .progress_self = &told};
    (void)audited(&toy, 6, options);
    cr_assert_eq(told.done, 60000);
    cr_assert_eq(told.all, 60000);
    cr_assert_gt(told.times, 10);
}

Test(audit, too_few_samples_stop_the_program, .signal = SIGABRT)
{
    struct toy toy = response;
    (void)audited(&toy, 7, (struct audit_options){.samples = 999, .miss = 1e-6});
}
