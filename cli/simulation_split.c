/* Deals the records out: by rows, or under `--streams` by the columns of a wide table. Each stream's agent gets
 * the days of its column under the name of the job's label, and the columns that the job's features name. */

#include "base/decimal.h"
#include "base/text.h"
#include "cli/simulation.h"
#include "crypto/digest.h"
#include "crypto/random.h"
#include "learn/csv.h"
#include "learn/header.h"
#include "learn/permutation.h"
#include "learn/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The files under way: the agents' shares, then those of the records held out. */
struct shares {
    FILE *file[2 * SIMULATION_AGENTS_MAX];
    size_t count;
};

static enum status split_seed(const struct simulation_request *asked, struct digest *seed)
{
    if (asked->seeded) {
        static const char purpose[] = "hedgerow simulate, split";
        uint8_t number[8];
        store_u64(number, asked->seed);
        const struct slice part[] = {{purpose, sizeof purpose}, {number, sizeof number}};
        digest_sha256(seed, part, 2);
        return STATUS_OK;
    }
    return random_once(seed->byte, sizeof seed->byte);
}

/* The first of a random order are held out, the others dealt out in turn: shares differ by at most
 * one record. Which share a record goes to does not depend on what is in it. */
static enum status deal_records(const struct simulation_plan *plan, size_t *share_of)
{
    const size_t count = plan->record_count;
    size_t *order = calloc(count + 1, sizeof *order);
    struct digest seed;
    enum status status = order == NULL ? STATUS_NO_MEMORY : split_seed(&plan->asked, &seed);

    if (status == STATUS_OK) {
        permutation_draw(order, count, &seed);
        for (size_t i = 0; i < count; i++) {
            share_of[order[i]] = i < plan->held_count ? plan->agent_count
                                                      : (i - plan->held_count) % plan->agent_count;
        }
    }
    free(order);
    return status;
}

/* A series is cut into stretches of days, the last of which is held out. Each loses as many records
 * at its beginning as its longest lag has days. */
static void deal_days(const struct simulation_plan *plan, size_t *share_of, size_t days)
{
    const size_t shared = days - plan->held_count;
    for (size_t i = 0; i < days; i++) {
        share_of[i] = i < shared ? i * plan->agent_count / shared : plan->agent_count;
    }
}

static enum status split_rows(struct shares *shares, FILE *file, const struct simulation_plan *plan,
                              size_t rows, struct why *why)
{
    size_t *share_of = calloc(rows + 1, sizeof *share_of);
    enum status status = share_of == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    if (status == STATUS_OK && schema_is_series(&plan->job.schema)) {
        deal_days(plan, share_of, rows);
    } else if (status == STATUS_OK) {
        status = deal_records(plan, share_of);
    }
    if (status == STATUS_OK) {
        status = csv_split(file, plan->data, 0, shares->file, shares->count, share_of, rows, why);
    }
    free(share_of);
    return status;
}

/* Where the columns of the streams are, then those of the job's features; field (agents + columns). */
static enum status read_header(size_t *field, struct csv *csv, const struct simulation_plan *plan,
                               struct why *why)
{
    const struct schema *schema = &plan->job.schema;
    const size_t streams = plan->agent_count;
    bool done = false;
    enum status status = csv_next(csv, &done, why);
    const struct header header = {.csv = csv,
                                  .name = plan->data,
                                  .asked_by = "the list of streams or the job",
                                  .dictionary = "the data dictionary",
                                  .field_count = status == STATUS_OK ? csv_field_count(csv) : 0};
    for (size_t i = 0; i < streams + schema->column_count && status == STATUS_OK; i++) {
        status = header_need(&field[i], &header,
                             i < streams ? plan->agent[i].column : schema->column[i - streams].name,
                             why);
    }
    return status;
}

/* One day: every stream's own entry, empty where it is no number, and the features of the day that
 * all have. */
static enum status deal_day(FILE *const *file, const struct csv *csv, const size_t *field,
                            const struct simulation_plan *plan, struct why *why)
{
    const size_t streams = plan->agent_count;
    for (size_t i = 0; i < streams; i++) {
        double value = 0;
        if (decimal_cell(&value, csv_field(csv, field[i])) == STATUS_OK) {
            (void)fprintf(file[i], "%.9g", value / plan->agent[i].unit);
        }
        for (size_t c = 0; c < plan->job.schema.column_count; c++) {
            const struct slice text = csv_field(csv, field[streams + c]);
            if (memchr(text.data, ',', text.size) != NULL ||
                memchr(text.data, '"', text.size) != NULL) {
                return why_refuse(why, "%s: line %zu: a feature with commas or quotes", plan->data,
                                  csv_line(csv));
            }
            (void)fprintf(file[i], ",%.*s", (int)text.size, (const char *)text.data);
        }
        (void)fputc('\n', file[i]);
    }
    return STATUS_OK;
}

static enum status split_columns(struct shares *shares, FILE *file,
                                 const struct simulation_plan *plan, size_t days, struct why *why)
{
    const struct schema *schema = &plan->job.schema;
    struct csv *csv = NULL;
    bool done = false;
    size_t *field = calloc(plan->agent_count + schema->column_count, sizeof *field);
    enum status status = field == NULL ? STATUS_NO_MEMORY : csv_new(&csv, file, plan->data, 0);
    if (status == STATUS_OK) {
        status = read_header(field, csv, plan, why);
    }
    for (size_t i = 0; i < shares->count && status == STATUS_OK; i++) {
        (void)fputs(schema->label.name, shares->file[i]);
        for (size_t c = 0; c < schema->column_count; c++) {
            (void)fprintf(shares->file[i], ",%s", schema->column[c].name);
        }
        (void)fputc('\n', shares->file[i]);
    }
    for (size_t day = 0; status == STATUS_OK && !done; day++) {
        const bool held = day >= days - plan->held_count;
        status = csv_next(csv, &done, why);
        if (status == STATUS_OK && !done) {
            status = deal_day(shares->file + (held ? plan->agent_count : 0), csv, field, plan, why);
        }
    }
    csv_free(csv);
    free(field);
    return status;
}

