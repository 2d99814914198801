/* terms.h - a stage in the units of those who approve it: what it releases, how much noise is on
 * that, what it costs. From public knowledge alone, before or after the job. */

#ifndef JOB_TERMS_H
#define JOB_TERMS_H

#include "job/round.h"
#include "learn/rehearsal.h"

#include <stdbool.h>

enum { TERMS_TEXT_BYTES = 512, TERMS_ROW_BYTES = 128 };

#define TERMS_LEAD 0.01

/* Whose a width is: the columns of a question's table. */
enum terms_of {
    TERMS_OF_NONE,
    TERMS_OF_ALIKE, /* a group, if all are alike */
    TERMS_OF_SMALL, /* a group of a tenth of the records */
    TERMS_OF_ALL,
    TERMS_OF_SITE,
    TERMS_OF_SITES, /* their mean, if they are alike */
    TERMS_OF_NEXT,  /* another such site, likewise */
    TERMS_OF_COUNT
};

/* Where a line stands in its question's table; several lines of one place are a range. */
struct terms_place {
    size_t question;           /* bytes of the line's words that are the question; 0: in no table */
    char row[TERMS_ROW_BYTES]; /* "mean of age"; of the noise on a cell "" */
    const char *taken;         /* what the widths take, told once for a question; NULL: nothing */
    enum terms_of of;
    double has;    /* records of one of these; 0: not told */
    double needs;  /* from this many on there is an answer; NAN: no number is enough; 0: not told */
    bool is_ratio; /* bar is its logarithm */
};

/* One kind of number that a stage releases. */
struct terms_line {
    char what[TERMS_TEXT_BYTES]; /* "each of 8 weights, lambda 0.005" */
    char unit[TERMS_TEXT_BYTES]; /* "weight", "loss", "records", or a column's name */
    double noise; /* standard deviation that privacy adds to one of them, at most; NAN for a draw */
    double bar; /* with at least 95 % the noise moves it by no more; NAN where noise says enough */
    double noise_to_signal; /* beside what the noise hides: above 1 it drowns it; NAN: not judged */
    const char *measure;    /* what that ratio is 1 at: "half the ball that the weights lie in" */
    bool is_expected;       /* bar is a width to expect, not a bound */
    struct terms_place place;
};

struct terms {
    const char *mechanism; /* "discrete Laplace" */
    struct price charge;   /* of one pass, as pure epsilon or range; 0: Gaussian */
    double sigma;          /* a Gaussian charge's, over the sensitivity; NAN without */
    double sampling;       /* each record takes part in a round with this probability; else 1 */
    uint32_t passes;       /* charges of the whole stage */
    struct price price;    /* of the stage by itself, at the job's delta where that says more */
    double regret;         /* losses: bound on the expected average regret; NAN for other stages */
    double regret_free;    /* the same without privacy */
    double best_chance; /* losses: that the best expert, TERMS_LEAD ahead of each other one in its
                              mean loss, is the one broadcast; NAN for other stages */
    double
        changed_chance; /* the same if the best is another one changed, which begins with less weight; NAN: none does */
    struct terms_line *line; /* (line_count), owned */
    size_t line_count;
};

struct terms_size {
    size_t agents;    /* 1 .. JOB_AGENTS_MAX that answer every round */
    uint64_t records; /* of each agent, at least; what the job needs at least is taken if that is
                         more */
};

/**
 * Tells the terms of one stage.
 *
 * terms  out  terms_free
 * index  in   of the stage
 *
 * Fails with STATUS_INVALID (no noise exists for so few records: why), STATUS_NO_MEMORY.
 * Ensures that no noise and no price is understated, as far as a standard deviation can.
 * Cost: some milliseconds for many questions.
 */
MUST_USE enum status terms_of_stage(struct terms *terms, const struct job *job, size_t index,
                                    struct terms_size size, struct why *why);
void terms_free(struct terms *terms);

/** Returns whether a stage can be rehearsed on made-up tables. */
bool terms_can_rehearse(const struct job *job, size_t index);

/** Tells what a rehearsal of such a stage has to know. out borrows from the job. Fails as terms_of_stage,
 * and with STATUS_UNSUPPORTED where this one is not rehearsed. */
MUST_USE enum status terms_rehearse(struct rehearsal *out, const struct job *job, size_t index,
                                    struct terms_size size, struct why *why);

/** Returns an (epsilon, delta) that holds for these sums at one moment fixed beforehand, such as the
 * job's end: the pure sum, or what filter_epsilon says at the filter's delta where that is less. */
struct price terms_price(const struct filter *filter, const struct cost *sums);

#endif
