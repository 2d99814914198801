/* Which events are worth judging by. Candidates are every threshold from either end, and the sets
 * of scores whose ratio of counts is the largest (the likelihood-ratio sets, best of all by the
 * lemma of Neyman and Pearson, where there are few enough different scores to estimate a ratio for
 * each). The promise of a candidate is the bound that it would give if the coming runs had the
 * frequencies of these, each frequency moved by two standard deviations against it: otherwise the
 * rarest events would always win by luck. Nothing here needs to be right: whatever is chosen, fresh
 * runs judge. */

#include "lab/audit/choose.h"

#include <math.h>
#include <stdlib.h>

enum { CAUTION = 2 };

/* One score, and how often it came on either side. */
struct tally {
    int64_t score;
    uint64_t count[2];
    double ratio;
};

struct table {
    struct tally *tally;
    size_t length;
    size_t samples; /* of each side */
    uint64_t trials;
    double delta;
    double deviations; /* of the bounds to come */
};

static int by_value(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int by_score(const void *left, const void *right)
{
    return by_value(&((const struct tally *)left)->score, &((const struct tally *)right)->score);
}

static int by_ratio(const void *left, const void *right)
{
    double a = ((const struct tally *)left)->ratio;
    double b = ((const struct tally *)right)->ratio;
    return a != b ? (a < b) - (a > b) : by_score(left, right);
}

/* Merges two sorted lists of scores. */
static void tabulate(struct table *table, int64_t *const score[2], size_t count)
{
    size_t at[2] = {0, 0};
    while (at[0] < count || at[1] < count) {
        int64_t next = INT64_MAX;
        for (unsigned side = 0; side < 2; side++) {
            if (at[side] < count && score[side][at[side]] < next) {
                next = score[side][at[side]];
            }
        }
        struct tally *tally = &table->tally[table->length++];
        *tally = (struct tally){.score = next};
        for (unsigned side = 0; side < 2; side++) {
            while (at[side] < count && score[side][at[side]] == next) {
                at[side]++;
                tally->count[side]++;
            }
        }
    }
}

/* The bound to expect from an event with these counts; negative when there is none. */
static double promise(const struct table *table, uint64_t likely, uint64_t other)
{
    double samples = (double)table->samples;
    double trials = (double)table->trials;
    double low = ((double)likely - CAUTION * sqrt((double)likely + 1)) / samples;
    double high = ((double)other + CAUTION * sqrt((double)other + 1)) / samples;
    if (low <= 0) {
        return -1;
    }
    low -= table->deviations * sqrt(low / trials);
    high += table->deviations * sqrt(high / trials) +
            table->deviations * table->deviations / (2 * trials);
    return low > table->delta ? log((low - table->delta) / high) : -1;
}

/* The best prefix (or suffix) of the table as it is sorted now; length 0 when none promises
 * anything. */
static size_t best_run(const struct table *table, unsigned side, bool from_the_end)
{
    uint64_t count[2] = {0, 0};
    double best = 0;
    size_t length = 0;
    for (size_t i = 0; i < table->length; i++) {
        const struct tally *tally = &table->tally[from_the_end ? table->length - 1 - i : i];
        count[0] += tally->count[0];
        count[1] += tally->count[1];
        double now = promise(table, count[side], count[1 - side]);
        if (now > best) {
            best = now;
            length = i + 1;
        }
    }
    return length;
}

static void choose_thresholds(struct audit_choice *choice, const struct table *table, unsigned side)
{
    size_t length = best_run(table, side, true);
    struct audit_event *event = &choice->event[AUDIT_KINDS * side + AUDIT_AT_LEAST];
    *event = (struct audit_event){.kind = AUDIT_AT_LEAST, .side = side, .used = length > 0};
    event->threshold = length > 0 ? table->tally[table->length - length].score : 0;

    length = best_run(table, side, false);
    event = &choice->event[AUDIT_KINDS * side + AUDIT_AT_MOST];
    *event = (struct audit_event){.kind = AUDIT_AT_MOST, .side = side, .used = length > 0};
    event->threshold = length > 0 ? table->tally[length - 1].score : 0;
}

static void choose_set(struct audit_choice *choice, struct table *table, unsigned side)
{
    struct audit_event *event = &choice->event[AUDIT_KINDS * side + AUDIT_AMONG];
    *event = (struct audit_event){.kind = AUDIT_AMONG, .side = side};
    if (table->length > CHOICE_SET_MAX) {
        return;
    }
    for (size_t i = 0; i < table->length; i++) {
        struct tally *tally = &table->tally[i];
        tally->ratio = ((double)tally->count[side] + 0.5) / ((double)tally->count[1 - side] + 0.5);
    }
    qsort(table->tally, table->length, sizeof *table->tally, by_ratio);
    size_t length = best_run(table, side, false);
    for (size_t i = 0; i < length; i++) {
        choice->member[side][i] = table->tally[i].score;
    }
    qsort(choice->member[side], length, sizeof *choice->member[side], by_value);
    choice->members[side] = length;
    event->used = length > 0;
    event->threshold = (int64_t)length;
}

/* Bins over all but the outermost hundredths, both sides together; a bin holds whole scores. */
static void choose_bins(struct audit_choice *choice, int64_t *const score[2], size_t count)
{
    size_t cut = count / 100;
    int64_t low = score[0][cut] < score[1][cut] ? score[0][cut] : score[1][cut];
    int64_t high = score[0][count - 1 - cut] > score[1][count - 1 - cut]
                       ? score[0][count - 1 - cut]
                       : score[1][count - 1 - cut];
    uint64_t range = (uint64_t)high - (uint64_t)low;
    choice->first = low;
    choice->width = range / AUDIT_BINS + 1;
}

enum status audit_choose(struct audit_choice *choice, int64_t *const score[2], size_t count,
                         uint64_t trials, const struct audit_options *options)
{
    struct table table = {.samples = count, .trials = trials, .delta = options->delta};
    table.deviations = sqrt(2 * log(2 * AUDIT_EVENTS / options->miss));
    *choice = (struct audit_choice){0};
    table.tally = calloc(2 * count, sizeof *table.tally);
    for (unsigned side = 0; side < 2; side++) {
        choice->member[side] = calloc(CHOICE_SET_MAX, sizeof *choice->member[side]);
    }
    if (table.tally == NULL || choice->member[0] == NULL || choice->member[1] == NULL) {
        free(table.tally);
        audit_choice_free(choice);
        return STATUS_NO_MEMORY;
    }
    for (unsigned side = 0; side < 2; side++) {
        qsort(score[side], count, sizeof *score[side], by_value);
    }
    tabulate(&table, score, count);
    choose_bins(choice, score, count);
    for (unsigned side = 0; side < 2; side++) {
        choose_thresholds(choice, &table, side);
    }
    for (unsigned side = 0; side < 2; side++) { /* sorts the table anew: thresholds come before */
        choose_set(choice, &table, side);
    }
    free(table.tally);
    return STATUS_OK;
}

void audit_choice_free(struct audit_choice *choice)
{
    free(choice->member[0]);
    free(choice->member[1]);
    choice->member[0] = NULL;
    choice->member[1] = NULL;
}

bool audit_choice_hit(const struct audit_choice *choice, size_t index, int64_t score)
{
    const struct audit_event *event = &choice->event[index];
    switch (event->kind) {
    case AUDIT_AT_LEAST:
        return score >= event->threshold;
    case AUDIT_AT_MOST:
        return score <= event->threshold;
    case AUDIT_AMONG:
        return bsearch(&score, choice->member[event->side], choice->members[event->side],
                       sizeof score, by_value) != NULL;
    }
    return false;
}
