/* What a learn stage says of itself. The expected loss is rehearsed once, as the first round closes: with the agents that have
 * answered, on the made-up tables of `plan job`. It stands in the journal behind the learner's state, so that every reader
 * of the journal says the same, on any machine and without rehearsing again. */

#include "base/bytes.h"
#include "job/terms.h"
#include "learn/rehearsal.h"
#include "learn/selftune_second.h"
#include "task/learn/look.h"
#include "task/learn/said.h"
#include "task/learn/stage.h"
#include "task/task.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

#define SHORTENED_LEAST 1.05 /* that is worth telling */
#define NOTHING         2.0  /* no accuracy differs by that much */
#define TOO_LONG        3.0
#define PERCENT         100.0

/* What became of products of columns, after the last step. */
static enum status describe_products(struct outcome_round *round, const struct outcome *outcome,
                                     const struct learn_stage *own)
{
    const size_t d = own->tune.feature_count;
    if (own->tune.bends) {
        return closing_note(round, "; ", "of %zu products of columns %zu tell something and stay",
                            d * (d + 1) / 2, selftune_bent_count(outcome->state, &own->tune));
    }
    return own->unbent == NULL
               ? STATUS_OK
               : closing_note(round, "; ", "products of columns were not tried: %s", own->unbent);
}

/* Gradients say how alike columns are. After a look at products of columns, a step looks back at the one before. */
static enum status describe_shortened(struct outcome_round *round, const struct outcome *outcome,
                                      const struct learn_stage *own)
{
    const double shortened = selftune_shortened(outcome->state, &own->tune);
    const char *why = own->tune.sight == SIGHT_PRODUCTS
                          ? "what was released pointed back along the last step, so the "
                            "next ones were"
                          : "columns are alike, so steps along these were up to";
    return shortened <= SHORTENED_LEAST
               ? STATUS_OK
               : closing_note(round, "; ", "%s %.2g times shorter", why, shortened);
}

void learn_expect_nothing(double *expected)
{
    for (size_t i = 0; i < LEARN_EXPECTED_NUMBERS; i++) {
        expected[i] = NOTHING;
    }
}

enum status learn_expect(double *expected, const struct closing *closing)
{
    const struct job *job = closing->job;
    uint32_t within;
    const struct stage *stage = job_stage_of(job, closing->record->as.round.round, &within);
    const struct terms_size size = {closing->record->as.round.agent_count, job->records_least};
    struct rehearsal plan;
    struct rehearsal_answer answer;
    learn_expect_nothing(expected);
    if (terms_rehearse(&plan, job, (size_t)(stage - job->stage), size, NULL) != STATUS_OK) {
        return STATUS_OK;
    }
    const size_t tables = rehearsal_prompt_tables(&plan);
    if (tables == 0) {
        expected[0] = TOO_LONG;
        return STATUS_OK;
    }
    /* The seed of `plan job`: an answer to the same text. */
    const uint64_t seed = load_u64(closing->outcome->job_name.text_digest.byte);
    const enum status status = rehearsal_play(&answer, &plan, 1, tables, seed);
    if (status == STATUS_OK) {
        expected[0] = answer.lost.mean;
        expected[1] = answer.lost.low;
        expected[2] = answer.lost.high;
    }
    return status == STATUS_INVALID ? STATUS_OK : status;
}

static enum status describe_expected(struct outcome_round *round, const struct outcome *outcome,
                                     const struct stage *stage)
{
    const double *expected = outcome->state + learn_state_count(stage) - LEARN_EXPECTED_NUMBERS;
    const struct learn_stage *own = learn_stage(stage);
    const bool many = own->tune.output_count > 1;
    if (outcome->state_is_old) {
        return STATUS_OK;
    }
    if (expected[0] == TOO_LONG) {
        return closing_note(round, "; ",
                            "what noise may cost is not rehearsed for so many columns%s",
                            many ? " and classes" : "");
    }
    if (!(fabs(expected[0]) <= 1)) {
        return STATUS_OK; /* nobody knows */
    }
    return closing_note(
        round, "; ", "expected %s: %.1f points%s (%.1f to %.1f in %s made-up tables)",
        own->is_number ? "error that noise adds" : "accuracy lost to noise", PERCENT * expected[0],
        own->is_number ? ", each a hundredth of the label's range" : "", PERCENT * expected[1],
        PERCENT * expected[2], many ? "24 of 25" : "nine of ten");
}

/* All rounds of a stage are charged alike, and of two looks a site has one. What Gaussian noise is charged by has no share of
 * epsilon. */
