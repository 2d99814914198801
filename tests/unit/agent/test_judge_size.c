/* What a job needs of a machine: the planned memory is what reading and computing really take. */

#include "agent/judge.h"
#include "job/round.h"
#include "job/work.h"
#include "task/answer.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 1500 };

static struct job job_of(const char *stage, unsigned features)
{
    char text[2048];
    struct job job;
    struct why why = {{0}};
    const int length =
        snprintf(text, sizeof text,
                 "hedgerow: 1\n"
                 "job: large\n"
                 "data:\n"
                 "  label: {column: y, centre: 0, half_width: 1}\n"
                 "  features:\n"
                 "    - {column: a, centre: 0, half_width: 1}\n"
                 "  map: {kind: fourier, kernel: gaussian, gamma: 1, features: %u, seed: 42}\n"
                 "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1}\n"
                 "cohort: {minimum: 3, deadline_s: 30}\n"
                 "stages:\n%s",
                 features, stage);
    cr_assert_eq(job_parse(&job, (struct slice){text, (size_t)length}, "job.yml", &why), STATUS_OK,
                 "%s", why.text);
    return job;
}

#define FIT                                                                                        \
    "  - {task: fit, loss: squared, lambdas: [0.1], share: 1, tolerance: 0.001, grid_bits: 16}\n"
#define PREDICT                                                                                     \
    "  - {task: predict, loss: squared, lambdas: [0.5], share: 1, tolerance: 0.01, grid_bits: 16, " \
    "kernel: {kind: gaussian, gamma: 1}, points: [[0.5]]}\n"

#define SUMS "  - {task: statistics, lambdas: [0.1], batch: 1500, share: 1, grid_bits: 16}\n"

static enum status read_and_fit(const struct job *job, char *records)
{
    struct dataset data = {0};
    struct private_vector vector = {0};
    struct why why = {{0}};
    size_t order[RECORDS];
    enum status status =
        dataset_parse(&data, (struct slice){records, strlen(records)}, "records", &job->schema,
                      &(struct dataset_options){.use = DATASET_LEARN}, &why);
    for (size_t i = 0; i < RECORDS; i++) {
        order[i] = i;
    }
    if (status == STATUS_OK) {
        const struct task_input input = {
            .job = job, .stage = &job->stage[0], .data = &data, .order = order};
        status = task_run(&vector, &input, &why);
    }
    private_vector_free(&vector);
    dataset_free(&data);
    return status;
}

/* What the sources under test hold of the heap, and the most that they held. */
static int64_t held; /* below 0 where others allocated what was freed here */
static int64_t held_most;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *memory);

static void *counted(void *memory)
{
    held += (int64_t)malloc_usable_size(memory);
    held_most = held > held_most ? held : held_most;
    return memory;
}

