#include "config/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum status config_load(char **out, size_t *size, const char *path, struct why *why)
{
    enum status status = STATUS_OK;
    char *text = NULL;
    *out = NULL;
    *size = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        why_set(why, "%s: cannot be opened: %s", path, strerror(errno));
        return STATUS_IO;
    }
    /* One byte more than may be there tells a file that is too large from one that just fits. */
    text = malloc(CONFIG_TEXT_BYTES_MAX + 2);
    if (text == NULL) {
        status = STATUS_NO_MEMORY;
        goto done;
    }
    size_t length = fread(text, 1, CONFIG_TEXT_BYTES_MAX + 1, file);
    if (ferror(file) != 0) {
        why_set(why, "%s: cannot be read: %s", path, strerror(errno));
        status = STATUS_IO;
        goto done;
    }
    if (length > CONFIG_TEXT_BYTES_MAX) {
        why_set(why, "%s: has more than the %d bytes that are read", path, CONFIG_TEXT_BYTES_MAX);
        status = STATUS_INVALID;
        goto done;
    }
    text[length] = '\0';
    *out = text;
    *size = length;
    text = NULL;
done:
    free(text);
    (void)fclose(file);
    return status;
}
