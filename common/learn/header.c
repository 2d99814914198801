#include "learn/header.h"

#include "base/decimal.h"
#include "base/near.h"
#include "learn/schema.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NO_FIELD SIZE_MAX

enum { ASKED_BYTES = 300 };

static bool is_letter(unsigned char byte)
{
    return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z');
}

static int lower(unsigned char byte)
{
    return byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte;
}

static bool can_be_shown(struct slice text)
{
    const unsigned char *at = text.data;
    for (size_t i = 0; i < text.size; i++) {
        if (at[i] < 0x20 || at[i] == 0x7f) {
            return false;
        }
    }
    return text.size < SCHEMA_NAME_BYTES;
}

/* Whether two names have the same letters and digits, in any case, whatever stands between them. */
static bool is_nearly(struct slice text, const char *name)
{
    const unsigned char *at = text.data;
    const unsigned char *end = at + text.size;
    const unsigned char *other = (const unsigned char *)name;
    for (;;) {
        while (at < end && !is_letter(*at)) {
            at++;
        }
        while (*other != '\0' && !is_letter(*other)) {
            other++;
        }
        if (at == end || *other == '\0') {
            return at == end && *other == '\0';
        }
        if (lower(*at++) != lower(*other++)) {
            return false;
        }
    }
}

/* NO_FIELD where there is none. */
static enum status find(size_t *field, const struct header *header, const char *column,
                        struct why *why)
{
    *field = NO_FIELD;
    for (size_t i = 0; i < header->field_count; i++) {
        if (!slice_is(csv_field(header->csv, i), column)) {
            continue;
        }
        if (*field != NO_FIELD) {
            return why_refuse(why, "%s: line 1: column %s stands there twice: remove or rename one",
                              header->name, column);
        }
        *field = i;
    }
    return STATUS_OK;
}

/* A line of one field that another separator would divide. */
static bool has_other_separator(const struct header *header, struct why *why)
{
    const char other = csv_likely_separator(csv_raw(header->csv));
    if (header->field_count > 1 || other == csv_separator(header->csv) ||
        csv_count(csv_raw(header->csv), other) == 0) {
        return false;
    }
    why_set(why, "%s: line 1 has one column with %ss in it: write `separator: %s` in %s",
            header->name, csv_separator_name(other), csv_separator_name(other), header->dictionary);
    return true;
}

/* The name that was meant: one of the same letters, else the only one that is a few slips away. */
static bool find_near(char out[static SCHEMA_NAME_BYTES], const struct header *header,
                      const char *column)
{
    struct near near = near_to((struct slice){column, strlen(column)});
    char name[SCHEMA_NAME_BYTES];
    char best[SCHEMA_NAME_BYTES] = "";
    for (size_t i = 0; i < header->field_count; i++) {
        const struct slice text = csv_field(header->csv, i);
        if (!can_be_shown(text)) {
            continue;
        }
        (void)snprintf(name, sizeof name, "%.*s", (int)text.size, (const char *)text.data);
        if (is_nearly(text, column)) {
            memcpy(out, name, sizeof name);
            return true;
        }
        const size_t before = near.distance;
        near_offer(&near, name);
        if (near.distance < before) {
            memcpy(best, name, sizeof name);
            near.name = best;
        }
    }
    double number;
    const bool is_shown = header->shows_near && near_name(&near) != NULL &&
                          decimal_cell(&number, (struct slice){best, strlen(best)}) != STATUS_OK;
    memcpy(out, best, sizeof best);
    return is_shown;
}

enum status header_need(size_t *field, const struct header *header, const char *column,
                        struct why *why)
{
    const enum status status = find(field, header, column, why);
    if (status != STATUS_OK || *field != NO_FIELD) {
        return status;
    }
    if (has_other_separator(header, why)) {
        return STATUS_INVALID;
    }
    char asked[ASKED_BYTES];
    (void)snprintf(asked, sizeof asked, "%s %s", header->asked_by,
                   header->is_of_a_model ? "needs" : "names");
    char found[SCHEMA_NAME_BYTES];
    if (find_near(found, header, column)) {
        return why_refuse(why, "%s: line 1: no column \"%s\", which %s; did you mean \"%s\"?",
                          header->name, column, asked, found);
    }
    return why_refuse(why,
                      "%s: line 1: column %s is missing, which %s: the first line must name the "
                      "columns, with %ss between them",
                      header->name, column, asked, csv_separator_name(csv_separator(header->csv)));
}
