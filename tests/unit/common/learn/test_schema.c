/* What a schema may be. */

#include "learn/schema.h"

#include "flchain_schema.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct schema flchain(void)
{
    struct schema schema;
    cr_assert(flchain_schema(&schema) == STATUS_OK);
    return schema;
}

Test(schema, counts_the_features_of_flchain)
{
    struct schema schema = flchain();
    cr_assert(schema_check(&schema, NULL) == STATUS_OK);
    cr_assert(schema_feature_count(&schema) == 8);
    schema.column[1].category_count = 3;
    cr_assert(schema_feature_count(&schema) == 10);
    schema_free(&schema);
    cr_assert(schema.column == NULL && schema.column_count == 0);
    schema_free(NULL);
}

/* d (scale)^2 <= 1 must hold in the reals: checked in long double, whose 11 more bits decide it. */
Test(schema, scale_keeps_the_norm_at_most_1)
{
    for (size_t d = 1; d < 200000; d = d < 5000 ? d + 1 : d * 2) {
        const long double scale = schema_scale(d);
        cr_assert(scale * scale * (long double)d <= 1.0L, "%zu", d);
        cr_assert(scale * scale * (long double)d >= 1.0L - 1e-14L, "%zu", d);
    }
}

static void refused(const struct schema *schema, const char *hint)
{
    struct why why = {{0}};
    cr_assert(schema_check(schema, &why) == STATUS_INVALID, "%s", hint);
    cr_assert(strstr(why.text, hint) != NULL, "%s", why.text);
}

Test(schema, refuses_contradictions)
{
    struct schema schema = flchain();
    schema.column[0].half_width = 0;
    refused(&schema, "age");
    schema.column[0].half_width = NAN;
    refused(&schema, "age");
    schema.column[0] = flchain_column[0];
    schema.column[2].has_missing = true;
    schema.column[2].missing = -1;
    refused(&schema, "kappa");
    schema.column[2] = flchain_column[2];
    strcpy(schema.column[3].name, "age");
    refused(&schema, "twice");
    strcpy(schema.column[3].name, "death");
    refused(&schema, "label");
    schema.column[3] = flchain_column[3];
    schema.column[1].category_count = 1;
    refused(&schema, "sex");
    schema.column[1].category_count = 2;
    strcpy(schema.column[1].category[1], "F");
    refused(&schema, "twice");
    schema.column[1] = flchain_column[1];
    schema.column[1].has_missing = true;
    schema.column[1].missing = 2;
    refused(&schema, "index");
    schema.column[1] = flchain_column[1];
    strcpy(schema.label.positive, "0");
    refused(&schema, "same text");
    schema.column_count = 0;
    strcpy(schema.label.positive, "1");
    refused(&schema, "columns");
    schema_free(&schema);
}
