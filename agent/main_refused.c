/* Which jobs this site refused without asking a person, and why, in the file `refused` of the state folder. The running agent
 * writes it, and the commands about jobs and the page read it. It holds the latest REFUSED_MAX texts and no record depends on it:
 * a coordinator that offers others pushes these out, a jobs_per_day a day, and can do no more. */

#include "agent/main_approve.h"
#include "agent/participant.h"
#include "base/file.h"
#include "config/config.h"
#include "json/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void refused_path(const struct site *site, char path[static DESK_PATH_BYTES])
{
    (void)snprintf(path, DESK_PATH_BYTES, "%s/refused", site->settings.state);
}

static bool parse_one(struct desk_refusal *out, json_t *json)
{
    const char *hex = NULL;
    const char *name = NULL;
    const char *why = NULL;
    json_int_t epsilon_micro = 0;
    json_int_t wall_ms = 0;
    if (json_unpack(json, "{s:s, s:s, s:I, s:I, s:s}", "digest", &hex, "job", &name,
                    "epsilon_micro", &epsilon_micro, "when_ms", &wall_ms, "why", &why) != 0 ||
        strlen(hex) != (size_t)2 * DIGEST_BYTES ||
        hex_decode(out->text.byte, DIGEST_BYTES, hex) != STATUS_OK || epsilon_micro < 0) {
        return false;
    }
    (void)snprintf(out->name, sizeof out->name, "%s", name);
    (void)snprintf(out->why, sizeof out->why, "%s", why);
    out->epsilon_micro = (uint64_t)epsilon_micro;
    out->wall_ms = wall_ms;
    return true;
}

/* A file that is not there, or is not what this program wrote, says nothing. */
static void load(struct desk_refusals *out, const struct site *site)
{
    char path[DESK_PATH_BYTES];
    char *text = NULL;
    size_t size = 0;
    struct why ignored = {{0}};
    out->count = 0;
    refused_path(site, path);
    if (access(path, F_OK) != 0 || config_load_owned(&text, &size, path, &ignored) != STATUS_OK) {
        free(text);
        return;
    }
    json_t *list = json_loadb(text, size, 0, NULL);
    for (size_t i = 0; i < json_array_size(list) && out->count < REFUSED_MAX; i++) {
        out->count += parse_one(&out->item[out->count], json_array_get(list, i)) ? 1 : 0;
    }
    json_decref(list);
    free(text);
}

static bool write_all(const struct site *site, const struct desk_refusals *refusals,
                      struct why *why)
{
    char path[DESK_PATH_BYTES];
    json_t *list = json_array();
    refused_path(site, path);
    for (size_t i = 0; i < refusals->count; i++) {
        const struct desk_refusal *one = &refusals->item[i];
        char hex[2 * DIGEST_BYTES + 1];
        hex_encode(hex, one->text.byte, DIGEST_BYTES);
        json_add(&list, json_pack("{s:s, s:s, s:I, s:I, s:s}", "digest", hex, "job", one->name,
                                  "epsilon_micro", (json_int_t)one->epsilon_micro, "when_ms",
                                  (json_int_t)one->wall_ms, "why", one->why));
    }
    char *text = json_text(list, 0, 17);
    json_decref(list);
    if (text == NULL) {
        why_set(why, "%s", status_text(STATUS_NO_MEMORY));
        return false;
    }
    const bool good = file_write(path, (struct slice){text, strlen(text)}, 0600, why) == STATUS_OK;
    free(text);
    return good;
}

static void take_out(struct desk_refusals *refusals, size_t place)
{
    refusals->count--;
    memmove(&refusals->item[place], &refusals->item[place + 1],
            (refusals->count - place) * sizeof refusals->item[0]);
}

static size_t place_of(const struct desk_refusals *refusals, const struct digest *text)
{
    size_t place = 0;
    while (place < refusals->count && !digest_equal(&refusals->item[place].text, text)) {
        place++;
    }
    return place;
}

bool site_keep_refusal(const struct site *site, const struct refusal *refusal, int64_t wall_ms,
                       struct why *why)
{
    bool kept = false;
    struct desk_refusal next = {
        .text = refusal->text, .epsilon_micro = refusal->epsilon_micro, .wall_ms = wall_ms};
    struct desk_refusals *all = calloc(1, sizeof *all);
    if (all == NULL) {
        why_set(why, "%s", status_text(STATUS_NO_MEMORY));
        return false;
    }
    load(all, site);
    const size_t place = place_of(all, &refusal->text);
    const bool known = place < all->count;
    if (refusal->why != NULL) {
        (void)snprintf(next.name, sizeof next.name, "%s", refusal->name);
        (void)snprintf(next.why, sizeof next.why, "%s", refusal->why);
        approval_make_plain(next.name); /* both may quote what a coordinator wrote */
        approval_make_plain(next.why);
    }
    if (refusal->why == NULL ? !known : known && strcmp(all->item[place].why, next.why) == 0) {
        free(all);
        return true; /* as it was: after each start the same job is judged again */
    }
    if (known) {
        take_out(all, place);
    } else if (all->count == REFUSED_MAX) {
        take_out(all, 0);
    }
    if (refusal->why != NULL) {
        all->item[all->count++] = next;
    }
    kept = write_all(site, all, why);
    free(all);
    return kept;
}

void desk_load_refused(struct desk *desk)
{
    load(&desk->refused, desk->site);
}

const struct desk_refusal *desk_refusal_of(const struct desk *desk, const struct digest *text)
{
    const size_t place = place_of(&desk->refused, text);
    return place < desk->refused.count ? &desk->refused.item[place] : NULL;
}

json_t *desk_refused_json(const struct desk *desk)
{
    json_t *list = json_array();
    for (size_t i = desk->refused.count; i-- > 0;) {
        const struct desk_refusal *one = &desk->refused.item[i];
        char hex[2 * DIGEST_BYTES + 1];
        hex_encode(hex, one->text.byte, DIGEST_BYTES);
        json_add(&list, json_pack("{s:s, s:s, s:f, s:s}", "digest", hex, "job", one->name, "when",
                                  (double)one->wall_ms / 1000, "why", one->why));
    }
    return list;
}
