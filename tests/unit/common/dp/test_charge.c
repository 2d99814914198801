#include "dp/charge.h"

#include <criterion/criterion.h>

static const struct charge good = {
    .epsilon_micro = 1, .pass = {{1}}, .row_first = 0, .row_count = 1};

Test(charge, is_valid_only_with_a_price_a_pass_and_rows)
{
    struct charge charge = good;
    cr_assert(charge_is_valid(&charge));
    charge.epsilon_micro = 0;
    cr_assert_not(charge_is_valid(&charge));
    charge = good;
    charge.delta_atto = DELTA_ATTO_ONE;
    cr_assert_not(charge_is_valid(&charge));
    charge.delta_atto = DELTA_ATTO_ONE - 1;
    cr_assert(charge_is_valid(&charge));
    charge = good;
    charge.pass = (struct digest){{0}};
    cr_assert_not(charge_is_valid(&charge));
    charge = good;
    charge.row_count = 0;
    cr_assert_not(charge_is_valid(&charge));
    charge.row_count = 2;
    charge.row_first = UINT64_MAX - 1;
    cr_assert_not(charge_is_valid(&charge));
    charge.row_first = UINT64_MAX - 2;
    cr_assert(charge_is_valid(&charge));
}
