/* A document is built whole or not at all: if one item cannot be added, the whole list is dropped, at every
 * depth. */

#include "json/json_text.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

Test(json_text, of_what_was_added_has_all)
{
    json_t *list = json_array();
    json_t *object = json_object();
    json_add(&list, json_integer(7));
    json_add(&list, json_number(0.5));
    json_put(&object, "b", list);
    json_put(&object, "a", json_number(INFINITY));
    char *text = json_text(object, 0, 17);
    cr_assert_str_eq(text, "{\"b\": [7, 0.5], \"a\": null}");
    free(text);
    json_decref(object);
}

Test(json_text, a_list_that_lacks_something_is_none)
{
    for (int missing = 0; missing < 3; missing++) {
        json_t *list = json_array();
        json_t *object = json_object();
        for (int i = 0; i < 3; i++) {
            json_add(&list, json_string(i == missing ? "\xff" : "text"));
        }
        cr_assert(list == NULL, "%d", missing);
        json_put(&object, "list", list);
        json_put(&object, "later", json_true());
        cr_assert(object == NULL && json_text(object, 1, 17) == NULL);
    }
}
