/* stage.h - what only a query stage has. */

#ifndef TASK_QUERY_STAGE_H
#define TASK_QUERY_STAGE_H

#include "base/check.h"
#include "job/job.h"
#include "job/terms.h"
#include "query/bar.h"
#include "query/query_set.h"

struct query_stage {
    struct query_set queries; /* the last of them are a learner's; owned */
    char (*conjunction)
        [QUERY_TEXT_BYTES]; /* (conjunction_count, 2) features to learn one of, and their questions */
    size_t conjunction_count;
    double conjunction_tolerance; /* tau: how near to its probability an answer is meant to be */
    struct query_score *score;    /* (score_count) models that questions judge; owned */
    double *score_weights;        /* theirs; owned */
    size_t score_count;
};

/* What is known of a question before it is asked, and whose lines tell it. */
struct query_asking {
    struct terms *terms;
    const struct query *query;
    const struct query_noise *noise; /* on a cell; unit: grid steps */
    double step;                     /* of the grid; unit: records */
    double records;                  /* of all agents */
    double deviation;                /* of the noise on a cell; unit: records */
};

/** Adds the line of the noise on a cell. taken: what the question's widths take, or NULL. format: the cells, behind the
 * question. Returns NULL where there is no memory. */
struct terms_line *query_add_cell(const struct query_asking *asking, const char *taken,
                                  const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A width to expect, and who needs how many records for it. */
struct query_width {
    const char *row; /* of the question's table */
    enum terms_of column;
    const char *unit;
    const char *who; /* "a group"; NULL: how many is not told */
    double needs;    /* the fewest records; NAN: no number would do */
    double has;      /* about so many records; 0: not told */
    bool is_given;   /* else `who` has too few */
};

/** Adds the line of a width. format: what it is, behind the question and before what it needs. Returns NULL where there is no
 * memory. */
struct terms_line *query_add_width(const struct query_asking *asking,
                                   const struct query_width *width, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A group that a width is told of: its words after a figure's, and whether the question's main figure is among its own. */
struct query_group {
    const char *where; /* " in a group of a tenth of the records" */
    double has;        /* records; 0: not told */
    bool is_beside;
    const char *who; /* needs records: "a group" */
    enum terms_of column;
};

/* Half of an interval that is to be expected, in a line of a plan. */
struct query_half {
    const char *row; /* of the question's table */
    const char *unit;
    const char *measure;
    double width;   /* NAN: not given */
    double most;    /* that makes a ratio of one */
    double needs;   /* the fewest records of a group that has it; NAN: no number would do */
    bool is_beside; /* another figure is the question's main one: this one warns of nothing */
};

/** Adds the line of half of an interval. format: what of, "AUC, if a fifth have the event". Fails with STATUS_NO_MEMORY. */
MUST_USE enum status query_add_half(const struct query_asking *asking,
                                    const struct query_half *half, const struct query_group *group,
                                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Half of the interval of a number of records, by the noise alone. A count whose bar is wider than all records is refused, as
 * query_tell_count has it. */
struct query_counted {
    const char *row; /* of the question's table */
    const char *who; /* "a group": which says something from this many records on */
    double half;
    enum terms_of column;
};

/** Adds the line. format: "the number of records of a group". Fails likewise. */
MUST_USE enum status query_add_count(const struct query_asking *asking,
                                     const struct query_counted *counted, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Appends to a line how many records somebody ("a group") needs; and, where the interval is not given, how many there are. */
void query_say_needed(struct terms_line *line, const char *who, double needed, double has,
                      bool is_given);

/** Puts a line into the question's table. row: "" of the noise on a cell. */
void query_place(struct terms_line *line, const struct query *query, const char *row,
                 enum terms_of of, double has, double needs);

/** Names the row of a coefficient; NULL: of the intercept. */
void query_name_term(char row[static TERMS_ROW_BYTES], const struct query_variable *variable);

/** Add the lines of a kind of question, evaluate's also of a concordance: terms.h. Fail with STATUS_NO_MEMORY. */
MUST_USE enum status query_terms_survival(const struct query_asking *asking);
MUST_USE enum status query_terms_crosstab(const struct query_asking *asking);
MUST_USE enum status query_terms_table1(const struct query_asking *asking);
MUST_USE enum status query_terms_evaluate(const struct query_asking *asking);
MUST_USE enum status query_terms_correlate(const struct query_asking *asking);
MUST_USE enum status query_terms_pca(const struct query_asking *asking);
MUST_USE enum status query_terms_regress(const struct query_asking *asking);

/** Adds what a question tells of each site alone, and of the mean of so many sites of equal size if they are alike. asking: of
 * one site. Fails likewise. */
MUST_USE enum status query_terms_site(const struct query_asking *asking, size_t sites);

/** Returns it; CHECKs the task. */
static inline struct query_stage *query_stage(const struct stage *stage)
{
    CHECK(stage->task == TASK_QUERY);
    return stage->own;
}

#endif
