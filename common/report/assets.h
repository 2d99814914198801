/* assets.h - the report's style, script and charts library, embedded when the program is built. */

#ifndef REPORT_ASSETS_H
#define REPORT_ASSETS_H

#include <stddef.h>

struct asset {
    const unsigned char *bytes;
    size_t size;
    const char *hash; /* "sha256-...": how the page's content security policy admits it */
};

extern const struct asset asset_style;
extern const struct asset asset_charts; /* Chart.js 3.9.1, MIT licence, as Debian ships it */
extern const struct asset asset_charts_licence;
extern const struct asset asset_page;
extern const struct asset asset_study; /* the charts of a study */

#endif
