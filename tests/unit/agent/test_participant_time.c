/* What a coordinator that lies can learn from times. It asks the same questions at the same times;
 * only the end of a computation on the records differs. All that the agent sends and commits, and
 * when, must be the same if both ends are in the same public slot. (A commit takes time, and delays
 * a heartbeat that is due meanwhile.) */

#include "timed.h"

#include "protocol/wire.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { END_MS = 600 };

/* What the lying coordinator says, from one millisecond on, every millisecond. */
enum lie { LIE_OTHER_ROUND, LIE_SAME_AGAIN, LIE_LAST, LIE_FAILED, LIE_OTHER_JOB, LIE_COUNT };

static void tell_lie(struct timed *bench, enum lie lie)
{
    const double weights[DIM] = {1, 2, 3};
    struct artifact experts = timed_experts(weights, 1);
    struct message message = {.kind = MESSAGE_RELEASE, .as.release.job = bench->job.id};
    struct job_name other;
    switch (lie) {
    case LIE_OTHER_ROUND:
        message = timed_invitation(bench, 2, &experts);
        break;
    case LIE_SAME_AGAIN:
        message = timed_invitation(bench, 0, NULL);
        break;
    case LIE_LAST:
        message.as.release.last = true;
        message.as.release.experts = experts;
        break;
    case LIE_FAILED:
        message.as.release.failed = true;
        break;
    case LIE_OTHER_JOB:
        timed_name_job(&other, (struct slice){bench->text, strlen(bench->text)}, 2);
        message = timed_welcome(&other);
        break;
    case LIE_COUNT:
        break;
    }
    timed_give(bench, &message, (struct slice){0});
}

/* A whole conversation; the computation takes a given time. */
static void converse(struct timed *bench, enum lie lie, int64_t lie_from_ms, int64_t lie_to_ms,
                     int64_t work_ms)
{
    struct message invite = {.kind = MESSAGE_INVITE};
    timed_init(bench, 10);
    timed_join(bench);
    bench->now_ms = SLOT_MS; /* whatever the loading delayed is over */
    timed_tick(bench);
    invite = timed_invitation(bench, 0, NULL);
    bench->work_takes_ms = work_ms;
    timed_give(bench, &invite, (struct slice){0});
    cr_assert_eq(bench->works, 2);
    bench->work_takes_ms = 0;
    for (int64_t ms = 1; ms < END_MS; ms++) {
        bench->now_ms++;
        timed_settle(bench);
        if (ms >= lie_from_ms && ms < lie_to_ms) {
            tell_lie(bench, lie);
            timed_settle(bench);
        }
        timed_tick(bench);
        timed_settle(bench);
    }
}

static void assert_same(const struct timed *a, const struct timed *b, enum lie lie)
{
    cr_assert_gt(a->sent_count, 3);
    for (size_t i = 0; i < a->sent_count && i < b->sent_count; i++) {
        cr_assert_eq(a->sent[i].at_ms, b->sent[i].at_ms,
                     "lie %d: frame %zu leaves at %lld ms or at %lld ms", (int)lie, i,
                     (long long)a->sent[i].at_ms, (long long)b->sent[i].at_ms);
        cr_assert(a->sent[i].size == b->sent[i].size &&
                      memcmp(a->sent[i].control, b->sent[i].control, a->sent[i].size) == 0,
                  "lie %d: frame %zu at %lld ms differs", (int)lie, i, (long long)a->sent[i].at_ms);
    }
    cr_assert_eq(a->sent_count, b->sent_count, "lie %d", (int)lie);
    cr_assert_eq(a->body_count, b->body_count, "lie %d: charged or not", (int)lie);
}

static void compare(int64_t lie_from_ms, int64_t lie_to_ms)
{
    for (enum lie lie = LIE_OTHER_ROUND; lie < LIE_COUNT; lie++) {
        struct timed early;
        struct timed late;
        converse(&early, lie, lie_from_ms, lie_to_ms, 120);
        converse(&late, lie, lie_from_ms, lie_to_ms, 170);
        assert_same(&early, &late, lie);
        timed_free(&early);
        timed_free(&late);
    }
}

