/* A pass over the records is paid for once, and only as long as they are the same records. */

#include "timed.h"

#include "protocol/wire.h"

#include <criterion/criterion.h>

static struct charge charge_after(struct timed *bench, size_t at)
{
    struct record record;
    cr_assert_eq(wire_decode_record(&record, (struct slice){bench->body[at], bench->body_size[at]}),
                 STATUS_OK);
    cr_assert_eq(record.kind, RECORD_ANSWER);
    return record.as.answer.charge;
}

static void answer(struct timed *bench, uint32_t round)
{
    const double weights[DIM] = {1, 2, 3};
    struct artifact experts = timed_experts(weights, 1);
    struct message invite = timed_invitation(bench, round, &experts);
    struct message piece = {.kind = MESSAGE_PIECE, .as.piece.digest = experts.digest};
    bench->now_ms += 2 * SLOT_MS;
    timed_tick(bench);
    timed_give(bench, &invite, (struct slice){0});
    timed_give(bench, &piece, (struct slice){weights, sizeof weights});
    timed_settle(bench);
    bench->now_ms += SLOT_MS;
    timed_tick(bench);
    timed_settle(bench);
}

/* A batch is a range of rows, so two batches are disjoint only within one table. */
static void answer_after_restart(struct timed *bench, const char *records)
{
    timed_init(bench, 10);
    timed_join(bench);
    answer(bench, 1);
    cr_assert_eq(bench->body_count, 2, "the job and its first answer");
    timed_stop(bench);
    if (records != NULL) {
        bench->records = records;
    }
    timed_start(bench);
    timed_join(bench);
    answer(bench, 2);
    cr_assert_eq(bench->body_count, 3);
}

Test(participant_passes, the_rest_of_a_pass_over_the_same_records_is_free)
{
    struct timed bench;
    answer_after_restart(&bench, NULL);
    struct charge first = charge_after(&bench, 1);
    struct charge second = charge_after(&bench, 2);
    cr_assert(digest_equal(&first.pass, &second.pass));
    timed_free(&bench);
}

Test(participant_passes, a_pass_over_other_records_is_paid_anew)
{
    static const char *const changed[] = {
        "a,b,y\n0.3,0.1,0\n0.1,0.2,1\n0.5,0.5,1\n0.9,0.4,0\n0.2,0.2,1\n", /* another order */
        "a,b,y\n0.1,0.2,1\n0.3,0.1,0\n0.5,0.5,1\n0.9,0.4,0\n0.2,0.2,0\n", /* one label */
        "a,b,y\n0.1,0.2,1\n0.3,0.1,0\n0.5,0.5,1\n0.9,0.4,0\n",            /* one record fewer */
    };
    for (size_t i = 0; i < sizeof changed / sizeof changed[0]; i++) {
        struct timed bench;
        answer_after_restart(&bench, changed[i]);
        struct charge first = charge_after(&bench, 1);
        struct charge second = charge_after(&bench, 2);
        cr_assert_not(digest_equal(&first.pass, &second.pass), "change %zu", i);
        timed_free(&bench);
    }
}
