/* How far a replaced record moves a look and a step. z are the columns, each in [-1, 1], d of them; w those of the other
 * record; c0, c1, c2 what counts, sums and products z_i z_j (i <= j) are weighted with.
 *
 * L1. With a = (z + w)/2 and b = (z - w)/2, |a_i| + |b_i| <= 1, so |a|_1 <= d - s with s = |b|_1. The sums move by 2 s. The
 * full matrices differ by 2 (a b' + b a'), in all by at most 4 |a|_1 |b|_1 <= 4 s (d - s); their diagonals by 4 sum |a_i b_i|
 * <= 4 sum |b_i| (1 - |b_i|) <= 4 s (1 - s/d). The triangle is half of both: 2 (1 + 1/d) s (d - s). With k = 2 c2 (1 + 1/d)
 * the vector moves by at most 2 c0 + 2 c1 s + k s (d - s), whose largest value is 2 c0 + c1 d + k d^2/4 + c1^2/k.
 *
 * L2. With t = <z, w> the sums move by the root of |z|^2 + |w|^2 - 2 t, the full matrices by that of |z|^4 + |w|^4 - 2 t^2,
 * the diagonals by that of d at most; |z|^2 <= d. The triangle's square is half of the full's and the diagonal's. So the
 * vector's is at most 2 c0^2 + c1^2 (2 d - 2 t) + c2^2 (d^2 - t^2 + d/2), and at its largest
 * 2 c0^2 + 2 d c1^2 + c1^4/c2^2 + c2^2 (d^2 + d/2).
 *
 * Sums of several classes and products: records of one class as above, without the counts, as they stay. Records of two classes
 * move the sums by |z|_1 + |w|_1 <= 2 d, whatever the products do. L1: 2 c0 + 2 c1 d + k d^2/4, which is the larger if c1 <= k d.
 * L2: by the root of 2 c0^2 + 2 d c1^2 + c2^2 (d^2 + d/2), or, of one class, of 2 d c1^2 + c1^4/c2^2 + c2^2 (d^2 + d/2).
 *
 * Squares of a number's look, with t = |z_i - w_i| <= 2: z_i^2 - w_i^2 is at most t (2 - t). L1: a column moves by
 * t (c1 + c2 (2 - t)) <= 2 c1 if c2 <= c1/2; L2: by the root of t^2 (c1^2 + c2^2 (2 - t)^2), which grows with t up to 4 c1^2 if
 * c2^2 <= 2 c1^2. So squares cost nothing: 2 d c1, and 4 d c1^2.
 *
 * Squares of classes: records of one class move sums and squares as above, and no count. Records of two classes move the sums
 * of both. With a = |z_i| and b = |w_i|, a >= b, a column moves by c1 (a + b) + c2 (a^2 - b^2), which grows with a, and at
 * a = 1 with b if c2 <= c1/2: 2 c1 at most. L2: by the root of c1^2 (a^2 + b^2) + c2^2 (a^2 - b^2)^2; at a = 1 that is convex
 * in b^2, so at most 2 c1^2 or c1^2 + c2^2 <= 3 c1^2. So: 2 c0 + 2 d c1, and the larger of 4 d c1^2 and 2 c0^2 + 3 d c1^2.
 *
 * Where columns are dealt out to groups of sites, a site's answer has those of its group alone: d and B are of a group.
 *
 * A second look is at columns less what the coordinator says, of which each is in [-2, 2], clipped alike: nothing changes. How many
 * they are follows from the state. So does c1, and a site's columns together have what they have in the first look.
 *
 * Sums of classes without squares: a record is shortened to the norm B (stage.h), and adds c3 times the share of it that is
 * left, at most c3, to its class. Records of two classes move the vector by at most 2 c0 + 2 c3 + 2 c1 B; in L2 by the root of
 * 2 c0^2 + 2 c3^2 + 2 c1^2 B^2. Records of one class by c3 + 2 c1 B at most; in L2 by the root of c3^2 + 4 c1^2 B^2.
 *
 * text.c chooses weights that make all of them 1. The grid adds what dp/encode.h says.
 *
 * A label that is a number is a column like the others, in [-1, 1] to the last bit: d counts it, and c0 = 0.
 *
 * A step: gradients are whole vectors of a bounded norm (learn/gradient.h), and move by twice that. For a number a record adds
 * from 0 to count_step whole grid steps to the sum of misses, which moves by count_step at most. */

