/* `query`: statistical questions; quantiles ask on, round by round, where the releases before lead. */

#include "config/keys.h"
#include "job/trust.h"
#include "query/conjunction.h"
#include "query/query_between.h"
#include "task/query/models.h"
#include "task/query/stage.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct draft_conjunction {
    char positive[QUERY_TEXT_BYTES];
    char (*feature)[QUERY_TEXT_BYTES];
    size_t feature_count;
    double tolerance;
};

struct draft_query {
    char (*query)[QUERY_TEXT_BYTES];
    size_t query_count;
    struct draft_conjunction conjunction;
    bool by_site;
    struct draft_model *model;
    size_t model_count;
};

/* clang-format off */
#define KEY_OF struct draft_conjunction
static const struct config_key conjunction_keys[] = {
    KEY_TEXT("positive", positive, OPTIONAL("\"death == 1\"")),
    KEY_TEXTS("features", feature, feature_count, QUERY_SET_MAX, OPTIONAL("[\"age >= 65\", \"sex == M\"]")),
    KEY_NUMBER("tolerance", tolerance, 1e-9, 1, DEFAULT("0.01", "0.01")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct draft_query
static const struct config_key keys[] = {
    KEY_TEXTS("queries", query, query_count, QUERY_SET_MAX, OPTIONAL("[\"count: age >= 65\", \"mean: age\"]")),
    KEY_TABLE("conjunction", conjunction, conjunction_keys,
              OPTIONAL("{positive: \"death == 1\", features: [\"age >= 65\", \"sex == M\"]}")),
    KEY_FLAG("by_site", by_site, DEFAULT("false", "true")),
    KEY_TABLES("models", model, model_count, MODELS_MAX, models_keys,
               OPTIONAL("[{name: risk, columns: [{column: age, weights: [1.9]}]}]")),
    KEY_END,
};
#undef KEY_OF
/* clang-format on */

/* A key that holds a list, and an item of it. */
static enum status refuse_item(const struct drafting *drafting, size_t index, const char *list,
                               size_t item, const char *remedy)
{
    char key[CONFIG_PATH_BYTES];
    (void)snprintf(key, sizeof key, "%s[%zu]", list, item);
    return stage_refuse(drafting, index, key, remedy);
}

/* Refuses the first text that stands in the list before. */
static enum status check_twice(const struct drafting *drafting, size_t index, const char *list,
                               char (*text)[QUERY_TEXT_BYTES], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(text[i], text[j]) == 0) {
                return refuse_item(drafting, index, list, i,
                                   "is there twice, and would be paid twice: remove one");
            }
        }
    }
    return STATUS_OK;
}

/* The learner's questions follow the written ones. */
static enum status build_conjunction(const struct drafting *drafting, size_t index,
                                     const char **text, size_t first)
{
    const struct draft_query *own = draft_own(drafting, index);
    const struct draft_conjunction *draft = &own->conjunction;
    struct stage *stage = &drafting->job->stage[index];
    struct predicate positive;
    struct why why = {{0}};

    if (draft->feature_count == 0 || draft->positive[0] == '\0') {
        return stage_refuse(drafting, index, "conjunction",
                            "lacks positive or features: write `{positive: \"death == 1\", "
                            "features: [\"age >= 65\"]}`");
    }
    if (first + draft->feature_count > QUERY_SET_MAX) {
        return stage_refuse(drafting, index, "conjunction",
                            "and queries ask more than 256 questions: remove some");
    }
    enum status status =
        check_twice(drafting, index, "conjunction.features", draft->feature, draft->feature_count);
    if (status != STATUS_OK) {
        return status;
    }
    const struct slice text_of_positive = {draft->positive, strlen(draft->positive)};
    if (predicate_parse(&positive, text_of_positive, &drafting->job->schema, &why) != STATUS_OK) {
        return stage_refuse(drafting, index, "conjunction.positive", why.text);
    }
    query_stage(stage)->conjunction =
        calloc(2 * draft->feature_count, sizeof *query_stage(stage)->conjunction);
    if (query_stage(stage)->conjunction == NULL) {
        return STATUS_NO_MEMORY;
    }
    query_stage(stage)->conjunction_count = draft->feature_count;
    query_stage(stage)->conjunction_tolerance = draft->tolerance;
    for (size_t i = 0; i < draft->feature_count; i++) {
        char *question = query_stage(stage)->conjunction[draft->feature_count + i];
        memcpy(query_stage(stage)->conjunction[i], draft->feature[i], QUERY_TEXT_BYTES);
        if (conjunction_question(question, draft->feature[i], draft->positive,
                                 &drafting->job->schema, &why) != STATUS_OK) {
            return refuse_item(drafting, index, "conjunction.features", i, why.text);
        }
        text[first + i] = question;
    }
    return STATUS_OK;
}

