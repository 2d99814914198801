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

Test(process, a_limit_above_what_is_granted_is_refused)
{
    cr_assert_eq(setrlimit(RLIMIT_AS, &(struct rlimit){(rlim_t)1 << 46, (rlim_t)1 << 46}), 0);
    cr_expect_eq(process_harden(UINT64_C(1) << 30, &why), STATUS_IO);
    cr_expect_not_null(strstr(why.text, "memory_mb_max"), "%s", why.text);
    cr_expect_eq(process_harden(UINT64_MAX, &why), STATUS_IO);
}
