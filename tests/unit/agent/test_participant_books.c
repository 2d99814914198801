/* What an agent takes part in, charges and logs: it computes nothing that it cannot pay for, charges a
 * round once and on its own day, and no line of the log depends on a record or on the time of a
 * computation. */

#include "tests/unit/agent/asked.h"

#include "agent/texts.h"
#include "learn/gradient.h"
#include "learn/permutation.h"
#include "task/update/stage.h"

/* Its records are not even read. */
Test(participant_books, a_job_under_a_wrong_name_or_above_the_policy_is_not_joined)
{
    init();
    name_job(2);
    bench.job.id.byte[0] ^= 1;
    restart();
    ask_and_wait(0);
    cr_expect(bench.works == 0 && bench.offers == 0 && bench.declines == 0, "wrong name");
    end();
    init();
    bench.policy.epsilon_micro = 999999;
    restart();
    ask_and_wait(0);
    cr_expect(bench.works == 0 && bench.offers == 0 && bench.declines > 0, "above the policy");
    end();
}

/* A job about something that the dictionary lacks is declined as one that the policy forbids: at once,
 * without reading the records. */
Test(participant_books, a_job_that_the_dictionary_has_no_records_for_is_declined)
{
    init();
    bench.rows = 3;
    restart();
    ask_and_wait(0);
    cr_expect(bench.works == 0 && bench.offers == 0 && bench.declines > 0);
    cr_expect_not_null(strstr(bench.said, "needs 4 records, and the dictionary states 3 rows"));
    end();
}

Test(participant_books, a_job_that_asks_for_another_column_or_kind_is_declined)
{
    for (int i = 0; i < 2; i++) {
        init();
        memcpy(bench.dictionary.column[1].name, i == 0 ? "b" : "a", 2);
        bench.dictionary.column[1].kind = i == 0 ? DICTIONARY_NUMBER : DICTIONARY_CATEGORY;
        name_job(2);
        join();
        bench.works = 0;
        ask_and_wait(0);
        cr_expect(bench.works == 0 && bench.offers == 0 && bench.declines > 0);
        cr_expect_not_null(
            strstr(bench.said, i == 0 ? "has no column \"a\"" : "numbers in column \"a\""));
        end();
    }
}

Test(participant_books, the_bytes_of_a_closed_round_are_forgotten)
{
    init();
    struct message release = {.kind = MESSAGE_RELEASE, .as.release.job = bench.job.id};
    ask_and_wait(0);
    say(&release, (struct slice){0});
    cr_expect_eq(bench.forgets, 1, "in the journal");
    struct message pull = {.kind = MESSAGE_PULL, .as.pull.job = bench.job.id};
    pull.as.pull.length = 8 * WIDTH;
    say(&pull, (struct slice){0});
    cr_expect_eq(bench.chunks, 0, "and in memory");
    end();
}

/* Another job of the same text, also after a restart: its record names the text, which the first one's blob has. */
Test(participant_books, a_text_is_written_to_the_journal_once)
{
    struct record record;
    size_t texts = 0;
    size_t jobs = 0;
    init();
    for (uint8_t job = 1; job <= 3; job++) {
        name_job(job);
        if (job == 2) {
            join();
        } else {
            restart();
        }
        ask_and_wait(0);
        cr_assert_eq(bench.declines, 0);
    }
    for (size_t i = 0; i < bench.journal_count; i++) {
        const struct entry *entry = &bench.journal[i];
        struct slice body = {entry->body, entry->body_size};
        cr_assert_eq(wire_decode_record(&record, body), STATUS_OK);
        if (record.kind == RECORD_JOB) {
            bool whole = entry->blob_size == sizeof TEXT - 1 &&
                         memcmp(entry->blob, TEXT, sizeof TEXT - 1) == 0;
            cr_expect_null(record.as.job.text);
            cr_expect_eq(record.as.job.job.text_bytes, sizeof TEXT - 1);
            cr_expect(whole || entry->blob_size == 0);
            jobs++;
            texts += whole ? 1 : 0;
        }
        record_free(&record);
    }
    cr_expect(jobs == 3 && texts == 1, "%zu jobs, %zu texts", jobs, texts);
    end();
}

/* A coordinator that never releases a round must not make the journal keep every answer: only the latest can be
 * asked for again. Deaths before the forgetting do not add up either. */
