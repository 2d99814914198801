/* Answers by site: which questions have them, from which of a site's cells, in which unit. */

#include "query/query_between.h"
#include "toy_schema.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#define UNJOINED                                                                                   \
    "the mean over sites has no interval and no test: hedgerow study intervals found that those "  \
    "of mean survival miss"

enum { BITS = 10, SITES = 4, EFFECTS = 4, CELLS = 9 };

static struct query_set set;
static int64_t row[SITES][1 + CELLS];
static struct query_effect effect[EFFECTS];
static struct between_site site[EFFECTS][SITES];

/* Cells in records: histogram 2, table 5, count 1, mean 1. */
static void join_under(struct query_noise noise)
{
    static const char *const texts[] = {"histogram: sex", "crosstab: sex x death",
                                        "count: age > 60", "mean: age"};
    cr_assert_eq(query_set_init(&set, texts, 4, BITS, &toy_names, NULL), STATUS_OK);
    cr_assert(query_between_count(&set) == EFFECTS && query_set_cells(&set, 0) == CELLS);
    for (size_t i = 0; i < SITES; i++) {
        const int64_t cells[CELLS] = {
            500, 500, 350 - (int64_t)i * 10, 150, 250, 250, (int64_t)i * 10, 300, 100};
        row[i][0] = 1000;
        for (size_t j = 0; j < CELLS; j++) {
            row[i][1 + j] = cells[j] << BITS;
        }
    }
    const struct query_sites sites = {.set = &set, .row = row[0], .count = SITES, .noise = noise};
    cr_assert_eq(query_between(effect, site[0], &sites), STATUS_OK);
    query_set_free(&set);
}

static void join(double noise_scale)
{
    join_under((struct query_noise){.scale = ldexp(noise_scale, BITS), .draws = 1});
}

Test(query_between, effects_are_those_of_each_sites_own_cells)
{
    join(0.001);
    cr_expect_str_eq(effect[0].name, "crosstab: sex x death: share of death 1, sex M less F");
    cr_expect_str_eq(effect[1].name,
                     "crosstab: sex x death: odds ratio of death 1, sex M against F");
    cr_expect_str_eq(effect[2].name, "count: age > 60");
    cr_expect_str_eq(effect[2].unit, "share");
    cr_expect_str_eq(effect[3].unit, "age");
    for (size_t i = 0; i < SITES; i++) {
        const double n = 350 - 10 * (double)i;
        cr_expect_float_eq(site[0][i].value, 0.5 - 150 / (150 + n), 1e-4);
        cr_expect_float_eq(site[1][i].value, n / 150, 0.01);
        cr_expect(site[1][i].low < n / 150 && site[1][i].high > n / 150);
        cr_expect_float_eq(site[2][i].value, 0.3, 1e-9);
        /* 100 above the middle of 50 .. 98, over 1000 records */
        cr_expect_float_eq(site[3][i].value, 74 + 48 * 0.1, 1e-9);
    }
    cr_expect(effect[1].is_ratio && effect[1].all.low > 1 && effect[1].all.high < 4);
    cr_expect(isnan(effect[3].all.spread) && effect[3].note[0] != '\0');
    cr_expect(effect[0].all.sites == SITES && effect[0].note[0] == '\0');
}

