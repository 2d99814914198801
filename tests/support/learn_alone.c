/* learn_alone.c - see learn_alone.h. */

#include "tests/support/learn_alone.h"

#include "base/check.h"
#include "job/reach.h"
#include "learn/dense.h"
#include "learn/metrics.h"
#include "learn/rehearsal_table.h"
#include "learn/rival.h"
#include "learn/table.h"
#include "query/bar.h"
#include "task/answer.h"
#include "task/learn/look.h"
#include "task/learn/stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 40000, STATE_MAX = 200000 };

/* Ends the program with what is wrong with a job or a table. */
static void need_ok(enum status status, const struct why *why)
{
    if (status != STATUS_OK) {
        (void)fprintf(stderr, "%s\n", why->text);
        abort();
    }
}

/* Records from one place of the order on, with columns in -1 .. 1 and a constant of 1. */
static void take_rows(struct dataset *part, const struct learn_alone *alone, size_t first,
                      size_t count)
{
    const struct schema *schema = &alone->job.stage->schema;
    const size_t d = alone->data.feature_count;
    *part = (struct dataset){.record_count = count, .feature_count = d};
    part->x = malloc(count * d * sizeof *part->x);
    part->y = malloc(count * sizeof *part->y);
    CHECK(part->x != NULL && part->y != NULL);
    for (size_t i = 0; i < count; i++) {
        const size_t row = alone->order[first + i];
        for (size_t j = 0; j + 1 < d; j++) {
            part->x[i * d + j] = alone->data.x[row * d + j] / schema_column_scale(schema);
        }
        part->x[i * d + d - 1] = 1;
        part->y[i] = alone->data.y[row];
    }
}

static double draw(struct seeded_random *seeded, const struct query_noise *noise)
{
    double sum = 0;
    for (uint32_t i = 0; i < noise->draws; i++) {
        const double a = 1 - seeded_random_unit(seeded);
        const double b = seeded_random_unit(seeded);
        sum += noise->is_gaussian ? noise->scale * sqrt(-2 * log(a)) * cos(6.283185307179586 * b)
                                  : noise->scale * (b < 0.5 ? log(a) : -log(a));
    }
    return sum;
}

/* One site's answer, with its own noise, where the sum has it: as the agent's gate does. */
static void place(struct learn_alone *alone, int64_t *own, size_t count, struct round_groups groups,
                  size_t group, const struct query_noise *noise)
{
    for (size_t i = 0; i < groups.own; i++) {
        own[i] += (int64_t)draw(&alone->seeded, noise);
    }
    if (group > 0) {
        memmove(own + group * groups.own, own, groups.own * sizeof *own);
        memset(own, 0, groups.own * sizeof *own); /* of group 0 */
    }
    own[count - 2 * (groups.count - group)] = (int64_t)alone->site_rows;
    own[count - 2 * (groups.count - group) + 1] = 1;
}

static void release(struct learn_alone *alone, uint32_t within, double *deviation, size_t *count)
{
    struct why why = {{0}};
    const struct stage *stage = alone->job.stage;
    struct round_bounds bounds;
    CHECK(round_bounds(&bounds, &alone->job, stage, within, job_records_min(&alone->job), 1,
                       &why) == STATUS_OK);
    const struct query_noise noise =
        round_noise(&alone->job, stage, &bounds, (uint32_t)alone->sites);
    *deviation = query_noise_deviation(&noise);
    *count = round_answer_count(&alone->job, stage, within, 1);
    CHECK(*count <= VALUES_MAX);
    memset(alone->sum, 0, *count * sizeof *alone->sum);
    const struct round_groups groups = round_groups(stage, within);
    const struct query_noise one = round_noise(&alone->job, stage, &bounds, 1);
    for (size_t a = 0; a < alone->sites; a++) {
        if (!round_is_turn(stage, within, (uint32_t)a)) {
            continue; /* the gate's zeros */
        }
        const struct task_input input = {.job = &alone->job,
                                         .stage = stage,
                                         .within = within,
                                         .slot = (uint32_t)a,
                                         .data = &alone->data,
                                         .order = alone->order + a * alone->site_rows,
                                         .experts = alone->state};
        int64_t *own = alone->sum + *count;
        memset(own, 0, *count * sizeof *own);
        CHECK(answer_learn(own, &input) == STATUS_OK);
        if (groups.count > 1) {
            place(alone, own, *count, groups, round_group(stage, within, (uint32_t)a), &one);
        }
        for (size_t i = 0; i < *count; i++) {
            alone->sum[i] += own[i];
        }
    }
    for (size_t i = 0; groups.count == 1 && i < *count; i++) {
        alone->sum[i] += (int64_t)draw(&alone->seeded, &noise);
    }
}