#include "task/learn/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct round_groups groups_of(const struct stage *stage, uint32_t within)
{
    const struct learn_stage at = learn_at(learn_stage(stage), within);
    const struct learn_stage *own = &at;
    if (own->groups <= 1 || !learn_is_look(stage, within)) {
        return (struct round_groups){.count = 1};
    }
    const size_t classes = learn_class_count(stage);
    return (struct round_groups){.count = own->groups,
                                 .own = classes * (2 + learn_own_columns(own))};
}

/* Of one site's answer. */
static size_t look_count(const struct stage *stage, uint32_t within)
{
    const struct round_groups groups = groups_of(stage, within);
    return groups.count > 1 ? groups.own
                            : learn_class_count(stage) + learn_kept_count(stage) +
                                  learn_sum_count(stage) + learn_product_count(stage);
}

static size_t answer_count(const struct round_asked *asked)
{
    const struct stage *stage = asked->stage;
    const struct round_groups groups = groups_of(stage, asked->within);
    if (groups.count > 1) {
        return groups.count * (groups.own + 2);
    }
    if (learn_is_look(stage, asked->within)) {
        return look_count(stage, asked->within);
    }
    return learn_gradient_count(stage) + learn_carried_count(stage);
}

static uint64_t look_sensitivity(const struct stage *stage, uint32_t within)
{
    const double whole = ldexp(1 + 0x1p-40, (int)learn_stage(stage)->look_bits);
    const double count = (double)look_count(stage, within);
    return (uint64_t)ceil(whole) +
           (uint64_t)ceil(learn_stage(stage)->tune.gaussian ? sqrt(count) : count);
}

static uint64_t step_sensitivity(const struct stage *stage)
{
    const struct learn_stage *own = learn_stage(stage);
    const uint64_t gradient = 2 * (uint64_t)learn_clip(stage);
    const uint64_t missed = own->is_number ? (uint64_t)own->count_step : 0;
    if (!own->tune.gaussian || missed == 0) {
        return gradient + missed;
    }
    const double squares = (double)(gradient * gradient + missed * missed); /* below 2^36 */
    return (uint64_t)ceil(sqrt(squares) * (1 + 0x1p-40));
}

static enum status bounds(struct round_bounds *out, const struct round_asked *asked)
{
    const bool looks = learn_is_look(asked->stage, asked->within);
    out->sensitivity =
        looks ? look_sensitivity(asked->stage, asked->within) : step_sensitivity(asked->stage);
    /* For one number, by one record: a weight is at most 1, and no gradient's number above its clip. */
    out->high = (int64_t)asked->stage->batch
                << (looks ? learn_stage(asked->stage)->look_bits : LEARN_STEP_BITS);
    out->low = -out->high;
    return STATUS_OK;
}

static enum status need(struct work_need *out, const struct work_view *view)
{
    /* Whitening takes the columns alone; products of them are then one multiplication or two each. */
    const double columns = (double)learn_stage(view->stage)->tune.feature_count + 1;
    const double products = view->d - columns;
    out->flops = view->rows * (columns * columns + 4 * products + 30 * view->d * view->outputs);
    out->bytes =
        WORK_NUMBER * (view->rows * view->d + 3 * view->d * view->d + 5 * view->d * view->outputs);
    return STATUS_OK;
}

/* A line of what a round's noise is on one kind of number, of which a record adds `unit` grid steps. */
struct line {
    char what[TERMS_TEXT_BYTES];
    uint32_t within;
    double unit;
    double
        groups; /* that numbers are dealt out to: fewer sites tell of each, and its noise is larger */
    double noise_to_signal; /* of noise 1; 0 where nothing says */
    const char *measure;
};

static enum status describe_line(struct terms *terms, const struct terms_setting *setting,
                                 const struct line *wanted, struct why *why)
{
    const double records = (double)setting->agents * (double)setting->stage->batch;
    double steps = 0;
    struct terms_line *line = NULL;
    const enum status status = terms_begin_line(&line, &steps, terms, setting, wanted->within, why);
    if (status != STATUS_OK) {
        return status;
    }
    memcpy(line->what, wanted->what, sizeof line->what);
    (void)snprintf(line->unit, sizeof line->unit, "per record");
    line->noise = steps / wanted->unit / records * sqrt(fmax(wanted->groups, 1));
    line->noise_to_signal = NAN;
    if (wanted->measure != NULL) {
        line->noise_to_signal = line->noise * wanted->noise_to_signal;
        line->measure = wanted->measure;
    }
    return STATUS_OK;
}

enum { LINES = 6 };

/* What is said of columns before a record is seen: a number's value in its range, and one of a category's, which is -1 or 1. */
static const double number_size = 0.28;
static const double number_variance = 0.09;
static const double category_variance = 0.75;
static const double alike = 0.35; /* the correlation of two columns */

