/* How far a replaced record moves either of two looks by turns, compared with the distance that their noise is for, whatever
 * columns and middles a coordinator names. A site looks in one of them, and the ledger lets it pay for one. Pairs of records are
 * drawn near the corners, and then the worst is changed cell by cell. Planted beside: a site that looks in both, and a second
 * look whose records are clipped before the middles are taken off. Fixed seeds: no false alarms. */

#include "dp/ledger.h"
#include "job/reach.h"
#include "learn/selftune_second.h"
#include "task/answer.h"
#include "task/learn/stage.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { D = 41, M = 60, TRIALS = 60, CHANGES = 300, STATE_MOST = 1024, TEXT_BYTES = 8192 };

struct rig {
    struct job job;
    struct dataset data;
    double x[M * (D + 1)];
    double y[M];
    size_t order[M];
    double state[STATE_MOST];
    struct task_input input;
    double scale;
};

static void rig_init(struct rig *f, bool several)
{
    char text[TEXT_BYTES];
    struct why why = {{0}};
    size_t used =
        (size_t)snprintf(text, sizeof text,
                         "hedgerow: 1\njob: t\ndata:\n  label: {column: y, %s}\n"
                         "  features:\n",
                         several ? "classes: [a, b, c]" : "positive: \"1\", negative: \"0\"");
    for (int j = 0; j < D; j++) {
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "  - {column: c%d, centre: 0, half_width: 1}\n", j);
    }
    (void)snprintf(text + used, sizeof text - used,
                   "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, "
                   "delta: 0}\ncohort: {minimum: 5, records: %d, deadline_s: 10}\n"
                   "stages: [{task: learn}]\n",
                   M);
    memset(f, 0, sizeof *f);
    cr_assert_eq(job_parse(&f->job, (struct slice){text, strlen(text)}, "t", &why), STATUS_OK, "%s",
                 why.text);
    cr_assert_eq(f->job.stage->turns, 2);
    cr_assert_leq(selftune_shown_count(&learn_stage(f->job.stage)->tune), STATE_MOST);
    f->scale = schema_column_scale(&f->job.stage->schema);
    f->data = (struct dataset){.record_count = M, .feature_count = D + 1, .x = f->x, .y = f->y};
    for (size_t i = 0; i < M; i++) {
        f->order[i] = i;
    }
    f->input = (struct task_input){
        .job = &f->job, .stage = f->job.stage, .data = &f->data, .order = f->order};
}

static double *middle(struct rig *f)
{
    return f->state + selftune_shown_count(&learn_stage(f->job.stage)->tune) - (size_t)2 * D;
}

/* A state that any coordinator may send, which names k columns. */
static void draw_state(struct rig *f, struct seeded_random *seeded, size_t k)
{
    double *mu = middle(f);
    memset(f->state, 0, sizeof f->state);
    f->state[0] = 1;
    for (size_t j = 0; j < D; j++) {
        mu[j] = 2 * seeded_random_unit(seeded) - 1;
        mu[D + j] = j < k ? 1 : 0;
    }
}

static void draw_row(struct rig *f, struct seeded_random *seeded, size_t row)
{
    const size_t outputs = learn_stage(f->job.stage)->tune.output_count;
    for (size_t j = 0; j < D; j++) {
        const double corner = seeded_random_below(seeded, 2) == 0 ? -1 : 1;
        const bool inside = seeded_random_below(seeded, 4) == 0;
        f->x[row * (D + 1) + j] = f->scale * (inside ? 2 * seeded_random_unit(seeded) - 1 : corner);
    }
    f->y[row] = outputs > 1 ? (double)seeded_random_below(seeded, 3)
                            : (seeded_random_below(seeded, 2) == 0 ? -1 : 1);
}

/* How far row 0 moves the answer, in what its noise is for. other: (D + 1) the row that takes its place, its label last */
static double moves(struct rig *f, const double *other)
{
    struct why why = {{0}};
    struct private_vector before;
    struct private_vector after;
    double kept[D + 1];
    double sum = 0;
    const double label = f->y[0];
    cr_assert_eq(task_run(&before, &f->input, &why), STATUS_OK, "%s", why.text);
    memcpy(kept, f->x, sizeof kept);
    memcpy(f->x, other, D * sizeof *other);
    f->y[0] = other[D];
    cr_assert_eq(task_run(&after, &f->input, &why), STATUS_OK, "%s", why.text);
    memcpy(f->x, kept, sizeof kept);
    f->y[0] = label;
    for (size_t i = 0; i < before.count; i++) {
        sum += fabs((double)(before.value[i] - after.value[i]));
        cr_assert(before.low <= before.value[i] && before.value[i] <= before.high);
    }
    sum /= (double)before.sensitivity;
    private_vector_free(&before);
    private_vector_free(&after);
    return sum;
}

/* Planted: how far a pair moves the sums of a second look if a record is clipped first and its columns are moved
 * afterwards. */
static double clipped_too_soon(struct rig *f, const double *row, const double *mu, size_t k)
{
    const struct learn_stage *own = learn_stage(f->job.stage);
    double size = 0;
    double moved = 0;
    for (size_t j = 0; j < k; j += own->groups_second) {
        size += fabs(row[j] / f->scale);
        moved += fabs(row[j] / f->scale - mu[j]);
    }
    const size_t mine = (k + own->groups_second - 1) / own->groups_second;
    return learn_second_sum(f->job.stage, k) * moved * fmin(1, learn_reach(own, mine) / size);
}

