/* study_update.c - the engine of `hedgerow study accuracy` at any setting: accuracy and AUC on a
 * held-out fifth, five equal sites, over seeds. The figures of docs/study-hospitals.md.
 *
 *     study_update TABLE.csv JOB.yml SEEDS < SETTINGS
 *
 * The job gives the columns. SETTINGS: a line for each row of the answer, as in `logistic laplace
 * local 8 1 32 0.5 none`: loss, noise, trust, rounds, clip, rate, momentum, average; `ridge` for
 * the loss is one release of second moments, its rate lambda, the rest of the line unused. The
 * privacy is epsilon 1 for all rounds together, and delta 1e-5 if Gaussian. */

#include "lab/study/study_update.h"
#include "base/check.h"
#include "config/config.h"
#include "job/job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 64 };

static void set(struct study_training *training, char word[8][WORD])
{
    const bool ridge = strcmp(word[0], "ridge") == 0;
    const double momentum = strtod(word[6], NULL);
    *training = (struct study_training){.method = ridge ? STUDY_STATISTICS : STUDY_UPDATE,
                                        .gradient = {.grid_bits = STUDY_GRID_BITS},
                                        .lambda = strtod(word[5], NULL),
                                        .gaussian = strcmp(word[1], "gaussian") == 0,
                                        .local = strcmp(word[2], "local") == 0,
                                        .epsilon_micro = EPSILON_MICRO_ONE,
                                        .delta_atto = DELTA_ATTO_ONE / 100000};
    if (ridge) {
        return;
    }
    CHECK(loss_from_name(&training->gradient.loss.kind, word[0]) == STATUS_OK);
    training->gradient.loss.parameter = training->gradient.loss.kind == LOSS_HUBER ? 1 : 0;
    training->gradient.clip = (int64_t)ldexp(strtod(word[4], NULL), STUDY_GRID_BITS);
    training->optimiser =
        (struct optimiser){.kind = momentum > 0 ? OPTIMISER_MOMENTUM : OPTIMISER_PLAIN,
                           .rounds = strtoul(word[3], NULL, 10),
                           .rate = strtod(word[5], NULL),
                           .momentum = momentum,
                           .average = strcmp(word[7], "tail") == 0         ? AVERAGE_TAIL
                                      : strcmp(word[7], "polynomial") == 0 ? AVERAGE_POLYNOMIAL
                                                                           : AVERAGE_NONE};
}

int main(int argc, char **argv)
{
    struct job job;
    struct dataset data;
    struct why why = {""};
    char *text = NULL;
    size_t size = 0;
    char line[8 * WORD];

    CHECK(argc == 4);
    const unsigned long seeds = strtoul(argv[3], NULL, 10);
    FILE *file = fopen(argv[1], "r");
    CHECK(file != NULL && seeds > 1);
    if (config_load(&text, &size, argv[2], &why) != STATUS_OK ||
        job_parse(&job, (struct slice){text, size}, argv[2], &why) != STATUS_OK ||
        dataset_read(&data, file, argv[1], &job.schema,
                     &(struct dataset_options){.use = DATASET_LEARN}, &why) != STATUS_OK) {
        (void)fprintf(stderr, "%s\n", why.text);
        return 1;
    }
    (void)fclose(file);
    free(text);
    while (fgets(line, sizeof line, stdin) != NULL) {
        char word[8][WORD] = {{0}};
        struct study_training training;
        struct study_quality quality;
        if (sscanf(line, "%63s %63s %63s %63s %63s %63s %63s %63s", word[0], word[1], word[2],
                   word[3], word[4], word[5], word[6], word[7]) != 8) {
            continue;
        }
        set(&training, word);
        line[strcspn(line, "\n")] = '\0';
        if (study_quality(&quality, &training, &data, 1, seeds, &why) != STATUS_OK) {
            (void)fprintf(stderr, "%s: %s\n", line, why.text);
            return 1;
        }
        printf("%s: %.4f (%.4f) %.4f (%.4f)\n", line, quality.accuracy, quality.accuracy_error,
               quality.auc, quality.auc_error);
    }
    dataset_free(&data);
    job_free(&job);
    return 0;
}
