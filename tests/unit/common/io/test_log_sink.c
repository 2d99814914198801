#include "io/clock.h"
#include "io/log_sink.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What came out of a pipe that a log wrote to. */
static const char *written(int descriptor)
{
    static char text[65536];
    ssize_t got = read(descriptor, text, sizeof text - 1);
    text[got > 0 ? got : 0] = '\0';
    return text;
}

static void open_pipe(int ends[2])
{
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
}

Test(log_sink, what_is_not_a_terminal_gets_json_lines)
{
    int ends[2];
    struct log_sink sink;
    open_pipe(ends);
    struct log log = log_sink_init(&sink, ends[1], LOG_FORMAT_AUTO, LOG_INFO);
    log_event(&log, LOG_WARN, "offer-refused", "hospital-1", "a \"quoted\" \\ word");
    const char *text = written(ends[0]);
    cr_expect_not_null(strstr(text,
                              "\"level\":\"warning\",\"event\":\"offer-refused\","
                              "\"peer\":\"hospital-1\",\"text\":\"a \\\"quoted\\\" \\\\ word\"}\n"),
                       "%s", text);
    cr_expect_eq(strncmp(text, "{\"time\":\"20", 11), 0, "%s", text);
}

Test(log_sink, a_hostile_name_cannot_forge_a_line_or_break_the_json)
{
    int ends[2];
    struct log_sink sink;
    open_pipe(ends);
    struct log log = log_sink_init(&sink, ends[1], LOG_FORMAT_JSON, LOG_INFO);
    log_event(&log, LOG_INFO, "x", "a\nb\"}\x1b\xff\xc3", "t\r\n\xed\xa0\x80z\xc3\xa9");
    const char *text = written(ends[0]);
    cr_expect_eq(strchr(text, '\n'), text + strlen(text) - 1, "%s", text);
    cr_expect_not_null(strstr(text, "\"a?b\\\"}?\\ufffd\\ufffd\""), "%s", text);
    cr_expect_not_null(strstr(text, "\\ufffd\\ufffd\\ufffdz\xc3\xa9\"}"), "%s", text);

    log = log_sink_init(&sink, ends[1], LOG_FORMAT_TEXT, LOG_INFO);
    log_event(&log, LOG_INFO, "x", "a\nb", "t\x1b[2Jz");
    text = written(ends[0]);
    cr_expect_eq(strchr(text, '\n'), text + strlen(text) - 1, "%s", text);
    cr_expect_not_null(strstr(text, " info a?b: t?[2Jz\n"), "%s", text);
}

Test(log_sink, the_longest_entry_stays_one_whole_object)
{
    int ends[2];
    struct log_sink sink;
    char text[2000];
    open_pipe(ends);
    memset(text, 0xff, sizeof text - 1); /* each becomes six bytes */
    text[sizeof text - 1] = '\0';
    struct log log = log_sink_init(&sink, ends[1], LOG_FORMAT_JSON, LOG_INFO);
    log_event(&log, LOG_INFO, "x", NULL, "%s", text);
    const char *line = written(ends[0]);
    size_t size = strlen(line);
    cr_expect(size > 6000 && strcmp(line + size - 3, "\"}\n") == 0);
}

Test(log_sink, fields_are_members_of_the_json_and_a_terminal_shows_none)
{
    int ends[2];
    struct log_sink sink;
    char longest[200];
    open_pipe(ends);
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    const struct log_field field[] = {{.name = "round", .number = 3},
                                      {.name = "epsilon", .number = 0.034567},
                                      {.name = "model", .text = "a \"b\"\n\xff"},
                                      {.name = "loss", .number = NAN},
                                      {.name = "long", .text = longest}};
    const size_t count = sizeof field / sizeof field[0];
    struct log log = log_sink_init(&sink, ends[1], LOG_FORMAT_JSON, LOG_INFO);
    log_event_fields(&log, LOG_INFO, "round-closed", field, count - 1, "text %d", 1);
    const char *text = written(ends[0]);
    cr_expect_not_null(
        strstr(text, "\"event\":\"round-closed\",\"round\":3,\"epsilon\":0.034567,"
                     "\"model\":\"a \\\"b\\\"?\\ufffd\",\"loss\":null,\"text\":\"text 1\"}\n"),
        "%s", text);

    log_event_fields(&log, LOG_INFO, "round-closed", field, count, "text");
    text = written(ends[0]);
    cr_expect_not_null(strstr(text, "x\",\"text\":\"text\"}\n"), "%s", text);

    log_event_fields(&log, LOG_DEBUG, "x", field, count, "unheard");
    cr_expect_str_empty(written(ends[0]));

    log = log_sink_init(&sink, ends[1], LOG_FORMAT_TEXT, LOG_INFO);
    log_event_fields(&log, LOG_INFO, "round-closed", field, count, "text");
    text = written(ends[0]);
    cr_expect_not_null(strstr(text, " info text\n"), "%s", text);
}

Test(log_sink, entries_below_the_level_are_dropped)
{
    int ends[2];
    struct log_sink sink;
    open_pipe(ends);
    struct log log = log_sink_init(&sink, ends[1], LOG_FORMAT_JSON, LOG_WARN);
    log_event(&log, LOG_INFO, "x", NULL, "quiet");
    cr_expect_str_empty(written(ends[0]));
}

/* Counts entries and remembers the last. */
struct counted {
    unsigned count;
    char last[256];
};

static void count_entry(void *self, const struct log_entry *entry)
{
    struct counted *counted = self;
    counted->count++;
    snprintf(counted->last, sizeof counted->last, "%s", entry->text);
}

