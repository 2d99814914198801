#include "io/clock.h"

#include "base/check.h"

#include <stdio.h>
#include <time.h>

static int64_t read_ms(clockid_t clock)
{
    struct timespec now;
    CHECK(clock_gettime(clock, &now) == 0);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_now_ms(void)
{
    return read_ms(CLOCK_MONOTONIC);
}

int64_t clock_wall_ms(void)
{
    return read_ms(CLOCK_REALTIME);
}

void clock_text(char text[CLOCK_TEXT_BYTES], int64_t wall_ms)
{
    struct tm parts = {0};
    int64_t ms = wall_ms % 1000;
    time_t seconds = (time_t)(wall_ms / 1000);

    if (ms < 0) {
        ms += 1000;
        seconds--;
    }
    if (gmtime_r(&seconds, &parts) == NULL || parts.tm_year > 8099 || parts.tm_year < -1900) {
        (void)snprintf(text, CLOCK_TEXT_BYTES, "unknown");
        return;
    }
    (void)snprintf(text, CLOCK_TEXT_BYTES, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ",
                   (unsigned)(parts.tm_year + 1900) % 10000U, (unsigned)(parts.tm_mon + 1) % 100U,
                   (unsigned)parts.tm_mday % 100U, (unsigned)parts.tm_hour % 100U,
                   (unsigned)parts.tm_min % 100U, (unsigned)parts.tm_sec % 100U,
                   (unsigned)ms % 1000U);
}
