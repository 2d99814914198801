/* An agent frees no memory that holds an exact answer, exact weights or a copy of a record. A reader of
 * the memory, or of a core file, would find these bytes. */

#include "agent/gate.h"
#include "dp/sampling.h"
#include "learn/erm.h"
#include "task/answer.h"
#include "tests/support/given_back.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>

enum { M = 4, D = 3, COUNT = 5 };

Test(agent_memory, what_is_given_back_unwiped_is_seen)
{
    static const int64_t mark[3] = {1011, 1009, 1007};
    look_for(mark);
    give_back_unwiped();
    cr_assert_eq(found, 1);
}

static struct private_vector marked(void)
{
    static const int64_t mark[COUNT] = {1013, 1011, 1009, 1007, 1005};
    struct private_vector vector = {.count = COUNT, .low = -2000, .high = 2000, .sensitivity = 4};
    vector.value = malloc(sizeof mark);
    memcpy(vector.value, mark, sizeof mark);
    look_for(mark + 1);
    return vector;
}

static struct gate_request exact_request(uint64_t epsilon_micro)
{
    return (struct gate_request){
        .job = {{1}},
        .word_bytes = 8,
        .task = "query",
        .exact = true,
        .charge = {.epsilon_micro = epsilon_micro, .pass = {{1}}, .row_count = 1}};
}

/* A gate without charges, whose noise is the same each time. seeded: kept */
static struct gate *fresh_gate(struct seeded_random *seeded)
{
    const struct allowances allowances = {.total = {.epsilon_micro = 2000000}};
    struct gate *gate = NULL;
    seeded_random_init(seeded, 7);
    const struct random random = seeded_random_interface(seeded);
    cr_assert_eq(gate_new(&gate, &allowances, &random), STATUS_OK);
    return gate;
}

/* A gate that has answered exactly, and whose answer is durable. seeded: kept */
static struct gate *answered_gate(struct seeded_random *seeded, struct record *record,
                                  const struct gate_request *request)
{
    struct slice blob;
    struct private_vector vector = marked();
    struct gate *gate = fresh_gate(seeded);
    cr_assert_eq(gate_answer(gate, record, &blob, &vector, request, NULL), STATUS_OK);
    gate_committed(gate, 1);
    return gate;
}

/* Answered, committed and closed; left at the end; refused; drawn and never committed. */
Test(agent_memory, no_exact_answer_is_given_back_unwiped)
{
    struct seeded_random seeded;
    for (int way = 0; way < 4; way++) {
        struct record record;
        struct slice blob;
        struct private_vector vector = marked();
        const struct gate_request request = exact_request(way == 2 ? 3000000 : 1000000);
        struct gate *gate = fresh_gate(&seeded);
        const enum status status = gate_answer(gate, &record, &blob, &vector, &request, NULL);
        cr_expect_eq(status, way == 2 ? STATUS_EXHAUSTED : STATUS_OK);
        if (way < 2) {
            gate_committed(gate, 1);
        }
        if (way == 0) {
            (void)gate_drop(gate);
        }
        gate_free(gate);
        cr_expect_eq(found, 0, "way %d", way);
    }
}

static const char TEXT[] =
    "hedgerow: 1\njob: memory\ndata:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "    - {column: b, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: 1, deadline_s: 10}\n"
    "stages:\n"
    "  - {task: fit, loss: logistic, lambdas: [0.5], share: 0.5, grid_bits: 20}\n"
    "  - {task: statistics, lambdas: [0.5], batch: 4, share: 0.5, grid_bits: 20}\n";

Test(agent_memory, no_record_and_no_exact_weight_is_given_back_unwiped)
{
    double x[M * D] = {0.1, 0.2, 0.5, -0.3, 0.4, 0.5, 0.25, -0.1, 0.5, 0.3, 0.35, 0.5};
    double y[M] = {1, -1, 1, -1};
    const size_t order[M] = {0, 1, 2, 3};
    const struct dataset data = {.record_count = M, .feature_count = D, .x = x, .y = y};
    double weights[D];
    struct job job;
    struct why why = {{0}};
    cr_assert_eq(job_parse(&job, (struct slice){TEXT, sizeof TEXT - 1}, "job", &why), STATUS_OK,
                 "%s", why.text);
    const struct erm_problem problem = {.loss = job.stage[0].loss,
                                        .lambda = 0.5,
                                        .tolerance = job.stage[0].tolerance,
                                        .record_count = M,
                                        .feature_count = D};
    cr_assert_eq(erm_solve(weights, &problem, &data, NULL), STATUS_OK);
    for (size_t stage = 0; stage < 2; stage++) {
        const struct task_input input = {
            .job = &job, .stage = &job.stage[stage], .data = &data, .order = order};
        for (int what = 0; what < 2; what++) {
            struct private_vector vector;
            look_for(what == 0 ? weights : x + D);
            cr_assert_eq(task_run(&vector, &input, &why), STATUS_OK, "%s", why.text);
            cr_expect_eq(found, 0, "stage %zu, %s", stage, what == 0 ? "weights" : "a record");
            look_for(vector.value);
            private_vector_free(&vector);
            cr_expect_eq(found, 0, "stage %zu, the answer", stage);
        }
    }
    job_free(&job);
}

