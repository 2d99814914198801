/* selftune_state.c - the state of classes, in this order: C (1), V (m, D), if the stage looks mu (d) and W (d, d) or (d); then
 * Pv (m, D), scale (d), steep (1), steps done (1), the iterates before V that the mean may need, the latest first, and what gradients
 * told of the columns (selftune_secant.c). Here is how long it is, and whether one that was shown can be used. */

#include "base/check.h"
#include "learn/dense.h"
#include "learn/selftune_private.h"
#include "learn/selftune_secant.h"

#include <math.h>

size_t selftune_window(const struct selftune *stage)
{
    return stage->steps >= 5 ? 3 : stage->steps >= SELFTUNE_STEPS_OF_MEAN ? 2 : 1;
}

struct selftune_parts selftune_parts_of(double *state, const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    struct selftune_parts parts = {
        .d = d, .e = selftune_column_count(stage), .clip = state, .v = state + 1};
    parts.width = stage->output_count * (parts.e + 1);
    double *next = parts.v + parts.width;
    if (stage->sight != SIGHT_NONE) {
        parts.mu = next;
        parts.w = next + d;
        parts.bend = parts.w + selftune_white_count(stage);
    }
    parts.prior = state + selftune_shown_count(stage);
    parts.scale = parts.prior + parts.width;
    parts.steep = parts.scale + parts.e;
    parts.done = parts.steep + 1;
    parts.past = parts.done + 1;
    parts.secant = parts.past + (selftune_window(stage) - 1) * parts.width;
    return parts;
}

size_t selftune_white_count(const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    return stage->sight == SIGHT_PRODUCTS ? d * d : stage->sight == SIGHT_NONE ? 0 : d;
}

size_t selftune_product_count(const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    return stage->sight == SIGHT_PRODUCTS ? d * (d + 1) / 2 : stage->sight == SIGHT_SQUARES ? d : 0;
}

size_t selftune_column_count(const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    return stage->bends ? d + d * (d + 1) / 2 : d;
}

size_t selftune_sum_count(const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    const bool one_sum = stage->sight == SIGHT_PRODUCTS && stage->output_count == 1;
    return stage->sight == SIGHT_NONE ? 0 : one_sum ? d : selftune_class_count(stage) * d;
}

enum status selftune_check(const struct selftune *stage, struct why *why)
{
    CHECK((unsigned)stage->sight < SIGHTS);
    if (stage->feature_count == 0 || stage->feature_count > SELFTUNE_FEATURES_MAX) {
        return why_refuse(why, "from 1 to %d features", SELFTUNE_FEATURES_MAX);
    }
    if (stage->output_count == 0 || stage->output_count == 2 ||
        stage->output_count > SELFTUNE_OUTPUTS_MAX) {
        return why_refuse(why, "one output for two classes, or one for each of 3 to %d classes",
                          SELFTUNE_OUTPUTS_MAX);
    }
    const uint32_t least = stage->sight == SIGHT_SUMS || stage->sight == SIGHT_SQUARES
                               ? 0
                               : 1; /* the sums are a model */
    if (stage->steps < least || stage->steps > SELFTUNE_STEPS_MAX) {
        return why_refuse(why, "from %u to %d steps", (unsigned)least, SELFTUNE_STEPS_MAX);
    }
    if (stage->bends && (stage->sight != SIGHT_PRODUCTS || stage->steps < 3 ||
                         stage->feature_count > SELFTUNE_BENDS_MAX)) {
        return why_refuse(why, "products of 1 to %d columns after a look at products, and 3 steps",
                          SELFTUNE_BENDS_MAX);
    }
    if (!(stage->quantile > 0 && stage->quantile <= 1)) {
        return why_refuse(why, "the clip's quantile is above 0 and at most 1");
    }
    return STATUS_OK;
}

size_t selftune_shown_count(const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    CHECK(selftune_check(stage, NULL) == STATUS_OK);
    const size_t e = selftune_column_count(stage);
    return 1 + stage->output_count * (e + 1) + (stage->sight != SIGHT_NONE ? d : 0) +
           selftune_white_count(stage) + (e - d);
}

size_t selftune_class_count(const struct selftune *stage)
{
    return stage->output_count == 1 ? 2 : stage->output_count;
}

size_t selftune_steep_place(const struct selftune *stage)
{
    const size_t e = selftune_column_count(stage);
    return selftune_shown_count(stage) + stage->output_count * (e + 1) + e;
}

size_t selftune_state_count(const struct selftune *stage)
{
    const size_t e = selftune_column_count(stage);
    const size_t width = stage->output_count * (e + 1);
    return selftune_shown_count(stage) + width + e + 2 + (selftune_window(stage) - 1) * width +
           selftune_secant_count(stage);
}

/* Whether each number is a number and at most `most`. */
static bool all_within(const double *x, size_t count, double most)
{
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(x[i]) <= most)) {
            return false;
        }
    }
    return true;
}

enum status selftune_check_shown(const double *shown, const struct selftune *stage)
{
    const size_t d = stage->feature_count;
    const size_t count = selftune_shown_count(stage);
    const size_t e = selftune_column_count(stage);
    const size_t width = stage->output_count * (e + 1);
    const double *v = shown + 1;
    const double *mu = v + width;
    bool good = shown[0] >= STANDIN_CLIP_LEAST && shown[0] <= SELFTUNE_CLIP_MOST((double)e) &&
                all_within(v, width, SELFTUNE_MOST);
    if (stage->sight != SIGHT_NONE) {
        good = good && all_within(mu, d, 1) &&
               all_within(mu + d, selftune_white_count(stage), 32) &&
               all_within(mu + d + selftune_white_count(stage), e - d, 1);
        for (const double *w = mu + d; w < shown + count; w++) {
            good = good && dense_flushed(*w) == *w;
        }
    }
    return good ? STATUS_OK : STATUS_INVALID;
}
