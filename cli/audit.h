/* audit.h - the parts of `hedgerow audit`: what was asked, what was found, and how it is shown. */

#ifndef CLI_AUDIT_H
#define CLI_AUDIT_H

#include "base/status.h"
#include "lab/audit/subject.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct audit_request {
    const struct audit_subject *subject; /* NULL: all */
    struct audit_setting setting;
    uint64_t samples;
    bool json;
};

struct audit_finding {
    const struct audit_subject *subject;
    double claimed;
    double delta;
    struct audit_result result;
};

/** Returns whether what was found is no more than what is claimed. */
bool audit_holds(const struct audit_finding *finding);

/** Prints findings (count) to standard output: a line each, with both distributions when it is one;
 * or one JSON object {"audits": [...]}. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status audit_print_text(const struct audit_finding *finding, size_t count,
                                      const struct audit_request *request);
MUST_USE enum status audit_print_json(const struct audit_finding *finding, size_t count,
                                      const struct audit_request *request);

#endif
