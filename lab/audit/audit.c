/* A lower bound on epsilon from samples. If a pair of neighbours is (epsilon, delta)-close, then
 * P(E|x) <= e^epsilon P(E|x') + delta for EVERY event E and both ways, so each event proves epsilon
 * >= ln((P(E|x) - delta) / P(E|x')). Each of the 2 * AUDIT_EVENTS probabilities gets a one-sided bound
 * that is wrong with probability miss / (2 * AUDIT_EVENTS); when all hold, so does the largest of
 * the events' bounds. The events come from samples that are independent of those that judge, hence
 * choosing them costs nothing of the confidence.
 *
 * Jagielski, Ullman, Oprea, "Auditing differentially private machine learning", NeurIPS 2020; Ding,
 * Wang, Wang, Zhang, Kifer, "Detecting violations of differential privacy", CCS 2018. Deviation: a
 * bound with its confidence in place of a p-value for one claimed epsilon.
 *
 * Which events are worth judging by. Candidates are every threshold from either end, and the sets
 * of scores whose ratio of counts is the largest (the likelihood-ratio sets, best of all by the
 * lemma of Neyman and Pearson, where there are few enough different scores to estimate a ratio for
 * each). The promise of a candidate is the bound that it would give if the coming runs had the
 * frequencies of these, each frequency moved by two standard deviations against it: otherwise the
 * rarest events would always win by luck. Nothing here needs to be right: whatever is chosen, fresh
 * runs judge. */

#include "lab/audit/audit.h"

#include "base/check.h"
#include "lab/audit/proportion.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK = 4096, CHOOSING_PART = 8, CHOOSING_MAX = 65536 };

enum { CHOICE_SET_MAX = 4096, CAUTION = 2 };

/* Which events to judge by. */
struct choice {
    struct audit_event event[AUDIT_EVENTS]; /* kind, side, used, threshold */
    int64_t *member[2]; /* of AUDIT_AMONG on each side, ascending (CHOICE_SET_MAX); owned */
    size_t members[2];
    int64_t first; /* of the histogram */
    uint64_t width;
};

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

static void choose_thresholds(struct choice *choice, const struct table *table, unsigned side)
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

static void choose_set(struct choice *choice, struct table *table, unsigned side)
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
static void choose_bins(struct choice *choice, int64_t *const score[2], size_t count)
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

static void choice_free(struct choice *choice)
{
    free(choice->member[0]);
    free(choice->member[1]);
    choice->member[0] = NULL;
    choice->member[1] = NULL;
}

