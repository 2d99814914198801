#include "agent/approval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEX_DIGITS = 2 * DIGEST_BYTES, LINE_BYTES = 2 * HEX_DIGITS + 17 + APPROVAL_WHY_BYTES };

static const char HEAD[] =
    "# Written by `hedgerow-agent approve` and `reject`: a job's text by its SHA-256, and how many runs of it\n"
    "# may be in the journal in all; 0: refused; with @ and a job's id: that job alone. After them a person's words.\n";

static bool parse_runs(uint32_t *runs, const char *text, size_t size)
{
    uint32_t value = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || i == 7) {
            return false;
        }
        value = value * 10 + (uint32_t)(text[i] - '0');
    }
    *runs = value;
    return size > 0 && value <= APPROVAL_RUNS_MAX;
}

/* "RUNS", or "RUNS@JOB" for a yes to one job. */
static bool parse_yes(struct approval *out, const char *text, size_t size)
{
    char hex[HEX_DIGITS + 1];
    const char *at = memchr(text, '@', size);
    if (at == NULL) {
        return parse_runs(&out->runs, text, size);
    }
    const size_t digits = (size_t)(at - text);
    if (size - digits - 1 != HEX_DIGITS) {
        return false;
    }
    memcpy(hex, at + 1, HEX_DIGITS);
    hex[HEX_DIGITS] = '\0';
    return parse_runs(&out->runs, text, digits) && out->runs > 0 &&
           hex_decode(out->job.byte, DIGEST_BYTES, hex) == STATUS_OK;
}

/* Characters that a terminal or a page acts upon, or that are invisible: controls, line ends, marks of direction, and codes
 * that are no characters. */
static bool is_plain(uint32_t letter)
{
    static const uint32_t refused[][2] = {
        {0, 0x1f},          {0x7f, 0x9f},          {0xad, 0xad},     {0x61c, 0x61c},
        {0x180e, 0x180e},   {0x200b, 0x200f},      {0x2028, 0x202e}, {0x2060, 0x206f},
        {0xd800, 0xdfff},   {0xfdd0, 0xfdef},      {0xfeff, 0xfeff}, {0xfff0, 0xfffb},
        {0xe0000, 0xe0fff}, {0x110000, UINT32_MAX}};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        if (letter >= refused[i][0] && letter <= refused[i][1]) {
            return false;
        }
    }
    return (letter & 0xfffe) != 0xfffe;
}

/* Returns the bytes of the letter that UTF-8 has here, in its one form, where it is plain; else 0. */
static size_t plain_letter(const char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t first = (uint8_t)text[0];
    const size_t size = first < 0x80             ? 1
                        : (first & 0xe0) == 0xc0 ? 2
                        : (first & 0xf0) == 0xe0 ? 3
                        : (first & 0xf8) == 0xf0 ? 4
                                                 : 0;
    uint32_t letter = size == 1 ? first : first & (0x7fU >> size);
    for (size_t i = 1; i < size; i++) {
        const uint8_t byte = (uint8_t)text[i];
        if ((byte & 0xc0) != 0x80) { /* the 0 after the text, too */
            return 0;
        }
        letter = letter << 6 | (byte & 0x3fU);
    }
    return size > 0 && letter >= least[size] && is_plain(letter) ? size : 0;
}

bool approval_why_is_valid(const char *why)
{
    size_t size = 0;
    while (why[size] != '\0' && size < APPROVAL_WHY_BYTES) {
        const size_t letter = plain_letter(why + size);
        if (letter == 0) {
            return false;
        }
        size += letter;
    }
    return size < APPROVAL_WHY_BYTES;
}

void approval_make_plain(char *text)
{
    while (*text != '\0') {
        const size_t letter = plain_letter(text);
        if (letter == 0) {
            *text = '?';
        }
        text += letter == 0 ? 1 : letter;
    }
}

