/* A plan as one JSON object: its keys are told by `hedgerow plan job --help`. */

#include "cli/plan.h"
#include "cli/plan_job.h"

#include <math.h>

const char *job_plan_trust(const struct job_plan *plan)
{
    return job_trust_name(plan->job.trust);
}

bool job_answer_other_is_better(const struct job_answer *answer)
{
    return answer->has_other && job_plan_burden(&answer->other) < job_plan_burden(&answer->plan);
}

static json_t *price_json(struct price price)
{
    return json_pack("{s:o, s:o}", "epsilon", plan_real((double)price.epsilon_micro * 1e-6),
                     "delta", plan_real((double)price.delta_atto * 1e-18));
}

static json_t *lines_json(const struct terms *terms)
{
    json_t *array = json_array();
    bool whole = array != NULL;
    for (size_t i = 0; i < terms->line_count; i++) {
        const struct terms_line *line = &terms->line[i];
        json_t *object =
            json_pack("{s:s, s:s, s:o, s:o, s:o, s:s}", "what", line->what, "unit", line->unit,
                      "noise", plan_real(line->noise), "bar", plan_real(line->bar), "burden",
                      plan_real(line->burden), "drowned_when", line->measure);
        whole = json_array_append_new(array, object) == 0 && whole;
    }
    return plan_whole(array, whole);
}

static json_t *advice_json(const struct job_answer *answer, size_t stage)
{
    struct job_advice advice[PLAN_ADVICE_MAX];
    const struct terms_line *worst = job_plan_worst(&answer->plan, stage);
    const bool drowned = worst != NULL && worst->burden > 1;
    const size_t count = drowned ? job_advise(advice, &answer->source, &answer->plan, stage) : 0;
    json_t *array = json_array();
    bool whole = array != NULL;
    for (size_t i = 0; i < count; i++) {
        json_t *object =
            json_pack("{s:s, s:s, s:f, s:b}", "change", advice[i].change, "noise", advice[i].figure,
                      "burden", advice[i].burden, "enough", advice[i].burden <= 1);
        whole = json_array_append_new(array, object) == 0 && whole;
    }
    return plan_whole(array, whole);
}

static json_t *notes_json(const struct job *job, size_t stage)
{
    const struct query_set *set = &job->stage[stage].queries;
    json_t *array = json_array();
    bool whole = array != NULL;
    for (size_t i = 0; i < set->count; i++) {
        struct why note = {""};
        if (query_has_note(&set->query[i], &note)) {
            whole = json_array_append_new(array, json_string(note.text)) == 0 && whole;
        }
    }
    return plan_whole(array, whole);
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
    struct work_need need;
    if (job_plan_need(&need, plan, index) != STATUS_OK) {
        need = (struct work_need){NAN, NAN};
    }
    const double charge =
        terms->charge.epsilon_micro == 0 ? NAN : (double)terms->charge.epsilon_micro * 1e-6;
    json_t *slot = work_time_is_public(stage) || !isfinite(need.flops)
                       ? json_null()
                       : json_integer((json_int_t)work_slot_ms(need.flops, plan_speed));
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}",
        "task", task_name(stage->task), "strategy", strategy_name(stage->strategy), "mechanism",
        terms->mechanism, "passes", (json_int_t)terms->passes, "charge_epsilon", plan_real(charge),
        "charge_sigma", plan_real(terms->sigma), "sampling", plan_real(terms->sampling), "epsilon",
        plan_real((double)terms->price.epsilon_micro * 1e-6), "delta",
        plan_real((double)terms->price.delta_atto * 1e-18), "regret_bound",
        plan_real(terms->regret), "regret_bound_without_privacy", plan_real(terms->regret_free),
        "best_is_broadcast", plan_real(terms->best_chance), "memory_bytes", plan_real(need.bytes),
        "operations", plan_real(need.flops), "slot_ms", slot, "releases", lines_json(terms),
        "drowned", worst != NULL && worst->burden > 1);
    if (plan != &answer->plan) {
        return object;
    }
    const bool whole = plan_set(object, "advice", advice_json(answer, index));
    return plan_whole(object, plan_set(object, "notes", notes_json(&plan->job, index)) && whole);
}

static json_t *plan_json(const struct job_answer *answer, const struct job_plan *plan)
{
    const struct job *job = &plan->job;
    json_t *stages = json_array();
    bool whole = stages != NULL;
    for (size_t i = 0; i < job->stage_count; i++) {
        whole = json_array_append_new(stages, stage_json(answer, plan, i)) == 0 && whole;
    }
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:b, s:o, s:o}", "job", job->name, "unit",
                     job_unit_name(job->unit), "trust", job_plan_trust(plan), "agents",
                     (json_int_t)plan->size.agents, "records", (json_int_t)plan->size.records,
                     "price", price_json(plan->price), "limit",
                     price_json((struct price){job->epsilon_micro, job->delta_atto}), "admitted",
                     (int)plan->admitted, "burden", plan_real(job_plan_burden(plan)), "stages",
                     plan_whole(stages, whole));
}

enum status job_answer_json(const struct job_answer *answer)
{
    const struct job_plan *better =
        job_answer_other_is_better(answer) ? &answer->other : &answer->plan;
    json_t *object = plan_json(answer, &answer->plan);
    bool whole = plan_set(object, "other_trust",
                          answer->has_other ? plan_json(answer, &answer->other) : json_null());
    if (!answer->has_other) {
        whole = plan_set(object, "no_other_trust", json_string(answer->no_other.text)) && whole;
    }
    whole = plan_set(object, "better_trust", json_string(job_plan_trust(better))) && whole;
    return command_print_json(plan_whole(object, whole));
}
