#include "planned.h"
#include "task/learn/stage.h"
#include "task/query/stage.h"
#include "task/select/stage.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 2, REPEATED = 40 };

static void *must(void *memory)
{
    cr_assert_not_null(memory);
    return memory;
}

/* Label classes are balanced, and v is above 0 on exactly half of the records, where u is 0 in the mean. */
static void draw_data(struct dataset *data, const struct schema *schema,
                      struct seeded_random *seeded)
{
    const size_t d = schema_feature_count(schema);
    const double constant = schema_constant(schema);
    const double scale = sqrt((1 - constant * constant) / (double)(d - 1));
    double *x = must(calloc(RECORDS * d, sizeof *x));
    double *y = must(calloc(RECORDS, sizeof *y));
    double *raw = must(calloc((size_t)RECORDS * COLUMNS, sizeof *raw));
    double *raw_label = must(calloc(RECORDS, sizeof *raw_label));
    for (size_t i = 0; i < RECORDS; i++) {
        const double side = i % 4 < 2 ? 1 : -1;
        raw[i * COLUMNS] = side * 0.5;
        raw[i * COLUMNS + 1] = (i % 2 == 0 ? 1 : -1) * (0.1 + 0.8 * seeded_random_unit(seeded));
        for (size_t j = 0; j + 1 < d; j++) {
            x[i * d + j] =
                scale * (j < COLUMNS ? raw[i * COLUMNS + j] : 1 - 2 * seeded_random_unit(seeded));
        }
        x[i * d + d - 1] = constant;
        y[i] = schema->label.kind == LABEL_NUMBER    ? 2 * seeded_random_unit(seeded) - 1
               : schema->label.kind == LABEL_CLASSES ? (double)(i % 3)
                                                     : side;
        raw_label[i] = schema->label.kind == LABEL_NUMBER
                           ? schema->label.centre + schema->label.half_width * y[i]
                           : y[i];
    }
    *data = (struct dataset){.record_count = RECORDS,
                             .feature_count = d,
                             .column_count = COLUMNS,
                             .x = x,
                             .y = y,
                             .raw = raw,
                             .raw_label = raw_label};
}

/* Writes text with the repeated part in place of @. */
static size_t spread(char *out, size_t room, const char *text, const char *repeated)
{
    size_t used = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at != '@') {
            out[used++] = *at;
            continue;
        }
        for (int i = 0; i < REPEATED; i++) {
            char one[128];
            (void)snprintf(one, sizeof one, "%.*s%d%s", (int)(strstr(repeated, "%02d") - repeated),
                           repeated, 10 + i, strstr(repeated, "%02d") + 4);
            used += (size_t)snprintf(out + used, room - used, "%s%s", i > 0 ? ", " : "", one);
        }
    }
    cr_assert(used < room);
    out[used] = '\0';
    return used;
}

void planned_init(struct planned *bench, const struct way *way, uint64_t seed)
{
    char whole[4096];
    char map[256] = "";
    char text[8192];
    struct why why = {""};
    if (way->features != NULL) {
        (void)snprintf(
            map, sizeof map,
            "  map: {kind: fourier, kernel: gaussian, gamma: 1, features: %s, seed: 1}\n",
            way->features);
    }
    (void)snprintf(
        whole, sizeof whole,
        "hedgerow: 1\njob: toy\ndata:\n  label: %s\n"
        "  features: [{column: u, centre: 0, half_width: 1}, {column: v, centre: 0, half_width: 1}]\n%s"
        "privacy: {unit: %s, neighbours: replace_one, trust: %s, epsilon: 40, delta: 0.00001}\n"
        "cohort: {minimum: 2, records: %d, deadline_s: 1}\nstages:\n%s  - {task: %s}\n",
        way->label, map, way->unit, way->trust, RECORDS, way->before, way->stage);
    const size_t size = spread(text, sizeof text, whole, way->repeated);
    const struct job_source source = {
        .text = {text, size}, .name = way->stage, .size = {.agents = AGENTS}};
    memset(bench, 0, sizeof *bench);
    cr_assert_eq(job_plan_make(&bench->plan, &source, NULL, &why), STATUS_OK, "%s", why.text);
    const struct job *job = &bench->plan.job;
    bench->index = job->stage_count - 1;
    bench->stage = &job->stage[bench->index];
    bench->first_round = job_round_count(job) - bench->stage->rounds;
    bench->experts = job_experts_at(job, bench->index, AGENTS);
    seeded_random_init(&bench->seeded, seed);
    bench->random = seeded_random_interface(&bench->seeded);
    bench->experts_weights = must(calloc((bench->experts + 1) * round_width(job), sizeof(double)));
    for (size_t i = 0; i < bench->experts * round_width(job); i++) {
        bench->experts_weights[i] = 2 * seeded_random_unit(&bench->seeded) - 1;
    }
    for (size_t i = 0; i < RECORDS; i++) {
        bench->order[i] = i * 7 % RECORDS;
    }
    for (size_t i = 0; i < AGENTS; i++) {
        draw_data(&bench->data[i], &job->schema, &bench->seeded);
        (void)snprintf(bench->agent[i].name, sizeof bench->agent[i].name, "agent-%zu", i);
    }
}

