#include "agent/participant.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum status look_parse(struct look *look, struct slice text)
{
    enum { HEX = 2 * DIGEST_BYTES };
    char line[LOOK_TEXT_BYTES] = "";
    char again[LOOK_TEXT_BYTES];
    char *rest;
    *look = (struct look){.day = 0};
    if (text.size >= sizeof line || memchr(text.data, '\0', text.size) != NULL) {
        return STATUS_INVALID;
    }
    memcpy(line, text.data, text.size);
    line[strcspn(line, "\n")] = '\0';
    look->day = strtoll(line, &rest, 10);
    look->count = (uint32_t)strtoul(rest, &rest, 10);
    rest += *rest == ' ' ? 1 : 0;
    if (strlen(rest) != HEX || hex_decode(look->job.byte, DIGEST_BYTES, rest) != STATUS_OK) {
        return STATUS_INVALID;
    }
    look_format(again, look); /* in the one form that is written */
    return strlen(again) == text.size && memcmp(again, text.data, text.size) == 0 ? STATUS_OK
                                                                                  : STATUS_INVALID;
}

void look_format(char text[static LOOK_TEXT_BYTES], const struct look *look)
{
    char hex[2 * DIGEST_BYTES + 1];
    hex_encode(hex, look->job.byte, DIGEST_BYTES);
    (void)snprintf(text, LOOK_TEXT_BYTES, "%" PRId64 " %" PRIu32 " %s\n", look->day, look->count,
                   hex);
}
