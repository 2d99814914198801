/* Two looks by turns: which jobs have them, whose turn a slot is, and what a coordinator reads of sums in which some sites have not
 * looked. The sums are agents' own, without noise. */

#include "job/round.h"
#include "protocol/message.h"
#include "task/answer.h"
#include "task/learn/look.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    D = 40,
    SITES = 5,
    M = 60,
    RECORDS = SITES * M,
    TEXT_BYTES = 8192,
    VALUES = 1024,
    STATE_MOST = 1024
};

static struct job job;
static double x[RECORDS * (D + 1)];
static double y[RECORDS];
static size_t order[RECORDS];
static int64_t sum[VALUES];
static double value[VALUES];
static double state[STATE_MOST];

struct asked {
    int columns;
    int sites;
    const char *trust;
    const char *epsilon;
    const char *delta;
};

static const struct asked usual = {D, SITES, "local", "0.2", "0"};

static void parse(const struct asked *asked, enum job_age age)
{
    char text[TEXT_BYTES];
    struct why why = {{0}};
    size_t used = (size_t)snprintf(
        text, sizeof text,
        "hedgerow: 1\njob: t\ndata:\n  label: {column: y, positive: \"1\", negative: \"0\"}\n"
        "  features:\n");
    for (int j = 0; j < asked->columns; j++) {
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "  - {column: c%d, centre: 0, half_width: 1}\n", j);
    }
    (void)snprintf(text + used, sizeof text - used,
                   "privacy: {unit: record, neighbours: replace_one, trust: %s, epsilon: %s, "
                   "delta: %s}\ncohort: {minimum: %d, records: %d, deadline_s: 10}\n"
                   "stages: [{task: learn}]\n",
                   asked->trust, asked->epsilon, asked->delta, asked->sites, M);
    job_free(&job);
    cr_assert_eq(job_parse_older(&job, (struct slice){text, strlen(text)}, age, "t", &why),
                 STATUS_OK, "%s", why.text);
}

static void setup(void)
{
    struct seeded_random seeded;
    seeded_random_init(&seeded, 1);
    parse(&usual, JOB_OF_NOW);
    const double scale = schema_column_scale(&job.stage->schema);
    for (size_t i = 0; i < RECORDS; i++) {
        order[i] = i % M;
        y[i] = i % 2 == 0 ? -1 : 1;
        for (size_t j = 0; j < D; j++) { /* two columns tell */
            const double u = 2 * seeded_random_unit(&seeded) - 1;
            x[i * (D + 1) + j] = scale * (j < 2 ? (u + y[i]) / 2 : u);
        }
    }
}

static void teardown(void)
{
    job_free(&job);
}

Test(learn_turns, are_taken_where_columns_are_many_and_no_step_follows, .fini = teardown)
{
    static const struct asked others[] = {
        {D - 1, SITES, "local", "0.2", "0"}, {D, SITES - 1, "local", "0.2", "0"},
        {D, SITES, "central", "0.2", "0"},   {D, SITES, "local", "0.2", "0.00001"},
        {D, SITES, "local", "50", "0"},
    };
    parse(&usual, JOB_OF_NOW);
    cr_expect_eq(job.stage->turns, 2);
    cr_expect_eq(job.stage->rounds, 2);
    cr_expect_eq(learn_stage(job.stage)->groups_second, 2);
    cr_expect_eq(round_groups(job.stage, 0).count, 3);
    cr_expect_eq(round_groups(job.stage, 1).count, 2);
    cr_expect_eq(job.stage->charge.epsilon_micro, 200000, "a site looks once");
    cr_expect(job_differs_older(&job));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        parse(&others[i], JOB_OF_NOW);
        cr_expect_eq(job.stage->turns, 0, "%zu", i);
        cr_expect_eq(learn_stage(job.stage)->groups_second, 0, "%zu", i);
    }
}

/* One that has been begun keeps its plan. */
Test(learn_turns, are_not_taken_in_a_job_of_before, .fini = teardown)
{
    static const enum job_age ages[] = {JOB_OF_6, JOB_OF_5, JOB_UP_TO_4};
    for (size_t i = 0; i < 3; i++) {
        parse(&usual, ages[i]);
        cr_expect(job.stage->turns == 0 && job.stage->rounds == 1);
        cr_expect_eq(learn_stage(job.stage)->groups, ages[i] == JOB_OF_6 ? 3 : 1);
        cr_expect_eq(job.stage->charge.epsilon_micro, 200000);
    }
    parse(&usual, JOB_OF_7);
    cr_expect(job.stage->turns == 2 && job.stage->rounds == 2, "version 7 has two looks");
}

