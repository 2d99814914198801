/* `learn` alone, without a federation around it (tests/support/learn_alone.h). Prints means over seeds. NOT PRIVATE.
 *
 *     study_learn TABLE COLUMNS TRUST EPSILON DELTA FIRST LAST [SITES]
 *
 * TABLE has columns in -1 .. 1, the first COLUMNS of which are used, and last `y`: 0 and 1, or names of several classes. */

#include "base/check.h"
#include "base/decimal.h"
#include "task/learn/stage.h"
#include "tests/support/learn_alone.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITES = 5, TEXT_BYTES = 65536 };

/* Returns a whole number, or ends the program. */
static size_t whole(const char *text)
{
    uint64_t value = 0;
    bool exact = false;
    if (decimal_fixed(&value, &exact, text, 0) != STATUS_OK || !exact || value > UINT32_MAX) {
        (void)fprintf(stderr, "study_learn: %s is no whole number\n", text);
        exit(2);
    }
    return (size_t)value;
}

static size_t find_classes(char (*class)[64], size_t *rows, FILE *file)
{
    static char line[TEXT_BYTES];
    size_t count = 0;
    *rows = 0;
    CHECK(fgets(line, sizeof line, file) != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        (*rows)++;
        char *name = strrchr(line, ',') + 1;
        name[strcspn(name, "\r\n")] = 0;
        size_t c = 0;
        while (c < count && strcmp(class[c], name) != 0) {
            c++;
        }
        if (c == count) {
            CHECK(count < SELFTUNE_OUTPUTS_MAX);
            (void)snprintf(class[count++], 64, "%s", name);
        }
    }
    rewind(file);
    return count;
}

int main(int argc, char **argv)
{
    static char text[TEXT_BYTES];
    static char class[SELFTUNE_OUTPUTS_MAX][64];
    static struct learn_alone alone;
    if (argc != 8 && argc != 9) {
        (void)fprintf(stderr, "usage: study_learn TABLE.csv COLUMNS TRUST EPSILON DELTA FIRST-SEED "
                              "LAST-SEED [SITES]\n");
        return 2;
    }
    FILE *file = fopen(argv[1], "r");
    if (file == NULL) {
        perror(argv[1]);
        return 3;
    }
    size_t rows = 0;
    const size_t classes = find_classes(class, &rows, file);
    static char header[TEXT_BYTES];
    CHECK(fgets(header, sizeof header, file) != NULL);
    rewind(file);
    size_t size = (size_t)snprintf(text, sizeof text,
                                   "hedgerow: 1\njob: study\ndata:\n  label: {column: y, ");
    if (classes == 2) {
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "positive: \"1\", negative: \"0\"}\n  features: [");
    } else {
        for (size_t c = 0; c < classes; c++) {
            size += (size_t)snprintf(text + size, sizeof text - size, "%s\"%s\"",
                                     c == 0 ? "classes: [" : ", ", class[c]);
        }
        size += (size_t)snprintf(text + size, sizeof text - size, "]}\n  features: [");
    }
    const char *name = header;
    for (size_t j = 0, columns = whole(argv[2]); j < columns; j++) {
        const int length = (int)strcspn(name, ",");
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "%s{column: %.*s, centre: 0, half_width: 1}", j == 0 ? "" : ", ",
                                 length, name);
        name += length + 1;
    }
    (void)fclose(file);
    const size_t sites = argc == 9 ? whole(argv[8]) : SITES;
    (void)snprintf(
        text + size, sizeof text - size,
        "]\nprivacy: {unit: record, neighbours: replace_one, trust: %s, epsilon: %s, delta: %s}\n"
        "cohort: {minimum: %zu, records: %zu, join_deadline_s: 1, deadline_s: 1}\nstages:\n  - {task: learn}\n",
        argv[3], argv[4], argv[5], sites, rows * 4 / 5 / sites);
    learn_alone_init(&alone, text, argv[1], sites);
    double sum[2] = {0};
    double square[2] = {0};
    double iterate[2] = {0};
    double n = 0;
    for (size_t seed = whole(argv[6]), last = whole(argv[7]); seed <= last; seed++, n++) {
        double got[2];
        learn_alone_run(&got[0], &got[1], &alone, seed, seed);
        for (int i = 0; i < 2; i++) {
            sum[i] += got[i];
            square[i] += got[i] * got[i];
        }
        iterate[0] += learn_alone_iterate(&alone, ITERATE_LOOK);
        iterate[1] += learn_alone_iterate(&alone, ITERATE_LAST);
        if (getenv("EACH") != NULL) {
            printf("%zu %.5f %.5f\n", seed, got[0], got[1]);
        }
    }
    const struct selftune *tune = &learn_stage(alone.job.stage)->tune;
    printf("%s %s %s %s: %.4f (%.4f) %.4f (%.4f) sight %d steps %u\n", argv[1], argv[2], argv[3],
           argv[4], sum[0] / n, sqrt(fmax(square[0] / n - sum[0] / n * (sum[0] / n), 0) / (n - 1)),
           sum[1] / n, sqrt(fmax(square[1] / n - sum[1] / n * (sum[1] / n), 0) / (n - 1)),
           (int)tune->sight, tune->steps);
    printf("accuracy of the look alone %.4f, of the last iterate %.4f\n", iterate[0] / n,
           iterate[1] / n);
    learn_alone_free(&alone);
    return 0;
}
