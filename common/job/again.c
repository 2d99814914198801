#include "job/again.h"

#include "base/bytes.h"
#include "job/round.h"
#include "query/query_same.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORK = 1 << 24 /* half of a second, or less */, SHOWN = 90 /* characters of a question */ };

/* All questions of the job, in its order. */
struct asked {
    const struct query **query; /* (count) those that are planned are among own */
    struct query *own;
    struct job_question *place; /* (count) */
    uint64_t *print;            /* (count) */
    size_t *first;              /* (count) the question before that asks the same, or itself */
    size_t *like;               /* (count) or that asks the same if cells are there, or itself */
    size_t count;
};

static void asked_free(struct asked *asked)
{
    free(asked->query);
    free(asked->own);
    free(asked->place);
    free(asked->print);
    free(asked->first);
    free(asked->like);
}

static enum status asked_init(struct asked *asked, const struct job *job)
{
    size_t most = 1;
    size_t planned = 0;
    for (size_t i = 0; i < job->stage_count; i++) {
        const struct query_set *set = round_queries(&job->stage[i]);
        most += set->count;
        for (size_t j = 0; j < set->count; j++) {
            planned += query_is_planned(&set->query[j]) ? 1 : 0;
        }
    }
    *asked = (struct asked){.query = calloc(most, sizeof *asked->query),
                            .own = calloc(planned + 1, sizeof *asked->own),
                            .place = calloc(most, sizeof *asked->place),
                            .print = calloc(most, sizeof *asked->print),
                            .first = calloc(most, sizeof *asked->first),
                            .like = calloc(most, sizeof *asked->like)};
    return asked->query == NULL || asked->own == NULL || asked->place == NULL ||
                   asked->print == NULL || asked->first == NULL || asked->like == NULL
               ? STATUS_NO_MEMORY
               : STATUS_OK;
}

static void asked_fill(struct asked *asked, const struct job *job)
{
    struct query *own = asked->own;
    for (size_t i = 0; i < job->stage_count; i++) {
        const struct query_set *set = round_queries(&job->stage[i]);
        for (size_t j = 0; j < set->count; j++) {
            asked->query[asked->count] = &set->query[j];
            if (query_is_planned(&set->query[j])) {
                *own = set->query[j];
                query_plan_as_any(own);
                asked->query[asked->count] = own++;
            }
            asked->place[asked->count] = (struct job_question){i, j};
            asked->first[asked->count] = asked->count;
            asked->like[asked->count] = asked->count;
            asked->count++;
        }
    }
}

/* Looks for a question before this one that is the same; else for one that is so if all cells are there. */
static enum status find_first(struct asked *asked, size_t index, const struct schema *schema,
                              uint64_t *work)
{
    enum status status = STATUS_OK;
    enum query_likeness likeness = QUERY_OTHER;
    for (size_t i = 0; i < index && status == STATUS_OK && likeness != QUERY_SAME; i++) {
        if (asked->first[i] != i || asked->print[i] != asked->print[index]) {
            continue;
        }
        status = query_compare(&likeness, asked->query[i], asked->query[index], schema, work);
        if (likeness == QUERY_SAME) {
            asked->first[index] = i;
        } else if (likeness == QUERY_SAME_IF_THERE && asked->like[index] == index) {
            asked->like[index] = i;
        }
    }
    return status;
}

static void put_again(struct job_agains *out, const struct job_again *again)
{
    if (out->count < JOB_AGAIN_MAX) {
        out->again[out->count] = *again;
    }
    out->count++;
}

/* Whether sums of that many cells have less noise without the question than its answer has: on sums it is of variances. */
static bool is_better_without(const struct stage *stage, const struct query *query, size_t summed)
{
    const struct query_set *set = round_queries(stage);
    if (stage->charge.mechanism == MECHANISM_DISCRETE_GAUSSIAN) {
        const double all = (double)query_set_sensitivity_l2(set, 0);
        const double own = query_sensitivity_squared(query, set->grid_bits);
        return (double)summed * (all * all - own) < all * all;
    }
    const double all = (double)query_set_sensitivity_l1(set, 0);
    const double own = (double)query_sensitivity_l1(query, set->grid_bits);
    return (double)summed * (all - own) * (all - own) < all * all;
}

