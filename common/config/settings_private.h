/* settings_private.h - what both daemons' settings are held to; shared by settings.c (their keys) and settings_check.c.
 * Nothing else includes it. */

#ifndef CONFIG_SETTINGS_PRIVATE_H
#define CONFIG_SETTINGS_PRIVATE_H

#include "config/config.h"
#include "config/settings.h"

struct settings_path_key {
    char *path; /* NULL: nothing is resolved */
    const char *key;
};

/** Answers whether a place is one: only a coordinator's `state` may be. */
bool settings_is_url(const char *place);

/** Puts the settings file's folder before relative paths (count). Fails with STATUS_INVALID: one becomes too long. */
MUST_USE enum status settings_resolve(const struct config *config,
                                      const struct settings_path_key *item, size_t count,
                                      const char *settings_path, struct why *why);

/** Checks an address such as tcp://host:7310, or several with a blank between: an agent may know several of one coordinator. A
 * wrong one is found here, with its line, and not when a socket meets it. Fails with STATUS_INVALID. */
MUST_USE enum status settings_check_address(const struct config *config, const char *address,
                                            const char *key, struct why *why);
MUST_USE enum status settings_check_addresses(const struct config *config, const char *list,
                                              const char *key, struct why *why);

/** Checks the table `http`. Every program that reaches the port can read the page. So only this machine may reach it, or
 * requests need a token. Fails with STATUS_INVALID. */
MUST_USE enum status settings_check_http(const struct config *config,
                                         const struct http_settings *http, struct why *why);

#endif
