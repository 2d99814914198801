#include "learn_tables.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 16384, LINE_BYTES = 256, CLASSES_MOST = 6, COLUMNS_MOST = 30 };

/* Replaces the line behind `key`, which begins it. */
static void set_line(char text[static TEXT_BYTES], const char *key, const char *value)
{
    char rest[TEXT_BYTES];
    char *line = strstr(text, key);
    cr_assert_not_null(line, "%s", key);
    (void)snprintf(rest, sizeof rest, "%s", line + strcspn(line, "\n"));
    (void)snprintf(line, TEXT_BYTES - (size_t)(line - text), "%s%s%s", key, value, rest);
}

static void read_job(char text[static TEXT_BYTES], const char *name)
{
    FILE *file = fopen(name, "r");
    cr_assert_not_null(file, "%s", name);
    const size_t size = fread(text, 1, TEXT_BYTES - 64, file);
    cr_assert(size > 0 && feof(file));
    text[size] = '\0';
    (void)fclose(file);
}

/* The job and its table with that many columns more. path: a template of mkstemp(), which becomes the table's name. */
static void add_columns(char text[static TEXT_BYTES], char *path, const char *table, int more)
{
    char rest[TEXT_BYTES];
    char line[LINE_BYTES];
    struct seeded_random seeded;
    char *end = strstr(text, "\nprivacy:");
    cr_assert_not_null(end);
    (void)snprintf(rest, sizeof rest, "%s", end);
    size_t used = (size_t)(end - text);
    for (int i = 0; i < more; i++) {
        used += (size_t)snprintf(text + used, TEXT_BYTES - used,
                                 "    - {column: more%d, centre: 0, half_width: 1}\n", i);
    }
    (void)snprintf(text + used, TEXT_BYTES - used, "%s", rest);
    const int fd = mkstemp(path);
    FILE *from = fopen(table, "r");
    FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
    cr_assert(from != NULL && to != NULL);
    seeded_random_init(&seeded, 1);
    for (bool head = true; fgets(line, sizeof line, from) != NULL; head = false) {
        line[strcspn(line, "\r\n")] = '\0';
        (void)fputs(line, to);
        for (int i = 0; i < more; i++) {
            (void)(head ? fprintf(to, ",more%d", i)
                        : fprintf(to, ",%.3f", 2 * seeded_random_unit(&seeded) - 1));
        }
        (void)fputc('\n', to);
    }
    cr_assert(ferror(from) == 0 && fclose(from) == 0 && fclose(to) == 0);
}

static void widen(char text[static TEXT_BYTES], double wide)
{
    static const char key[] = "half_width: ";
    char rest[TEXT_BYTES];
    char *at = text;
    for (int i = 0; (at = strstr(at, key)) != NULL; i++) {
        char *end = NULL;
        at += sizeof key - 1;
        const double width = strtod(at, &end);
        (void)snprintf(rest, sizeof rest, "%s", end);
        (void)snprintf(at, TEXT_BYTES - (size_t)(at - text), "%.8g%s",
                       i % 2 == 0 ? width : width * wide, rest);
    }
}

/* By kind: columns, records and classes. */
static const struct made {
    int columns;
    int records;
    int classes;
} made[] = {[MADE_ALIKE] = {8, 2000, 4},
            [MADE_COMMON] = {12, 4000, 5},
            [MADE_OVERSHOOT] = {30, 3000, 2},
            [MADE_LAGS] = {16, 8000, 6},
            [MADE_BENT] = {6, 4000, 2}};

static double normal(struct seeded_random *seeded)
{
    const double a = 1 - seeded_random_unit(seeded);
    return sqrt(-2 * log(a)) * cos(6.283185307179586 * seeded_random_unit(seeded));
}

