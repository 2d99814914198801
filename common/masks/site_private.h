/* site_private.h - the inside of a site's part in a masked round, shared by site.c (the legs) and site_pack.c (what a
 * restart needs). Nothing else includes it. */

#ifndef MASKS_SITE_PRIVATE_H
#define MASKS_SITE_PRIVATE_H

#include "masks/site.h"

enum masks_site_phase { SITE_KEYED, SITE_LISTED, SITE_MASKED, SITE_SIGNED };

struct masks_site {
    struct masks_self self;
    struct masks_terms terms;
    enum masks_site_phase phase;
    struct masks_keys keys;
    struct digest mask_secret; /* wiped once listed */
    struct digest seed;
    struct masks_round round;
    struct masks_roster roster;
    struct masks_quorum quorum;
    size_t rank;
    struct digest pair[MASKS_SITES_MAX]; /* keys of streams, by rank; none at the own */
    struct masks_set noted;
};

/** Returns a KEYED site with its terms and its name, and no keys yet; NULL: there is no memory. masks_site_free wipes. */
struct masks_site *masks_site_blank(const struct masks_self *self, const struct masks_terms *terms,
                                    const struct digest *invitation, const char *name);

#endif
