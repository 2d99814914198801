/* Every allocation of ours fails once, at every position: the answer is STATUS_NO_MEMORY, nothing is
 * leaked (run under ASan) and nothing half made is handed over. */

#include "query/candidates.h"
#include "query/query_run.h"
#include "tests/support/failing_memory.h"
#include "tests/unit/common/query/toy_schema.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static const char *const text[] = {"mean: age", "quantile: 0.5 of age"};

static enum status make_set(void)
{
    struct query_set set;
    struct query_run run = {0};
    enum status status = query_set_init(&set, text, 2, 10, &toy_names, NULL);
    if (status == STATUS_OK) {
        status = query_run_init(&run, &set);
        cr_assert((run.sum != NULL) == (status == STATUS_OK));
    } else {
        cr_assert(set.query == NULL && set.count == 0);
    }
    query_run_free(&run);
    query_set_free(&set);
    return status;
}

static enum status make_candidates(void)
{
    static const char *const column[] = {"age"};
    static const char *const predicate[] = {"age > 60"};
    const struct candidates_request request = {column, 1, 5, predicate, 1};
    struct candidates candidates;
    const enum status status = candidates_init(&candidates, &toy, &request, NULL);
    cr_assert((candidates.column != NULL) == (status == STATUS_OK));
    cr_assert(status == STATUS_OK || candidates.schema.column == NULL);
    candidates_free(&candidates);
    return status;
}

static void fail_everywhere(enum status (*make)(void), long allocations)
{
    for (long position = 0; position <= allocations; position++) {
        countdown = position;
        const enum status status = make();
        const bool survived = countdown >= 0;
        countdown = -1;
        cr_assert(survived == (position == allocations), "%ld", position);
        cr_assert(status == (survived ? STATUS_OK : STATUS_NO_MEMORY), "%ld", position);
    }
}

Test(query_memory, failing_anywhere_gives_no_questions)
{
    fail_everywhere(make_set, 4);
}

Test(query_memory, failing_anywhere_gives_no_candidates)
{
    fail_everywhere(make_candidates, 5);
}
