#include "job/draft_data.h"

#include "config/keys.h"

static const char *transform_choice(unsigned index)
{
    static const char *const name[] = {
        [TRANSFORM_NONE] = "none", [TRANSFORM_LOG1P] = "log1p", [TRANSFORM_LOG1P + 1] = NULL};
    return name[index];
}

/* The kinds after MAP_NONE: a job without a map leaves the key out. Products of columns are `learn`'s own choice, and no
 * text's. */
static const char *map_choice(unsigned index)
{
    const unsigned kind = index + 1;
    return kind < MAP_PRODUCTS ? map_kind_name((enum map_kind)kind) : NULL;
}

/* The kernels whose kappa is 1 and that depend on a difference alone. */
static const char *kernel_choice(unsigned index)
{
    return index < 2 ? kernel_name((enum kernel_kind)(KERNEL_GAUSSIAN + index)) : NULL;
}

static const char ranges[] =
    "a job writes a range by its middle and half of its width: of a dictionary's \"low: 18, high: 100\" it has "
    "\"centre: 59, half_width: 41\"";
static const struct config_foreign dictionary_ranges[] = {
    {"low", ranges}, {"high", ranges}, {NULL, NULL}};

/* Which of these go together is job_schema's: positive and negative, centre and half_width, or
 * classes. */
/* clang-format off */
#define KEY_OF struct draft_label
static const struct config_key label_keys[] = {
    KEY_TEXT("column", name, OPTIONAL("death")),
    KEY_TEXT("positive", positive, OPTIONAL("\"1\"")),
    KEY_TEXT("negative", negative, OPTIONAL("\"0\"")),
    KEY_NUMBER("centre", centre, -1e100, 1e100, OPTIONAL("50")),
    KEY_NUMBER("half_width", half_width, 1e-100, 1e100, OPTIONAL("25")),
    KEY_TEXTS("classes", class_name, class_count, SCHEMA_CATEGORIES_MAX, OPTIONAL("[low, middle, high]")),
    KEY_TEXT("other", other, OPTIONAL("high")),
    KEY_END_BUT(dictionary_ranges),
};
#undef KEY_OF

#define KEY_OF struct draft_column
static const struct config_key column_keys[] = {
    KEY_TEXT("column", name, REQUIRED("age")),
    KEY_CHOICE("transform", transform, transform_choice, DEFAULT("none", "log1p")),
    KEY_NUMBER("centre", centre, -1e100, 1e100, OPTIONAL("50")),
    KEY_NUMBER("half_width", half_width, 1e-100, 1e100, OPTIONAL("25")),
    KEY_TEXT("missing", missing, OPTIONAL("1.0")),
    KEY_TEXTS("categories", category, category_count, SCHEMA_CATEGORIES_MAX, OPTIONAL("[F, M]")),
    KEY_TEXT("other", other, OPTIONAL("M")),
    KEY_FLAG("missing_indicator", missing_indicator, DEFAULT("false", "true")),
    KEY_END_BUT(dictionary_ranges),
};
#undef KEY_OF

#define KEY_OF struct draft_series
static const struct config_key series_keys[] = {
    KEY_TEXT("column", name, REQUIRED("entries")),
    KEY_WHOLES("lags", lag, lag_count, SCHEMA_LAGS_MAX, 1, SCHEMA_LAG_MAX, REQUIRED("[1, 7, 14]")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct draft_row
const struct config_key draft_row_keys[] = {
    KEY_TEXTS(NULL, value, value_count, SCHEMA_LAGS_MAX + SCHEMA_COLUMNS_MAX, OPTIONAL("[70, F]")),
};
#undef KEY_OF

#define KEY_OF struct draft_map
const struct config_key draft_map_keys[] = {
    KEY_CHOICE("kind", kind, map_choice, REQUIRED("fourier")),
    KEY_CHOICE("kernel", kernel, kernel_choice, REQUIRED("gaussian")),
    KEY_NUMBER("gamma", gamma, 1e-6, 1e6, REQUIRED("1")),
    KEY_WHOLE("features", feature_count, 2, SCHEMA_MAP_FEATURES_MAX, OPTIONAL("200")),
    KEY_WHOLE("seed", seed, 0, (UINT64_C(1) << 53) - 1, OPTIONAL("42")),
    KEY_ROWS("landmarks", landmark, landmark_count, SCHEMA_LANDMARKS_MAX, draft_row_keys,
        OPTIONAL("[[70, F], [50, M]]")),
    KEY_END,
};
#undef KEY_OF

#define KEY_OF struct draft_data
const struct config_key draft_data_keys[] = {
    KEY_TEXT("set", set, OPTIONAL("flchain")),
    KEY_TABLE("label", label, label_keys, REQUIRED("{column: death, positive: \"1\", negative: \"0\"}")),
    KEY_TABLES("features", feature, feature_count, SCHEMA_COLUMNS_MAX, column_keys,
        OPTIONAL("[{column: age, centre: 50, half_width: 25}]")),
    KEY_TABLE("series", series, series_keys, OPTIONAL("{column: entries, lags: [1, 7, 14]}")),
    KEY_TABLE("map", map, draft_map_keys,
        OPTIONAL("{kind: fourier, kernel: gaussian, gamma: 1, features: 200, seed: 42}")),
    KEY_END,
};
#undef KEY_OF
/* clang-format on */
