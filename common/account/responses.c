#include "account/responses.h"

#include <math.h>

enum status responses_ask(struct interval *out, const struct response *groups, size_t count,
                          struct response_question question)
{
    (void)groups;
    (void)count;
    *out = question.wants_epsilon ? (struct interval){0, INFINITY} : (struct interval){0, 1};
    return STATUS_OK;
}
