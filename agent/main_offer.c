/* Which job the coordinator offers this site, in the file `offered` of the state folder: the running agent writes it, and the
 * commands about jobs read it. A text or a run that is not offered is over, though the journal does not tell. */

#include "agent/main_approve.h"
#include "base/file.h"
#include "config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEX = 2 * DIGEST_BYTES, LINE_BYTES = 2 * HEX + 3 };

static const char NONE[] = "none\n";

static void offered_path(const struct site *site, char path[static DESK_PATH_BYTES])
{
    (void)snprintf(path, DESK_PATH_BYTES, "%s/offered", site->settings.state);
}

bool site_keep_offer(const struct site *site, const struct job_name *job, struct why *why)
{
    char path[DESK_PATH_BYTES];
    char line[LINE_BYTES];
    char id[HEX + 1];
    char text[HEX + 1];
    offered_path(site, path);
    (void)snprintf(line, sizeof line, "%s", NONE);
    if (job != NULL) {
        hex_encode(id, job->id.byte, DIGEST_BYTES);
        hex_encode(text, job->text_digest.byte, DIGEST_BYTES);
        (void)snprintf(line, sizeof line, "%s %s\n", id, text);
    }
    return file_write(path, (struct slice){line, strlen(line)}, 0600, why) == STATUS_OK;
}

static bool parse(struct desk_offer *out, const char *text, size_t size)
{
    char line[LINE_BYTES] = "";
    if (size == sizeof NONE - 1 && memcmp(text, NONE, size) == 0) {
        return true;
    }
    if (size != LINE_BYTES - 1 || text[HEX] != ' ' || text[size - 1] != '\n') {
        return false;
    }
    memcpy(line, text, size);
    line[HEX] = '\0';
    line[size - 1] = '\0';
    return hex_decode(out->id.byte, DIGEST_BYTES, line) == STATUS_OK &&
           hex_decode(out->text.byte, DIGEST_BYTES, line + HEX + 1) == STATUS_OK;
}

void desk_load_offer(struct desk *desk)
{
    char path[DESK_PATH_BYTES];
    char *text = NULL;
    size_t size = 0;
    struct why ignored = {{0}};
    struct desk_offer offer = {.known = false};
    offered_path(desk->site, path);
    if (access(path, F_OK) == 0 && config_load_owned(&text, &size, path, &ignored) == STATUS_OK) {
        offer.known = parse(&offer, text, size);
    }
    free(text);
    desk->offer = offer.known ? offer : (struct desk_offer){.known = false};
}

/* A yes to one job ends with it: another job of the same text has another id. */
bool desk_is_spent(const struct desk *desk, const struct approval *decision)
{
    return desk->offer.known && !digest_is_none(&decision->job) &&
           !digest_equal(&desk->offer.id, &decision->job);
}

bool desk_offers(const struct desk *desk, const struct digest *text)
{
    return !desk->offer.known || digest_equal(&desk->offer.text, text);
}