Test(participant_books, an_answer_that_a_later_one_replaces_is_forgotten)
{
    init();
    ask_and_wait(0);
    cr_expect_eq(bench.forgets, 0);
    ask_and_wait(1);
    cr_expect_eq(bench.forgets, 1, "of another round of the same job");
    cr_expect_eq(bench.journal_count, 3);
    restart(); /* this journal has forgotten nothing, as after a death at each time */
    cr_expect_eq(bench.forgets, 1, "at the start");
    name_job(2);
    join();
    ask_and_wait(0);
    cr_expect_eq(bench.forgets, 2, "for another job's answer");
    restart();
    cr_expect_eq(bench.forgets, 2, "two deaths");
    end();
}

/* A journal with more texts than are kept, as a kill between commit and dropping leaves it: the oldest go at the
 * start, and they alone. */
Test(participant_books, texts_beyond_the_bound_are_dropped_from_the_journal)
{
    static uint8_t text[JOB_TEXT_BYTES_MAX];
    enum { TEXTS = TEXTS_BYTES_MAX / JOB_TEXT_BYTES_MAX + 3 };
    init();
    participant_free(bench.participant);
    struct participant_options options = {.policy = &bench.policy,
                                          .source = {.load = load, .self = &bench},
                                          .random = &bench.random,
                                          .log = &bench.log,
                                          .heartbeat_ms = 50000,
                                          .silence_ms = 1000000};
    cr_assert_eq(participant_new(&bench.participant, &options), STATUS_OK);
    bench.machine = participant_machine(bench.participant);
    for (uint64_t i = 1; i <= TEXTS; i++) {
        struct record record = {.kind = RECORD_JOB, .wall_ms = 1};
        struct event event = {.kind = EVENT_RECORD, .as.record.sequence = i};
        uint8_t *body = NULL;
        store_u64(text, i);
        record.as.job.job = (struct job_name){.text_bytes = sizeof text};
        record.as.job.job.id.byte[0] = record.as.job.job.nonce.byte[0] = (uint8_t)i;
        event.as.record.blob = (struct slice){text, sizeof text};
        digest_sha256(&record.as.job.job.text_digest, &event.as.record.blob, 1);
        cr_assert_eq(wire_encode_record(&body, &event.as.record.body.size, &record), STATUS_OK);
        event.as.record.body.data = body;
        step(&event);
        free(body);
    }
    bench.forgets = 0;
    step(&(struct event){.kind = EVENT_START});
    cr_expect_eq(bench.forgets, 3);
    uint64_t next = 1;
    for (size_t i = 0; i < bench.effects.count; i++) {
        if (bench.effects.item[i].kind == EFFECT_FORGET) {
            cr_expect_eq(bench.effects.item[i].as.forget.sequence, next);
            next++;
        }
    }
    end();
}

/* The answer, with the same noise every time, of the round that has or has not the third record. */
static struct digest answer_of(const char *records, bool with_third)
{
    size_t order[RECORD_COUNT];
    init();
    bench.records = records;
    restart();
    permutation_draw(order, RECORD_COUNT, &bench.job.id);
    const bool first_has = order[0] == 2 || order[1] == 2;
    ask_and_wait(first_has == with_third ? 0 : 1);
    cr_assert_eq(bench.offers, 1);
    end();
    return bench.offer.as.offer.answer;
}

Test(participant_books, which_records_a_round_looks_at_does_not_depend_on_them)
{
    static const char *const others[] = {OTHERS, "a,y\n0.1,1\n0.9,0\n-0.9,1\n0.7,0\n",
                                         "a,y\n0.1,1\n0.9,0\n0.5,0\n0.7,0\n",
                                         "a,y\n0.1,1\n0.9,0\n0,0\n0.7,0\n"};
    const struct digest without = answer_of(RECORDS, false);
    const struct digest with = answer_of(RECORDS, true);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const struct digest same = answer_of(others[i], false);
        const struct digest other = answer_of(others[i], true);
        cr_expect(digest_equal(&same, &without), "table %zu", i);
        cr_expect_not(digest_equal(&other, &with), "table %zu: the batch that has it", i);
    }
}

