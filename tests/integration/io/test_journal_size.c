/* How large a site's journal becomes under a coordinator that offers one job after another, each with a new text of
 * the largest size and one very cheap answer, or one job of very many rounds. */

#include "agent/texts.h"
#include "crypto/digest.h"
#include "io/journal.h"
#include "protocol/wire.h"

#include "scratch.h"

#include <criterion/criterion.h>
#include <sys/stat.h>

enum { FEW = 100, MANY = 300, HUNDRED_THOUSAND = 100000, BYTES_MAX = 50 * 1000 * 1000 };
enum { ANSWER_BYTES_MAX = 300, FEW_ROUNDS = 100, MANY_ROUNDS = 400 }; /* docs/REFERENCE.md */

static struct scratch scratch;
static struct journal journal;
static struct texts texts;

static struct digest made(uint64_t number)
{
    struct digest digest;
    digest_sha256(&digest, &(struct slice){&number, sizeof number}, 1);
    return digest;
}

static uint64_t append(const struct record *record, struct slice blob)
{
    uint8_t *body = NULL;
    size_t size = 0;
    uint64_t sequence = 0;
    cr_assert_eq(wire_encode_record(&body, &size, record), STATUS_OK);
    cr_assert_eq(journal.append(journal.self, &sequence, (struct slice){body, size}, blob),
                 STATUS_OK);
    free(body);
    return sequence;
}

/* A round of its job; what it answered is forgotten once the next one is durable. */
static void answer(const struct digest *job, uint32_t round)
{
    static const uint8_t answer_bytes[8 * 1024];
    static uint64_t before;
    struct record paid = {.kind = RECORD_ANSWER, .wall_ms = 1700000000000 + 1000 * (int64_t)round};
    const struct slice answer = {answer_bytes, sizeof answer_bytes};

    snprintf(paid.as.answer.task, sizeof paid.as.answer.task, "statistics");
    paid.as.answer.job = *job;
    paid.as.answer.round = round;
    paid.as.answer.charge = (struct charge){.mechanism = MECHANISM_DISCRETE_GAUSSIAN,
                                            .sigma_micro = 123456789,
                                            .sampling_nano = 123456789,
                                            .pass = made(round),
                                            .row_first = 10000000,
                                            .row_count = 10000000};
    paid.as.answer.invitation = made(5 * (uint64_t)round + 1);
    digest_sha256(&paid.as.answer.answer, &answer, 1);
    paid.as.answer.answer_bytes = answer.size;
    const uint64_t sequence = append(&paid, answer);
    if (round > 0) {
        cr_assert_eq(journal.forget(journal.self, before), STATUS_OK);
    }
    before = sequence;
}

/* What an agent writes for one job of one answer, in its order. */
static void take_part(uint64_t number, bool keep_all)
{
    static char text[JOB_TEXT_BYTES_MAX];
    uint8_t answer_bytes[8] = {0};
    const struct slice answer = {answer_bytes, sizeof answer_bytes};
    struct record job = {.kind = RECORD_JOB, .wall_ms = 1700000000000 + (int64_t)number};
    struct record paid = {.kind = RECORD_ANSWER, .wall_ms = job.wall_ms + 20};
    uint64_t gone = 0;

    memset(text, 'x', sizeof text);
    store_u64((uint8_t *)text, number);
    job.as.job.job = (struct job_name){
        .id = made(2 * number), .nonce = made(2 * number + 1), .text_bytes = sizeof text};
    digest_sha256(&job.as.job.job.text_digest, &(struct slice){text, sizeof text}, 1);
    uint64_t sequence = append(&job, (struct slice){text, sizeof text});
    texts_add(&texts, sequence, &job.as.job.job.text_digest, sizeof text);
    while (!keep_all && texts_drop(&texts, &gone)) {
        cr_assert_eq(journal.forget(journal.self, gone), STATUS_OK);
    }
    snprintf(paid.as.answer.task, sizeof paid.as.answer.task, "statistics");
    paid.as.answer.job = job.as.job.job.id;
    paid.as.answer.charge = (struct charge){.mechanism = MECHANISM_DISCRETE_LAPLACE,
                                            .epsilon_micro = 1000000,
                                            .pass = made(3 * number),
                                            .row_count = 10000000};
    paid.as.answer.invitation = made(5 * number);
    digest_sha256(&paid.as.answer.answer, &answer, 1);
    paid.as.answer.answer_bytes = answer.size;
    sequence = append(&paid, answer);
    cr_assert_eq(journal.forget(journal.self, sequence), STATUS_OK);
}

static void open_journal(void)
{
    struct journal_sqlite_options options = {.folder = scratch.folder, .kind = "agent"};
    struct why why = {""};
    cr_assert_eq(journal_sqlite_open(&journal, &options, &why), STATUS_OK, "%s", why.text);
}

/* The database's size once its log is in it; closing it moves it there. */
static double close_and_measure(void)
{
    struct stat about;
    journal_close(&journal);
    cr_assert_eq(stat(scratch_path(&scratch, "journal.db"), &about), 0);
    return (double)about.st_size;
}

static double size_after(uint64_t from, uint64_t to, bool keep_all)
{
    open_journal();
    for (uint64_t number = from; number < to; number++) {
        take_part(number, keep_all);
    }
    return close_and_measure();
}

/* Both sizes hold the texts in full, so their difference is what jobs leave for ever. */
static double extrapolated(bool keep_all, uint64_t few_jobs, uint64_t many_jobs)
{
    scratch_make(&scratch);
    memset(&texts, 0, sizeof texts);
    double few = size_after(0, few_jobs, keep_all);
    double many = size_after(few_jobs, many_jobs, keep_all);
    double each = (many - few) / (double)(many_jobs - few_jobs);
    double all = many + each * (double)(HUNDRED_THOUSAND - many_jobs);
    cr_log_info("%d jobs: %.1f MB, %.0f bytes each; 100,000 jobs: %.1f MB", (int)many_jobs,
                many * 1e-6, each, all * 1e-6);
    scratch_remove(&scratch);
    return all;
}

Test(journal_size, a_hundred_thousand_jobs_fit_into_50_megabytes)
{
    cr_expect_lt(extrapolated(false, FEW, MANY), BYTES_MAX);
    cr_expect_gt(extrapolated(true, 20, 60), 100.0 * BYTES_MAX,
                 "texts that stay, as they did, are seen");
}

static double size_after_rounds(uint32_t from, uint32_t to)
{
    const struct digest job = made(1);
    open_journal();
    for (uint32_t round = from; round < to; round++) {
        answer(&job, round);
    }
    return close_and_measure();
}

/* REFERENCE tells from this how large a journal may become under a policy's least_epsilon. */
Test(journal_size, an_answer_leaves_its_charge_and_no_more)
{
    scratch_make(&scratch);
    double few = size_after_rounds(0, FEW_ROUNDS);
    double many = size_after_rounds(FEW_ROUNDS, MANY_ROUNDS);
    double each = (many - few) / (MANY_ROUNDS - FEW_ROUNDS);
    cr_log_info("%.0f bytes an answer; 10,000 rounds: %.1f MB", each, each * 1e-2);
    cr_expect_lt(each, ANSWER_BYTES_MAX, "%.0f bytes", each);
    cr_expect_gt(each, 4 * DIGEST_BYTES, "%.0f bytes: the charge is not there", each);
    scratch_remove(&scratch);
}
