/* The code that an answer waits for executes the same instructions and touches the same addresses for
 * all records. Every step is compared, without a clock, so there is no false alarm. The planted tasks
 * show that a single branch, address, division or subnormal number is seen.
 *
 * Built only with optimisation and without sanitizers, which add branches of their own. */

#include "tests/property/agent/odd_records.h"
#include "tests/support/trace.h"
#include "tests/support/trace_heap.h"

#include <criterion/criterion.h>
#include <math.h>

enum { STEPS_MAX = 100000, BATCH = 4 };

static struct odd_world world;

enum status __real_round_bounds(struct round_bounds *out, const struct job *job,
                                const struct stage *stage, uint32_t within, uint64_t record_count,
                                size_t expert_count, struct why *why);
enum status __wrap_round_bounds(struct round_bounds *out, const struct job *job,
                                const struct stage *stage, uint32_t within, uint64_t record_count,
                                size_t expert_count, struct why *why);

/* Its arguments are public, and some bounds take a hundred thousand steps. */
enum status __wrap_round_bounds(struct round_bounds *out, const struct job *job,
                                const struct stage *stage, uint32_t within, uint64_t record_count,
                                size_t expert_count, struct why *why)
{
    trace_pause();
    const enum status status =
        __real_round_bounds(out, job, stage, within, record_count, expert_count, why);
    trace_resume();
    return status;
}

/* Steps a computation on records of one class. */
static bool step(struct trace *trace, void (*run)(void *), enum odd_class class, uint64_t seed)
{
    odd_fill(&world, class, seed);
    trace_heap_begin();
    const bool same = trace_run(trace, run, &world);
    trace_heap_end();
    return same;
}

static void expect_even(struct trace *trace, const struct odd_task *task, enum odd_class class,
                        uint64_t seed)
{
    cr_expect(
        step(trace, odd_run, class, seed),
        "%s: %s records differ from the first ones at step %zu of %zu, %+lld bytes from odd_run",
        task->name, odd_class_name(class), trace->differs_at, trace->count,
        (long long)(trace->differs_where - (uint64_t)(uintptr_t)&odd_run));
    cr_expect(!trace->is_subnormal, "%s: %s records lead to subnormal numbers", task->name,
              odd_class_name(class));
}

/* A step takes some 15 microseconds on a virtual machine, so there are four records a round, and two
 * tables: they hold every class of cell in every column, and none of their cells is of one class. */
Test(task_trace, no_instruction_and_no_address_depends_on_the_records)
{
    struct trace trace;
    trace_init(&trace, STEPS_MAX);
    for (size_t i = 0; i < odd_task_count; i++) {
        trace_forget(&trace);
        odd_init(&world, &odd_tasks[i], BATCH);
        expect_even(&trace, &odd_tasks[i], ODD_MIXED, 0);
        expect_even(&trace, &odd_tasks[i], ODD_MIXED, 1);
        odd_free(&world);
    }
    trace_free(&trace);
}

/* Planted: a kernel with a branch on its data. volatile keeps the compiler from removing the
 * branch. */
static volatile double sink;
static volatile int64_t whole_sink;

static void branches(void *at)
{
    const struct odd_world *w = at;
    for (size_t i = 0; i < w->rows; i++) {
        if (w->y[i] > 0) {
            sink = 1;
        }
    }
}

static void leaves_early(void *at)
{
    const struct odd_world *w = at;
    for (size_t i = 0; i < w->rows && w->y[i] <= 0; i++) {
        sink = 1;
    }
}

static void looks_up(void *at)
{
    static const double table[2] = {0, 1};
    const struct odd_world *w = at;
    for (size_t i = 0; i < w->rows; i++) {
        const volatile double *entry = &table[w->y[i] > 0 ? 1 : 0];
        sink = *entry;
    }
}

static void divides(void *at)
{
    const struct odd_world *w = at;
    const volatile int64_t by = 3;
    for (size_t i = 0; i < w->rows; i++) {
        whole_sink = (int64_t)(w->y[i] * 1000) / by;
    }
}

static void calls_a_library(void *at)
{
    const struct odd_world *w = at;
    for (size_t i = 0; i < w->rows; i++) {
        sink = log1p(fabs(w->x[i]));
    }
}

static void underflows(void *at)
{
    const struct odd_world *w = at;
    for (size_t i = 0; i < w->rows; i++) {
        sink = w->y[i] * 0x1p-1060;
    }
}

Test(task_trace, a_planted_dependence_is_seen)
{
    void (*const planted[])(void *) = {branches, leaves_early, looks_up, divides, calls_a_library};
    struct trace trace;
    trace_init(&trace, STEPS_MAX);
    odd_init(&world, &odd_tasks[0], BATCH);
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        trace_forget(&trace);
        cr_expect(step(&trace, planted[i], ODD_HIGHEST, 1));
        cr_expect(!trace.is_subnormal);
        cr_expect(step(&trace, planted[i], ODD_HIGHEST, 1), "equal records leave equal traces");
        const bool same =
            step(&trace, planted[i], ODD_LOWEST, 1) && step(&trace, planted[i], ODD_MIXED, 1);
        cr_expect(!same, "planted %zu", i);
    }
    trace_forget(&trace);
    (void)step(&trace, underflows, ODD_HIGHEST, 1);
    cr_expect(trace.is_subnormal);
    trace_free(&trace);
    odd_free(&world);
}
