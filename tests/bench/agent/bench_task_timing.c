/* bench_task_timing.c - does the time of an answer tell what the records are?
 *
 *     bench_task_timing [--steps] [TASK]
 *
 * Every task whose answers leave at once (common/job/work.h) runs on tables of records that are as
 * different as they can be (tests/property/agent/odd_records.h), in two ways.
 *
 * Stepped through: each instruction and each address is compared, without a clock, and for the flags that
 * this program is built with. Every task meets two tables that hold all classes: in the first no record has
 * two cells of one class, in the second all cells of a record are of one. So what depends on a cell, or on
 * a whole record, differs between the two. What depends on a whole table is looked for in one task of each
 * kernel, which meets every class alone: the tasks of a kernel go through its rows and its clip by the same
 * code, and a step takes some 15 microseconds.
 *
 * Timed: typical records and one odd class in random turns, at the same addresses, at three positions
 * of the stack. Welch's t between the two beyond 4.5 means that the clock tells them apart, as in
 * bench_noise_timing. The slowest tenth of all times, both classes together, is left out. This shows what
 * stepping cannot see: instructions whose own time follows their operands, as divisions do on many
 * processors.
 *
 * Two controls show that the bench itself is right on this machine. Typical records against themselves, the
 * twin, must not be told apart. The planted tasks must be.
 *
 * --steps leaves the clock out, so that no idle machine is needed: scripts/test runs it for the installed flags.
 * TASK, the beginning of a task's name, selects tasks. Ends with 1 when a task is told apart in either way, a
 * twin is, or a planted task is not. There are some 900 comparisons: without any leak one exceeds 4.5 in about
 * 150 runs. */

#include "base/check.h"
#include "tests/property/agent/odd_records.h"
#include "tests/support/bench_clock.h"
#include "tests/support/trace.h"
#include "tests/support/trace_heap.h"
#include "tests/support/welch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RUNS = 4000,
    WARM_UP = 100,
    STEPS_MAX = 400000,
    STEP_BATCH = 8,
    TIME_BATCH = 32,
    POSITIONS = 3
};

static const double told_apart = 4.5;

static struct odd_world world;

/* The bounds of one world are computed once: they are public, and some take longer than the task. */
static struct {
    struct round_bounds bounds;
    bool is_known;
} known;

enum status __real_round_bounds(struct round_bounds *out, const struct job *job,
                                const struct stage *stage, uint32_t within, uint64_t record_count,
                                size_t expert_count, struct why *why);
enum status __wrap_round_bounds(struct round_bounds *out, const struct job *job,
                                const struct stage *stage, uint32_t within, uint64_t record_count,
                                size_t expert_count, struct why *why);

enum status __wrap_round_bounds(struct round_bounds *out, const struct job *job,
                                const struct stage *stage, uint32_t within, uint64_t record_count,
                                size_t expert_count, struct why *why)
{
    enum status status = STATUS_OK;
    trace_pause();
    if (!known.is_known) {
        status =
            __real_round_bounds(&known.bounds, job, stage, within, record_count, expert_count, why);
        known.is_known = status == STATUS_OK;
    }
    *out = known.bounds;
    trace_resume();
    return status;
}

typedef void computation(void *world);

/* Planted: a branch, and an instruction whose own time follows its operand. */
static volatile double sink;

static void branches(void *at)
{
    const struct odd_world *w = at;
    odd_run(at);
    for (size_t i = 0; i < TIME_BATCH; i++) {
        for (int j = 0; w->x[i * w->data.feature_count] > 0 && j < 8; j++) {
            sink = sink * 0.5 + 1;
        }
    }
}

static void divides(void *at)
{
    static volatile uint64_t whole_sink;
    const struct odd_world *w = at;
    odd_run(at);
    for (size_t i = 0; i < TIME_BATCH * w->data.feature_count; i++) {
        whole_sink = ((uint64_t)(fabs(w->x[i]) * 0x1p60) | 1) / (whole_sink % 3 + 3);
    }
}