static enum status describe_share(struct outcome_round *round, const struct job *job,
                                  const struct stage *stage)
{
    const double part = PERCENT / (stage->turns > 0 ? 1 : stage->rounds);
    return learn_stage(stage)->tune.gaussian
               ? closing_note(round, " ", "with %.3g %% of the stage's zCDP", part)
               : closing_note(round, " ", "with %.3g %% of epsilon",
                              part * (double)stage->epsilon_micro / (double)job->epsilon_micro);
}

/* For two looks: who has looked, and how many columns the first one leaves to the second. */
static enum status describe_turn(struct outcome_round *round, const struct outcome *outcome,
                                 const struct stage *stage, uint32_t within,
                                 const struct record *record)
{
    const uint32_t sites = record->as.round.agent_count;
    const uint32_t looked = sites - record->as.round.away_count;
    const struct learn_stage *own = learn_stage(stage);
    const double *told = outcome->state + learn_state_count(stage) - LEARN_EXPECTED_NUMBERS -
                         learn_told_count(stage);
    if (within > 0) {
        return closing_note(round, "; ",
                            "%" PRIu32 " of %" PRIu32
                            " sites looked at the %zu columns that were left "
                            "most unsure, less their means",
                            looked, sites, selftune_told_chosen(told));
    }
    const enum status status = closing_note(
        round, " ", "(%" PRIu32 " of %" PRIu32 " sites, which share the columns out to %u groups)",
        looked, sites, own->groups);
    return status != STATUS_OK || outcome->state_is_old
               ? status
               : closing_note(round, ", ", "the other sites look next at %zu of the columns",
                              selftune_told_chosen(told));
}

static enum status describe_look(struct outcome_round *round, const struct outcome *outcome,
                                 const struct stage *stage, uint32_t within,
                                 const struct record *record)
{
    static const char *const seen[SIGHTS] = {[SIGHT_SUMS] = "each class's sums",
                                             [SIGHT_SQUARES] = "each class's sums and the squares",
                                             [SIGHT_PRODUCTS] =
                                                 "each class's sums and the products"};
    const struct learn_stage *own = learn_stage(stage);
    if (within > 0) {
        return describe_turn(round, outcome, stage, within, record);
    }
    const bool one_sum = learn_sum_count(stage) == learn_column_count(stage);
    const char *what = own->is_number && own->tune.sight == SIGHT_SQUARES ? "means and squares"
                       : one_sum                                          ? "means and products"
                                                                          : seen[own->tune.sight];
    const enum status status = closing_note(
        round, "; ", "looked at %s%s of %zu columns%s", own->is_number ? "" : "counts, ", what,
        own->tune.feature_count, own->is_number ? " and the label" : "");
    if (status == STATUS_OK && stage->turns > 0) {
        return describe_turn(round, outcome, stage, within, record);
    }
    return status != STATUS_OK || own->groups <= 1
               ? status
               : closing_note(round, " ",
                              "(each column at one of %u groups of sites, for less noise)",
                              own->groups);
}

enum status learn_describe(struct outcome_round *round, const struct outcome *outcome,
                           const struct job *job, const struct stage *stage,
                           const struct record *record)
{
    const struct learn_stage *own = learn_stage(stage);
    enum status status = STATUS_OK;
    uint32_t within;
    (void)job_stage_of(job, record->as.round.round, &within);
    if (learn_is_look(stage, within)) {
        status = describe_look(round, outcome, stage, within, record);
    } else {
        status = closing_note(round, "; ", "step %u of %u%s",
                              within + (own->tune.sight != SIGHT_NONE ? 0 : 1), own->tune.steps,
                              own->is_number ? ", with the sum of misses" : "");
    }
    const bool last = within + 1 == stage->rounds;
    if (status == STATUS_OK) {
        status = describe_share(round, job, stage);
    }
    if (status == STATUS_OK && within == 0 && own->tune.steps > 0 && learn_is_look(stage, within)) {
        status = closing_note(round, ", ", "then %u step%s", own->tune.steps,
                              own->tune.steps == 1 ? "" : "s");
    }
    if (status == STATUS_OK && (within == 0 || last)) {
        status = describe_expected(round, outcome, stage);
    }
    if (status == STATUS_OK && last && !own->is_number) {
        status = describe_products(round, outcome, own);
    }
    return status == STATUS_OK && last && !own->is_number ? describe_shortened(round, outcome, own)
                                                          : status;
}