/* Cells of 150 are below 4 deviations of 42; rows of 500 are above 5 of 60; shares of a thousand records too. */
Test(query_between, effects_that_the_noise_drowns_are_refused_with_a_sentence)
{
    join(30);
    cr_expect_eq(effect[1].all.sites, 0);
    cr_expect_str_eq(
        effect[1].note,
        "0 of 4 sites have enough data for this question at this epsilon: fewer than 3 sites are "
        "not joined; 1.8 times the epsilon would be enough",
        "each has the 679 records that would be enough for the noise alone");
    cr_expect_float_eq(effect[1].needed, 679, 1);
    const double factor = effect[1].factor;
    cr_expect(isnan(effect[1].all.value) && isnan(site[1][0].value) && isnan(site[1][0].low));
    cr_expect(effect[0].all.sites == SITES && effect[2].all.sites == SITES);
    cr_expect(isnan(effect[0].needed) && isnan(effect[0].factor));
    /* The named number is enough; with three times the noise it is larger. */
    join(30 / factor);
    cr_expect_eq(effect[1].all.sites, SITES);
    join(90);
    cr_expect(effect[1].factor > factor && effect[1].factor <= 1.5 * 3 * factor, "%g",
              effect[1].factor);
    const double more = effect[1].factor;
    join(90 / more);
    cr_expect_eq(effect[1].all.sites, SITES);
    join(1.01 * 90 / more * 1.2 * 1.5);
    cr_expect(effect[1].all.sites < SITES, "a step less does not do");
}

/* In each interval 10 of one group's 100 records die, and 20 of the other's; the later ones are censored at the end. The first
 * site's numbers are halved, which changes no ratio. */
Test(query_between, survival_regress_and_table1_are_told_by_site)
{
    static const char *const texts[] = {
        "survival: time age event death by sex, to 98 in 4 intervals", "regress: death ~ sex",
        "table1: [sex, death]"};
    static const int64_t curve[19] = {20, 20, 20, 20, 0, 0, 0, 0,   920, 40,
                                      40, 40, 40, 0,  0, 0, 0, 840, 0};
    static const int64_t table[5] = {375, 125, 200, 300, 0}; /* F alive, F dead, M alive, M dead */
    enum { KINDS_CELLS = 19 + 5 + 2 * 4, KINDS_EFFECTS = 6 + 1 + 2 };
    static int64_t own[SITES][1 + KINDS_CELLS];
    static struct query_effect told[KINDS_EFFECTS];
    static struct between_site at[KINDS_EFFECTS][SITES];
    cr_assert_eq(query_set_init(&set, texts, 3, BITS, &toy_names, NULL), STATUS_OK);
    query_set_plan(&set, &(struct query_public){.records = 8000, .variance = 1});
    cr_assert(query_between_count(&set) == KINDS_EFFECTS, "%zu", query_between_count(&set));
    cr_assert(query_set_cells(&set, 0) == KINDS_CELLS, "%zu", query_set_cells(&set, 0));
    const int64_t part = (int64_t)query_part_of(&set.query[2].variable[0], 1 << BITS);
    for (size_t i = 0; i < SITES; i++) {
        const int64_t times = i == 0 ? 1 : 2;
        int64_t *cell = own[i];
        *cell++ = 1000 * times;
        for (size_t j = 0; j < 19; j++) {
            *cell++ = (curve[j] * times << BITS) / 2;
        }
        for (size_t j = 0; j < 5; j++) {
            *cell++ = table[j] * times << BITS;
        }
        /* 400 F, 600 M, none missing; 700 alive, 300 dead */
        const int64_t of_table[8] = {400, 600, 0, 0, 700, 300, 0, 0};
        for (size_t j = 0; j < 8; j++) {
            *cell++ = of_table[j] * times * part;
        }
    }
    const struct query_sites sites = {
        .set = &set, .row = own[0], .count = SITES, .noise = {.scale = 0.001, .draws = 1}};
    cr_assert_eq(query_between(told, at[0], &sites), STATUS_OK);
    cr_expect_str_eq(
        told[0].name,
        "survival: time age event death by sex, to 98 in 4 intervals: mean up to 98 F");
    cr_expect_str_eq(
        told[2].name,
        "survival: time age event death by sex, to 98 in 4 intervals: mean up to 98, M less F");
    cr_expect_str_eq(
        told[3].name,
        "survival: time age event death by sex, to 98 in 4 intervals: hazard ratio up to 98, M against F");
    cr_expect_str_eq(told[3].unit, "hazard ratio");
    cr_expect_str_eq(told[5].name,
                     "survival: time age event death by sex, to 98 in 4 intervals: median M");
    cr_expect_str_eq(told[4].unit, "age");
    cr_expect_str_eq(told[6].name, "regress: death ~ sex: sex, M to F, odds ratio");
    cr_expect_str_eq(told[7].name, "table1: [sex, death]: sex, M");
    cr_expect_str_eq(told[8].table, "table1: [sex, death]");
    cr_expect_str_eq(told[8].row, "death, 1");
    for (size_t i = 0; i < SITES; i++) {
        cr_expect(at[0][i].value > 90 && at[0][i].value < 98 && at[1][i].value < at[0][i].value);
        cr_expect_float_eq(at[2][i].value, at[1][i].value - at[0][i].value, 1e-9);
        cr_expect(at[3][i].value > 2 && at[3][i].value < 2.2, "%g", at[3][i].value);
        cr_expect_float_eq(at[6][i].value, 4.5, 1e-4);
        cr_expect_float_eq(at[7][i].value, 0.6, 1e-4);
        cr_expect_float_eq(at[8][i].value, 0.3, 1e-4);
    }
    for (size_t j = 0; j < KINDS_EFFECTS; j++) {
        const bool is_median = j == 4 || j == 5; /* half of nobody dies */
        cr_expect(told[j].all.sites == (is_median ? 0 : SITES), "%s", told[j].name);
        cr_expect(isfinite(told[j].all.value) == !is_median, "%s", told[j].name);
        /* Means of survival are joined without an interval; each site has its own. */
        cr_expect(isnan(told[j].all.low) == (j < 3 || is_median), "%s", told[j].name);
        cr_expect(isnan(told[j].all.p) == (j < 3 || is_median), "%s", told[j].name);
        cr_expect(isnan(told[j].all.next_high) == (j < 3 || is_median), "%s", told[j].name);
        cr_expect(isnan(at[j][0].low) == is_median, "%s", told[j].name);
        cr_expect(told[j].is_ratio == (j == 3 || j == 6));
    }
    cr_expect_str_eq(told[0].note, UNJOINED);
    cr_expect_str_eq(told[2].note, UNJOINED);
    cr_expect(told[3].note[0] == '\0');
    /* Odds ratios are joined as logarithms. */
    cr_expect_float_eq(told[6].all.value, 4.5, 1e-4);
    query_set_free(&set);
}

