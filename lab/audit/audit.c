/* A lower bound on epsilon from samples. If a pair of neighbours is (epsilon, delta)-close, then
 * P(E|x) <= e^epsilon P(E|x') + delta for EVERY event E and both ways, so each event proves epsilon
 * >= ln((P(E|x) - delta) / P(E|x')). Of 2 * AUDIT_EVENTS probabilities each gets a one-sided bound
 * that is wrong with probability miss / (2 * AUDIT_EVENTS); when all hold, so does the largest of
 * the events' bounds. The events come from samples that are independent of those that judge, hence
 * choosing them costs nothing of the confidence.
 *
 * Jagielski, Ullman, Oprea, "Auditing differentially private machine learning", NeurIPS 2020; Ding,
 * Wang, Wang, Zhang, Kifer, "Detecting violations of differential privacy", CCS 2018. Deviation: a
 * bound with its confidence in place of a p-value for one claimed epsilon. */

#include "lab/audit/audit.h"

#include "base/check.h"
#include "lab/audit/choose.h"
#include "lab/audit/proportion.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK = 4096, CHOOSING_PART = 8, CHOOSING_MAX = 65536 };

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

static void count_into(struct audit_result *result, const struct audit_choice *choice,
                       unsigned side, const int64_t *score, size_t count)
{
    struct audit_histogram *histogram = &result->histogram;
    for (size_t i = 0; i < AUDIT_EVENTS; i++) {
        for (size_t k = 0; k < count && result->event[i].used; k++) {
            result->event[i].hits[side] += audit_choice_hit(choice, i, score[k]);
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

static enum status judge(struct audit_result *result, const struct audit_choice *choice,
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
    struct audit_choice choice = {0};
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
        status = audit_choose(&choice, score, count, result->trials, options);
    }
    if (status == STATUS_OK) {
        status = judge(result, &choice, source, random, score[0], &walk);
    }
    audit_choice_free(&choice);
    free(score[0]);
    free(score[1]);
    return status;
}
