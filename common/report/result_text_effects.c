/* result_text_effects.c - an effect by site as a paper's table, to be copied: the sites, their mean, how much they differ. */

#include "base/decimal.h"
#include "base/text.h"
#include "report/result_text_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SITES_JOINED = 3, CELL_BYTES = 64, COLUMNS = 5, FIGURE_BYTES = 2 * CELL_BYTES + 8 };

static void put_rule(FILE *out, const struct layout *layout)
{
    (void)fputs(layout->is_ruled ? "|---|---:|---:|---:|---:|\n" : layout->rule, out);
}

static void put_row(FILE *out, const struct layout *layout, const char *const cell[COLUMNS])
{
    (void)fputs(layout->open, out);
    for (size_t i = 0; i < COLUMNS; i++) {
        (void)fputs(i > 0 ? layout->between : "", out);
        layout->put(out, cell[i]);
    }
    (void)fputs(layout->close, out);
}

/* With that many significant digits. */
static void write_number(char text[static CELL_BYTES], int digits, double value)
{
    text[0] = '\0';
    if (isfinite(value)) {
        if (digits <= DECIMAL_SHORT_MOST) { /* for people */
            (void)snprintf(text, CELL_BYTES, "%s", decimal_short(value, digits).text);
        } else {
            (void)snprintf(text, CELL_BYTES, "%.*g", digits, value);
        }
    }
}

/* An end that is not known is beyond all that noise and sampling tell. */
static void write_range(char text[static CELL_BYTES], double low, double high)
{
    char from[CELL_BYTES];
    char to[CELL_BYTES];
    write_number(from, 4, low);
    write_number(to, 4, high);
    text[0] = '\0';
    if (from[0] != '\0' || to[0] != '\0') {
        (void)snprintf(text, CELL_BYTES, "%.24s to %.24s", from[0] == '\0' ? "..." : from,
                       to[0] == '\0' ? "..." : to);
    }
}

/* A curve that stays above one half has no median, however many records there are. */
static bool may_stay_above(const struct result_effect *effect)
{
    return strstr(effect->note, "stays above one half") != NULL;
}

/* Two digits, rounded up: less was not tried. */
static double factor_up(double factor)
{
    const double step = pow(10, floor(log10(factor)) - 1);
    return ceil(factor / step - 1e-9) * step;
}

void result_say_enough(char text[static RESULT_ENOUGH_BYTES], const struct result_effect *effect,
                       const struct result_site *site)
{
    const bool has_records = isfinite(effect->needed) && site->records < effect->needed;
    text[0] = '\0';
    if (isfinite(effect->factor)) {
        (void)snprintf(text, RESULT_ENOUGH_BYTES, "%s times the epsilon%s",
                       decimal_short(factor_up(effect->factor), 3).text,
                       has_records ? ", or " : " would be enough");
    }
    if (has_records) {
        text_add(text, RESULT_ENOUGH_BYTES, "about %.0f records would be enough",
                 ceil(effect->needed));
    } else if (text[0] == '\0' && isfinite(effect->needed)) {
        (void)snprintf(text, RESULT_ENOUGH_BYTES,
                       "it has the %.0f that do where cells hold alike numbers: some hold few%s",
                       ceil(effect->needed),
                       may_stay_above(effect) ? ", or the curve stays above one half" : "");
    }
}

static void put_site(FILE *out, const struct layout *layout, const struct result_site *site,
                     const struct result_effect *effect)
{
    char text[COLUMNS - 1][CELL_BYTES];
    char enough[RESULT_ENOUGH_BYTES];
    char none[RESULT_ENOUGH_BYTES + CELL_BYTES];
    const bool known = isfinite(site->value);
    write_number(text[0], 9, site->records);
    write_number(text[1], 4, site->value);
    write_range(text[2], known ? site->low : NAN, known ? site->high : NAN);
    result_say_enough(enough, effect, site);
    (void)snprintf(none, sizeof none, "%s%s%s", may_stay_above(effect) ? "none" : "not enough data",
                   enough[0] == '\0' ? "" : "; ", enough);
    text[3][0] = '\0';
    if (isfinite(site->weight)) {
        (void)snprintf(text[3], CELL_BYTES, "%.1f %%", 100 * site->weight);
    }
    put_row(out, layout,
            (const char *const[]){site->site, text[0], known ? text[1] : none, text[2], text[3]});
}

