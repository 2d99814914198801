/* An operator's own files: ~/.config/hedgerow/NAME.yml, NAME.key with NAME.key.pub, and NAME.submits-DIGEST while it is not
 * known whether a job has arrived. */

#include "cli/at.h"

#include "base/check.h"
#include "base/file.h"
#include "base/owned.h"
#include "config/config.h"
#include "config/keys.h"
#include "crypto/random.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGEST_SHOWN = 8, ID_HEX_BYTES = 2 * DIGEST_BYTES + 1 };

struct at_text {
    char address[256];
    char public_key[KEY_HEX_BYTES];
    char key[AT_PATH_BYTES];
};

/* clang-format off */
#define KEY_OF struct at_text
static const struct config_key at_keys[] = {
    KEY_TEXT("address", address, REQUIRED("tcp://coordinator.example:7311")),
    KEY_TEXT("public_key", public_key, REQUIRED("64 digits of the coordinator's key")),
    KEY_TEXT("key", key, REQUIRED("office.key")),
    KEY_END,
};
#undef KEY_OF
/* clang-format on */

/* What a name may be keeps it a file's name: no slash, no dot first. */
static bool name_is_good(const char *name)
{
    const size_t size = strlen(name);
    return size >= 1 && size <= AT_NAME_MAX && name[0] != '.' && name[0] != '-' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") == size;
}

enum status at_check_name(const char *name, struct why *why)
{
    return name_is_good(name)
               ? STATUS_OK
               : why_refuse(why, "--at takes the name of a coordinator: 1 to 32 characters of a-z "
                                 "0-9 . _ -, a letter or digit first");
}

enum status at_find(struct at *at, const char *name, struct why *why)
{
    const char *config = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    const bool xdg = config != NULL && config[0] == '/';
    *at = (struct at){.number = 0};
    CHECK(name_is_good(name));
    if (!xdg && (home == NULL || home[0] != '/')) {
        return why_refuse(why, "HOME names no folder; remedy: set it, or XDG_CONFIG_HOME");
    }
    (void)snprintf(at->name, sizeof at->name, "%s", name);
    const int size = snprintf(at->folder, sizeof at->folder, "%s%s/hedgerow", xdg ? config : home,
                              xdg ? "" : "/.config");
    if (size < 0 || (size_t)size + AT_NAME_MAX + 64 >= sizeof at->folder) {
        return why_refuse(why, "the path of the settings' folder is too long");
    }
    (void)snprintf(at->path, sizeof at->path, "%.900s/%s.yml", at->folder, name);
    return STATUS_OK;
}

static enum status take_settings(struct at *at, const struct config *config,
                                 const struct at_text *text, struct why *why)
{
    if (strlen(text->public_key) != KEY_HEX_BYTES - 1 ||
        hex_decode(at->coordinator_key.byte, KEY_BYTES, text->public_key) != STATUS_OK ||
        digest_is_none(&at->coordinator_key)) {
        return config_refuse(config, why, "public_key", "is not 64 hexadecimal digits");
    }
    memcpy(at->address, text->address, sizeof at->address);
    if (endpoint_check_address(at->address, why) != STATUS_OK) {
        return config_refuse(config, why, "address",
                             "is no address: write it like tcp://host:7311");
    }
    const bool absolute = text->key[0] == '/';
    const int size = snprintf(at->key_path, sizeof at->key_path, "%s%s%s",
                              absolute ? "" : at->folder, absolute ? "" : "/", text->key);
    return size > 0 && (size_t)size < sizeof at->key_path
               ? STATUS_OK
               : config_refuse(config, why, "key", "is too long a path");
}

static enum status read_settings(struct at *at, struct why *why)
{
    struct at_text text = {.key = ""};
    struct config *config = NULL;
    char *yaml = NULL;
    size_t size = 0;
    enum status status = config_load_owned(&yaml, &size, at->path, why);
    if (status == STATUS_OK) {
        status = config_open(&config, (struct slice){yaml, size}, at->path, why);
    }
    if (status == STATUS_OK) {
        status = config_read(config, &text, at_keys, why);
    }
    if (status == STATUS_OK) {
        status = take_settings(at, config, &text, why);
    }
    config_free(config);
    free(yaml);
    return status;
}

enum status at_read(struct at *at, struct why *why)
{
    if (access(at->path, F_OK) != 0 && errno == ENOENT) {
        why_set(why,
                "%s is not there; remedy: hedgerow --at %s enrol --token FILE, with a token that "
                "`hedgerow-coordinator operators add` has made",
                at->path, at->name);
        return STATUS_NOT_FOUND;
    }
    enum status status = read_settings(at, why);
    if (status == STATUS_OK) {
        status = owned_source(at->key_path, why);
    }
    return status == STATUS_OK ? key_secret_read(&at->key, at->key_path, why) : status;
}

