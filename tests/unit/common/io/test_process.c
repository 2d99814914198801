#include "io/process.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

static struct why why;

Test(process, a_hardened_process_keeps_its_secrets)
{
    struct rlimit limit;
    cr_assert_eq(process_harden(0, &why), STATUS_OK, "%s", why.text);
    cr_assert_eq(getrlimit(RLIMIT_CORE, &limit), 0);
    cr_expect_eq(limit.rlim_cur, 0);
    cr_expect_eq(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0);
    cr_expect_eq(umask(0), 077);
}

/* A sanitizer's shadow memory does not fit any honest limit. */
#if !defined(__SANITIZE_ADDRESS__)
Test(process, memory_ends_at_the_limit)
{
    cr_assert_eq(process_harden(512, &why), STATUS_OK, "%s", why.text);
    void *volatile small = malloc(64 << 20);
    void *volatile large = malloc(1024 << 20);
    cr_expect_not_null(small);
    cr_expect_null(large);
    free(small);
    free(large);
}
#endif

/* One function decides for `check`, which sets no limit, and for `run`. */
Test(process, a_limit_is_judged_as_it_is_taken)
{
    static const uint64_t megabytes[] = {0, 1, 16, 64, UINT64_C(1) << 30, UINT64_MAX};
    cr_assert_eq(setrlimit(RLIMIT_AS, &(struct rlimit){(rlim_t)1 << 46, (rlim_t)1 << 46}), 0);
    for (size_t i = 0; i < sizeof megabytes / sizeof megabytes[0]; i++) {
        struct why judged = {""};
        struct why taken = {""};
        struct rlimit now;
        const enum status status = process_judge_memory(megabytes[i], &judged);
        cr_assert_eq(getrlimit(RLIMIT_AS, &now), 0);
        cr_expect_eq(now.rlim_cur, (rlim_t)1 << 46);
        cr_expect_eq(process_harden(megabytes[i], &taken), status);
        cr_expect_eq(status == STATUS_OK, megabytes[i] == 0, "%s", judged.text);
        cr_expect_str_eq(judged.text, taken.text);
    }
}

Test(process, a_limit_above_what_is_granted_is_refused)
{
    cr_assert_eq(setrlimit(RLIMIT_AS, &(struct rlimit){(rlim_t)1 << 46, (rlim_t)1 << 46}), 0);
    cr_expect_eq(process_harden(UINT64_C(1) << 30, &why), STATUS_IO);
    cr_expect_not_null(strstr(why.text, "memory_mb_max"), "%s", why.text);
    cr_expect_eq(process_harden(UINT64_MAX, &why), STATUS_IO);
}
