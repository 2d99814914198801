/* study.h - the studies that `hedgerow study` runs. Each shows, by seeded simulation or by exact figures, what a theorem of
 * the papers promises, or what a correction to the papers changes. They are a program of their own that is never installed,
 * because they hold a seeded generator, take exact sums and draw without a gate. */

#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include "base/status.h"
#include "base/why.h"
#include "report/study.h"

#include <stdbool.h>
#include <stdint.h>

struct study_request {
    uint64_t seed;
    uint64_t rounds;     /* the longest play, the largest sample; 0: the study's own */
    uint64_t runs;       /* of each setting, or samples of an audit; 0: the study's own */
    const char *compose; /* the folder of hospitals/ and tumours/ */
    const char *only;    /* of intervals: the kind of question to simulate; NULL: all */
    bool planted; /* for tests: every claim is judged on the wrong form of what it is about, and
                            none must hold */
    bool quiet;   /* no progress on standard error */
};

/** Prints a line of progress to standard error. */
void study_progress(const struct study_request *request, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* docs/STUDY.md says what each of them shows.
 *
 * study  out  zeroed by the caller: gets title, claims, charts and table
 *
 * All fail with STATUS_NO_MEMORY, STATUS_INVALID (what was asked for cannot be run); accuracy also
 * where the files of `compose` cannot be read. why says what. The same request gives the same study.
 */
MUST_USE enum status study_regret(struct study *study, const struct study_request *request,
                                  struct why *why);
MUST_USE enum status study_excess(struct study *study, const struct study_request *request,
                                  struct why *why);
MUST_USE enum status study_concentration(struct study *study, const struct study_request *request,
                                         struct why *why);
MUST_USE enum status study_accuracy(struct study *study, const struct study_request *request,
                                    struct why *why);
MUST_USE enum status study_corrections(struct study *study, const struct study_request *request,
                                       struct why *why);
MUST_USE enum status study_intervals(struct study *study, const struct study_request *request,
                                     struct why *why);

#endif
