/* init_job.h - a job's first text, written from a data dictionary alone. It names no record and no table. */

#ifndef CLI_INIT_JOB_H
#define CLI_INIT_JOB_H

#include "base/status.h"
#include "base/why.h"
#include "cli/command.h"
#include "config/options.h"
#include "dictionary/dictionary.h"

#include <stddef.h>
#include <stdint.h>

/* What a person asks for. Texts are borrowed. */
struct init_job {
    const char *path;     /* of the dictionary, for messages */
    const char *label;    /* the column that is to be learned */
    const char *positive; /* the text that is the positive class; NULL: the dictionary decides */
    const char *name;     /* of the job; NULL: made of the label's */
    const char *epsilon, *delta, *trust;
    uint64_t minimum;           /* sites */
    uint64_t dishonest;         /* of them, under a trust with masks; 0: a quarter, one at least */
    uint64_t records;           /* of each site, at least; 0: as many as the dictionary has */
    struct option_many feature; /* these columns alone; none: all that are usable */
    struct option_many without; /* not these */
    const struct dictionary *data; /* the dictionary */
};

/* What was decided for them. */
struct init_said {
    size_t features;  /* columns that became features */
    size_t left;      /* columns that did not, without the label */
    struct why label; /* how the label is read */
};

/**
 * Writes the job and reads it again, as an agent of the dictionary's site would.
 *
 * text  out  the caller frees it; NULL on failure
 *
 * Fails with STATUS_INVALID (a column that is not there, a label or columns that no task here learns, a value
 * out of range; why says what to do), STATUS_NO_MEMORY.
 * Ensures that the text is a job that job_parse() takes and dictionary_judge() lets pass.
 */
MUST_USE enum status init_job_write(char **text, struct init_said *said,
                                    const struct init_job *asked, struct why *why);

/* The label and the features of a job's first text. Inside `hedgerow init job` alone. */

/* How the label is learned. */
struct init_target {
    const struct dictionary_column *column;
    enum label_kind kind;
    const char *positive;
    const char *negative; /* NULL: every other text */
};

/** Finds the label's column, and decides how it is learned. Fails with STATUS_INVALID; why says what to do. */
MUST_USE enum status init_job_aim(struct init_target *target, const struct init_job *asked,
                                  struct why *why);

/** Says how the label is learned. */
void init_job_tell_label(struct why *why, const struct init_job *asked,
                         const struct init_target *target);

/** Finds the column that an option names. Fails with STATUS_INVALID. */
MUST_USE enum status init_job_need(const struct dictionary_column **column,
                                   const struct init_job *asked, const char *option,
                                   const char *name, struct why *why);

/** Returns why a column cannot be a feature and what would make it one; NULL where it can. */
const char *init_job_unusable(const struct dictionary_column *column);

#endif