static void begin(const struct odd_task *task, size_t batch)
{
    known.is_known = false;
    odd_init(&world, task, batch);
}

/* One task of each kernel: of each answer, each kind of question and each way to clip. And one whose gradients may all be zero:
 * a planted shortcut for a sum of zeros shows there alone. */
static const char *const kernels[] = {"losses, hinge",       "losses, classes, zero_one",
                                      "losses, plays",       "update, hinge, L2",
                                      "update, classes",     "update, insensitive",
                                      "update, unit agent",  "update, unit agent, L2",
                                      "statistics",          "online",
                                      "query, counts",       "query, means",
                                      "query, histograms",   "query, quantiles",
                                      "query, survival",     "query, cross table",
                                      "query, table 1",      "query, score",
                                      "query, correlations", "query, components",
                                      "query, regression",   "query, regression of times",
                                      "select, stumps",      "select among experts"};

static bool meets_every_class(const char *task)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (strcmp(task, kernels[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether the classes that the task meets leave one trace. */
static bool steps_are_equal(struct trace *trace, const struct odd_task *task)
{
    bool same = true;
    begin(task, STEP_BATCH);
    trace_forget(trace);
    for (int class = meets_every_class(task->name) ? 0 : ODD_MIXED; class < ODD_CLASSES; class ++) {
        odd_fill(&world, (enum odd_class) class, (uint64_t) class);
        trace_heap_begin();
        same = trace_run(trace, odd_run, &world) && !trace->is_subnormal && same;
        trace_heap_end();
    }
    odd_free(&world);
    return same;
}

/* Two tables of records. Each run reads both and takes one of them by a mask, so that only the values differ
 * between the two sides, and not the caches or the branch predictor's history. */
enum { NUMBERS = ODD_ROWS_MAX * (ODD_WIDTH_MAX + 1 + ODD_COLUMNS + 1) };

static uint64_t tables[2][NUMBERS];

static uint64_t *append(uint64_t *to, const double *from, size_t count)
{
    memcpy(to, from, count * sizeof *from);
    return to + count;
}

static void save(size_t side, enum odd_class class)
{
    odd_fill(&world, class, 1);
    uint64_t *to = append(tables[side], world.x, sizeof world.x / sizeof *world.x);
    to = append(to, world.y, ODD_ROWS_MAX);
    to = append(to, world.raw, sizeof world.raw / sizeof *world.raw);
    (void)append(to, world.raw_label, ODD_ROWS_MAX);
}

static const uint64_t *take(double *to, const uint64_t *one, size_t count, uint64_t mask)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = (one[i] & ~mask) | (one[i + NUMBERS] & mask);
        memcpy(&to[i], &bits, sizeof bits);
    }
    return one + count;
}

static void load(size_t side)
{
    const uint64_t mask = -(uint64_t)side;
    const uint64_t *one = take(world.x, tables[0], sizeof world.x / sizeof *world.x, mask);
    one = take(world.y, one, ODD_ROWS_MAX, mask);
    one = take(world.raw, one, sizeof world.raw / sizeof *world.raw, mask);
    (void)take(world.raw_label, one, ODD_ROWS_MAX, mask);
}

/* Runs it once untimed, so that caches have forgotten which table was copied. */
static double time_of(computation *run)
{
    trace_heap_begin();
    run(&world);
    trace_heap_begin();
    const double start = now_ns();
    run(&world);
    const double ns = now_ns() - start;
    trace_heap_end();
    return ns;
}

/* The same, deeper in the stack. */
static double time_deeper(computation *run)
{
    volatile char room[1040];
    room[0] = 0;
    const double ns = time_of(run);
    room[1] = room[0];
    return ns;
}

static double time_deepest(computation *run)
{
    volatile char room[2608];
    room[0] = 0;
    const double ns = time_of(run);
    room[1] = room[0];
    return ns;
}

struct run {
    double ns;
    size_t class;
};

static int compare_runs(const void *left, const void *right)
{
    return compare_doubles(&((const struct run *)left)->ns, &((const struct run *)right)->ns);
}

/* The largest |t| over the positions. */
static double compare(computation *run, enum odd_class class)
{
    static struct run runs[RUNS];
    static double (*const position[POSITIONS])(computation *) = {time_of, time_deeper,
                                                                 time_deepest};
    struct seeded_random seeded;
    double most = 0;
    seeded_random_init(&seeded, 9);
    save(0, ODD_TYPICAL);
    save(1, class);
    for (size_t at = 0; at < POSITIONS; at++) {
        struct welch_class time[2] = {{0}};
        for (size_t i = 0; i < WARM_UP + RUNS; i++) {
            const size_t side = (size_t)seeded_random_below(&seeded, 2);
            load(side);
            const double ns = position[at](run);
            if (i >= WARM_UP) {
                runs[i - WARM_UP] = (struct run){ns, side};
            }
        }
        qsort(runs, RUNS, sizeof *runs, compare_runs);
        const double slow = runs[RUNS / 10 * 9].ns;
        for (size_t i = 0; i < RUNS && runs[i].ns <= slow; i++) {
            welch_add(&time[runs[i].class], runs[i].ns);
        }
        CHECK(time[0].count > RUNS / 8 && time[1].count > RUNS / 8);
        most = fmax(most, fabs(welch_t(&time[1], &time[0])));
    }
    return most;
}

/* Prints the class that stands out most; returns whether a task is as it should be. */
static bool judge(const char *name, computation *run, const char *steps, bool is_planted)
{
    enum odd_class worst = ODD_TYPICAL;
    double most = 0;
    for (int class = ODD_ZERO; class < ODD_CLASSES; class ++) {
        const double t = compare(run, (enum odd_class) class);
        worst = t > most ? (enum odd_class) class : worst;
        most = fmax(most, t);
    }
    const double twin = compare(run, ODD_TYPICAL);
    printf("%-28s %10s %8.2f %8.2f   %-10s %s\n", name, steps, twin, most, odd_class_name(worst),
           most > told_apart ? "told apart" : "not told apart");
    return (most > told_apart) == is_planted && twin <= told_apart;
}

int main(int argument_count, char **argument)
{
    const bool steps_only = argument_count > 1 && strcmp(argument[1], "--steps") == 0;
    const int named = steps_only ? 2 : 1;
    const char *only = argument_count > named ? argument[named] : "";
    struct trace trace;
    bool good = true;
    trace_init(&trace, STEPS_MAX);
    printf("%-28s %10s %8s %8s   %-10s\n", "task", "steps", "twin |t|", "|t|", "worst");
    for (size_t i = 0; i < odd_task_count; i++) {
        if (strncmp(only, odd_tasks[i].name, strlen(only)) == 0) {
            char steps[32];
            const bool same = steps_are_equal(&trace, &odd_tasks[i]);
            (void)snprintf(steps, sizeof steps, "%zu", trace.count);
            good = same && good;
            if (steps_only) {
                printf("%-28s %10s\n", odd_tasks[i].name, same ? steps : "DIFFER");
                continue;
            }
            begin(&odd_tasks[i], TIME_BATCH);
            good = judge(odd_tasks[i].name, odd_run, same ? steps : "DIFFER", false) && good;
            odd_free(&world);
        }
    }
    if (!steps_only) {
        begin(&odd_tasks[0], TIME_BATCH);
        good = judge("planted: branches", branches, "-", true) && good;
        good = judge("planted: divisions", divides, "-", true) && good;
        odd_free(&world);
    }
    printf("verdict: %s\n", good ? "pass" : "fail");
    trace_free(&trace);
    return good ? 0 : 1;
}
