/* Numbers are read strictly, and the same under every locale. */

#include "base/decimal.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static enum status parse(double *number, const char *text)
{
    return decimal_cell(number, (struct slice){text, strlen(text)});
}

Test(decimal_cell, reads_what_it_should)
{
    const char *text[] = {"0", "-0.5", "+12", "1e3", "1.E-2", ".25", "5.", "007", "1e-400"};
    const double value[] = {0, -0.5, 12, 1000, 0.01, 0.25, 5, 7, 0};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        double number = 99;
        cr_assert(parse(&number, text[i]) == STATUS_OK, "%s", text[i]);
        cr_assert(number == value[i], "%s", text[i]);
    }
}

Test(decimal_cell, refuses_everything_else)
{
    const char *text[] = {"",     " 1",   "1 ",    "1,5",   "0x10", "inf", "nan",  "NaN",
                          "-inf", "1e",   "1e+",   ".",     "-",    "+.",  "1..2", "1e2.5",
                          "--1",  "12kg", "1e400", "1_000", "1e5e", "\t1", "1\n",  "INFINITY"};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        double number = 99;
        cr_assert(parse(&number, text[i]) == STATUS_INVALID, "%s", text[i]);
        cr_assert(number == 99);
    }
}

Test(decimal_cell, refuses_an_overlong_number_and_embedded_zero)
{
    char many[80];
    double number = 0;
    memset(many, '1', sizeof many);
    cr_assert(decimal_cell(&number, (struct slice){many, 64}) == STATUS_OK);
    cr_assert(decimal_cell(&number, (struct slice){many, 65}) == STATUS_INVALID);
    cr_assert(decimal_cell(&number, (struct slice){"1\0"
                                                   "2",
                                                   3}) == STATUS_INVALID);
}

Test(decimal_cell, does_not_read_beyond_its_slice)
{
    double number = 0;
    cr_assert(decimal_cell(&number, (struct slice){"12345", 2}) == STATUS_OK);
    cr_assert(number == 12);
}

/* Without a comma locale on the machine the loop has nothing to try; the parser's own C locale is
 * then the only one there is. */
Test(decimal_cell, ignores_the_locale)
{
    const char *names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        double number = 0;
        setlocale(LC_ALL, names[i]);
        cr_assert(parse(&number, "1.5") == STATUS_OK && number == 1.5);
        cr_assert(parse(&number, "1,5") == STATUS_INVALID);
    }
}
