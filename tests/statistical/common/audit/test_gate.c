/* An audit of the gate: values far beyond their public bounds go in, and the bytes that would be
 * sent come out. It catches a task that understates its sensitivity. The right one fails with
 * probability 1e-6 at a fresh seed, at each of three epsilons; the seeds are fixed. */

#include "agent/gate.h"
#include "base/bytes.h"
#include "lab/audit/audit.h"
#include "tests/support/seeded_random.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { HIGH = 256, SAMPLES = 200000 };

struct way_out {
    struct gate *gate;
    uint64_t epsilon_micro;
    uint64_t sensitivity; /* that the task states */
    uint32_t round;
};

/* One round: a vector of independent copies of the answer that one record decides. */
static enum status answer(void *self, const struct random *random, unsigned side, int64_t *score,
                          size_t count)
{
    struct way_out *way = self;
    struct private_vector vector = {
        .count = count, .low = 0, .high = HIGH, .sensitivity = way->sensitivity};
    struct gate_request request = {.job = {{1}},
                                   .word_bytes = 8,
                                   .round = way->round,
                                   .task = "losses",
                                   .invitation = {{9}},
                                   .charge = {.epsilon_micro = way->epsilon_micro,
                                              .pass = {{2}},
                                              .row_first = way->round,
                                              .row_count = 1}};
    struct record record;
    struct slice blob;
    struct why why = {""};
    (void)random; /* the gate has it */
    vector.value = calloc(count, sizeof *vector.value);
    for (size_t i = 0; i < count; i++) {
        vector.value[i] = side == 0 ? -1000000 : 1000000;
    }
    cr_assert_eq(gate_answer(way->gate, &record, &blob, &vector, &request, &why), STATUS_OK, "%s",
                 why.text);
    cr_assert_eq(blob.size, 8 * count);
    for (size_t i = 0; i < count; i++) {
        score[i] = (int64_t)load_u64((const uint8_t *)blob.data + 8 * i);
    }
    gate_committed(way->gate, ++way->round);
    return STATUS_OK;
}

static double audited(double epsilon, uint64_t sensitivity)
{
    struct seeded_random seeded;
    struct audit_result result;
    struct way_out way = {.epsilon_micro = (uint64_t)(epsilon * 1e6), .sensitivity = sensitivity};
    struct allowances allowances = {.total = {.epsilon_micro = UINT64_MAX}};
    struct audit_source source = {.draw = answer, .self = &way};
    struct audit_options options = {.samples = SAMPLES, .miss = AUDIT_MISS};
    seeded_random_init(&seeded, 11);
    struct random random = seeded_random_interface(&seeded);
    cr_assert_eq(gate_new(&way.gate, &allowances, &random), STATUS_OK);
    cr_assert_eq(audit_run(&result, &source, &random, &options), STATUS_OK);
    gate_free(way.gate);
    cr_log_info("at %g: audited %.4f", epsilon, result.epsilon);
    return result.epsilon;
}

Test(gate, what_leaves_the_gate_loses_what_was_charged_and_no_more)
{
    static const double epsilons[] = {0.5, 1, 2};
    for (size_t i = 0; i < 3; i++) {
        double found = audited(epsilons[i], HIGH);
        cr_assert(found <= epsilons[i] && found >= 0.9 * epsilons[i], "%g", found);
    }
}

Test(gate, a_task_that_understates_its_sensitivity_is_caught)
{
    cr_assert_gt(audited(1, HIGH / 2), 1.8);
}