static void look_through(bool several, double least)
{
    struct seeded_random seeded;
    static struct rig f;
    double most[2] = {0};
    double soon = 0;
    rig_init(&f, several);
    seeded_random_init(&seeded, 1);
    for (int trial = 0; trial < TRIALS; trial++) {
        double other[D + 1];
        double worst = 0;
        const size_t k = trial % 5 == 0 ? D : 1 + seeded_random_below(&seeded, D);
        draw_state(&f, &seeded, k);
        f.input.within = (uint32_t)trial % 2;
        f.input.slot = (uint32_t)seeded_random_below(&seeded, 10);
        f.input.experts = f.input.within > 0 ? f.state : NULL;
        for (size_t i = 0; i < M; i++) {
            draw_row(&f, &seeded, i);
        }
        memcpy(other, f.x + D + 1, sizeof other);
        other[D] = f.y[1];
        for (int change = 0; change < CHANGES; change++) {
            double tried[D + 1];
            memcpy(tried, other, sizeof tried);
            for (int i = 0; change > 0 && i < 2; i++) {
                draw_row(&f, &seeded, M - 1); /* cells to choose from */
                const size_t j = seeded_random_below(&seeded, D + 1);
                tried[j] = j == D ? f.y[M - 1] : f.x[(M - 1) * (size_t)(D + 1) + j];
            }
            const double moved = moves(&f, tried);
            cr_assert_leq(moved, 1, "look %u at %zu columns", f.input.within, k);
            if (moved >= worst) {
                worst = moved;
                memcpy(other, tried, sizeof other);
            }
        }
        most[f.input.within] = fmax(most[f.input.within], worst);
        soon = fmax(soon, clipped_too_soon(&f, f.x, middle(&f), k) +
                              clipped_too_soon(&f, other, middle(&f), k));
    }
    (void)printf("%.3f and %.3f of what noise is for; planted %.3f and %.3f\n", most[0], most[1],
                 most[0] + most[1], soon);
    cr_expect_geq(most[0], least);
    cr_expect_geq(most[1], least);
    cr_expect_gt(most[0] + most[1], 1.5, "a site that looked twice would be seen");
    cr_expect_gt(soon, 1, "clipping before the middles are taken off would be seen");
    job_free(&f.job);
}

Test(turn_sensitivity, no_record_moves_a_look_by_more_than_its_noise_is_for)
{
    look_through(false, 0.85);
}

Test(turn_sensitivity, nor_one_of_several_classes)
{
    look_through(true, 0.85);
}

/* A site that is away answers with zeros and looks at no record. */
Test(turn_sensitivity, a_site_whose_turn_it_is_not_answers_alike_whatever_its_records_are)
{
    static struct rig f;
    struct why why = {{0}};
    struct private_vector vector;
    struct seeded_random seeded;
    rig_init(&f, false);
    seeded_random_init(&seeded, 2);
    for (size_t i = 0; i < M; i++) {
        draw_row(&f, &seeded, i);
    }
    f.input.away = true;
    for (f.input.within = 0; f.input.within < 2; f.input.within++) {
        f.input.experts = f.input.within > 0 ? f.state : NULL;
        cr_assert_eq(task_run(&vector, &f.input, &why), STATUS_OK, "%s", why.text);
        cr_expect(vector.away);
        for (size_t i = 0; i < vector.count; i++) {
            cr_expect_eq(vector.value[i], 0);
        }
        private_vector_free(&vector);
    }
    job_free(&f.job);
}

/* One charge for both rounds, whichever sites look first, and none for a second look. */
Test(turn_sensitivity, the_ledger_counts_one_look_and_refuses_a_second)
{
    static struct rig f;
    rig_init(&f, false);
    for (uint32_t looks = 0; looks < 2; looks++) {
        const struct price limit = {.epsilon_micro = f.job.epsilon_micro};
        struct ledger *ledger = ledger_new(limit);
        for (uint32_t round = 0; round < 2; round++) {
            uint32_t pass;
            struct grant *grant = NULL;
            struct charge charge = reach_charge(&f.job, round, M, &pass);
            const struct charge whole = charge;
            cr_assert_eq(pass, UINT32_C(1) << 31);
            charge = round == looks ? charge : reach_charge_away(charge, round);
            store_u32(charge.pass.byte, 1 + pass);
            cr_assert_eq(ledger_spend(ledger, &grant, &charge, NULL), STATUS_OK);
            grant_free(grant);
            charge = whole;
            store_u32(charge.pass.byte, 1 + pass);
            cr_expect_eq(ledger_check(ledger, &charge, NULL),
                         round >= looks ? STATUS_INVALID : STATUS_OK);
        }
        cr_expect_eq(ledger_balance(ledger, ALLOWANCE_TOTAL).spent.epsilon_micro,
                     f.job.epsilon_micro);
        ledger_free(ledger);
    }
    const struct cost cost = reach_cost(&f.job, f.job.stage, &f.job.filter, 2);
    cr_expect_eq(cost.epsilon_micro, f.job.epsilon_micro);
    job_free(&f.job);
}
