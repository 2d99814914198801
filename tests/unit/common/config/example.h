/* example.h - a text with a key of every type, and its reading. */

#ifndef TESTS_UNIT_COMMON_CONFIG_EXAMPLE_H
#define TESTS_UNIT_COMMON_CONFIG_EXAMPLE_H

#include "config/config.h"

struct item {
    char column[16];
    uint32_t size;
};

struct row {
    double *cell;
    size_t cell_count;
};

struct inner {
    double rate;
    bool on;
};

struct example {
    char title[16];
    char id[16];
    uint32_t count;
    uint64_t micro;
    uint64_t share;
    unsigned colour;
    bool set[3];
    struct inner inner;
    struct inner absent;
    struct item *item;
    size_t item_count;
    double *rate;
    size_t rate_count;
    struct row *row;
    size_t row_count;
};

/** Opens and reads a text under the name x.yml; fails as config_open and config_read do. */
MUST_USE enum status example_read(struct example *out, struct config **config, const char *text,
                                  struct why *why);

#endif
