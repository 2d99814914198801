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

/* Half of an interval that is to be expected, in a line of a plan. */
struct query_half {
    const char *of; /* "AUC, if a fifth have the event" */
    const char *unit;
    const char *measure;
    double width;    /* NAN: not given */
    double most;     /* that makes a ratio of one */
    double group;    /* the fewest records of a group that has it; NAN: no number would do */
    bool is_beside;  /* another figure is the question's main one: this one warns of nothing */
    double has;      /* about the records of such a group; 0: not told */
    const char *who; /* needs these; NULL: "a group" */
    const char *row; /* of the question's table */
    enum terms_of column;
};

/** Adds a line of a width to expect. Returns NULL where there is no memory. */
struct terms_line *query_add_expected(struct terms *terms);

/** Adds the line of half of an interval. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status query_add_half(struct terms *terms, const struct query *query,
                                    const struct query_half *half);

/* A group that a width is told of: its words after a figure's, and whether the question's main figure is among its own. */
struct query_group {
    const char *where; /* " in a group of a tenth of the records" */
    double has;        /* records */
    bool is_beside;
    const char *who; /* needs records: as query_half's */
    enum terms_of column;
};

/* Half of the interval of a number of records, by the noise alone. */
struct query_counted {
    const char *of;  /* "the number of records of a group" */
    const char *who; /* "a group": which says something from this many records on */
    double half;
    const char *row; /* of the question's table */
    enum terms_of column;
    double records; /* of all: a count whose bar is wider is refused, as query_tell_count has it */
};

/** Adds the line. Fails likewise. */
MUST_USE enum status query_add_count(struct terms *terms, const struct query *query,
                                     const struct query_counted *counted);

enum { QUERY_NEEDED_BYTES = 128 };

/** Writes how many records somebody ("a group") needs, for the end of a line; and, where the interval is not given, how many
 * there are. */
void query_say_needed(char text[static QUERY_NEEDED_BYTES], const char *who, double needed,
                      double has, bool is_given);

/** Puts a line into the question's table. row: "" of the noise on a cell. */
void query_place(struct terms_line *line, const struct query *query, const char *row,
                 enum terms_of of, double has, double needs);

/** Names the row of a coefficient; NULL: of the intercept. */
void query_name_term(char row[static TERMS_ROW_BYTES], const struct query_variable *variable);

/** Appends it to a line. */
void query_append_needed(struct terms_line *line, const char *needed);

/** Add the lines of a kind of question, evaluate's also of a concordance: terms.h. step: of the grid; records: of all agents. Fail
 * with STATUS_NO_MEMORY. */
MUST_USE enum status query_terms_survival(struct terms *terms, const struct query *query,
                                          const struct query_noise *noise, double step,
                                          double records);
MUST_USE enum status query_terms_crosstab(struct terms *terms, const struct query *query,
                                          const struct query_noise *noise, double step,
                                          double records);
MUST_USE enum status query_terms_table1(struct terms *terms, const struct query *query,
                                        const struct query_noise *noise, double step,
                                        double records);
MUST_USE enum status query_terms_evaluate(struct terms *terms, const struct query *query,
                                          const struct query_noise *noise, double step,
                                          double records);
MUST_USE enum status query_terms_correlate(struct terms *terms, const struct query *query,
                                           const struct query_noise *noise, double step,
                                           double records);
MUST_USE enum status query_terms_pca(struct terms *terms, const struct query *query,
                                     const struct query_noise *noise, double step, double records);
MUST_USE enum status query_terms_regress(struct terms *terms, const struct query *query,
                                         const struct query_noise *noise, double step,
                                         double records);

/* Sites of equal size. */
struct terms_sites {
    double records; /* of one */
    size_t count;
};

/** Adds what a question tells of each site alone, and of their mean if sites are alike. noise: of one site. Fails likewise. */
MUST_USE enum status query_terms_site(struct terms *terms, const struct query *query,
                                      const struct query_noise *noise, double step,
                                      const struct terms_sites *sites);

/** Returns it; CHECKs the task. */
static inline struct query_stage *query_stage(const struct stage *stage)
{
    CHECK(stage->task == TASK_QUERY);
    return stage->own;
}

#endif
