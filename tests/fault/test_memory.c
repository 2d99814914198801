/* Every allocation that a machine makes in an undisturbed run is refused once, the n-th in the n-th
 * run: the step says STATUS_NO_MEMORY, the program begins anew from its journal, and the job ends
 * with everything as if nothing had happened. malloc and its kin are wrapped by the linker. Only
 * GMP's memory is never refused. Without memory GMP ends its process, and this test runs in that
 * process. With sanitizers every eighth allocation is refused: an allocation costs ten times as much
 * there, and the build without them refuses each. */

#include "sim/world.h"

#include <criterion/criterion.h>
#include <gmp.h>
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
enum { STRIDE = 8 };
#else
enum { STRIDE = 1 };
#endif

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *old);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *old);

static struct {
    bool watching;    /* the program under test is running */
    size_t countdown; /* allocations until one is refused; 0: none */
    bool refused;     /* one was, since the program was entered */
    bool ever;        /* one was, in this run */
    int64_t balance;  /* blocks taken and not given back */
    size_t under_test;
} memory;

static bool refuse(void)
{
    if (!memory.watching || memory.countdown == 0 || --memory.countdown > 0) {
        return false;
    }
    memory.refused = true;
    memory.ever = true;
    return true;
}

void *__wrap_malloc(size_t size)
{
    void *block = refuse() ? NULL : __real_malloc(size);
    memory.balance += block != NULL;
    return block;
}

void *__wrap_calloc(size_t count, size_t size)
{
    void *block = refuse() ? NULL : __real_calloc(count, size);
    memory.balance += block != NULL;
    return block;
}

void *__wrap_realloc(void *old, size_t size)
{
    if (refuse()) {
        return NULL;
    }
    void *block = __real_realloc(old, size);
    memory.balance += old == NULL && block != NULL;
    return block;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    void *block = refuse() ? NULL : __real_aligned_alloc(alignment, size);
    memory.balance += block != NULL;
    return block;
}

void __wrap_free(void *old)
{
    memory.balance -= old != NULL;
    __real_free(old);
}

static void enter(UNUSED struct world *world, const struct node *node)
{
    memory.watching = node->number == memory.under_test;
}

static bool leave(UNUSED struct world *world, UNUSED const struct node *node)
{
    bool refused = memory.refused;
    memory.watching = false;
    memory.refused = false;
    return refused;
}

/* Returns whether an allocation was refused. If none was, the run has fewer allocations. */
static bool run(size_t under_test, size_t refuse_at, enum trial trial, enum local_trial local)
{
    static struct world world;
    struct plan plan;
    int64_t before = memory.balance;
    plan_calm(&plan, 1);
    plan.trial = trial;
    plan.local = local;
    plan.deadline_s = 1000; /* long, so that a program that begins anew is back in time */
    plan.join_deadline_s = 1000;
    memory.under_test = under_test;
    memory.countdown = refuse_at;
    memory.ever = false;
    world_init(&world, &plan, false);
    world.entered = enter;
    world.left = leave;
    world_run(&world);
    cr_assert_str_eq(world.failure, "", "allocation %zu: %s", refuse_at, world.failure);
    world_free(&world);
    cr_assert_eq(memory.balance, before, "allocation %zu: a leak of %lld blocks", refuse_at,
                 (long long)(memory.balance - before));
    return memory.ever;
}

static void refuse_each(size_t under_test, enum trial trial, enum local_trial local)
{
    size_t position = 1;
    mp_set_memory_functions(NULL, NULL, NULL); /* GMP's own, which the linker does not wrap */
    (void)run(under_test, 0, trial, local);
    while (run(under_test, position, trial, local)) {
        position += STRIDE;
    }
    cr_assert_gt(position, 40, "only %zu allocations were met", position - 1);
}

Test(memory, an_agent_refused_any_allocation_begins_anew)
{
    refuse_each(1, TRIAL_LOCAL, LOCAL_FITS);
    refuse_each(1, TRIAL_LOCAL, LOCAL_ANSWERS);
    refuse_each(1, TRIAL_LOCAL, LOCAL_STREAM);
}

Test(memory, a_coordinator_refused_any_allocation_begins_anew)
{
    refuse_each(COORDINATOR, TRIAL_LOCAL, LOCAL_FITS);
    refuse_each(COORDINATOR, TRIAL_LOCAL, LOCAL_ANSWERS);
    refuse_each(COORDINATOR, TRIAL_LOCAL, LOCAL_STREAM);
}

Test(memory, under_central_trust_all_begin_anew)
{
    for (int trial = TRIAL_LOCAL + 1; trial < TRIAL_COUNT; trial++) {
        refuse_each(1, (enum trial)trial, LOCAL_FITS);
        refuse_each(COORDINATOR, (enum trial)trial, LOCAL_FITS);
    }
}
