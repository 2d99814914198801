#include "tests/bench/federation/programs.h"

#include "tests/support/bench_clock.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

bool programs_choose_port(char address[static PROGRAMS_ADDRESS_BYTES])
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof name;
    const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool good = probe >= 0 && bind(probe, (struct sockaddr *)&name, size) == 0 &&
                      getsockname(probe, (struct sockaddr *)&name, &size) == 0;
    (void)snprintf(address, PROGRAMS_ADDRESS_BYTES, "tcp://127.0.0.1:%u",
                   (unsigned)ntohs(name.sin_port));
    if (probe >= 0) {
        (void)close(probe);
    }
    return good;
}

bool programs_write_roster(const char *path, struct key_pair *key, size_t first, size_t count)
{
    char hex[KEY_HEX_BYTES];
    FILE *file = fopen(path, "w");
    if (file == NULL || fchmod(fileno(file), 0600) != 0) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (key_pair_generate(&key[i]) != STATUS_OK) {
            return false;
        }
        hex_encode(hex, key[i].public_key.byte, KEY_BYTES);
        (void)fprintf(file, "agent-%zu %s\n", first + i, hex);
    }
    return fclose(file) == 0;
}

double programs_busy_ns(pid_t process)
{
    clockid_t clock;
    return clock_getcpuclockid(process, &clock) == 0 ? ns_of(clock) : 0;
}

double programs_peak_mib(pid_t process)
{
    char path[64];
    char line[256];
    long kib = 0;
    (void)snprintf(path, sizeof path, "/proc/%ld/status", (long)process);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0) {
            kib = strtol(line + 6, NULL, 10);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return (double)kib / 1024;
}

void programs_end(const pid_t *process)
{
    if (*process > 0) {
        (void)kill(*process, SIGKILL);
        (void)waitpid(*process, NULL, 0);
    }
}
