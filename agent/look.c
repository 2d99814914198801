#include "agent/participant.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum status look_parse(struct look *look, struct slice text)
{
    enum { HEX = 2 * DIGEST_BYTES };
    char line[LOOK_TEXT_BYTES] = "";
    char again[LOOK_TEXT_BYTES];
    char hex[HEX + 1];
    *look = (struct look){.day = 0};
    if (text.size >= sizeof line || memchr(text.data, '\0', text.size) != NULL) {
        return STATUS_INVALID;
    }
    memcpy(line, text.data, text.size);
    if (sscanf(line, "%" SCNd64 " %" SCNu32 " %64s", &look->day, &look->count, hex) != 3 ||
        strlen(hex) != HEX || hex_decode(look->job.byte, DIGEST_BYTES, hex) != STATUS_OK) {
        return STATUS_INVALID;
    }
    look_format(again, look);
    return strcmp(line, again) == 0 ? STATUS_OK
                                    : STATUS_INVALID; /* in the one form that is written */
}

void look_format(char text[static LOOK_TEXT_BYTES], const struct look *look)
{
    char hex[2 * DIGEST_BYTES + 1];
    hex_encode(hex, look->job.byte, DIGEST_BYTES);
    (void)snprintf(text, LOOK_TEXT_BYTES, "%" PRId64 " %" PRIu32 " %s\n", look->day, look->count,
                   hex);
}