/* 1,000 records, each in one of the steps. Half of those that are followed die by the second of four intervals. Two sites have
 * fewer records, the last one hardly any. */
Test(query_between, medians_are_told_of_each_site_and_not_joined)
{
    static const char *const texts[] = {"survival: time age event death, to 80 in 4 intervals",
                                        "table1: [age] in 9 steps"};
    enum { CURVE = 10, TABLE = 11, MEDIAN_EFFECTS = 4 };
    static const int64_t curve[CURVE] = {300, 300, 200, 100, 0, 0, 0, 0, 100, 0};
    static const int64_t table[TABLE] = {0, 100, 200, 300, 200, 100, 100, 0, 0, 0, 0};
    static int64_t own[SITES][1 + CURVE + TABLE];
    static struct query_effect told[MEDIAN_EFFECTS];
    static struct between_site at[MEDIAN_EFFECTS][SITES];
    cr_assert_eq(query_set_init(&set, texts, 2, BITS, &toy_names, NULL), STATUS_OK);
    cr_assert(query_set_cells(&set, 0) == CURVE + TABLE, "%zu", query_set_cells(&set, 0));
    cr_assert(query_between_count(&set) == MEDIAN_EFFECTS);
    for (size_t i = 0; i < SITES; i++) {
        const int64_t part = i + 1 < SITES ? 1 : 50;
        const int64_t one = (int64_t)query_part_of(&set.query[1].variable[0], 1 << BITS);
        own[i][0] = 1000 / part;
        for (size_t j = 0; j < CURVE; j++) {
            own[i][1 + j] = (curve[j] << BITS) / part;
        }
        for (size_t j = 0; j < TABLE; j++) {
            own[i][1 + CURVE + j] = table[j] * one / part;
        }
    }
    const struct query_sites sites = {
        .set = &set, .row = own[0], .count = SITES, .noise = {.scale = ldexp(3, BITS), .draws = 1}};
    cr_assert_eq(query_between(told, at[0], &sites), STATUS_OK);
    cr_expect(strstr(told[1].name, ": median") != NULL, "%s", told[1].name);
    cr_expect_str_eq(told[3].row, "age, median");
    cr_expect_str_eq(told[2].row, "age, mean");
    for (size_t j = 1; j < MEDIAN_EFFECTS; j += 2) {
        const double half = j == 1 ? 20 + 20 * (0.7 - 0.5) / 0.3 : 50 + 6 * 3 + 1;
        for (size_t i = 0; i + 1 < SITES; i++) {
            cr_expect(fabs(at[j][i].value - half) < 3, "%g, not %g", at[j][i].value, half);
            cr_expect(at[j][i].low < half && half < at[j][i].high);
            cr_expect(isnan(at[j][i].weight) && isnan(at[j][i].noise));
        }
        cr_expect(isnan(at[j][SITES - 1].value), "too few records");
        cr_expect(told[j].all.sites == SITES - 1 && isnan(told[j].all.value));
        cr_expect(strstr(told[j].note, "sites are not joined") != NULL, "%s", told[j].note);
    }
    cr_expect(isfinite(told[2].all.value));
    cr_expect(strstr(told[2].note,
                     "1 of 4 sites do not have enough data at this epsilon and are left out; ") ==
                  told[2].note,
              "%s", told[2].note);
    for (size_t j = 1; j < MEDIAN_EFFECTS; j++) {
        cr_expect(
            strstr(told[j].note,
                   "times the epsilon would be enough; for the noise alone, a site of about ") !=
                    NULL ||
                isnan(told[j].factor),
            "%s", told[j].note);
        cr_expect(isfinite(told[j].needed) && told[j].needed > 20, "%zu: %g", j, told[j].needed);
    }
    cr_expect(strstr(told[1].note, "; 1 of 4 sites have none") != NULL, "%s", told[1].note);
    query_set_free(&set);
}

