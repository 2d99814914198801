/* `jobs` and `agents`: what comes in pages. */

#include "desk/desk.h"
#include "desk/private.h"
#include "desk/view.h"
#include "json/json_text.h"

#include <stdio.h>

/* Lists come in pages. `from` of the next page is what the answer says: it must grow. */
struct listing {
    const struct desk_port *port;
    enum ask_verb verb;
    const char *key;             /* of the list in the answer */
    void (*head)(void);          /* NULL: it has none */
    void (*row)(const json_t *); /* NULL: they are gathered */
    json_t *all;                 /* owned */
    bool wrong;                  /* something on it could not be read */
};

static void take_page(struct listing *listing, const json_t *answer)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(answer, listing->key), i, item)
    {
        if (listing->row != NULL) {
            listing->row(item);
        } else {
            json_add(&listing->all, json_incref(item));
        }
    }
    json_array_foreach(json_object_get(answer, "wrong"), i, item)
    {
        char why[VIEW_TEXT_BYTES];
        (void)fprintf(stderr, "%s: job %.0f is passed over: %s\n", listing->port->program,
                      view_number(item, "number"), view_text(why, item, "why"));
        listing->wrong = true;
    }
}

static enum exit_code list_all(struct listing *listing, struct why *why)
{
    struct ask ask = {.verb = listing->verb};
    enum exit_code code = EXIT_CODE_OK;
    bool more = true;
    while (code == EXIT_CODE_OK && more) {
        json_t *answer = NULL;
        code = desk_ask(&answer, listing->port, &ask, (struct slice){NULL, 0}, why);
        if (code == EXIT_CODE_OK && ask.from == 0 && listing->head != NULL) {
            listing->head();
        }
        take_page(listing, answer);
        const double next = view_number(answer, "more");
        more = next > (double)ask.from && next < (double)ASK_FROM_MAX;
        ask.from = more ? (uint64_t)next : 0;
        json_decref(answer);
    }
    return code;
}

enum exit_code desk_jobs(const struct desk_port *port, const struct desk_request *request,
                         struct why *why)
{
    struct listing listing = {.port = port,
                              .verb = ASK_JOBS,
                              .key = "jobs",
                              .head = request->json ? NULL : view_jobs_head,
                              .row = request->json ? NULL : view_jobs_row,
                              .all = json_array()};
    enum exit_code code = list_all(&listing, why);
    if (code == EXIT_CODE_OK && request->json) {
        json_t *whole = json_pack("{s:O}", "jobs", listing.all);
        code = whole != NULL ? desk_print(whole, false) : EXIT_CODE_INTERNAL;
        json_decref(whole);
    }
    json_decref(listing.all);
    return code == EXIT_CODE_OK && listing.wrong ? EXIT_CODE_INPUT : code;
}

enum exit_code desk_agents(const struct desk_port *port, const struct desk_request *request,
                           struct why *why)
{
    struct listing listing = {.port = port,
                              .verb = ASK_AGENTS,
                              .key = "agents",
                              .row = request->json ? NULL : view_agent,
                              .all = json_array()};
    enum exit_code code = list_all(&listing, why);
    if (code == EXIT_CODE_OK && request->json) {
        code = listing.all != NULL ? desk_print(listing.all, false) : EXIT_CODE_INTERNAL;
    }
    json_decref(listing.all);
    return code;
}
