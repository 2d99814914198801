#include "masks/quorum.h"

#include <inttypes.h>

enum status masks_quorum_make(struct masks_quorum *quorum, uint64_t sites, uint64_t dishonest,
                              uint64_t honest, struct why *why)
{
    *quorum = (struct masks_quorum){0};
    if (sites > MASKS_SITES_MAX) {
        return why_refuse(
            why,
            "a masked sum has at most %d sites; cut a larger cohort into groups, each "
            "with a sum and a noise of its own",
            MASKS_SITES_MAX);
    }
    if (dishonest == 0) {
        return why_refuse(why, "at least 1 site must count as dishonest: every site knows its own "
                               "share of the noise and can subtract it");
    }
    if (dishonest >= sites) {
        return why_refuse(why,
                          "%" PRIu64 " sites of which %" PRIu64
                          " may be dishonest: no site is left whose noise counts",
                          sites, dishonest);
    }
    if (honest > sites - dishonest) {
        return why_refuse(why,
                          "%" PRIu64 " honest survivors and %" PRIu64
                          " that may be dishonest are more than %" PRIu64
                          " sites, so no sum could be opened; take at most %" PRIu64 " honest ones",
                          honest, dishonest, sites, sites - dishonest);
    }
    const uint64_t signatures = (sites + dishonest) / 2 + 1;
    honest = honest == 0 ? signatures - dishonest : honest;
    const uint64_t least = honest + dishonest;
    *quorum = (struct masks_quorum){.sites = sites,
                                    .dishonest = dishonest,
                                    .honest = honest,
                                    .least = least,
                                    .signatures = signatures,
                                    .opens_at = least > signatures ? least : signatures};
    return STATUS_OK;
}