static enum status choose(struct choice *choice, int64_t *const score[2], size_t count,
                          uint64_t trials, const struct audit_options *options)
{
    struct table table = {.samples = count, .trials = trials, .delta = options->delta};
    table.deviations = sqrt(2 * log(2 * AUDIT_EVENTS / options->miss));
    *choice = (struct choice){0};
    table.tally = calloc(2 * count, sizeof *table.tally);
    for (unsigned side = 0; side < 2; side++) {
        choice->member[side] = calloc(CHOICE_SET_MAX, sizeof *choice->member[side]);
    }
    if (table.tally == NULL || choice->member[0] == NULL || choice->member[1] == NULL) {
        free(table.tally);
        choice_free(choice);
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

static bool choice_hit(const struct choice *choice, size_t index, int64_t score)
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

/* Tells progress for `count` runs more. */
struct walk {
    const struct audit_options *options;
    uint64_t done;
};

static void walked(struct walk *walk, uint64_t count)
{
    walk->done += count;
    if (walk->options->progress != NULL) {
        walk->options->progress(walk->options->progress_self, walk->done,
                                2 * walk->options->samples);
    }
}

static enum status draw(const struct audit_source *source, const struct random *random,
                        unsigned side, int64_t *score, size_t count, struct walk *walk)
{
    enum status status = STATUS_OK;
    for (size_t at = 0; at < count && status == STATUS_OK; at += BLOCK) {
        size_t part = count - at < BLOCK ? count - at : BLOCK;
        status = source->draw(source->self, random, side, score + at, part);
        walked(walk, part);
    }
    return status;
}

static void count_into(struct audit_result *result, const struct choice *choice, unsigned side,
                       const int64_t *score, size_t count)
{
    struct audit_histogram *histogram = &result->histogram;
    for (size_t i = 0; i < AUDIT_EVENTS; i++) {
        for (size_t k = 0; k < count && result->event[i].used; k++) {
            result->event[i].hits[side] += choice_hit(choice, i, score[k]);
        }
    }
    for (size_t k = 0; k < count; k++) {
        uint64_t bin = 0;
        if (score[k] > histogram->first) {
            bin = ((uint64_t)score[k] - (uint64_t)histogram->first) / histogram->width;
        }
        histogram->count[side][bin < AUDIT_BINS ? bin : AUDIT_BINS - 1]++;
    }
}

static double proven(const struct audit_event *event, uint64_t trials,
                     const struct audit_options *options)
{
    double miss = options->miss / (2 * AUDIT_EVENTS);
    double low = proportion_low(event->hits[event->side], trials, miss);
    double high = proportion_high(event->hits[1 - event->side], trials, miss);
    if (!event->used || low <= options->delta) {
        return 0;
    }
    return fmax(0, log((low - options->delta) / high));
}

static enum status judge(struct audit_result *result, const struct choice *choice,
                         const struct audit_source *source, const struct random *random,
                         int64_t *score, struct walk *walk)
{
    for (size_t i = 0; i < AUDIT_EVENTS; i++) {
        result->event[i] = choice->event[i];
    }
    result->histogram = (struct audit_histogram){.first = choice->first, .width = choice->width};
    for (unsigned side = 0; side < 2; side++) {
        for (uint64_t left = result->trials; left > 0;) {
            size_t part = left < BLOCK ? (size_t)left : BLOCK;
            enum status status = draw(source, random, side, score, part, walk);
            if (status != STATUS_OK) {
                return status;
            }
            count_into(result, choice, side, score, part);
            left -= part;
        }
    }
    for (size_t i = 0; i < AUDIT_EVENTS; i++) {
        struct audit_event *event = &result->event[i];
        event->epsilon = proven(event, result->trials, walk->options);
        if (event->epsilon > result->event[result->best].epsilon) {
            result->best = i;
        }
    }
    result->epsilon = result->event[result->best].epsilon;
    return STATUS_OK;
}

enum status audit_run(struct audit_result *result, const struct audit_source *source,
                      const struct random *random, const struct audit_options *options)
{
    CHECK(options->samples >= AUDIT_SAMPLES_MIN && options->samples <= AUDIT_SAMPLES_MAX);
    CHECK(options->delta >= 0 && options->delta < 1 && options->miss > 0 && options->miss < 0.5);
    uint64_t choosing = options->samples / CHOOSING_PART;
    size_t count = choosing < CHOOSING_MAX ? (size_t)choosing : CHOOSING_MAX;
    size_t room = count > BLOCK ? count : BLOCK;
    struct walk walk = {.options = options};
    struct choice choice = {0};
    int64_t *score[2];
    enum status status;

    *result = (struct audit_result){.trials = options->samples - count};
    score[0] = calloc(room, sizeof *score[0]);
    score[1] = calloc(room, sizeof *score[1]);
    status = score[0] != NULL && score[1] != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    for (unsigned side = 0; side < 2 && status == STATUS_OK; side++) {
        status = draw(source, random, side, score[side], count, &walk);
    }
    if (status == STATUS_OK) {
        status = choose(&choice, score, count, result->trials, options);
    }
    if (status == STATUS_OK) {
        status = judge(result, &choice, source, random, score[0], &walk);
    }
    choice_free(&choice);
    free(score[0]);
    free(score[1]);
    return status;
}
