/* A plan as a person reads it: stages, noise under every trust, warnings, and what is expected. */

#include "base/wrap.h"
#include "cli/plan.h"
#include "cli/plan_job.h"
#include "job/round.h"
#include "job/trust.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>

enum { CELL_BYTES = 64 };

/* "epsilon 1 at delta 1e-05" */
static const char *epsilon_cell(char text[static CELL_BYTES], struct price price)
{
    const int used = snprintf(text, CELL_BYTES, "epsilon %.6g", (double)price.epsilon_micro * 1e-6);
    if (price.delta_atto > 0) {
        (void)snprintf(text + used, (size_t)(CELL_BYTES - used), " at delta %.3g",
                       (double)price.delta_atto * 1e-18);
    }
    return text;
}

/* What an agent's ledger will hold. */
static void print_charge(const struct terms *terms)
{
    const bool gaussian = terms->charge.epsilon_micro == 0;
    char sampled[CELL_BYTES] = "";
    char price[CELL_BYTES];
    if (terms->sampling < 1) {
        (void)snprintf(sampled, sizeof sampled, " on %.6g of the records", terms->sampling);
    }
    wrap_print(stdout, 0, 4, "  %u charge%s of %s %.6g%s: %s for the stage alone", terms->passes,
               terms->passes == 1 ? "" : "s", gaussian ? "sigma" : "epsilon",
               gaussian ? terms->sigma : (double)terms->charge.epsilon_micro * 1e-6, sampled,
               epsilon_cell(price, terms->price));
}

/* Rounds and batch, also where the stage's task chose them. */
static void print_rounds(const struct stage *stage)
{
    char share[CELL_BYTES] = "";
    if (!task_reads(stage->task, SHARED_ROUNDS) || !task_reads(stage->task, SHARED_BATCH)) {
        return;
    }
    if (stage->batch_nano > 0) {
        (void)snprintf(share, sizeof share, ", %.9g %% of these agents' records",
                       100.0 * stage->batch_nano / PORTION_ONE);
    }
    (void)printf("  rounds: %u; batch: %u%s\n", stage->rounds, stage->batch, share);
}

/* What a round asks of an agent's machine. */
static void print_work(const struct job_plan *plan, size_t index)
{
    struct work_need need;
    char slot[2 * CELL_BYTES] = "its time is public, no answer slot";
    if (job_plan_need(&need, plan, index) != STATUS_OK) {
        return;
    }
    if (!work_time_is_public(&plan->job.stage[index])) {
        (void)snprintf(slot, sizeof slot, "answer_slot_ms %llu will do at 10^9 a second",
                       (unsigned long long)work_slot_ms(need.flops, plan_speed));
    }
    wrap_print(stdout, 0, 4,
               "  a round takes an agent at most %.3g MB of memory and %.2g operations: %s",
               need.bytes / 1e6, need.flops, slot);
}

static void print_stage(const struct job_plan *plan, size_t index)
{
    const struct stage *stage = &plan->job.stage[index];
    const struct terms *terms = &plan->stage[index];
    (void)printf("\nstage %zu: %s, %s; %s\n", index + 1, task_name(stage->task),
                 strategy_name(stage->strategy), terms->mechanism);
    print_charge(terms);
    print_rounds(stage);
    struct command_question question = {0};
    for (size_t i = 0; i < terms->line_count; i++) {
        const struct terms_line *line = &terms->line[i];
        const char *drowned = line->noise_to_signal > 1 ? "  DROWNED" : "";
        char noise[CELL_BYTES + sizeof line->unit];
        if (isfinite(line->noise)) {
            (void)snprintf(noise, sizeof noise, "+- %.3g %s%s", line->noise, line->unit, drowned);
        } else if (!isfinite(line->bar)) {
            (void)snprintf(noise, sizeof noise, "no %s%s",
                           line->noise_to_signal > 1 ? "answer" : "interval", drowned);
        } else {
            (void)snprintf(noise, sizeof noise, "%s %.3g %s%s%s", job_plan_bar_word(line),
                           line->bar, line->unit, isfinite(terms->regret) ? "" : " (95 %)",
                           drowned);
        }
        const char *what = command_part(stdout, 2, &question, line->what,
                                        i + 1 < terms->line_count ? line[1].what : NULL);
        command_beside(stdout, question.bytes > 0 ? 4 : 2, what, noise);
    }
    if (isfinite(terms->regret)) {
        (void)printf("  expected regret at most %.4f a round; without privacy %.4f\n",
                     terms->regret, terms->regret_free);
        (void)printf("  chance that the best expert is broadcast, where it leads by 1/100: %.2f\n",
                     terms->best_chance);
        if (isfinite(terms->changed_chance)) {
            (void)printf(
                "    and %.2f if it is another one changed, which begins with less weight\n",
                terms->changed_chance);
        }
    }
    print_work(plan, index);
}

