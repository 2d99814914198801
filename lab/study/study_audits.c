/* Each pair of neighbours differs in one record, and each mechanism has the noise that its claim of
 * epsilon 1 asks for. The score of a run is the likelihood ratio of what was released, which is all
 * that can be told - but where the release tells the neighbours apart for certain, the very number
 * that does. The lower bounds are audit/audit.h's.
 *
 * Answers and weights: one record, its label replaced by its negative. Its ridge at a tiny lambda
 * answers +1 or -1 at the record, the projection's full width apart; the hinge's minimiser at lambda 1
 * on one record (1, 1)/sqrt(2) moves by 1/lambda, along the diagonal: both reach the sensitivity.
 * Stream: the first record's label is replaced, the others have no feature: what remains of it at time
 * t is 2 t0^(1 - theta)/u. */

#include "lab/study/study_audits.h"

#include "dp/encode.h"
#include "dp/mechanism.h"
#include "lab/audit/audit.h"
#include "learn/kernel_machine.h"
#include "learn/online.h"
#include "learn/sensitivity.h"
#include "tests/support/seeded_random.h"

#include <math.h>

enum { WIDTH_MAX = 100, GRID_BITS = 12, STREAM_BITS = 26, INSTITUTIONS = 5, STEPS = 100 };
enum { POINTS = 2, SAMPLES = 100000, SCORE_ONE = 4096 };

/* Neighbours' exact vectors, and the noise on each number. */
struct pair {
    int64_t value[2][WIDTH_MAX];
    size_t width;
    uint64_t sensitivity[WIDTH_MAX]; /* of the scale: sensitivity 10^6 / micro */
    uint64_t micro;
    struct noise_laplace noise[WIDTH_MAX];
    bool tells; /* the release lets a number be had that the noise does not touch */
    bool point; /* it is a point of the expansion, `plain`; else the difference of two values */
    int64_t plain[2];
};

static double scale_of(const struct pair *pair, size_t i)
{
    return (double)pair->sensitivity[i] * 1e6 / (double)pair->micro;
}

/* What anybody reads off a release that tells: of a function plus b, seen at two points, the values'
 * difference; of an expansion whose coefficient carries b, its point. */
static enum status read_off(int64_t *score, const struct pair *pair, const struct random *random,
                            unsigned side)
{
    int64_t b = 0;
    const enum status status = noise_laplace_draw(&pair->noise[0], random, &b, 1);
    const int64_t first = pair->value[side][0] + b;
    const int64_t second = pair->value[side][1] + b;
    *score = pair->point ? pair->plain[side] : first - second;
    return status;
}

static enum status draw(void *self, const struct random *random, unsigned side, int64_t *score,
                        size_t count)
{
    const struct pair *pair = self;
    enum status status = STATUS_OK;
    for (size_t run = 0; run < count && status == STATUS_OK; run++) {
        double ratio = 0;
        if (pair->tells) {
            status = read_off(&score[run], pair, random, side);
            continue;
        }
        for (size_t i = 0; i < pair->width && status == STATUS_OK; i++) {
            int64_t released = 0;
            status = noise_laplace_draw(&pair->noise[i], random, &released, 1);
            released += pair->value[side][i];
            const double apart = fabs((double)(released - pair->value[1][i])) -
                                 fabs((double)(released - pair->value[0][i]));
            ratio += apart / scale_of(pair, i);
        }
        score[run] = (int64_t)rint(SCORE_ONE * ratio);
    }
    return status;
}

/* f(x) = <w, x> on one feature, or a kernel machine's answers. */
static struct dataset one_record(double *x, double *y, size_t d)
{
    return (struct dataset){.record_count = 1, .feature_count = d, .x = x, .y = y};
}

/* 7.1, 7.2: a kernel machine on one record; side 1 has another label, or another record. */
static enum status kernel_pair(struct pair *pair, enum study_release release, struct why *why)
{
    const struct kernel_problem problem = {.loss = {.kind = LOSS_SQUARED},
                                           .kernel = {.kind = KERNEL_GAUSSIAN, .rate = 1},
                                           .lambda = 1e-3,
                                           .tolerance = 1e-6,
                                           .record_count = 1,
                                           .feature_count = 1};
    const double points[POINTS] = {0.5, 0.2};
    enum status status = STATUS_OK;
    for (unsigned side = 0; side < 2 && status == STATUS_OK; side++) {
        double x = release == RELEASE_KERNEL && side == 1 ? -0.5 : 0.5;
        double y = release == RELEASE_KERNEL || side == 0 ? 1 : -1;
        double f[POINTS] = {0, 0};
        const struct dataset data = one_record(&x, &y, 1);
        struct kernel_model model;
        status = kernel_fit(&model, &problem, &data, why);
        if (status == STATUS_OK) {
            kernel_predict(f, &model, points, POINTS);
            for (size_t i = 0; i < POINTS; i++) {
                pair->value[side][i] = encode_value(fmax(-1, fmin(1, f[i])), GRID_BITS);
            }
            pair->plain[side] = encode_value(model.x[0], GRID_BITS);
        }
        kernel_model_free(&model);
    }
    const size_t charged = release == RELEASE_ANSWERS ? POINTS : 1;
    if (status == STATUS_OK) {
        status = sensitivity_predict_l1(&pair->sensitivity[0], &problem, charged, GRID_BITS, why);
    }
    pair->sensitivity[1] = pair->sensitivity[0];
    pair->width = charged;
    pair->tells = release != RELEASE_ANSWERS;
    pair->point = release == RELEASE_KERNEL;
    return status;
}

