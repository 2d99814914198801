/* The file of a person's decisions: what is written can be read, and any other line makes the file invalid. */

#include "agent/approval.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct approvals approvals;
static struct why why;

static struct digest digest_filled(uint8_t byte)
{
    struct digest digest;
    memset(digest.byte, byte, DIGEST_BYTES);
    return digest;
}

static enum status parse(const char *text)
{
    why.text[0] = '\0';
    return approvals_parse(&approvals, (struct slice){text, strlen(text)}, "approvals", &why);
}

Test(approval, decisions_and_their_reasons_come_back)
{
    struct approval decision = {.text = digest_filled(1), .runs = 3};
    const struct digest first = digest_filled(1);
    const struct digest second = digest_filled(2);
    approvals.count = 0;
    cr_assert_eq(approvals_set(&approvals, &decision), STATUS_OK);
    decision = (struct approval){.text = second, .why = "not about our patients, 50 %"};
    cr_assert_eq(approvals_set(&approvals, &decision), STATUS_OK);
    char *text = approvals_format(&approvals);
    cr_assert_not_null(text);
    cr_assert_eq(parse(text), STATUS_OK, "%s", why.text);
    free(text);
    cr_assert_eq(approvals.count, 2);
    cr_expect_eq(approvals_find(&approvals, &first)->runs, 3);
    cr_expect_str_eq(approvals_find(&approvals, &first)->why, "");
    cr_expect_eq(approvals_find(&approvals, &second)->runs, 0);
    cr_expect_str_eq(approvals_find(&approvals, &second)->why, decision.why);
    decision = (struct approval){.text = second, .runs = 1}; /* approved after all */
    cr_assert_eq(approvals_set(&approvals, &decision), STATUS_OK);
    cr_expect(approvals.count == 2 && approvals_find(&approvals, &second)->why[0] == '\0');
}

Test(approval, a_yes_to_one_job_comes_back_and_allows_no_other)
{
    const struct approval decision = {.text = digest_filled(1), .job = digest_filled(9), .runs = 2};
    const struct digest text = digest_filled(1);
    const struct digest job = digest_filled(9);
    const struct digest other = digest_filled(8);
    approvals.count = 0;
    cr_assert_eq(approvals_set(&approvals, &decision), STATUS_OK);
    char *written = approvals_format(&approvals);
    cr_assert_not_null(written);
    cr_assert_eq(parse(written), STATUS_OK, "%s", why.text);
    free(written);
    const struct approval *read = approvals_find(&approvals, &text);
    cr_assert_not_null(read);
    cr_expect(read->runs == 2 && digest_equal(&read->job, &job));
    cr_expect(approval_allows(read, &job, 1));
    cr_expect_not(approval_allows(read, &job, 2), "as many runs as were said");
    cr_expect_not(approval_allows(read, &other, 0), "another job of the same text");
    const struct approval any = {.text = text, .runs = 1};
    cr_expect(approval_allows(&any, &other, 0), "a yes in advance is for whichever job comes");
    cr_expect_not(approval_allows(&any, &other, 1));
}

Test(approval, lines_of_another_form_are_refused)
{
    char digest[2 * DIGEST_BYTES + 1];
    char text[512];
    static const char *const bad[] = {"",        " ",       " 1x", " -1",   " 1000001", " why",
                                      " 0 \x01", " 0 \x80", " 1@", " 1@12", " @"};
    const struct digest any = digest_filled(7);
    hex_encode(digest, any.byte, DIGEST_BYTES);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        (void)snprintf(text, sizeof text, "# a comment\n%s%s\n", digest, bad[i]);
        cr_expect_eq(parse(text), STATUS_INVALID, "line %zu", i);
        cr_expect_not_null(strstr(why.text, "approvals:2"), "%s", why.text);
        cr_expect_eq(approvals.count, 0);
    }
    (void)snprintf(text, sizeof text, "%s 0@%s\n", digest, digest);
    cr_expect_eq(parse(text), STATUS_INVALID, "a no is to every job of the text");
    (void)snprintf(text, sizeof text, "%s 0 %0*d\n", digest, APPROVAL_WHY_BYTES - 1, 0);
    cr_expect_eq(parse(text), STATUS_OK, "%s", why.text);
    (void)snprintf(text, sizeof text, "%s 0 %0*d\n", digest, APPROVAL_WHY_BYTES, 0);
    cr_expect_eq(parse(text), STATUS_INVALID, "a reason that is too long");
    (void)snprintf(text, sizeof text, "%s 12", digest);
    cr_expect_eq(parse(text), STATUS_OK, "as earlier versions wrote it");
}

Test(approval, reasons_are_one_plain_line)
{
    char large[APPROVAL_WHY_BYTES + 1];
    memset(large, 'a', sizeof large);
    large[APPROVAL_WHY_BYTES - 1] = '\0';
    cr_expect(approval_why_is_valid(large));
    large[APPROVAL_WHY_BYTES - 1] = 'a';
    large[APPROVAL_WHY_BYTES] = '\0';
    cr_expect_not(approval_why_is_valid(large));
    cr_expect(approval_why_is_valid("no: # 1"));
    static const char *const plain[] = {"\xc3\xbc", "\xce\xb5 > 1", "\xe4\xb8\x8d",
                                        "\xf0\x9f\x99\x82", "\xf4\x8f\xbf\xbd"};
    static const char *const bad[] = {"\xc2\x85",         "\xc2\x9b",     "\xe2\x80\xa8",
                                      "\xe2\x80\xae",     "\xef\xbb\xbf", "\xed\xa0\x80",
                                      "\xc0\xaf",         "\xe0\x80\xaf", "\xc3",
                                      "\xe4\xb8",         "\xfc",         "\x80",
                                      "\xf4\x90\x80\x80", "\xef\xbf\xbe", "\xf0\x9f\xbf\xbe",
                                      "\xf0\x80\x80\xaf", "\xff",         "a\xc3z"};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        cr_expect(approval_why_is_valid(plain[i]), "%zu", i);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_expect_not(approval_why_is_valid(bad[i]), "%zu", i);
    }
    cr_expect_not(approval_why_is_valid("two\nlines"));
    cr_expect_not(approval_why_is_valid("a\tb"));
    cr_expect(approval_why_is_valid("caf\xc3\xa9"));
}
