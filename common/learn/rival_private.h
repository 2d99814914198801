/* rival_private.h - the search for the minimiser of rival.h, made by rival_search.c and run by rival.c. Nothing else includes
 * it. */

#ifndef LEARN_RIVAL_PRIVATE_H
#define LEARN_RIVAL_PRIVATE_H

#include "learn/rival.h"

enum { RIVAL_PAST = 10 };

/* m records, d features, k outputs, n = k d weights */
struct rival_search {
    enum label_kind kind;
    size_t m;
    size_t d;
    size_t k;
    size_t n;
    const double *x;
    const double *y;
    const double *share; /* (m, k) or NULL: rival.h */
    double lambda;
    double enough;    /* the search ends where F is expected to fall by less */
    double *own;      /* all arrays below */
    double *score;    /* (m, k); after a gradient the slopes */
    double *gradient; /* (n) */
    double *next;     /* (n) its successor */
    double *step;     /* (n) */
    double *trial;    /* (n) */
    double *gram;   /* (d, d) X^T X, lower triangle; NULL when there are too many features; owned */
    double *factor; /* (d, d), or NULL; owned */
    double *moved;  /* (RIVAL_PAST, n) */
    double *turned; /* (RIVAL_PAST, n) */
    double inner[RIVAL_PAST];
    size_t past;
};

/** Prepares a search on these records, of the problem's kind and outputs. rival_search_free, unless it fails: with
 * STATUS_NO_MEMORY. */
MUST_USE enum status rival_search_init(struct rival_search *s, const struct rival_problem *problem,
                                       const struct dataset *data);
void rival_search_free(struct rival_search *s);

/** Moves w (outputs, d) to the minimiser at lambda. enough: the search ends where F is expected to fall by less. */
void rival_search_run(struct rival_search *s, double *w, double lambda, double enough);

/** Returns the mean loss of w on records x (m, d) and y (m), and leaves its slopes in score (m, outputs). CHECKs that
 * the search's problem has no shares. */
double rival_search_loss(double *score, const struct rival_search *s, const double *w,
                         const double *x, const double *y, size_t m);

#endif
