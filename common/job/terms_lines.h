/* terms_lines.h - what the makers of a stage's terms share. Inside job only. */

#ifndef JOB_TERMS_LINES_H
#define JOB_TERMS_LINES_H

#include "job/terms.h"

#define TERMS_TENTH 0.1

struct terms_setting {
    const struct job *job;
    const struct stage *stage;
    size_t index;
    size_t agents;
    uint64_t records; /* of each agent */
    size_t experts;
};

/** The noise on every number of the sum of round `within`. Fails as round_bounds does; noise is then left
 * as it is. */
MUST_USE enum status terms_noise(struct query_noise *noise, const struct terms_setting *setting,
                                 uint32_t within, struct why *why);

/** Adds a line of which nothing is known yet. Returns NULL without memory. */
struct terms_line *terms_add_line(struct terms *terms);

/** The lines of questions, and of a choice among candidates or experts. Fail as terms_of_stage. */
MUST_USE enum status terms_tell_queries(struct terms *terms, const struct terms_setting *setting,
                                        struct why *why);
MUST_USE enum status terms_tell_select(struct terms *terms, const struct terms_setting *setting,
                                       struct why *why);

#endif