static const char SAMPLED[] =
    "hedgerow: 1\njob: sampled\ndata:\n"
    "  label: {column: y, positive: \"1\", negative: \"0\"}\n"
    "  features:\n"
    "    - {column: a, centre: 0, half_width: 1}\n"
    "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}\n"
    "cohort: {minimum: 1, deadline_s: 10}\n"
    "stages:\n"
    "  - {task: update, loss: logistic, rounds: 1, batch: 40, sampling: 0.5, clip: 1, rate: 1,\n"
    "     share: 1, grid_bits: 20}\n";

/* An attacker who knows which records took part is not limited by the privacy that sampling adds. */
Test(agent_memory, no_coin_of_who_takes_part_is_given_back_unwiped)
{
    enum { RECORDS = 40, FEATURES = 2 };
    static double x[RECORDS * FEATURES];
    static double y[RECORDS];
    static size_t order[RECORDS];
    static uint8_t coin[RECORDS];
    const double weights[FEATURES] = {0.25, -0.5};
    const struct dataset data = {
        .record_count = RECORDS, .feature_count = FEATURES, .x = x, .y = y};
    struct seeded_random seeded;
    struct private_vector vector;
    struct job job;
    struct why why = {{0}};
    for (size_t i = 0; i < RECORDS; i++) {
        order[i] = i;
        x[FEATURES * i] = 0.5;
        y[i] = i % 2 == 0 ? 1 : -1;
    }
    cr_assert_eq(job_parse(&job, (struct slice){SAMPLED, sizeof SAMPLED - 1}, "job", &why),
                 STATUS_OK, "%s", why.text);
    const struct random random = seeded_random_interface(&seeded);
    const struct task_input input = {.job = &job,
                                     .stage = &job.stage[0],
                                     .data = &data,
                                     .order = order,
                                     .random = &random,
                                     .experts = weights};
    seeded_random_init(&seeded, 11);
    cr_assert_eq(sampling_draw(&random, coin, RECORDS, job.stage[0].charge.sampling_nano),
                 STATUS_OK);
    seeded_random_init(&seeded, 11);
    look_for(coin);
    cr_assert_eq(task_run(&vector, &input, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(seeded.drawn_bytes, 8 * RECORDS, "the coins that are looked for");
    cr_expect_eq(found, 0);
    private_vector_free(&vector);
    job_free(&job);
}

/* Vectors that become no answer: the round was answered before, the charge's kind has no noise, or the
 * question changed after a restart. */
Test(agent_memory, no_vector_that_is_declined_is_given_back_unwiped)
{
    struct seeded_random seeded;
    struct gate_request request = exact_request(1000000);
    struct record record;
    struct slice blob;
    request.round = 1;
    struct gate *gate = answered_gate(&seeded, &record, &request);
    struct private_vector vector = marked();
    cr_assert_eq(gate_answer(gate, &record, &blob, &vector, &request, NULL), STATUS_INVALID);
    cr_expect(found == 0 && vector.value == NULL, "answered before");
    vector = marked();
    request.round = 2;
    request.exact = false;
    request.charge.mechanism = MECHANISM_LAPLACE;
    cr_assert_eq(gate_answer(gate, &record, &blob, &vector, &request, NULL), STATUS_INVALID);
    cr_expect(found == 0 && vector.value == NULL, "without noise");
    gate_free(gate);
    gate = fresh_gate(&seeded);
    request.charge.mechanism = MECHANISM_PURE;
    request.exact = true;
    cr_assert_eq(gate_restore(gate, &record, 1, (struct slice){0}), STATUS_OK);
    vector = marked();
    request.round = 1;
    request.invitation.byte[0] ^= 1;
    cr_assert_eq(gate_repeat(gate, &vector, &request, NULL), STATUS_INVALID);
    cr_expect(found == 0 && vector.value == NULL, "another question");
    gate_free(gate);
}

/* The bytes are wiped when the round closes, and not only when the next answer replaces them. */
Test(agent_memory, an_exact_answer_ends_with_its_round)
{
    const struct gate_request request = exact_request(1000000);
    struct seeded_random seeded;
    struct gate_answer_view view;
    struct record record;
    struct gate *gate = answered_gate(&seeded, &record, &request);
    cr_assert(gate_latest(gate, &view) && view.bytes.size == 8 * COUNT);
    (void)gate_drop(gate);
    cr_expect(gate_latest(gate, &view) && view.bytes.size == 0 && view.bytes.data == NULL);
    cr_expect_eq(found, 0);
    gate_free(gate);
}
