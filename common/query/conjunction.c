#include "query/conjunction.h"

#include "base/check.h"
#include "query/predicate.h"

#include <stdio.h>
#include <string.h>

enum status conjunction_question(char text[static QUERY_TEXT_BYTES], const char *feature,
                                 const char *positive, const struct schema *schema, struct why *why)
{
    const char *const part[2] = {feature, positive};
    struct predicate predicate;
    text[0] = '\0';
    for (size_t i = 0; i < 2; i++) { /* else "a) or (b" would ask for something else */
        const struct slice slice = {part[i], strlen(part[i])};
        const enum status status = predicate_parse(&predicate, slice, schema, why);
        if (status != STATUS_OK) {
            return status;
        }
    }
    const int bytes =
        snprintf(text, QUERY_TEXT_BYTES, "count: (%s) and not (%s)", positive, feature);
    if (bytes < 0 || bytes >= QUERY_TEXT_BYTES) {
        text[0] = '\0';
        return why_refuse(why,
                          "a feature and what is positive are too long together: shorten them");
    }
    return STATUS_OK;
}

size_t conjunction_learn(bool *kept, const double *share, size_t count, double tolerance)
{
    size_t kept_count = 0;
    CHECK(tolerance > 0);
    for (size_t i = 0; i < count; i++) {
        kept[i] = share[i] <= tolerance;
        kept_count += kept[i] ? 1 : 0;
    }
    return kept_count;
}
