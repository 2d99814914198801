/* looks_of_run JOB - computes the states of a job of one `learn` stage from the answers that its sites made durable, without
 * the daemons.
 *
 * Standard input has for each round the number of answers and of their records, and then the answers as hexadecimal bytes. They are
 * added up and closed by the coordinator's own code. Standard output gets each round's state, in hexadecimal. */

#include "base/bytes.h"
#include "config/config.h"
#include "crypto/digest.h"
#include "job/job.h"
#include "protocol/record.h"
#include "task/close.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 1 << 20, SITES_MAX = 16 };

struct run {
    struct job job;
    struct outcome outcome;
    struct peer site[SITES_MAX];
    char line[LINE_BYTES];
};

static int64_t word_at(const char *hex, size_t bytes)
{
    uint64_t word = 0;
    for (size_t i = 0; i < bytes; i++) {
        unsigned byte = 0;
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1) {
            abort();
        }
        word |= (uint64_t)byte << (8 * i);
    }
    const unsigned unused = (unsigned)(64 - 8 * bytes); /* the sign */
    return (int64_t)(word << unused) >> unused;
}

/* Adds the next line's answer. */
static bool add_answer(struct run *run, int64_t *sum, size_t count)
{
    if (fgets(run->line, LINE_BYTES, stdin) == NULL) {
        return false;
    }
    const size_t bytes = strcspn(run->line, "\n") / 2 / count;
    if (bytes != 2 && bytes != 4 && bytes != 8) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        sum[i] += word_at(run->line + 2 * i * bytes, bytes);
    }
    return true;
}

static void print_rows(const double *rows, size_t bytes)
{
    const unsigned char *byte = (const unsigned char *)rows;
    for (size_t i = 0; i < bytes; i++) {
        (void)printf("%02x", byte[i]);
    }
    (void)putchar('\n');
}

static enum status close_round(struct run *run, uint32_t round)
{
    unsigned sites = 0;
    uint64_t records = 0;
    uint32_t within;
    struct record record = {.kind = RECORD_ROUND};
    const struct stage *stage = job_stage_of(&run->job, round, &within);
    const size_t count = round_answer_count(&run->job, stage, within, run->outcome.expert_count);
    if (fgets(run->line, LINE_BYTES, stdin) == NULL ||
        sscanf(run->line, "%u %" SCNu64, &sites, &records) != 2 || sites > SITES_MAX) {
        return STATUS_INVALID;
    }
    record.as.round.job = run->outcome.job_name.id;
    record.as.round.round = round;
    record.as.round.agent = run->site;
    record.as.round.agent_count = sites;
    record.as.round.records = records;
    struct closing closing = {.job = &run->job,
                              .stage = stage,
                              .within = within,
                              .outcome = &run->outcome,
                              .sum = calloc(count, sizeof(int64_t)),
                              .count = count,
                              .record = &record};
    enum status status = closing.sum == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    for (unsigned i = 0; status == STATUS_OK && i < sites; i++) {
        status = add_answer(run, closing.sum, count) ? STATUS_OK : STATUS_INVALID;
    }
    if (status == STATUS_OK) {
        status = task_close(&run->job, stage)->close(&closing);
    }
    if (status == STATUS_OK) {
        const size_t bytes = closing.row_count * closing.row_width * sizeof(double);
        print_rows(closing.rows, bytes);
        record.as.round.blob_bytes = bytes;
        status =
            outcome_add(&run->outcome, &run->job, &record, (struct slice){closing.rows, bytes});
    }
    closing_free(&closing);
    return status;
}

static enum status begin(struct run *run, const char *path, struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    struct record begin = {.kind = RECORD_JOB};
    enum status status = config_load(&text, &size, path, why);
    if (status == STATUS_OK) {
        status = job_parse(&run->job, (struct slice){text, size}, path, why);
    }
    if (status == STATUS_OK) {
        const struct slice whole = {text, size};
        outcome_init(&run->outcome, &run->job, OUTCOME_FORGETS);
        digest_sha256(&begin.as.job.job.text_digest, &whole, 1); /* seeds what noise may cost */
        begin.as.job.job.id.byte[0] = 1;
        begin.as.job.trees = begin.as.job.shares = true;
        status = outcome_add(&run->outcome, &run->job, &begin, (struct slice){0});
    }
    free(text);
    return status;
}

int main(int argc, char **argv)
{
    struct run *run = calloc(1, sizeof *run);
    struct why why = {""};
    if (argc != 2 || run == NULL) {
        (void)fputs("usage: looks_of_run JOB\n", stderr);
        free(run);
        return 2;
    }
    enum status status = begin(run, argv[1], &why);
    for (uint32_t round = 0; status == STATUS_OK && round < job_round_count(&run->job); round++) {
        status = close_round(run, round);
    }
    if (status != STATUS_OK) {
        (void)fprintf(stderr, "looks_of_run: %s %s\n", status_text(status), why.text);
    }
    outcome_free(&run->outcome);
    job_free(&run->job);
    free(run);
    return status == STATUS_OK ? 0 : 1;
}