Test(participant_time, who_asks_all_the_time_does_not_see_when_a_computation_ends)
{
    compare(1, END_MS);
}

Test(participant_time, a_single_message_does_not_probe_whether_a_computation_has_ended)
{
    for (int64_t at_ms = 100; at_ms < 220; at_ms += 10) {
        compare(at_ms, at_ms + 1);
    }
}

Test(participant_time, a_longer_computation_shows_as_a_whole_slot)
{
    struct timed shorter;
    struct timed longer;
    converse(&shorter, LIE_SAME_AGAIN, 1, 1, 70);
    converse(&longer, LIE_SAME_AGAIN, 1, 1, 120);
    cr_assert_eq(timed_count(&shorter, MESSAGE_OFFER), 1);
    cr_assert_eq(timed_count(&longer, MESSAGE_OFFER), 1);
    timed_free(&shorter);
    timed_free(&longer);
}

/* Returns when the answer to a round of losses is offered, after a computation of a given length. */
static int64_t losses_offer_ms(int64_t work_ms)
{
    const double weights[DIM] = {1, 2, 3};
    const struct artifact experts = timed_experts(weights, 1);
    struct timed bench;
    timed_init(&bench, 10);
    timed_join(&bench);
    bench.now_ms = SLOT_MS;
    timed_tick(&bench);
    struct message invite = timed_invitation(&bench, 1, &experts);
    struct message piece = {.kind = MESSAGE_PIECE, .as.piece.digest = experts.digest};
    bench.work_takes_ms = work_ms;
    timed_give(&bench, &invite, (struct slice){0});
    timed_give(&bench, &piece, (struct slice){weights, sizeof weights});
    while (bench.now_ms < END_MS && timed_count(&bench, MESSAGE_OFFER) == 0) {
        bench.now_ms++;
        timed_settle(&bench);
        timed_tick(&bench);
    }
    cr_expect_eq(bench.overrun_ms, NEVER, "there is no slot to overrun");
    timed_free(&bench);
    return bench.now_ms - SLOT_MS;
}

/* An answer whose time depends only on sizes needs no slot. Its commit is durable first, in the same
 * millisecond here. */
Test(participant_time, an_answer_whose_time_is_public_leaves_when_it_is_durable)
{
    for (int64_t work_ms = 1; work_ms < 2 * SLOT_MS; work_ms += 33) {
        cr_assert_eq(losses_offer_ms(work_ms), work_ms);
    }
}

/* When the log tells of a computation that outlasts its slot. */
static int64_t overrun_ms(int64_t work_ms, bool tells_early)
{
    struct timed bench;
    timed_init(&bench, 10);
    timed_join(&bench);
    bench.now_ms = SLOT_MS;
    timed_tick(&bench);
    struct message invite = timed_invitation(&bench, 0, NULL);
    bench.work_takes_ms = work_ms;
    bench.tells_overrun = tells_early;
    timed_give(&bench, &invite, (struct slice){0});
    while (bench.now_ms < END_MS) {
        bench.now_ms++;
        timed_settle(&bench);
        timed_tick(&bench);
    }
    timed_free(&bench);
    return bench.overrun_ms;
}

/* More people read the log than the records. So it may tell only whole slots, as the answer does. */
Test(participant_time, an_overrun_is_logged_at_the_slot_and_not_when_the_computation_ends)
{
    for (int64_t work_ms = SLOT_MS + 1; work_ms < 2 * SLOT_MS; work_ms += 7) {
        cr_assert_eq(overrun_ms(work_ms, false), 3 * SLOT_MS, "%lld", (long long)work_ms);
    }
    cr_assert_eq(overrun_ms(SLOT_MS - 1, false), NEVER);
    cr_assert_neq(overrun_ms(SLOT_MS + 1, true), 3 * SLOT_MS, "the planted early line is caught");
}

/* The time of reading the records shows only in whole public bounds of the reading: where said_ms is 0, as slots.
 * records: NULL for the bench's own. Meanwhile the coordinator asks for the first round, or tells a lie, all the
 * time. */
