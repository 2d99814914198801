#include "report/html.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

enum status html_put(char **html, const struct html_template *template, const char *json)
{
    size_t size = 0;
    *html = NULL;
    FILE *page = open_memstream(html, &size);
    if (page == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)fwrite(template->before, 1, template->before_size, page);
    for (const char *c = json; *c != '\0'; c++) {
        if (*c == '<' || *c == '>' || *c == '&') {
            (void)fprintf(page, "\\u%04x", (unsigned)(unsigned char)*c);
        } else {
            (void)fputc(*c, page);
        }
    }
    (void)fwrite(template->after, 1, template->after_size, page);
    return text_close(html, page);
}

enum status html_report(char **html, const struct result *result)
{
    char *json = NULL;
    *html = NULL;
    enum status status = result_to_page(&json, result);
    if (status == STATUS_OK) {
        status = html_put(html, &html_template_page, json);
    }
    free(json);
    return status;
}
