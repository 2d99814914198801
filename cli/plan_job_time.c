/* About how long a round takes, from public numbers and rates that were measured: docs/PERFORMANCE.md has the benches. Sites
 * work at the same time, each on a machine of its own, and share the coordinator's line. What a site computes from its records
 * is not in it: its task decides that. */

#include "base/text.h"
#include "cli/plan_job.h"
#include "cli/plan_job_table.h"
#include "job/round.h"
#include "job/trust.h"

#include <stdio.h>

/* Seconds. The first two are assumptions, the others of one processor on the machine of the benches. */
static const double trip_s = PLAN_TRIP_MS * 1e-3;
static const double flush_s = 0.005;
static const double coordinator_byte_s = 1e-9; /* bench_rounds: 62 ms for 64 MB both ways */
static const double site_byte_s = 1.7e-9;      /* the same: 107 ms of eight sites for 64 MB */
static const double noise_s = 22e-9;           /* bench_shares: a number */
static const double mask_s = 2.4e-9;      /* bench_masks: a number under the mask of one site */
static const double signature_s = 0.2e-3; /* the same: to check one, with what belongs to it */

/* What crosses the coordinator's line for one site. */
struct load {
    double numbers; /* of an answer */
    double bytes;   /* of an answer and of what it is asked with */
};

static struct load load_of(const struct job_plan *plan, size_t index, uint32_t within)
{
    const struct job *job = &plan->job;
    const struct stage *stage = &job->stage[index];
    const size_t agents = plan->size.agents;
    const size_t experts = job_experts_at(job, index, agents);
    const double answer = (double)round_answer_count(job, stage, within, experts);
    const unsigned word_bytes = trust_of(job)->masked
                                    ? round_masked_bytes(job, stage, within, experts, agents)
                                    : round_form(job, stage, within, experts, agents).word_bytes;
    double input = 0;
    switch (round_input(stage, within)) {
    case INPUT_EXPERTS:
        input = (double)experts * (double)round_width(job);
        break;
    case INPUT_STATE:
        input = (double)round_state_count(stage);
        break;
    case INPUT_NONE:
        break;
    }
    return (struct load){.numbers = answer,
                         .bytes = answer * word_bytes + input * round_input_bytes(stage, within)};
}

static double round_s(const struct job_plan *plan, const struct load *load, double link_mbit)
{
    const struct trust *trust = trust_of(&plan->job);
    const double sites = (double)plan->size.agents;
    const double wait_s = trust->round_trips * trip_s + trust->commits * flush_s;
    const double line_s = sites * load->bytes * 8e-6 / link_mbit;
    const double work_s = sites * load->bytes * coordinator_byte_s + load->bytes * site_byte_s +
                          load->numbers * noise_s;
    /* A site adds masks for all others and its own, checks their keys and the signatures; the coordinator removes a mask of
     * each, and checks both of each. */
    const double masks_s =
        trust->masked ? sites * (2 * load->numbers * mask_s + 4 * signature_s) : 0;
    return wait_s + line_s + work_s + masks_s;
}

double job_plan_round_s(const struct job_plan *plan, size_t stage, double link_mbit)
{
    const uint32_t distinct = round_distinct(&plan->job.stage[stage]);
    double most = 0;
    for (uint32_t within = 0; within < distinct; within++) {
        const struct load load = load_of(plan, stage, within);
        const double now = round_s(plan, &load, link_mbit);
        most = now > most ? now : most;
    }
    return most;
}

/* Whom each trust trusts with what. */
static void print_trusted(const struct job_answer *answer)
{
    for (unsigned i = 0; i < TRUST_COUNT; i++) {
        const struct trust *trust = trust_at((enum job_trust)i);
        const struct job_plan *plan = job_answer_under(answer, (enum job_trust)i);
        char counts[TABLE_CELL_BYTES] = "";
        if (plan == NULL) {
            text_wrap(stdout, 0, 2, "Under trust %s there is no such job: %s", trust->name,
                      answer->none[i].text);
            continue;
        }
        if (trust->masked) {
            (void)snprintf(counts, sizeof counts, " (minimum %u, dishonest %u, honest %u)",
                           plan->job.cohort_min, (unsigned)plan->job.dishonest,
                           (unsigned)plan->job.honest);
        }
        text_wrap_in(stdout, TABLE_WIDTH, 0, 2, "trust %s: %s%s.", trust->name, trust->trusted,
                     counts);
    }
}

/* A plan under another trust may need more sites in every round: then its noise is not that of the same releases. */
static void print_other_minimum(const struct job_answer *answer)
{
    for (unsigned i = 0; i < TRUST_COUNT; i++) {
        const struct job_plan *plan = job_answer_under(answer, (enum job_trust)i);
        if (plan != NULL && plan->job.cohort_min != answer->plan.job.cohort_min) {
            text_wrap(
                stdout, 0, 0,
                "Trust %s is planned with cohort.minimum %u here. A stage that plans itself, as "
                "learn does, may then release other numbers: compare what its own plan prints.",
                job_plan_trust(plan), plan->job.cohort_min);
        }
    }
}

void job_answer_print_trusted(const struct job_answer *answer)
{
    text_wrap_in(stdout, TABLE_WIDTH, 0, 2,
                 "Times: a line of %.0f Mbit/s at the coordinator (--link), trips of %d ms, "
                 "no computing at the sites.",
                 answer->link_mbit, (int)PLAN_TRIP_MS);
    print_other_minimum(answer);
    print_trusted(answer);
}
