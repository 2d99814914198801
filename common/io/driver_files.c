/* Files that people edit while the program runs: each is read again when its content has changed, and its text given to
 * the machine, which judges it. */

#include "io/driver_private.h"

#include "base/file.h"
#include "config/config.h"
#include "crypto/digest.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static bool is_absent(const char *path)
{
    return access(path, F_OK) != 0 && errno == ENOENT;
}

/* An optional file that is not there is an empty one. */
static enum status read_file(char **text, size_t *size, const struct driver_file *file,
                             struct why *why)
{
    *text = NULL;
    *size = 0;
    if (file->read != NULL) {
        return file->read(file->self, text, size, why);
    }
    if (file->optional && is_absent(file->path)) {
        return STATUS_OK;
    }
    return file->folder ? file_names(text, size, file->path, why)
                        : config_load_owned(text, size, file->path, why);
}

static enum status look_at_file(struct driver *driver, struct lane *lane, size_t index)
{
    const struct driver_file *file = &driver->options->file[index];
    struct followed_file *followed = &driver->followed[index];
    struct why why = {""};
    struct digest now;
    char *text = NULL;
    size_t size = 0;
    enum status status = STATUS_OK;

    if (file->path[0] == '\0') {
        return STATUS_OK;
    }
    status = read_file(&text, &size, file, &why);
    if (status != STATUS_OK) {
        if (!followed->unreadable) {
            log_event(driver->options->log, file->read == NULL ? LOG_ERROR : LOG_WARN,
                      file->read == NULL ? "file-unreadable" : "queue-unreadable", NULL,
                      "%s; what it said before stays in force", why.text);
        }
        followed->unreadable = true;
        return STATUS_OK;
    }
    followed->unreadable = false;
    digest_sha256(&now, &(struct slice){text, size}, 1);
    if (!followed->given || !digest_equal(&now, &followed->seen)) {
        followed->given = true;
        followed->seen = now;
        status =
            driver_give(driver, lane,
                        (struct event){.kind = EVENT_FILE,
                                       .as.file = {.which = file->which, .text = {text, size}}});
    }
    free(text);
    return status;
}

enum status driver_follow_files(struct driver *driver, struct lane *lane, bool anew)
{
    enum status status = STATUS_OK;
    for (size_t i = 0;
         i < driver->options->file_count && status == STATUS_OK && driver_runs(driver, lane); i++) {
        if (&driver->lane[driver->options->file[i].lane] == lane) {
            driver->followed[i] =
                anew ? (struct followed_file){.given = false} : driver->followed[i];
            status = look_at_file(driver, lane, i);
        }
    }
    return status;
}