/* The job's text costs 1; records that changed since make the rest of its pass another one. */
Test(participant_books, what_the_jobs_allowance_does_not_cover_is_declined_uncomputed)
{
    init();
    bench.policy.job_epsilon_micro = 1000000;
    restart();
    ask_and_wait(0);
    cr_assert_eq(bench.offers, 1);
    bench.records = OTHERS;
    restart();
    ask_and_wait(1);
    cr_assert(bench.declines == 1 && bench.offers == 0);
    cr_assert_eq(bench.works, 1, "the records were read, and nothing computed");
    cr_expect_not_null(strstr(bench.said, "round 2 declined: "), "the second one: %s", bench.said);
    end();
}

/* Another job, on the same day and a window later, in the same program or after a restart. */
Test(participant_books, an_answer_is_booked_on_its_own_day)
{
    for (int again = 0; again < 2; again++) {
        init();
        bench.policy.allowance_days = 30;
        bench.policy.allowance_epsilon_micro = 1000000;
        restart();
        ask_and_wait(0);
        cr_assert_eq(bench.offers, 1);
        name_job(2);
        if (again == 1) {
            restart();
        } else {
            join();
        }
        bench.offers = bench.declines = 0;
        ask_and_wait(0);
        cr_expect(bench.offers == 0 && bench.declines == 1, "restarted %d times", again);
        bench.wall_ms += 31 * day_ms;
        ask_and_wait(1);
        cr_expect_eq(bench.offers, 1, "restarted %d times", again);
        end();
    }
}

/* The whole log of a job, whatever level is asked for. */
static const char *log_of(const char *records, int64_t work_takes_ms)
{
    init();
    bench.records = records;
    restart();
    bench.work_takes_ms = work_takes_ms;
    for (uint32_t round = 0; round < 2; round++) {
        const int64_t asked_ms = bench.now_ms;
        ask(round);
        wait_until(asked_ms + 3 * SLOT_MS);
        wait_until(asked_ms + 4 * SLOT_MS);
    }
    cr_assert_eq(bench.offers, 2);
    end();
    return bench.said;
}

Test(participant_books, the_log_holds_no_exact_number)
{
    struct job job;
    struct why why = {{0}};
    struct dataset data;
    size_t order[RECORD_COUNT];
    const char *said = log_of(RECORDS, 0);
    cr_assert_eq(job_parse(&job, (struct slice){TEXT, sizeof TEXT - 1}, "job", &why), STATUS_OK);
    cr_assert_eq(load(&bench, &data, &job.schema, &why), STATUS_OK);
    permutation_draw(order, RECORD_COUNT, &bench.job.id);
    for (size_t round = 0; round < 2; round++) {
        int64_t sum[WIDTH];
        const struct gradient_rows rows = {
            .x = data.x, .y = data.y, .row = order + 2 * round, .row_count = 2};
        cr_assert_eq(gradient_sum(sum, &update_stage(&job.stage[0])->gradient, state, &rows),
                     STATUS_OK);
        for (size_t i = 0; i < WIDTH; i++) {
            char digits[32];
            (void)snprintf(digits, sizeof digits, "%lld", (long long)llabs(sum[i]));
            cr_assert_gt(strlen(digits), 5, "too short to be told from other numbers");
            cr_expect(strstr(said, digits) == NULL, "%s in\n%s", digits, said);
        }
    }
    dataset_free(&data);
    job_free(&job);
}

Test(participant_books, the_log_does_not_tell_how_long_it_was_computed)
{
    static char early[LOG_BYTES];
    memcpy(early, log_of(RECORDS, SLOT_MS + 10), LOG_BYTES);
    cr_assert_str_eq(log_of(RECORDS, SLOT_MS + 90), early);
    cr_assert(strstr(early, "slot-overrun") == NULL, "an answer whose time is public has no slot");
}

/* Every record, feature and label another one; only their number is the same. */
Test(participant_books, the_log_is_the_same_whatever_the_records_hold)
{
    static const char *const others[] = {OTHERS, "a,y\n-0.3,0\n0.2,1\n-0.9,1\n-0.1,1\n",
                                         "a,y\n1,0\n1,0\n1,0\n1,0\n",
                                         "a,y\n70,1\n-70,1\n1e9,1\n-1e9,1\n"};
    static char first[LOG_BYTES];
    memcpy(first, log_of(RECORDS, 0), LOG_BYTES);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        cr_expect_str_eq(log_of(others[i], 0), first, "table %zu", i);
    }
    cr_assert(strstr(first, "job-joined") != NULL);
}
