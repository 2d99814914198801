/* scratch.h - a folder of a test's own under the system's temporary one. */

#ifndef TESTS_IO_SCRATCH_H
#define TESTS_IO_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct scratch {
    char folder[64];
    char path[176]; /* what scratch_path returned last */
};

static inline void scratch_make(struct scratch *scratch)
{
    memset(scratch, 0, sizeof *scratch);
    snprintf(scratch->folder, sizeof scratch->folder, "/tmp/hedgerow-io-XXXXXX");
    if (mkdtemp(scratch->folder) == NULL) {
        abort();
    }
}

static inline const char *scratch_path(struct scratch *scratch, const char *name)
{
    snprintf(scratch->path, sizeof scratch->path, "%.63s/%.100s", scratch->folder, name);
    return scratch->path;
}

static inline void scratch_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        abort();
    }
}

static inline void scratch_remove(struct scratch *scratch)
{
    char command[256];
    snprintf(command, sizeof command, "chmod -R u+rwX %s; rm -rf %s", scratch->folder,
             scratch->folder);
    if (system(command) != 0) {
        abort();
    }
}

#endif
