/* A plan as one JSON object: its keys are told by `hedgerow plan job --help`. */

#include "cli/plan.h"
#include "cli/plan_job.h"
#include "job/round.h"
#include "job/trust.h"
#include "protocol/transfer.h"
#include "task/task.h"
#include "json/json_text.h"

#include <math.h>
#include <string.h>

const char *job_plan_trust(const struct job_plan *plan)
{
    return job_trust_name(plan->job.trust);
}

const struct job_plan *job_answer_under(const struct job_answer *answer, enum job_trust trust)
{
    return trust == answer->plan.job.trust ? &answer->plan
           : answer->has[trust]            ? &answer->under[trust]
                                           : NULL;
}

const struct job_plan *job_answer_rival(const struct job_answer *answer)
{
    return job_answer_under(answer, trust_of(&answer->plan.job)->rival);
}

/* A stage that plans itself may release other numbers under another trust: their noise is then beside another
 * signal. */
static bool is_alike(const struct job_plan *a, const struct job_plan *b)
{
    bool alike = true;
    for (size_t i = 0; alike && i < a->job.stage_count; i++) {
        const struct terms_line *one = job_plan_worst(a, i);
        const struct terms_line *other = job_plan_worst(b, i);
        alike = !task_bounds(a->job.stage[i].task)->plans_itself || one == NULL || other == NULL ||
                strcmp(one->what, other->what) == 0;
    }
    return alike;
}

/* Over all figures that every trust has. A refused figure counts as much as a drowned one. */
static double burden_in_all(const struct job_plan *plan)
{
    double sum = 0;
    for (size_t i = 0; i < plan->job.stage_count; i++) {
        for (size_t j = 0; j < plan->stage[i].line_count; j++) {
            const struct terms_line *line = &plan->stage[i].line[j];
            sum += !job_plan_is_of_sites(line) && isfinite(line->noise_to_signal)
                       ? line->noise_to_signal
                       : 0;
        }
    }
    return sum;
}

const struct job_plan *job_answer_better(const struct job_answer *answer)
{
    const struct job_plan *rival = job_answer_rival(answer);
    if (rival == NULL) {
        return &answer->plan;
    }
    if (!is_alike(rival, &answer->plan)) {
        return NULL;
    }
    const double burden = job_plan_noise_to_signal(&answer->plan);
    const double rivals = job_plan_noise_to_signal(rival);
    const bool is_tie = fabs(rivals - burden) <= 1e-9 * burden; /* as where levels round */
    return rivals < burden || (is_tie && burden_in_all(rival) < burden_in_all(&answer->plan))
               ? rival
               : &answer->plan;
}

static json_t *price_json(struct price price)
{
    return json_pack("{s:o, s:o}", "epsilon", json_number((double)price.epsilon_micro * 1e-6),
                     "delta", json_number((double)price.delta_atto * 1e-18));
}

static json_t *lines_json(const struct terms *terms)
{
    json_t *array = json_array();
    for (size_t i = 0; i < terms->line_count; i++) {
        const struct terms_line *line = &terms->line[i];
        json_t *object =
            json_pack("{s:s, s:s, s:o, s:o, s:o, s:s}", "what", line->what, "unit", line->unit,
                      "noise", json_number(line->noise), "bar", json_number(line->bar), "burden",
                      json_number(line->noise_to_signal), "drowned_when", line->measure);
        json_add(&array, object);
    }
    return array;
}

static json_t *advice_json(const struct job_answer *answer, size_t stage)
{
    struct job_advice advice[PLAN_ADVICE_MAX];
    const struct terms_line *worst = job_plan_worst(&answer->plan, stage);
    const bool drowned = worst != NULL && worst->noise_to_signal > 1;
    const size_t count = drowned ? job_advise(advice, &answer->source, &answer->plan, stage) : 0;
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *object = json_pack("{s:s, s:s, s:f, s:b}", "change", advice[i].change, "noise",
                                   advice[i].figure, "burden", advice[i].noise_to_signal, "enough",
                                   advice[i].noise_to_signal <= 1);
        json_add(&array, object);
    }
    return array;
}

/* NULL where it fails: the object is then none. */
static void put_expected(json_t **object, const struct job_answer *answer, size_t stage)
{
    struct job_expected expected;
    const bool known = job_expect(&expected, &answer->source, &answer->plan, stage) == STATUS_OK;
    json_put(object, "expected", known ? job_expected_json(&expected) : NULL);
    if (known && expected.no_answer != NULL) {
        json_put(object, "no_expected", json_string(expected.no_answer));
    }
}

