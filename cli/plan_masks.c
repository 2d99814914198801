/* `hedgerow plan masks`: how many sites a masked sum needs, and how much noise it carries. */

#include "base/text.h"
#include "cli/plan.h"
#include "masks/masks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

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