static void read_records(struct timed *bench, const char *records, enum lie lie, uint64_t said_ms,
                         int64_t work_ms)
{
    timed_init(bench, 10);
    bench->reading_ms = said_ms;
    bench->records = records == NULL ? bench->records : records;
    bench->now_ms = 3;
    bench->work_takes_ms = work_ms;
    timed_join(bench);
    bench->work_takes_ms = 0;
    for (int64_t ms = 1; ms < END_MS; ms++) {
        struct message invite = timed_invitation(bench, 0, NULL);
        bench->now_ms++;
        timed_settle(bench);
        if (lie == LIE_COUNT) {
            timed_give(bench, &invite, (struct slice){0});
        } else {
            tell_lie(bench, lie);
        }
        timed_settle(bench);
        timed_tick(bench);
    }
}

Test(participant_time, how_long_the_records_took_to_read_shows_as_whole_slots)
{
    struct timed early;
    struct timed late;
    read_records(&early, NULL, LIE_COUNT, 0, 110);
    read_records(&late, NULL, LIE_COUNT, 0, 190);
    cr_assert_eq(early.works, 2);
    assert_same(&early, &late, LIE_COUNT);
    timed_free(&early);
    timed_free(&late);
}

/* When the agent first says that it is ready. */
static int64_t ready_ms(const struct timed *bench)
{
    for (size_t i = 0; i < bench->sent_count; i++) {
        struct message message;
        struct slice control = {bench->sent[i].control, bench->sent[i].size};
        if (control.size > 0 && wire_decode(&message, control, (struct slice){0}) == STATUS_OK &&
            message.kind == MESSAGE_HELLO && message.as.hello.ready) {
            return bench->sent[i].at_ms;
        }
    }
    return NEVER;
}

/* What a table's lines hold can make its reading longer by a slot. So its end is looked at after all the slots that
 * it takes at most, by public numbers. */
Test(participant_time, a_reading_that_ends_a_slot_later_shows_nothing_within_its_bound)
{
    enum { BOUND_MS = 250, SLOTS = 3 };
    for (int64_t work_ms = 1; work_ms < SLOTS * SLOT_MS; work_ms += 59) {
        struct timed quick;
        struct timed slow;
        read_records(&quick, NULL, LIE_COUNT, BOUND_MS, 1);
        read_records(&slow, NULL, LIE_COUNT, BOUND_MS, work_ms);
        cr_assert_eq(ready_ms(&slow), 3 + SLOTS * SLOT_MS);
        assert_same(&quick, &slow, LIE_COUNT);
        timed_free(&quick);
        timed_free(&slow);
    }
    struct timed early; /* planted: without the bound it is seen */
    struct timed late;
    read_records(&early, NULL, LIE_COUNT, 0, SLOT_MS - 10);
    read_records(&late, NULL, LIE_COUNT, 0, SLOT_MS + 10);
    cr_assert_eq(ready_ms(&early), 3 + SLOT_MS);
    cr_assert_eq(ready_ms(&late), 3 + 2 * SLOT_MS);
    timed_free(&early);
    timed_free(&late);
}

static size_t first_sent_from(const struct timed *bench, int64_t from_ms)
{
    size_t sent = 0;
    while (sent < bench->sent_count && bench->sent[sent].at_ms < from_ms) {
        sent++;
    }
    return sent;
}

/* A table that is gone - an empty file, a header line without a column - is found out sooner or later.
 * That the agent hears again, of the job's end or of another job, shows at the slot alone. */
Test(participant_time, when_an_absent_table_is_found_out_shows_as_whole_slots)
{
    static const char *const unfit[] = {"", "a,b\n0.1,0.2\n0.1,0.2\n"};
    for (size_t i = 0; i < 4; i++) {
        const enum lie lie = i % 2 == 0 ? LIE_FAILED : LIE_OTHER_JOB;
        const int64_t slot_ms = 3 + 2 * SLOT_MS;
        struct timed early;
        struct timed late;
        read_records(&early, unfit[i / 2], lie, 0, 110);
        read_records(&late, unfit[i / 2], lie, 0, 190);
        cr_assert_eq(early.works, 1, "nothing is computed on them");
        assert_same(&early, &late, lie);
        const size_t sent = first_sent_from(&early, slot_ms);
        cr_assert(sent < early.sent_count && early.sent[sent].at_ms <= slot_ms + 1,
                  "it is seen then");
        timed_free(&early);
        timed_free(&late);
    }
}