double job_plan_coordinator_bytes(const struct job_plan *plan)
{
    return work_of_coordinator(&plan->job,
                               (struct work_fleet){.agents = plan->size.agents,
                                                   .connected = plan->size.agents,
                                                   .window_bytes = TRANSFER_WINDOW_BYTES,
                                                   .waiting_bytes = TRANSFER_WAITING_BYTES});
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
        "{s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}",
        "task", task_name(stage->task), "strategy", strategy_name(stage->strategy), "mechanism",
        terms->mechanism, "passes", (json_int_t)terms->passes, "charge_epsilon",
        json_number(charge), "charge_sigma", json_number(terms->sigma), "sampling",
        json_number(terms->sampling), "epsilon",
        json_number((double)terms->price.epsilon_micro * 1e-6), "delta",
        json_number((double)terms->price.delta_atto * 1e-18), "regret_bound",
        json_number(terms->regret), "regret_bound_without_privacy", json_number(terms->regret_free),
        "best_is_broadcast", json_number(terms->best_chance), "best_changed_is_broadcast",
        json_number(terms->changed_chance), "memory_bytes", json_number(need.bytes), "operations",
        json_number(need.flops), "slot_ms", slot, "releases", lines_json(terms), "drowned",
        worst != NULL && worst->noise_to_signal > 1);
    json_put(&object, "rounds", json_integer((json_int_t)stage->rounds));
    json_put(&object, "batch", json_integer((json_int_t)stage->batch));
    if (plan != &answer->plan) {
        return object;
    }
    json_put(&object, "advice", advice_json(answer, index));
    json_put(&object, "notes", job_answer_notes(answer, plan, index));
    put_expected(&object, answer, index);
    return object;
}

static json_t *plan_json(const struct job_answer *answer, const struct job_plan *plan)
{
    const struct job *job = &plan->job;
    json_t *stages = json_array();
    for (size_t i = 0; i < job->stage_count; i++) {
        json_add(&stages, stage_json(answer, plan, i));
    }
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:b, s:b, s:o, s:o, s:o}", "job",
                     job->name, "unit", job_unit_name(job->unit), "trust", job_plan_trust(plan),
                     "agents", (json_int_t)plan->size.agents, "records",
                     (json_int_t)plan->size.records, "price", price_json(plan->price), "limit",
                     price_json((struct price){job->epsilon_micro, job->delta_atto}), "admitted",
                     (int)plan->admitted, "weak", (int)job_plan_is_weak(plan), "burden",
                     json_number(job_plan_noise_to_signal(plan)), "coordinator_bytes",
                     json_number(job_plan_coordinator_bytes(plan)), "stages", stages);
}

/* What each trust asks for and how much noise it leaves: a short row each. */
static json_t *trusts_json(const struct job_answer *answer)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < TRUST_COUNT; i++) {
        const struct trust *trust = trust_at((enum job_trust)i);
        const struct job_plan *plan = job_answer_under(answer, (enum job_trust)i);
        json_t *noise = json_array();
        json_t *round_s = json_array();
        for (size_t stage = 0; plan != NULL && stage < plan->job.stage_count; stage++) {
            const struct terms_line *worst = job_plan_worst(plan, stage);
            json_add(&noise, json_number(worst != NULL ? worst->noise : NAN));
            json_add(&round_s, json_number(job_plan_round_s(plan, stage, answer->link_mbit)));
        }
        json_t *object =
            json_pack("{s:s, s:s, s:i, s:i, s:i, s:o, s:o, s:o, s:o}", "trust", trust->name,
                      "trusted", trust->trusted, "messages", (int)trust->messages, "round_trips",
                      (int)trust->round_trips, "commits", (int)trust->commits, "dishonest",
                      plan != NULL ? json_integer((json_int_t)plan->job.dishonest) : json_null(),
                      "noise", noise, "round_s", round_s, "no_such_job",
                      plan != NULL ? json_null() : json_string(answer->none[i].text));
        json_add(&array, object);
    }
    return array;
}

enum status job_answer_json(const struct job_answer *answer)
{
    const struct job_plan *rival = job_answer_rival(answer);
    json_t *object = plan_json(answer, &answer->plan);
    json_put(&object, "other_trust", rival != NULL ? plan_json(answer, rival) : json_null());
    if (rival == NULL) {
        json_put(&object, "no_other_trust",
                 json_string(answer->none[trust_of(&answer->plan.job)->rival].text));
    }
    const struct job_plan *better = job_answer_better(answer);
    json_put(&object, "better_trust",
             better != NULL ? json_string(job_plan_trust(better)) : json_null());
    json_put(&object, "trusts", trusts_json(answer));
    return command_print_json(object);
}
