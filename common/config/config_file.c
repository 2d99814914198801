/* Files: read whole, and written from the table of keys, so that nothing is said of a key in two places. */

#include "base/text.h"
#include "config/config.h"

#include "base/file.h"
#include "base/owned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TEMPLATE_BYTES = 16 * 1024 };

static void add_choices(char *text, const struct config_key *key)
{
    text_add(text, TEMPLATE_BYTES, " One of: ");
    for (unsigned i = 0; key->choice(i) != NULL; i++) {
        text_add(text, TEMPLATE_BYTES, "%s%s", i > 0 ? ", " : "", key->choice(i));
    }
    text_add(text, TEMPLATE_BYTES, ".");
}

static void add_key(char *text, const struct config_key *key)
{
    const char *value = key->fallback != NULL ? key->fallback : key->example;
    text_add(text, TEMPLATE_BYTES, "\n# %s", key->doc);
    if (key->choice != NULL) {
        add_choices(text, key);
    }
    if (key->required) {
        text_add(text, TEMPLATE_BYTES, "\n# Required.\n%s: %s\n", key->name, key->example);
    } else if (key->fallback != NULL) {
        text_add(text, TEMPLATE_BYTES, "\n# Optional; this is the default.\n# %s: %s\n", key->name,
                 value);
    } else {
        text_add(text, TEMPLATE_BYTES, "\n# Optional; for example:\n# %s: %s\n", key->name, value);
    }
}

char *config_template(const struct config_key *keys, const char *head)
{
    char *text = calloc(1, TEMPLATE_BYTES);
    if (text == NULL) {
        return NULL;
    }
    for (const char *line = head; *line != '\0';) {
        const size_t size = strcspn(line, "\n");
        text_add(text, TEMPLATE_BYTES, "# %.*s\n", (int)size, line);
        line += size + (line[size] == '\n' ? 1 : 0);
    }
    text_add(text, TEMPLATE_BYTES,
             "\n# The version of this file's format.\n# Required.\nhedgerow: %d\n", CONFIG_VERSION);
    for (; keys->name != NULL; keys++) {
        if (keys->doc != NULL) { /* keys without are for programs alone */
            add_key(text, keys);
        }
    }
    return text;
}

void config_put_text(FILE *out, const char *text)
{
    (void)fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            (void)fputc('\\', out);
        }
        (void)fputc(*text, out);
    }
    (void)fputc('"', out);
}

enum status config_load(char **out, size_t *size, const char *path, struct why *why)
{
    const enum status status = file_read(out, size, path, CONFIG_TEXT_BYTES_MAX, why);
    struct stat about;
    if (status == STATUS_INVALID && stat(path, &about) == 0 && S_ISREG(about.st_mode)) {
        why_set(why,
                "%s: larger than %d bytes, the most for such a text: is it a table of records?",
                path, CONFIG_TEXT_BYTES_MAX);
    }
    return status == STATUS_NOT_FOUND ? STATUS_IO : status; /* whoever asks needs the file */
}

enum status config_load_owned(char **out, size_t *size, const char *path, struct why *why)
{
    const enum status status = owned_source(path, why);
    return status == STATUS_OK ? config_load(out, size, path, why) : status;
}
