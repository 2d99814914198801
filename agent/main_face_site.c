/* What the site's own page shows besides the figures: the ledger over time, the jobs and their plans, the data dictionary. All
 * of it follows from jobs' texts, charges, a person's decisions and the dictionary. */

#include "agent/main_face.h"

#include "io/clock.h"
#include "json/json_text.h"

#include <stdlib.h>
#include <string.h>

enum { ID_DIGITS = 16 };

static json_t *micro_json(uint64_t micro)
{
    return micro == UINT64_MAX ? json_null() : json_real((double)micro * 1e-6);
}

static json_t *allowance_json(const struct balance *balance)
{
    return !balance->limited ? json_null()
                             : json_pack("{s:o, s:o, s:o, s:o}", "limit",
                                         micro_json(balance->filter.limit.epsilon_micro), "used",
                                         micro_json(site_epsilon_used(balance)), "left",
                                         micro_json(site_epsilon_left(balance)), "sum",
                                         micro_json(balance->spent.epsilon_micro));
}

/* A point is a time, the run that was charged (null: several) and what was used up by then. */
static json_t *spending_json(const struct spending *spending)
{
    json_t *list = json_array();
    for (size_t i = 0; i < spending->count; i++) {
        const struct spending_point *point = &spending->point[i];
        json_add(&list,
                 json_pack("[f, o, o]", (double)point->wall_ms / 1000,
                           point->job == SPENDING_MIXED ? json_null()
                                                        : json_integer((json_int_t)point->job),
                           micro_json(point->used_micro)));
    }
    return list;
}

/* The latest runs by their number, which the points name. */
static json_t *runs_json(const struct desk *desk)
{
    json_t *list = json_array();
    const size_t count = desk->run_count;
    for (size_t i = count > DESK_RUNS_SHOWN ? count - DESK_RUNS_SHOWN : 0; i < count; i++) {
        const struct desk_run *run = &desk->run[i];
        char id[ID_DIGITS + 1];
        char text[2 * DIGEST_BYTES + 1];
        hex_encode(id, run->id.byte, ID_DIGITS / 2);
        hex_encode(text, run->text.byte, DIGEST_BYTES);
        json_add(&list, json_pack("{s:I, s:s, s:s, s:s}", "number", (json_int_t)i, "id", id,
                                  "digest", text, "job", run->name));
    }
    return list;
}

/* Made once for each text: the price of a plan takes as long as the job is. */
static json_t *waiting_json(struct desk *desk, const struct ledger *ledger)
{
    json_t *list = json_array();
    for (size_t i = 0; i < desk->count; i++) {
        struct waiting_job *waiting = &desk->waiting[i];
        if (!desk_waits(desk, waiting)) {
            continue;
        }
        if (waiting->plan == NULL) {
            waiting->plan = approve_plan_json(desk->site, waiting);
        }
        json_t *plan = waiting->plan != NULL ? json_copy(waiting->plan)
                                             : json_pack("{s:s, s:s}", "digest", waiting->hex,
                                                         "name", waiting->job.name);
        json_put(&plan, "runs_before", json_integer((json_int_t)waiting->runs_before));
        json_put(&plan, "not_enough",
                 approve_short_json(ledger, &desk->site->policy, &waiting->job));
        json_add(&list, plan);
    }
    return list;
}

static json_t *column_json(const struct dictionary_column *column)
{
    json_t *categories = column->category == NULL ? json_null() : json_array();
    for (size_t i = 0; column->category != NULL && i < column->category_count; i++) {
        json_add(&categories, json_string(column->category[i]));
    }
    const bool low = column->kind == DICTIONARY_NUMBER && column->low > -DICTIONARY_BOUND_MAX;
    const bool high = column->kind == DICTIONARY_NUMBER && column->high < DICTIONARY_BOUND_MAX;
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "name", column->name, "kind",
                     dictionary_kind_name(column->kind), "unit", column->unit, "low",
                     low ? json_real(column->low) : json_null(), "high",
                     high ? json_real(column->high) : json_null(), "categories", categories);
}

static json_t *dictionary_json(const struct dictionary *dictionary)
{
    json_t *columns = json_array();
    for (size_t i = 0; i < dictionary->column_count; i++) {
        json_add(&columns, column_json(&dictionary->column[i]));
    }
    return json_pack("{s:I, s:o}", "records", (json_int_t)dictionary->record_count, "columns",
                     columns);
}

static char *starting(unsigned *code)
{
    char *text = malloc(sizeof "{}");
    *code = 503;
    if (text != NULL) {
        memcpy(text, "{}", sizeof "{}");
    }
    return text;
}

char *site_face_json(void *self, unsigned *code)
{
    struct face *face = self;
    struct why ignored = {{0}};
    if (face->participant == NULL || face->desk_failed ||
        desk_refresh(face->desk, &ignored) != STATUS_OK) {
        return starting(code);
    }
    const struct participant_view view = participant_look(face->participant, clock_wall_ms());
    const struct balance total = ledger_balance(view.ledger, ALLOWANCE_TOTAL);
    const struct balance window = ledger_balance(view.ledger, ALLOWANCE_WINDOW);
    json_t *root = json_pack(
        "{s:b, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "approve",
        face->site->settings.http.approve, "budget", allowance_json(&total), "window",
        allowance_json(&window), "window_days", (json_int_t)face->site->policy.allowance_days,
        "spending", spending_json(&face->spending), "runs", runs_json(face->desk), "waiting",
        waiting_json(face->desk, view.ledger), "jobs", desk_jobs_json(face->desk, view.ledger),
        "refused", desk_refused_json(face->desk), "unread", (json_int_t)face->desk->unread_count,
        "dictionary", dictionary_json(&face->site->dictionary));
    char *text = json_text(root, 0, 12);
    json_decref(root);
    return text;
}
