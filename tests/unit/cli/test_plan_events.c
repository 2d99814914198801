/* The events file of `hedgerow plan`: what is left out, what is refused and with which words. */

#include "cli/plan_events.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static enum status read_text(struct plan_events *events, const char *text, struct why *why)
{
    return plan_events_parse(events, (struct slice){text, strlen(text)}, "F", why);
}

Test(plan_events, left_out_fields_have_their_stated_values)
{
    struct plan_events events;
    struct why why = {""};
    cr_assert(read_text(&events, "{\"events\": [{\"mechanism\": \"laplace\", \"scale\": 20}]}",
                        &why) == STATUS_OK,
              "%s", why.text);
    cr_assert(events.count == 1 && events.event[0].mechanism == MECHANISM_LAPLACE);
    cr_assert(events.event[0].parameter == 20 && events.event[0].sensitivity == 1);
    cr_assert(events.event[0].count == 1 && events.event[0].sampling == 1);
    cr_assert(events.event[0].delta == 0);
    cr_assert(events.event[0].neighbours == NEIGHBOURS_REPLACE_ONE);
    plan_events_free(&events);
    cr_assert(events.event == NULL && events.count == 0);
}

Test(plan_events, every_field_of_every_mechanism_arrives)
{
    static const char *const text =
        "{\"events\": ["
        "{\"mechanism\": \"pure\", \"epsilon\": 0.5, \"count\": 1e3, \"delta\": 1e-9},"
        "{\"mechanism\": \"laplace\", \"scale\": 1e2, \"sampling\": 0.25},"
        "{\"mechanism\": \"discrete_laplace\", \"scale\": 3, \"sensitivity\": 4.0},"
        "{\"mechanism\": \"gaussian\", \"sigma\": 2.5, \"count\": 9007199254740992},"
        "{\"mechanism\": \"discrete_gaussian\", \"sigma\": 7, \"count\": 0},"
        "{\"neighbours\": \"add-remove\", \"epsilon\": 1, \"mechanism\": \"exponential\"}]}";
    struct plan_events events;
    struct why why = {""};
    cr_assert(read_text(&events, text, &why) == STATUS_OK, "%s", why.text);
    cr_assert(events.count == MECHANISM_COUNT);
    const struct privacy_event *event = events.event;
    for (unsigned i = 0; i < MECHANISM_COUNT; i++) {
        cr_assert(event[i].mechanism == (enum mechanism)i);
    }
    cr_assert(event[0].parameter == 0.5 && event[0].count == 1000 && event[0].delta == 1e-9);
    cr_assert(event[1].parameter == 100 && event[1].sampling == 0.25);
    cr_assert(event[2].parameter == 3 && event[2].sensitivity == 4);
    cr_assert(event[3].parameter == 2.5 && event[3].count == UINT64_C(1) << 53);
    cr_assert(event[4].parameter == 7 && event[4].count == 0);
    cr_assert(event[5].parameter == 1 && event[5].neighbours == NEIGHBOURS_ADD_REMOVE);
    plan_events_free(&events);
}

#define EVENTS(list)   "{\"events\": [" list "]}"
#define GOOD           "{\"mechanism\": \"laplace\", \"scale\": 1}"
#define SECOND(fields) EVENTS(GOOD ", {\"mechanism\": \"laplace\", " fields "}")

