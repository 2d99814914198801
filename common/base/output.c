#include "base/output.h"

#include <stdio.h>

int output_end(const char *program, int code)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == EXIT_CODE_OK) {
        (void)fprintf(stderr,
                      "%s: standard output cannot be written: what the command did is done, and a "
                      "part of what it told is lost\n",
                      program);
        return EXIT_CODE_INTERNAL;
    }
    return code;
}
