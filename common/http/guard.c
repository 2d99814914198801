#include "http/guard.h"

#include "base/loopback.h"

#include <string.h>

struct http_verdict http_judge(const struct http_asked *asked)
{
    /* A name that somebody else's name server resolves to 127.0.0.1 makes that page's origin ours (DNS rebinding). */
    if (asked->host_count != 1 || !loopback_is_host(asked->host)) {
        return (struct http_verdict){
            421, "Ask for 127.0.0.1, localhost or [::1]: other names are not answered.\n"};
    }
    if (asked->origin || (asked->site != NULL && strcmp(asked->site, "none") != 0 &&
                          strcmp(asked->site, "same-origin") != 0)) {
        return (struct http_verdict){403,
                                     "Another page asks. Type the address into the browser.\n"};
    }
    if (strcmp(asked->method, "GET") != 0 && strcmp(asked->method, "HEAD") != 0) {
        return (struct http_verdict){405, "GET and HEAD only: nothing can be changed from here.\n"};
    }
    if (asked->body) {
        return (struct http_verdict){413, "A request has no body here.\n"};
    }
    if (!asked->known) {
        return (struct http_verdict){404, "There is no such page.\n"};
    }
    return (struct http_verdict){200, NULL};
}
