#include "job/draft_data.h"

static const char *transform_choice(unsigned index)
{
    static const char *const name[] = {
        [TRANSFORM_NONE] = "none", [TRANSFORM_LOG1P] = "log1p", [TRANSFORM_LOG1P + 1] = NULL};
    return name[index];
}

/* The kinds behind MAP_NONE: who wants none leaves the map out. */
static const char *map_choice(unsigned index)
{
    return map_kind_name((enum map_kind)(index + 1));
}

/* The kernels whose kappa is 1 and that depend on a difference alone. */
static const char *kernel_choice(unsigned index)
{
    return index < 2 ? kernel_name((enum kernel_kind)(KERNEL_GAUSSIAN + index)) : NULL;
}

/* Which of these go together is job_schema's: positive and negative, centre and half_width, or
 * classes. */
static const struct config_key label_keys[] = {
    {.name = "column",
     .type = CONFIG_TEXT,
     CONFIG_IN(struct draft_label, name),
     .example = "death"},
    {.name = "positive",
     .type = CONFIG_TEXT,
     CONFIG_IN(struct draft_label, positive),
     .example = "\"1\""},
    {.name = "negative",
     .type = CONFIG_TEXT,
     CONFIG_IN(struct draft_label, negative),
     .example = "\"0\""},
    {.name = "centre",
     .type = CONFIG_DECIMAL,
     CONFIG_IN(struct draft_label, centre),
     .low = -1e100,
     .high = 1e100,
     .example = "50"},
    {.name = "half_width",
     .type = CONFIG_DECIMAL,
     CONFIG_IN(struct draft_label, half_width),
     .low = 1e-100,
     .high = 1e100,
     .example = "25"},
    {.name = "classes",
     .type = CONFIG_TEXT,
     CONFIG_LIST_IN(struct draft_label, class_name, class_count),
     .items_max = SCHEMA_CATEGORIES_MAX,
     .example = "[low, middle, high]"},
    {.name = "other", .type = CONFIG_TEXT, CONFIG_IN(struct draft_label, other), .example = "high"},
    {.name = NULL},
};

static const struct config_key column_keys[] = {
    {.name = "column",
     .type = CONFIG_TEXT,
     .required = true,
     CONFIG_IN(struct draft_column, name),
     .example = "age"},
    {.name = "transform",
     .type = CONFIG_CHOICE,
     CONFIG_IN(struct draft_column, transform),
     .choice = transform_choice,
     .fallback = "none",
     .example = "log1p"},
    {.name = "centre",
     .type = CONFIG_DECIMAL,
     CONFIG_IN(struct draft_column, centre),
     .low = -1e100,
     .high = 1e100,
     .example = "50"},
    {.name = "half_width",
     .type = CONFIG_DECIMAL,
     CONFIG_IN(struct draft_column, half_width),
     .low = 1e-100,
     .high = 1e100,
     .example = "25"},
    {.name = "missing",
     .type = CONFIG_TEXT,
     CONFIG_IN(struct draft_column, missing),
     .example = "1.0"},
    {.name = "categories",
     .type = CONFIG_TEXT,
     CONFIG_LIST_IN(struct draft_column, category, category_count),
     .items_max = SCHEMA_CATEGORIES_MAX,
     .example = "[F, M]"},
    {.name = "other", .type = CONFIG_TEXT, CONFIG_IN(struct draft_column, other), .example = "M"},
    {.name = "missing_indicator",
     .type = CONFIG_FLAG,
     CONFIG_IN(struct draft_column, missing_indicator),
     .fallback = "false",
     .example = "true"},
    {.name = NULL},
};

static const struct config_key series_keys[] = {
    {.name = "column",
     .type = CONFIG_TEXT,
     .required = true,
     CONFIG_IN(struct draft_series, name),
     .example = "entries"},
    {.name = "lags",
     .type = CONFIG_INTEGER,
     .required = true,
     CONFIG_LIST_IN(struct draft_series, lag, lag_count),
     .min = 1,
     .max = SCHEMA_LAG_MAX,
     .items_max = SCHEMA_LAGS_MAX,
     .example = "[1, 7, 14]"},
    {.name = NULL},
};

const struct config_key draft_row_keys[] = {
    {.type = CONFIG_TEXT,
     CONFIG_LIST_IN(struct draft_row, value, value_count),
     .items_max = SCHEMA_LAGS_MAX + SCHEMA_COLUMNS_MAX,
     .example = "[70, F]"},
};

const struct config_key draft_map_keys[] = {
    {.name = "kind",
     .type = CONFIG_CHOICE,
     .required = true,
     CONFIG_IN(struct draft_map, kind),
     .choice = map_choice,
     .example = "fourier"},
    {.name = "kernel",
     .type = CONFIG_CHOICE,
     .required = true,
     CONFIG_IN(struct draft_map, kernel),
     .choice = kernel_choice,
     .example = "gaussian"},
    {.name = "gamma",
     .type = CONFIG_DECIMAL,
     .required = true,
     CONFIG_IN(struct draft_map, gamma),
     .low = 1e-6,
     .high = 1e6,
     .example = "1"},
    {.name = "features",
     .type = CONFIG_INTEGER,
     CONFIG_IN(struct draft_map, feature_count),
     .min = 2,
     .max = SCHEMA_MAP_FEATURES_MAX,
     .example = "200"},
    {.name = "seed",
     .type = CONFIG_INTEGER,
     CONFIG_IN(struct draft_map, seed),
     .max = (UINT64_C(1) << 53) - 1,
     .example = "42"},
    {.name = "landmarks",
     .type = CONFIG_ROWS,
     CONFIG_LIST_IN(struct draft_map, landmark, landmark_count),
     .items_max = SCHEMA_LANDMARKS_MAX,
     .keys = draft_row_keys,
     .example = "[[70, F], [50, M]]"},
    {.name = NULL},
};

const struct config_key draft_data_keys[] = {
    {.name = "label",
     .type = CONFIG_TABLE,
     .required = true,
     CONFIG_IN(struct draft_data, label),
     .keys = label_keys,
     .example = "{column: death, positive: \"1\", negative: \"0\"}"},
    {.name = "features",
     .type = CONFIG_TABLE,
     CONFIG_LIST_IN(struct draft_data, feature, feature_count),
     .items_max = SCHEMA_COLUMNS_MAX,
     .keys = column_keys,
     .example = "[{column: age, centre: 50, half_width: 25}]"},
    {.name = "series",
     .type = CONFIG_TABLE,
     CONFIG_IN(struct draft_data, series),
     .keys = series_keys,
     .example = "{column: entries, lags: [1, 7, 14]}"},
    {.name = "map",
     .type = CONFIG_TABLE,
     CONFIG_IN(struct draft_data, map),
     .keys = draft_map_keys,
     .example = "{kind: fourier, kernel: gaussian, gamma: 1, features: 200, seed: 42}"},
    {.name = NULL},
};