/* By the records and the noise that there will be: one record is the unit, and no agent is missing. */
static void plan_questions(const struct drafting *drafting, struct stage *stage, bool by_site)
{
    const struct job *job = drafting->job;
    struct query_set *queries = &query_stage(stage)->queries;
    const bool gaussian = stage->charge.mechanism == MECHANISM_DISCRETE_GAUSSIAN;
    const double moves = gaussian ? (double)query_set_sensitivity_l2(queries, 0)
                                  : (double)query_set_sensitivity_l1(queries, 0);
    const double scale = gaussian ? (double)stage->charge.sigma_micro * 1e-6
                                  : 1e6 / fmax((double)stage->charge.epsilon_micro, 1);
    const double deviation = ldexp(moves * scale, -(int)stage->grid_bits);
    const double draws = trust_of(job)->one_noise ? 1 : (double)job->cohort_min;
    query_set_plan(queries, &(struct query_public){
                                .records = (double)job->cohort_min * stage->batch,
                                .variance = (gaussian ? 1 : 2) * draws * deviation * deviation,
                                .is_gaussian = gaussian,
                                .moves = ldexp(moves, -(int)stage->grid_bits),
                                .grid_bits = stage->grid_bits,
                                .in_parts = job_age_version(drafting->age) < 7,
                                .sites = by_site ? job->cohort_min : 0});
    for (size_t i = 0; i < queries->count; i++) {
        stage->differs_older = stage->differs_older || queries->query[i].kind == QUERY_CORRELATE;
    }
}

static_assert((int)JOB_AGENTS_SURE <= (int)BETWEEN_SITES_MAX,
              "a round counts this many where sites are compared");

/* Each site's answer is kept by its name: what the coordinator holds of it is bounded here. */
static enum status build_by_site(const struct drafting *drafting, size_t index)
{
    struct stage *stage = &drafting->job->stage[index];
    const struct query_set *set = &query_stage(stage)->queries;
    const size_t effects = query_between_count(set);
    if (!trust_of(drafting->job)->own_answers) {
        return stage_refuse(drafting, index, "by_site",
                            "needs trust local: otherwise only the sum of all sites is released");
    }
    if (drafting->job->cohort_min > BETWEEN_SITES_MAX) {
        return stage_refuse(drafting, index, "by_site",
                            "compares 256 sites at most: lower cohort.minimum, or leave it out");
    }
    if (set->round_count > 1) {
        return stage_refuse(
            drafting, index, "by_site",
            "is not for quantiles, which ask in several rounds: move them to a stage of their own, "
            "or ask a table1, which gives medians by site");
    }
    if (query_stage(stage)->conjunction_count > 0) {
        return stage_refuse(drafting, index, "by_site",
                            "is not for a conjunction: move it to a stage of its own");
    }
    if (effects == 0 || effects > QUERY_EFFECTS_MAX) {
        return stage_refuse(drafting, index, "by_site",
                            effects == 0
                                ? "needs a question that is answered by site: a count, a mean "
                                  "without where, a crosstab of two columns of two categories, a "
                                  "survival, a regress or a table1"
                                : "has 64 effects at most: remove some questions or columns");
    }
    if (query_set_cells(set, 0) > QUERY_SITE_CELLS_MAX) {
        return stage_refuse(drafting, index, "by_site",
                            "keeps every cell of every site, 4096 cells at most: move the "
                            "questions of many cells to a stage of their own");
    }
    stage->by_site = true;
    return STATUS_OK;
}

static enum status take_gaussian(const struct drafting *drafting, size_t index)
{
    const struct query_set *set = &query_stage(&drafting->job->stage[index])->queries;
    for (size_t i = 0; i < set->count; i++) {
        if (!query_takes_gaussian(&set->query[i])) {
            return refuse_item(drafting, index, "queries", i,
                               "is not asked with gaussian noise: write noise: laplace and a "
                               "share, or move it to a stage of its own that does");
        }
    }
    return stage_take_gaussian(drafting, index);
}

