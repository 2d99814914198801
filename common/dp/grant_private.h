/* grant_private.h - the inside of a grant. Only dp/ledger.c, which makes grants, and
 * dp/mechanism.c, which uses them up, may include this file; tests/layers sees to it. */

#ifndef DP_GRANT_PRIVATE_H
#define DP_GRANT_PRIVATE_H

#include "dp/charge.h"

struct grant {
    struct charge charge;
};

#endif