static void print_warning(const struct job_answer *answer, size_t stage)
{
    struct job_advice advice[PLAN_ADVICE_MAX];
    const struct terms_line *worst = job_plan_worst(&answer->plan, stage);
    if (worst == NULL || worst->noise_to_signal <= 1) {
        return;
    }
    (void)putchar('\n');
    wrap_print(stdout, 0, 2, "WARNING: the noise of stage %zu drowns its signal (%s):", stage + 1,
               worst->what);
    wrap_print(stdout, 0, 2, "  it is %.2g times what counts as drowned: %s.",
               worst->noise_to_signal, worst->measure);
    const size_t count = job_advise(advice, &answer->source, &answer->plan, stage);
    for (size_t i = 0; i < count; i++) {
        wrap_print(stdout, 0, 4, "  %s -> %s%s", advice[i].change, advice[i].figure,
                   advice[i].noise_to_signal > 1 ? ", which is still too much" : "");
    }
    if (count == 0) {
        (void)printf("  Nothing that was tried helps: epsilon, records, agents, lambda, trust.\n");
    }
}

/* Comparisons with constants where few cells are expected: allowed, and mostly a slip of the pen. */
static void print_notes(const struct job *job, size_t stage)
{
    const struct query_set *set = round_queries(&job->stage[stage]);
    struct why by_site = {""};
    if (stage_has_site_note(job, &job->stage[stage], &by_site)) {
        (void)putchar('\n');
        wrap_print(stdout, 0, 2, "NOTE: stage %zu: %s", stage + 1, by_site.text);
    }
    for (size_t i = 0; i < set->count; i++) {
        struct why note = {""};
        if (query_has_note(&set->query[i], &note)) {
            (void)putchar('\n');
            wrap_print(stdout, 0, 2, "NOTE: stage %zu: %s", stage + 1, note.text);
        }
    }
}

static const char *noise_cell(char text[static CELL_BYTES], const struct job_plan *plan,
                              size_t stage)
{
    const struct terms_line *worst = job_plan_worst(plan, stage);
    (void)snprintf(text, CELL_BYTES, "-");
    if (worst != NULL && isfinite(worst->noise)) {
        (void)snprintf(text, CELL_BYTES, "+- %.3g %.40s", worst->noise, worst->unit);
    } else if (worst != NULL && isfinite(plan->stage[stage].regret)) {
        (void)snprintf(text, CELL_BYTES, "none; %.3g regret added", worst->bar);
    } else if (worst != NULL && !isfinite(worst->bar)) {
        (void)snprintf(text, CELL_BYTES, "no answer: not enough data at this epsilon");
    } else if (worst != NULL) {
        (void)snprintf(text, CELL_BYTES, "%s %.3g %.40s", job_plan_bar_word(worst), worst->bar,
                       worst->unit);
    }
    return text;
}

/* A row of the trusts' table: of which stage, under which trust, what. */
static void print_row(const char *what, const char *trust, const char *cell)
{
    (void)printf("%-20s  %-11s  %s\n", what, trust, cell);
}

/* A stage's noise under every trust, and the regret where it has one. */
static void print_stage_trusts(const struct job_answer *answer, size_t stage)
{
    char what[CELL_BYTES];
    char cell[CELL_BYTES];
    (void)snprintf(what, sizeof what, "  %zu %s", stage + 1,
                   task_name(answer->plan.job.stage[stage].task));
    for (unsigned i = 0; i < TRUST_COUNT; i++) {
        const struct job_plan *plan = job_answer_under(answer, (enum job_trust)i);
        const char *name = job_trust_name((enum job_trust)i);
        if (plan == NULL) {
            continue;
        }
        print_row(what, name, noise_cell(cell, plan, stage));
        what[0] = '\0';
        if (isfinite(plan->stage[stage].regret)) {
            (void)snprintf(cell, sizeof cell, "regret at most %.4f a round",
                           plan->stage[stage].regret);
            print_row("", "", cell);
            (void)snprintf(cell, sizeof cell, "best broadcast: chance %.2f",
                           plan->stage[stage].best_chance);
            print_row("", "", cell);
        }
    }
}

