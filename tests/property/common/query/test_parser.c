/* The reader of questions on hostile texts. Random predicates have the value of their tree. Every
 * prefix and thousands of mutations of good questions are either refused with a sentence or work.
 * Each text is in memory of exactly its size, so that a sanitizer sees a read past its end. */

#include "query/query.h"
#include "tests/support/dice.h"
#include "tests/unit/common/query/toy_schema.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static const double cell[TOY_COLUMNS] = {70, 1, 1.5, 2};
static const struct row row = {.cell = cell, .column_count = TOY_COLUMNS, .label = 1};

/* A part of a predicate, what it is worth for the record, and how closely it binds. */
struct part {
    char text[1000];
    bool truth;
    int binds; /* 1 or, 2 and, 3 not or a comparison */
};

static void make_leaf(struct part *part, struct dice *dice)
{
    static const struct {
        const char *text;
        bool truth;
    } leaf[] = {
        {"age >= 65", true},          {"age<65", false},     {"sex == M", true},
        {"sex!='M'", false},          {"death == 1", true},  {"death==0", false},
        {"'home region' == 3", true}, {"kappa <= 0", false}, {"\"home region\"=='and'", false},
        {"kappa > 1.25e0", true}};
    const size_t i = dice_below(dice, sizeof leaf / sizeof leaf[0]);
    strcpy(part->text, leaf[i].text);
    part->truth = leaf[i].truth;
    part->binds = 3;
}

static void wrap(struct part *part, int binds, struct dice *dice)
{
    if (part->binds < binds || dice_one_in(dice, 4)) {
        char text[sizeof part->text];
        snprintf(text, sizeof text, "%s", part->text);
        snprintf(part->text, sizeof part->text, "( %.900s)", text);
        part->binds = 3;
    }
}

static void negate(struct part *part, struct dice *dice)
{
    char text[sizeof part->text];
    wrap(part, 3, dice);
    snprintf(text, sizeof text, "%s", part->text);
    snprintf(part->text, sizeof part->text, "not %.900s", text);
    part->truth = !part->truth;
}

static void join(struct part *a, struct part *b, struct dice *dice)
{
    const bool is_and = dice_one_in(dice, 2);
    char text[sizeof a->text];
    wrap(a, is_and ? 2 : 1, dice);
    wrap(b, is_and ? 2 : 1, dice); /* both associate: no parentheses needed at the same level */
    snprintf(text, sizeof text, "%.450s %s %.450s", a->text, is_and ? "and" : "or", b->text);
    memcpy(a->text, text, sizeof text);
    a->truth = is_and ? a->truth && b->truth : a->truth || b->truth;
    a->binds = is_and ? 2 : 1;
}

Test(parser, reads_random_predicates_as_they_were_meant)
{
    struct dice dice = {1};
    for (int i = 0; i < 20000; i++) {
        struct part part[4];
        struct predicate predicate;
        struct why why = {{0}};
        size_t count = 0;
        for (int step = 0; step < 12; step++) {
            if (count == 0 || (count < 4 && dice_one_in(&dice, 2))) {
                make_leaf(&part[count++], &dice);
            } else if (count >= 2 && dice_one_in(&dice, 2)) {
                count--;
                join(&part[count - 1], &part[count], &dice);
            } else {
                negate(&part[count - 1], &dice);
            }
        }
        for (; count > 1; count--) {
            join(&part[count - 2], &part[count - 1], &dice);
        }
        cr_assert(predicate_parse(&predicate, slice_of(part[0].text), &toy, &why) == STATUS_OK,
                  "%s: %s", part[0].text, why.text);
        cr_assert(predicate_holds(&predicate, &row) == part[0].truth, "%s", part[0].text);
    }
}

/* Parses a copy in memory of exactly its size; returns whether it was accepted. */
static bool survives(const char *text, size_t size)
{
    char *copy = malloc(size == 0 ? 1 : size);
    struct query query;
    struct why why = {{0}};
    cr_assert(copy != NULL);
    memcpy(copy, text, size);
    const enum status status = query_parse(&query, (struct slice){copy, size}, &toy_names, &why);
    free(copy);
    if (status != STATUS_OK) {
        cr_assert(status == STATUS_INVALID && why.text[0] != '\0');
        cr_assert(query.cell_count == 0);
        return false;
    }
    int64_t sum[QUERY_CELLS_MAX + 1] = {0};
    cr_assert(query.cell_count >= 1 && query.cell_count <= QUERY_CELLS_MAX);
    cr_assert(query.rounds >= 1 && query.rounds <= QUERY_ROUNDS_MAX);
    query_add(sum, &query, 10, 70, &row);
    uint64_t norm = 0;
    for (size_t i = 0; i <= QUERY_CELLS_MAX; i++) {
        cr_assert(sum[i] == 0 || i < query.cell_count);
        norm += (uint64_t)llabs(sum[i]);
    }
    cr_assert(norm <= query_sensitivity_l1(&query, 10));
    return true;
}

static const char *const good[] = {
    "count: age >= 65 and (sex == F or not kappa < 2) and death != 0",
    "mean: kappa where 'home region' == north",
    "histogram: age by 10 where sex == M",
    "histogram: kappa at 0.5, 1, 1.5, 2e0",
    "quantile: 0.25 of age where death == 1 in 20 rounds",
    "survival: time age event death by sex, to 80 in 5 intervals",
    "crosstab: sex x 'home region' x death where age < 70",
    "table1: [age, sex, kappa] by death in 9 steps where age >= 50",
    "evaluate: age for death == 1 by sex, cut at 74 in 16 levels where age >= 50",
    "evaluate: kappa for time age event death by sex, to 90 in 6 bins where age >= 50",
    "pca: [age, sex, kappa, death] where age >= 50",
    "correlate: [age, sex, kappa, death] in 8 parts where age >= 50",
};

Test(parser, survives_every_prefix)
{
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const size_t size = strlen(good[i]);
        cr_assert(survives(good[i], size), "%s", good[i]);
        for (size_t n = 0; n < size; n++) {
            (void)survives(good[i], n);
        }
    }
}

Test(parser, survives_mutations)
{
    static const char *const word[] = {"and", "or",  "not",   "where", "(",  ")",   ",",      "age",
                                       "==",  "!",   "=",     "'",     "\"", "in",  "rounds", "by",
                                       "at",  "nan", "1e308", "-1",    ":",  "sex", "death",  "of"};
    struct dice dice = {2};
    int accepted = 0;
    int refused = 0;
    for (int i = 0; i < 60000; i++) {
        char text[400];
        const char *from = good[dice_below(&dice, sizeof good / sizeof good[0])];
        size_t size = strlen(from);
        memcpy(text, from, size);
        for (uint64_t edits = 1 + dice_below(&dice, 3); edits > 0; edits--) {
            const size_t at = dice_below(&dice, size);
            if (dice_one_in(&dice, 3)) {
                text[at] = (char)dice_word(&dice);
            } else if (dice_one_in(&dice, 2) && size > 1) {
                memmove(text + at, text + at + 1, size - at - 1);
                size--;
            } else {
                const char *put = word[dice_below(&dice, sizeof word / sizeof word[0])];
                memmove(text + at + strlen(put), text + at, size - at);
                memcpy(text + at, put, strlen(put));
                size += strlen(put);
            }
        }
        *(survives(text, size) ? &accepted : &refused) += 1;
    }
    cr_assert(accepted > 1000 && refused > 10000, "%d %d", accepted, refused);
}