/* What studies have confirmed: the same as Laplace noise of that deviation leaves, but for its tails. */
Test(query_between, of_counts_and_tables_gaussian_noise_has_intervals_too)
{
    double value[2];
    double low;
    join(0.5);
    value[0] = effect[0].all.value;
    value[1] = site[0][1].value;
    low = effect[0].all.low;
    cr_assert(!isnan(low) && !isnan(effect[0].all.p) && effect[0].note[0] == '\0');
    join_under(
        (struct query_noise){.is_gaussian = true, .scale = ldexp(0.5 * sqrt(2), BITS), .draws = 1});
    cr_expect_float_eq(effect[0].all.value, value[0], 1e-9);
    cr_expect_float_eq(site[0][1].value, value[1], 1e-9);
    cr_expect_float_eq(effect[0].all.low, low, 1e-9);
    cr_expect(isfinite(effect[0].all.p) && isfinite(site[2][1].high) && effect[0].note[0] == '\0');
}

/* What no study has confirmed: the estimates, and nothing else. Half of those who are followed die by the second of four intervals. */
Test(query_between, of_survival_gaussian_noise_has_estimates_without_intervals)
{
    enum { CURVE = 10, CURVE_EFFECTS = 2 };
    static const char *const texts[] = {"survival: time age event death, to 80 in 4 intervals"};
    static const int64_t curve[CURVE] = {300, 300, 200, 100, 0, 0, 0, 0, 100, 0};
    const struct query_noise gaussian = {.is_gaussian = true, .scale = ldexp(3, BITS), .draws = 1};
    int64_t own[SITES][1 + CURVE];
    cr_assert_eq(query_set_init(&set, texts, 1, BITS, &toy_names, NULL), STATUS_OK);
    cr_assert(query_between_count(&set) == CURVE_EFFECTS && query_set_cells(&set, 0) == CURVE);
    for (size_t i = 0; i < SITES; i++) {
        own[i][0] = 1000;
        for (size_t j = 0; j < CURVE; j++) {
            own[i][1 + j] = curve[j] << BITS;
        }
    }
    const struct query_sites sites = {
        .set = &set, .row = own[0], .count = SITES, .noise = gaussian};
    cr_assert_eq(query_between(effect, site[0], &sites), STATUS_OK);
    const struct between *all = &effect[0].all;
    cr_expect(isfinite(all->value) && isfinite(site[0][0].value) && isfinite(site[1][0].value));
    cr_expect(isnan(all->low) && isnan(all->high) && isnan(all->p) && isnan(all->spread) &&
              isnan(all->next_low) && isnan(all->error));
    for (size_t i = 0; i < SITES; i++) {
        cr_expect(isnan(site[0][i].low) && isnan(site[0][i].high) && isnan(site[1][i].low));
    }
    cr_expect(strstr(effect[0].note,
                     "has not confirmed those by site of this kind with noise: gaussian") != NULL,
              "%s", effect[0].note);
    query_set_free(&set);
}

