#include "queue_bench.h"

#include "scratch.h"
#include "tests/unit/coordinator/waiting_job.h"

enum { COMMAND_BYTES = 2048 };

static struct scratch scratch;
struct office office;
const struct queue_actor account;
struct why why;
bool shared;
static char schema[64];

void bench_psql(const char *command)
{
    char line[COMMAND_BYTES];
    snprintf(line, sizeof line, "psql -q -v ON_ERROR_STOP=1 -d '%s' -c \"%s\" >/dev/null 2>&1",
             office.settings.jobs, command);
    cr_assert_eq(system(line), 0, "%s", line);
}

static void shell(const char *command)
{
    cr_assert_eq(system(command), 0, "%s", command);
}

/* Each test has a schema of its own in the one database. */
static void find_place(void)
{
    char command[128];
    const char *url = getenv("DATABASE_URL");
    shared = url != NULL;
    scratch_make(&scratch);
    snprintf(schema, sizeof schema, "%s", strrchr(scratch.folder, '-') + 1);
    if (shared) {
        snprintf(office.settings.jobs, SETTINGS_PATH_BYTES,
                 "%s&options=-csearch_path%%3D%%22%s%%22", url, schema);
        snprintf(command, sizeof command, "CREATE SCHEMA \\\"%s\\\"", schema);
        bench_psql(command);
    } else {
        snprintf(office.settings.jobs, SETTINGS_PATH_BYTES, "%s/jobs", scratch.folder);
    }
    office.settings.message_bytes_max = 64000000;
    office.settings.jobs_at_once = 3;
}

void bench_begin(void)
{
    find_place();
    cr_assert_eq(queue_open(&office, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(queue_of(&office)->lead(&office, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(queue_of(&office)->shared, shared);
}

void bench_begin_shared(void)
{
    if (getenv("DATABASE_URL") == NULL) {
        cr_skip("a folder is one coordinator's");
    }
    bench_begin();
}

void bench_end(void)
{
    queue_of(&office)->close(&office);
    office_free(&office);
    scratch_remove(&scratch);
}

uint32_t bench_add_text(const char *text)
{
    uint32_t number = 0;
    cr_assert_eq(queue_add(&number, &office, &account, (struct slice){text, strlen(text)}, &why),
                 STATUS_OK, "%s", why.text);
    return number;
}

uint32_t bench_add(void)
{
    return bench_add_text(WAITING_JOB);
}

struct queue_job bench_seen(uint32_t number)
{
    struct queue_job job;
    cr_assert_eq(queue_look(&job, &office, number, &why), STATUS_OK, "%s", why.text);
    return job;
}

bool bench_is_over(uint32_t number)
{
    struct queue_kept kept;
    cr_assert_eq(queue_of(&office)->peek(&kept, &office, number, &why), STATUS_OK, "%s", why.text);
    return kept.over;
}

/* What a person, or a fault, does to a job in its store. */

void bench_spoil_text(uint32_t number)
{
    char command[COMMAND_BYTES];
    if (shared) {
        snprintf(command, sizeof command,
                 "UPDATE hedgerow_job SET text = 'hedgerow: 1' WHERE number = %u", number);
        bench_psql(command);
    } else {
        snprintf(command, sizeof command,
                 "cd %s/%u && chmod 600 job.yml && echo 'hedgerow: 1' >job.yml",
                 office.settings.jobs, number);
        shell(command);
    }
}

void bench_remove(uint32_t number)
{
    char command[COMMAND_BYTES];
    if (shared) {
        snprintf(command, sizeof command,
                 "DROP SCHEMA IF EXISTS \\\"%s_job_%u\\\" CASCADE;"
                 " DELETE FROM hedgerow_job WHERE number = %u",
                 schema, number, number);
        bench_psql(command);
    } else {
        snprintf(command, sizeof command, "rm -r %s/%u", office.settings.jobs, number);
        shell(command);
    }
}

/* Acts as a server that is slow for one job. A session that writes the job's next record holds the lease's row. It waits until
 * it is known whether a record of that number exists. */
void bench_hold_records(uint32_t number, unsigned seconds)
{
    char path[sizeof scratch.folder + 16];
    char line[COMMAND_BYTES];
    snprintf(path, sizeof path, "%s/hold", scratch.folder);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fprintf(
        file,
        "BEGIN; INSERT INTO \"%s_job_%u\".hedgerow_record"
        " SELECT coalesce(max(sequence), 0) + 1, '', 0, '', '' FROM \"%s_job_%u\".hedgerow_record;\n"
        "\\! touch %s/held\nSELECT pg_sleep(%u); ROLLBACK;\n",
        schema, number, schema, number, scratch.folder, seconds);
    fclose(file);
    snprintf(line, sizeof line,
             "psql -q -d '%s' -f %s >/dev/null 2>&1 & while ! [ -e %s/held ]; do sleep 0.02; done",
             office.settings.jobs, path, scratch.folder);
    shell(line);
}

void bench_await_held(void)
{
    char line[COMMAND_BYTES];
    snprintf(line, sizeof line,
             "for i in $(seq 500); do test -n \"$(psql -qAt -d '%s' -c \"SELECT 1 FROM"
             " pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE"
             " '%%INSERT INTO hedgerow_record%%'\")\" && exit 0; sleep 0.02; done; exit 1",
             office.settings.jobs);
    shell(line);
}

/* Opens a job's journal as the leader does; its office is the caller's to free. */
enum status bench_open_journal(struct journal *out, struct office *own, uint32_t number)
{
    *own = office_like(&office);
    cr_assert_eq(queue_take(own, number, &why), STATUS_OK, "%s", why.text);
    const struct journal_options options = {
        .place = own->settings.state, .kind = "coordinator", .part = queue_of(own)->part(own)};
    return journal_open(out, &options, &why);
}
