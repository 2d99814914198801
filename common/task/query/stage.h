/* stage.h - what only a query stage has. */

#ifndef TASK_QUERY_STAGE_H
#define TASK_QUERY_STAGE_H

#include "base/check.h"
#include "job/job.h"
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

struct terms;

/* Half of an interval that is to be expected, in a line of a plan. */
struct query_half {
    const char *of; /* "AUC, if a fifth have the event" */
    const char *unit;
    const char *measure;
    double width;   /* NAN: not given */
    double most;    /* that makes a ratio of one */
    double group;   /* the fewest records of a group that has it; NAN: no number would do */
    bool is_beside; /* another figure is the question's main one: this one warns of nothing */
};

/** Adds the line. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status query_add_half(struct terms *terms, const struct query *query,
                                    const struct query_half *half);

/** Writes how many records a group needs, for the end of a line. */
void query_say_group(char text[static 64], double records);

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