void *__wrap_malloc(size_t size)
{
    return counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return counted(__real_calloc(count, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return counted(__real_aligned_alloc(alignment, size));
}

void __wrap_free(void *memory)
{
    held -= (int64_t)malloc_usable_size(memory);
    __real_free(memory);
}

static char *made_records(void)
{
    char *text = malloc(RECORDS * 16 + 8);
    cr_assert(text != NULL);
    size_t used = (size_t)sprintf(text, "a,y\n");
    for (int i = 0; i < RECORDS; i++) {
        used += (size_t)sprintf(text + used, "%.3f,%.2f\n", (i % 997) / 997.0, (i % 7) / 7.0);
    }
    return text;
}

static void expect_enough(const char *stage, unsigned features)
{
    const double slack = 4.5e6; /* the reader's text, and matrices are in pages of 2 MiB */
    const struct work_size size = {.records = RECORDS, .agents = 3};
    struct job job = job_of(stage, features);
    char *records = made_records();
    struct work_need need;
    struct why why = {{0}};
    cr_assert_eq(work_of_stage(&need, &job, 0, size, &why), STATUS_OK, "%s", why.text);
    const int64_t before = held;
    held_most = held;
    cr_assert_eq(read_and_fit(&job, records), STATUS_OK);
    const double most = (double)(held_most - before);
    cr_expect(most <= need.bytes + slack, "%u: %g of %g", features, most, need.bytes);
    cr_expect(most >= 0.5 * need.bytes, "%u: %g of %g", features, most, need.bytes);
    free(records);
    job_free(&job);
}

Test(judge_size, what_is_planned_is_what_is_taken)
{
    expect_enough(FIT, 1000);   /* fewer features than records: a matrix of features */
    expect_enough(FIT, 2000);   /* more: a matrix of records */
    expect_enough(PREDICT, 64); /* a kernel's matrix of records */
    expect_enough(SUMS, 500);   /* a copy of the records, and products of features */
}

Test(judge_size, operations_grow_with_records_and_features)
{
    struct job small = job_of(FIT, 100);
    struct job large = job_of(FIT, 1000);
    struct work_need a;
    struct work_need b;
    struct work_need c;
    cr_assert_eq(work_of_stage(&a, &small, 0, (struct work_size){2000, 3}, NULL), STATUS_OK);
    cr_assert_eq(work_of_stage(&b, &large, 0, (struct work_size){2000, 3}, NULL), STATUS_OK);
    cr_assert_eq(work_of_stage(&c, &large, 0, (struct work_size){4000, 3}, NULL), STATUS_OK);
    cr_expect(0 < a.flops && a.flops < b.flops && b.flops < c.flops);
    cr_expect(0 < a.bytes && a.bytes < b.bytes && b.bytes < c.bytes);
    job_free(&small);
    job_free(&large);
}

Test(judge_size, a_job_that_does_not_fit_is_refused_with_the_numbers)
{
    struct job job = job_of(FIT, 16384);
    struct why why = {{0}};
    cr_expect_eq(judge_memory(0, &job, 2000, &why), STATUS_OK, "no limit is known");
    cr_expect_eq(judge_memory(UINT64_C(4000000000), &job, 2000, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(judge_memory(200000000, &job, 2000, &why), STATUS_REFUSED);
    cr_expect(strstr(why.text, "stage 1, fit, needs ") != NULL, "%s", why.text);
    cr_expect(strstr(why.text, "2000 records of 16385 features") != NULL, "%s", why.text);
    cr_expect(strstr(why.text, "200 MB are left: raise memory_mb_max") != NULL, "%s", why.text);
    job_free(&job);
}

/* Operations over the speed, twice: the machine has other work, too. */
Test(judge_size, a_job_that_does_not_fit_into_its_slot_is_refused_with_a_slot_that_is_long_enough)
{
    struct job job = job_of(FIT, 100);
    struct why why = {{0}};
    struct work_need need;
    cr_assert_eq(work_of_stage(&need, &job, 0, (struct work_size){2000, 3}, NULL), STATUS_OK);
    const double speed = need.flops / 2; /* two seconds of work */
    char wanted[64];
    cr_expect_eq(work_slot_ms(need.flops, speed), 4000);
    cr_expect_eq(judge_slot(0, 1, &job, 2000, &why), STATUS_OK, "no speed is known");
    cr_expect_eq(judge_slot(speed, 4000, &job, 2000, &why), STATUS_OK, "%s", why.text);
    cr_expect_str_eq(why.text, "the job needs a slot of 4000 ms here, and answer_slot_ms is 4000");
    cr_expect_eq(judge_slot(speed, 3999, &job, 2000, &why), STATUS_REFUSED);
    cr_expect(strstr(why.text, "its stage 1, fit, takes up to ") != NULL, "%s", why.text);
    cr_expect(strstr(why.text, "set answer_slot_ms to 4000 or more in the policy (it is 3999)") !=
                  NULL,
              "%s", why.text);
    (void)snprintf(wanted, sizeof wanted, "%.2g operations a second measured here", speed);
    cr_expect(strstr(why.text, wanted) != NULL, "%s", why.text);
    job_free(&job);
}

/* What no plan covers is refused and not let through: its second lambda takes more operations than any solver
 * is given, and its records' matrix more memory than the machine has. */
Test(judge_size, a_job_that_nobody_can_plan_is_refused)
{
    static const char stages[] =
        "  - {task: predict, loss: squared, lambdas: [1, 0.001], share: 1, tolerance: 0.01, grid_bits: 16, "
        "kernel: {kind: gaussian, gamma: 1}, points: [[0.5]]}\n";
    struct job job = job_of(stages, 10);
    struct why why = {{0}};
    cr_expect_eq(judge_memory(4000000000, &job, 100000, &why), STATUS_REFUSED);
    cr_expect_neq(why.text[0], '\0');
    cr_expect_eq(judge_slot(1e9, 60000, &job, 100000, &why), STATUS_REFUSED);
    job_free(&job);
}