Test(query_between, what_has_intervals_by_site_is_what_studies_have_confirmed)
{
    static const struct {
        const char *text;
        bool is_confirmed;
        bool is_with_gaussian;
    } asked[] = {{"regress: death ~ sex", true, false},
                 {"regress: age ~ sex", true, false},
                 {"regress: counts age ~ sex", true, false},
                 {"regress: time age event death ~ sex, to 98", true, false},
                 {"survival: time age event death by sex, to 98 in 4 intervals", true, false},
                 {"table1: [sex]", true, true},
                 {"crosstab: sex x death", true, true},
                 {"count: age > 60", true, true},
                 {"mean: age", true, true}};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        const struct query_noise laplace = {.scale = 1, .draws = 1};
        const struct query_noise gaussian = {.is_gaussian = true, .scale = 1, .draws = 1};
        cr_assert_eq(query_set_init(&set, &asked[i].text, 1, BITS, &toy_names, NULL), STATUS_OK);
        cr_expect(query_between_is_confirmed(&set.query[0], &laplace) == asked[i].is_confirmed);
        cr_expect(query_between_is_confirmed(&set.query[0], &gaussian) ==
                  asked[i].is_with_gaussian);
        query_set_free(&set);
    }
}

/* One site has no record of the second group: its cells are noise alone, of the size that noise has. With less noise assumed they
 * would pass for records. */
