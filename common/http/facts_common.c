#include "http/facts.h"

#include <assert.h>
#include <math.h>

static const struct fact_family common_rows[] = {FACTS_COMMON(false)};
static_assert(sizeof common_rows / sizeof common_rows[0] == FACTS_COMMON_COUNT, "every row");

double facts_epsilon(uint64_t micro)
{
    return micro == UINT64_MAX ? INFINITY : (double)micro / 1e6;
}

double facts_delta(uint64_t atto)
{
    return atto == UINT64_MAX ? INFINITY : (double)atto / 1e18;
}

void facts_add_common(struct facts *facts, size_t first, const struct facts_common *common)
{
    const char *const build[] = {common->program, HEDGEROW_VERSION};
    (void)common_rows;
    facts_set_of(facts, first, (double)common->messages_in, "in");
    facts_set_of(facts, first, (double)common->messages_out, "out");
    facts_set_of(facts, first + 1, (double)common->bytes_in, "in");
    facts_set_of(facts, first + 1, (double)common->bytes_out, "out");
    if (common->journal_bytes != FACTS_UNKNOWN) {
        facts_set(facts, first + FACTS_COMMON_JOURNAL, (double)common->journal_bytes);
    }
    facts_set(facts, first + 3, (double)common->started_ms / 1000);
    facts_add(facts, first + 4, 1, build);
}