/* Ours for 7.2, and 7.9: the weights of a hinge loss; the noise is for `records` records. */
static enum status weights_pair(struct pair *pair, size_t records, struct why *why)
{
    struct erm_problem problem = {.loss = {.kind = LOSS_HINGE},
                                  .lambda = 1,
                                  .tolerance = 1e-9,
                                  .record_count = 1,
                                  .feature_count = 2};
    const double part = schema_scale(2);
    enum status status = STATUS_OK;
    for (unsigned side = 0; side < 2 && status == STATUS_OK; side++) {
        double x[2] = {part, part};
        double y = side == 0 ? 1 : -1;
        double w[2] = {0, 0};
        const struct dataset data = one_record(x, &y, 2);
        status = erm_solve(w, &problem, &data, why);
        for (size_t i = 0; i < 2; i++) {
            pair->value[side][i] = encode_value(w[i], GRID_BITS);
        }
    }
    problem.record_count = records;
    if (status == STATUS_OK) {
        status = sensitivity_fit_l1(&pair->sensitivity[0], &problem, GRID_BITS, why);
    }
    pair->sensitivity[1] = pair->sensitivity[0];
    pair->width = 2;
    return status;
}

/* 7.4: the releases of a stream, at every step or on the doubling schedule. */
static enum status stream_pair(struct pair *pair, bool doubling, struct why *why)
{
    const struct online_problem problem = {.theta = 0.75,
                                           .t0 = 3,
                                           .kappa = 1,
                                           .bound = 1,
                                           .grid_bits = STREAM_BITS,
                                           .feature_count = 1};
    uint64_t times[ONLINE_RELEASES_MAX];
    size_t count = 0;
    double w[2] = {0, 0};
    enum status status = online_check(&problem, why);
    if (status == STATUS_OK) {
        online_release_times(&problem, STEPS, times, &count);
    }
    for (uint64_t t = 1; t <= STEPS && status == STATUS_OK; t++) {
        for (unsigned side = 0; side < 2; side++) {
            const double x = t == 1 ? 1 : 0;
            const double y = t > 1 ? 0 : side == 0 ? 1 : -1;
            online_run(&w[side], &problem, &x, &y, t - 1, 1);
        }
        if (doubling && (pair->width == count || times[pair->width] != t)) {
            continue;
        }
        for (unsigned side = 0; side < 2; side++) {
            pair->value[side][pair->width] = encode_value(w[side], STREAM_BITS);
        }
        status = online_sensitivity_l1(&problem, t, &pair->sensitivity[pair->width], why);
        if (!doubling && status == STATUS_OK) {
            /* The paper's noise, for one coordinate; kappa = 1. */
            const double theirs = online_sensitivity_point(&problem, t);
            pair->sensitivity[pair->width] = (uint64_t)ceil(ldexp(theirs, STREAM_BITS));
        }
        pair->width++;
    }
    if (doubling && status == STATUS_OK) {
        pair->micro = (uint64_t)(1e6 / online_stream_factor(&problem, count));
    }
    return status;
}

static enum status prepare(struct pair *pair, enum study_release release, struct why *why)
{
    pair->micro = UINT64_C(1000000);
    switch (release) {
    case RELEASE_FUNCTION:
    case RELEASE_ANSWERS:
    case RELEASE_KERNEL:
        return kernel_pair(pair, release, why);
    case RELEASE_WEIGHTS:
        return weights_pair(pair, 1, why);
    case RELEASE_POOLED_M:
        return weights_pair(pair, INSTITUTIONS, why);
    case RELEASE_STEPS:
    case RELEASE_DOUBLING:
        return stream_pair(pair, release == RELEASE_DOUBLING, why);
    }
    return STATUS_INVALID;
}

enum status study_audit(struct study_finding *finding, enum study_release release, unsigned less,
                        const struct study_request *request, struct why *why)
{
    struct pair pair = {.width = 0};
    struct seeded_random dice;
    struct audit_result result;
    enum status status = prepare(&pair, release, why);
    finding->total = pair.tells ? HUGE_VAL : 0;
    for (size_t i = 0; i < pair.width && status == STATUS_OK; i++) {
        struct noise_scale scale;
        pair.sensitivity[i] /= less;
        status = mechanism_scale(&scale, pair.sensitivity[i], pair.micro, why);
        if (status == STATUS_OK) {
            status = noise_laplace_init(&pair.noise[i], scale);
        }
        finding->total += fabs((double)(pair.value[1][i] - pair.value[0][i])) / scale_of(&pair, i);
    }
    if (status == STATUS_OK) {
        seeded_random_init(&dice, request->seed);
        const struct random random = seeded_random_interface(&dice);
        const struct audit_source source = {.draw = draw, .self = &pair};
        const uint64_t samples = request->runs == 0 ? SAMPLES : request->runs;
        const struct audit_options options = {.samples =
                                                  samples < AUDIT_SAMPLES_MIN   ? AUDIT_SAMPLES_MIN
                                                  : samples > AUDIT_SAMPLES_MAX ? AUDIT_SAMPLES_MAX
                                                                                : samples,
                                              .miss = AUDIT_MISS};
        status = audit_run(&result, &source, &random, &options);
        finding->epsilon = status == STATUS_OK ? result.epsilon : 0;
    }
    return status;
}
