#include "learn/eigen.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { N = 40 }; /* beyond LAPACK's blocks of 32, and its 25 below which it does not divide */

/* The chain's matrix, 2 on the diagonal and -1 beside it: eigenvalue k is 2 - 2 cos(pi k / (n + 1)), and its vector a sine. */
Test(eigen, finds_the_values_and_vectors_of_a_chain)
{
    static double a[N * N], value[N];
    for (size_t i = 0; i < N; i++) {
        a[i * N + i] = 2;
        if (i > 0) {
            a[i * N + i - 1] = a[(i - 1) * N + i] = -1;
        }
    }
    cr_assert_eq(eigen_symmetric(a, value, N), STATUS_OK);
    for (size_t k = 0; k < N; k++) {
        const double angle = acos(-1) * (double)(k + 1) / (N + 1);
        cr_expect_float_eq(value[k], 2 - 2 * cos(angle), 1e-13);
        const double sign = a[k * N] < 0 ? -1 : 1;
        for (size_t i = 0; i < N; i++) {
            const double want = sqrt(2.0 / (N + 1)) * sin(angle * (double)(i + 1));
            cr_expect_float_eq(sign * a[k * N + i], want, 1e-12);
        }
    }
}

Test(eigen, refuses_what_is_no_number_and_no_matrix)
{
    double a[4] = {1, 0, NAN, 1}, value[2];
    cr_expect_eq(eigen_symmetric(a, value, 2), STATUS_INVALID);
    cr_expect_eq(eigen_symmetric(a, value, 0), STATUS_INVALID);
}
