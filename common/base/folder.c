#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strchr(entry->d_name, '\n') == NULL;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

enum status folder_names(char **text, size_t *size, const char *path, struct why *why)
{
    struct dirent **entry = NULL;
    size_t used = 0;
    *text = NULL;
    *size = 0;
    const int count = scandir(path, &entry, is_shown, by_bytes);
    if (count < 0) {
        const enum status status = errno == ENOENT   ? STATUS_NOT_FOUND
                                   : errno == ENOMEM ? STATUS_NO_MEMORY
                                                     : STATUS_IO;
        why_file(why, path, "read", errno);
        return status;
    }
    for (int i = 0; i < count; i++) {
        used += strlen(entry[i]->d_name) + 1;
    }
    *text = malloc(used + 1);
    for (int i = 0; i < count; i++) {
        const size_t length = strlen(entry[i]->d_name);
        if (*text != NULL) {
            memcpy(*text + *size, entry[i]->d_name, length);
            (*text)[*size + length] = '\n';
            *size += length + 1;
        }
        free(entry[i]);
    }
    free(entry);
    if (*text == NULL) {
        why_set(why, "%s: no memory for the names in it", path);
        return STATUS_NO_MEMORY;
    }
    (*text)[*size] = '\0';
    return STATUS_OK;
}
