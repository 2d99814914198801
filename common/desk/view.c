#include "desk/view.h"

#include "base/decimal.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { EPSILON_PLACES = 6, DELTA_PLACES = 18, MINUTE_S = 60, HOUR_S = 3600 };

/* C0, DEL, and C1 as UTF-8 writes it: 0xc2 followed by 0x80 to 0x9f. */
void view_clean(char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at != '\0'; at++) {
        const bool c1 = at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f;
        if (c1) {
            at[1] = '?';
        }
        if (c1 || *at < ' ' || *at == 0x7f) {
            *at = '?';
        }
    }
}

const char *view_text(char out[static VIEW_TEXT_BYTES], const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    (void)snprintf(out, VIEW_TEXT_BYTES, "%s", text != NULL ? text : "");
    view_clean(out);
    return out;
}

double view_number(const json_t *object, const char *key)
{
    const double value = json_number_value(json_object_get(object, key));
    return isfinite(value) ? value : 0;
}

/* A price that was a whole number of the last place: a double keeps 15 digits of it. */
static void print_exact(char text[static DECIMAL_TEXT_BYTES], double value, unsigned places)
{
    const double scaled = round(value * pow(10, places));
    uint64_t whole = scaled > 0 && scaled < 1e19 ? (uint64_t)scaled : 0;
    for (uint64_t step = 10; whole / step >= UINT64_C(1000000000000000) / 10; step *= 10) {
        whole = (whole + step / 2) / step * step;
    }
    decimal_format(text, DECIMAL_TEXT_BYTES, whole, places);
}

/* For a job whose journal cannot be read nobody here knows it: null. */
static bool is_unknown(const json_t *job, const char *key)
{
    return json_is_null(json_object_get(job, key));
}

void view_jobs_head(void)
{
    (void)printf("%6s  %-9s  %9s  %8s  %s\n", "number", "state", "rounds", "epsilon", "job");
}

void view_jobs_row(const json_t *job)
{
    char state[VIEW_TEXT_BYTES];
    char name[VIEW_TEXT_BYTES];
    char epsilon[DECIMAL_TEXT_BYTES];
    char rounds[DECIMAL_TEXT_BYTES];
    const bool unknown = is_unknown(job, "epsilon");
    print_exact(epsilon, view_number(job, "epsilon"), EPSILON_PLACES);
    (void)snprintf(rounds, sizeof rounds, "%.0f/%.0f", view_number(job, "rounds"),
                   view_number(job, "rounds_planned"));
    if (unknown) {
        (void)snprintf(rounds, sizeof rounds, "?/%.0f", view_number(job, "rounds_planned"));
    }
    if (view_text(name, job, "job")[0] == '\0') {
        (void)view_text(name, job, "because");
    }
    (void)printf("%6.0f  %-9s  %9s  %8s  %s\n", view_number(job, "number"),
                 view_text(state, job, "state"), rounds, unknown ? "?" : epsilon, name);
    char declined[VIEW_TEXT_BYTES];
    if (view_text(declined, job, "declined")[0] != '\0') {
        text_wrap(stdout, 0, 8, "        declined by %s", declined);
    }
    if (strcmp(state, "set aside") == 0) {
        char because[VIEW_TEXT_BYTES];
        text_wrap(stdout, 0, 8, "        %s", view_text(because, job, "because"));
    }
}

static void print_price(const char *what, double epsilon, double delta)
{
    char text[2][DECIMAL_TEXT_BYTES];
    print_exact(text[0], epsilon, EPSILON_PLACES);
    print_exact(text[1], delta, DELTA_PLACES);
    (void)printf("%-10s epsilon %s%s%s\n", what, text[0], delta > 0 ? ", delta " : "",
                 delta > 0 ? text[1] : "");
}

static void print_if(const char *what, const json_t *job, const char *key)
{
    char text[VIEW_TEXT_BYTES];
    if (view_text(text, job, key)[0] != '\0') {
        (void)printf("%-10s %s\n", what, text);
    }
}

