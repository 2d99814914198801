/* What a site's journal grows to under a coordinator that offers one job after another, each with a text of its own
 * of the largest size and one answer for next to nothing. */

#include "agent/texts.h"
#include "crypto/digest.h"
#include "io/journal.h"
#include "protocol/wire.h"

#include "scratch.h"

#include <criterion/criterion.h>
#include <sys/stat.h>

enum { FEW = 100, MANY = 300, HUNDRED_THOUSAND = 100000, BYTES_MAX = 50 * 1000 * 1000 };

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

/* The database's size once its log is in it; closing it moves it there. */
static double size_after(uint64_t from, uint64_t to, bool keep_all)
{
    struct journal_sqlite_options options = {.folder = scratch.folder, .kind = "agent"};
    struct stat about;
    struct why why = {""};
    cr_assert_eq(journal_sqlite_open(&journal, &options, &why), STATUS_OK, "%s", why.text);
    for (uint64_t number = from; number < to; number++) {
        take_part(number, keep_all);
    }
    journal_close(&journal);
    cr_assert_eq(stat(scratch_path(&scratch, "journal.db"), &about), 0);
    return (double)about.st_size;
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
