#include "coordinator/shown.h"

#include "crypto/digest.h"
#include "dictionary/dictionary.h"

enum status shown_check(const struct digest *digest, struct slice text, size_t *columns,
                        struct why *why)
{
    struct dictionary dictionary;
    struct digest own;
    *columns = 0;
    digest_sha256(&own, &text, 1);
    if (!digest_equal(&own, digest)) {
        why_set(why, "the text is not the one of its digest");
        return STATUS_INVALID;
    }
    enum status status = dictionary_parse(&dictionary, text, "data.yml", why);
    if (status == STATUS_OK) {
        *columns = dictionary.column_count;
        dictionary_free(&dictionary);
    }
    return status;
}