/* One record of a class, or, of two classes, of one that follows. Returns the class. apart: (classes, columns), factor: (2, columns) */
static int make_record(double *x, enum learn_made kind, const double *apart, const double *factor,
                       struct seeded_random *seeded)
{
    const struct made *of = &made[kind];
    const double first = normal(seeded);
    const double second = normal(seeded);
    const int class = (int)seeded_random_below(seeded, (uint64_t)of->classes);
    for (int j = 0; j < of->columns; j++) {
        const double own = normal(seeded);
        const double away = apart[class * of->columns + j];
        x[j] = kind == MADE_ALIKE || kind == MADE_LAGS
                   ? 0.3 * (0.6 * (factor[j] * first + factor[of->columns + j] * second) +
                            0.15 * own + 0.5 * away)
               : kind == MADE_COMMON    ? 0.3 * (1.5 * first + own + 0.4 * away)
               : kind == MADE_OVERSHOOT ? 0.33 * (0.85 * first + 0.15 * (j % 3 > 0    ? own
                                                                         : j % 2 == 0 ? -second
                                                                                      : second))
                                        : 0.4 * own;
        x[j] = fmin(fmax(x[j], -1), 1);
    }
    if (of->classes > 2) {
        return class;
    }
    const double score =
        kind == MADE_OVERSHOOT ? 3 * second + first : 15 * (x[0] * x[1] + x[2] * x[2] - 0.16);
    return seeded_random_unit(seeded) < 1 / (1 + exp(-score));
}

static void write_made_job(char text[static TEXT_BYTES], enum learn_made kind)
{
    const struct made *of = &made[kind];
    size_t used =
        (size_t)snprintf(text, TEXT_BYTES, "hedgerow: 1\njob: made\ndata:\n  label: {column: y, %s",
                         of->classes > 2 ? "classes: [\"0\"" : "positive: \"1\", negative: \"0\"");
    for (int c = 1; c < of->classes && of->classes > 2; c++) {
        used += (size_t)snprintf(text + used, TEXT_BYTES - used, ", \"%d\"", c);
    }
    used += (size_t)snprintf(text + used, TEXT_BYTES - used, "%s}\n  features:\n",
                             of->classes > 2 ? "]" : "");
    for (int j = 0; j < of->columns; j++) {
        used += (size_t)snprintf(text + used, TEXT_BYTES - used,
                                 "    - {column: c%d, centre: 0, half_width: 1}\n", j);
    }
    (void)snprintf(text + used, TEXT_BYTES - used,
                   "privacy:\n  unit: record\n  neighbours: replace_one\n  trust: local\n"
                   "  epsilon: 1\n  delta: 0\n"
                   "cohort: {minimum: 5, records: %d, deadline_s: 30}\n"
                   "stages:\n  - {task: learn}\n",
                   of->records * 4 / 5 / 5);
}

/* path: a template of mkstemp(), which becomes the table's name. */
static void write_made(char *path, enum learn_made kind)
{
    const struct made *of = &made[kind];
    double apart[CLASSES_MOST * COLUMNS_MOST];
    double factor[2 * COLUMNS_MOST];
    double x[COLUMNS_MOST];
    struct seeded_random seeded;
    const int fd = mkstemp(path);
    FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
    cr_assert(to != NULL);
    seeded_random_init(&seeded, kind);
    for (int i = 0; i < of->classes * of->columns; i++) {
        apart[i] = normal(&seeded);
    }
    for (int i = 0; i < 2 * of->columns; i++) {
        factor[i] = normal(&seeded);
    }
    for (int j = 0; j < of->columns; j++) {
        (void)fprintf(to, "c%d,", j);
    }
    (void)fprintf(to, "y\n");
    for (int i = 0; i < of->records; i++) {
        const int class = make_record(x, kind, apart, factor, &seeded);
        for (int j = 0; j < of->columns; j++) {
            (void)fprintf(to, "%.4f,", x[j]);
        }
        (void)fprintf(to, "%d\n", class);
    }
    cr_assert(fclose(to) == 0);
}

void learn_table_open(struct learn_alone *alone, const struct learn_table *of)
{
    static char text[TEXT_BYTES];
    char path[] = "/tmp/hedgerow-learn-XXXXXX";
    if (of->made != MADE_NONE) {
        write_made_job(text, of->made);
    } else {
        read_job(text, of->job);
    }
    set_line(text, "  trust: ", of->trust);
    set_line(text, "  epsilon: ", of->epsilon);
    set_line(text, "  delta: ", of->delta);
    if (of->wide > 0) {
        widen(text, of->wide);
    }
    if (of->more > 0) {
        add_columns(text, path, of->table, of->more);
    }
    if (of->made != MADE_NONE) {
        write_made(path, of->made);
    }
    const bool is_written = of->more > 0 || of->made != MADE_NONE;
    learn_alone_init(alone, text, is_written ? path : of->table, of->sites);
    if (is_written) {
        cr_assert(remove(path) == 0);
    }
}
