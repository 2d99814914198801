/* What belongs to one client: an IPv4 address, or a network of IPv6. */

#include "http/guard.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>

static struct http_origin origin_of(const char *text)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(7)};
    if (inet_pton(AF_INET, text, &four.sin_addr) == 1) {
        return http_origin_of((const struct sockaddr *)&four);
    }
    cr_assert_eq(inet_pton(AF_INET6, text, &six.sin6_addr), 1);
    return http_origin_of((const struct sockaddr *)&six);
}

static bool same(const char *a, const char *b)
{
    const struct http_origin left = origin_of(a);
    const struct http_origin right = origin_of(b);
    return http_origin_equal(&left, &right);
}

Test(http_origin, is_an_ipv4_address_however_it_is_written)
{
    cr_expect(same("192.0.2.1", "192.0.2.1"));
    cr_expect(same("192.0.2.1", "::ffff:192.0.2.1"));
    cr_expect_not(same("192.0.2.1", "192.0.2.2"));
    cr_expect_not(same("192.0.2.1", "::ffff:192.0.2.2"));
}

Test(http_origin, is_a_network_of_ipv6_whose_machines_choose_their_addresses)
{
    cr_expect(same("2001:db8:1:2::1", "2001:db8:1:2:ffff::9"));
    cr_expect_not(same("2001:db8:1:2::1", "2001:db8:1:3::1"));
    cr_expect_not(same("::1", "127.0.0.1"));
}

Test(http_origin, of_no_address_is_one_and_the_same)
{
    const struct sockaddr local = {.sa_family = AF_UNIX};
    const struct http_origin none = http_origin_of(NULL);
    const struct http_origin other = http_origin_of(&local);
    cr_expect(http_origin_equal(&none, &other));
}