static void look(struct learn_alone *alone, uint32_t within)
{
    const struct stage *stage = alone->job.stage;
    double deviation;
    size_t count;
    release(alone, within, &deviation, &count);
    const struct selftune_number number = learn_number(stage);
    const struct learn_summed summed = {.within = within,
                                        .shown = alone->state,
                                        .sum = alone->sum,
                                        .records = (double)(alone->sites * alone->site_rows),
                                        .sites = (double)alone->sites,
                                        .deviation = deviation};
    if (learn_stage(stage)->is_number) {
        struct selftune_look seen;
        learn_read_look(&seen, alone->value, stage, &summed);
        const struct selftune_number_look told = {.record_count = summed.records,
                                                  .sum = seen.sum,
                                                  .product = seen.product,
                                                  .sum_deviation = seen.sum_deviation,
                                                  .product_deviation = seen.product_deviation};
        CHECK(selftune_number_take_look(alone->state, &number, &told) == STATUS_OK);
        return;
    }
    double *told = alone->state + selftune_state_count(&learn_stage(stage)->tune);
    CHECK(learn_take_look(alone->state, told, alone->value, stage, &summed) == STATUS_OK);
}

static void step(struct learn_alone *alone, uint32_t within)
{
    const struct stage *stage = alone->job.stage;
    double deviation;
    size_t count;
    const double unit = alone->state[0] / (double)learn_clip(stage);
    release(alone, within, &deviation, &count);
    for (size_t i = 0; i < count; i++) {
        alone->value[i] = (double)alone->sum[i] * unit;
    }
    if (learn_stage(stage)->is_number) {
        const struct selftune_number number = learn_number(stage);
        const double one = 1 / (double)learn_stage(stage)->count_step;
        const struct selftune_number_release number_seen = {
            .record_count = (double)(alone->sites * alone->site_rows),
            .gradient = alone->value,
            .deviation = deviation * unit,
            .size = (double)alone->sum[count - 1] * one,
            .size_deviation = deviation * one};
        CHECK(selftune_number_take_gradient(alone->state, &number, &number_seen) == STATUS_OK);
        return;
    }
    const struct selftune_release seen = {.step = within - 1,
                                          .record_count = (double)(alone->sites * alone->site_rows),
                                          .gradient = alone->value,
                                          .deviation = deviation * unit};
    CHECK(selftune_take_gradient(alone->state, &learn_stage(stage)->tune, &seen) == STATUS_OK);
}

/* A model of columns in -1 .. 1 on the held-out fifth. */
static void judge(double *reached, double *auc, const double *w, struct learn_alone *alone)
{
    const struct stage *stage = alone->job.stage;
    const struct selftune *tune = &learn_stage(stage)->tune;
    const size_t first = alone->sites * alone->site_rows;
    const size_t count = alone->data.record_count - first;
    const size_t m = tune->output_count;
    struct dataset part;
    take_rows(&part, alone, first, count);
    double *f = malloc(count * m * sizeof *f);
    CHECK(f != NULL);
    metrics_class_scores(f, w, m, &part);
    *auc = NAN;
    if (learn_stage(stage)->is_number) {
        *reached = stage->loss.kind == LOSS_PINBALL
                       ? metrics_pinball(f, stage->loss.parameter, &part) / 2
                       : metrics_root_mean_square(f, &part) / 2;
    } else if (m == 1) {
        *reached = metrics_accuracy(f, &part);
        CHECK(metrics_auc(auc, f, &part) == STATUS_OK);
    } else {
        *reached = metrics_class_accuracy(f, m, &part);
    }
    dataset_free(&part);
    free(f);
}

void learn_alone_run(double *reached, double *auc, struct learn_alone *alone, uint64_t split,
                     uint64_t noise)
{
    const size_t n = alone->data.record_count;
    seeded_random_init(&alone->seeded, split);
    for (size_t i = 0; i < n; i++) {
        alone->order[i] = i;
    }
    for (size_t i = n; i-- > 1;) {
        const size_t j = (size_t)seeded_random_below(&alone->seeded, i + 1);
        const size_t kept = alone->order[i];
        alone->order[i] = alone->order[j];
        alone->order[j] = kept;
    }
    if (noise != split) { /* else they are one stream */
        seeded_random_init(&alone->seeded, noise);
    }
    const struct stage *stage = alone->job.stage;
    const struct selftune *tune = &learn_stage(stage)->tune;
    const struct selftune_number number = learn_number(stage);
    CHECK((learn_stage(stage)->is_number ? selftune_number_begin(alone->state, &number)
                                         : selftune_begin(alone->state, tune)) == STATUS_OK);
    for (uint32_t within = 0; within < stage->rounds; within++) {
        if (learn_is_look(stage, within)) {
            look(alone, within);
            memcpy(alone->look, alone->state, STATE_MAX * sizeof *alone->look);
        } else {
            step(alone, within);
        }
    }
    double *w = calloc(tune->output_count * alone->data.feature_count, sizeof *w);
    CHECK(w != NULL);
    selftune_model(w, alone->state, tune);
    judge(reached, auc, w, alone);
    free(w);
}