static enum status make_folder(const char *path, struct why *why)
{
    char above[AT_PATH_BYTES];
    struct stat about;
    (void)snprintf(above, sizeof above, "%s", path);
    *strrchr(above, '/') = '\0';
    if ((above[0] != '\0' && mkdir(above, 0700) != 0 && errno != EEXIST) ||
        (mkdir(path, 0700) != 0 && errno != EEXIST)) {
        why_file(why, path, "made", errno);
        return STATUS_IO;
    }
    return owned_folder(&about, path, why);
}

static enum status make_key(struct at *at, struct why *why)
{
    char public_path[AT_PATH_BYTES + 8];
    struct key_pair pair = {.public_key = {{0}}};
    if (access(at->key_path, F_OK) == 0) {
        return STATUS_OK;
    }
    (void)snprintf(public_path, sizeof public_path, "%s.pub", at->key_path);
    enum status status = key_pair_generate(&pair);
    if (status == STATUS_OK) {
        status = key_pair_write(&pair, NULL, at->key_path, public_path, why);
    }
    key_pair_wipe(&pair);
    return status;
}

static enum status write_settings(const struct at *at, const char *address,
                                  const struct digest *coordinator_key, struct why *why)
{
    char text[1024];
    char hex[KEY_HEX_BYTES];
    hex_encode(hex, coordinator_key->byte, KEY_BYTES);
    (void)snprintf(text, sizeof text,
                   "# Written by hedgerow --at %s enrol: a coordinator, and this operator's key.\n"
                   "hedgerow: 1\naddress: \"%s\"\npublic_key: \"%s\"\nkey: %s.key\n",
                   at->name, address, hex, at->name);
    return file_write(at->path, (struct slice){text, strlen(text)}, 0600, why);
}

enum status at_prepare(struct at *at, const char *address, const struct digest *coordinator_key,
                       struct why *why)
{
    enum status status = make_folder(at->folder, why);
    if (status == STATUS_OK && access(at->path, F_OK) == 0) {
        status = read_settings(at, why);
        if (status == STATUS_OK && (!digest_equal(&at->coordinator_key, coordinator_key) ||
                                    strcmp(at->address, address) != 0)) {
            why_set(why,
                    "%s names another coordinator than the token; remedy: another name behind "
                    "--at, or remove that file",
                    at->path);
            status = STATUS_EXISTS;
        }
    } else if (status == STATUS_OK) {
        (void)snprintf(at->key_path, sizeof at->key_path, "%.900s/%s.key", at->folder, at->name);
        status = make_key(at, why);
        if (status == STATUS_OK) {
            status = write_settings(at, address, coordinator_key, why);
        }
    }
    if (status == STATUS_OK) {
        status = make_key(at, why);
    }
    return status == STATUS_OK ? at_read(at, why) : status;
}

void at_free(struct at *at)
{
    at_hang_up(at);
    key_pair_wipe(&at->key);
}

static void submission_path(char path[static AT_PATH_BYTES], const struct at *at,
                            const struct digest *text)
{
    char hex[2 * DIGEST_SHOWN + 1];
    hex_encode(hex, text->byte, DIGEST_SHOWN);
    (void)snprintf(path, AT_PATH_BYTES, "%.900s/%s.submits-%s", at->folder, at->name, hex);
}

/* On disk before it is sent: a command that dies is run again, and asks under the same id. */
enum status at_remember(void *self, const struct digest *text, struct digest *id, struct why *why)
{
    char path[AT_PATH_BYTES];
    char hex[ID_HEX_BYTES + 1];
    size_t used = 0;
    submission_path(path, self, text);
    enum status status = file_read_text(hex, sizeof hex, &used, path, FILE_SECRET, why);
    if (status == STATUS_OK) {
        hex[strcspn(hex, "\n")] = '\0';
        if (strlen(hex) != ID_HEX_BYTES - 1 ||
            hex_decode(id->byte, sizeof id->byte, hex) != STATUS_OK || digest_is_none(id)) {
            status = why_refuse(why,
                                "%s has been changed; remedy: remove it if the job is not in "
                                "the queue (`jobs` lists it)",
                                path);
        }
        return status;
    }
    if (status != STATUS_NOT_FOUND) {
        return status;
    }
    why->text[0] = '\0';
    status = random_once(id->byte, sizeof id->byte);
    if (status != STATUS_OK) {
        why_set(why, "the operating system's random source cannot be read");
    }
    hex_encode(hex, id->byte, sizeof id->byte);
    return status == STATUS_OK ? file_write(path, (struct slice){hex, strlen(hex)}, 0600, why)
                               : status;
}

void at_forget(void *self, const struct digest *text)
{
    char path[AT_PATH_BYTES];
    submission_path(path, self, text);
    (void)unlink(path);
}
