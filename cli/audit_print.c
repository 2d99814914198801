#include "cli/audit.h"
#include "cli/json_print.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { BAR = 26 };

static const char *const kinds[] = {
    [AUDIT_AT_LEAST] = "at-least", [AUDIT_AT_MOST] = "at-most", [AUDIT_AMONG] = "among"};

bool audit_holds(const struct audit_finding *finding)
{
    return finding->result.epsilon <= finding->claimed;
}

static double ratio_of(const struct audit_finding *finding)
{
    return finding->result.epsilon / finding->claimed;
}

static uint64_t tallest(const struct audit_histogram *histogram)
{
    uint64_t most = 1;
    for (unsigned side = 0; side < 2; side++) {
        for (size_t bin = 0; bin < AUDIT_BINS; bin++) {
            uint64_t now = histogram->count[side][bin];
            most = now > most ? now : most;
        }
    }
    return most;
}

/* A bar that is never empty when something was counted. */
static void bar(uint64_t count, uint64_t most, bool to_the_left)
{
    int length = (int)((count * BAR + most / 2) / most);
    length = count > 0 && length == 0 ? 1 : length;
    if (to_the_left) {
        (void)printf("%*s", BAR - length, "");
    }
    for (int i = 0; i < length; i++) {
        (void)putchar('#');
    }
}

/* Both distributions back to back: x grows to the left of the scores, x' to the right. Empty bins
 * at either end are not shown. */
static void draw(const struct audit_histogram *histogram)
{
    uint64_t most = tallest(histogram);
    size_t last = AUDIT_BINS - 1;
    while (last > 0 && histogram->count[0][last] + histogram->count[1][last] == 0) {
        last--;
    }
    (void)printf("\n  %*s  %9s  %s\n", BAR, "answers under x", "from", "answers under x'");
    for (size_t bin = 0; bin <= last; bin++) {
        int64_t from = (int64_t)((uint64_t)histogram->first + bin * histogram->width);
        (void)printf("  ");
        bar(histogram->count[0][bin], most, true);
        (void)printf("  %9" PRId64 "  ", from);
        bar(histogram->count[1][bin], most, false);
        (void)printf("\n");
    }
    (void)printf("  The first and the last line hold what lies beyond them, too.\n");
}

static void tell_event(const struct audit_finding *finding)
{
    const struct audit_event *event = &finding->result.event[finding->result.best];
    if (finding->result.epsilon <= 0) {
        (void)printf("shown by   no event at all: these runs tell nothing\n");
        return;
    }
    (void)printf("shown by   ");
    if (event->kind == AUDIT_AMONG) {
        (void)printf("one of %" PRId64 " scores", event->threshold);
    } else {
        (void)printf("score %s %" PRId64, event->kind == AUDIT_AT_LEAST ? "at least" : "at most",
                     event->threshold);
    }
    (void)printf(": %" PRIu64 " runs under x, %" PRIu64 " under x', of %" PRIu64 " each\n",
                 event->hits[0], event->hits[1], finding->result.trials);
}

enum status audit_print_text(const struct audit_finding *finding, size_t count,
                             const struct audit_request *request)
{
    if (request->subject == NULL) {
        (void)printf("%-18s %9s %9s %7s  %s\n", "mechanism", "claimed", "audited", "ratio", "");
        for (size_t i = 0; i < count; i++) {
            (void)printf("%-18s %9.6f %9.6f %7.3f  %s\n", finding[i].subject->name,
                         finding[i].claimed, finding[i].result.epsilon, ratio_of(&finding[i]),
                         !audit_holds(&finding[i])   ? "LOSES MORE THAN IT CLAIMS"
                         : finding[i].subject->tight ? "holds"
                                                     : "holds; this pair cannot show all");
        }
        return STATUS_OK;
    }
    for (size_t i = 0; i < count; i++) {
        (void)printf("mechanism  %s: %s\npair       %s\n", finding[i].subject->name,
                     finding[i].subject->summary, finding[i].subject->worst);
        (void)printf("claimed    epsilon %.6g", finding[i].claimed);
        if (finding[i].delta > 0) {
            (void)printf(" at delta %g", finding[i].delta);
        }
        (void)printf("\naudited    epsilon at least %.6g, with confidence 1 - %g\n",
                     finding[i].result.epsilon, AUDIT_MISS);
        (void)printf("ratio      %.3f%s\n", ratio_of(&finding[i]),
                     audit_holds(&finding[i]) ? "" : "  LOSES MORE THAN IT CLAIMS");
        tell_event(&finding[i]);
        draw(&finding[i].result.histogram);
    }
    return STATUS_OK;
}

static json_t *counts(const uint64_t *count)
{
    json_t *array = json_array();
    for (size_t bin = 0; bin < AUDIT_BINS && array != NULL; bin++) {
        if (json_array_append_new(array, json_integer((json_int_t)count[bin])) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return array;
}

static json_t *one(const struct audit_finding *finding, const struct audit_request *request)
{
    const struct audit_event *event = &finding->result.event[finding->result.best];
    const struct audit_histogram *histogram = &finding->result.histogram;
    return json_pack(
        "{s:s, s:f, s:f, s:f, s:f, s:f, s:b, s:b, s:I, s:I, "
        "s:{s:s, s:i, s:I, s:[I, I], s:I}, s:{s:I, s:I, s:[o, o]}}",
        "mechanism", finding->subject->name, "claimed", finding->claimed, "audited",
        finding->result.epsilon, "ratio", ratio_of(finding), "delta", finding->delta, "confidence",
        1 - AUDIT_MISS, "holds", (int)audit_holds(finding), "tight", (int)finding->subject->tight,
        "sensitivity", (json_int_t)request->setting.sensitivity, "samples",
        (json_int_t)request->samples, "event", "kind", kinds[event->kind], "side", (int)event->side,
        "threshold", (json_int_t)event->threshold, "hits", (json_int_t)event->hits[0],
        (json_int_t)event->hits[1], "trials", (json_int_t)finding->result.trials, "histogram",
        "first", (json_int_t)histogram->first, "width", (json_int_t)histogram->width, "counts",
        counts(histogram->count[0]), counts(histogram->count[1]));
}

enum status audit_print_json(const struct audit_finding *finding, size_t count,
                             const struct audit_request *request)
{
    json_t *audits = json_array();
    for (size_t i = 0; i < count && audits != NULL; i++) {
        if (json_array_append_new(audits, one(&finding[i], request)) != 0) {
            json_decref(audits);
            audits = NULL;
        }
    }
    json_t *object = audits == NULL ? NULL : json_pack("{s:o}", "audits", audits);
    return json_print(object);
}
