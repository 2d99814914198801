/* How the parts of `hedgerow plan` print their answer, and its smaller parts: `plan pac` and `plan sq` (how many records a pick or a
 * set of queries needs), `plan masks` (how many sites a masked sum needs, and how much noise it carries). */

#include "cli/plan.h"

#include "base/text.h"
#include "learn/sample_size.h"
#include "masks/masks.h"
#include "json/json_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void print_table(const struct plan_line *line)
{
    size_t key = 0;
    size_t unit = 0;
    for (size_t i = 0; line[i].key != NULL; i++) {
        if (!isnan(line[i].value)) {
            key = strlen(line[i].key) > key ? strlen(line[i].key) : key;
            unit = strlen(line[i].unit) > unit ? strlen(line[i].unit) : unit;
        }
    }
    for (size_t i = 0; line[i].key != NULL; i++) {
        if (!isnan(line[i].value)) {
            (void)printf("  %-*s  %-12.6g  %-*s  %s\n", (int)key, line[i].key, line[i].value,
                         (int)unit, line[i].unit, line[i].holds);
        }
    }
}

enum exit_code plan_answer(const struct command *command, bool json, const char *title,
                           const struct plan_line *line, const char *after)
{
    enum status status = STATUS_OK;
    if (json) {
        json_t *object = json_object();
        for (size_t i = 0; line[i].key != NULL; i++) {
            json_put(&object, line[i].key, json_number(line[i].value));
        }
        status = command_print_json(object);
    } else {
        (void)printf("%s\n\n", title);
        print_table(line);
        (void)fputs(after, stdout);
    }
    return command_end(command, status, &(struct why){""});
}

static enum exit_code print_size(const struct command *command, const struct sample_size *size,
                                 const char *title, const char *advice, bool json)
{
    /* A pick is planned for noise that is added once: it has no such factor. */
    const bool has_factor = command->run != run_plan_pac;
    const struct plan_line line[] = {
        {"records", size->records, "records", size->range},
        {"for_noise", size->for_noise, "records", "what the noise asks for, with half of beta"},
        {"for_sampling", size->for_sampling, "records",
         "what drawing records asks for, private or not"},
        {has_factor ? "trust_factor" : NULL, size->trust_factor, "times",
         "for_noise against noise that is added once"},
        {NULL, 0, NULL, NULL}};
    return plan_answer(
        command, json, title, line,
        size->for_noise > size->for_sampling
            ? advice
            : "\nPrivacy is free here: drawing the records alone asks for as many.\n");
}

enum exit_code run_plan_pac(const struct command *command, int count, char **argument)
{
    struct pac_request request = {0};
    struct sample_size size;
    struct why why = {""};
    bool json = false;
    const struct option option[] = {
        {.name = "--candidates", .what = "C", .required = true, .whole = &request.candidates},
        {.name = "--alpha", .what = "A", .required = true, .real = &request.alpha},
        {.name = "--beta", .what = "B", .required = true, .real = &request.beta},
        {.name = "--epsilon", .what = "E", .required = true, .real = &request.epsilon},
        {.name = "--json", .flag = &json}};