static enum status open_shares(struct shares *shares, const struct simulation_plan *plan,
                               struct why *why)
{
    char path[SIMULATION_PATH_BYTES];
    simulation_path(path, plan->asked.out, "held-out");
    bool good = plan->asked.streams_path == NULL || mkdir(path, 0700) == 0;
    for (size_t i = 0; good && i < plan->agent_count + plan->held_files; i++) {
        if (i < plan->agent_count) {
            simulation_path(path, plan->asked.out, "agents/%s/data.csv", plan->agent[i].name);
        } else {
            simulation_held_path(path, plan, i - plan->agent_count);
        }
        shares->file[i] = fopen(path, "wbxe");
        good = shares->file[i] != NULL;
        shares->count += good;
    }
    if (!good) {
        why_set(why, "%s: %s", path, strerror(errno));
    }
    return good ? STATUS_OK : STATUS_IO;
}

enum status simulation_split(const struct simulation_plan *plan, struct why *why)
{
    struct shares shares = {.count = 0};
    const size_t rows = plan->record_count + schema_history(&plan->job.schema);
    FILE *file = NULL;
    enum status status = table_open(&file, plan->data, why);
    if (status != STATUS_OK) {
        return status;
    }
    const mode_t mask = umask(077);
    status = open_shares(&shares, plan, why);
    (void)umask(mask);
    const bool opened = status == STATUS_OK;
    if (opened) {
        status = (plan->asked.streams_path != NULL ? split_columns : split_rows)(&shares, file,
                                                                                 plan, rows, why);
    }
    /* What writes the shares knows no path of theirs. */
    bool failed = opened && status == STATUS_IO && !ferror(file);
    for (size_t i = 0; i < shares.count; i++) {
        const bool broken = ferror(shares.file[i]) != 0;
        failed = (fclose(shares.file[i]) != 0 || broken) && status == STATUS_OK ? true : failed;
    }
    if (failed) {
        why_set(why, "%s: the shares cannot be written: is the disk full?", plan->asked.out);
        status = STATUS_IO;
    }
    (void)fclose(file);
    return status;
}

/* The answers by site, in the terminal. */

enum { LABEL_WIDTH = 26 };

/* "0.0188  -0.0233 to 0.0608"; an end that is not known has none, and there may be no interval. */
static void show_interval(FILE *out, const char *label, double value, double low, double high)
{
    char number[32] = "";
    char from[32] = "...";
    char to[32] = "...";
    if (isfinite(value)) {
        (void)snprintf(number, sizeof number, "%s", decimal_short(value, 4).text);
    }
    if (isfinite(low)) {
        (void)snprintf(from, sizeof from, "%s", decimal_short(low, 4).text);
    }
    if (isfinite(high)) {
        (void)snprintf(to, sizeof to, "%s", decimal_short(high, 4).text);
    }
    (void)fprintf(out, "    %-*s %9s", LABEL_WIDTH, label, number);
    if (isfinite(low) || isfinite(high)) {
        (void)fprintf(out, "  %s to %s", from, to);
    }
}

static void show_all(FILE *out, const struct result_effect *effect)
{
    if (isfinite(effect->value)) {
        show_interval(out, "mean over sites", effect->value, effect->low, effect->high);
        (void)fputc('\n', out);
    }
    if (isfinite(effect->next_low)) {
        show_interval(out, "another such site", NAN, effect->next_low, effect->next_high);
        (void)fprintf(out, "\n    tau %s, I^2 %.0f %%, Q %s, p %.2g\n",
                      decimal_short(effect->spread, 3).text, 100 * effect->share,
                      decimal_short(effect->statistic, 4).text, effect->p);
    }
    if (effect->note[0] != '\0') {
        (void)fputs("    ", out);
        text_wrap(out, 4, 4, "%s", effect->note);
    }
}

/* A site that is left out, and what would be enough for it. */
static void show_left_out(FILE *out, const struct result_site *site,
                          const struct result_effect *effect)
{
    char more[RESULT_ENOUGH_BYTES];
    result_say_enough(more, effect, site);
    (void)fputs("    ", out);
    text_wrap(out, 4, 8, "%-*s not enough data: left out%s%s", LABEL_WIDTH, site->site,
              more[0] == '\0' ? "" : "; ", more);
}

void simulation_show_sites(FILE *out, const struct result *result)
{
    for (size_t i = 0; i < result->effect_count; i++) {
        const struct result_effect *effect = &result->effect[i];
        (void)fputs("\n  ", out);
        text_wrap(out, 2, 2, "by site, 95 %% intervals: %s, in %s", effect->name, effect->unit);
        for (size_t j = 0; j < result->site_count; j++) {
            const struct result_site *site = &result->site[j];
            if (site->round != effect->round || strcmp(site->effect, effect->name) != 0) {
                continue;
            }
            if (isfinite(site->value)) {
                show_interval(out, site->site, site->value, site->low, site->high);
                (void)fputc('\n', out);
            } else {
                show_left_out(out, site, effect);
            }
        }
        show_all(out, effect);
    }
}
