/* Any bytes as a result.json: what is accepted is written back the same, and its page can be drawn;
 * what is refused is refused with a sentence. */

#include "report/html.h"
#include "report/result.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
    if (!truth) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct result result;
    struct result again;
    struct why why = {""};
    char *text = NULL;
    char *second = NULL;
    char *page = NULL;

    if (result_from_json(&result, (struct slice){data, size}, "fuzz", &why) != STATUS_OK) {
        demand(why.text[0] != '\0' && result.round == NULL);
        return 0;
    }
    demand(result_to_json(&text, &result) == STATUS_OK);
    demand(result_from_json(&again, (struct slice){text, strlen(text)}, "again", &why) ==
           STATUS_OK);
    demand(result_to_json(&second, &again) == STATUS_OK);
    demand(strcmp(text, second) == 0);
    demand(html_report(&page, &result) == STATUS_OK);
    free(page);
    free(second);
    free(text);
    result_free(&again);
    result_free(&result);
    return 0;
}
