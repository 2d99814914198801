/* result_text_effects.c - an effect by site as a paper's table, to be copied: the sites, their mean, how much they differ. */

#include "report/result_text_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELL_BYTES = 64, COLUMNS = 5 };

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

/* So many significant digits. */
static void write_number(char text[static CELL_BYTES], int digits, double value)
{
    text[0] = '\0';
    if (isfinite(value)) {
        (void)snprintf(text, CELL_BYTES, "%.*g", digits, value);
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

static void put_site(FILE *out, const struct layout *layout, const struct result_site *site)
{
    char text[COLUMNS - 1][CELL_BYTES];
    const bool known = isfinite(site->value);
    write_number(text[0], 9, site->records);
    write_number(text[1], 4, site->value);
    write_range(text[2], known ? site->low : NAN, known ? site->high : NAN);
    text[3][0] = '\0';
    if (isfinite(site->weight)) {
        (void)snprintf(text[3], CELL_BYTES, "%.1f %%", 100 * site->weight);
    }
    put_row(out, layout,
            (const char *const[]){site->site, text[0], known ? text[1] : "not enough data", text[2],
                                  text[3]});
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
                                  known ? value : "not enough data", range, known ? "100 %" : ""});
    if (next[0] != '\0') {
        put_row(out, layout, (const char *const[]){"Another such site", "", "", next, ""});
    }
}

static void put_spread(FILE *out, const struct layout *layout, const struct result_effect *effect)
{
    char text[256];
    if (isfinite(effect->spread)) {
        (void)snprintf(text, sizeof text,
                       "Between sites: tau %.3g%s, I^2 %.0f %%; all sites alike: Q %.4g, p %.2g.",
                       effect->spread,
                       strcmp(effect->unit, "odds ratio") == 0 ? " (of the logarithm)" : "",
                       100 * effect->share, effect->statistic, effect->p);
        layout->put(out, text);
        (void)fputs("\n\n", out);
    }
    if (effect->note[0] != '\0') {
        layout->put(out, effect->note);
        (void)fputs("\n\n", out);
    }
}

void result_put_effects(FILE *out, const struct layout *layout, const struct result *result)
{
    for (size_t i = 0; i < result->effect_count; i++) {
        const struct result_effect *effect = &result->effect[i];
        result_put_price(out, layout, result);
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
            if (site->round == effect->round && strcmp(site->effect, effect->name) == 0) {
                put_site(out, layout, site);
            }
        }
        put_mean(out, layout, effect);
        (void)fputs(layout->end, out);
        put_spread(out, layout, effect);
    }
}
