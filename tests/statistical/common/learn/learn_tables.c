#include "learn_tables.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 16384, LINE_BYTES = 256 };

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

void learn_table_open(struct learn_alone *alone, const struct learn_table *of)
{
    static char text[TEXT_BYTES];
    char path[] = "/tmp/hedgerow-learn-XXXXXX";
    read_job(text, of->job);
    set_line(text, "  trust: ", of->trust);
    set_line(text, "  epsilon: ", of->epsilon);
    set_line(text, "  delta: ", of->delta);
    if (of->wide > 0) {
        widen(text, of->wide);
    }
    if (of->more > 0) {
        add_columns(text, path, of->table, of->more);
    }
    learn_alone_init(alone, text, of->more > 0 ? path : of->table, of->sites);
    if (of->more > 0) {
        cr_assert(remove(path) == 0);
    }
}
