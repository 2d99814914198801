#include "http/guard.h"

#include <criterion/criterion.h>
#include <string.h>

/* One that changes something. */
static struct http_asked good_act(void)
{
    return (struct http_asked){.method = "POST",
                               .host = "127.0.0.1:7390",
                               .host_count = 1,
                               .origin = "http://127.0.0.1:7390",
                               .origin_count = 1,
                               .site = "same-origin",
                               .known = true,
                               .act = true};
}

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
    asked.origin = "http://127.0.0.1:7390";
    asked.origin_count = 1;
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

Test(guard, lets_its_own_page_change_something)
{
    struct http_asked asked = good_act();
    cr_expect_eq(http_judge(&asked).code, 200);
    asked.site = NULL;
    cr_expect_eq(http_judge(&asked).code, 200);
    asked.host = "[::1]:7390";
    asked.origin = "http://[::1]:7390";
    cr_expect_eq(http_judge(&asked).code, 200);
}

Test(guard, lets_no_other_page_change_anything)
{
    static const char *const origin[] = {"http://127.0.0.1",
                                         "http://127.0.0.1:7391",
                                         "http://127.0.0.2:7390",
                                         "http://localhost:7390",
                                         "https://127.0.0.1:7390",
                                         "http://evil.example",
                                         "null",
                                         "",
                                         "http://127.0.0.1:7390/",
                                         "127.0.0.1:7390",
                                         "http://127.0.0.1:7390 ",
                                         "http://evil.example@127.0.0.1:7390"};
    static const char *const site[] = {"none", "same-site", "cross-site", ""};
    for (size_t i = 0; i < sizeof origin / sizeof origin[0]; i++) {
        struct http_asked asked = good_act();
        asked.origin = origin[i];
        cr_expect_eq(http_judge(&asked).code, 403, "%s", origin[i]);
    }
    for (size_t i = 0; i < sizeof site / sizeof site[0]; i++) {
        struct http_asked asked = good_act();
        asked.site = site[i];
        cr_expect_eq(http_judge(&asked).code, 403, "%s", site[i]);
    }
    struct http_asked asked = good_act();
    asked.origin = NULL;
    asked.origin_count = 0;
    cr_expect_eq(http_judge(&asked).code, 403,
                 "a program that says nothing of where it comes from");
    asked = good_act();
    asked.origin_count = 2;
    cr_expect_eq(http_judge(&asked).code, 403);
    asked = good_act();
    asked.host = "rebound.example:7390";
    asked.origin = "http://rebound.example:7390";
    cr_expect_eq(http_judge(&asked).code, 421, "its origin is its host, and both are another's");
}

Test(guard, changes_nothing_by_other_methods_or_with_a_body)
{
    static const char *const method[] = {"GET", "HEAD", "PUT", "OPTIONS", "post", ""};
    for (size_t i = 0; i < sizeof method / sizeof method[0]; i++) {
        struct http_asked asked = good_act();
        asked.method = method[i];
        asked.origin = NULL;
        asked.origin_count = 0;
        cr_expect_eq(http_judge(&asked).code, 405, "%s", method[i]);
    }
    struct http_asked asked = good_act();
    asked.body = true;
    cr_expect_eq(http_judge(&asked).code, 413);
    asked = good_act();
    asked.act = false;
    cr_expect_eq(http_judge(&asked).code, 403,
                 "what is only looked at has no page that posts to it");
}

/* One at a port with TLS and a token. */
static struct http_asked good_elsewhere(void)
{
    return (struct http_asked){.method = "GET",
                               .host = "Coordinator.example:8443",
                               .host_count = 1,
                               .known = true,
                               .secure = true,
                               .names = "other.example coordinator.example",
                               .token = "0123456789abcdef0123456789abcdef",
                               .authorization = "Bearer 0123456789abcdef0123456789abcdef",
                               .authorization_count = 1};
}

Test(guard, with_a_token_answers_those_who_say_it_and_a_name_of_the_settings)
{
    struct http_asked asked = good_elsewhere();
    cr_expect_eq(http_judge(&asked).code, 200);
    asked.host = "other.example";
    cr_expect_eq(http_judge(&asked).code, 200);
    /* a browser's: printf 'me:0123456789abcdef0123456789abcdef' | base64 */
    asked.authorization = "Basic bWU6MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    cr_expect_eq(http_judge(&asked).code, 200);
    asked.authorization = "basic OjAxMjM0NTY3ODlhYmNkZWYwMTIzNDU2Nzg5YWJjZGVm"; /* ":token" */
    cr_expect_eq(http_judge(&asked).code, 200);
}

Test(guard, refuses_every_other_token)
{
    static const char *const said[] = {
        "",
        "Bearer",
        "Bearer ",
        "Bearer 0123456789abcdef0123456789abcde",
        "Bearer 0123456789abcdef0123456789abcdef0",
        "Bearer 0123456789abcdef0123456789abcdeF",
        "Bearer 0123456789abcdef0123456789abcdef ",
        "0123456789abcdef0123456789abcdef",
        "Basic MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",     /* without a colon */
        "Basic bWU6MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWZn", /* and a letter */
        "Basic bWU6MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=x",
        "Basic bWU6",
        "Basic ****",
        "Digest 0123456789abcdef0123456789abcdef",
    };
    struct http_asked asked = good_elsewhere();
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        asked.authorization = said[i];
        cr_expect_eq(http_judge(&asked).code, 401, "%s", said[i]);
    }
    char many[5000];
    memset(many, 'a', sizeof many - 1);
    many[sizeof many - 1] = '\0';
    memcpy(many, "Basic ", 6);
    asked.authorization = many;
    cr_expect_eq(http_judge(&asked).code, 401);
    memcpy(many, "Bearer ", 7);
    cr_expect_eq(http_judge(&asked).code, 401);
    asked = good_elsewhere();
    asked.authorization_count = 2;
    cr_expect_eq(http_judge(&asked).code, 401, "one of the two may be meant by a proxy");
    asked = good_elsewhere();
    asked.authorization = NULL;
    asked.authorization_count = 0;
    cr_expect_eq(http_judge(&asked).code, 401);
}

Test(guard, with_a_token_refuses_other_names_and_the_loopback)
{
    static const char *const host[] = {"coordinator.example.evil",
                                       "coordinator.example:",
                                       "coordinator.example:x",
                                       "other.example coordinator.example",
                                       "coordinator",
                                       "127.0.0.1:8443",
                                       "localhost",
                                       " ",
                                       ":8443",
                                       ""};
    struct http_asked asked = good_elsewhere();
    for (size_t i = 0; i < sizeof host / sizeof host[0]; i++) {
        asked.host = host[i];
        cr_expect_eq(http_judge(&asked).code, 421, "%s", host[i]);
    }
}

Test(guard, with_tls_a_page_in_the_clear_is_another_page)
{
    struct http_asked asked = good_elsewhere();
    asked.method = "POST";
    asked.act = true;
    asked.origin_count = 1;
    asked.origin = "https://Coordinator.example:8443";
    cr_expect_eq(http_judge(&asked).code, 200);
    asked.origin = "http://Coordinator.example:8443";
    cr_expect_eq(http_judge(&asked).code, 403);
}
