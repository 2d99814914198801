/* What agents compute of each record for the self-tuning learner, an instruction at a time. */

#include "learn/features_normal.h"
#include "learn/selftune.h"

#include "tests/support/trace.h"

#include <criterion/criterion.h>
#include <math.h>

enum { FEATURES = 7, STATE_MOST = 200 };

static void shown_of(double *shown, const struct selftune *stage, struct public_random *random)
{
    for (size_t i = 0; i < selftune_shown_count(stage); i++) {
        const double x = public_random_normal(random);
        shown[i] = i == 0 ? 1 : fmax(-1, fmin(1, x));
    }
}

struct transformed {
    const struct selftune *stage;
    double shown[STATE_MOST];
    double z[FEATURES];
    double u[FEATURES + 1];
};

static void transform(void *argument)
{
    struct transformed *t = argument;
    selftune_transform(t->u, t->z, t->shown, t->stage);
}

Test(selftune_trace, transforms_every_record_by_the_same_instructions)
{
    static const double values[] = {0, -0.0, 1, -1, 5e-324, -1e-310, 0.5, 1e-150, 0x1p-100, 0.3};
    struct public_random random = public_random_from(23);
    for (int sight = 0; sight < SIGHTS; sight++) {
        const struct selftune stage = {.feature_count = 7,
                                       .output_count = 1,
                                       .sight = (enum selftune_sight)sight,
                                       .steps = 1,
                                       .quantile = 0.3};
        struct transformed t = {.stage = &stage};
        struct trace trace;
        trace_init(&trace, 100000);
        shown_of(t.shown, &stage, &random);
        t.shown[9] = 0;
        for (int i = 0; i < 50; i++) {
            for (size_t j = 0; j < 7; j++) {
                t.z[j] = values[public_random_next(&random) % 10];
            }
            cr_assert(trace_run(&trace, transform, &t), "step %zu", trace.differs_at);
        }
        cr_assert(!trace.is_subnormal && trace.count > 20);
        trace_free(&trace);
    }
}
