/* known_bytes.h - a file of known answers: a name and hexadecimal digits on each line. */

#ifndef TESTS_SUPPORT_KNOWN_BYTES_H
#define TESTS_SUPPORT_KNOWN_BYTES_H

#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Reads the bytes of that name into out (size); returns how many. Aborts when there are none. */
static inline size_t known_bytes(uint8_t *out, size_t size, const char *path, const char *name)
{
    char line[4096];
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *space = strchr(line, ' ');
        line[strcspn(line, "\n")] = '\0';
        if (space == NULL || strncmp(line, name, (size_t)(space - line)) != 0 ||
            name[space - line] != '\0') {
            continue;
        }
        size_t count = strlen(space + 1) / 2;
        if (count <= size && hex_decode(out, count, space + 1) == STATUS_OK) {
            fclose(file);
            return count;
        }
    }
    fprintf(stderr, "%s has no bytes for %s\n", path, name);
    abort();
}

#endif
