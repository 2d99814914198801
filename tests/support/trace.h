/* trace.h - every instruction that a computation executes and every address that it reads or writes,
 * compared between two runs. The processor stops after each instruction (the trap flag), so a single
 * branch or table index that depends on data is seen, without a clock. x86-64 and Linux. */

#ifndef SUPPORT_TRACE_H
#define SUPPORT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace {
    uint64_t *step; /* (2 most) the first run's: where, and what it addresses */
    size_t most;    /* steps that there is room for */
    size_t count;   /* of the first run */
    size_t at;      /* of the latest run */
    bool compares;  /* there is a first run */
    bool differs;
    size_t differs_at;      /* the step of the first difference */
    uint64_t differs_where; /* the instruction there */
    bool is_subnormal;      /* a run met a subnormal number, or made one */
};

void trace_init(struct trace *trace, size_t most);
void trace_free(struct trace *trace);

/** The next run is the first again. */
void trace_forget(struct trace *trace);

/** Around code that depends only on public numbers and would take long: it is not stepped through.
 * They do nothing outside trace_run. */
void trace_pause(void);
void trace_resume(void);

/**
 * Runs a computation an instruction at a time; the first run is kept, later ones are compared with it.
 * What run allocates must lie at the same addresses each time: trace_heap.h.
 *
 * A step is the instruction's address with the stack pointer, and its memory operand without the
 * constant in it (or the registers of a string instruction); of an integer division, whose time follows
 * its operands, these too. Floating-point division and square root are taken to be even.
 *
 * Returns whether all is as in the first run.
 */
bool trace_run(struct trace *trace, void (*run)(void *), void *argument);

#endif
