/* What collectors and the coordinator that leads tell each other, beside a real server (tests/support/postgres). */

#include "database/collection.h"

#include "crypto/digest.h"
#include "database/journal_place.h"
#include "protocol/wire.h"
#include "scratch.h"
#include "tests/support/journal_seen.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { URL_BYTES = 512 };

static struct scratch scratch;
static char place[URL_BYTES];
static struct why why;
static struct journal journal; /* of the one that leads */
static struct collection *lead;

static void psql(const char *command)
{
    char line[2048];
    (void)snprintf(line, sizeof line,
                   "psql -q -v ON_ERROR_STOP=1 -d '%s' -c \"%s\" >/dev/null 2>&1", place, command);
    cr_assert_eq(system(line), 0, "%s", line);
}

static void open_journal(void)
{
    const struct journal_options options = {.place = place, .kind = "coordinator"};
    cr_assert_eq(journal_open(&journal, &options, &why), STATUS_OK, "%s", why.text);
}

static void setup(void)
{
    const char *url = getenv("DATABASE_URL");
    if (url == NULL) {
        cr_skip("no server");
    }
    scratch_make(&scratch);
    const char *name = strrchr(scratch.folder, '-') + 1;
    (void)snprintf(place, sizeof place, "%s&options=-csearch_path%%3D%%22%s%%22", url, name);
    char command[128];
    (void)snprintf(command, sizeof command, "CREATE SCHEMA \\\"%s\\\"", name);
    psql(command);
}

static enum status open_as(struct collection **out, const char *name)
{
    static const struct peer collectors[] = {{"east"}, {"west"}};
    const struct collection_options options = {.place = place,
                                               .name = name,
                                               .collectors = collectors,
                                               .count = 2,
                                               .term =
                                                   name[0] == '\0' ? journal_term(&journal) : 0};
    why.text[0] = '\0';
    return collection_open(out, &options, &why);
}

static void setup_led(void)
{
    setup();
    open_journal();
    cr_assert_eq(open_as(&lead, ""), STATUS_OK, "%s", why.text);
}

static void teardown(void)
{
    collection_close(lead);
    journal_close(&journal);
    scratch_remove(&scratch);
}

static void put(const char *body)
{
    uint64_t sequence = 0;
    cr_assert_eq(journal.append(journal.self, &sequence, (struct slice){body, strlen(body)},
                                (struct slice){"blob", 4}),
                 STATUS_OK);
}

/* A part of a round, of one number. */
static enum status hand_in(struct journal *of, const char *collector, uint32_t round, int64_t sum)
{
    struct peer agent = {"agent-1"};
    struct record record = {
        .kind = RECORD_PARTIAL,
        .as.partial = {
            .round = round, .agent = &agent, .agent_count = 1, .blob_bytes = sizeof sum}};
    record.as.partial.job.byte[0] = 1;
    (void)snprintf(record.as.partial.collector, sizeof record.as.partial.collector, "%s",
                   collector);
    uint8_t *body = NULL;
    size_t size = 0;
    uint64_t sequence = 0;
    cr_assert_eq(wire_encode_record(&body, &size, &record), STATUS_OK);
    const enum status status = of->append(of->self, &sequence, (struct slice){body, size},
                                          (struct slice){&sum, sizeof sum});
    free(body);
    return status;
}

/* Which parts a visit was shown, and their sums. */
struct shown {
    char text[256];
    enum status ends; /* what the visit returns */
};

static enum status show(void *self, const struct peer *collector, struct slice body,
                        struct slice blob)
{
    struct shown *shown = self;
    struct record record;
    int64_t sum = 0;
    cr_assert(blob.size == sizeof sum || blob.size == 0);
    memcpy(&sum, blob.size == 0 ? "        " : blob.data, sizeof sum);
    cr_assert_eq(wire_decode_record(&record, body), STATUS_OK);
    cr_expect_str_eq(record.as.partial.collector, collector->name);
    const size_t used = strlen(shown->text);
    (void)snprintf(shown->text + used, sizeof shown->text - used, "%u:%s:%lld ",
                   (unsigned)record.as.partial.round, record.as.partial.collector,
                   blob.size == 0 ? -1LL : (long long)sum);
    record_free(&record);
    return shown->ends;
}

static struct shown parts(uint32_t round, enum status expected)
{
    struct shown shown = {.text = ""};
    cr_expect_eq(collection_parts(lead, round, show, &shown, &why), expected, "%s", why.text);
    return shown;
}

