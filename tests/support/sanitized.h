/* sanitized.h - with sanitizers a test of figures runs its code a few times and judges no figure. gcc's build judges them
 * (docs/TESTING.md). */

#ifndef SUPPORT_SANITIZED_H
#define SUPPORT_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

#endif