/* Returns the share that the clip leaves of a usual record. */
static double usual_share(const struct learn_stage *own, double numbers, double others)
{
    const double norm =
        own->tune.gaussian
            ? sqrt((number_variance + number_size * number_size / 2) * numbers + others)
            : number_size * numbers + others;
    return own->tune.sight == SIGHT_SUMS ? fmin(1, learn_reach(own, own->tune.feature_count) / norm)
                                         : 1;
}

/* The classes' sums are the model where no step follows. The noise on a class's mean is that on its sum over its share of the
 * records, and over what the clip leaves of them.
 *
 * Of two classes, whose stages are rehearsed, it is held against a column's spread alone. For several the noise of a score is held
 * against what tells classes apart: their means are a deviation apart along what the columns share, of numbers where
 * these are half of the columns at least. On made-up tables of 3 to 6 classes, of what a model without privacy has above the
 * largest class a sixth was lost where this is 0.3, a third at 0.5, and all at 1.8. */
static void judge_sums(struct line *line, const struct stage *stage)
{
    const struct learn_stage *own = learn_stage(stage);
    const struct schema *schema = &stage->schema;
    const double classes = (double)learn_class_count(stage);
    double numbers = 0;
    if (own->tune.steps > 0) {
        return;
    }
    for (size_t i = 0; i < schema->column_count; i++) {
        numbers += schema->column[i].kind == COLUMN_NUMBER ? 1 : 0;
    }
    const double others = (double)own->tune.feature_count - numbers;
    const double of_mean = classes / usual_share(own, numbers, others);
    if (own->tune.output_count == 1) {
        line->noise_to_signal = 2 * of_mean;
        line->measure = "the noise on a class's mean is as large as the columns' spread";
        return;
    }
    const bool is_number = 2 * numbers >= (double)schema->column_count;
    const double apart =
        is_number ? number_variance * sqrt(1 + alike * (numbers - 1)) : category_variance;
    line->noise_to_signal =
        of_mean * sqrt(number_variance * numbers + category_variance * others) / apart;
    line->measure = "the noise on the classes' means is as large as their usual distance";
}

/* The lines of a look: their number. */
static size_t look_lines(struct line *line, const struct stage *stage)
{
    const struct learn_stage *own = learn_stage(stage);
    const double look = ldexp(1, (int)own->look_bits);
    const size_t classes = learn_class_count(stage);
    const size_t columns = learn_column_count(stage);
    size_t count = 0;
    if (own->tune.sight == SIGHT_NONE) {
        return 0;
    }
    if (!own->is_number) {
        line[count] = (struct line){.unit = look * own->weights.count};
        (void)snprintf(line[count++].what, TERMS_TEXT_BYTES, "the counts of %zu classes", classes);
    }
    if (own->tune.sight == SIGHT_SUMS) {
        line[count] = (struct line){.unit = look * own->weights.kept};
        (void)snprintf(line[count++].what, TERMS_TEXT_BYTES,
                       "what the clip keeps of each of %zu classes", classes);
    }
    line[count] = (struct line){.unit = look * own->weights.sum};
    if (own->is_number) {
        (void)snprintf(line[count++].what, TERMS_TEXT_BYTES,
                       "the sums of %zu columns and the label", columns - 1);
    } else if (learn_sum_count(stage) == columns) {
        (void)snprintf(line[count++].what, TERMS_TEXT_BYTES, "the sums of %zu columns", columns);
    } else {
        judge_sums(&line[count], stage);
        line[count].groups = own->groups_second > 0 ? own->groups / ROUND_FIRST_TURN : own->groups;
        const int used =
            snprintf(line[count].what, TERMS_TEXT_BYTES,
                     "the sums of %zu columns of each of %zu classes", columns, classes);
        if (own->groups_second > 0) {
            (void)snprintf(
                line[count].what + used, TERMS_TEXT_BYTES - (size_t)used,
                ", each column from one of %u groups of the first three in five sites; the other sites "
                "look at the columns that these leave most unsure",
                own->groups);
        } else if (own->groups > 1) {
            (void)snprintf(line[count].what + used, TERMS_TEXT_BYTES - (size_t)used,
                           ", each column from one of %u groups of sites", own->groups);
        }
        count++;
    }
    if (own->tune.sight != SIGHT_SUMS) {
        line[count] = (struct line){.unit = look * own->weights.product};
        (void)snprintf(line[count++].what, TERMS_TEXT_BYTES, "the sums of %s of %zu columns%s",
                       own->tune.sight == SIGHT_PRODUCTS ? "products" : "squares",
                       columns - (own->is_number ? 1 : 0), own->is_number ? " and the label" : "");
    }
    return count;
}