/* Whom each trust trusts with what, and what its rounds take. */
static void print_prices(const struct job_answer *answer)
{
    for (unsigned i = 0; i < TRUST_COUNT; i++) {
        const struct trust *trust = trust_at((enum job_trust)i);
        const struct job_plan *plan = job_answer_under(answer, (enum job_trust)i);
        char counts[CELL_BYTES] = "";
        (void)putchar('\n');
        if (plan == NULL) {
            wrap_print(stdout, 0, 2, "Under trust %s there is no such job: %s", trust->name,
                       answer->none[i].text);
            continue;
        }
        if (trust->masked) {
            (void)snprintf(counts, sizeof counts, " (minimum %u, dishonest %u, honest %u)",
                           plan->job.cohort_min, (unsigned)plan->job.dishonest,
                           (unsigned)plan->job.honest);
        }
        wrap_print(stdout, 0, 2, "trust %s: %s%s.", trust->name, trust->trusted, counts);
        wrap_print(
            stdout, 0, 2,
            "  A round with one site, without a model to fetch: %u messages, %u round trips, %u "
            "commits.",
            trust->messages, trust->round_trips, trust->commits);
    }
}

/* A plan under another trust may need more sites in every round: then its noise is not that of the same releases. */
static void print_other_minimum(const struct job_answer *answer)
{
    for (unsigned i = 0; i < TRUST_COUNT; i++) {
        const struct job_plan *plan = job_answer_under(answer, (enum job_trust)i);
        if (plan != NULL && plan->job.cohort_min != answer->plan.job.cohort_min) {
            wrap_print(
                stdout, 0, 0,
                "Trust %s is planned with cohort.minimum %u here. A stage that plans itself, as "
                "learn does, may then release other numbers: compare what its own plan prints.",
                job_plan_trust(plan), plan->job.cohort_min);
        }
    }
}

static void print_trusts(const struct job_answer *answer)
{
    const struct job_plan *better = job_answer_better(answer);
    (void)printf("\nnoise by trust\n");
    for (size_t i = 0; i < answer->plan.job.stage_count; i++) {
        print_stage_trusts(answer, i);
    }
    print_other_minimum(answer);
    print_prices(answer);
    if (better == NULL) {
        (void)putchar('\n');
        wrap_print(
            stdout, 0, 0,
            "Under the other trust this job releases other numbers. So their noise cannot be "
            "compared.");
    } else if (job_answer_rival(answer) != NULL) {
        (void)putchar('\n');
        wrap_print(stdout, 0, 0, "Trust %s has less noise for its signal here. %s.",
                   job_plan_trust(better),
                   trust_of(&better->job)->exact_answers
                       ? "Under it every agent sends exact sums to the coordinator"
                       : "Under it no agent sends an exact sum");
    }
}

static enum status print_expected(const struct job_answer *answer)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < answer->plan.job.stage_count; i++) {
        struct job_expected expected;
        status = job_expect(&expected, &answer->source, &answer->plan, i);
        if (status == STATUS_OK) {
            job_expected_print(&expected);
        }
    }
    return status;
}

enum status job_answer_print(const struct job_answer *answer)
{
    const struct job_plan *plan = &answer->plan;
    const struct job *job = &plan->job;
    (void)printf("%s, trust %s, %zu agents with %llu records each\n", job->name,
                 job_plan_trust(plan), plan->size.agents, (unsigned long long)plan->size.records);
    for (size_t i = 0; i < job->stage_count; i++) {
        print_stage(plan, i);
    }
    char price[CELL_BYTES];
    char limit[CELL_BYTES];
    (void)printf("\n+- is one standard deviation of the noise on what is released.\n");
    wrap_print(stdout, 0, 0, "in all, for any one %s of an agent: %s; the job's limit: %s%s",
               job_unit_name(job->unit), epsilon_cell(price, plan->price),
               epsilon_cell(limit, (struct price){job->epsilon_micro, job->delta_atto}),
               plan->admitted ? "" : ". NO LEDGER WILL ADMIT IT");
    (void)printf("the coordinator takes about %.3g MB of memory\n",
                 job_plan_coordinator_bytes(plan) / 1e6);
    if (job_plan_is_weak(plan)) {
        (void)putchar('\n');
        wrap_print(
            stdout, 0, 2,
            "WARNING: privacy.epsilon %.6g hardly protects a record: what is released may be "
            "e^%.6g times as likely with it as with another one in its place. 1 is usual; stay "
            "at or below %d.",
            (double)job->epsilon_micro * 1e-6, (double)job->epsilon_micro * 1e-6,
            (int)PLAN_EPSILON_WEAK);
    }
    print_trusts(answer);
    for (size_t i = 0; i < job->stage_count; i++) {
        print_warning(answer, i);
        print_notes(job, i);
    }
    return print_expected(answer);
}
