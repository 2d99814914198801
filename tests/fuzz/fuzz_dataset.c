/* Any bytes as an institution's table and as a model's file. The bytes are a whole table, whose header
 * line may be refused, and then with a sentence; and they are one line of a good table, which is read
 * whatever they are, and whose other record stays as it is. What is read keeps the bounds that the
 * sensitivities rest on. Packed ones are unpacked. */

#include "learn/csv.h"
#include "learn/dataset.h"
#include "learn/model.h"
#include "learn/table.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
    if (!truth) {
        abort();
    }
}

static int label_can_be(const struct label *label, double y)
{
    switch (label->kind) {
    case LABEL_SIGN:
        return fabs(y) == 1;
    case LABEL_NUMBER:
        return fabs(y) <= 1;
    case LABEL_CLASSES:
        return y >= 0 && y < (double)label->class_count && y == floor(y);
    }
    return 0;
}

static void check_dataset(const struct dataset *data, const struct label *label)
{
    for (size_t i = 0; i < data->record_count; i++) {
        double norm = 0;
        for (size_t j = 0; j < data->feature_count; j++) {
            double x = data->x[i * data->feature_count + j];
            demand(isfinite(x));
            norm += x * x;
        }
        demand(norm <= 1 + 1e-12);
        demand(data->y == NULL || label_can_be(label, data->y[i]));
        for (size_t j = 0; data->raw != NULL && j < data->column_count; j++) {
            double raw = data->raw[i * data->column_count + j];
            demand(isfinite(raw) || isnan(raw));
        }
    }
}

static void fuzz_schema(struct slice text, enum dataset_use use, const struct schema *schema)
{
    struct dataset data;
    struct why why = {{0}};

    if (dataset_parse(&data, text, "table.csv", schema, &(struct dataset_options){.use = use},
                      &why) == STATUS_OK) {
        check_dataset(&data, &schema->label);
        dataset_free(&data);
    } else {
        demand(why.text[0] != '\0');
    }
}

/* The bytes up to their first line's end, between two lines that are good. */
static void fuzz_record(struct slice bytes, enum dataset_use use, const struct schema *schema)
{
    static const char before[] = "a,b,c,l\n1,1,x,1\n1,1,x,1\n1,1,x,1\n1,1,x,1\n";
    static const char after[] = "\n1,1,x,1\n1,1,x,1\n1,1,x,1\n1,1,x,1\n";
    const char *end = bytes.size == 0 ? NULL : memchr(bytes.data, '\n', bytes.size);
    const size_t size = end == NULL ? bytes.size : (size_t)(end - (const char *)bytes.data);
    const size_t total = sizeof before + sizeof after - 2 + size;
    char *text = malloc(total);
    struct dataset data;

    demand(text != NULL);
    memcpy(text, before, sizeof before - 1);
    if (size > 0) {
        memcpy(text + sizeof before - 1, bytes.data, size);
    }
    memcpy(text + sizeof before - 1 + size, after, sizeof after - 1);
    demand(dataset_parse(&data, (struct slice){text, total}, "table.csv", schema,
                         &(struct dataset_options){.use = use}, NULL) == STATUS_OK);
    check_dataset(&data, &schema->label);
    demand(data.record_count == 9 - schema_history(schema));
    const size_t row = data.feature_count;
    demand(memcmp(data.x, data.x + (data.record_count - 1) * row, row * sizeof *data.x) == 0);
    dataset_free(&data);
    free(text);
}

/* The same bytes as a plain table, as a series, and with several classes. */
static void fuzz_table(struct slice text, enum dataset_use use)
{
    static struct column column[] = {
        {.name = "a", .kind = COLUMN_NUMBER, .centre = 1, .half_width = 2},
        {.name = "b",
         .kind = COLUMN_NUMBER,
         .transform = TRANSFORM_LOG1P,
         .half_width = 1,
         .has_missing = true,
         .missing = 3},
        {.name = "c", .kind = COLUMN_CATEGORY, .category_count = 3, .category = {"x", "y", "z"}}};
    static double landmark[] = {1, 1, 0, 0, 2, 2};
    static const struct schema schema[] = {
        {.column = column, .column_count = 3, .label = {"l", "1", "0"}},
        {.column = column,
         .column_count = 3,
         .label = {.name = "l", .kind = LABEL_NUMBER, .centre = 1, .half_width = 0.5},
         .lag_count = 2,
         .lag = {1, 3},
         .map = {.kind = MAP_FOURIER,
                 .kernel = {.kind = KERNEL_LAPLACIAN, .rate = 2},
                 .feature_count = 6,
                 .seed = 1},
         .keeps_raw = true},
        {.column = column,
         .column_count = 3,
         .label =
             {.name = "l", .kind = LABEL_CLASSES, .class_count = 3, .class_name = {"0", "1", "2"}},
         .map = {.kind = MAP_NYSTROM,
                 .kernel = {.kind = KERNEL_GAUSSIAN, .rate = 2},
                 .landmark_count = 2,
                 .landmark = landmark},
         .keeps_raw = true}};

    for (size_t i = 0; i < sizeof schema / sizeof schema[0]; i++) {
        fuzz_schema(text, use, &schema[i]);
        fuzz_record(text, use, &schema[i]);
    }
}

/* Bytes that begin as gzip does, as a packed table: refused with a sentence, or unpacked to its end. */
static void fuzz_packed(struct slice bytes)
{
    char path[64];
    struct why why = {{0}};
    FILE *file = NULL;
    const int fd = memfd_create("table", MFD_CLOEXEC);
    demand(fd >= 0 && write(fd, bytes.data, bytes.size) == (ssize_t)bytes.size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (table_open(&file, path, &why) == STATUS_OK) {
        struct csv *csv = NULL;
        bool done = false;
        demand(csv_new(&csv, file, "table", 0) == STATUS_OK);
        while (!done) {
            demand(csv_next(csv, &done, &why) == STATUS_OK);
        }
        csv_free(csv);
        (void)fclose(file);
    } else {
        demand(why.text[0] != '\0');
    }
    (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = {data, size};
    struct why why = {{0}};
    struct model model;

    if (size >= 2 && data[0] == 0x1f && data[1] == 0x8b) {
        fuzz_packed(text);
    }

    fuzz_table(text, DATASET_LEARN);
    fuzz_table(text, DATASET_PREDICT);
    if (model_from_json(&model, text, "model.json", &why) == STATUS_OK) {
        char *again = NULL;
        demand(model_to_json(&again, &model) == STATUS_OK);
        free(again);
        model_free(&model);
    }
    return 0;
}
