/* programs.h - what benches of whole federations do with processes, ports and lists. */

#ifndef BENCH_PROGRAMS_H
#define BENCH_PROGRAMS_H

#include "crypto/key.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PROGRAMS_ADDRESS_BYTES = 64 };

/** Finds a port of the loopback that is free now. */
bool programs_choose_port(char address[static PROGRAMS_ADDRESS_BYTES]);

/** Makes keys (count) and writes the allow-list of agent-FIRST and the next. */
bool programs_write_roster(const char *path, struct key_pair *key, size_t first, size_t count);

/** What a process has computed for; the most memory that it has had. */
double programs_busy_ns(pid_t process);
double programs_peak_mib(pid_t process);

/** Kills a process, if there is one. */
void programs_end(const pid_t *process);

#endif
