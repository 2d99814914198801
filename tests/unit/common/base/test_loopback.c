#include "base/loopback.h"

#include <criterion/criterion.h>

Test(loopback, addresses_of_this_machine_alone_are_taken)
{
    static const struct {
        const char *text;
        unsigned port;
        bool six;
    } good[] = {{"127.0.0.1:7390", 7390, false},
                {"127.255.0.9:0", 0, false},
                {"127.0.0.0:65535", 65535, false},
                {"[::1]:7390", 7390, true}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct loopback address;
        cr_expect_eq(loopback_parse(&address, good[i].text), LOOPBACK_GOOD, "%s", good[i].text);
        cr_expect_eq(address.port, good[i].port, "%s", good[i].text);
        cr_expect_eq(address.six, good[i].six, "%s", good[i].text);
    }
    struct loopback address;
    cr_assert_eq(loopback_parse(&address, "127.1.22.233:1"), LOOPBACK_GOOD);
    cr_expect(address.four[0] == 127 && address.four[1] == 1 && address.four[2] == 22 &&
              address.four[3] == 233);
}

/* Each is an address, and others may reach it, or a name decides who may. */
Test(loopback, addresses_of_others_are_told_from_mistakes)
{
    static const char *const elsewhere[] = {
        "0.0.0.0:7390",      "192.168.1.7:7390", "[::]:7390",
        "localhost:7390",    "*:7390",           "128.0.0.1:7390",
        "12.7.0.0.1:7390",   "127.0.0.1.evil:1", "127.0.0:7390",
        "127.0.0.1.1:1",     "127.00.0.1:7390",  "127.0.0.256:7390",
        "127.0.0.1000:7390", "[::1]x:7390",      "[::2]:7390",
        "::1:7390",          "2130706433:7390",  "0x7f000001:7390",
        "017.0.0.1:7390"};
    static const char *const malformed[] = {"",
                                            "7390",
                                            "127.0.0.1",
                                            ":7390",
                                            "127.0.0.1:",
                                            "127.0.0.1:65536",
                                            "127.0.0.1:-1",
                                            "127.0.0.1:7390 ",
                                            "http://127.0.0.1:7390",
                                            "127.0.0.1:7390/",
                                            "127.0.0.1:73901",
                                            "127.0.0.1:7390x"};
    struct loopback address;
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++) {
        cr_expect_eq(loopback_parse(&address, elsewhere[i]), LOOPBACK_ELSEWHERE, "%s",
                     elsewhere[i]);
    }
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        cr_expect_eq(loopback_parse(&address, malformed[i]), LOOPBACK_MALFORMED, "%s",
                     malformed[i]);
    }
}

Test(loopback, hosts_of_this_machine_are_known_with_any_port_or_none)
{
    static const char *const good[] = {"127.0.0.1",      "127.0.0.1:7390", "localhost",
                                       "LocalHost:8000", "[::1]",          "[::1]:7390",
                                       "127.9.9.9:1"};
    static const char *const bad[] = {"",
                                      "evil.example",
                                      "localhost.evil.example",
                                      "localhost.",
                                      "127.0.0.1.evil.example:7390",
                                      "evil.example:7390",
                                      "localhost:",
                                      "localhost:x",
                                      "localhost:7390@evil.example",
                                      "user@localhost",
                                      "127.0.0.1:7390, evil",
                                      "[::1",
                                      "::1",
                                      "0.0.0.0",
                                      " localhost",
                                      "localhost ",
                                      "10.0.0.1:7390"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        cr_expect(loopback_is_host(good[i]), "%s", good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_expect_not(loopback_is_host(bad[i]), "%s", bad[i]);
    }
}