/* Why there is no mean over sites: too few of them, or, as of medians, no standard errors. */
static const char *not_joined(const struct result_effect *effect)
{
    return effect->sites >= SITES_JOINED ? "not joined" : "not joined: fewer than 3 sites";
}

static void put_mean(FILE *out, const struct layout *layout, const struct result_effect *effect)
{
    char value[CELL_BYTES];
    char range[CELL_BYTES];
    char next[CELL_BYTES];
    const bool known = isfinite(effect->value);
    write_number(value, 4, effect->value);
    write_range(range, known ? effect->low : NAN, known ? effect->high : NAN);
    write_range(next, effect->next_low, effect->next_high);
    put_row(out, layout,
            (const char *const[]){"Mean over sites, random effects", "",
                                  known ? value : not_joined(effect), range, known ? "100 %" : ""});
    if (next[0] != '\0') {
        put_row(out, layout, (const char *const[]){"Another such site", "", "", next, ""});
    }
}

/* "odds ratio", "hazard ratio", "rate ratio" */
static bool is_ratio(const struct result_effect *effect)
{
    const size_t used = strlen(effect->unit);
    return used > 6 && strcmp(effect->unit + used - 6, " ratio") == 0;
}

static void put_spread(FILE *out, const struct layout *layout, const struct result_effect *effect)
{
    char text[256];
    if (isfinite(effect->spread)) {
        (void)snprintf(text, sizeof text,
                       "Between sites: tau %s%s, I^2 %.0f %%; all sites alike: Q %s, p %.2g.",
                       decimal_short(effect->spread, 3).text,
                       is_ratio(effect) ? " (of the logarithm)" : "", 100 * effect->share,
                       decimal_short(effect->statistic, 4).text, effect->p);
        layout->put(out, text);
        (void)fputs("\n\n", out);
    }
    if (effect->note[0] != '\0') {
        layout->put(out, effect->note);
        (void)fputs("\n\n", out);
    }
}

/* Effects of one Table 1: count of them, from first on. */
struct site_table {
    const struct result_effect *first;
    size_t count;
};

static struct site_table site_table_at(const struct result *result, size_t at)
{
    struct site_table table = {&result->effect[at], 0};
    while (table.first->table[0] != '\0' && at + table.count < result->effect_count &&
           table.first[table.count].round == table.first->round &&
           strcmp(table.first[table.count].table, table.first->table) == 0) {
        table.count++;
    }
    return table;
}

static bool is_site_of(const struct result_site *site, const struct result_effect *effect)
{
    return site->round == effect->round && strcmp(site->effect, effect->name) == 0;
}

static void put_next(FILE *out, const struct layout *layout, const char *text)
{
    (void)fputs(layout->between, out);
    layout->put(out, text);
}

/* "74.2 (73.1 to 75.3)" */
static void put_figure(FILE *out, const struct layout *layout, double value, double low,
                       double high, const char *none)
{
    char text[CELL_BYTES];
    char range[CELL_BYTES];
    char figure[FIGURE_BYTES];
    write_number(text, 4, value);
    write_range(range, low, high);
    (void)snprintf(figure, sizeof figure, range[0] == '\0' ? "%s%s" : "%s (%s)", text, range);
    put_next(out, layout, text[0] == '\0' ? none : figure);
}

