/* A plan as a person reads it: stages, noise under every trust, warnings, and what is expected. */

#include "base/decimal.h"
#include "base/text.h"
#include "cli/plan.h"
#include "cli/plan_job.h"
#include "cli/plan_job_table.h"
#include "job/round.h"
#include "job/trust.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELL_BYTES = 128 };

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
static void print_charge(const struct job_plan *plan, size_t index)
{
    const struct stage *stage = &plan->job.stage[index];
    const struct terms *terms = &plan->stage[index];
    const bool gaussian = terms->charge.epsilon_micro == 0;
    char sampled[CELL_BYTES] = "";
    char price[CELL_BYTES];
    if (terms->sampling < 1) {
        (void)snprintf(sampled, sizeof sampled, " on %.6g of the records", terms->sampling);
    }
    const bool is_whole = !gaussian && terms->passes == 1 && terms->sampling >= 1 &&
                          terms->charge.epsilon_micro == terms->price.epsilon_micro;
    (void)putchar('\n');
    text_wrap_in(
        stdout, TABLE_WIDTH, 0, 4, "stage %zu: %s, %s; %s; %u charge%s of %s %.6g%s%s%s", index + 1,
        task_name(stage->task), strategy_name(stage->strategy), terms->mechanism, terms->passes,
        terms->passes == 1 ? "" : "s", gaussian ? "sigma" : "epsilon",
        gaussian ? terms->sigma : (double)terms->charge.epsilon_micro * 1e-6, sampled,
        is_whole ? "" : ": the stage alone ", is_whole ? "" : epsilon_cell(price, terms->price));
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

/* What a round asks of an agent's machine, where that is the stage's own. */
static void print_slot(const struct job_plan *plan, size_t index)
{
    struct work_need need;
    if (!work_time_is_public(&plan->job.stage[index]) &&
        job_plan_need(&need, plan, index) == STATUS_OK) {
        (void)printf("  answer_slot_ms %llu is long enough at 10^9 operations a second\n",
                     (unsigned long long)work_slot_ms(need.flops, plan_speed));
    }
}

static void print_work(const struct job_plan *plan)
{
    struct work_need most = {0, 0};
    for (size_t i = 0; i < plan->job.stage_count; i++) {
        struct work_need need;
        if (job_plan_need(&need, plan, i) == STATUS_OK) {
            most = (struct work_need){fmax(most.flops, need.flops), fmax(most.bytes, need.bytes)};
        }
    }
    text_wrap_in(stdout, TABLE_WIDTH, 0, 0,
                 "memory: the coordinator takes about %s MB, an agent at most %s MB in a round of "
                 "%.2g operations",
                 decimal_short(job_plan_coordinator_bytes(plan) / 1e6, 3).text,
                 decimal_short(most.bytes / 1e6, 3).text, most.flops);
}

/* A line that stands in no table. */
static void print_line(struct command_question *question, const struct terms *terms, size_t index)
{
    const struct terms_line *line = &terms->line[index];
    const char *drowned = line->noise_to_signal > 1 ? "  DROWNED" : "";
    char noise[CELL_BYTES + sizeof line->unit];
    if (isfinite(line->noise)) {
        (void)snprintf(noise, sizeof noise, "+- %s %s%s", decimal_short(line->noise, 3).text,
                       line->unit, drowned);
    } else {
        (void)snprintf(noise, sizeof noise, "%s %s %s%s%s", job_plan_bar_word(line),
                       decimal_short(line->bar, 3).text, line->unit,
                       isfinite(terms->regret) ? "" : " (95 %)", drowned);
    }
    const char *what = command_part(stdout, 2, question, line->what,
                                    index + 1 < terms->line_count ? line[1].what : NULL);
    command_beside(stdout, question->bytes > 0 ? 4 : 2, what, noise);
}

static enum status print_stage(const struct job_plan *plan, size_t index)
{
    const struct terms *terms = &plan->stage[index];
    struct command_question question = {0};
    enum status status = STATUS_OK;
    print_charge(plan, index);
    print_rounds(&plan->job.stage[index]);
    for (size_t i = 0; i < terms->line_count && status == STATUS_OK; i++) {
        bool is_told = false;
        status = table_print_question(&is_told, terms, i);
        if (!is_told) {
            print_line(&question, terms, i);
        }
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
    print_slot(plan, index);
    return status;
}

static void print_warning(const struct job_answer *answer, size_t stage)
{
    struct job_advice advice[PLAN_ADVICE_MAX];
    const struct terms_line *worst = job_plan_worst(&answer->plan, stage);
    if (worst == NULL || worst->noise_to_signal <= 1) {
        return;
    }
    (void)putchar('\n');
    text_wrap(stdout, 0, 2, "WARNING: the noise of stage %zu drowns its signal (%s):", stage + 1,
              worst->what);
    text_wrap(stdout, 0, 2, "  it is %.2g times what counts as drowned: %s.",
              worst->noise_to_signal, worst->measure);
    const size_t count = job_advise(advice, &answer->source, &answer->plan, stage);
    for (size_t i = 0; i < count; i++) {
        text_wrap(stdout, 0, 4, "  %s -> %s%s", advice[i].change, advice[i].figure,
                  advice[i].noise_to_signal > 1 ? ", which is still too much" : "");
    }
    if (count == 0) {
        (void)printf("  Nothing that was tried helps: epsilon, records, agents, lambda, trust.\n");
    }
}

/* What is compared: of the sites' answers together, as no trust but local has others. */
static const struct terms_line *worst_of_all(const struct terms *terms)
{
    const struct terms_line *worst = NULL;
    for (size_t i = 0; i < terms->line_count; i++) {
        const struct terms_line *line = &terms->line[i];
        if (!job_plan_is_of_sites(line) && isfinite(line->noise_to_signal) &&
            (worst == NULL || line->noise_to_signal > worst->noise_to_signal)) {
            worst = line;
        }
    }
    return worst;
}

/* The line that says the same as another one of the job's own plan; else the worst. */
static const struct terms_line *compared(const struct terms *terms, const struct terms_line *own)
{
    for (size_t i = 0; own != NULL && own->place.row[0] != '\0' && i < terms->line_count; i++) {
        const struct terms_place *place = &terms->line[i].place;
        if (place->of == own->place.of && strcmp(place->row, own->place.row) == 0 &&
            strncmp(terms->line[i].what, own->what, own->place.question) == 0) {
            return &terms->line[i];
        }
    }
    return worst_of_all(terms);
}

static void noise_cell(char *text, const struct job_plan *plan, size_t stage,
                       const struct terms_line *own)
{
    const struct terms_line *worst = compared(&plan->stage[stage], own);
    if (worst == NULL) {
        (void)snprintf(text, CELL_BYTES, "-");
    } else if (isfinite(worst->noise)) {
        (void)snprintf(text, CELL_BYTES, "+- %s %.40s", decimal_short(worst->noise, 3).text,
                       worst->unit);
    } else if (isfinite(plan->stage[stage].regret)) {
        (void)snprintf(text, CELL_BYTES, "none; %s regret added",
                       decimal_short(worst->bar, 3).text);
    } else if (!isfinite(worst->bar)) {
        (void)snprintf(text, CELL_BYTES, "no answer");
    } else {
        (void)snprintf(text, CELL_BYTES, "%s %s %.40s", job_plan_bar_word(worst),
                       decimal_short(worst->bar, 3).text, worst->unit);
    }
}

/* A stage's noise under every trust, and the regret where it has one: rows of the table. */
static void put_stage_trusts(struct table *table, const struct job_answer *answer, size_t stage)
{
    const struct terms_line *worst = worst_of_all(&answer->plan.stage[stage]);
    char(*row)[TABLE_COLUMNS][TABLE_CELL_BYTES] = &table->cell[table->rows];
    const bool has_regret = isfinite(answer->plan.stage[stage].regret);
    (void)snprintf(row[0][0], TABLE_CELL_BYTES, "%zu %.64s", stage + 1,
                   worst != NULL && worst->place.row[0] != '\0'
                       ? worst->place.row
                       : task_name(answer->plan.job.stage[stage].task));
    for (unsigned i = 0; i < TRUST_COUNT; i++) {
        const struct job_plan *plan = job_answer_under(answer, (enum job_trust)i);
        if (plan == NULL) {
            continue;
        }
        noise_cell(row[0][i + 1], plan, stage, worst);
        if (has_regret) {
            (void)snprintf(row[1][0], TABLE_CELL_BYTES, "  regret at most a round");
            (void)snprintf(row[2][0], TABLE_CELL_BYTES, "  best broadcast: chance");
            (void)snprintf(row[1][i + 1], TABLE_CELL_BYTES, "%.4f", plan->stage[stage].regret);
            (void)snprintf(row[2][i + 1], TABLE_CELL_BYTES, "%.2f", plan->stage[stage].best_chance);
        }
    }
    table->rows += has_regret ? 3 : 1;
}

/* What a round takes: messages, trips and commits without a model to fetch, the time with it, of the longest stage. */
static void put_prices(struct table *table, const struct job_answer *answer)
{
    char(*row)[TABLE_CELL_BYTES] = table->cell[table->rows++];
    (void)snprintf(row[0], TABLE_CELL_BYTES, "messages, trips, commits; time");
    for (unsigned i = 0; i < TRUST_COUNT; i++) {
        const struct trust *trust = trust_at((enum job_trust)i);
        const struct job_plan *plan = job_answer_under(answer, (enum job_trust)i);
        double most_s = 0;
        for (size_t stage = 0; plan != NULL && stage < plan->job.stage_count; stage++) {
            const double now_s = job_plan_round_s(plan, stage, answer->link_mbit);
            most_s = now_s > most_s ? now_s : most_s;
        }
        if (plan != NULL) {
            (void)snprintf(row[i + 1], TABLE_CELL_BYTES, "%u, %u, %u; %s s", trust->messages,
                           trust->round_trips, trust->commits, decimal_short(most_s, 2).text);
        }
    }
}

static enum status print_trusts(const struct job_answer *answer)
{
    const struct job_plan *better = job_answer_better(answer);
    struct table table;
    const enum status status = table_init(&table, 2 + 3 * answer->plan.job.stage_count);
    if (status != STATUS_OK) {
        return status;
    }
    table.rows = 1;
    table.is_left = true;
    (void)snprintf(table.cell[0][0], TABLE_CELL_BYTES, "noise by trust");
    for (unsigned i = 0; i < TRUST_COUNT; i++) {
        (void)snprintf(table.cell[0][i + 1], TABLE_CELL_BYTES, "%s%s", job_trust_name(i),
                       (enum job_trust)i == answer->plan.job.trust ? " (this job)" : "");
    }
    for (size_t i = 0; i < answer->plan.job.stage_count; i++) {
        put_stage_trusts(&table, answer, i);
    }
    put_prices(&table, answer);
    (void)putchar('\n');
    table_print(&table, 0);
    table_free(&table);
    job_answer_print_trusted(answer);
    if (better == NULL) {
        text_wrap(stdout, 0, 0,
                  "Under the other trust this job releases other numbers. So their noise cannot be "
                  "compared.");
    } else if (job_answer_rival(answer) != NULL) {
        text_wrap_in(stdout, TABLE_WIDTH, 0, 0, "Trust %s has less noise for its signal here. %s.",
                     job_plan_trust(better),
                     trust_of(&better->job)->exact_answers
                         ? "Under it every agent sends exact sums to the coordinator"
                         : "Under it no agent sends an exact sum");
    }
    return STATUS_OK;
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

/* Another site's interval over the one of all sites, which the number of sites alone decides; NAN: none is told. */
static double next_over_sites(const struct job_plan *plan)
{
    double ratio = NAN;
    for (size_t i = 0; i < plan->job.stage_count; i++) {
        const struct terms *terms = &plan->stage[i];
        for (size_t j = 1; j < terms->line_count; j++) {
            const struct terms_line *line = &terms->line[j];
            if (line->place.of == TERMS_OF_NEXT && isfinite(line->bar)) {
                ratio = line->bar / terms->line[j - 1].bar;
            }
        }
    }
    return ratio;
}

/* The words of the tables; those of sites where a stage has them. */
static void print_legend(const struct job_plan *plan)
{
    const double ratio = next_over_sites(plan);
    char next[64] = "";
    bool has[TERMS_OF_COUNT] = {false};
    if (isfinite(ratio)) {
        (void)snprintf(next, sizeof next, " (another such site: %.1f times that)", ratio);
    }
    for (size_t i = 0; i < plan->job.stage_count; i++) {
        for (size_t j = 0; j < plan->stage[i].line_count; j++) {
            has[plan->stage[i].line[j].place.of] = true;
        }
    }
    (void)putchar('\n');
    text_wrap_in(stdout, TABLE_WIDTH, 0, 0,
                 "+- is one standard deviation of the noise on what is released.%s%s%s%s%s",
                 has[TERMS_OF_ALL] || has[TERMS_OF_ALIKE] || has[TERMS_OF_SITE]
                     ? " Intervals are to be expected, of sampling and noise. refused: too few "
                       "records. from: the fewest that are enough, or a number that cannot be "
                       "none. !: the noise drowns it."
                     : "",
                 has[TERMS_OF_SMALL] ? " a group: if all are alike; a tenth: a group of a tenth of "
                                       "the records."
                                     : "",
                 has[TERMS_OF_SITE] ? " all sites: their mean, if alike" : "", next,
                 has[TERMS_OF_SITE]
                     ? "; alone: an estimate without an interval, which no study has confirmed."
                     : "");
}

enum status job_answer_print(const struct job_answer *answer)
{
    const struct job_plan *plan = &answer->plan;
    const struct job *job = &plan->job;
    (void)printf("%s, trust %s, %zu agents with %llu records each\n", job->name,
                 job_plan_trust(plan), plan->size.agents, (unsigned long long)plan->size.records);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < job->stage_count && status == STATUS_OK; i++) {
        status = print_stage(plan, i);
    }
    char price[CELL_BYTES];
    char limit[CELL_BYTES];
    print_legend(plan);
    text_wrap_in(stdout, TABLE_WIDTH, 0, 0,
                 "in all, for any one %s of an agent: %s; the job's limit: %s%s",
                 job_unit_name(job->unit), epsilon_cell(price, plan->price),
                 epsilon_cell(limit, (struct price){job->epsilon_micro, job->delta_atto}),
                 plan->admitted ? "" : ". NO LEDGER WILL ADMIT IT");
    print_work(plan);
    if (job_plan_is_weak(plan)) {
        (void)putchar('\n');
        text_wrap(
            stdout, 0, 2,
            "WARNING: privacy.epsilon %.6g hardly protects a record: what is released may be "
            "e^%.6g times as likely with it as with another one in its place. 1 is usual; stay "
            "at or below %d.",
            (double)job->epsilon_micro * 1e-6, (double)job->epsilon_micro * 1e-6,
            (int)PLAN_EPSILON_WEAK);
    }
    status = status == STATUS_OK ? print_trusts(answer) : status;
    for (size_t i = 0; i < job->stage_count; i++) {
        print_warning(answer, i);
    }
    job_answer_print_notes(answer);
    return status == STATUS_OK ? print_expected(answer) : status;
}
