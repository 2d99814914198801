/* A plan as one JSON object: its keys are told by `hedgerow plan job --help`. */

#include "cli/json_print.h"
#include "cli/plan.h"
#include "cli/plan_job_private.h"

#include <math.h>

const char *job_plan_trust(const struct job_plan *plan)
{
    return job_trust_name(plan->job.trust);
}

bool job_answer_other_is_better(const struct job_answer *answer)
{
    return answer->has_other && job_plan_burden(&answer->other) < job_plan_burden(&answer->plan);
}

static bool put_price(json_t *object, struct price price)
{
    return plan_set(object, "epsilon", plan_real((double)price.epsilon_micro * 1e-6)) &&
           plan_set(object, "delta", plan_real((double)price.delta_atto * 1e-18));
}

static json_t *price_json(struct price price)
{
    json_t *object = json_object();
    if (object != NULL && !put_price(object, price)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static bool add(json_t *array, json_t *value, bool good)
{
    return json_array_append_new(array, value) == 0 && good;
}

static json_t *line_json(const struct terms_line *line)
{
    json_t *object = json_object();
    bool good = plan_set(object, "what", json_string(line->what));
    good = plan_set(object, "unit", json_string(line->unit)) && good;
    good = plan_set(object, "noise", plan_real(line->noise)) && good;
    good = plan_set(object, "bar", plan_real(line->bar)) && good;
    good = plan_set(object, "burden", plan_real(line->burden)) && good;
    good = plan_set(object, "drowned_when", json_string(line->measure)) && good;
    if (!good) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *advice_json(const struct job_answer *answer, size_t stage)
{
    struct job_advice advice[PLAN_ADVICE_MAX];
    const struct terms_line *worst = job_plan_worst(&answer->plan, stage);
    json_t *array = json_array();
    bool good = array != NULL;
    if (worst == NULL || worst->burden <= 1) {
        return array;
    }
    const size_t count = job_advise(advice, &answer->source, &answer->plan, stage);
    for (size_t i = 0; i < count && good; i++) {
        good = add(array,
                   json_pack("{s:s, s:s, s:f, s:b}", "change", advice[i].change, "noise",
                             advice[i].figure, "burden", advice[i].burden, "enough",
                             advice[i].burden <= 1),
                   good);
    }
    if (!good) {
        json_decref(array);
        return NULL;
    }
    return array;
}

static json_t *notes_json(const struct job *job, size_t stage)
{
    const struct query_set *set = &job->stage[stage].queries;
    json_t *array = json_array();
    bool good = array != NULL;
    for (size_t i = 0; i < set->count && good; i++) {
        struct why note = {""};
        good = !query_has_note(&set->query[i], &note) || add(array, json_string(note.text), true);
    }
    if (!good) {
        json_decref(array);
        return NULL;
    }
    return array;
}

enum status job_plan_need(struct work_need *out, const struct job_plan *plan, size_t stage)
{
    const uint64_t least = job_records_min(&plan->job);
    const uint64_t records = plan->size.records > least ? plan->size.records : least;
    const struct work_size size = {.records = records > 0 ? records : 1,
                                   .agents = plan->size.agents};
    return work_of_stage(out, &plan->job, stage, size, NULL);
}

static json_t *stage_json(const struct job_answer *answer, const struct job_plan *plan,
                          size_t index)
{
    const struct stage *stage = &plan->job.stage[index];
    const struct terms *terms = &plan->stage[index];
    const struct terms_line *worst = job_plan_worst(plan, index);
    json_t *object = json_object();
    json_t *lines = json_array();
    bool good = object != NULL && lines != NULL;
    struct work_need need;
    if (job_plan_need(&need, plan, index) != STATUS_OK) {
        need = (struct work_need){NAN, NAN};
    }
    for (size_t i = 0; i < terms->line_count && good; i++) {
        good = add(lines, line_json(&terms->line[i]), good);
    }
    good = plan_set(object, "task", json_string(task_name(stage->task))) && good;
    good = plan_set(object, "strategy", json_string(strategy_name(stage->strategy))) && good;
    good = plan_set(object, "mechanism", json_string(terms->mechanism)) && good;
    good = plan_set(object, "passes", json_integer(terms->passes)) && good;
    good = plan_set(object, "charge_epsilon",
                    terms->charge.epsilon_micro == 0
                        ? json_null()
                        : plan_real((double)terms->charge.epsilon_micro * 1e-6)) &&
           good;
    good = plan_set(object, "charge_sigma", plan_real(terms->sigma)) && good;
    good = plan_set(object, "sampling", plan_real(terms->sampling)) && good;
    good = put_price(object, terms->price) && good;
    good = plan_set(object, "regret_bound", plan_real(terms->regret)) && good;
    good = plan_set(object, "regret_bound_without_privacy", plan_real(terms->regret_free)) && good;
    good = plan_set(object, "best_is_broadcast", plan_real(terms->best_chance)) && good;
    good = plan_set(object, "memory_bytes", plan_real(need.bytes)) && good;
    good = plan_set(object, "operations", plan_real(need.flops)) && good;
    good = plan_set(object, "slot_ms",
                    work_time_is_public(stage) || !isfinite(need.flops)
                        ? json_null()
                        : json_integer((json_int_t)work_slot_ms(need.flops, plan_speed))) &&
           good;
    good = plan_set(object, "releases", json_incref(lines)) && good;
    good = plan_set(object, "drowned", json_boolean(worst != NULL && worst->burden > 1)) && good;
    if (plan == &answer->plan) {
        good = plan_set(object, "advice", advice_json(answer, index)) && good;
        good = plan_set(object, "notes", notes_json(&plan->job, index)) && good;
    }
    json_decref(lines);
    if (!good) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *plan_json(const struct job_answer *answer, const struct job_plan *plan)
{
    json_t *object = json_object();
    json_t *stages = json_array();
    bool good = object != NULL && stages != NULL;
    for (size_t i = 0; i < plan->job.stage_count && good; i++) {
        good = add(stages, stage_json(answer, plan, i), good);
    }
    good = plan_set(object, "job", json_string(plan->job.name)) && good;
    good = plan_set(object, "unit", json_string(job_unit_name(plan->job.unit))) && good;
    good = plan_set(object, "trust", json_string(job_plan_trust(plan))) && good;
    good = plan_set(object, "agents", json_integer((json_int_t)plan->size.agents)) && good;
    good = plan_set(object, "records", json_integer((json_int_t)plan->size.records)) && good;
    good = plan_set(object, "price", price_json(plan->price)) && good;
    good = plan_set(object, "limit",
                    price_json((struct price){plan->job.epsilon_micro, plan->job.delta_atto})) &&
           good;
    good = plan_set(object, "admitted", json_boolean(plan->admitted)) && good;
    good = plan_set(object, "burden", plan_real(job_plan_burden(plan))) && good;
    good = plan_set(object, "stages", json_incref(stages)) && good;
    json_decref(stages);
    if (!good) {
        json_decref(object);
        return NULL;
    }
    return object;
}

enum status job_answer_json(const struct job_answer *answer)
{
    json_t *object = plan_json(answer, &answer->plan);
    bool good = object != NULL;
    if (answer->has_other) {
        good = good && plan_set(object, "other_trust", plan_json(answer, &answer->other));
    } else {
        good = good && plan_set(object, "other_trust", json_null()) &&
               plan_set(object, "no_other_trust", json_string(answer->no_other.text));
    }
    good =
        good && plan_set(object, "better_trust",
                         json_string(job_plan_trust(
                             job_answer_other_is_better(answer) ? &answer->other : &answer->plan)));
    if (!good) {
        json_decref(object);
        object = NULL;
    }
    return json_print(object);
}
