#include "cli/json_print.h"

#include "json/json_text.h"

#include <stdio.h>
#include <stdlib.h>

enum status json_print(json_t *object)
{
    char *text = json_text(object, 1, 17);
    json_decref(object);
    if (text == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)puts(text);
    free(text);
    return STATUS_OK;
}
