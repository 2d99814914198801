/* concordance_count.c - what the noise leaves of numbers of records, before anything is asked. */

#include "estimate/cells.h"
#include "estimate/concordance.h"

/* It is the same however many there are. */
struct table1_counted concordance_expect_count(const struct concordance_cells *shape,
                                               bool with_event)
{
    const double none[CONCORDANCE_CELLS_MAX] = {0};
    struct concordance_cells empty = *shape;
    empty.cell = none;
    const struct table1_figure of[] = {with_event ? concordance_events(&empty, 0)
                                                  : concordance_size(&empty, 0),
                                       with_event ? concordance_events(&empty, shape->groups)
                                                  : concordance_size(&empty, shape->groups)};
    return (struct table1_counted){ESTIMATE_Z_NOISE * of[0].estimate.noise,
                                   ESTIMATE_Z_NOISE * of[1].estimate.noise};
}