Test(log_rate, one_line_per_peer_and_period_then_the_count)
{
    struct counted counted = {0};
    struct log log = {.write = count_entry, .self = &counted, .level = LOG_DEBUG};
    static struct log_rate rate;
    log_rate_init(&rate, &log, 1000);
    for (int i = 0; i < 50; i++) {
        log_rate_event(&rate, 100 + i, LOG_WARN, "flood", "10.0.0.1", "text");
    }
    cr_expect_eq(counted.count, 1);
    log_rate_event(&rate, 200, LOG_WARN, "flood", "10.0.0.2", "text");
    cr_expect_eq(counted.count, 2);
    log_rate_flush(&rate, 1099);
    cr_expect_eq(counted.count, 2);
    log_rate_flush(&rate, 1100);
    cr_expect_eq(counted.count, 3);
    cr_expect_not_null(strstr(counted.last, "49 more times"), "%s", counted.last);
}

Test(log_rate, a_million_addresses_do_not_make_a_million_lines)
{
    struct counted counted = {0};
    struct log log = {.write = count_entry, .self = &counted, .level = LOG_DEBUG};
    static struct log_rate rate;
    char peer[32];
    log_rate_init(&rate, &log, 1000);
    for (unsigned i = 0; i < 100000; i++) {
        snprintf(peer, sizeof peer, "10.%u.%u.%u", i >> 16, i >> 8 & 255, i & 255);
        log_rate_event(&rate, 1, LOG_WARN, "stranger", peer, "text");
    }
    cr_expect_leq(counted.count, LOG_RATE_ROOM);
    log_rate_flush(&rate, 5000);
    cr_expect_not_null(strstr(counted.last, "more times"), "%s", counted.last);
}

/* Writes count entries of one event at one moment. */
static void flood(struct log_limit *limit, int64_t now_ms, const char *event, enum log_level level,
                  unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        log_limit_write(limit, now_ms,
                        &(struct log_entry){.level = level, .event = event, .text = "text"});
    }
}

Test(log_limit, every_level_has_a_burst_and_then_a_line_a_second)
{
    static const enum log_level level[] = {LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR};
    for (size_t i = 0; i < sizeof level / sizeof level[0]; i++) {
        struct counted counted = {0};
        struct log log = {.write = count_entry, .self = &counted, .level = LOG_DEBUG};
        static struct log_limit limit;
        log_limit_init(&limit, &log);
        flood(&limit, 1000, "job-offered", level[i], 1000000);
        cr_expect_eq(counted.count, LOG_LIMIT_BURST);
        for (int64_t second = 2; second <= 31; second++) {
            flood(&limit, 1000 * second, "job-offered", level[i], 35000);
        }
        cr_expect_eq(counted.count, LOG_LIMIT_BURST + 30);
        flood(&limit, 31000, "round-closed", level[i], 10); /* another event has its own part */
        cr_expect_eq(counted.count, LOG_LIMIT_BURST + 40);
        flood(&limit, 61000, "round-closed", level[i], 1); /* and with it the count of the first */
        cr_expect_eq(counted.count, LOG_LIMIT_BURST + 42);
        cr_expect_str_eq(counted.last,
                         "2045874 lines of job-offered were left out: at most 4096 of one "
                         "event are written at once, and 1 a second after that");
        log_limit_flush(&limit, 62000);
        cr_expect_eq(counted.count, LOG_LIMIT_BURST + 42, "it is told once");
    }
}

Test(log_limit, a_day_of_35000_lines_a_second_is_bounded_and_the_count_is_whole)
{
    enum { SECONDS = 86400, A_SECOND = 40, FIRST = 1000000 };
    struct counted counted = {0};
    struct log log = {.write = count_entry, .self = &counted, .level = LOG_DEBUG};
    static struct log_limit limit;
    log_limit_init(&limit, &log);
    flood(&limit, 1000, "job-offered", LOG_INFO, FIRST);
    for (int64_t second = 2; second <= SECONDS; second++) {
        flood(&limit, 1000 * second, "job-offered", LOG_INFO, A_SECOND);
    }
    /* A line a second, a count a minute, and the burst. */
    cr_expect_leq(counted.count, LOG_LIMIT_BURST + SECONDS + SECONDS / 60);
}

Test(log_limit, more_kinds_of_events_than_there_is_room_for_share_the_last)
{
    static char name[2 * LOG_LIMIT_EVENTS][16];
    struct counted counted = {0};
    struct log log = {.write = count_entry, .self = &counted, .level = LOG_DEBUG};
    static struct log_limit limit;
    log_limit_init(&limit, &log);
    for (size_t i = 0; i < 2 * LOG_LIMIT_EVENTS; i++) {
        snprintf(name[i], sizeof name[i], "event-%zu", i);
        flood(&limit, 1000, name[i], LOG_INFO, LOG_LIMIT_BURST);
    }
    cr_expect_eq(counted.count, LOG_LIMIT_EVENTS * LOG_LIMIT_BURST);
}

Test(clock, time_is_written_as_iso_8601)
{
    char text[CLOCK_TEXT_BYTES];
    clock_text(text, INT64_C(1795178993123));
    cr_expect_str_eq(text, "2026-11-20T12:49:53.123Z");
    clock_text(text, -1);
    cr_expect_str_eq(text, "1969-12-31T23:59:59.999Z");
    clock_text(text, INT64_MAX);
    cr_expect_str_eq(text, "unknown");
    int64_t before = clock_now_ms();
    cr_expect_geq(clock_now_ms(), before);
}