Test(collection, a_collector_waits_until_there_is_something_to_follow, .init = setup,
     .fini = teardown)
{
    struct collection *east = NULL;
    cr_expect_eq(open_as(&east, "east"), STATUS_AGAIN);
    open_journal();
    cr_expect_eq(open_as(&east, "east"), STATUS_AGAIN, "a job without collectors");
    cr_expect_not_null(strstr(why.text, "no coordinator with `collectors`"), "%s", why.text);
}

Test(collection, a_collector_reads_what_was_committed_and_what_follows, .init = setup_led,
     .fini = teardown)
{
    struct collection *east = NULL;
    struct seen seen = {.text = ""};
    put("one");
    cr_assert_eq(open_as(&east, "east"), STATUS_OK, "%s", why.text);
    struct journal of_east = collection_journal(east);
    cr_expect_eq(of_east.each(of_east.self, look, &seen, &why), STATUS_OK, "%s", why.text);
    cr_expect_str_eq(seen.text, "1:one:4 ");
    for (int i = 0; i < 3; i++) {
        char body[16];
        (void)snprintf(body, sizeof body, "more-%d", i);
        put(body);
        if (i != 1) {
            seen = (struct seen){.text = ""};
            cr_expect_eq(collection_follow(east, look, &seen, &why), STATUS_OK, "%s", why.text);
            cr_expect_str_eq(seen.text, i == 0 ? "2:more-0:4 " : "3:more-1:4 4:more-2:4 ");
        }
    }
    put("last");
    psql("ALTER TABLE hedgerow_record DISABLE TRIGGER stays;"
         "UPDATE hedgerow_record SET body = 'other' WHERE sequence = 5");
    seen = (struct seen){.text = ""};
    cr_expect_eq(collection_follow(east, look, &seen, &why), STATUS_CORRUPT);
    cr_expect_str_eq(seen.text, "");
    journal_close(&of_east);
}

Test(collection, every_part_is_shown_once, .init = setup_led, .fini = teardown)
{
    struct collection *east = NULL;
    struct collection *again = NULL;
    cr_assert_eq(open_as(&east, "east"), STATUS_OK, "%s", why.text);
    cr_assert_eq(open_as(&again, "east"), STATUS_OK, "%s", why.text);
    struct journal one = collection_journal(east);
    struct journal two = collection_journal(again);
    cr_expect_str_eq(parts(0, STATUS_OK).text, "");
    cr_expect_eq(hand_in(&one, "east", 0, 5), STATUS_OK);
    cr_expect_str_eq(parts(0, STATUS_OK).text, "0:east:5 ");
    cr_expect_eq(hand_in(&two, "east", 0, 6), STATUS_OK, "a further part, of the same name");
    cr_expect_eq(hand_in(&one, "east", 1, 7), STATUS_OK);
    cr_expect_str_eq(parts(0, STATUS_OK).text, "0:east:6 ");
    cr_expect_str_eq(parts(0, STATUS_OK).text, "", "it is shown once");
    struct shown own = {.text = ""};
    cr_expect_eq(collection_parts(again, 0, show, &own, &why), STATUS_OK);
    cr_expect_str_eq(own.text, "0:east:5 0:east:6 ", "a collector finds its own");
    cr_expect_str_eq(parts(1, STATUS_OK).text, "1:east:7 ");
    collection_close(lead);
    cr_assert_eq(open_as(&lead, ""), STATUS_OK, "%s", why.text);
    cr_expect_str_eq(parts(1, STATUS_OK).text, "1:east:7 ", "to a new one again");
    cr_expect_str_eq(parts(0, STATUS_OK).text, "", "those of closed rounds are gone");
    cr_expect_eq(collection_clear(lead, &why), STATUS_OK);
    own = (struct shown){.text = ""};
    cr_expect_eq(collection_parts(east, 1, show, &own, &why), STATUS_OK);
    cr_expect_str_eq(own.text, "", "all are gone when the job is over");
    journal_close(&one);
    journal_close(&two);
}

/* A collector that the leader does not name is not read, and is told so. */
Test(collection, nobody_else_collects, .init = setup_led, .fini = teardown)
{
    struct collection *north = NULL;
    cr_assert_eq(open_as(&north, "north"), STATUS_OK, "%s", why.text);
    struct journal of_north = collection_journal(north);
    cr_expect_eq(collection_tell(north, &(struct standing_of){.ready = 1}, &why), STATUS_REFUSED);
    cr_expect_not_null(strstr(why.text, "`collectors`"), "%s", why.text);
    cr_expect_eq(hand_in(&of_north, "north", 0, 5), STATUS_OK);
    cr_expect_str_eq(parts(0, STATUS_OK).text, "");
    journal_close(&of_north);
}