/* Looks for another question of its stage that tells it by sums. By site a count is an effect of its own. */
static enum status find_sums(struct job_agains *out, const struct asked *asked, size_t index,
                             const struct job *job, uint64_t *work)
{
    const struct job_question own = asked->place[index];
    const struct stage *stage = &job->stage[own.stage];
    enum status status = STATUS_OK;
    bool is_told = stage->by_site || own.question >= round_queries(stage)->written;
    for (size_t i = 0; i < asked->count && status == STATUS_OK && !is_told; i++) {
        size_t summed = 0;
        if (asked->place[i].stage != own.stage || i == index || asked->first[i] != i ||
            asked->query[i]->cell_count <= asked->query[index]->cell_count) {
            continue;
        }
        status = query_find_sums(&summed, asked->query[index], asked->query[i], &job->schema, work);
        is_told = summed > 0 && is_better_without(stage, asked->query[index], summed);
        if (is_told) {
            put_again(out, &(struct job_again){own, asked->place[i], false, summed});
        }
    }
    return status;
}

enum status job_asks_again(struct job_agains *out, const struct job *job)
{
    struct asked asked;
    uint64_t work = WORK;
    uint64_t work_of_sums = WORK;
    enum status status = asked_init(&asked, job);
    out->count = 0;
    if (status == STATUS_OK) {
        asked_fill(&asked, job);
    }
    if (status == STATUS_OK && asked.count > 1) {
        status = query_prints(asked.print, asked.query, asked.count, &job->schema);
    }
    for (size_t i = 0; i < asked.count && status == STATUS_OK; i++) {
        status = find_first(&asked, i, &job->schema, &work);
    }
    for (size_t i = 0; i < asked.count && status == STATUS_OK; i++) {
        const bool is_same = asked.first[i] != i;
        const size_t earlier = is_same ? asked.first[i] : asked.like[i];
        if (earlier != i) {
            put_again(out, &(struct job_again){asked.place[i], asked.place[earlier], !is_same, 0});
        } else {
            status = find_sums(out, &asked, i, job, &work_of_sums);
        }
    }
    asked_free(&asked);
    return status;
}

enum { PLACE_BYTES = 192 };

/* question 2 of stage 1, "count: sex == M"; a learner's after those that are written: question 1 of the conjunction, */
static void name(char text[static PLACE_BYTES], const struct job *job, struct job_question place,
                 bool with_stage)
{
    const struct query_set *set = round_queries(&job->stage[place.stage]);
    const char *question = set->query[place.question].text;
    const bool is_written = place.question < set->written;
    char stage[32] = "";
    if (with_stage) {
        (void)snprintf(stage, sizeof stage, " of stage %zu", place.stage + 1);
    }
    const int shown = letters_within(question, SHOWN);
    (void)snprintf(text, PLACE_BYTES, "question %zu%s%s, \"%.*s%s\",",
                   place.question + 1 - (is_written ? 0 : set->written),
                   is_written ? "" : " of the conjunction", stage, shown, question,
                   question[shown] != '\0' ? "..." : "");
}

void job_again_say(struct why *out, const struct job *job, const struct job_again *again)
{
    const bool is_one_stage = again->later.stage == again->earlier.stage;
    char later[PLACE_BYTES];
    char earlier[PLACE_BYTES];
    name(later, job, again->later, false);
    name(earlier, job, again->earlier, !is_one_stage);
    if (again->summed > 0) {
        why_set(out,
                "%s is answered by %s too: by sums of its cells, of %zu at most, and both are paid "
                "for. Remove it: the sums then have less noise than its answer has now, and so "
                "have all answers of the stage",
                later, earlier, again->summed);
        return;
    }
    if (again->if_there) {
        why_set(out,
                "%s asks the same as %s of every record but those with a missing or unlisted cell, "
                "and both are paid for. Remove one, unless you ask for the difference",
                later, earlier);
    } else if (is_one_stage) {
        why_set(out,
                "%s asks the same as %s and both are paid for. Remove one, and all answers of the "
                "stage have less noise; or ask it once in a stage of its own, for the epsilon of "
                "both",
                later, earlier);
    } else {
        why_set(out,
                "%s asks the same as %s and is paid for again. Remove one, or ask it once at twice "
                "the epsilon: that is as precise as both averaged, or better",
                later, earlier);
    }
}

void job_again_tell(const struct job_agains *agains, const struct job *job,
                    void (*tell)(void *self, const char *text), void *self)
{
    char text[WHY_BYTES + 32];
    for (size_t i = 0; i < agains->count && i < JOB_AGAIN_TOLD; i++) {
        struct why why = {""};
        job_again_say(&why, job, &agains->again[i]);
        (void)snprintf(text, sizeof text, "stage %zu: %s", agains->again[i].later.stage + 1,
                       why.text);
        tell(self, text);
    }
    if (agains->count > JOB_AGAIN_TOLD) {
        (void)snprintf(text, sizeof text, "%zu more questions of the job are asked twice",
                       agains->count - JOB_AGAIN_TOLD);
        tell(self, text);
    }
}