static void put_table_head(FILE *out, const struct layout *layout, const struct result *result,
                           const struct result_effect *effect)
{
    size_t sites = 0;
    (void)fputs(layout->open, out);
    for (size_t j = 0; j < result->site_count; j++) {
        const struct result_site *site = &result->site[j];
        if (is_site_of(site, effect)) {
            char name[RESULT_NAME_BYTES + CELL_BYTES];
            (void)snprintf(name, sizeof name, "%s, %.0f records", site->site, site->records);
            put_next(out, layout, name);
            sites++;
        }
    }
    put_next(out, layout, "mean over sites");
    put_next(out, layout, "tau");
    put_next(out, layout, "I^2");
    put_next(out, layout, "p, sites alike");
    (void)fputs(layout->close, out);
    for (size_t j = 0; layout->is_ruled && j < sites + COLUMNS; j++) {
        (void)fputs(j == 0 ? "|---" : "|---:", out);
    }
    (void)fputs(layout->is_ruled ? "|\n" : layout->rule, out);
}

static void put_table_row(FILE *out, const struct layout *layout, const struct result *result,
                          const struct result_effect *effect)
{
    char text[CELL_BYTES];
    (void)fputs(layout->open, out);
    layout->put(out, effect->row);
    for (size_t j = 0; j < result->site_count; j++) {
        const struct result_site *site = &result->site[j];
        if (is_site_of(site, effect)) {
            put_figure(out, layout, site->value, site->low, site->high, "not enough data");
        }
    }
    put_figure(out, layout, effect->value, effect->low, effect->high, not_joined(effect));
    write_number(text, 3, effect->spread);
    put_next(out, layout, text);
    text[0] = '\0';
    if (isfinite(effect->share)) {
        (void)snprintf(text, sizeof text, "%.0f %%", 100 * effect->share);
    }
    put_next(out, layout, text);
    write_number(text, 2, effect->p);
    put_next(out, layout, text);
    (void)fputs(layout->close, out);
}

/* Each note once. */
static void put_notes(FILE *out, const struct layout *layout, const struct site_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const char *note = table->first[i].note;
        bool is_new = note[0] != '\0';
        for (size_t j = 0; j < i; j++) {
            is_new = is_new && strcmp(note, table->first[j].note) != 0;
        }
        if (is_new) {
            layout->put(out, note);
            (void)fputs("\n\n", out);
        }
    }
}

/* A Table 1 by site: figures down, sites across, and what they say together. */
static void put_site_table(FILE *out, const struct layout *layout, const struct result *result,
                           const struct site_table *table)
{
    result_put_price(out, layout, result, table->first->round);
    layout->put(out, table->first->table);
    layout->put(out, ", by site. In brackets: 95 % intervals of sampling and noise.");
    (void)fputs("\n\n", out);
    (void)fputs(layout->begin, out);
    (void)fputs(layout->begin[0] != '\0' ? "lrrrr" : "", out);
    for (size_t j = 0; j < result->site_count && layout->begin[0] != '\0'; j++) {
        (void)fputs(is_site_of(&result->site[j], table->first) ? "r" : "", out);
    }
    (void)fputs(layout->ready, out);
    put_table_head(out, layout, result, table->first);
    for (size_t i = 0; i < table->count; i++) {
        put_table_row(out, layout, result, &table->first[i]);
    }
    (void)fputs(layout->end, out);
    put_notes(out, layout, table);
}

void result_put_effects(FILE *out, const struct layout *layout, const struct result *result)
{
    for (size_t i = 0; i < result->effect_count; i++) {
        const struct result_effect *effect = &result->effect[i];
        const struct site_table table = site_table_at(result, i);
        if (table.count > 0) {
            put_site_table(out, layout, result, &table);
            i += table.count - 1;
            continue;
        }
        result_put_price(out, layout, result, effect->round);
        layout->put(out, effect->name);
        (void)fputs("\n\n", out);
        (void)fputs(layout->begin, out);
        (void)fputs(layout->begin[0] != '\0' ? "lrrrr" : "", out);
        (void)fputs(layout->ready, out);
        put_row(out, layout,
                (const char *const[]){"site", "records", effect->unit, "95 % interval", "weight"});
        put_rule(out, layout);
        for (size_t j = 0; j < result->site_count; j++) {
            const struct result_site *site = &result->site[j];
            if (is_site_of(site, effect)) {
                put_site(out, layout, site, effect);
            }
        }
        put_mean(out, layout, effect);
        (void)fputs(layout->end, out);
        put_spread(out, layout, effect);
    }
}