/* Puts the constant where a part tau of the labels is below the model. */
static void move_to_quantile(double *w, double tau, const struct dataset *part)
{
    double *off = malloc(part->record_count * sizeof *off);
    CHECK(off != NULL);
    for (size_t i = 0; i < part->record_count; i++) {
        off[i] = part->y[i] - dense_dot(w, part->x + i * part->feature_count, part->feature_count);
    }
    qsort(off, part->record_count, sizeof *off, rehearsal_by_size);
    w[part->feature_count - 1] += off[(size_t)(tau * (double)(part->record_count - 1))];
    free(off);
}

double learn_alone_pooled(struct learn_alone *alone)
{
    const struct stage *stage = alone->job.stage;
    const size_t rows = alone->sites * alone->site_rows;
    const size_t outputs = learn_stage(stage)->tune.output_count;
    double reached;
    double auc;
    struct dataset part;
    take_rows(&part, alone, 0, rows);
    double *w = calloc(outputs * part.feature_count, sizeof *w);
    const struct rival_problem problem = {
        .kind = stage->schema.label.kind,
        .outputs = outputs,
        .data = &part,
        .enough = outputs > 1 ? 1e-5 : 0}; /* of several classes it takes long */
    CHECK(w != NULL && rival_fit(w, &problem, 0.1 / (double)rows) == STATUS_OK);
    if (stage->loss.kind == LOSS_PINBALL) {
        move_to_quantile(w, stage->loss.parameter, &part);
    }
    judge(&reached, &auc, w, alone);
    dataset_free(&part);
    free(w);
    return reached;
}

double learn_alone_iterate(struct learn_alone *alone, enum learn_iterate iterate)
{
    const struct selftune *tune = &learn_stage(alone->job.stage)->tune;
    double accuracy = 0;
    double auc = 0;
    double *w = calloc(tune->output_count * alone->data.feature_count, sizeof *w);
    CHECK(w != NULL);
    if (iterate == ITERATE_LAST) {
        selftune_last_iterate(w, alone->state, tune);
    } else {
        selftune_model(w, iterate == ITERATE_LOOK ? alone->look : alone->state, tune);
    }
    judge(&accuracy, &auc, w, alone);
    free(w);
    return accuracy;
}

void learn_alone_init(struct learn_alone *alone, const char *text, const char *table, size_t sites)
{
    const struct dataset_options options = {.use = DATASET_LEARN, .separator = ','};
    struct why why = {{0}};
    FILE *file = NULL;
    *alone = (struct learn_alone){.sites = sites};
    need_ok(job_parse(&alone->job, (struct slice){text, strlen(text)}, "job", &why), &why);
    need_ok(table_open(&file, table, &why), &why);
    need_ok(dataset_read(&alone->data, file, table, &alone->job.stage->schema, &options, &why),
            &why);
    (void)fclose(file);
    if (!learn_stage(alone->job.stage)->is_number) {
        struct selftune *tune = &learn_stage(alone->job.stage)->tune;
        CHECK(standin_init(&alone->rows, tune->feature_count, tune->output_count, tune->gaussian) ==
              STATUS_OK);
        tune->rows = &alone->rows;
    }
    alone->site_rows = alone->data.record_count * 4 / 5 / sites;
    CHECK(alone->site_rows >= alone->job.records_least);
    alone->order = calloc(alone->data.record_count, sizeof *alone->order);
    alone->state = calloc(STATE_MAX, sizeof *alone->state);
    alone->look = calloc(STATE_MAX, sizeof *alone->look);
    alone->value = calloc(VALUES_MAX, sizeof *alone->value);
    alone->sum = calloc(2 * VALUES_MAX, sizeof *alone->sum);
    CHECK(alone->order != NULL && alone->state != NULL && alone->look != NULL &&
          alone->value != NULL && alone->sum != NULL);
}

void learn_alone_free(struct learn_alone *alone)
{
    dataset_free(&alone->data);
    job_free(&alone->job);
    standin_free(&alone->rows);
    free(alone->order);
    free(alone->state);
    free(alone->look);
    free(alone->value);
    free(alone->sum);
}
