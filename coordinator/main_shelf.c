/* The folder of the data dictionaries that sites show: one file an agent, its latest, beside the allow-list. */

#include "base/file.h"
#include "base/owned.h"
#include "config/config.h"
#include "coordinator/main.h"
#include "crypto/digest.h"
#include "io/roster.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void shelf_path(const struct office *office, char path[static SHELF_PATH_BYTES], const char *name)
{
    const char *list = office->settings.agents;
    const char *slash = strrchr(list, '/');
    const int folder = slash == NULL ? 0 : (int)(slash - list) + 1;
    (void)snprintf(path, SHELF_PATH_BYTES, "%.*sdictionaries%s%s%s", folder, list,
                   name[0] == '\0' ? "" : "/", name, name[0] == '\0' ? "" : ".yml");
}

bool shelf_has(void *self, const struct peer *agent, const struct digest *digest)
{
    const struct shelf *shelf = self;
    char path[SHELF_PATH_BYTES];
    char *text = NULL;
    size_t size = 0;
    struct why why = {{0}};
    struct digest kept;
    if (!agent_name_is_valid(agent->name)) {
        return true; /* no name for a file: it is not asked for */
    }
    shelf_path(shelf->office, path, agent->name);
    const bool read = config_load(&text, &size, path, &why) == STATUS_OK;
    if (read) {
        digest_sha256(&kept, &(struct slice){text, size}, 1);
    }
    free(text);
    return read && digest_equal(&kept, digest);
}

bool shelf_put(void *self, const struct peer *agent, struct slice text)
{
    const struct shelf *shelf = self;
    char path[SHELF_PATH_BYTES];
    struct why why = {{0}};
    struct stat about;
    shelf_path(shelf->office, path, "");
    enum status status = STATUS_OK;
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        why_set(&why, "%s cannot be made: %s", path, strerror(errno));
        status = STATUS_IO;
    }
    if (status == STATUS_OK) {
        status = owned_folder(&about, path, &why);
    }
    if (status == STATUS_OK) {
        shelf_path(shelf->office, path, agent->name);
        status = file_write(path, text, 0600, &why);
    }
    if (status != STATUS_OK) {
        log_event(shelf->log, LOG_ERROR, "dictionary-not-kept", agent->name,
                  "its data dictionary was not kept: %s",
                  why.text[0] != '\0' ? why.text : status_text(status));
    }
    return status == STATUS_OK;
}
