#include "base/decimal.h"
#include "base/near.h"
#include "base/text.h"
#include "cli/command.h"
#include "config/options.h"
#include "crypto/random.h"
#include "dp/charge.h"
#include "lab/audit/subject.h"
#include "json/json_text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES_DEFAULT = 1000000, SENSITIVITY_DEFAULT = 1024, MANY = 32, PERCENT = 100 };

struct audit_request {
    const struct audit_subject *subject; /* NULL: all */
    struct audit_setting setting;
    uint64_t samples;
    bool json;
};

struct audit_finding {
    const struct audit_subject *subject;
    double claimed;
    double delta;
    struct audit_result result;
};

/* One line on a terminal that is written over, and wiped at the end. */
struct progress {
    const char *name;
    uint64_t shown; /* percent + 1 */
};

static void show(void *self, uint64_t done, uint64_t all)
{
    struct progress *progress = self;
    uint64_t percent = done * PERCENT / all;
    if (percent + 1 != progress->shown) {
        progress->shown = percent + 1;
        (void)fprintf(stderr, done < all ? "\r%s: %" PRIu64 " %%" : "\r%s: %" PRIu64 " %%\r\033[K",
                      progress->name, percent);
        (void)fflush(stderr);
    }
}

static enum status audit_one(struct audit_finding *finding, const struct audit_subject *subject,
                             const struct audit_request *request, const struct random *random,
                             struct why *why)
{
    struct audit_setting setting = request->setting;
    struct progress progress = {.name = subject->name};
    struct audit_options options = {.samples = request->samples, .miss = AUDIT_MISS};
    struct audit_harness *harness = NULL;

    setting.direct = !subject->paid;
    enum status status = audit_harness_new(&harness, subject, &setting, why);
    if (status == STATUS_OK) {
        struct audit_source source = audit_harness_source(harness);
        options.delta = audit_harness_delta(harness);
        if (isatty(STDERR_FILENO)) {
            options.progress = show;
            options.progress_self = &progress;
        }
        *finding = (struct audit_finding){
            .subject = subject, .claimed = audit_harness_epsilon(harness), .delta = options.delta};
        status = audit_run(&finding->result, &source, random, &options);
    }
    audit_harness_free(harness);
    return status;
}

/* Audits the one that was asked for, or all that run at this setting; finding (MANY). */
static enum status audit_each(struct audit_finding *finding, size_t *count,
                              const struct audit_request *request, struct why *why)
{
    struct random_source *source = random_source_new();
    enum status status = source == NULL ? STATUS_NO_RANDOM : STATUS_OK;
    *count = 0;
    if (status == STATUS_OK) {
        struct random random = random_source_interface(source);
        const struct audit_subject *subject;
        for (size_t i = 0;
             (subject = audit_subject_at(i)) != NULL && *count < MANY && status == STATUS_OK; i++) {
            if (request->subject != NULL && subject != request->subject) {
                continue;
            }
            status = audit_one(&finding[*count], subject, request, &random, why);
            if (status == STATUS_INVALID && request->subject == NULL) {
                (void)fprintf(stderr, "hedgerow audit: %s is left out: %s\n", subject->name,
                              why->text);
                status = STATUS_OK;
                continue;
            }
            *count += status == STATUS_OK;
        }
    }
    random_source_free(source);
    return status;
}

static enum status names(const struct audit_subject **subject, const char *name, struct why *why)
{
    char list[WHY_BYTES / 2] = "";
    char hint[NEAR_HINT_BYTES];
    struct near near = near_to((struct slice){name, strlen(name)});
    *subject = audit_subject_named(name);
    if (*subject != NULL || strcmp(name, "all") == 0) {
        return STATUS_OK;
    }
    for (size_t i = 0; audit_subject_at(i) != NULL; i++) {
        text_add(list, sizeof list, "%s, ", audit_subject_at(i)->name);
        near_offer(&near, audit_subject_at(i)->name);
    }
    return why_refuse(why, "there is no mechanism \"%s\"; there are %sand all%s", name, list,
                      near_hint(hint, &near));
}

/* Reads the command line into request; what is wrong with it is a matter of usage. */
static enum status read_request(struct audit_request *request, int count, char **argument,
                                struct why *why)
{
    const char *name = NULL;
    const char *epsilon = "1";
    const char *delta = "0.01";
    bool exact = true;
    const struct option option[] = {
        {.text = &name, .required = true, .what = "MECHANISM"},
        {.name = "--epsilon", .text = &epsilon, .what = "E"},
        {.name = "--delta", .text = &delta, .what = "D"},
        {COMMAND_NUMBER("--sensitivity", &request->setting.sensitivity, 1, UINT64_C(1) << 40, "S")},
        {COMMAND_NUMBER("--samples", &request->samples, AUDIT_SAMPLES_MIN, AUDIT_SAMPLES_MAX, "N")},
        {.name = "--json", .flag = &request->json}};

