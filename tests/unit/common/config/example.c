#include "example.h"

#include <string.h>

static const char *colour(unsigned index)
{
    static const char *const name[] = {"red", "green", "blue", NULL};
    return name[index];
}

static const struct config_key inner_keys[] = {
    {.name = "rate",
     .type = CONFIG_DECIMAL,
     CONFIG_IN(struct inner, rate),
     .low = -1,
     .high = 1,
     .fallback = "0.25",
     .example = "0.5"},
    {.name = "on",
     .type = CONFIG_FLAG,
     CONFIG_IN(struct inner, on),
     .fallback = "true",
     .example = "true"},
    {.name = NULL},
};

static const struct config_key item_keys[] = {
    {.name = "column",
     .type = CONFIG_TEXT,
     .required = true,
     CONFIG_IN(struct item, column),
     .example = "age"},
    {.name = "size",
     .type = CONFIG_INTEGER,
     CONFIG_IN(struct item, size),
     .min = 1,
     .max = 9,
     .fallback = "3",
     .example = "3"},
    {.name = NULL},
};

static const struct config_key row_keys[] = {
    {.type = CONFIG_DECIMAL,
     CONFIG_LIST_IN(struct row, cell, cell_count),
     .low = 0,
     .high = 9,
     .items_max = 3,
     .example = "[1, 2]"},
};

static const struct config_key example_keys[] = {
    {.name = "title", .type = CONFIG_TEXT, CONFIG_IN(struct example, title), .example = "a title"},
    {.name = "id", .type = CONFIG_NAME, CONFIG_IN(struct example, id), .example = "some-id"},
    {.name = "count",
     .type = CONFIG_INTEGER,
     .required = true,
     CONFIG_IN(struct example, count),
     .min = 1,
     .max = 100,
     .example = "7"},
    {.name = "micro",
     .type = CONFIG_FIXED,
     .places = 6,
     CONFIG_IN(struct example, micro),
     .min = 1,
     .max = 2000000,
     .fallback = "1",
     .example = "0.5"},
    {.name = "share",
     .type = CONFIG_FIXED,
     .places = 3,
     .exact = true,
     CONFIG_IN(struct example, share),
     .max = 1000,
     .example = "0.5"},
    {.name = "colour",
     .type = CONFIG_CHOICE,
     CONFIG_IN(struct example, colour),
     .choice = colour,
     .fallback = "blue",
     .example = "red"},
    {.name = "colours",
     .type = CONFIG_SET,
     CONFIG_IN(struct example, set),
     .choice = colour,
     .items_max = 3,
     .example = "[red]"},
    {.name = "inner",
     .type = CONFIG_TABLE,
     CONFIG_IN(struct example, inner),
     .keys = inner_keys,
     .example = "{rate: 0.5}"},
    {.name = "absent",
     .type = CONFIG_TABLE,
     CONFIG_IN(struct example, absent),
     .keys = inner_keys,
     .example = "{rate: 0.5}"},
    {.name = "items",
     .type = CONFIG_TABLE,
     CONFIG_LIST_IN(struct example, item, item_count),
     .items_max = 3,
     .keys = item_keys,
     .example = "[{column: age}]"},
    {.name = "rates",
     .type = CONFIG_DECIMAL,
     CONFIG_LIST_IN(struct example, rate, rate_count),
     .low = 0,
     .high = 1,
     .items_max = 4,
     .example = "[0.1, 0.2]"},
    {.name = "rows",
     .type = CONFIG_ROWS,
     CONFIG_LIST_IN(struct example, row, row_count),
     .items_max = 2,
     .keys = row_keys,
     .example = "[[1, 2]]"},
    {.name = NULL},
};

enum status example_read(struct example *out, struct config **config, const char *text,
                         struct why *why)
{
    struct slice slice = {text, strlen(text)};
    *out = (struct example){0};
    enum status status = config_open(config, slice, "x.yml", why);
    return status == STATUS_OK ? config_read(*config, out, example_keys, why) : status;
}
