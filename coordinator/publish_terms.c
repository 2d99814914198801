#include "coordinator/publish.h"

#include "base/text.h"
#include "job/round.h"
#include "job/terms.h"
#include "job/trust.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t count_answers(const struct outcome *outcome)
{
    size_t count = 0;
    for (size_t i = 0; i < outcome->round_count; i++) {
        count += outcome->round[i].answer_count;
    }
    return count;
}

static void tell_answers(struct result *result, const struct outcome *outcome)
{
    size_t used = 0;
    for (size_t i = 0; i < outcome->round_count; i++) {
        const struct outcome_round *round = &outcome->round[i];
        for (size_t j = 0; j < round->answer_count; j++) {
            const struct query_answer *from = &round->answer[j];
            struct result_answer *to = &result->answer[used++];
            to->round = round->round;
            (void)snprintf(to->name, sizeof to->name, "%s", from->name);
            (void)snprintf(to->unit, sizeof to->unit, "%s", from->unit);
            (void)snprintf(to->note, sizeof to->note, "%s", from->note);
            to->records = from->records;
            to->value = from->value;
            to->error = from->error;
            to->low = from->low;
            to->high = from->high;
            to->sampling = from->sampling;
            to->total_low = from->total_low;
            to->total_high = from->total_high;
            (void)snprintf(to->table, sizeof to->table, "%s", from->table);
            (void)snprintf(to->variable, sizeof to->variable, "%s", from->variable);
            (void)snprintf(to->figure, sizeof to->figure, "%s", from->figure);
            (void)snprintf(to->group, sizeof to->group, "%s", from->group);
        }
    }
}

static enum status tell_points(struct result *result, const struct outcome *outcome)
{
    size_t count = 0;
    for (size_t i = 0; i < outcome->round_count; i++) {
        count += outcome->round[i].point_count;
    }
    const enum status status = result_reserve(result, "curves", count);
    struct result_point *to = result->point;
    for (size_t i = 0; i < outcome->round_count && status == STATUS_OK; i++) {
        const struct outcome_round *round = &outcome->round[i];
        for (size_t j = 0; j < round->point_count; j++, to++) {
            const struct query_point *from = &round->point[j];
            to->round = round->round;
            (void)snprintf(to->question, sizeof to->question, "%s", from->question);
            (void)snprintf(to->curve, sizeof to->curve, "%s", from->curve);
            (void)snprintf(to->group, sizeof to->group, "%s", from->group);
            to->time = from->time;
            to->value = from->value;
            to->low = from->low;
            to->high = from->high;
            to->band_low = from->band_low;
            to->band_high = from->band_high;
            to->noise_low = from->noise_low;
            to->noise_high = from->noise_high;
            to->at_risk = from->at_risk;
        }
    }
    return status;
}

static void tell_effect(struct result_effect *to, const struct query_effect *from, uint32_t round)
{
    to->round = round;
    (void)snprintf(to->name, sizeof to->name, "%s", from->name);
    (void)snprintf(to->unit, sizeof to->unit, "%s", from->unit);
    (void)snprintf(to->note, sizeof to->note, "%s", from->note);
    (void)snprintf(to->table, sizeof to->table, "%s", from->table);
    (void)snprintf(to->row, sizeof to->row, "%s", from->row);
    to->sites = (uint32_t)from->all.sites;
    to->value = from->all.value;
    to->low = from->all.low;
    to->high = from->all.high;
    to->error = from->all.error;
    to->spread = from->all.spread;
    to->share = from->all.share;
    to->statistic = from->all.statistic;
    to->p = from->all.p;
    to->next_low = from->all.next_low;
    to->next_high = from->all.next_high;
    to->needed = from->needed;
    to->factor = from->factor;
}

static enum status tell_sites(struct result *result, const struct outcome *outcome)
{
    size_t effects = 0;
    size_t sites = 0;
    for (size_t i = 0; i < outcome->round_count; i++) {
        effects += outcome->round[i].effect_count;
        sites += outcome->round[i].effect_count * outcome->round[i].site_count;
    }
    enum status status = result_reserve(result, "effects", effects);
    if (status == STATUS_OK) {
        status = result_reserve(result, "sites", sites);
    }
    struct result_effect *effect = result->effect;
    struct result_site *to = result->site;
    for (size_t i = 0; i < outcome->round_count && status == STATUS_OK; i++) {
        const struct outcome_round *round = &outcome->round[i];
        for (size_t j = 0; j < round->effect_count * round->site_count; j++, to++) {
            const struct outcome_site *of = &round->site_of[j % round->site_count];
            const struct between_site *from = &round->site[j];
            to->round = round->round;
            (void)snprintf(to->effect, sizeof to->effect, "%s",
                           round->effect[j / round->site_count].name);
            (void)snprintf(to->site, sizeof to->site, "%s", of->peer.name);
            to->records = (double)of->records;
            to->value = from->value;
            to->low = from->low;
            to->high = from->high;
            to->noise = from->noise;
            to->sampling = from->sampling;
            to->weight = from->weight;
        }
        for (size_t j = 0; j < round->effect_count; j++) {
            tell_effect(effect++, &round->effect[j], round->round);
        }
    }
    return status;
}

/* The fewest that answered a round: with more of them there is less noise on a mean. */
static size_t fewest_agents(const struct outcome *outcome, const struct job *job)
{
    size_t fewest = 0;
    for (size_t i = 0; i < outcome->round_count; i++) {
        const size_t count = outcome->round[i].agent_count;
        if (!outcome->round[i].failed && count > 0 && (fewest == 0 || count < fewest)) {
            fewest = count;
        }
    }
    return fewest > 0 ? fewest : job->cohort_min;
}

