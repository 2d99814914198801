/* Studies hold a seeded generator, which nothing that is installed may: they are a program of their own
 * in the build, and this command becomes it. */

#include "cli/children.h"
#include "cli/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static enum exit_code run(const struct command *command, int count, char **argument)
{
    char path[PATH_BYTES];
    struct why why = {""};
    if (children_program(path, sizeof path, "hedgerow-study-seeded", &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_INPUT, "%s", why.text);
    }
    char **vector = calloc((size_t)count + 2, sizeof *vector);
    if (vector == NULL) {
        return command_fail(command, EXIT_CODE_INTERNAL, "no memory");
    }
    vector[0] = path;
    for (int i = 0; i < count; i++) {
        vector[i + 1] = argument[i];
    }
    (void)execv(path, vector);
    const int error = errno;
    free(vector);
    return command_fail(command, EXIT_CODE_INTERNAL, "%s: %s", path, strerror(error));
}

const struct command command_study = {
    .name = "study",
    .summary = "test the theorems by simulation",
    .help = "usage: hedgerow study NAME --out DIR [--seed N] [--rounds N] [--runs N]\n"
            "                      [--only KIND] [--compose DIR] [--json]\n\n"
            "Runs one study and judges its claims, each a measured figure beside a bound.\n"
            "Writes DIR/NAME.json and DIR/NAME.html, a page with charts that loads nothing.\n"
            "Everything comes from the seed: NOT PRIVATE, and the same each time. Some\n"
            "seconds, regret a minute or two, intervals an hour or two; docs/STUDY.md tells\n"
            "what each shows, and what it found.\n\n"
            "  regret           private experts on stochastic, switching and adversarial losses\n"
            "  excess           output-perturbed learning: error against records and rates\n"
            "  concentration    |E(empirical - true)| <= 2 G epsilon for a private learner\n"
            "  accuracy         flchain and wdbc against epsilon, by trust and method\n"
            "  corrections      what docs/PRIVACY.md corrects in the papers, each shown\n"
            "  intervals        simulated studies: how often 95 % intervals hold the truth\n\n"
            "  --out DIR        where to write; made if it is not there\n"
            "  --seed N         other plays, samples and noise (1)\n"
            "  --rounds N       regret: the longest play (100000); excess: the most records\n"
            "                   (262144); intervals: the most of a site (5000)\n"
            "  --runs N         regret, excess, accuracy: of each setting (10; 12; 20);\n"
            "                   concentration: of each setting (200000); corrections: of\n"
            "                   each audit (100000); intervals: of each setting (2000)\n"
            "  --only KIND      intervals: of one kind of question alone: survival, crosstab,\n"
            "                   table1, evaluate, concordance, correlate, regress, between,\n"
            "                   tables, groups, medians\n"
            "  --compose DIR    accuracy: where hospitals/ and tumours/ are (compose)\n"
            "  --json           the JSON on standard output, too\n\n"
            "A claim that does not hold ends with exit code 1, after the report is written.\n"
            "Studies cut short by --rounds judge only the claims that their lengths reach.\n\n"
            "example:\n"
            "  hedgerow study regret --out studies\n",
    .run = run,
};