    request->setting.sensitivity = SENSITIVITY_DEFAULT;
    request->samples = SAMPLES_DEFAULT;
    enum status status = options_read(OPTIONS(option), count, argument, why);
    if (status == STATUS_OK) {
        status = names(&request->subject, name, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (decimal_fixed(&request->setting.epsilon_micro, &exact, epsilon, EPSILON_DECIMALS) !=
            STATUS_OK ||
        request->setting.epsilon_micro == 0 || !exact) {
        return why_refuse(why, "--epsilon wants a number above 0 with up to 6 decimals, like 0.5");
    }
    if (decimal_double(&request->setting.delta, delta) != STATUS_OK ||
        !(request->setting.delta > 0 && request->setting.delta < 1)) {
        return why_refuse(why, "--delta wants a number above 0 and below 1, like 0.01");
    }
    return STATUS_OK;
}

enum { BAR = 26 };

static const char *const kinds[] = {
    [AUDIT_AT_LEAST] = "at-least", [AUDIT_AT_MOST] = "at-most", [AUDIT_AMONG] = "among"};

static bool holds(const struct audit_finding *finding)
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

static enum status print_text(const struct audit_finding *finding, size_t count,
                              const struct audit_request *request)
{
    if (request->subject == NULL) {
        (void)printf("%-18s %9s %9s %7s  %s\n", "mechanism", "claimed", "audited", "ratio", "");
        for (size_t i = 0; i < count; i++) {
            (void)printf("%-18s %9.6f %9.6f %7.3f  %s\n", finding[i].subject->name,
                         finding[i].claimed, finding[i].result.epsilon, ratio_of(&finding[i]),
                         !holds(&finding[i])         ? "LOSES MORE THAN IT CLAIMS"
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
                     holds(&finding[i]) ? "" : "  LOSES MORE THAN IT CLAIMS");
        tell_event(&finding[i]);
        draw(&finding[i].result.histogram);
    }
    return STATUS_OK;
}

static json_t *counts(const uint64_t *count)
{
    json_t *array = json_array();
    for (size_t bin = 0; bin < AUDIT_BINS; bin++) {
        json_add(&array, json_integer((json_int_t)count[bin]));
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
        1 - AUDIT_MISS, "holds", (int)holds(finding), "tight", (int)finding->subject->tight,
        "sensitivity", (json_int_t)request->setting.sensitivity, "samples",
        (json_int_t)request->samples, "event", "kind", kinds[event->kind], "side", (int)event->side,
        "threshold", (json_int_t)event->threshold, "hits", (json_int_t)event->hits[0],
        (json_int_t)event->hits[1], "trials", (json_int_t)finding->result.trials, "histogram",
        "first", (json_int_t)histogram->first, "width", (json_int_t)histogram->width, "counts",
        counts(histogram->count[0]), counts(histogram->count[1]));
}

static enum status print_json(const struct audit_finding *finding, size_t count,
                              const struct audit_request *request)
{
    json_t *audits = json_array();
    for (size_t i = 0; i < count; i++) {
        json_add(&audits, one(&finding[i], request));
    }
    return command_print_json(json_pack("{s:o}", "audits", audits));
}

enum exit_code run_audit(const struct command *command, int count, char **argument)
{
    struct audit_request request = {0};
    struct audit_finding finding[MANY];
    size_t found = 0;
    struct why why = {""};

    if (read_request(&request, count, argument, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    enum status status = audit_each(finding, &found, &request, &why);
    if (status == STATUS_INVALID) { /* only a setting's: no file is read here */
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    if (status == STATUS_OK) {
        status = request.json ? print_json(finding, found, &request)
                              : print_text(finding, found, &request);
    }
    if (status != STATUS_OK) {
        return command_end(command, status, &(struct why){""});
    }
    for (size_t i = 0; i < found; i++) {
        if (!holds(&finding[i])) {
            return command_fail(command, EXIT_CODE_INTERNAL,
                                "%s loses more than it claims: epsilon %.6g and not %.6g; do not "
                                "use this program, and report it",
                                finding[i].subject->name, finding[i].result.epsilon,
                                finding[i].claimed);
        }
    }
    return EXIT_CODE_OK;
}