Test(participant_time, what_no_noise_can_cover_is_declined_before_anything_is_computed)
{
    /* The job's one expert at 30 grid bits and epsilon 0.4 needs a scale of 2^31.3; a thousand of
     * them would need 2^41.3, more than there is. */
    static double weights[1000 * DIM];
    struct timed bench;
    timed_init(&bench, 30);
    timed_join(&bench);
    bench.now_ms = SLOT_MS;
    timed_tick(&bench);
    struct artifact experts = timed_experts(weights, 1000);
    struct message invite = timed_invitation(&bench, 1, &experts);
    size_t works = bench.works;
    timed_give(&bench, &invite, (struct slice){0});
    struct message piece = {.kind = MESSAGE_PIECE, .as.piece.digest = experts.digest};
    timed_give(&bench, &piece, (struct slice){weights, sizeof weights});
    cr_assert_eq(bench.works, works, "nothing is computed on records without a price");
    cr_assert_eq(timed_count(&bench, MESSAGE_DECLINE), 1);
    timed_free(&bench);
}

/* A site declines before it reads a record, instead of running out of memory at each attempt. */
Test(participant_time, a_job_that_needs_more_memory_than_there_is_is_declined_unread)
{
    struct timed bench;
    timed_init(&bench, 10);
    timed_stop(&bench);
    bench.memory_bytes = 100;
    timed_start(&bench);
    timed_join(&bench);
    cr_assert_eq(timed_count(&bench, MESSAGE_DECLINE), 1, "it says so before it is invited");
    struct message invite = timed_invitation(&bench, 0, NULL);
    timed_give(&bench, &invite, (struct slice){0});
    cr_assert_eq(bench.works, 0, "nothing is loaded");
    cr_assert_eq(timed_count(&bench, MESSAGE_DECLINE), 2);
    timed_free(&bench);
}

/* A slot hides only what fits into it. The speed is planted: the same job on a slow machine and on a fast one. */
Test(participant_time, a_job_that_does_not_fit_into_the_slot_is_declined_unread)
{
    static const double speed[] = {1e3, 1e9};
    for (size_t i = 0; i < 2; i++) {
        struct timed bench;
        timed_init(&bench, 10);
        timed_stop(&bench);
        bench.speed = speed[i];
        timed_start(&bench);
        timed_join(&bench);
        bench.now_ms = SLOT_MS;
        timed_tick(&bench);
        const size_t before = timed_count(&bench, MESSAGE_DECLINE);
        struct message invite = timed_invitation(&bench, 0, NULL);
        timed_give(&bench, &invite, (struct slice){0});
        cr_assert_eq(bench.works, i == 0 ? 0 : 2, "nothing is loaded, or records and round");
        cr_assert_eq(before > 0, i == 0, "it says so before it is invited");
        cr_assert_eq(timed_count(&bench, MESSAGE_DECLINE), before + (i == 0 ? 1 : 0));
        cr_assert((strstr(bench.logged, "slot-too-short") != NULL) == (i == 0), "%s", bench.logged);
        timed_free(&bench);
    }
}

/* A product with a subnormal number takes many times as long as one with zero: with such experts
 * the time of a computation would count the records that have a zero. */
Test(participant_time, experts_are_freed_of_numbers_whose_arithmetic_takes_longer)
{
    const double weights[DIM] = {1e-310, 0.5, -1e-300};
    struct artifact experts = timed_experts(weights, 1);
    struct timed bench;
    timed_init(&bench, 10);
    timed_join(&bench);
    bench.now_ms = SLOT_MS;
    timed_tick(&bench);
    struct message release = {.kind = MESSAGE_RELEASE, .as.release.job = bench.job.id};
    release.as.release.last = true;
    release.as.release.experts = experts;
    struct message piece = {.kind = MESSAGE_PIECE, .as.piece.digest = experts.digest};
    timed_give(&bench, &release, (struct slice){0});
    timed_give(&bench, &piece, (struct slice){weights, sizeof weights});
    cr_assert(bench.kept[0] == 0 && bench.kept[1] == 0.5 && bench.kept[2] == 0);
    timed_free(&bench);
}