void planned_free(struct planned *bench)
{
    for (size_t i = 0; i < AGENTS; i++) {
        dataset_free(&bench->data[i]);
    }
    free(bench->experts_weights);
    job_plan_free(&bench->plan);
}

void planned_compute(struct planned *bench, uint32_t within)
{
    double *state = must(calloc(round_state_count(bench->stage) + 1, sizeof *state));
    const enum round_input input = round_input(bench->stage, within);
    for (size_t i = 0; i < AGENTS; i++) {
        struct why why = {""};
        const struct task_input asked = {.job = &bench->plan.job,
                                         .stage = bench->stage,
                                         .within = within,
                                         .data = &bench->data[i],
                                         .order = bench->order,
                                         .random = &bench->random,
                                         .experts = input == INPUT_EXPERTS ? bench->experts_weights
                                                    : input == INPUT_STATE ? state
                                                                           : NULL,
                                         .expert_count =
                                             input == INPUT_EXPERTS ? bench->experts : 0};
        cr_assert_eq(task_run(&bench->exact[i], &asked, &why), STATUS_OK, "%s", why.text);
    }
    free(state);
}

/* One agent's answer as it leaves the gate, added to the sum. */
void planned_answer(int64_t *sum, struct planned *bench, size_t agent, uint32_t within)
{
    const struct job *job = &bench->plan.job;
    const struct allowances allowances = {.total = {job->epsilon_micro, job->delta_atto}};
    const struct round_rows rows = round_rows(bench->stage, within, RECORDS);
    struct gate_request request = {.job = {{1}},
                                   .word_bytes = 8,
                                   .round = bench->first_round + within,
                                   .task = task_name(bench->stage->task),
                                   .charge = bench->stage->charge,
                                   .exact = job->trust == TRUST_CENTRAL};
    struct private_vector vector = bench->exact[agent];
    struct gate *gate = NULL;
    struct record record;
    struct slice blob;
    struct why why = {""};
    struct gate_answer_view view;
    request.charge.pass = (struct digest){{1}};
    request.charge.row_first = rows.first;
    request.charge.row_count = rows.count;
    vector.value = must(malloc(vector.count * sizeof *vector.value));
    memcpy(vector.value, bench->exact[agent].value, vector.count * sizeof *vector.value);
    cr_assert_eq(gate_new(&gate, &allowances, &bench->random), STATUS_OK);
    cr_assert_eq(gate_answer(gate, &record, &blob, &vector, &request, &why), STATUS_OK, "%s",
                 why.text);
    gate_committed(gate, 1);
    cr_assert(gate_latest(gate, &view) && view.bytes.size == 8 * bench->exact[agent].count);
    for (size_t i = 0; i < bench->exact[agent].count; i++) {
        sum[i] = (int64_t)((uint64_t)sum[i] + load_u64((const uint8_t *)view.bytes.data + 8 * i));
    }
    gate_free(gate);
}