/* A sentence or more. */
static void print_wrapped(const char *key, const json_t *job)
{
    char text[VIEW_TEXT_BYTES];
    if (view_text(text, job, key)[0] != '\0') {
        (void)printf("%-10s ", key);
        text_wrap(stdout, 11, 11, "%s", text);
    }
}

static void print_left(const json_t *job)
{
    const double seconds = view_number(job, "seconds_left");
    if (!json_is_number(json_object_get(job, "seconds_left"))) {
        return;
    }
    if (seconds < 2 * MINUTE_S) {
        (void)printf("%-10s about %.0f s, at the pace so far\n", "left", seconds);
    } else if (seconds < 2 * HOUR_S) {
        (void)printf("%-10s about %.0f min, at the pace so far\n", "left", seconds / MINUTE_S);
    } else {
        (void)printf("%-10s about %.1f h, at the pace so far\n", "left", seconds / HOUR_S);
    }
}

/* A site pays before its answer leaves. Where a job was cut short in a round, what did not arrive was not counted here. */
static void print_unheard(const json_t *job)
{
    char state[VIEW_TEXT_BYTES];
    view_text(state, job, "state");
    if ((strcmp(state, "cancelled") == 0 || strcmp(state, "failed") == 0) &&
        json_is_true(json_object_get(job, "begun")) &&
        view_number(job, "rounds") < view_number(job, "rounds_planned")) {
        (void)printf("%-10s ", "");
        text_wrap(stdout, 11, 11,
                  "a site whose answer to the last round did not arrive may have paid "
                  "for it: its own ledger says so");
    }
}

void view_job(const json_t *job)
{
    char text[VIEW_TEXT_BYTES];
    (void)printf("%-10s %.0f \"%s\"\n", "job", view_number(job, "number"),
                 view_text(text, job, "job"));
    print_if("state", job, "state");
    print_if("submitted", job, "submitted");
    print_if("cancel", job, "cancel");
    print_if("ended", job, "ended");
    if (is_unknown(job, "epsilon")) {
        (void)printf("%-10s not known, of %.0f\n%-10s not known here: the sites' ledgers have it\n",
                     "rounds", view_number(job, "rounds_planned"), "paid");
    } else {
        (void)printf("%-10s %.0f of %.0f\n", "rounds", view_number(job, "rounds"),
                     view_number(job, "rounds_planned"));
        print_left(job);
        print_price("paid", view_number(job, "epsilon"), view_number(job, "delta"));
        print_unheard(job);
    }
    print_price("planned", view_number(job, "epsilon_planned"), view_number(job, "delta_planned"));
    print_wrapped("declined", job);
    print_if("held", job, "held");
    print_wrapped("waits", job);
    print_wrapped("because", job);
    if (view_text(text, job, "ended")[0] != '\0') {
        print_if("results", job, "results");
    }
}

void view_rounds_head(void)
{
    (void)printf("  %-10s %9s %7s %8s %8s  %s\n", "stage", "round", "agents", "epsilon", "seconds",
                 "closed");
}

void view_round(const json_t *round)
{
    char stage[VIEW_TEXT_BYTES];
    char closed[VIEW_TEXT_BYTES];
    char at[DECIMAL_TEXT_BYTES];
    (void)snprintf(at, sizeof at, "%.0f/%.0f", view_number(round, "round"),
                   view_number(round, "rounds"));
    (void)printf("  %-10s %9s %7.0f %8.6g %8.2f  %s\n", view_text(stage, round, "stage"), at,
                 view_number(round, "agents"), view_number(round, "epsilon"),
                 view_number(round, "seconds"), view_text(closed, round, "closed"));
}

void view_agent(const json_t *agent)
{
    char name[VIEW_TEXT_BYTES];
    char key[VIEW_TEXT_BYTES];
    char signing[VIEW_TEXT_BYTES];
    (void)view_text(signing, agent, "signing");
    (void)printf("%-32s  %s%s%s%s\n", view_text(name, agent, "agent"), view_text(key, agent, "key"),
                 signing[0] != '\0' ? "  signs by " : "", signing,
                 json_is_true(json_object_get(agent, "token")) ? "  (one-time token)" : "");
}
