#include "http/guard.h"

#include <criterion/criterion.h>

/* A request that is answered; each test spoils one thing of it. */
static struct http_asked good(void)
{
    return (struct http_asked){
        .method = "GET", .host = "127.0.0.1:7390", .host_count = 1, .known = true};
}

Test(guard, answers_a_plain_request_and_one_of_its_own_page)
{
    struct http_asked asked = good();
    cr_expect_eq(http_judge(&asked).code, 200);
    asked.method = "HEAD";
    cr_expect_eq(http_judge(&asked).code, 200);
    asked.site = "same-origin";
    cr_expect_eq(http_judge(&asked).code, 200);
    asked.site = "none";
    cr_expect_eq(http_judge(&asked).code, 200);
}

Test(guard, refuses_names_that_somebody_else_resolves)
{
    struct http_asked asked = good();
    asked.host = "rebound.example:7390";
    cr_expect_eq(http_judge(&asked).code, 421);
    asked.host = "";
    cr_expect_eq(http_judge(&asked).code, 421);
    asked = good();
    asked.host_count = 2;
    cr_expect_eq(http_judge(&asked).code, 421, "one of the two may be meant by a proxy");
    asked.host = NULL;
    asked.host_count = 0;
    cr_expect_eq(http_judge(&asked).code, 421);
}

Test(guard, refuses_what_another_page_asks)
{
    static const char *const site[] = {"cross-site", "same-site", "", "None", "same-origin, none"};
    struct http_asked asked = good();
    asked.origin = true;
    cr_expect_eq(http_judge(&asked).code, 403);
    for (size_t i = 0; i < sizeof site / sizeof site[0]; i++) {
        asked = good();
        asked.site = site[i];
        cr_expect_eq(http_judge(&asked).code, 403, "%s", site[i]);
    }
}

Test(guard, refuses_what_could_change_something)
{
    static const char *const method[] = {"POST", "PUT",     "DELETE", "PATCH", "OPTIONS",
                                         "get",  "CONNECT", "TRACE",  "",      "GETT"};
    struct http_asked asked = good();
    for (size_t i = 0; i < sizeof method / sizeof method[0]; i++) {
        asked.method = method[i];
        cr_expect_eq(http_judge(&asked).code, 405, "%s", method[i]);
    }
    asked = good();
    asked.body = true;
    cr_expect_eq(http_judge(&asked).code, 413);
    asked = good();
    asked.known = false;
    cr_expect_eq(http_judge(&asked).code, 404);
}
