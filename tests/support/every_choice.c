#include "tests/support/every_choice.h"

#include "base/check.h"

uint32_t every_choice_of(struct every_choice *every, uint32_t options)
{
    size_t at = every->depth++;
    CHECK(at < EVERY_CHOICE_DEPTH_MAX && options > 0);
    if (at == every->known) {
        every->taken[at] = 0;
        every->options[at] = options;
        every->known++;
    }
    CHECK(every->options[at] == options);
    return every->taken[at];
}

bool every_choice_next(struct every_choice *every)
{
    every->known = every->depth;
    every->depth = 0;
    while (every->known > 0) {
        size_t last = every->known - 1;
        if (++every->taken[last] < every->options[last]) {
            return true;
        }
        every->known--;
    }
    return false;
}
