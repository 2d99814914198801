/* The numerical library under a limit of memory: without its buffers it tries again for ever. */

#include "learn/blas.h"

#include <cblas.h>
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { N = 256, LEFT_BYTES = 64 << 20, PATIENCE_S = 60 };

static double a[N * N], b[N * N], c[2][N * N];
static pthread_barrier_t both;

static void *multiply(void *out)
{
    (void)pthread_barrier_wait(&both);
    for (int i = 0; i < 20; i++) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1, a, N, b, N, 0, out, N);
    }
    return NULL;
}

/* Leaves the process room for two threads, and none for a buffer. */
static void limit_here(void)
{
    char line[128] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    cr_assert_not_null(file);
    cr_assert_not_null(fgets(line, sizeof line, file));
    (void)fclose(file);
    const rlim_t bytes =
        (rlim_t)strtoull(line, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) + LEFT_BYTES;
    const struct rlimit most = {.rlim_cur = bytes, .rlim_max = bytes};
    cr_assert_eq(setrlimit(RLIMIT_AS, &most), 0);
}

Test(blas, computes_where_the_limit_leaves_no_room_for_a_buffer, .timeout = PATIENCE_S)
{
    pthread_t thread[2];
    for (int i = 0; i < N * N; i++) {
        a[i] = b[i] = 1;
    }
    blas_reserve(2);
    limit_here();
    cr_assert_eq(pthread_barrier_init(&both, NULL, 2), 0);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(pthread_create(&thread[i], NULL, multiply, c[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(pthread_join(thread[i], NULL), 0);
        cr_expect_eq(c[i][N], N);
    }
}

Test(blas, gives_half_of_the_limit_to_buffers_and_at_least_one)
{
    cr_expect_eq(blas_threads(0, 8), 0);
    cr_expect_eq(blas_threads(UINT64_C(64000000), 8), 1);
    cr_expect_eq(blas_threads(UINT64_C(1024000000), 8), 3);
    cr_expect_eq(blas_threads(UINT64_C(1024000000), 1), 1);
    cr_expect_eq(blas_threads(UINT64_C(100000000000), 8), 8);
}
