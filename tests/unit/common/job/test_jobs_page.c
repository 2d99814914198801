/* docs/JOBS.md and docs/CHOOSING.md against the reader of jobs: every whole job on the pages is one. In
 * JOBS every task and strategy has an example or a word, and every key is named. The parts of jobs that
 * stand indented between its paragraphs are read too, each in a whole job. */

#include "job/again.h"
#include "job/draft.h"
#include "job/job.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES_MAX = 1 << 18, TABLES_MAX = 64, JOB_BYTES_MAX = 1 << 13, MARGIN = 4 };

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

/* Finds the next job of the page: its text, or an empty one after the last. */
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
        struct job_agains agains;
        struct why why = {{0}};
        cr_assert_eq(job_parse(&job, text, path, &why), STATUS_OK, "job %zu: %s", count + 1,
                     why.text);
        for (size_t i = 0; i < job.stage_count; i++) {
            tasks |= 1u << job.stage[i].task;
        }
        cr_assert_eq(job_asks_again(&agains, &job), STATUS_OK);
        cr_expect_eq(agains.count, 0, "%s: job %zu asks a question twice", path, count + 1);
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

/* A job of sections that a part of the page may replace. Its columns are those that the parts name. */
static const struct section {
    const char *key;
    const char *indent;
    const char *text;
} base_job[] = {
    {"privacy", "", "privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1}\n"},
    {"cohort", "", "cohort: {minimum: 3, deadline_s: 30}\n"},
    {"stages", "",
     "stages:\n  - {task: update, loss: squared, rounds: 4, batch: 60, clip: 1, share: 1, grid_bits: 16, rate: 1}\n"},
    {"data", "", "data:\n"},
    {"label", "  ", "  label: {column: death, positive: \"1\", negative: \"0\"}\n"},
    {"features", "  ",
     "  features: [{column: age, centre: 74, half_width: 24}, {column: kappa, centre: 5, half_width: 5}, "
     "{column: sex, categories: [F, M]}]\n"},
    {"series", "  ", ""},
    {"map", "  ", ""},
};
enum { SECTIONS = sizeof base_job / sizeof base_job[0] };

struct fragment {
    char text[SECTIONS][JOB_BYTES_MAX / SECTIONS];
    bool has[SECTIONS];
};

static size_t section_of(const char *line, size_t size)
{
    for (size_t i = 0; i < SECTIONS; i++) {
        const size_t length = strlen(base_job[i].key);
        if (size > length && line[length] == ':' && memcmp(line, base_job[i].key, length) == 0) {
            return i;
        }
    }
    return SECTIONS;
}

/* The base job with the fragment's sections in place of its own. */
static bool fragment_is_of_a_job(const struct fragment *fragment, struct why *why)
{
    char text[JOB_BYTES_MAX + 64] = "hedgerow: 1\njob: part\n";
    for (size_t i = 0; i < SECTIONS; i++) {
        const char *section = fragment->has[i] ? fragment->text[i] : base_job[i].text;
        cr_assert_lt(strlen(text) + strlen(section), sizeof text);
        strcat(text,
               section); /* NOLINT(clang-analyzer-security.insecureAPI.strcpy): room is asserted */
    }
    struct job job;
    if (job_parse(&job, (struct slice){text, strlen(text)}, "part", why) != STATUS_OK) {
        return false;
    }
    job_free(&job);
    return true;
}

static size_t line_length(const char *line)
{
    return strcspn(line, "\n") + 1;
}

/* Reads the block that begins here: every section once, and a new job where one comes again. Returns how
 * many jobs its parts made, or 0 with the reason of the first that is none. */
static size_t block_jobs(const char *at, struct why *why)
{
    static struct fragment fragment;
    memset(&fragment, 0, sizeof fragment);
    size_t jobs = 0;
    size_t section = SECTIONS;
    for (; strncmp(at, "    ", MARGIN) == 0; at += line_length(at)) {
        const char *line = at + MARGIN;
        const size_t size = line_length(at) - MARGIN;
        const size_t begun = section_of(line, size);
        if (begun < SECTIONS && fragment.has[begun]) {
            if (!fragment_is_of_a_job(&fragment, why)) {
                return 0;
            }
            jobs++;
            memset(&fragment, 0, sizeof fragment);
        }
        section = begun < SECTIONS ? begun : section;
        if (section == SECTIONS) {
            return 0;
        }
        char *text = fragment.text[section];
        const size_t length = strlen(text);
        cr_assert_lt(length + size + MARGIN, sizeof fragment.text[section]);
        snprintf(text + length, sizeof fragment.text[section] - length, "%s%.*s",
                 base_job[section].indent, (int)size, line);
        fragment.has[section] = true;
    }
    return fragment_is_of_a_job(&fragment, why) ? jobs + 1 : 0;
}

/* The next block of the page that is indented by a margin and follows an empty line, outside fences. */
static const char *next_block(const char *at, bool *fenced)
{
    bool empty = false;
    for (; *at != '\0'; at += line_length(at)) {
        *fenced = *fenced != (strncmp(at, "```", 3) == 0);
        if (!*fenced && empty && strncmp(at, "    ", MARGIN) == 0 && at[MARGIN] != ' ') {
            return at;
        }
        empty = *at == '\n';
    }
    return NULL;
}

Test(jobs_page, has_parts_of_jobs_that_are_parts_of_jobs)
{
    const char *page = page_read(jobs_path);
    bool fenced = false;
    size_t blocks = 0;
    for (const char *at = next_block(page, &fenced); at != NULL; at = next_block(at, &fenced)) {
        struct why why = {{0}};
        cr_expect_gt(block_jobs(at, &why), 0, "\"%.*s\" is no part of a job: %s",
                     (int)line_length(at) - 1, at, why.text);
        blocks++;
        at += line_length(at);
    }
    cr_assert_geq(blocks, 4, "the page has %zu parts", blocks);
}

/* Planted: a fault that a line wrapper once made on the page. */
Test(jobs_page, would_refuse_a_part_that_was_wrapped)
{
    struct why why = {{0}};
    cr_expect_eq(
        block_jobs("    map: {kind: fourier, kernel: gaussian, gamma: 1, features: 200, seed: 42}\n"
                   "    map: {kind: fourier, kernel: gaussian, gamma: 2, features: 20, seed: 4}\n",
                   &why),
        2, "%s", why.text);
    cr_expect_eq(
        block_jobs("    label: {centre: 12, half_width: 12} series: {column: entries, lags: [1]}\n",
                   &why),
        0);
    cr_expect_eq(
        block_jobs("    features:\n      - {column: age, centre: 74, half_width: 24}   # clamped\n"
                   "        to [-1, 1]\n",
                   &why),
        0);
    cr_expect_eq(block_jobs("    mop: {kind: fourier}\n", &why), 0);
    bool fenced = false;
    cr_expect_null(
        next_block("```\n\n    map: in a fence\n```\n\ntext\n    behind text\n", &fenced));
}

/* Planted: faults that the tests above must find. */
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