Test(learn_turns, every_other_of_five_slots_is_second_and_no_group_is_left_out, .fini = teardown)
{
    parse(&usual, JOB_OF_NOW);
    for (uint32_t first = 0; first < 20; first++) { /* collectors begin anywhere */
        for (uint32_t sites = SITES; sites < 20; sites++) {
            uint32_t turn[2] = {0};
            uint32_t groups[2] = {0};
            for (uint32_t slot = first; slot < first + sites; slot++) {
                const uint32_t within = round_is_turn(job.stage, 1, slot) ? 1 : 0;
                cr_expect_eq(round_is_turn(job.stage, 0, slot), within == 0);
                turn[within]++;
                groups[within] |= 1u << round_group(job.stage, within, slot);
            }
            cr_expect(turn[0] >= sites / 2 && turn[1] >= sites / 5 + 1, "%u of %u", turn[1], sites);
            cr_expect(groups[0] == 7 && groups[1] == 3, "%u sites from %u", sites, first);
        }
    }
}

/* Adds a site's answer where the gate places it. */
static void add_site(uint32_t within, uint32_t slot)
{
    struct why why = {{0}};
    struct private_vector vector;
    const struct round_groups groups = round_groups(job.stage, within);
    const struct dataset data = {.record_count = M,
                                 .feature_count = D + 1,
                                 .x = x + (size_t)slot * M * (D + 1),
                                 .y = y + (size_t)slot * M};
    const struct task_input input = {.job = &job,
                                     .stage = job.stage,
                                     .within = within,
                                     .slot = slot,
                                     .data = &data,
                                     .order = order,
                                     .experts = within > 0 ? state : NULL};
    cr_assert_eq(task_run(&vector, &input, &why), STATUS_OK, "%s", why.text);
    int64_t *own = sum + vector.group * groups.own;
    for (size_t i = 0; i < groups.own; i++) {
        own[i] += vector.value[i];
    }
    sum[groups.count * groups.own + 2 * (size_t)vector.group] += M;
    sum[groups.count * groups.own + 2 * (size_t)vector.group + 1] += 1;
    private_vector_free(&vector);
}

/* One round: sites whose bit is set look. The others have answered, too. */
static void look(uint32_t within, unsigned looking)
{
    const struct learn_summed summed = {.within = within,
                                        .shown = state,
                                        .sum = sum,
                                        .records = RECORDS,
                                        .sites = SITES,
                                        .deviation = ldexp(1, 20)};
    double *told = state + selftune_state_count(&learn_stage(job.stage)->tune);
    cr_assert_leq(selftune_state_count(&learn_stage(job.stage)->tune) + learn_told_count(job.stage),
                  STATE_MOST);
    cr_assert_leq(learn_look_numbers(job.stage), VALUES);
    memset(sum, 0, sizeof sum);
    for (uint32_t slot = 0; slot < SITES; slot++) {
        if ((looking >> slot & 1) != 0) {
            add_site(within, slot);
        }
    }
    cr_assert_eq(learn_take_look(state, told, value, job.stage, &summed), STATUS_OK);
}

static size_t right_ones(void)
{
    double w[D + 1];
    size_t right = 0;
    selftune_model(w, state, &learn_stage(job.stage)->tune);
    const double scale = schema_column_scale(&job.stage->schema);
    for (size_t i = 0; i < RECORDS; i++) {
        double f = w[D];
        for (size_t j = 0; j < D; j++) {
            f += w[j] * x[i * (D + 1) + j] / scale;
        }
        right += (f > 0) == (y[i] > 0) ? 1 : 0;
    }
    return right;
}

Test(learn_turns, two_looks_learn_what_tells_the_classes_apart, .init = setup, .fini = teardown)
{
    look(0, 0x15);
    look(1, 0x0a);
    cr_expect_geq(right_ones(), RECORDS * 9 / 10, "%zu", right_ones());
    /* The model has all sites' records; a look counts only those of sites that have looked. */
    const double *told = state + selftune_state_count(&learn_stage(job.stage)->tune);
    cr_expect_float_eq(told[0], 3 * M, 1e-9);
}

/* For any sets of sites that have looked: none first, none second, all of them first, one. */
Test(learn_turns, a_set_that_is_not_there_is_missed_and_no_more, .init = setup, .fini = teardown)
{
    static const unsigned looking[][2] = {{0, 0x1f}, {0x1f, 0}, {0x15, 0},
                                          {0, 0x0a}, {4, 2},    {0, 0}};
    for (size_t i = 0; i < sizeof looking / sizeof looking[0]; i++) {
        memset(state, 0, sizeof state);
        look(0, looking[i][0]);
        look(1, looking[i][1]);
        cr_expect_eq(selftune_check_shown(state, &learn_stage(job.stage)->tune), STATUS_OK);
        if (i < 3 && i > 0) {
            cr_expect_geq(right_ones(), RECORDS * 8 / 10, "%zu: %zu", i, right_ones());
        }
    }
}
