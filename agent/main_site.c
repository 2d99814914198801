/* What every command of the agent reads first. */

#include "agent/main.h"
#include "base/owned.h"
#include "config/config.h"
#include "learn/dataset.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What says what this program may do is read only if nobody else could have written it. */
static enum status load_own(char **text, size_t *size, const char *path, struct why *why)
{
    enum status status = owned_source(path, why);
    return status == STATUS_OK ? config_load(text, size, path, why) : status;
}

enum status site_read_settings(struct site *site, const char *path, struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    enum status status = load_own(&text, &size, path, why);

    if (status == STATUS_OK) {
        status = agent_settings_parse(&site->settings, (struct slice){text, size}, path, why);
    }
    free(text);
    return status;
}

enum status site_read_policy(struct site *site, struct why *why)
{
    char *text = NULL;
    size_t size = 0;
    const char *path = site->settings.policy;
    enum status status = load_own(&text, &size, path, why);

    if (status == STATUS_OK) {
        status = policy_parse(&site->policy, (struct slice){text, size}, path, why);
    }
    free(text);
    return status;
}

enum status site_read_own_key(struct site *site, struct why *why)
{
    enum status status = owned_source(site->settings.key, why);
    return status == STATUS_OK ? key_secret_read(&site->key, site->settings.key, why) : status;
}

enum status site_read_keys(struct site *site, struct why *why)
{
    enum status status = site_read_own_key(site, why);
    if (status == STATUS_OK && site->settings.public_key_file[0] != '\0') {
        status = owned_source(site->settings.public_key_file, why);
        return status == STATUS_OK
                   ? key_public_read(&site->coordinator_key, site->settings.public_key_file, why)
                   : status;
    }
    site->coordinator_key = site->settings.public_key;
    return status;
}

enum status site_read_job(struct site *site, const char *path, struct why *why)
{
    if (path == NULL) {
        path = site->settings.job[0] != '\0' ? site->settings.job : NULL;
    }
    return path == NULL ? STATUS_OK : load_own(&site->job_text, &site->job_size, path, why);
}

void site_free(struct site *site)
{
    key_pair_wipe(&site->key);
    free(site->job_text);
    memset(site, 0, sizeof *site);
}

/* The type of struct source's self is not const; the path is only read. */
union path {
    const char *in;
    void *out;
};

static enum status load_file(void *self, struct dataset *out, const struct schema *schema,
                             struct why *why)
{
    const char *path = self;
    FILE *file = fopen(path, "rb");

    if (file == NULL) {
        why_set(why, "%s: cannot be opened: %s", path, strerror(errno));
        return STATUS_IO;
    }
    enum status status =
        dataset_read(out, file, path, schema, &(struct dataset_options){.use = DATASET_LEARN}, why);
    (void)fclose(file);
    return status;
}

struct source site_source(const char *path)
{
    union path self = {.in = path};
    return (struct source){.load = load_file, .self = self.out};
}
