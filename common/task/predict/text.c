/* `predict`: kernel models that stay at home answer for public records, one lambda a round. */

#include "config/keys.h"
#include "learn/distil.h"
#include "learn/features.h"
#include "task/predict/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct draft_kernel {
    unsigned kind;
    double gamma;
    uint32_t degree;
    double offset;
};

struct draft_predict {
    struct draft_kernel kernel;
    struct draft_row *point;
    size_t point_count;
};

/* All but the linear one, whose models can leave as weights: that is fit. */
static const char *kernel_choice(unsigned index)
{
    return KERNEL_GAUSSIAN + index < KERNEL_KINDS
               ? kernel_name((enum kernel_kind)(KERNEL_GAUSSIAN + index))
               : NULL;
}

/* clang-format off */
#define KEY_OF struct draft_kernel
static const struct config_key kernel_keys[] = {
    KEY_CHOICE("kind", kind, kernel_choice, DEFAULT("gaussian", "gaussian")),
    KEY_NUMBER("gamma", gamma, 1e-6, 1e6, OPTIONAL("1")),
    KEY_WHOLE("degree", degree, 1, KERNEL_DEGREE_MAX, OPTIONAL("2")),
    KEY_NUMBER("offset", offset, 0, 1000, OPTIONAL("1")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct draft_predict
static const struct config_key keys[] = {
    KEY_TABLE("kernel", kernel, kernel_keys, REQUIRED("{kind: gaussian, gamma: 1}")),
    KEY_ROWS("points", point, point_count, JOB_POINTS_MAX, draft_row_keys, REQUIRED("[[70, F], [50, M]]"), DOC("PUBLIC records, for example `points: [[70, F], [50, M]]`")),
    KEY_END,
};
#undef KEY_OF
/* clang-format on */

static enum status build_kernel(const struct drafting *drafting, size_t index)
{
    static const struct {
        const char *key;
        bool of_polynomial;
        bool required;
    } rule[] = {{"kernel.gamma", false, true},
                {"kernel.degree", true, true},
                {"kernel.offset", true, false}};
    const struct draft_predict *own = draft_own(drafting, index);
    const struct draft_kernel *draft = &own->kernel;
    struct stage *stage = &drafting->job->stage[index];
    struct predict_stage *predict = predict_stage(stage);
    struct why why = {{0}};

    predict->kernel = (struct kernel){.kind = (enum kernel_kind)(KERNEL_GAUSSIAN + draft->kind),
                                      .degree = draft->degree,
                                      .rate = draft->gamma,
                                      .offset = draft->offset};
    const bool polynomial = predict->kernel.kind == KERNEL_POLYNOMIAL;
    for (size_t i = 0; i < sizeof rule / sizeof rule[0]; i++) {
        bool there = stage_has(drafting, index, rule[i].key);
        if (there && rule[i].of_polynomial != polynomial) {
            return stage_refuse(drafting, index, rule[i].key,
                                "is not read by this kind of kernel: remove it");
        }
        if (!there && rule[i].required && rule[i].of_polynomial == polynomial) {
            return stage_refuse(drafting, index, rule[i].key,
                                polynomial ? "is missing: add it, for example `degree: 2`"
                                           : "is missing: add it, for example `gamma: 1`");
        }
    }
    return kernel_check(predict->kernel, &why) == STATUS_OK
               ? STATUS_OK
               : stage_refuse(drafting, index, "kernel", why.text);
}

/* "70, F": a point as it stands in the job. */
static void name_point(char name[static JOB_POINT_NAME_BYTES], const struct draft_row *row)
{
    size_t used = 0;
    for (size_t i = 0; i < row->value_count && used < JOB_POINT_NAME_BYTES; i++) {
        used += (size_t)snprintf(name + used, JOB_POINT_NAME_BYTES - used, "%s%s",
                                 i > 0 ? ", " : "", row->value[i]);
    }
}

static enum status build_points(const struct drafting *drafting, size_t index)
{
    const struct draft_predict *draft = draft_own(drafting, index);
    struct stage *stage = &drafting->job->stage[index];
    struct predict_stage *own = predict_stage(stage);
    const struct schema *schema = &stage->schema;
    const size_t d = schema_feature_count(schema);
    struct features *features = NULL;
    struct why why = {{0}};
    double *value = calloc(schema_value_count(schema), sizeof *value);

    own->point_count = draft->point_count;
    own->point = calloc(own->point_count * d, sizeof *own->point);
    own->point_name = calloc(own->point_count, sizeof *own->point_name);
    enum status status = value == NULL || own->point == NULL || own->point_name == NULL
                             ? STATUS_NO_MEMORY
                             : features_new(&features, schema, &why);
    for (size_t i = 0; status == STATUS_OK && i < own->point_count; i++) {
        char path[CONFIG_PATH_BYTES];
        (void)snprintf(path, sizeof path, "stages[%zu].points[%zu]", index, i);
        status = job_row_read(value, drafting, path, &draft->point[i]);
        if (status == STATUS_OK) {
            features_apply(features, own->point + i * d, value);
            name_point(own->point_name[i], &draft->point[i]);
        }
    }
    features_free(features);
    free(value);
    return status;
}

/* The coordinator makes a linear expert of the average's answers, and of every agent's own. */
static enum status check_distilling(const struct drafting *drafting, size_t index)
{
    const struct stage *stage = &drafting->job->stage[index];
    const struct schema *schema = &stage->schema;
    const struct distil problem = {.point = predict_stage(stage)->point,
                                   .point_count = predict_stage(stage)->point_count,
                                   .feature_count = schema_feature_count(schema)};
    const size_t agents =
        drafting->job->cohort_min > JOB_AGENTS_SURE ? drafting->job->cohort_min : JOB_AGENTS_SURE;
    const double experts =
        (double)(schema_output_count(schema) * (stage->experts_own ? 1 + agents : 1));
    struct why why = {{0}};
    if (distil_check(&problem, &why) != STATUS_OK) {
        return stage_refuse(drafting, index, "points", why.text);
    }
    if (distil_flops(&problem) * experts > ldexp(1, STAGE_FLOPS_MAX_LOG2)) {
        return stage_refuse(drafting, index, "points",
                            "makes more than 2^36 operations of the linear models that follow "
                            "their answers: write fewer, or set experts.own to false");
    }
    return STATUS_OK;
}

static enum status build(const struct drafting *drafting, size_t index)
{
    enum status status = stage_build_fits(drafting, index);
    if (status == STATUS_OK) {
        status = build_kernel(drafting, index);
    }
    if (status == STATUS_OK) {
        status = build_points(drafting, index);
    }
    return status == STATUS_OK ? check_distilling(drafting, index) : status;
}

static void free_stage(void *own)
{
    struct predict_stage *stage = own;
    free(stage->point);
    free(stage->point_name);
}

const struct task_text task_text_predict = {.strategies = 1u << STRATEGY_AVERAGE,
                                            .units = 1u << UNIT_RECORD,
                                            .reads = SHARED_LOSS | SHARED_LAMBDAS |
                                                     SHARED_TOLERANCE | SHARED_EXPERTS |
                                                     SHARED_MAP | SHARED_OWN_EXPERTS,
                                            .needs = SHARED_LOSS | SHARED_LAMBDAS,
                                            .own = keys,
                                            .own_bytes = sizeof(struct draft_predict),
                                            .stage_bytes = sizeof(struct predict_stage),
                                            .free_stage = free_stage,
                                            .build = build};