/* For a batch that is a share: the records of an agent whose batch is the mean of those that answered the
 * stage's smallest round; else 0, the fewest that the job allows. */
static uint64_t mean_records(const struct outcome *outcome, const struct job *job, size_t index)
{
    const struct stage *stage = &job->stage[index];
    uint64_t fewest = 0;
    for (size_t i = 0; stage->batch_nano > 0 && i < outcome->round_count; i++) {
        const struct outcome_round *round = &outcome->round[i];
        uint32_t within;
        if (!round->failed && round->agent_count > 0 &&
            job_stage_of(job, round->round, &within) == stage) {
            const uint64_t batch = round->records / round->agent_count;
            fewest = fewest == 0 || batch < fewest ? batch : fewest;
        }
    }
    return stage->batch_nano == 0 ? 0 : round_records_of(stage, fewest);
}

static void tell_release(struct result_release *to, const struct stage *stage, size_t index,
                         const struct terms *terms, const struct terms_line *line)
{
    to->stage = (uint32_t)index;
    (void)snprintf(to->task, sizeof to->task, "%s", task_name(stage->task));
    (void)snprintf(to->strategy, sizeof to->strategy, "%s", strategy_name(stage->strategy));
    (void)snprintf(to->what, sizeof to->what, "%s", line->what);
    (void)snprintf(to->unit, sizeof to->unit, "%.*s", RESULT_NAME_BYTES - 1, line->unit);
    (void)snprintf(to->mechanism, sizeof to->mechanism, "%s", terms->mechanism);
    to->noise = line->noise;
    to->bar = line->bar;
    to->sigma = terms->sigma;
    to->sampling = terms->sampling;
    to->passes = terms->passes;
    to->epsilon = (double)terms->price.epsilon_micro * 1e-6;
    to->delta = (double)terms->price.delta_atto * 1e-18;
}

/* Public beforehand, and told again beside the outcome. */
static enum status tell_releases(struct result *result, const struct outcome *outcome,
                                 const struct job *job)
{
    struct terms terms[JOB_STAGES_MAX];
    size_t count = 0;
    enum status status = STATUS_OK;

    memset(terms, 0, sizeof terms);
    for (size_t i = 0; i < job->stage_count && status == STATUS_OK; i++) {
        const struct terms_size size = {.agents = fewest_agents(outcome, job),
                                        .records = mean_records(outcome, job, i)};
        status = terms_of_stage(&terms[i], job, i, size, NULL);
        count += terms[i].line_count;
    }
    if (status == STATUS_OK) {
        status = result_reserve(result, "answers", count_answers(outcome));
    }
    if (status == STATUS_OK) {
        status = result_reserve(result, "releases", count);
    }
    size_t used = 0;
    for (size_t i = 0; i < job->stage_count; i++) {
        for (size_t j = 0; status == STATUS_OK && j < terms[i].line_count; j++) {
            tell_release(&result->release[used++], &job->stage[i], i, &terms[i], &terms[i].line[j]);
        }
        terms_free(&terms[i]);
    }
    return status;
}

static void tell_agents(struct result *result, const struct outcome *outcome, const struct job *job)
{
    for (size_t i = 0; i < outcome->agent_count; i++) {
        struct result_agent *agent = &result->agent[i];
        const struct price spent = terms_price(&job->filter, &outcome->agent[i].spent);
        const uint64_t limit = job->epsilon_micro;
        (void)snprintf(agent->name, sizeof agent->name, "%s", outcome->agent[i].peer.name);
        agent->answers = outcome->agent[i].answers;
        agent->epsilon_spent = (double)spent.epsilon_micro / 1e6;
        agent->delta_spent = (double)spent.delta_atto * 1e-18;
        agent->epsilon_left =
            spent.epsilon_micro < limit ? (double)(limit - spent.epsilon_micro) / 1e6 : 0.0;
    }
    qsort(result->agent, result->agent_count, sizeof *result->agent, text_order);
}

static void tell_regret(struct result *result, const struct outcome *outcome, const struct job *job)
{
    const struct regret_bound bound = outcome_regret_bound(outcome);
    result->regret.average = outcome_regret_average(outcome);
    result->regret.bound = bound.tight;
    result->regret.textbook = bound.textbook;
    result->regret.noise = bound.noise;
    for (size_t i = 0; trust_of(job)->exact_answers && i < outcome->round_count; i++) {
        uint32_t within;
        const struct stage *stage = job_stage_of(job, outcome->round[i].round, &within);
        if (round_plays(stage) != NULL && within + 1 == stage->rounds &&
            !outcome->round[i].failed) {
            const double capped = round_plays(stage)->plan.cap_probability;
            result->regret.bound = fmin(1, round_plays(stage)->plan.regret_bound + capped);
            result->regret.textbook = round_plays(stage)->plan.regret_bound_textbook + capped;
        }
    }
}

enum status publish_terms(struct result *result, const struct outcome *outcome,
                          const struct job *job)
{
    enum status status = tell_releases(result, outcome, job);
    if (status == STATUS_OK) {
        tell_answers(result, outcome);
        status = tell_points(result, outcome);
    }
    if (status == STATUS_OK) {
        status = tell_sites(result, outcome);
    }
    if (status == STATUS_OK) {
        tell_agents(result, outcome, job);
        tell_regret(result, outcome, job);
    }
    return status;
}