static bool parse_line(struct approval *out, const char *line, size_t size)
{
    char hex[HEX_DIGITS + 1];
    if (size < HEX_DIGITS + 2 || line[HEX_DIGITS] != ' ') {
        return false;
    }
    memcpy(hex, line, HEX_DIGITS);
    hex[HEX_DIGITS] = '\0';
    line += HEX_DIGITS + 1;
    size -= HEX_DIGITS + 1;
    const char *blank = memchr(line, ' ', size);
    const size_t digits = blank == NULL ? size : (size_t)(blank - line);
    const size_t words = blank == NULL ? 0 : size - digits - 1;
    if (words >= APPROVAL_WHY_BYTES) {
        return false;
    }
    memcpy(out->why, line + size - words, words);
    out->why[words] = '\0';
    return hex_decode(out->text.byte, DIGEST_BYTES, hex) == STATUS_OK &&
           parse_yes(out, line, digits) && strlen(out->why) == words &&
           approval_why_is_valid(out->why);
}

enum status approvals_parse(struct approvals *out, struct slice text, const char *name,
                            struct why *why)
{
    const char *line = text.data;
    size_t left = text.size;
    unsigned number = 0;

    out->count = 0;
    while (left > 0) {
        const char *end = memchr(line, '\n', left);
        const size_t size = end == NULL ? left : (size_t)(end - line);
        const size_t taken = end == NULL ? left : size + 1;
        struct approval approval = {.runs = 0};
        number++;
        if (size > 0 && line[0] != '#') {
            if (!parse_line(&approval, line, size) || approvals_set(out, &approval) != STATUS_OK) {
                why_set(
                    why,
                    "%s:%u: is not a decision on a job (a digest of 64 digits, a space, a number "
                    "of runs); remedy: remove the line, and decide with `hedgerow-agent approve`",
                    name, number);
                out->count = 0;
                return STATUS_INVALID;
            }
        }
        line += taken;
        left -= taken;
    }
    return STATUS_OK;
}

bool approval_allows(const struct approval *decision, const struct digest *job, size_t runs_before)
{
    return runs_before < decision->runs &&
           (digest_is_none(&decision->job) || digest_equal(&decision->job, job));
}

const struct approval *approvals_find(const struct approvals *approvals, const struct digest *text)
{
    for (size_t i = 0; i < approvals->count; i++) {
        if (digest_equal(&approvals->item[i].text, text)) {
            return &approvals->item[i];
        }
    }
    return NULL;
}

enum status approvals_set(struct approvals *approvals, const struct approval *decision)
{
    size_t place = 0;
    while (place < approvals->count &&
           !digest_equal(&approvals->item[place].text, &decision->text)) {
        place++;
    }
    if (place == APPROVALS_MAX) {
        return STATUS_NO_MEMORY;
    }
    approvals->item[place] = *decision;
    approvals->count += place == approvals->count ? 1 : 0;
    return STATUS_OK;
}

char *approvals_format(const struct approvals *approvals)
{
    const size_t size = sizeof HEAD + approvals->count * LINE_BYTES;
    char *text = malloc(size);
    size_t used = sizeof HEAD - 1;
    if (text == NULL) {
        return NULL;
    }
    memcpy(text, HEAD, sizeof HEAD);
    for (size_t i = 0; i < approvals->count; i++) {
        const struct approval *decision = &approvals->item[i];
        char hex[HEX_DIGITS + 1];
        char job[HEX_DIGITS + 1] = "";
        hex_encode(hex, decision->text.byte, DIGEST_BYTES);
        if (!digest_is_none(&decision->job)) {
            hex_encode(job, decision->job.byte, DIGEST_BYTES);
        }
        used += (size_t)snprintf(text + used, size - used, "%s %u%s%s%s%s\n", hex,
                                 (unsigned)decision->runs, job[0] != '\0' ? "@" : "", job,
                                 decision->why[0] != '\0' ? " " : "", decision->why);
    }
    return text;
}
