/* Exact answers, under central trust: they are charged as others are, written nowhere, and computed
 * again after a restart only for the same question on the same records. */

#include "base/bytes.h"
#include "tests/unit/agent/some_gate.h"

#include <string.h>

/* Central trust: the coordinator adds the noise. */
static struct gate_request exact_request(uint32_t round)
{
    struct gate_request request = request_of(round, 300000);
    request.exact = true;
    return request;
}

static bool holds(const void *where, size_t size, const void *what, size_t what_size)
{
    for (size_t i = 0; i + what_size <= size; i++) {
        if (memcmp((const uint8_t *)where + i, what, what_size) == 0) {
            return true;
        }
    }
    return false;
}

static enum status answer_exactly(struct gate *gate, uint32_t round, struct record *record,
                                  struct slice *blob)
{
    struct private_vector vector = vector_of(30); /* to be clipped to 10 */
    struct gate_request request = exact_request(round);
    return gate_answer(gate, record, blob, &vector, &request, NULL);
}

Test(gate_exact, an_exact_answer_is_paid_for_and_written_nowhere)
{
    struct gate *gate = new_gate(1000000);
    struct gate_answer_view view;
    struct record record;
    struct slice blob = {"", 1};
    const int64_t clipped[COUNT] = {10, 10, 10, 10};

    cr_assert_eq(answer_exactly(gate, 0, &record, &blob), STATUS_OK);
    cr_assert(has_spent(gate, 1000000, 300000));
    cr_assert_eq(record.as.answer.charge.epsilon_micro, 300000);
    cr_assert_not(gate_latest(gate, &view), "not before the charge is durable");
    cr_assert(blob.size == 0 && digest_is_none(&record.as.answer.answer));
    gate_committed(gate, 1);
    cr_assert(gate_latest(gate, &view) && view.exact);
    cr_assert_arr_eq(view.bytes.data, clipped, sizeof clipped);
    cr_assert(seeded.drawn_bytes == 0, "no noise is drawn");
    cr_assert_not(holds(&record, sizeof record, clipped, 8));
    cr_assert_not(holds(&record, sizeof record, view.digest.byte, DIGEST_BYTES));
    cr_assert_eq(answer_exactly(gate, 0, &record, &blob), STATUS_INVALID, "once");
    cr_assert(has_spent(gate, 1000000, 300000));
    gate_free(gate);
}

Test(gate_exact, an_exact_answer_that_cannot_be_paid_does_not_leave)
{
    struct gate *gate = new_gate(299999);
    struct gate_answer_view view;
    struct record record;
    struct slice blob = {0};
    cr_assert_eq(answer_exactly(gate, 0, &record, &blob), STATUS_EXHAUSTED);
    cr_assert_not(gate_latest(gate, &view));
    gate_free(gate);
}

static enum status repeat(struct gate *gate, const struct gate_request *request, size_t count)
{
    struct private_vector vector = vector_of(30);
    vector.count = count;
    return gate_repeat(gate, &vector, request, NULL);
}

/* After a restart the same question on the same records is computed again and costs nothing; another
 * question, other records (their pass has another name) or another size get nothing. */
Test(gate_exact, an_exact_answer_is_repeated_after_a_restart_for_the_same_question_alone)
{
    struct gate *gate = new_gate(1000000);
    struct gate_request request = exact_request(4);
    struct gate_request other;
    struct gate_answer_view view;
    struct record record;
    struct slice blob;

    cr_assert_eq(answer_exactly(gate, 4, &record, &blob), STATUS_OK);
    gate_committed(gate, 3);
    cr_assert_not(gate_can_repeat(gate, &request.job, 4), "its bytes are there");
    gate_free(gate);
    gate = new_gate(1000000);
    cr_assert_eq(gate_restore(gate, &record, 3, (struct slice){0}), STATUS_OK);
    cr_assert(has_spent(gate, 1000000, 300000));
    cr_assert(gate_can_repeat(gate, &request.job, 4));
    cr_assert_not(gate_can_repeat(gate, &request.job, 3));
    other = request;
    other.invitation.byte[0] ^= 1;
    cr_assert_eq(repeat(gate, &other, COUNT), STATUS_INVALID);
    other = request;
    other.charge.pass.byte[5] ^= 1;
    cr_assert_eq(repeat(gate, &other, COUNT), STATUS_INVALID);
    cr_assert_eq(repeat(gate, &request, COUNT - 1), STATUS_INVALID);
    cr_assert(gate_latest(gate, &view) && view.bytes.size == 0);
    cr_assert_eq(repeat(gate, &request, COUNT), STATUS_OK);
    cr_assert(gate_latest(gate, &view) && view.bytes.size == 8 * COUNT);
    cr_assert_eq(load_u64(view.bytes.data), 10, "clipped as the first time");
    cr_assert(has_spent(gate, 1000000, 300000), "and paid once");
    gate_free(gate);
}

/* A round that is closed needs no answer: what was dropped then is not made again. */
Test(gate_exact, an_exact_answer_that_was_dropped_is_not_repeated)
{
    struct gate *gate = new_gate(1000000);
    struct gate_request request = exact_request(4);
    struct record record;
    struct slice blob;

    cr_assert_eq(answer_exactly(gate, 4, &record, &blob), STATUS_OK);
    gate_committed(gate, 3);
    cr_assert_not(gate_drop(gate), "the journal has nothing to forget");
    cr_assert_not(gate_can_repeat(gate, &request.job, 4));
    gate_free(gate);
    gate = new_gate(1000000);
    cr_assert_eq(gate_restore(gate, &record, 3, (struct slice){0}), STATUS_OK);
    cr_assert_eq(repeat(gate, &request, COUNT), STATUS_OK);
    cr_assert_not(gate_drop(gate));
    cr_assert_not(gate_can_repeat(gate, &request.job, 4));
    gate_free(gate);
}