static const struct {
    const char *text;
    const char *sentence; /* what the message must hold */
} refused[] = {
    {"", "F: line 1, column 0: not JSON"},
    {"events", "not JSON"},
    {"[]", "F: must be {\"events\": [...]}"},
    {"{}", "F: must be {\"events\": [...]}"},
    {"3", "F: line 1, column 1: not JSON"},
    {"{\"events\": {}}", "F: must be {\"events\": [...]}"},
    {"{\"events\": null}", "F: must be {\"events\": [...]}"},
    {"{\"events\": [" GOOD "], \"delta\": 0}", "nothing beside \"events\""},
    {"{\"events\": [" GOOD "]} x", "F: line 1, column 52: not JSON"},
    {"{\"events\": [" GOOD "], \"events\": [" GOOD "]}", "given twice"},
    {EVENTS(""), "\"events\" has 0 events"},
    {EVENTS(GOOD ","), "not JSON"},
    {EVENTS(GOOD ", 7"), "F: event 2: must be an object"},
    {EVENTS(GOOD ", null"), "F: event 2: must be an object"},
    {EVENTS("{}"), "F: event 1: \"mechanism\" is missing: it must be laplace, discrete_laplace"},
    {EVENTS("{\"mechanism\": 3}"), "F: event 1: \"mechanism\" must be laplace, discrete_laplace"},
    {EVENTS("{\"mechanism\": \"Laplace\", \"scale\": 1}"), "\"mechanism\" must be laplace"},
    {EVENTS("{\"mechanism\": \"permute_and_flip\", \"epsilon\": 1}"), "exponential or pure"},
    {SECOND("\"sigma\": 1"), "F: event 2: \"sigma\" does not belong to laplace: give \"scale\""},
    {SECOND("\"scale\": 1, \"epsilon\": 1"),
     "F: event 2: \"epsilon\" does not belong to laplace: give \"scale\""},
    {SECOND("\"count\": 1"), "F: event 2: \"scale\" is missing: laplace needs it"},
    {SECOND("\"scale\": \"1\""), "F: event 2: \"scale\" must be a number, without quotes"},
    {SECOND("\"scale\": true"), "F: event 2: \"scale\" must be a number, without quotes"},
    {SECOND("\"scale\": null"), "F: event 2: \"scale\" must be a number, without quotes"},
    {SECOND("\"scale\": 0"), "F: event 2: scale must be a finite number above 0"},
    {SECOND("\"scale\": -1"), "F: event 2: scale must be a finite number above 0"},
    {SECOND("\"scale\": NaN"), "not JSON: numbers as"},
    {SECOND("\"scale\": Infinity"), "not JSON: numbers as"},
    {SECOND("\"scale\": 1e999"), "a number is too large"},
    {SECOND("\"scale\": 1,5"), "not JSON"},
    {SECOND("\"scale\": 0x10"), "not JSON"},
    {SECOND("\"scale\": 1, \"scale\": 2"), "F: line 1, column 94: a field is given twice"},
    {SECOND("\"scale\": 1, \"scales\": 2"),
     "F: event 2: \"scales\" is no field of an event; the fields are mechanism, scale"},
    {SECOND("\"scale\": 1, \"\\u001b[2J\": 2"), "\"(a name that cannot be shown)\" is no field"},
    {SECOND("\"scale\": 1, \"\": 2"), "\"(a name that cannot be shown)\" is no field"},
    {SECOND("\"scale\": 1, \"a\\u0000b\": 2"), "not JSON"},
    {SECOND("\"scale\": 1, \"count\": -1"), "F: event 2: \"count\" must be a whole number from 0"},
    {SECOND("\"scale\": 1, \"count\": 1.5"), "\"count\" must be a whole number from 0 to 2^53"},
    {SECOND("\"scale\": 1, \"count\": \"10\""), "\"count\" must be a whole number"},
    {SECOND("\"scale\": 1, \"count\": 9007199254740993"), "\"count\" must be a whole number"},
    {SECOND("\"scale\": 1, \"count\": 1e300"), "\"count\" must be a whole number"},
    {SECOND("\"scale\": 1, \"count\": 99999999999999999999"), "a number is too large"},
    {SECOND("\"scale\": 1, \"count\": false"), "\"count\" must be a whole number"},
    {SECOND("\"scale\": 1, \"sampling\": 0"), "F: event 2: sampling must be above 0 and at most 1"},
    {SECOND("\"scale\": 1, \"sampling\": 1.01"), "F: event 2: sampling must be above 0"},
    {SECOND("\"scale\": 1, \"sampling\": []"), "F: event 2: \"sampling\" must be a number"},
    {SECOND("\"scale\": 1, \"delta\": 1"), "F: event 2: delta must be at least 0 and below 1"},
    {SECOND("\"scale\": 1, \"delta\": -1e-9"), "F: event 2: delta must be at least 0"},
    {SECOND("\"scale\": 1, \"sensitivity\": 0"), "F: event 2: sensitivity must be a finite"},
    {SECOND("\"scale\": 1, \"sensitivity\": {}"), "F: event 2: \"sensitivity\" must be a number"},
    {SECOND("\"scale\": 1, \"neighbours\": \"replace\""),
     "F: event 2: \"neighbours\" must be replace-one or add-remove, in quotes"},
    {SECOND("\"scale\": 1, \"neighbours\": 1"), "F: event 2: \"neighbours\" must be replace-one"},
    {EVENTS("{\"mechanism\": \"discrete_laplace\", \"scale\": 1, \"sensitivity\": 1.5}"),
     "F: event 1: sensitivity must be a whole number for discrete noise"},
    {EVENTS("{\"mechanism\": \"pure\", \"epsilon\": 1, \"sensitivity\": 2}"),
     "F: event 1: sensitivity must be 1, or left out, where epsilon is given"},
    {EVENTS("{\"mechanism\": \"gaussian\", \"scale\": 1}"),
     "F: event 1: \"scale\" does not belong to gaussian: give \"sigma\""},
    {EVENTS("{\"mechanism\": \"laplace\", \"scale\": 1, \"x\": \"\xff\"}"), "not UTF-8 text"},
};

