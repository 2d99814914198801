/* rehearsal.h - plays a plan of the self-tuning learner (learn/selftune.h, of a number learn/selftune_number.h) on made-up
 * tables, with the noise as it will be. It tells what accuracy to expect before a record is read, or what error of a number.
 *
 * The prior. A made-up table has the schema's columns. Each number lies in its public range with a mean and a spread of
 * its own; one column in three is skewed. Categories have random shares. Common factors of falling importance explain
 * from 20 to 98 % of the columns' variance, and the more the more columns there are: what all columns have for themselves
 * is worth 6 columns at most. The f-th factor's importance is f^-a, a uniform between 0 and 4.
 *
 * Of every eight tables four have ranges that suit the columns, two narrow ones that cut the columns' ends off, and two wide ones, of
 * which columns use a part, anywhere.
 *
 * Two classes. On every other table the columns come first: the label follows a logistic model of the columns before they are
 * clamped, on half of these along the largest factor alone, on the others along all factors and columns of its own, in
 * parts of any size. On the other tables the label comes first, as an illness that moves what is measured: each class has its own
 * mean of the largest factor, or of all factors and of columns' own parts, and columns follow. Then fewer records are between
 * classes that are told apart, and noise costs less. No look tells how hard a label is to tell before records are seen, so the
 * prior of that is wide and the same for both: the strength of a score is a logarithmic draw, at whose ends the best
 * classifier of balanced classes errs on about 46 % and a twentieth of a per cent. The positive class has 5 to 95 % of the records.
 *
 * Several classes. Likewise, but on three of four tables the label comes first, and on half of those where it moves more than
 * one factor it moves factors alone. One factor is alone on one table in four, where classes are grades of one thing. Where the
 * label is first half of the tables have classes of even size.
 *
 * A number follows the columns, as classes do where these come first, with normal noise: columns tell 2 to 99 % of its
 * variance. It has a mean in its public range, a standard deviation of 0.1 to 0.9 of half its width before its ends are cut
 * off, and one in three is skewed.
 *
 * Strengths are spread evenly over the tables, so that few tables show the range. docs/STUDY.md holds all this against real
 * tables.
 *
 * Everything follows from a seed: whoever knows the job knows all of it. The generator is learn/features_normal.h, never
 * that of a release's noise. */

#ifndef LEARN_REHEARSAL_H
#define LEARN_REHEARSAL_H

#include "base/status.h"
#include "learn/loss.h"
#include "learn/schema.h"
#include "learn/selftune.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    REHEARSAL_TABLES_FEW = 8,
    REHEARSAL_TABLES_PROMPT = 64,
    REHEARSAL_TABLES_MIN = 40,
    REHEARSAL_TABLES_MAX = 64
};

/* One plan. Deviations are of the noise on one number of a sum over all records. */
struct rehearsal {
    struct selftune tune;
    enum label_kind kind;
    struct loss loss; /* of a number */
    double
        planned; /* of a number: what its stage expects of a step's noise: struct selftune_number */
    double step_size; /* of a number, of the sum of misses: records */
    const struct schema
        *schema;         /* borrowed: columns of the kinds that selftune learns on; no map */
    double records;      /* of all agents; >= 2 */
    unsigned noises;     /* how many draws a number's noise is the sum of; 0: normal noise */
    double reach;        /* the norm that a look at sums clips records to */
    double look_count;   /* records */
    double look_kept;    /* records, of a look at sums */
    double look_sum;     /* records */
    double look_product; /* records, of other looks */
    size_t
        groups; /* of a look at sums: groups of sites with a part of the columns each; 0, 1: all have all columns */
    size_t
        groups_second; /* as many of the sites that look second, which are 1 - part_first of all; 0: all look once */
    double part_first;
    double step; /* of a gradient, over its clip */
    bool
        tries_products; /* the stage tries products of columns; not played, as the made-up labels are of linear models */
};

/* Mean over the tables; and the quantiles 5 % and 95 % (of several classes 2 % and 98 %) of what a quarter as many records as the model learned from, held
 * out, would show: over tables, and over who is held out. */
struct rehearsal_figure {
    double mean, low, high;
    double median; /* of the tables' means */
    double
        error; /* the mean's standard error: other tables of the prior move it so far; NAN of one table */
};

/* Of classes accuracies. Of a number errors, over the width of its public range: roots of mean squares, or with the loss
 * pinball that loss. */
struct rehearsal_answer {
    struct rehearsal_figure reached; /* by the released model on new records */
    struct rehearsal_figure lost;    /* by how much the model without privacy is better */
    struct rehearsal_figure
        free; /* reached by that model, fitted to the same records in one place */
    struct rehearsal_figure
        explained; /* of a number but with pinball: of its variance, by the released model: 1 is all */
    struct rehearsal_figure free_explained;
    size_t tables;
    double
        inside; /* the part that bands hold: 0.9, of several classes 0.96, as their prior is the least sure */
};

/** Returns whether a person would wait for it: with some 100 columns and more, no. */
bool rehearsal_is_short(const struct rehearsal *plan, size_t count);

/** Returns how many tables of one plan take half a second together, about: REHEARSAL_TABLES_PROMPT at most, and 0 if they were fewer
 * than REHEARSAL_TABLES_FEW. */
size_t rehearsal_prompt_tables(const struct rehearsal *plan);

/**
 * Plays plans of one schema on the same made-up tables, which have as many rows as the plan with the most records, up to
 * 2000 rows and 400 000 numbers. For more records each row stands for several, whose labels are drawn singly. So the model
 * without privacy learns no chance from 2000 labels that more records would not show it. What labels follow and columns hide
 * (a clamped tail, a category's latent number) is drawn once a row. The sums of a plan with fewer records are scaled.
 *
 * answer       out  (count)
 * plan         in   (count), at least one
 * tables_most  in  at least 1; fewer where they would take long
 * seed         in   decides all of it
 *
 * Fails with STATUS_NO_MEMORY, and with STATUS_INVALID where a step does.
 * The draws behind the noise are the same for all plans, so that a plan's figures do not depend on the others.
 * Cost: half a second for ten plans of 7 to 30 columns, some seconds for more columns where rehearsal_is_short().
 */
MUST_USE enum status rehearsal_play(struct rehearsal_answer *answer, const struct rehearsal *plan,
                                    size_t count, size_t tables_most, uint64_t seed);

#endif
