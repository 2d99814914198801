/* trust.h - what differs between trusts: one row each. Programs and tasks ask for these facts, and never which
 * trust it is. */

#ifndef JOB_TRUST_H
#define JOB_TRUST_H

#include "job/job.h"

struct trust {
    const char *name;    /* as in a job's text */
    const char *promise; /* what leaves a site, for the person who approves a job */
    const char *sent;    /* what the coordinator was sent, for a report's reader */
    const char *noise;   /* who adds the noise, and when: likewise */

    /* Agents send exact vectors. The coordinator's curator adds the noise once, to their sum, or draws from
     * the exact sum and charges for the draw. */
    bool exact_answers;

    /* A sum carries the noise of one, however many agents answer. So its sensitivity is one for all of them,
     * that of an agent with the fewest records that the job allows. */
    bool one_noise;

    /* Agents send their answers under masks, each with a share of the noise on it: only the sum of a cohort is
     * ever read (masks/site.h). Its text says how many sites it counts on. */
    bool masked;

    /* The coordinator sees what each agent releases: an agent's own model can become an expert. */
    bool own_answers;

    const char *trusted; /* who is trusted with what, for a reader who compares trusts */

    /* For one round with one site, whose answer is one piece: what crosses the wire both ways, how often one side
     * waits for the other, and how often somebody waits for a disk. PROTOCOL, sections 4 and 9. */
    unsigned messages;
    unsigned round_trips;
    unsigned commits;

    enum job_trust rival; /* that plans compare it with */
};

const struct trust *trust_of(const struct job *job);
const struct trust *trust_at(enum job_trust trust);

#endif
