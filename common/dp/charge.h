/* charge.h - what one private answer costs, in integers: millionths of epsilon, 10^-18ths of delta.
 * A limit is rounded down and a price up, so that rounding never favours whoever spends. */

#ifndef DP_CHARGE_H
#define DP_CHARGE_H

#include "base/bytes.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    EPSILON_DECIMALS = 6,
    DELTA_DECIMALS = 18,
    PRICE_TEXT_BYTES = 40 /* the longest text of price_print, with its final zero */
};

#define EPSILON_MICRO_ONE UINT64_C(1000000)
#define DELTA_ATTO_ONE    UINT64_C(1000000000000000000)

/* An amount of privacy: a limit, what was spent, what is left. */
struct price {
    uint64_t epsilon_micro;
    uint64_t delta_atto;
};

/**
 * The price of one answer and the records it is about. `pass` names one pass over the data; charges
 * of one pass on DISJOINT row ranges touch different records, so together they cost the largest of
 * them (parallel composition under replace-one neighbours, because which rows a range holds is
 * decided by index and never by content). Charges of different passes add up.
 */
struct charge {
    uint64_t epsilon_micro; /* > 0 */
    uint64_t delta_atto;    /* < DELTA_ATTO_ONE */
    struct digest pass;     /* not none */
    uint64_t row_first;
    uint64_t row_count; /* > 0; row_first + row_count fits */
};

/** Returns whether every field is in its range. */
bool charge_is_valid(const struct charge *charge);

/**
 * A real number as an integer of its unit. The double counts as exactly the value it holds: the
 * double written 0.3 lies below 3/10 and gives a limit of 299999. Read what people wrote with
 * price_parse. Too large saturates at UINT64_MAX. NaN or a negative number is a limit of 0 and a
 * price of UINT64_MAX: nonsense never opens the purse.
 */
uint64_t epsilon_micro_limit(double epsilon);
uint64_t epsilon_micro_price(double epsilon);
uint64_t delta_atto_limit(double delta);
uint64_t delta_atto_price(double delta);

enum rounding { ROUND_LIMIT_DOWN, ROUND_PRICE_UP };

/**
 * Reads a non-negative decimal number ("0.5", "1e-6", "3") exactly.
 *
 * value     out  the number times 10^decimals, rounded as asked
 * decimals  in   EPSILON_DECIMALS or DELTA_DECIMALS
 *
 * Fails with STATUS_INVALID when text is anything else (a sign, a space, a comma, hexadecimal,
 * "inf", more than 64 characters) or the value does not fit.
 */
MUST_USE enum status price_parse(uint64_t *value, const char *text, unsigned decimals,
                                 enum rounding rounding);

/** Writes value / 10^decimals exactly, without needless zeros: "0.25", "1", "0.000001". */
void price_print(char text[static PRICE_TEXT_BYTES], uint64_t value, unsigned decimals);

#endif