Test(plan_events, what_is_wrong_is_named_with_its_place_and_its_remedy)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct plan_events events;
        struct why why = {""};
        cr_expect(read_text(&events, refused[i].text, &why) == STATUS_INVALID, "accepted: %s",
                  refused[i].text);
        cr_expect(strstr(why.text, refused[i].sentence) != NULL, "%s\n  said: %s\n  not: %s",
                  refused[i].text, why.text, refused[i].sentence);
        cr_expect(strncmp(why.text, "F: ", 3) == 0, "the file is not named: %s", why.text);
        cr_expect(strchr(why.text, '\x1b') == NULL);
        cr_expect(events.event == NULL && events.count == 0);
        plan_events_free(&events);
    }
}

Test(plan_events, two_halves_of_a_file_are_not_a_file)
{
    static const char text[] = EVENTS(GOOD);
    for (size_t size = 0; size < sizeof text - 1; size++) {
        struct plan_events events;
        cr_expect(plan_events_parse(&events, (struct slice){text, size}, "F", NULL) ==
                  STATUS_INVALID);
    }
}

/* Writes `head`, `count` times `item` with commas between, `tail`; the caller frees it. */
static char *repeated(const char *head, const char *item, size_t count, const char *tail)
{
    char *text = calloc(strlen(head) + count * (strlen(item) + 1) + strlen(tail) + 1, 1);
    cr_assert(text != NULL);
    char *at = text + strlen(head);
    memcpy(text, head, strlen(head));
    for (size_t i = 0; i < count; i++) {
        memcpy(at, item, strlen(item));
        at += strlen(item);
        *at++ = i + 1 < count ? ',' : ' ';
    }
    memcpy(at, tail, strlen(tail));
    return text;
}

Test(plan_events, as_many_events_as_promised_are_read_and_one_more_is_refused)
{
    struct plan_events events;
    struct why why = {""};
    char *most = repeated("{\"events\": [", GOOD, PLAN_EVENTS_MAX, "]}");
    cr_assert(read_text(&events, most, &why) == STATUS_OK, "%s", why.text);
    cr_assert(events.count == PLAN_EVENTS_MAX && events.event[PLAN_EVENTS_MAX - 1].parameter == 1);
    plan_events_free(&events);
    free(most);
    char *more = repeated("{\"events\": [", GOOD, PLAN_EVENTS_MAX + 1, "]}");
    cr_assert(read_text(&events, more, &why) == STATUS_INVALID);
    cr_assert(strstr(why.text, "F: more than 100000 events") != NULL, "%s", why.text);
    cr_assert(strstr(why.text, "\"count\"") != NULL);
    free(more);
    char *others = repeated("{\"events\": [", "1", PLAN_EVENTS_MAX + 1, "]}");
    cr_assert(read_text(&events, others, &why) == STATUS_INVALID);
    cr_assert(strstr(why.text, "has 100001 events: write 1 to 100000") != NULL, "%s", why.text);
    free(others);
}

/* Without a bound on what the text holds, a file within its size would cost gigabytes as a tree. */
Test(plan_events, a_file_of_nothing_but_lists_is_refused_before_it_becomes_a_tree)
{
    static const char *const item[] = {"{}", "[]", "1"};
    for (size_t i = 0; i < sizeof item / sizeof item[0]; i++) {
        struct plan_events events;
        struct why why = {""};
        char *text = repeated("{\"events\": [", item[i], 4000000, "]}");
        cr_assert(read_text(&events, text, &why) == STATUS_INVALID);
        cr_assert(strstr(why.text, "more than 100000 events") != NULL, "%s", why.text);
        free(text);
    }
}

Test(plan_events, a_file_that_is_too_large_is_refused)
{
    struct plan_events events;
    struct why why = {""};
    char *text = calloc(PLAN_EVENTS_BYTES_MAX + 1, 1);
    cr_assert(text != NULL);
    memset(text, ' ', PLAN_EVENTS_BYTES_MAX + 1);
    cr_assert(plan_events_parse(&events, (struct slice){text, PLAN_EVENTS_BYTES_MAX + 1}, "F",
                                &why) == STATUS_INVALID);
    cr_assert(strstr(why.text, "larger than 16000000 bytes") != NULL, "%s", why.text);
    free(text);
}
