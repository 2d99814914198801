/* What `plan job` expects of a learn stage beside what happens: the stage alone, without a federation around it
 * (tests/support/learn_alone.h), on random splits. NOT PRIVATE: split and noise are of seeds.
 *
 *     study_expected JOB.yml TABLE.csv SITES SPLITS SEEDS [KEY=VALUE ..]
 *
 * Splits are of seeds 1 to SPLITS, rehearsals of seeds 1 to SEEDS. Prints a line for each rehearsal: what it expects with its 90 %
 * band, the mean over splits, and how many splits lie in the band; of points lost, then of accuracy. Figures are in per cent: of
 * a number of its range's width. SITES share four fifths of the records. */

#include "base/check.h"
#include "base/decimal.h"
#include "config/config.h"
#include "job/terms.h"
#include "tests/support/learn_alone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 65536, SPLITS_MAX = 1000 };

/* Returns a whole number, or ends the program. */
static size_t whole(const char *text)
{
    uint64_t value = 0;
    bool exact = false;
    if (decimal_fixed(&value, &exact, text, 0) != STATUS_OK || !exact || value > SPLITS_MAX) {
        (void)fprintf(stderr, "study_expected: %s is no whole number up to 1000\n", text);
        exit(2);
    }
    return (size_t)value;
}

static char *read_text(const char *name)
{
    char *text = calloc(1, TEXT_BYTES);
    FILE *file = fopen(name, "r");
    CHECK(text != NULL);
    if (file == NULL || fread(text, 1, TEXT_BYTES - 1, file) == 0) {
        perror(name);
        exit(3);
    }
    (void)fclose(file);
    return text;
}

static char *changed_text(const char *name, int count, char **set)
{
    char *text = read_text(name);
    struct why why = {{0}};
    for (int i = 0; i < count; i++) {
        char *changed = NULL;
        size_t size = 0;
        if (config_override(&changed, &size, (struct slice){text, strlen(text)}, name, set[i],
                            &why) != STATUS_OK) {
            (void)fprintf(stderr, "%s\n", why.text);
            exit(2);
        }
        free(text);
        text = calloc(1, size + 1);
        CHECK(text != NULL);
        memcpy(text, changed, size);
        free(changed);
    }
    return text;
}

static void show(const struct rehearsal_figure *figure, const double *seen, size_t count)
{
    size_t inside = 0;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        inside += figure->low <= seen[i] && seen[i] <= figure->high ? 1 : 0;
        sum += seen[i];
    }
    (void)printf("  %5.1f (%5.1f to %5.1f) mean %5.2f inside %2zu", 100 * figure->mean,
                 100 * figure->low, 100 * figure->high, 100 * sum / (double)count, inside);
}

int main(int argc, char **argv)
{
    static struct learn_alone alone;
    static double reached[SPLITS_MAX];
    static double lost[SPLITS_MAX];
    if (argc < 6) {
        (void)fprintf(
            stderr, "usage: study_expected JOB.yml TABLE.csv SITES SPLITS SEEDS [KEY=VALUE ..]\n");
        return 2;
    }
    char *text = changed_text(argv[1], argc - 6, argv + 6);
    const size_t splits = whole(argv[4]);
    learn_alone_init(&alone, text, argv[2], whole(argv[3]));
    const bool is_number = alone.job.stage->schema.label.kind == LABEL_NUMBER;
    for (size_t i = 0; i < splits; i++) {
        double auc;
        learn_alone_run(&reached[i], &auc, &alone, i + 1, i + 1);
        lost[i] = (is_number ? -1 : 1) * (learn_alone_pooled(&alone) - reached[i]);
    }
    for (size_t seed = 1, last = whole(argv[5]); seed <= last; seed++) {
        struct rehearsal plan;
        struct rehearsal_answer answer;
        const struct terms_size size = {.agents = alone.sites, .records = alone.site_rows};
        CHECK(terms_rehearse(&plan, &alone.job, 0, size, NULL) == STATUS_OK);
        CHECK(rehearsal_play(&answer, &plan, 1, REHEARSAL_TABLES_MAX, seed << 32) == STATUS_OK);
        (void)printf("%zu tables; lost", answer.tables);
        show(&answer.lost, lost, splits);
        (void)printf("; reached");
        show(&answer.reached, reached, splits);
        (void)printf("; free %.1f (%.1f to %.1f)\n", 100 * answer.free.mean, 100 * answer.free.low,
                     100 * answer.free.high);
    }
    learn_alone_free(&alone);
    free(text);
    return 0;
}
