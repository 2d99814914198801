/* Who declines a job now. A coordinator knows it of its own agents alone, and not from its journal, which has only who was in
 * a round. So each one writes a row, also a collector. A row is written again while it is true, and counts for RECENT: what a
 * coordinator that died has written goes without anybody who has to notice. The server's clock alone decides. */

#include "database/jobs_private.h"

#include <stdio.h>

#define RECENT "interval '30 seconds'" /* three times JOBS_DECLINED_MS */

enum { RETRY_MS = 1000 };

void jobs_told_take(struct jobs_told *told, uint32_t number, const char *names)
{
    size_t place = JOBS_TOLD_MAX;
    for (size_t i = 0; i < JOBS_TOLD_MAX; i++) {
        if (told->of[i].number == number || (told->of[i].number == 0 && place == JOBS_TOLD_MAX)) {
            place = i;
        }
    }
    if (place == JOBS_TOLD_MAX) {
        return; /* the server has been away for many jobs: their rows have run out by now */
    }
    told->of[place].number = number;
    told->of[place].changed = true;
    told->of[place].written_ms = 0;
    (void)snprintf(told->of[place].names, JOBS_LINE_BYTES, "%s", names);
}

size_t jobs_told_due(const struct jobs_told *told, int64_t now_ms)
{
    size_t place = 0;
    while (place < JOBS_TOLD_MAX &&
           (told->of[place].number == 0 ||
            now_ms < told->of[place].written_ms +
                         (told->of[place].changed ? RETRY_MS : JOBS_DECLINED_MS))) {
        place++;
    }
    return place;
}

enum status jobs_told_write(struct jobs *jobs, const struct jobs_told *told, size_t place,
                            struct why *why)
{
    const struct database_value value[] = {
        database_of_number(told->of[place].number),
        database_of_bytes((struct slice){told->holder.byte, DIGEST_BYTES}),
        database_of_words(told->of[place].names)};
    return jobs_ask(jobs, NULL,
                    "WITH gone AS (DELETE FROM hedgerow_declined"
                    " WHERE CASE WHEN job = $1 AND holder = $2 THEN $3 = ''::bytea"
                    " ELSE told < clock_timestamp() - " RECENT " END)"
                    " INSERT INTO hedgerow_declined (job, holder, names, told)"
                    " SELECT $1, $2, convert_from($3, 'UTF8'), clock_timestamp()"
                    " WHERE $3 <> ''::bytea ON CONFLICT (job, holder)"
                    " DO UPDATE SET names = excluded.names, told = excluded.told",
                    value, 3, why);
}

void jobs_told_note(struct jobs_told *told, const struct jobs_told *copy, size_t place,
                    bool written, int64_t now_ms)
{
    const bool same = told->of[place].number == copy->of[place].number &&
                      strcmp(told->of[place].names, copy->of[place].names) == 0;
    if (!same) {
        return; /* it has changed meanwhile, and is due again */
    }
    told->of[place].written_ms = now_ms;
    told->of[place].changed = told->of[place].changed && !written;
    if (written && told->of[place].names[0] == '\0') {
        told->of[place].number = 0;
    }
}

/* "..." sorts before every name, and belongs after them. */
enum status jobs_declined(struct jobs *jobs, char names[static JOBS_LINE_BYTES], uint32_t number,
                          struct why *why)
{
    static const char more[] = ", ...";
    const struct database_value value = database_of_number(number);
    struct pg_result *answer = NULL;
    names[0] = '\0';
    const enum status status = jobs_ask(
        jobs, &answer,
        "SELECT coalesce(string_agg(DISTINCT name, ', ') FILTER (WHERE name <> '...'), ''),"
        " coalesce(bool_or(name = '...'), false)::int::bigint"
        " FROM hedgerow_declined, unnest(string_to_array(names, ', ')) AS name"
        " WHERE job = $1 AND told > clock_timestamp() - " RECENT,
        &value, 1, why);
    if (status == STATUS_OK) {
        const struct slice all = database_bytes(answer, 0, 0);
        bool cut = database_number(answer, 0, 1) == 1;
        jobs_take_line(names, JOBS_LINE_BYTES, all);
        while (names[0] != '\0' && (cut || strlen(names) < all.size) &&
               strlen(names) + sizeof more > JOBS_LINE_BYTES) {
            char *last = strrchr(names, ',');
            *(last != NULL ? last : names) = '\0';
            cut = true;
        }
        if (cut || strlen(names) < all.size) {
            const size_t used = strlen(names);
            (void)snprintf(names + used, JOBS_LINE_BYTES - used, "%s", used > 0 ? more : more + 2);
        }
    }
    database_answer_free(answer);
    return status;
}
