/* Studies hold a seeded generator, which nothing that is installed may: they are a program of their own
 * in the build, and this command becomes it. */

#include "cli/children.h"
#include "cli/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

enum exit_code run_study(const struct command *command, int count, char **argument)
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