/* A model that nobody asks about is a mistake; the chosen one travels where thresholds of quantiles would. */
static enum status check_models(const struct drafting *drafting, size_t index)
{
    const struct query_stage *own = query_stage(&drafting->job->stage[index]);
    for (size_t i = 0; i < own->score_count; i++) {
        size_t asked = 0;
        for (size_t j = 0; j < own->queries.count; j++) {
            asked += own->queries.query[j].score == &own->score[i] ? 1 : 0;
        }
        if (asked == 0) {
            return refuse_item(
                drafting, index, "models", i,
                "is used by no question: write `evaluate: NAME for EVENT`, or remove it");
        }
    }
    if (query_set_wants_model(&own->queries) && own->queries.round_count > 1) {
        return stage_refuse(drafting, index, "models",
                            "holds the chosen one, which goes with a stage of one round: move "
                            "quantiles to a stage of their own");
    }
    return STATUS_OK;
}

static enum status build(const struct drafting *drafting, size_t index)
{
    const struct draft_stage *draft = draft_stage(drafting, index);
    const struct draft_query *own = draft_own(drafting, index);
    struct stage *stage = &drafting->job->stage[index];
    const char *text[QUERY_SET_MAX];
    struct why why = {{0}};
    enum status status = check_twice(drafting, index, "queries", own->query, own->query_count);

    for (size_t i = 0; i < own->query_count; i++) {
        text[i] = own->query[i];
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (draft->grid_bits < QUERY_BITS_MIN || draft->grid_bits > QUERY_BITS_MAX) {
        return stage_refuse(drafting, index, "grid_bits",
                            "is out of a query's range: write a number from 1 to 24");
    }
    if (stage_has(drafting, index, "conjunction")) {
        status = build_conjunction(drafting, index, text, own->query_count);
    } else if (own->query_count == 0) {
        return stage_refuse(drafting, index, "queries",
                            "is missing: add it, for example `queries: [\"count: age >= 65\"]`");
    }
    if (status != STATUS_OK) {
        return status;
    }
    status = models_build(drafting, index, own->model, own->model_count);
    if (status != STATUS_OK) {
        return status;
    }
    status =
        query_set_init(&query_stage(stage)->queries, text,
                       own->query_count + query_stage(stage)->conjunction_count, draft->grid_bits,
                       &(struct query_names){&drafting->job->schema, query_stage(stage)->score,
                                             query_stage(stage)->score_count},
                       &why);
    if (status == STATUS_INVALID) {
        return stage_refuse(drafting, index, "queries", why.text);
    }
    if (status != STATUS_OK) {
        return status;
    }
    query_stage(stage)->queries.written = own->query_count;
    status = check_models(drafting, index);
    if (status != STATUS_OK) {
        return status;
    }
    stage->rounds = query_stage(stage)->queries.round_count;
    stage->charge.epsilon_micro = stage->epsilon_micro / stage->rounds;
    status = stage_take_batch(drafting, index);
    if (status != STATUS_OK) {
        return status;
    }
    return draft->noise == JOB_NOISE_GAUSSIAN ? take_gaussian(drafting, index) : STATUS_OK;
}

static enum status plan(const struct drafting *drafting, size_t index)
{
    const struct draft_query *own = draft_own(drafting, index);
    plan_questions(drafting, &drafting->job->stage[index], own->by_site);
    return own->by_site ? build_by_site(drafting, index) : STATUS_OK;
}

static void free_stage(void *own)
{
    struct query_stage *stage = own;
    free(stage->conjunction);
    query_set_free(&stage->queries);
    free(stage->score);
    free(stage->score_weights);
}

const struct task_text task_text_query = {.strategies = 1u << STRATEGY_ANSWER,
                                          .units = 1u << UNIT_RECORD | 1u << UNIT_ROUND |
                                                   1u << UNIT_AGENT,
                                          .reads = SHARED_BATCH | SHARED_NOISE,
                                          .needs = SHARED_BATCH,
                                          .keeps_raw = true,
                                          .own = keys,
                                          .own_bytes = sizeof(struct draft_query),
                                          .stage_bytes = sizeof(struct query_stage),
                                          .free_stage = free_stage,
                                          .build = build,
                                          .plan = plan};
