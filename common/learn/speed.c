/* What solvers spend their time on, in small: the proved methods' products of a matrix with a vector, where the
 * matrix fits into a cache and where it does not, and descent from record to record. Operations are counted as
 * by erm_plan.c. The factorisations of the fast methods run faster than they are counted there. */

#include "learn/speed.h"

#include "learn/erm_core.h"

#include <math.h>
#include <time.h>

enum { TRIES = 5, TRY_NS = 200000, BURSTS_MAX = 100, PASSES = 4 };

struct made_up {
    size_t m;
    size_t d;
    enum loss_kind loss;
    double lambda; /* it decides how many steps a burst has */
};

static const struct made_up work[] = {{1024, 8, LOSS_LOGISTIC, 1},
                                      {256, 1024, LOSS_LOGISTIC, 1},
                                      {1024, 8, LOSS_HINGE, 0.01},
                                      {256, 256, LOSS_HINGE, 0.01}};

/* Numbers that look like records: every row of norm 1, both labels. */
static void make_up(double *x, double *y, const struct made_up *made)
{
    uint64_t state = 1;
    for (size_t i = 0; i < made->m; i++) {
        for (size_t j = 0; j < made->d; j++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            x[i * made->d + j] = (state >> 63 ? 1 : -1) / sqrt((double)made->d);
        }
        y[i] = state >> 62 & 1 ? 1 : -1;
    }
}

/* One burst. Returns how many operations it was; 0 when there was no memory. */
static double burst(double *w, const struct core *core)
{
    const double pass = (double)core->m * (4 * (double)core->d + 50);
    struct erm_plan plan;
    bool certified = false;
    if (core->loss.kind == LOSS_HINGE) {
        return dual_descend(w, &certified, core, PASSES) == STATUS_OK ? PASSES * pass : 0;
    }
    return core_plan(&plan, core, NULL) == STATUS_OK &&
                   core_solve_slowly(w, core, NULL) == STATUS_OK
               ? (double)plan.steps * pass
               : 0;
}

/* As many bursts as a clock can time. */
static double one_try(double *w, const struct core *core, speed_clock *now_ns)
{
    const int64_t before_ns = now_ns();
    int64_t took_ns = 0;
    double flops = 0;
    for (int i = 0; i < BURSTS_MAX && took_ns < TRY_NS; i++) {
        flops += burst(w, core);
        took_ns = now_ns() - before_ns;
    }
    return took_ns > 0 ? flops * 1e9 / (double)took_ns : 0;
}

static double speed_of(const struct made_up *made, speed_clock *now_ns)
{
    double *x = core_numbers(made->m, made->d);
    double *y = core_numbers(made->m, 1);
    double *w = core_numbers(made->d, 1);
    double fastest = 0;
    if (x != NULL && y != NULL && w != NULL) {
        const struct core core = {.loss = {.kind = made->loss},
                                  .lambda = made->lambda,
                                  .tolerance = 0.1,
                                  .kappa = 1,
                                  .m = made->m,
                                  .d = made->d,
                                  .x = x,
                                  .y = y};
        make_up(x, y, made);
        for (int i = 0; i < TRIES; i++) {
            fastest = fmax(fastest, one_try(w, &core, now_ns));
        }
    }
    core_numbers_free(x, made->m * made->d);
    core_numbers_free(y, made->m);
    core_numbers_free(w, made->d);
    return fastest;
}

int64_t speed_thread_ns(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0
               ? (int64_t)now.tv_sec * 1000000000 + now.tv_nsec
               : 0;
}

double speed_measure(speed_clock *now_ns)
{
    double slowest = HUGE_VAL;
    for (size_t i = 0; i < sizeof work / sizeof work[0]; i++) {
        slowest = fmin(slowest, speed_of(&work[i], now_ns));
    }
    return slowest;
}
