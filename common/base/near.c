/* The edit distance is optimal string alignment, with the usual three rows. */

#include "base/near.h"

#include <stdio.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static bool differs_in_case(struct slice a, const char *b, size_t b_size)
{
    const char *at = a.data;
    for (size_t i = 0; i < a.size && i < b_size; i++) {
        if (lower(at[i]) != lower(b[i])) {
            return false;
        }
    }
    return a.size == b_size;
}

/* How many letters to insert, delete, replace or swap with their neighbour. */
static size_t distance(const char *a, size_t lines, const char *b, size_t columns)
{
    size_t row[3][NEAR_LETTERS_MAX + 1];
    for (size_t i = 0; i <= lines; i++) {
        size_t *now = row[i % 3];
        const size_t *above = row[(i + 2) % 3];
        const size_t *before = row[(i + 1) % 3];
        for (size_t j = 0; j <= columns; j++) {
            if (i == 0 || j == 0) {
                now[j] = i + j;
                continue;
            }
            now[j] = least(least(above[j], now[j - 1]) + 1,
                           above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                now[j] = least(now[j], before[j - 2] + 1);
            }
        }
    }
    return row[lines % 3][columns];
}

struct near near_to(struct slice text)
{
    return (struct near){.text = text, .distance = 2 + text.size / 6};
}

/* "query" for "queries", "model" for "models": one slip. */
static bool is_singular(struct slice text, const char *name, size_t size)
{
    const char *at = text.data;
    const size_t stem = text.size > 0 && at[text.size - 1] == 'y' ? text.size - 1 : text.size;
    return text.size > 0 && size == stem + (stem < text.size ? 3 : 1) &&
           memcmp(at, name, stem) == 0 && strcmp(name + stem, stem < text.size ? "ies" : "s") == 0;
}

void near_offer(struct near *near, const char *name)
{
    const size_t size = strlen(name);
    if (near->text.size > NEAR_LETTERS_MAX || size > NEAR_LETTERS_MAX) {
        return;
    }
    const size_t d = differs_in_case(near->text, name, size) ? 0
                     : is_singular(near->text, name, size)
                         ? 1
                         : distance(near->text.data, near->text.size, name, size);
    if (d < near->distance) {
        near->name = name;
        near->distance = d;
        near->is_tied = false;
    } else if (d == near->distance && near->name != NULL && strcmp(near->name, name) != 0) {
        near->is_tied = true;
    }
}

const char *near_name(const struct near *near)
{
    return near->is_tied ? NULL : near->name;
}

const char *near_hint(char out[static NEAR_HINT_BYTES], const struct near *near)
{
    const char *name = near_name(near);
    out[0] = '\0';
    if (name != NULL) {
        (void)snprintf(out, NEAR_HINT_BYTES, "; did you mean \"%s\"?", name);
    }
    return out;
}
