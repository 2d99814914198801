/* What addresses, paths and the http port of a settings file have to be, of either daemon. */

#include "config/settings_private.h"

#include "base/loopback.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT_MAX = 65535 };

bool settings_is_url(const char *place)
{
    return strstr(place, "://") != NULL;
}

/* Puts the settings file's folder before a relative path. */
static enum status resolve(const struct config *config, char path[static SETTINGS_PATH_BYTES],
                           const char *key, const char *settings_path, struct why *why)
{
    char relative[SETTINGS_PATH_BYTES];
    const char *slash = strrchr(settings_path, '/');
    if (path[0] == '\0' || path[0] == '/' || slash == NULL) {
        return STATUS_OK;
    }
    (void)snprintf(relative, sizeof relative, "%s", path);
    size_t folder = (size_t)(slash - settings_path) + 1;
    if (folder + strlen(relative) >= SETTINGS_PATH_BYTES) {
        return config_refuse(config, why, key,
                             "is too long a path from the settings file's folder");
    }
    memcpy(path, settings_path, folder);
    (void)snprintf(path + folder, SETTINGS_PATH_BYTES - folder, "%s", relative);
    return STATUS_OK;
}

enum status settings_resolve(const struct config *config, const struct settings_path_key *item,
                             size_t count, const char *settings_path, struct why *why)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = item[i].path == NULL
                     ? STATUS_OK
                     : resolve(config, item[i].path, item[i].key, settings_path, why);
    }
    return status;
}

enum status settings_check_address(const struct config *config, const char *address,
                                   const char *key, struct why *why)
{
    const char *host = address + strlen("tcp://");
    bool good = strncmp(address, "tcp://", strlen("tcp://")) == 0;
    const char *colon = good ? strrchr(host, ':') : NULL;
    if (colon == NULL || colon == host || strpbrk(host, " /?#@") != NULL) {
        return config_refuse(config, why, key, "is no address: write it like tcp://host:7310");
    }
    size_t digits = strspn(colon + 1, "0123456789");
    if (digits == 0 || digits > 5 || colon[1 + digits] != '\0' ||
        strtol(colon + 1, NULL, 10) > PORT_MAX) {
        return config_refuse(config, why, key,
                             "has no port up to 65535: write it like tcp://host:7310");
    }
    return STATUS_OK;
}

enum status settings_check_addresses(const struct config *config, const char *list, const char *key,
                                     struct why *why)
{
    char one[SETTINGS_ADDRESS_BYTES];
    enum status status = STATUS_OK;
    do {
        const size_t size = strcspn(list, " ");
        (void)snprintf(one, sizeof one, "%.*s", (int)size, list);
        status = settings_check_address(config, one, key, why);
        list += size + strspn(list + size, " ");
    } while (status == STATUS_OK && *list != '\0');
    return status;
}

/* All four, or none. */
static enum status check_http_files(const struct config *config, const struct http_settings *http,
                                    bool *secure, struct why *why)
{
    const struct {
        const char *value;
        const char *key;
    } item[] = {{http->certificate, "http.certificate"},
                {http->key, "http.key"},
                {http->token, "http.token"},
                {http->names, "http.names"}};
    const char *missing = NULL;
    *secure = false;
    for (size_t i = 0; i < sizeof item / sizeof item[0]; i++) {
        *secure = *secure || item[i].value[0] != '\0';
        missing = item[i].value[0] == '\0' && missing == NULL ? item[i].key : missing;
    }
    return *secure && missing != NULL
               ? config_refuse(config, why, missing,
                               "is missing: certificate, key, token and names belong together")
               : STATUS_OK;
}

enum status settings_check_http(const struct config *config, const struct http_settings *http,
                                struct why *why)
{
    struct loopback address;
    bool secure = false;
    if (http->listen[0] == '\0') {
        return STATUS_OK;
    }
    enum status status = check_http_files(config, http, &secure, why);
    if (status != STATUS_OK) {
        return status;
    }
    if (secure && http->approve) {
        return config_refuse(config, why, "http.approve",
                             "is for a page of this machine alone: leave certificate, key, token "
                             "and names out");
    }
    switch (loopback_parse(&address, http->listen)) {
    case LOOPBACK_GOOD:
        break;
    case LOOPBACK_MALFORMED:
        return config_refuse(config, why, "http.listen",
                             "is no address: write it like 127.0.0.1:7390");
    case LOOPBACK_ELSEWHERE:
        return secure
                   ? STATUS_OK
                   : config_refuse(config, why, "http.listen",
                                   "is not an address of this machine alone: write 127.0.0.1:7390 "
                                   "or [::1]:7390, and reach it from elsewhere with ssh -L "
                                   "7390:127.0.0.1:7390; or say certificate, key, token and names");
    }
    return STATUS_OK;
}
