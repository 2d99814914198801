/* toy_question.h - questions about the toy schema: what they are, and how they are refused. */

#ifndef TESTS_TOY_QUESTION_H
#define TESTS_TOY_QUESTION_H

#include "query/query.h"
#include "toy_schema.h"

#include <criterion/criterion.h>
#include <string.h>

static inline struct query parsed(const char *text)
{
    struct query query;
    struct why why = {{0}};
    cr_assert(query_parse(&query, slice_of(text), &toy_names, &why) == STATUS_OK, "%s: %s", text,
              why.text);
    return query;
}

/* part: of the message */
static inline void refuses(const char *text, const char *part)
{
    struct query query;
    struct why why = {{0}};
    cr_assert(query_parse(&query, slice_of(text), &toy_names, &why) == STATUS_INVALID, "%s", text);
    cr_expect(strstr(why.text, part) != NULL, "%s: %s", text, why.text);
}

#endif