/* What could not be taken is shown again; what is damaged is shown without its sum. */
Test(collection, a_part_is_shown_until_it_is_taken, .init = setup_led, .fini = teardown)
{
    struct collection *east = NULL;
    struct shown shown = {.text = "", .ends = STATUS_NO_MEMORY};
    cr_assert_eq(open_as(&east, "east"), STATUS_OK, "%s", why.text);
    struct journal of_east = collection_journal(east);
    cr_expect_eq(hand_in(&of_east, "east", 2, 5), STATUS_OK);
    cr_expect_eq(collection_parts(lead, 2, show, &shown, &why), STATUS_NO_MEMORY);
    cr_expect_str_eq(parts(2, STATUS_OK).text, "2:east:5 ");
    cr_expect_eq(hand_in(&of_east, "east", 3, 5), STATUS_OK);
    psql("UPDATE hedgerow_partial SET blob = '12345678' WHERE round = 3");
    cr_expect_str_eq(parts(3, STATUS_OK).text, "3:east:-1 ");
    journal_close(&of_east);
}

Test(collection, each_says_how_it_stands, .init = setup_led, .fini = teardown)
{
    struct collection *east = NULL;
    struct standing_of is[COLLECTORS_MAX + 1];
    size_t count = 0;
    cr_assert_eq(open_as(&east, "east"), STATUS_OK, "%s", why.text);
    cr_expect_eq(collection_tell(lead, &(struct standing_of){.ready = 1, .open = 4}, &why),
                 STATUS_OK);
    cr_expect_eq(collection_tell(east, &(struct standing_of){.ready = 7}, &why), STATUS_OK);
    cr_expect_eq(collection_tell(east, &(struct standing_of){.ready = 8, .undecided = 3}, &why),
                 STATUS_OK);
    psql(
        "UPDATE hedgerow_standing SET ready = -1, undecided = -1, settled = 2, answers = 3, left_ms = 9000,"
        " heard = clock_timestamp() - interval '11 s' WHERE name = 'west'");
    cr_assert_eq(collection_ask(lead, is, &count, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(count, 3);
    cr_expect(is[0].peer.name[0] == '\0' && is[0].ready == 1 && is[0].open == 4 && is[0].present);
    cr_expect(strcmp(is[1].peer.name, "east") == 0 && is[1].ready == 8 && is[1].undecided == 3 &&
              is[1].present);
    cr_expect(strcmp(is[2].peer.name, "west") == 0 && is[2].ready == 0 && is[2].undecided == 0 &&
              !is[2].present && is[2].settled == 2 && is[2].answers == 3);
    cr_expect(is[2].left_ms < -2000 + 1 && is[2].left_ms > -60000, "time has passed since");
    collection_close(east);
}

/* The leader does not wait for a collector that is done with a job, until the collector says that
 * it is there again. */
Test(collection, one_that_is_through_is_present_no_longer, .init = setup_led, .fini = teardown)
{
    struct collection *east = NULL;
    struct standing_of is[COLLECTORS_MAX + 1];
    size_t count = 0;
    cr_assert_eq(open_as(&east, "east"), STATUS_OK, "%s", why.text);
    cr_expect_eq(collection_tell(east, &(struct standing_of){.ready = 7, .open = 2}, &why),
                 STATUS_OK);
    cr_expect_eq(collection_retire(east, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(collection_ask(lead, is, &count, &why), STATUS_OK, "%s", why.text);
    cr_expect(is[1].ready == 0 && is[1].open == 0 && !is[1].present);
    cr_expect_eq(collection_tell(east, &(struct standing_of){.ready = 6}, &why), STATUS_OK);
    cr_assert_eq(collection_ask(lead, is, &count, &why), STATUS_OK, "%s", why.text);
    cr_expect(is[1].ready == 6 && is[1].present);
    collection_close(east);
}

/* The row of the one that leads, as a collector reads it. */
static struct standing_of lead_row(struct collection *reader)
{
    struct standing_of is[COLLECTORS_MAX + 1];
    size_t count = 0;
    cr_assert_eq(collection_ask(reader, is, &count, &why), STATUS_OK, "%s", why.text);
    cr_assert(count > 0 && is[0].peer.name[0] == '\0');
    return is[0];
}

/* A coordinator that led was stopped, another one leads, and the first one wakes up. */
Test(collection, one_that_leads_no_more_writes_nothing, .init = setup_led, .fini = teardown)
{
    struct collection *east = NULL;
    struct collection *next = NULL;
    const struct standing_of old_stands = {.ready = 1, .open = 1};
    const struct standing_of stands = {.ready = 2, .open = 3};
    struct collection *old = lead;
    cr_assert_eq(open_as(&east, "east"), STATUS_OK, "%s", why.text);
    struct journal of_east = collection_journal(east);
    cr_assert_eq(collection_tell(old, &old_stands, &why), STATUS_OK, "%s", why.text);
    cr_expect_str_eq(parts(0, STATUS_OK).text, "");

    struct journal of_old = journal;
    psql("UPDATE hedgerow_lease SET until = '-infinity'");
    open_journal();
    cr_assert_eq(open_as(&next, ""), STATUS_OK, "%s", why.text);
    cr_assert_eq(collection_tell(next, &stands, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(hand_in(&of_east, "east", 2, 5), STATUS_OK);

    cr_expect_eq(collection_tell(old, &old_stands, &why), STATUS_BUSY);
    cr_expect_not_null(strstr(why.text, "another coordinator leads"), "%s", why.text);
    const struct standing_of row = lead_row(east);
    cr_expect(row.ready == 2 && row.open == 3, "the row of the one that leads was written over");
    cr_expect_str_eq(parts(9, STATUS_OK).text, "", "it deletes no part");
    cr_expect_eq(collection_clear(old, &why), STATUS_OK);
    lead = next;
    cr_expect_str_eq(parts(2, STATUS_OK).text, "2:east:5 ", "nor all of them");
    cr_expect_eq(collection_tell(east, &stands, &why), STATUS_OK, "a collector has no term");

    const struct journal led = journal;
    struct collection *again = NULL;
    journal = of_old;
    cr_expect_eq(open_as(&again, ""), STATUS_BUSY);
    journal = led;
    journal_close(&of_old);
    journal_close(&of_east);
    collection_close(old);
}

/* A session that takes the lead, and commits once a statement about how one stands waits for it. In vain it waits for a minute:
 * then it has changed nothing. */
static void begin_to_take_the_lead(void)
{
    static const char *const steps =
        "BEGIN; UPDATE hedgerow_lease SET term = term + 1, guard = term + 1;"
        " UPDATE hedgerow_standing SET open = 8 WHERE name = 'west';"
        " DO \\$\\$ BEGIN FOR i IN 1..6000 LOOP PERFORM pg_stat_clear_snapshot();"
        " IF EXISTS (SELECT 1 FROM pg_stat_activity WHERE query LIKE '%hedgerow_standing%'"
        " AND pg_backend_pid() = ANY (pg_blocking_pids(pid))) THEN RETURN; END IF;"
        " PERFORM pg_sleep(0.01); END LOOP; RAISE EXCEPTION 'nobody waits'; END \\$\\$; COMMIT";
    char line[2048];
    (void)snprintf(line, sizeof line,
                   "psql -q -v ON_ERROR_STOP=1 -d '%s' -c \"%s\" >/dev/null 2>&1 &", place, steps);
    cr_assert_eq(system(line), 0);
}

/* Returns whether a session has the lease's row. */
static bool lease_is_locked(void)
{
    char line[2048];
    (void)snprintf(line, sizeof line,
                   "test -z \"$(psql -qAt -v ON_ERROR_STOP=1 -d '%s' -c \"SELECT 1 FROM"
                   " hedgerow_lease FOR UPDATE SKIP LOCKED\" 2>&1)\"",
                   place);
    return system(line) == 0;
}

/* The old one has begun its statement and waits for the lease's row, which the next one is about to take. */
Test(collection, one_that_waits_while_another_takes_the_lead_writes_nothing, .init = setup_led,
     .fini = teardown)
{
    cr_assert_eq(collection_tell(lead, &(struct standing_of){.ready = 1, .open = 7}, &why),
                 STATUS_OK);
    cr_assert_not(lease_is_locked());
    begin_to_take_the_lead();
    for (int tries = 0; !lease_is_locked(); tries++) {
        cr_assert_lt(tries, 600);
        (void)poll(NULL, 0, 10);
    }
    cr_expect_eq(collection_tell(lead, &(struct standing_of){.ready = 1, .open = 1}, &why),
                 STATUS_BUSY, "%s", why.text);
    cr_expect_eq(lead_row(lead).open, 7);
}