Test(query_between, of_a_site_whose_group_is_empty_no_factor_is_told)
{
    enum { TABLE = 5, CURVE = 19, REGRESS = 4, ALL = TABLE + CURVE + REGRESS + 1, TOLD = 9 };
    static const char *const texts[] = {
        "crosstab: sex x death", "survival: time age event death by sex, to 98 in 4 intervals",
        "regress: death ~ sex"};
    static const int64_t full[ALL] = {200, 200, 200, 200, 0,   30,  30,  30,  30, 0,
                                      0,   0,   0,   280, 30,  30,  30,  30,  0,  0,
                                      0,   0,   280, 0,   200, 200, 200, 200, 0};
    static const int64_t noise[ALL] = {0, 0, 5, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3,
                                       4, 2, 3, 1, 0, 0, 0, 4, 0, 0, 0, 5, 4, 0};
    static const bool is_empty_at[ALL] = {
        [2] = true,  [3] = true,  [14] = true, [15] = true, [16] = true, [17] = true, [18] = true,
        [19] = true, [20] = true, [21] = true, [22] = true, [26] = true, [27] = true};
    int64_t own[SITES][1 + ALL];
    static struct query_effect told[TOLD];
    static struct between_site at[TOLD][SITES];
    cr_assert_eq(query_set_init(&set, texts, 3, BITS, &toy_names, NULL), STATUS_OK);
    query_set_plan(&set, &(struct query_public){.records = 3200, .variance = 18});
    cr_assert(query_set_cells(&set, 0) == ALL, "%zu", query_set_cells(&set, 0));
    cr_assert(query_between_count(&set) == TOLD, "%zu", query_between_count(&set));
    for (int is_empty = 0; is_empty < 2; is_empty++) {
        for (size_t i = 0; i < SITES; i++) {
            own[i][0] = 800;
            for (size_t j = 0; j < ALL; j++) {
                own[i][1 + j] = full[j] << BITS;
            }
            for (size_t j = 0; i == 3 && j < ALL; j++) {
                /* A small group has an eighth of the records, the first group the rest. */
                const int64_t few = is_empty != 0 ? noise[j] : full[j] / 8;
                const size_t rest = j < TABLE ? 0 : j < TABLE + CURVE ? TABLE + 8 : TABLE + CURVE;
                if (is_empty_at[j]) {
                    own[i][1 + j] = few * (1 << BITS);
                    own[i][1 + rest] += (full[j] - few) * (1 << BITS);
                }
            }
        }
        const struct query_sites sites = {.set = &set,
                                          .row = own[0],
                                          .count = SITES,
                                          .noise = {.scale = ldexp(3, BITS), .draws = 1}};
        cr_assert_eq(query_between(told, at[0], &sites), STATUS_OK);
        size_t known = 0;
        for (size_t k = 0; k < TOLD; k++) {
            const bool is_of_second = k != 2 && k != 6; /* the first group's mean and median */
            if (is_of_second) {
                cr_expect(is_empty == 0 || isnan(at[k][3].value), "%s", told[k].name);
                cr_expect(is_empty == 0 || isnan(told[k].factor), "%s: %g", told[k].name,
                          told[k].factor);
                cr_expect(is_empty == 0 || strstr(told[k].note, "times the epsilon") == NULL, "%s",
                          told[k].note);
            }
            known += isfinite(told[k].factor) ? 1 : 0;
        }
        cr_expect(is_empty != 0 || known > 0, "of a small group factors are told");
    }
    query_set_free(&set);
}

/* The note on the kind and the note on sites that are left out are two sentences. */
Test(query_between, two_notes_are_joined_by_a_semicolon)
{
    enum { CURVE = 10, CURVE_EFFECTS = 2 };
    static const char *const texts[] = {"survival: time age event death, to 80 in 4 intervals"};
    static const int64_t curve[CURVE] = {300, 300, 200, 100, 0, 0, 0, 0, 100, 0};
    int64_t own[SITES][1 + CURVE];
    cr_assert_eq(query_set_init(&set, texts, 1, BITS, &toy_names, NULL), STATUS_OK);
    for (int is_gaussian = 0; is_gaussian < 2; is_gaussian++) {
        for (size_t i = 0; i < SITES; i++) {
            const int64_t part = i + 1 < SITES ? 1 : 50;
            own[i][0] = 1000 / part;
            for (size_t j = 0; j < CURVE; j++) {
                own[i][1 + j] = (curve[j] << BITS) / part;
            }
        }
        const struct query_sites sites = {
            .set = &set,
            .row = own[0],
            .count = SITES,
            .noise = {.is_gaussian = is_gaussian != 0, .scale = ldexp(3, BITS), .draws = 1}};
        static const char left_out[] =
            "1 of 4 sites do not have enough data at this epsilon and are left out";
        cr_assert_eq(query_between(effect, site[0], &sites), STATUS_OK);
        const char *note = effect[0].note;
        const char *left = strstr(note, left_out);
        cr_assert(left != NULL, "%s", note);
        if (is_gaussian != 0) {
            cr_expect(left == note, "%s", note);
            cr_expect(strstr(note, "; no intervals and no tests: ") != NULL, "%s", note);
        } else {
            cr_expect(strstr(note, UNJOINED "; ") == note && left == note + strlen(UNJOINED "; "),
                      "%s", note);
        }
    }
    query_set_free(&set);
}
