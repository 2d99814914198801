#include "base/embedded.h"

#include "base/check.h"

#include <string.h>

const char *embedded_text(const struct embedded *table, const char *name)
{
    while (table->name != NULL && strcmp(table->name, name) != 0) {
        table++;
    }
    CHECK(table->name != NULL);
    return table->text;
}
