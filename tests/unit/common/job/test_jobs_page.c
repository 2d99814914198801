/* docs/JOBS.md and docs/CHOOSING.md against the reader of jobs: every whole job on the pages is one. In
 * JOBS every task and strategy has an example or a word, and every key is named. */

#include "job/draft.h"
#include "job/job.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES_MAX = 1 << 18, TABLES_MAX = 64 };

static const char fence[] = "\n```yaml\n";
static const char jobs_path[] = TEST_VECTORS "/../../docs/JOBS.md";
static const char choosing_path[] = TEST_VECTORS "/../../docs/CHOOSING.md";

/* Criterion frees nothing of ours: the page lives as long as the test. */
static char *page_read(const char *path)
{
    static char page[PAGE_BYTES_MAX];
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "%s", path);
    size_t size = fread(page, 1, sizeof page - 1, file);
    cr_assert(feof(file) && size > 0);
    cr_assert_eq(fclose(file), 0);
    page[size] = '\0';
    return page;
}

/* Finds the next job of the page: its text, or an empty one behind the last. */
static struct slice next_job(const char **at)
{
    const char *begin = strstr(*at, fence);
    if (begin == NULL) {
        return (struct slice){NULL, 0};
    }
    begin += sizeof fence - 1;
    const char *end = strstr(begin, "\n```\n");
    cr_assert_not_null(end);
    *at = end + 1;
    return (struct slice){begin, (size_t)(end + 1 - begin)};
}

/* As `word`, or "word:" in an example. */
static bool names(const char *page, const char *word)
{
    const char *at = page;
    const size_t length = strlen(word);
    while ((at = strstr(at, word)) != NULL) {
        const char before = at > page ? at[-1] : ' ';
        const char after = at[length];
        if (strchr("` {(.\n", before) != NULL && strchr("`:,}", after) != NULL && after != '\0') {
            return true;
        }
        at += length;
    }
    return false;
}

/* Returns the tasks of the page's jobs, a bit each. */
static unsigned page_tasks(const char *path, size_t least)
{
    const char *at = page_read(path);
    unsigned tasks = 0;
    size_t count = 0;
    for (struct slice text = next_job(&at); text.size > 0; text = next_job(&at), count++) {
        struct job job;
        struct why why = {{0}};
        cr_assert_eq(job_parse(&job, text, path, &why), STATUS_OK, "job %zu: %s", count + 1,
                     why.text);
        for (size_t i = 0; i < job.stage_count; i++) {
            tasks |= 1u << job.stage[i].task;
        }
        job_free(&job);
    }
    cr_assert_geq(count, least, "%s has %zu jobs", path, count);
    return tasks;
}

Test(jobs_page, has_whole_jobs_of_every_task)
{
    const unsigned tasks = page_tasks(jobs_path, 8);
    for (unsigned task = 0; task_name((enum task)task) != NULL; task++) {
        cr_expect((tasks & 1u << task) != 0, "no example of %s", task_name((enum task)task));
    }
}

Test(jobs_page, what_a_person_wants_to_know_has_whole_jobs)
{
    cr_expect_neq(page_tasks(choosing_path, 5), 0);
}

Test(jobs_page, names_every_strategy_and_every_key)
{
    const char *page = page_read(jobs_path);
    struct draft_tables tables;
    draft_tables_init(&tables);
    const struct config_key *table[TABLES_MAX] = {tables.root};
    size_t table_count = 1;
    for (unsigned i = 0; strategy_name((enum strategy)i) != NULL; i++) {
        cr_expect(names(page, strategy_name((enum strategy)i)), "%s",
                  strategy_name((enum strategy)i));
    }
    for (size_t t = 0; t < table_count; t++) {
        for (const struct config_key *key = table[t]; key->name != NULL; key++) {
            cr_expect(names(page, key->name), "the key %s is not on the page", key->name);
            if (key->keys != NULL && key->type == CONFIG_TABLE) {
                cr_assert_lt(table_count, TABLES_MAX);
                table[table_count++] = key->keys;
            }
        }
    }
    cr_assert_gt(table_count, 5);
}

/* What the tests above look for could be missed. */
Test(jobs_page, would_miss_what_is_not_there)
{
    cr_expect(names("say `batch` or {rounds: 3}", "batch"));
    cr_expect(names("say `batch` or {rounds: 3}", "rounds"));
    cr_expect_not(names("say `batches` or {minirounds: 3}, rounds too", "batch"));
    cr_expect_not(names("say `batches` or {minirounds: 3}, rounds too", "rounds"));
    const char *at = "text\n```yaml\nhedgerow: 1\n```\nmore";
    cr_expect_eq(next_job(&at).size, strlen("hedgerow: 1\n"));
    cr_expect_eq(next_job(&at).size, 0);
}
