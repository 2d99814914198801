/* loss_kind.h - all there is to know of a loss. Those of the house are in loss_kinds.c; a new one may stand in a file of
 * its own. Inside learn only. */

#ifndef LEARN_LOSS_KIND_H
#define LEARN_LOSS_KIND_H

#include "learn/loss.h"

#include <float.h>

#define LOSS_UP           (1 + 8 * DBL_EPSILON) /* rounds a product up */
#define LOSS_MARGIN_MAX   40.0
#define LOSS_RESIDUAL_MAX 2.0 /* |y-f| for f and y in [-1, 1] */

struct loss_descriptor {
    const char *name;
    bool classifies; /* y is +1 or -1 */
    double (*value)(struct loss loss, double f, double y);
    double (*slope)(struct loss loss, double f, double y);  /* NULL: it judges alone */
    double (*second)(struct loss loss, double f, double y); /* NULL: it is not smooth */
    double curvature; /* the largest second derivative; 0 where it is not smooth */
    double (*lipschitz)(struct loss loss, double bound_y, double kappa, double lambda);
    double (*ball)(double bound_y, double lambda); /* NULL: by the value at 0 and by the slope */
    struct loss_box (*box)(struct loss loss, double y); /* of what is learned and not smooth */
    bool (*takes)(double parameter);                    /* NULL: it has none */
    const char *remedy;                                 /* for a parameter that it does not take */
};

#define LOSS_EXTERN(kind, descriptor) extern const struct loss_descriptor descriptor;
LOSS_LIST(LOSS_EXTERN)
#undef LOSS_EXTERN

#endif
