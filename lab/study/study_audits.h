/* study_audits.h - what a release tells of two neighbours, by an audit: the papers' own forms beside
 * ours, on the pair that tells most. For the study of corrections. */

#ifndef STUDY_AUDITS_H
#define STUDY_AUDITS_H

#include "lab/study/study.h"

enum study_release {
    RELEASE_FUNCTION, /* 7.1: f_z + b as a function, b one draw; seen at two points */
    RELEASE_ANSWERS,  /* ours: two answers, noise on each, one charge for both */
    RELEASE_KERNEL,   /* 7.2: a kernel expansion, noise on its coefficients */
    RELEASE_WEIGHTS,  /* ours: a fit's weights on explicit features */
    RELEASE_STEPS,    /* 7.4: an online learner, 100 releases with the noise of one each */
    RELEASE_DOUBLING, /* ours: the doubling schedule, charged at the start */
    RELEASE_POOLED_M  /* 7.9: a fit whose noise is for the five institutions' records together */
};

struct study_finding {
    double epsilon; /* that the audit proves, at delta 0; wrong with probability 10^-6 at most */
    double total;   /* the most that any outcome tells, exactly; infinite where one tells all */
};

/** Audits one release that claims epsilon 1 and delta 0, with the noise over `less` (1; 2 is half of
 * it). Fails with STATUS_NO_MEMORY, STATUS_INVALID. */
MUST_USE enum status study_audit(struct study_finding *finding, enum study_release release,
                                 unsigned less, const struct study_request *request,
                                 struct why *why);

#endif
