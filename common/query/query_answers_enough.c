/* query_answers_enough.c - how many records would be enough, by the noise alone, if the released cells do not tell it. */

#include "base/check.h"
#include "base/text.h"
#include "estimate/cells.h"
#include "estimate/concordance.h"
#include "estimate/crosstab.h"
#include "estimate/evaluate.h"
#include "estimate/pca.h"
#include "query/query_answers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Among a variable's figures, the one that needs most. */
static double most_of(const struct table1_expected *expected, bool is_number)
{
    return !is_number ? expected->share.group
                      : fmax(fmax(expected->mean.group, expected->deviation.group),
                             fmax(expected->median.group, expected->quartile.group));
}

static double of_table1(const struct query *query, const struct table1_public *known)
{
    double most = 0;
    for (size_t i = 0; i < query->variable_count; i++) {
        const struct query_variable *variable = &query->variable[i];
        const double part =
            ldexp((double)query_part_of(variable, UINT64_C(1) << QUERY_BITS_MAX), -QUERY_BITS_MAX);
        const struct table1_public own = {known->records, known->groups,
                                          known->variance / (part * part)};
        const bool is_number = variable->column.kind == COLUMN_NUMBER;
        const struct table1_expected expected = table1_expect(&own, is_number, variable->levels);
        const double group = most_of(&expected, is_number);
        most = group > most || isnan(group) ? group : most;
    }
    return most;
}

double query_records_needed(const struct answering *answering)
{
    const struct query *query = answering->query;
    const double variance = query_cell_variance(answering->run);
    const double records = (double)answering->run->record_count;
    const struct correlate_public correlated = {.records = records, .variance = variance};
    double needed = NAN;
    if (query->kind == QUERY_CROSSTAB) {
        const bool is_shared =
            query->factor_count == 2 && query->factor[1].column.category_count == 2;
        return is_shared ? crosstab_expect(records, query->factor[0].column.category_count,
                                           query->cell_count, variance)
                               .row
                         : NAN;
    }
    if (query->kind == QUERY_CORRELATE) {
        const struct correlate_public own = {.records = records,
                                             .variance = (double)query->parts * variance};
        (void)correlate_expect(&needed, &own, query->fourth);
        return needed;
    }
    if (query->kind == QUERY_PCA) {
        (void)pca_expect(&needed, &correlated, query->variable_count);
        return needed;
    }
    const struct table1_public known = {
        .records = records, .groups = query_groups(query), .variance = variance};
    if (query->kind == QUERY_SURVIVAL) {
        const double share = query_survival_share(query);
        const struct survival_public alive = {records, known.groups, variance / share / share,
                                              query->block};
        return survival_smallest(&alive, query->intervals);
    }
    if (query->kind == QUERY_CONCORDANCE) {
        (void)concordance_expect(&needed, &known, query->intervals);
        return needed;
    }
    return query->kind == QUERY_EVALUATE
               ? evaluate_expect(&known, &(struct evaluate_asked){query->intervals, NULL, 0})
                     .auc.group
           : query->kind == QUERY_TABLE1 ? of_table1(query, &known)
                                         : NAN;
}

void query_say_enough(char *note, size_t bytes, const struct answering *answering)
{
    const enum query_kind kind = answering->query->kind;
    const bool is_of_all = kind == QUERY_CORRELATE || kind == QUERY_PCA;
    const double records = query_records_needed(answering);
    const size_t used = strlen(note);
    CHECK(used < bytes);
    /* Where there are as many already, it is something else that is missing. */
    const bool has_them = is_of_all && records <= (double)answering->run->record_count;
    if (isfinite(records) && !has_them) {
        text_add(note, bytes, "; for the noise alone, %s%.0f records would be enough%s",
                 is_of_all                ? ""
                 : kind == QUERY_CROSSTAB ? "a row of about "
                                          : "a group of about ",
                 ceil(records),
                 kind == QUERY_SURVIVAL ? " if half of them die"
                 : kind == QUERY_EVALUATE || kind == QUERY_CONCORDANCE
                     ? " if a fifth of them have the event"
                     : "");
    }
}

static const char left_out[] = "left out, with no ";
static const char no_record[] = "record or too few to tell by this noise: ";
static const char no_event[] = "event or too few to tell by this noise: the time ";

const char *query_left_out(const char *note)
{
    const char *at = strstr(note, left_out);
    return at == NULL ? "" : at;
}

/* what: of what there is none */
static void say_left_out(struct query_answer *answer, const char *what, const char *column,
                         const char *name)
{
    static const char more[] = ", and others";
    const bool is_first = query_left_out(answer->note)[0] == '\0';
    const size_t used = strlen(answer->note);
    const size_t room = sizeof answer->note - used;
    char one[sizeof "; " + sizeof left_out + sizeof no_event + QUERY_NAME_BYTES];
    const int size = snprintf(one, sizeof one, "%s%s%s%s%s%s", is_first && used > 0 ? "; " : "",
                              is_first ? left_out : ", ", is_first ? what : "", column,
                              column[0] == '\0' ? "" : " ", name);
    CHECK(size > 0);
    if ((size_t)size + sizeof more <= room && (size_t)size < sizeof one) {
        (void)snprintf(answer->note + used, room, "%s", one);
    } else if (!is_first && room >= sizeof more && strstr(answer->note, more) == NULL) {
        (void)snprintf(answer->note + used, room, "%s", more);
    }
}

void query_say_left_out(struct query_answer *answer, const char *column, const char *name)
{
    say_left_out(answer, no_record, column, name);
}

void query_say_left_out_interval(struct query_answer *answer, const char *name)
{
    say_left_out(answer, no_event, "", name);
}
