/* main_check.h - what main_check.c and main_check_ports.c share. Nothing else includes it. */

#ifndef AGENT_MAIN_CHECK_H
#define AGENT_MAIN_CHECK_H

#include "agent/main.h"

/** Print whether the coordinator admits this site, and whether the page can be served, if there is to be one. Neither is tried while
 * this site's agent runs. Return false where one fails. */
bool check_coordinator(const struct site *site, const struct arguments *arguments);
bool check_page(const struct site *site);

#endif