static size_t step_lines(struct line *line, const struct stage *stage)
{
    const struct learn_stage *own = learn_stage(stage);
    const uint32_t last = stage->rounds - 1;
    if (own->tune.steps == 0) {
        return 0;
    }
    line[0] = (struct line){.within = last, .unit = (double)learn_clip(stage)};
    (void)snprintf(line[0].what, TERMS_TEXT_BYTES,
                   "each of %zu numbers of a gradient of length 1 (steps: %u%s)",
                   learn_gradient_count(stage), own->tune.steps,
                   own->tune.bends ? "; the second tries products of columns" : "");
    if (!own->is_number) {
        const bool two = own->tune.output_count == 1;
        line[0].noise_to_signal =
            learn_step_length(own) / sqrt(own->tune.steps) / (two ? LEARN_LONG : LEARN_LONG_MANY);
        line[0].measure = two ? "the steps' noise together is twice as long as the longest step"
                              : "the steps' noise together is as long as a usual model";
        return 1;
    }
    line[0].noise_to_signal =
        learn_number_length(own) * learn_number_noisier(stage->loss) / sqrt(own->tune.steps);
    line[0].measure = "the steps' noise together is as large as the label's spread";
    line[1] =
        (struct line){.what = "the sum of misses", .within = last, .unit = (double)own->count_step};
    return 2;
}

static enum status describe(struct terms *terms, const struct terms_setting *setting,
                            struct why *why)
{
    struct line line[LINES];
    size_t count = look_lines(line, setting->stage);
    count += step_lines(line + count, setting->stage);
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        status = describe_line(terms, setting, &line[i], why);
    }
    return status;
}

static enum status rehearse(struct rehearsal *out, const struct terms_setting *setting,
                            struct why *why)
{
    const struct stage *stage = setting->stage;
    const struct learn_stage *own = learn_stage(stage);
    const double look = ldexp(1, (int)own->look_bits);
    struct query_noise noise = {0};
    double first = 0;
    enum status status = terms_noise(&noise, setting, stage->rounds - 1, why);
    if (status == STATUS_OK) {
        status = terms_deviation(&first, setting, 0, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    *out = (struct rehearsal){.tune = own->tune,
                              .kind = stage->schema.label.kind,
                              .loss = stage->loss,
                              .planned = own->noise,
                              .schema = &setting->job->stage[setting->index].schema,
                              .records = (double)setting->agents * (double)stage->batch,
                              .tries_products = own->tune.bends,
                              .noises = noise.is_gaussian ? 0 : noise.draws,
                              .step = query_noise_deviation(&noise) / (double)learn_clip(stage)};
    if (own->is_number) {
        out->step_size = query_noise_deviation(&noise) / (double)own->count_step;
    }
    out->groups = own->groups;
    out->groups_second = own->groups_second;
    out->part_first = ROUND_FIRST_TURN;
    out->tune.bends = false; /* the made-up labels are of linear models */
    out->reach = learn_reach(own, own->tune.feature_count);
    if (own->tune.sight != SIGHT_NONE) {
        out->look_count = own->is_number ? 0 : first / (look * own->weights.count);
        out->look_sum = first / (look * own->weights.sum);
        out->look_kept = own->tune.sight == SIGHT_SUMS ? first / (look * own->weights.kept) : 0;
        out->look_product =
            own->tune.sight != SIGHT_SUMS ? first / (look * own->weights.product) : 0;
    }
    return STATUS_OK;
}

static size_t state_count(const struct stage *stage)
{
    return selftune_shown_count(&learn_stage(stage)->tune);
}

static enum round_input input_of(const struct stage *stage, uint32_t within)
{
    return learn_is_look(stage, within) && within == 0 ? INPUT_NONE : INPUT_STATE;
}

static size_t experts_changed(const struct stage *stage)
{
    return learn_expert_count(stage) - 1;
}

const struct task_bounds task_bounds_learn = {.input = INPUT_STATE,
                                              .plans_itself = true,
                                              .rounds_differ = true,
                                              .helps = HELP_RECORDS | HELP_FEATURES,
                                              .input_of = input_of,
                                              .state_count = state_count,
                                              .experts_at_end = learn_expert_count,
                                              .experts_changed = experts_changed,
                                              .answer_count = answer_count,
                                              .groups = groups_of,
                                              .bounds = bounds,
                                              .need = need,
                                              .describe = describe,
                                              .rehearse = rehearse};
