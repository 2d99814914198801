#include "dp/charge.h"

bool charge_is_valid(const struct charge *charge)
{
    return charge->epsilon_micro > 0 && charge->delta_atto < DELTA_ATTO_ONE &&
           !digest_is_none(&charge->pass) && charge->row_count > 0 &&
           charge->row_first <= UINT64_MAX - charge->row_count;
}