/* Numbers in the unit of the printed lines, from what the strategy released; returns how many. */
static size_t read_release(double *value, const struct planned *bench,
                           const struct closing *closing, const int64_t *sum,
                           struct outcome *outcome)
{
    const struct job *job = &bench->plan.job;
    const struct stage *stage = bench->stage;
    const struct task_close *kind = task_close(job, stage);
    const size_t width = round_width(job);
    struct outcome_round round = {.task = stage->task};
    int64_t score[VALUES_MAX];
    size_t count = width;
    switch (stage->task) {
    case TASK_FIT:
    case TASK_ONLINE:
        memcpy(value, closing->rows, width * sizeof *value);
        break;
    case TASK_UPDATE: /* one step of rate 1 from zero */
        memcpy(value, closing->rows, width * sizeof *value);
        break;
    case TASK_LEARN: /* every number has the noise that the first line tells: of counts; of a number, of columns */
        count = closing->count;
        for (size_t i = 0; i < count; i++) {
            const struct learn_stage *own = learn_stage(stage);
            const double looked = own->is_number ? own->weights.sum : own->weights.count;
            const double unit = own->tune.sight != SIGHT_NONE ? ldexp(looked, (int)own->look_bits)
                                                              : (double)own->clip_first;
            value[i] = (double)sum[i] / unit / (AGENTS * (double)stage->batch);
        }
        break;
    case TASK_STATISTICS: /* the sums that the ridge is solved from */
        count = closing->count;
        for (size_t i = 0; i < count; i++) {
            value[i] =
                ldexp((double)sum[i], -(int)stage->grid_bits) / (AGENTS * (double)stage->batch);
        }
        break;
    case TASK_SELECT: /* the scores that the least is taken of; all of one column deviate alike */
        if (select_stage(stage)->among_experts) {
            count = bench->experts;
            for (size_t i = 0; i < count; i++) {
                value[i] = ldexp((double)sum[i], -(int)stage->grid_bits);
            }
            break;
        }
        candidates_scores(score, &select_stage(stage)->candidates, sum,
                          (uint64_t)AGENTS * stage->batch);
        count = select_stage(stage)->candidates.column_count +
                select_stage(stage)->candidates.predicate_count;
        for (size_t i = 0; i < count; i++) { /* the first of each column, and every predicate */
            const size_t stumps = i < select_stage(stage)->candidates.column_count
                                      ? i * select_stage(stage)->candidates.threshold_count
                                      : i;
            value[i] = (double)score[2 * stumps] / 2;
        }
        break;
    case TASK_LOSSES:
    case TASK_COUNT:
    case TASK_QUERY:
        cr_assert_eq(
            kind->add(outcome, job, stage, closing->within, closing->record, (struct slice){0}),
            STATUS_OK);
        cr_assert_eq(kind->describe(&round, outcome, job, stage, closing->record), STATUS_OK);
        count = stage->task == TASK_LOSSES ? bench->experts : closing->record->as.round.sum_count;
        if (stage->task == TASK_QUERY && query_stage(stage)->queries.query[0].kind == QUERY_MEAN) {
            count = round.answer_count;
        }
        for (size_t i = 0; i < count; i++) {
            value[i] =
                stage->task == TASK_LOSSES ? round.loss[i]
                : count == round.answer_count &&
                        query_stage(stage)->queries.query[0].kind == QUERY_MEAN
                    ? round.answer[i].value
                    : ldexp((double)sum[i], -(int)stage->grid_bits); /* counts, not yet clamped */
        }
        break;
    case TASK_PREDICT:
        cr_assert_eq(kind->describe(&round, outcome, job, stage, closing->record), STATUS_OK);
        count = round.answer_count;
        for (size_t i = 0; i < count; i++) {
            value[i] = round.answer[i].value;
        }
        break;
    }
    outcome_round_free(&round);
    return count;
}

/* What the coordinator computes from this sum of exact or noisy answers. Central noise is in it
 * already. */
size_t planned_close(double *value, const struct planned *bench, int64_t *sum, uint32_t within)
{
    const struct job *job = &bench->plan.job;
    const struct task_close *kind = task_close(job, bench->stage);
    const size_t count = bench->exact[0].count;
    const struct slice weights = {bench->experts_weights, bench->experts * round_width(job) * 8};
    struct record record = {.kind = RECORD_ROUND};
    struct record begin = {.kind = RECORD_JOB, .as.job.job.id.byte = {1}};
    struct outcome_expert *expert = NULL;
    struct outcome outcome;
    outcome_init(&outcome, job, OUTCOME_KEEPS);
    cr_assert_eq(outcome_add(&outcome, job, &begin, (struct slice){0}), STATUS_OK);
    if (bench->experts > 0) {
        cr_assert_eq(outcome_add_experts(&expert, &outcome, bench->experts, weights), STATUS_OK);
    }
    if (kind->start != NULL) {
        struct outcome blank = outcome;
        blank.expert_count = 0; /* from zero */
        cr_assert_eq(kind->start(&blank, bench->stage), STATUS_OK);
        blank.expert_count = outcome.expert_count;
        outcome = blank;
    }
    record.as.round.round = bench->first_round + within;
    record.as.round.agent = (struct peer *)bench->agent;
    record.as.round.agent_count = AGENTS;
    record.as.round.records = bench->stage->batch_nano > 0 ? AGENTS * bench->stage->batch : 0;
    struct closing closing = {.job = job,
                              .stage = bench->stage,
                              .within = within,
                              .outcome = &outcome,
                              .random = &bench->random,
                              .sum = must(calloc(count + 1, sizeof *sum)),
                              .count = count,
                              .record = &record};
    memcpy(closing.sum, sum, count * sizeof *sum);
    if (bench->stage->task !=
        TASK_LEARN) { /* whose numbers are read from the sum: a close rehearses for long */
        cr_assert_eq(kind->close(&closing), STATUS_OK);
    }
    const size_t values = read_release(value, bench, &closing, sum, &outcome);
    free(record.as.round.sum);
    closing_free(&closing);
    outcome_free(&outcome);
    return values;
}

void planned_add_noise(int64_t *sum, struct planned *bench, uint32_t within)
{
    struct curator *curator = NULL;
    struct why why = {""};
    cr_assert_eq(curator_new(&curator, &bench->plan.job, &bench->random), STATUS_OK);
    cr_assert_eq(curator_add_noise(curator, sum, bench->exact[0].count, bench->first_round + within,
                                   bench->experts, &why),
                 STATUS_OK, "%s", why.text);
    curator_free(curator);
}
