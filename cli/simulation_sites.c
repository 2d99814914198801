/* The answers by site, in the terminal. */

#include "base/decimal.h"
#include "base/wrap.h"
#include "cli/simulation.h"

#include <math.h>
#include <string.h>

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
        wrap_print(out, 4, 4, "%s", effect->note);
    }
}

/* A site that is left out, and what would do. */
static void show_left_out(FILE *out, const struct result_site *site,
                          const struct result_effect *effect)
{
    char more[RESULT_ENOUGH_BYTES];
    result_say_enough(more, effect, site);
    (void)fputs("    ", out);
    wrap_print(out, 4, 8, "%-*s not enough data: left out%s%s", LABEL_WIDTH, site->site,
               more[0] == '\0' ? "" : "; ", more);
}

void simulation_show_sites(FILE *out, const struct result *result)
{
    for (size_t i = 0; i < result->effect_count; i++) {
        const struct result_effect *effect = &result->effect[i];
        (void)fputs("\n  ", out);
        wrap_print(out, 2, 2, "by site, 95 %% intervals: %s, in %s", effect->name, effect->unit);
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
