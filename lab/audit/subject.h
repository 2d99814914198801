/* subject.h - what can be audited: each mechanism of this program on the pair of neighbours that
 * tells most of it, run the way the agent runs it. */

#ifndef AUDIT_SUBJECT_H
#define AUDIT_SUBJECT_H

#include "base/why.h"
#include "lab/audit/audit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct audit_subject {
    const char *name;
    const char *summary; /* one line for the list */
    const char *worst;   /* the pair, and what the audit can reach on it */
    bool tight;          /* the pair's epsilon comes near to the claim: above 0.9 of it */
    bool has_delta;      /* claims (epsilon, delta) with the setting's delta; else delta 0 */
    bool paid;           /* every run is paid for by a grant; false: see audit_setting.direct */
};

struct audit_setting {
    uint64_t epsilon_micro; /* claimed; of subjects with a delta, what noise is set for */
    uint64_t sensitivity;   /* >= 1, grid units; subjects that bring their own pass it over */
    double delta;           /* 0 < delta < 1; only where the subject has_delta */
    bool
        direct; /* prepare tables once and draw without grants, where a grant a run would take long:
                    the same distributions, but not the grant's own way to them */
};

/* One subject made ready at one setting. */
struct audit_harness;

/** Returns subject number index, NULL beyond the last; or the one of this name, NULL when there is
 * none. */
const struct audit_subject *audit_subject_at(size_t index);
const struct audit_subject *audit_subject_named(const char *name);

/**
 * Makes a subject ready.
 *
 * harness  out  caller owns; NULL on failure
 * why  out  on failure what to change in the setting; may be NULL
 *
 * Fails with STATUS_INVALID (the mechanism does not run at this setting), STATUS_NO_MEMORY.
 */
MUST_USE enum status audit_harness_new(struct audit_harness **harness,
                                       const struct audit_subject *subject,
                                       const struct audit_setting *setting, struct why *why);
void audit_harness_free(struct audit_harness *harness);

/** Returns what to audit; keeps harness. */
struct audit_source audit_harness_source(struct audit_harness *harness);

/** Returns the epsilon, and the delta, that the program claims for this setting. */
double audit_harness_epsilon(const struct audit_harness *harness);
double audit_harness_delta(const struct audit_harness *harness);

#endif