    if (options_read(OPTIONS(option), count, argument, &why) != STATUS_OK ||
        sample_size_pac(&size, &request, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    return print_size(command, &size, "a private pick by the number of errors",
                      "\nThe noise decides: a larger epsilon or alpha would help; fewer candidates "
                      "help little.\n",
                      json);
}

enum exit_code run_plan_sq(const struct command *command, int count, char **argument)
{
    struct sq_request request = {0};
    struct sample_size size;
    struct why why = {""};
    bool json = false;
    const struct option option[] = {
        {.name = "--queries", .what = "J", .required = true, .whole = &request.queries},
        {.name = "--tolerance", .what = "T", .required = true, .real = &request.tolerance},
        {.name = "--beta", .what = "B", .required = true, .real = &request.beta},
        {.name = "--epsilon", .what = "E", .required = true, .real = &request.epsilon},
        {.name = "--agents", .what = "N", .whole = &request.agents},
        {.name = "--json", .flag = &json}};

    if (options_read(OPTIONS(option), count, argument, &why) != STATUS_OK ||
        sample_size_sq(&size, &request, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    return print_size(
        command, &size, "queries with answers between 0 and 1, all asked at once",
        "\nThe noise decides: fewer queries, a larger tolerance or a larger epsilon would "
        "help; with --agents, another trust.\n",
        json);
}

enum { ROWS = 8, AFTER_BYTES = 2048 };

/* The noise by the number of survivors, and what an absent site costs. */
static void describe(char *text, const struct masks_quorum *quorum)
{
    const uint64_t absent = quorum->sites - quorum->opens_at;
    const uint64_t rows = absent < ROWS ? absent : ROWS;
    char absence[PLAN_TEXT_BYTES] =
        "Every site is needed: when one is absent, the round fails and nothing is released.\n";
    (void)snprintf(text, AFTER_BYTES,
                   "\n  survivors   variance   deviation   deviation under trust local\n");
    for (uint64_t i = 0; i <= rows; i++) {
        const uint64_t n = quorum->opens_at + (rows > 0 ? absent * i / rows : 0);
        const double excess = (double)n / (double)quorum->honest;
        text_add(text, AFTER_BYTES, "  %9" PRIu64 "   %8.3f   %9.3f   %9.3f\n", n, excess,
                 sqrt(excess), sqrt((double)n));
    }
    if (absent > 0) {
        (void)snprintf(absence, sizeof absence,
                       "An absent site costs its answer, and the sum carries 1/%" PRIu64
                       " of a noise less.\nUp to %" PRIu64 " of the %" PRIu64
                       " sites may be absent. With more, the round fails and nothing is "
                       "released.\n",
                       quorum->honest, absent, quorum->sites);
    }
    text_add(text, AFTER_BYTES,
             "  Variance and standard deviation of a sum's noise, where the noise of trust central "
             "is 1.\n\n%s"
             "A survivor that stays away for good before it has opened its masks ends the round: "
             "nothing is\nreleased, and every survivor is charged.\n",
             absence);
}

enum exit_code run_plan_masks(const struct command *command, int count, char **argument)
{
    double sites = 0;
    double dishonest = 0;
    double honest = 0;
    struct masks_quorum quorum;
    struct why why = {""};
    char title[PLAN_TEXT_BYTES];
    char after[AFTER_BYTES];
    bool json = false;
    const struct option option[] = {
        {.name = "--sites", .what = "N", .required = true, .whole = &sites},
        {.name = "--dishonest", .what = "C", .required = true, .whole = &dishonest},
        {.name = "--honest", .what = "H", .whole = &honest},
        {.name = "--json", .flag = &json}};

    if (options_read(OPTIONS(option), count, argument, &why) != STATUS_OK ||
        masks_quorum_make(&quorum, (uint64_t)sites, (uint64_t)dishonest, (uint64_t)honest, &why) !=
            STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    const double most = sites / (double)quorum.honest;
    const struct plan_line line[] = {
        {"honest", (double)quorum.honest, "sites", "this many shares are one whole noise"},
        {"least_survivors", (double)quorum.least, "sites",
         "H + C: among this many survivors H are honest"},
        {"signatures", (double)quorum.signatures, "sites",
         "floor((N + C)/2) + 1: two lists of survivors never both get them"},
        {"opens_at", (double)quorum.opens_at, "sites", "the larger of the two: cohort.minimum"},
        {"absent_most", sites - (double)quorum.opens_at, "sites", "a round goes on without them"},
        {"variance_least", (double)quorum.opens_at / (double)quorum.honest, "times",
         "of the noise of trust central, with opens_at survivors"},
        {"variance_most", most, "times", "the same with all sites"},
        {"deviation_most", sqrt(most), "times", "its square root: how much wider an error bar is"},
        {NULL, 0, NULL, NULL}};
    (void)snprintf(title, sizeof title,
                   "masked sums of %.0f sites, of which %.0f may help the coordinator", sites,
                   dishonest);
    describe(after, &quorum);
    return plan_answer(command, json, title, line, after);
}
